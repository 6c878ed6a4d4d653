shooting with lines and a delay
V1 a 0 portnum 1 z0=50 pulse(0 1 0 0.1n 0.1n 0.9n 2n)
T1 a 0 b 0 z0=50 td=0.3n
D1 b c dm
.model dm d is=1e-14 cjo=0.1p
R2 c 0 75
T2 b 0 e 0 z0=70 f=1g nl=0.25
R3 e 0 100
.pss 0.5g 4n c 16 5 method=shooting halvings=1
.hbac dec 1 1k 1meg
.hbsp lin 2 1k 2k harms=(1 -1)
.hbxf v(c,e) lin 2 1k 2k sideband=1
.end
