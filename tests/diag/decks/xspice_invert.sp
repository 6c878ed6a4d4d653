bad deck: xspice_invert
v1 a 0 1
r1 a 0 1k
a1 ~a c g
.model g gain(gain=2)
.op
