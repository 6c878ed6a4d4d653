bad deck: endl alone
v1 a 0 1
r1 a 0 1k
.endl
.op
