bad deck: param unknown
v1 a 0 1
r1 a 0 1k
.param width=1u
r2 a 0 {widht*1e9}
.op
