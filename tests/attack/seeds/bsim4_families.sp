families of bsim4
.param vt=0.4 l=0.1u
Vd d 0 1
Vg g 0 0.6
M1 d g 0 0 n1 w=1u l={l} nf=2 sa=1u sb=1u
M2 d g 0 0 n2.1 w=1u l=0.2u
M3 d g s 0 n3 w=0.5u l={l} m=2
R1 s 0 1k
.model n1 nmos level=54 version=4.3 vth0={vt} rgatemod=1 rbodymod=1
.model n2.1 nmos level=14 lmin=0.1u lmax=0.5u wmin=0.1u wmax=10u vth0={vt} lvth0=0.01
.model n2.2 nmos level=14 lmin=0.5u lmax=5u wmin=0.1u wmax=10u vth0={vt}
.model n3 nmos level=14 version=4.8 vth0={vt} igcmod=1 igbmod=1 gidlmod=1 fnoimod=1 tnoimod=2 trnqsmod=1 acnqsmod=1
.op
.dc Vg 0 1 0.25 temp -40 125 165
.ac dec 1 1meg 10meg
.noise v(s) Vg dec 1 1k 10k
.tran 1n 10n
.meas dc im max i(Vd)
.step param vt list 0.3 0.4
.step param l 0.1u 0.2u 0.1u
.end
