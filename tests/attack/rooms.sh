#!/bin/sh
# The rooms that a run may find itself in: without network, without HOME, as a user without rights, in a locale with
# a comma in numbers, with a full /tmp, with a folder that is read only. The results are those of an ordinary run.
#   rooms.sh VSIM        exit code 0: all hold; 1: one does not; 77: no room could be made
#   rooms.sh VSIM TEST...
#                        runs tests/cli/TEST.py in a room that is all of this at once: no network, no HOME, user nobody,
#                        a comma for decimals, a /tmp of 64 MB
# A room that this machine does not give (unshare, setpriv, the locale, mounts) is skipped, and named.
set -u
vsim=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d) || exit 77
trap 'chmod -R u+w "$place"; rm -rf "$place"' EXIT
chmod 755 "$place"
failed=0 held=0 skipped=""

cat >"$place/deck.sp" <<END
rooms
V1 in 0 dc 1.5 sin(1.5 1 10meg)
R1 in out 1.25k
C1 out 0 10p
D1 out 0 dm
.model dm d is=1e-14 cjo=1p
.op
.tran 1n 1u
.meas tran top max v(out)
.end
END

skip() { skipped="$skipped $1"; }

# a comma for decimals: the library's callers may have set one, the command does not read it
comma=""
for l in $(locale -a 2>/dev/null | grep -i -E '^(de|fr|es|it|nl)_[A-Z]+\.?utf-?8$'); do comma=$l; done
if [ -z "$comma" ] && command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$place/de_DE.UTF-8" 2>/dev/null; then
    LOCPATH=$place
    export LOCPATH
    comma=de_DE.UTF-8
fi
nobody=$(id -u nobody 2>/dev/null || echo 65534)

