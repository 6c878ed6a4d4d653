bad deck: quote open
v1 a 0 1
r1 a 0 1k
.param x='1+2
.op
