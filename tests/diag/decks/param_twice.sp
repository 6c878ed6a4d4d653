bad deck: param twice
v1 a 0 1
r1 a 0 1k
.param x=1
.param x=2k
r2 a 0 {x}
.op
