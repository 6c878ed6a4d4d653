bad deck: tran step zero
v1 a 0 1
r1 a 0 1k
.tran 0 1u
