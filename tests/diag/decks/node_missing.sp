bad deck: node missing
v1 a 0 1
r1 a 0 1k
r2 a
.op
