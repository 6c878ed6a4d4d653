bad deck: func arguments
v1 a 0 1
r1 a 0 1k
.func f(x,y)={x*y}
.param x={f(1)}
.op
