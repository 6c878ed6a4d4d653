Full-wave rectifier with a coupled transformer
.options reltol=1e-5
VS p 0 sin(0 170 60)
RS p p1 1
L1 p1 0 1
L2 s1 0 10m
L3 0 s2 10m
K1 L1 L2 0.999
K2 L1 L3 0.999
K3 L2 L3 0.999
D1 s1 out dr
D2 s2 out dr
C1 out 0 1m
RL out 0 100
.model dr d is=1e-9 n=1.5 rs=50m cjo=30p
.tran 20u 100m 0 20u
.meas tran mean avg v(out) from=66.6667m to=100m
.meas tran ripple pp v(out) from=66.6667m to=100m
.meas tran first find i(l2) at=3m
.meas tran effective rms i(vs) from=66.6667m to=100m
.end
