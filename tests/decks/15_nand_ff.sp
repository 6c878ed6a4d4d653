CMOS RS latch of two NAND gates
.options reltol=1e-5
.model nm nmos level=3 vto=0.6 kp=120u tox=9n gamma=0.5 phi=0.8 theta=0.1 cgso=0.25n cgdo=0.25n
.model pm pmos level=3 vto=-0.7 kp=40u tox=9n gamma=0.5 phi=0.8 theta=0.08 cgso=0.25n cgdo=0.25n
.subckt nand a b y vdd
mpa y a vdd vdd pm w=4u l=0.8u
mpb y b vdd vdd pm w=4u l=0.8u
mna y a m 0 nm w=4u l=0.8u
mnb m b 0 0 nm w=4u l=0.8u
.ends nand
VDD vdd 0 3.3
VS s 0 pulse(3.3 0 2n 0.1n 0.1n 3n 20n)
VR r 0 pulse(3.3 0 12n 0.1n 0.1n 3n 20n)
X1 s nq q vdd nand
X2 r q nq vdd nand
C1 q 0 50f
C2 nq 0 50f
.ic v(q)=0 v(nq)=3.3
.tran 10p 20n 0 5p
.meas tran set trig v(s) val=1.65 fall=1 targ v(q) val=1.65 rise=1
.meas tran reset trig v(r) val=1.65 fall=1 targ v(q) val=1.65 fall=1
.meas tran nset trig v(s) val=1.65 fall=1 targ v(nq) val=1.65 fall=1
.meas tran hold find v(q) at=10n
.meas tran charge integ i(vdd) from=1n to=19n
.end
