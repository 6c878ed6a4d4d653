bad deck: if open
v1 a 0 1
r1 a 0 1k
.if (1)
r2 a 0 1
.op
