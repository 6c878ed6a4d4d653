bad deck: instance parameter
v1 a 0 1
r1 a 0 1k
m1 a a 0 0 nm w=1u lenght=1u
.model nm nmos
.op
