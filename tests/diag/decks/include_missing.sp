bad deck: include missing
v1 a 0 1
r1 a 0 1k
.include "not_there.inc"
.op
