bad deck: include in file
v1 a 0 1
r1 a 0 1k
.include "include_in_file.inc"
.op
