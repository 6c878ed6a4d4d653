Series regulator with an error amplifier of transistors: load step
.options reltol=1e-5
VIN in 0 15
ILOAD out 0 pulse(20m 120m 50u 1u 1u 100u 300u)
Q1 in b1 e1 qpow
Q2 in c3 b1 qn
RE e1 out 0.1
R1 in c3 4.7k
Q3 c3 fb ref qn
D1 0 ref dz
R2 out ref 1k
R3 out fb 4.7k
R4 fb 0 5.6k
CC c3 fb 100p
COUT out x 10u
RX x 0 0.2
.model qn npn is=1e-14 bf=200 vaf=80 cje=10p cjc=5p tf=0.5n rb=30
.model qpow npn is=1e-12 bf=60 vaf=60 ikf=2 cje=200p cjc=100p tf=10n rb=2
.model dz d is=1e-14 rs=8 bv=5.1 ibv=5m
.control
op
print v(out) v(fb) v(ref)
dc iload 10m 200m 10m
meas dc light find v(out) at=20m
meas dc heavy find v(out) at=200m
tran 0.2u 300u 0 0.1u
meas tran dip min v(out) from=50u to=150u
meas tran over max v(out) from=150u to=300u
meas tran loaded find v(out) at=140u
.endc
.end
