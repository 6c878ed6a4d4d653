BSIM1 and BSIM2, bad cards
M1 d g 0 0 n1 w=1u l=1u
M2 d g 0 0 n2 w=1u l=0.05u
M3 d g 0 0 n3 w=1u l=1u
M4 d g 0 0 n4 w=1u l=1u
VD d 0 1
VG g 0 1
.model n1 nmos level=4 vfb=-1 phi=0.7
.model n2 nmos level=4 tox=0.03 dl=0.1
.model n3 nmos level=5 vghigh=-0.2
.model n4 pmos level=5 lphi=-2 pbx=1
.op
.end
