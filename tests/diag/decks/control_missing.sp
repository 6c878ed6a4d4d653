bad deck: control missing
v1 a 0 1
r1 a 0 1k
f1 a 0 vx 2
.op
