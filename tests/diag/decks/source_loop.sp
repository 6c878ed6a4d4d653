bad deck: source loop
v1 a 0 1
v2 a 0 2
r1 a 0 1
.op
