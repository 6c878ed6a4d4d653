bad deck: coupling missing
v1 a 0 1
r1 a 0 1k
l1 b 0 1u
r2 a b 1
k1 l1 l2 0.5
.op
