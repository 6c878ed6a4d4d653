bad deck: xspice_vnam
v1 a 0 1
r1 a 0 1k
a1 %vnam v2 c g
.model g gain(gain=2)
.op
