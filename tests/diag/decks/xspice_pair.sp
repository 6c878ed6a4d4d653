bad deck: xspice_pair
v1 a 0 1
r1 a 0 1k
a1 %vd a %v b g
.model g gain(gain=2)
.op
