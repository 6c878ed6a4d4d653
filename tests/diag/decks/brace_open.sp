bad deck: brace open
v1 a 0 1
r1 a 0 1k
r2 a 0 {1+2
.op
