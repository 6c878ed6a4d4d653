bad deck: option unknown
v1 a 0 1
r1 a 0 1k
.options reltoll=1e-3
.op
