bad deck: model missing
v1 a 0 1
r1 a 0 1k
d1 a 0 dmodl
.model dmodel d
.op
