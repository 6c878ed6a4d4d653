bad deck: number bad
v1 a 0 1
r1 a 0 1k
r2 a 0 1x5
.op
