bad deck: sub pins
v1 a 0 1
r1 a 0 1k
x1 a invert
.subckt invert p n
r1 p n 1
.ends
.op
