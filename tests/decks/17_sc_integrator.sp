Switched-capacitor integrator, two phases
.options reltol=1e-5
.param fs=1meg
VIN in 0 0.1
VP1 p1 0 pulse(0 1 0 5n 5n 400n {1/fs})
VP2 p2 0 pulse(0 1 500n 5n 5n 400n {1/fs})
S1 in a p1 0 sx
S2 a n p2 0 sx
S3 b 0 p1 0 sx
CS a b 1p
S4 b 0 p2 0 sx
CA a 0 10f
CI n out 10p ic=0
E1 out 0 0 n 1e4
.model sx sw vt=0.5 vh=0 ron=1k roff=1e12
.tran 5n 10.4u 0 5n uic
.meas tran v3 find v(out) at=3.45u
.meas tran v9 find v(out) at=9.45u
.meas tran step param='(v9-v3)/6'
.end
