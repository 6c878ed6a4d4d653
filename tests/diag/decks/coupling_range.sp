bad deck: coupling range
v1 a 0 1
r1 a 0 1k
l1 a 0 1u
l2 b 0 1u
r2 b 0 1
r3 a c 1
k1 l1 l2 1.5
.op
