ports, scattering, noise of two-ports
V1 p 0 dc 0.7 ac 1 portnum 1 z0=50 sin(0.7 0.1 10meg)
V2 q 0 0 portnum 2 z0=75
C1 p b 10n
R1 b s 10k
Vs s 0 3
Q1 c b 0 qm
R2 c s 500
C2 c q 10n
.model qm npn is=1e-16 bf=80 tf=10p cje=0.2p rb=50
.sp dec 2 1meg 100meg donoise
.hb tones=10meg nharms=3
.hbsp lin 2 1k 1meg harms=(1 -1) 0 donoise
.acxf v(c) lin 2 1meg 10meg
.dcxf v(c)
.pz p 0 c 0 vol pz
.noise v(c) v1 dec 1 1meg 10meg 1
.disto dec 1 1meg 10meg 0.9
.end
