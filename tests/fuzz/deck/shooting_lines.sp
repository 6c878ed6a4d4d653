shooting with lines, lossy lines, delays
V1 a 0 portnum 1 z0=50 pulse(0 1 0 0.1n 0.1n 0.9n 2n)
T1 a 0 b 0 z0=50 td=0.3n
D1 b c dm
.model dm d is=1e-14 cjo=0.1p
R2 c 0 75
O1 b 0 e 0 lm
R3 e 0 50
Y1 a 0 f 0 ym len=0.01
.model ym txl r=1 l=250n c=100p
R4 f 0 50
P1 a b 0 g h 0 cm
.model cm cpl r=1 0 1 l=250n 10n 250n g=0 0 0 c=100p -10p 100p length=0.01
R5 g 0 50
R6 h 0 50
E1 i 0 delay c 0 td=0.2n scale=1
.model lm ltra r=0.1 l=250n c=100p len=0.1
.pss 0.5g 4n c 16 5 method=shooting halvings=1
.hbac dec 1 1k 1meg
.tran 0.1n 6n
.ac dec 1 1meg 1g
.end
