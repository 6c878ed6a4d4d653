Voltage multiplier of three stages
.options reltol=1e-5
VS in 0 sin(0 10 10k)
C1 in 1 100n
D1 0 1 dm
D2 1 2 dm
C2 2 0 100n
C3 1 3 100n
D3 2 3 dm
D4 3 4 dm
C4 4 2 100n
C5 3 5 100n
D5 4 5 dm
D6 5 6 dm
C6 6 4 100n
RL 6 0 1meg
.model dm d is=1e-12 n=1.1 rs=1 cjo=5p bv=100
.tran 1u 4m 0 1u
.meas tran vout find v(6) at=4m
.meas tran first find v(2) at=4m
.meas tran half when v(6)=25
.meas tran mean avg v(6) from=3m to=4m
.end
