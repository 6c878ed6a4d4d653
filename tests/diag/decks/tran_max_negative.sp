bad deck: tran max negative
v1 a 0 1
r1 a 0 1k
.tran 1n 1u 0 -1n
