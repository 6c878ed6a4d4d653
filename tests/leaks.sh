#!/bin/sh
# Runs a test with the address sanitizer's search for leaks: tests/leaks.sh PROGRAM [ARG...]
# The search stops all threads and reads their memory from outside. Now and then this reader itself
# dies ("Tracer caught signal 11"), after all checks of the test have passed; it then says "has
# encountered a fatal error" and has found nothing, neither leaks nor their absence. Such a run
# says nothing and is repeated, twice at most. A leak, a failed check, a crash of the test: fails.
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
for attempt in 1 2 3; do
    "$@" 2>"$said"
    status=$?
    cat "$said" >&2
    [ $status != 0 ] || exit 0
    grep -q "LeakSanitizer has encountered a fatal error" "$said" || exit $status
    echo "the search for leaks died; run $attempt of 3" >&2
done
exit $status
