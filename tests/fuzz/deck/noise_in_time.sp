noise of devices in time, sources of random numbers
V1 a 0 dc 0.6 trrandom(2 1n 0 0.01)
I1 0 b trnoise(1u 1n 1 1u 15m 22u 50u)
R1 a b 1k
D1 b 0 dm
.model dm d is=1e-14 kf=1e-16 af=1 rs=10
Vs c 0 sffm(0 1 10meg 2 1meg)
Va d 0 am(1 0 1meg 10meg 0)
Ve e 0 exp(0 1 1n 2n 10n 3n)
R2 c d 1k
R3 e d 1k
.trannoise fmax=200meg seed=3
.tran 1n 100n
.meas tran r rms v(b)
.end
