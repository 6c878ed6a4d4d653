bad deck: param of circuit
v1 a 0 1
r1 a 0 1k
.param x={v(a)}
.op
