coupled inductors, one of them negative, and one of none
v1 a 0 dc 1
r1 a n 1k
l1 n 0 1u
l2 b 0 -4u
r2 b 0 1k
k1 l1 l2 0.1
l3 c 0 0
r3 c 0 1k
k2 l1 l3 0.1
.op
.end
