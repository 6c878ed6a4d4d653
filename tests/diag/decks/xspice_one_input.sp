bad deck: xspice_one_input
v1 a 0 1
r1 a 0 1k
a1 [a] c g
.model g summer(out_gain=2)
.op
