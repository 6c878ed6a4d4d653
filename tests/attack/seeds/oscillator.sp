an oscillator with a line
L1 a 0 1u ic=1m
C1 a 0 1n
R1 a 0 1k
B1 a 0 i=-2m*v(a)+0.5m*v(a)^3
T1 a 0 b 0 z0=200 td=5n
R2 b 0 400
.pss 5meg 2u a 32 5 method=shooting
.hbosc 5meg nharms=5 tstab=2u probenode=a uic
.phasenoise v(a) dec 1 1k 10k
.end
