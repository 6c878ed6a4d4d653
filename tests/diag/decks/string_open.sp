bad deck: string open
v1 a 0 1
r1 a 0 1k
.include "x.inc
.op
