bad deck: pwl back
v1 a 0 pwl(0 0 2n 1 1n 0)
r1 a 0 1
.tran 1n 1u
