bad deck: element twice
v1 a 0 1
r1 a 0 1k
R1 a 0 2k
.op
