bad deck: sub not closed
v1 a 0 1
r1 a 0 1k
.subckt cell p n
r1 p n 1
.op
