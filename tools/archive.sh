#!/bin/sh
# archive.sh IN OUT DIR: a static library of one object that shows vsim_* alone, so that names of
# the library's inside cannot meet those of a host. DIR is for what is made on the way.
set -e
in=$1 out=$2 dir=$3
mkdir -p "$dir"
${LD:-ld} -r -o "$dir/vsim.o" --whole-archive "$in"
${OBJCOPY:-objcopy} -w --keep-global-symbol='vsim_*' "$dir/vsim.o"
rm -f "$out"
${AR:-ar} rcs "$out" "$dir/vsim.o"
