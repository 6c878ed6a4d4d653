bad deck: include folder
v1 a 0 1
r1 a 0 1k
.include "."
.op
