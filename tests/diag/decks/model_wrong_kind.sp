bad deck: model wrong kind
v1 a 0 1
r1 a 0 1k
d1 a 0 nm
.model nm nmos
.op
