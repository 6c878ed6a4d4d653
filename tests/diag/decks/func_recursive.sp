bad deck: func recursive
v1 a 0 1
r1 a 0 1k
.func f(x)={f(x)+1}
.param x={f(1)}
.op
