bad deck: xspice_param
v1 a 0 1
r1 a 0 1k
a1 a b g
.model g gain(gian=2)
.op
