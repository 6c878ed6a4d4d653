bad deck: xspice_needed
v1 a 0 1
r1 a 0 1k
a1 a 0 g
.model g zener(i_sat=1p)
.op
