bad deck: param ln
v1 a 0 1
r1 a 0 1k
.param x={ln(0)}
.op
