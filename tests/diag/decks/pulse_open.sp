bad deck: pulse open
v1 a 0 pulse(0 1 0 1n
r1 a 0 1
.tran 1n 1u
