bad deck: floating part
v1 a 0 1
r1 a 0 1
r2 p q 1k
r3 p q 2k
.op
