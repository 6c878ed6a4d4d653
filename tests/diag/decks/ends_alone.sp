bad deck: ends alone
v1 a 0 1
r1 a 0 1k
.ends
.op
