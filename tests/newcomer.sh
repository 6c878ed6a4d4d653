#!/bin/sh
# The path of somebody new, in a clean clone of this repository's HEAD: the commands of README.md
# ("First steps") and of docs/howto/device.md ("A first one"), with the files printed there. What the
# pages say is what runs: nothing is repeated here but what the answers must contain.
#   tests/newcomer.sh           exit code 0: it works; 77: this is no git repository
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
git rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 77
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# block FILE TEXT: the first indented block after the first line of FILE that contains TEXT
block() {
    awk -v text="$2" '
        !on && index($0, text) { on = 1; next }
        on && /^    / { in_block = 1; sub(/^    /, ""); print (blank ? blanks $0 : $0); blank = 0; blanks = ""; next }
        in_block && /^$/ { blank = 1; blanks = blanks "\n"; next }
        in_block { exit }' "$1"
}

# follow FILE TEXT: runs the commands of a block, each of which must succeed
follow() {
    block "$1" "$2" >"$place/commands"
    [ -s "$place/commands" ] || { echo "newcomer: no commands after '$2' in $1" >&2; return 1; }
    while read -r line; do
        echo "+ $line"
        sh -c "$line" </dev/null || { echo "newcomer: '$line' of $1 failed" >&2; return 1; }
    done <"$place/commands"
}

# copy FILE TEXT TO: writes a listing to the file that the page names
copy() {
    block "$1" "$2" >"$3"
    [ -s "$3" ] || { echo "newcomer: no listing after '$2' in $1" >&2; exit 1; }
}

# must TEXT: the answers so far contain it
must() {
    grep -qe "$1" "$place/answers" && return
    cat "$place/answers" >&2
    echo "newcomer: '$1' is not in the answers" >&2
    exit 1
}

git clone -q "$here" "$place/vsim"
cd "$place/vsim"
XDG_CACHE_HOME=$place/cache
export XDG_CACHE_HOME

follow README.md '## First steps' >"$place/answers" 2>&1 || { cat "$place/answers"; exit 1; }
must 'built build/vsim'
must '^Ok: *1'
[ -s graetz.raw ]

page=docs/howto/device.md
copy $page '`models/newcomer.va`' models/newcomer.va
copy $page 'the name of its module' newcomer.sp
follow $page 'Then:' >"$place/answers" 2>&1 || { cat "$place/answers"; exit 1; }
must '^module newcomer'
must 'Cubic conductance'
must '^top  *='
must '^# pass deriv (src/mdl/mdl_deriv.c): module newcomer, after'
must 'out G 0 0'
must '^  newcomer .*residual(p)'
must ', 0 beyond it$'
if grep -q 'warning:' "$place/answers"; then
    cat "$place/answers"
    exit 1
fi
[ -s newcomer.raw ]
echo 'the path of README.md and docs/howto/device.md works in a clean clone'
