words where transistors need numbers
vd d 0 1
m1 d d 0 0 n1 w=1u l=1u
m2 d d 0 0 n2 w=nan l=1u
m3 d d 0 0 n2 w=1u l=inf
m4 d d 0 0 n3 w=1u l=1u
.model n1 nmos level=54 vth0=nan
.model n2 nmos level=54
.model n3 nmos level=49 u0=high
.op
.end
