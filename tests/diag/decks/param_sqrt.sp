bad deck: param sqrt
v1 a 0 1
r1 a 0 1k
.param x={sqrt(-1)}
.op
