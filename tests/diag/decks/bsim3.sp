bsim3 bad cards
M1 d g 0 0 n1 w=1u l=0.05u
M2 d g 0 0 n2 w=1u l=1u
M3 d g 0 0 n3 w=1u l=1u
VD d 0 1
VG g 0 1
.model n1 nmos level=8 lint=30n
.model n2 nmos level=49 version=3.1 noimod=9 k2=-0.01
.model n3 nmos level=49 version=3.3.0 pclm=-1
.op
.end
