bad deck: pwl odd
v1 a 0 pwl(0 0 1n)
r1 a 0 1
.tran 1n 1u
