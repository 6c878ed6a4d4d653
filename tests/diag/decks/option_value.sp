bad deck: option value
v1 a 0 1
r1 a 0 1k
.options reltol=
.op
