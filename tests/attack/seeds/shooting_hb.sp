shooting from harmonic balance, ports
V1 p 0 sin(0.5 0.4 1meg) portnum 1 z0=50
R1 p b 1k
Q1 c b 0 qm
.model qm npn is=1e-16 bf=80 tf=10p cje=0.2p
Vc cc 0 3
R2 cc c 1k
C1 c o 1n
V2 o 0 0 portnum 2 z0=50
.pss 1meg 0 c 32 7 method=shooting start=hb
.hb tones=1meg nharms=5
.hbsp dec 2 10k 100k harms=1 0 donoise
.hbnoise v(c) V1 dec 1 1k 10k
.end
