an oscillator, its noise, and transfer to it
L1 a 0 1u ic=1m
C1 a 0 1n
R1 a 0 1k
B1 a 0 i=-2m*v(a)+0.5m*v(a)^3
I9 a 0 0
.hbosc 5meg nharms=5 tstab=10u probenode=a uic
.phasenoise v(a) dec 1 1k 10k 1 sideband=1
.hbac lin 2 1k 20k
.hbxf v(a) lin 2 1k 20k
.pss 5meg 10u a 32 5 method=shooting integration=trap halvings=1 uic
.phasenoise v(a) dec 1 1k 10k
.end
