bad deck: tran step negative
v1 a 0 1
r1 a 0 1k
.tran -1n 1u
