operating points that need more than Newton
V1 a 0 5
R1 a b 10k
Q1 b c 0 qn
Q2 c b 0 qn
R2 a c 10k
Q3 d b e qn
R3 a d 1k
R5 e 0 1meg
C1 e f 1p
C2 f 0 1p
E1 g 0 b c 1e6
R4 g h 1
D1 h 0 dz
.model qn npn is=1e-16 bf=100 vaf=50
.model dz d is=1e-14 bv=3 ibv=1m
.option itl1=5 gmin=1e-15
.op
.dc V1 0 5 1
.tran 1n 20n
.end
