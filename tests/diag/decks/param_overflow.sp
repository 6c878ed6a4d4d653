bad deck: param overflow
v1 a 0 1
r1 a 0 1k
.param x={exp(1000)}
.op
