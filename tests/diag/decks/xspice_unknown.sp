bad deck: xspice_unknown
v1 a 0 1
r1 a 0 1k
a1 a b g
.model g gian(gain=2)
.op