if [ $# -gt 0 ]; then
    case $vsim in /tmp/*) echo "the program is below /tmp, which the room replaces"; exit 77 ;; esac
    # shellcheck disable=SC2016 # for the inner shells
    unshare -n -m sh -c 'mount -t tmpfs none /tmp && setpriv --reuid "$1" --clear-groups "$2" --version' \
        sh "$nobody" "$vsim" >/dev/null 2>&1 || { echo "no such room can be made here"; exit 77; }
    # the system's own Python, which every user may run, and no ngspice: it ends by a signal without HOME
    mkdir "$place/bin"
    for tool in python3 setpriv sh env cat cc ld as; do
        ln -s "$(PATH=/usr/bin:/bin command -v "$tool")" "$place/bin/$tool" 2>/dev/null
    done
    for test in "$@"; do
        # shellcheck disable=SC2016
        if env -u HOME -u XDG_CACHE_HOME LC_ALL="$comma" LANG="$comma" PYTHONDONTWRITEBYTECODE=1 unshare -n -m sh -c '
            mkdir -p /mnt && mount -t tmpfs none /mnt && cp -r "$4/." /mnt && chmod -R a+rX /mnt
            mount -t tmpfs -o size=64m,mode=1777 none /tmp
            cd /tmp && PATH=/mnt/bin LOCPATH=${LOCPATH:+/mnt} exec /mnt/bin/setpriv --reuid "$1" --clear-groups python3 "$2" "$3"' \
            sh "$nobody" "$here/../cli/$test.py" "$vsim" "$place" >"$place/log" 2>&1; then
            held=$((held + 1))
            echo "holds: $test, $(tail -n 1 "$place/log")"
        else
            failed=$((failed + 1))
            echo "FAILS: $test"
            tail -n 40 "$place/log"
        fi
    done
    echo "$held hold, $failed fail"
    [ $failed = 0 ]
    exit
fi

plots() { sed '/^Date:/d' "$1" | cksum; }
"$vsim" -q -n --cache-dir "$place/cache" -r "$place/ref.raw" --measures "$place/ref.csv" "$place/deck.sp" \
    >/dev/null || exit 1

# room NAME COMMAND...: runs the deck by the command, in a folder of its own, and compares
room() {
    name=$1
    shift
    dir=$place/$name
    mkdir -p "$dir"
    chmod 777 "$dir"
    (cd "$dir" && "$@" "$vsim" -q -n -r "$dir/r.raw" --measures "$dir/r.csv" "$place/deck.sp") >"$dir/log" 2>&1
    code=$?
    if [ $code = 0 ] && [ "$(plots "$dir/r.raw")" = "$(plots "$place/ref.raw")" ] && cmp -s "$dir/r.csv" "$place/ref.csv"
    then
        held=$((held + 1))
        echo "holds: $name"
    else
        failed=$((failed + 1))
        echo "FAILS: $name (exit code $code)"
        cat "$dir/log"
    fi
}

room plain env
room no-home env -u HOME -u XDG_CACHE_HOME
room empty-environment env -i
room home-missing env -u XDG_CACHE_HOME HOME=/dev/null/home
room home-is-a-file env -u XDG_CACHE_HOME HOME=/dev/null
room closed-input sh -c '"$0" "$@" <&-'

if [ -n "$comma" ]; then room comma env LC_ALL="$comma" LANG="$comma"; else skip comma; fi

if unshare -n true 2>/dev/null; then room no-network unshare -n; else skip no-network; fi

if [ "$(id -u)" = 0 ] && setpriv --reuid "$nobody" --clear-groups true 2>/dev/null &&
    setpriv --reuid "$nobody" --clear-groups "$vsim" --version >/dev/null 2>&1; then
    room nobody env -u HOME -u XDG_CACHE_HOME setpriv --reuid "$nobody" --clear-groups
    # a cache that it can neither read nor write
    chmod 700 "$place/cache"
    room cache-of-another env XDG_CACHE_HOME="$place/cache" setpriv --reuid "$nobody" --clear-groups
    mkdir -m 555 "$place/closed"
    if (cd "$place/closed" && setpriv --reuid "$nobody" --clear-groups "$vsim" -q -n "$place/deck.sp") >"$place/log" 2>&1
    then
        failed=$((failed + 1))
        echo "FAILS: results in a folder that is read only: exit code 0"
    elif grep -q 'cannot be written' "$place/log"; then
        held=$((held + 1))
        echo "holds: read-only folder"
    else
        failed=$((failed + 1))
        echo "FAILS: read-only folder:"
        cat "$place/log"
    fi
elif [ "$(id -u)" != 0 ]; then
    room nobody env -u HOME
else
    skip nobody
fi

# /tmp full to the last byte, in a name space of its own; temporary files must not be needed
case $vsim in /tmp/*) in_tmp=yes ;; *) in_tmp=no ;; esac
if [ $in_tmp = no ] && unshare -m sh -c 'mount -t tmpfs -o size=64k none /mnt' 2>/dev/null; then
    cp -r "$place" /var/tmp/vsim-rooms-$$
    away=/var/tmp/vsim-rooms-$$
    mkdir -p "$away/full"
    unshare -m sh -c '
        mount -t tmpfs -o size=64k none /tmp && (cat /dev/zero >/tmp/full || true) 2>/dev/null
        cd "$2/full" && "$1" -q -n -r r.raw --measures r.csv --cache-dir /tmp/cache "$2/deck.sp" &&
        "$1" -q -n -r /tmp/r.raw "$2/deck.sp"' sh "$vsim" "$away" >"$away/log" 2>&1
    code=$?
    if [ $code = 4 ] && [ "$(plots "$away/full/r.raw")" = "$(plots "$place/ref.raw")" ] &&
        grep -q 'No space left' "$away/log"; then
        held=$((held + 1))
        echo "holds: full-tmp"
    else
        failed=$((failed + 1))
        echo "FAILS: full-tmp (exit code $code; 4 and a message are expected for results that go there)"
        cat "$away/log"
    fi
    rm -rf "$away"
else
    skip full-tmp
fi

echo "$held hold, $failed fail${skipped:+, not here:$skipped}"
[ $failed = 0 ] || exit 1
