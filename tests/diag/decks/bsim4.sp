bsim4 bad cards
M1 d g 0 0 n1 w=1u l=0.05u
M2 d g 0 0 n2 w=1u l=1u
M3 d g 0 0 n3 w=1u l=1u
M4 d g 0 0 n4 w=1u l=1u nf=0
M5 d g 0 0 n5 w=1u l=1u
VD d 0 1
VG g 0 1
.model n1 nmos level=54 lint=30n
.model n2 nmos level=14 version=4.3 mobmod=9 tnoimod=2 k2=-0.01
.model n3 nmos level=54 version=4.8.2 toxe=-1n
.model n4 nmos level=54
.model n5 nmos level=54 version=5.0 ndep=-1e17
.op
.end
