bad deck: else alone
v1 a 0 1
r1 a 0 1k
.else
.op
