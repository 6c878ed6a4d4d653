bad deck: element xspice
v1 a 0 1
r1 a 0 1k
a1 a 0 gain
.op
