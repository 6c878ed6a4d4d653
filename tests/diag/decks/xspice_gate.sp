bad deck: xspice_gate
v1 a 0 1
r1 a 0 1k
a1 [a b] c g
.model g d_and(rise_delay=1n)
.op
