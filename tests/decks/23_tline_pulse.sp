Ideal line, mismatched: reflections
.options reltol=1e-5
V1 s 0 pulse(0 1 1n 0.1n 0.1n 20n 50n)
RS s a 25
T1 a 0 b 0 z0=50 td=2n
RL b 0 150
T2 b 0 c 0 z0=75 td=1n
RC c 0 75
.tran 20p 25n 0 20p
.meas tran first find v(a) at=2n
.meas tran second find v(b) at=4n
.meas tran third find v(a) at=6n
.meas tran settled find v(b) at=20n
.meas tran travel trig v(a) val=0.2 rise=1 targ v(c) val=0.2 rise=1
.meas tran far find v(c) at=15n
.end
