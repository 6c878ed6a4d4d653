bad deck: after end
v1 a 0 1
r1 a 0 1k
.op
.end
r2 a 0 1
