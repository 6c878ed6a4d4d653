bad deck: xspice_type
v1 a 0 1
r1 a 0 1k
a1 %gd(a b) c g
.model g gain(gain=2)
.op
