bad deck: two waves
v1 a 0 sin(0 1 1k) pulse(0 1)
r1 a 0 1
.tran 1n 1u
