bad deck: pulse arguments
v1 a 0 pulse(0 1 0 1n 1n 1n 2n 1 9)
r1 a 0 1
.tran 1n 1u
