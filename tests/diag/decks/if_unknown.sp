bad deck: if unknown
v1 a 0 1
r1 a 0 1k
.if (corner==1)
r2 a 0 1
.endif
.op
