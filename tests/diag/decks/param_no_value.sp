bad deck: param no value
v1 a 0 1
r1 a 0 1k
.param x
.op
