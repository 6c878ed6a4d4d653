bad deck: mos nodes
v1 a 0 1
r1 a 0 1k
m1 a a nm w=1u
.model nm nmos
.op
