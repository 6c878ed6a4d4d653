bad deck: func unknown
v1 a 0 1
r1 a 0 1k
.param x={sqr1(2)}
.op
