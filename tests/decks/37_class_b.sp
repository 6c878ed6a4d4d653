Class AB output stage: distortion from the series
.options reltol=1e-6
VP vcc 0 12
VM vee 0 -12
VIN in 0 sin(0 5 1k)
R1 vcc b1 4.7k
D1 b1 in dd
D2 in b2 dd
R2 b2 vee 4.7k
Q1 vcc b1 e1 qn
Q2 vee b2 e2 qp
RE1 e1 out 0.5
RE2 e2 out 0.5
RL out 0 50
.model dd d is=2e-14 rs=1
.model qn npn is=2e-14 bf=80 ikf=1 vaf=80
.model qp pnp is=2e-14 bf=70 ikf=1 vaf=60
.tran 2u 3m 0 0.5u
.four 1k v(out)
.meas tran top pp v(out) from=1m to=3m
.meas tran power rms v(out) from=1m to=3m
.meas tran idle min i(vp) from=1m to=3m
.end
