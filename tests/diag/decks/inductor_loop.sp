bad deck: inductor loop
v1 a 0 1
l1 a b 1u
l2 a b 1u
l3 a 0 1u
r1 b 0 1
.op
