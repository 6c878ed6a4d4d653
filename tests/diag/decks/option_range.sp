bad deck: option range
v1 a 0 1
r1 a 0 1k
.options reltol=-1
.op
