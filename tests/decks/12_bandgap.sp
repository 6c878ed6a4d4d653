Bandgap reference with an ideal amplifier: curvature over temperature
VDD vdd 0 3.3
E1 g 0 value={1.3*tanh(1e3*(v(n)-v(p)))+1.5}
M1 p g vdd vdd pm w=20u l=2u
M2 n g vdd vdd pm w=20u l=2u
M3 ref g vdd vdd pm w=20u l=2u
Q1 0 0 p qp
R1 n e2 5.4k
Q2 0 0 e2 qp area=8
R2 ref e3 54k
Q3 0 0 e3 qp area=8
RST vdd p 1meg
.model qp pnp is=2e-17 bf=40 xti=3 eg=1.12
.model pm pmos level=1 vto=-0.7 kp=40u lambda=0.02
.nodeset v(p)=0.7 v(n)=0.7 v(ref)=1.2
.dc temp -40 120 8
.meas dc cold find v(ref) at=-40
.meas dc room find v(ref) at=24
.meas dc hot find v(ref) at=120
.meas dc most max v(ref)
.end
