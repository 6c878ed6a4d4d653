bad deck: xspice_range
v1 a 0 1
r1 a 0 1k
a1 a c g
.model g zener(v_breakdown=-2)
a2 a 0 g
.op
