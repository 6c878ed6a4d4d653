bad deck: floating node
v1 a 0 1
c1 a b 1p
c2 b 0 1p
.op
