Schmitt trigger with two transistors: hysteresis up and down
.options reltol=1e-5
VCC vcc 0 10
VIN in 0 pwl(0 0 1m 6 2m 0)
RI in b1 1k
Q1 c1 b1 e qn
Q2 out b2 e qn
RC1 vcc c1 4.7k
RC2 vcc out 1.8k
R1 c1 b2 10k
R2 b2 0 15k
CS c1 b2 100p
RE e 0 1k
.model qn npn is=2e-15 bf=150 vaf=80 cje=5p cjc=3p tf=0.4n rb=50
.tran 2u 2m 0 0.1u
.meas tran up find v(in) when v(out)=8 rise=1
.meas tran down find v(in) when v(out)=8 fall=1
.meas tran width param='up-down'
.meas tran low find v(out) at=0
.end
