cards of SPICE2
.width out=80
.options acct nomod limpts=500 itl4=50 reltol=1e-3
V1 1 0 dc 1 ac 1 sin(0 1 1k)
R1 1 2 1k tc=1m,2u
C1 2 0 1p ic=0.1
E1 3 0 poly(2) 1 0 2 0 0 1 0.5 0 0.1
F1 0 4 poly(1) v1 0 2 0.1
R4 4 0 1k
H1 5 0 v1 10
Q1 1 2 6 0 qm 1.5 off
R6 6 0 1k
D1 2 0 dm 2 ic=0.6
.model qm npn(is=1e-16 bf=80 vaf=50 cje=1p tf=1n)
.model dm d is=1e-15 rs=1
.dc v1 0 1 0.5
.tf v(3) v1
.sens v(2)
.noise v(2) v1 dec 2 1 100
.disto dec 2 1 100
.ac dec 2 1 1k
.tran 0.1m 1m uic
.four 1k v(2)
.print tran v(1,2) i(v1) v(3)
.plot ac vdb(2) vp(2) (0,1)
.temp 27 50
.nodeset v(2)=0.3
.ic v(2)=0.1
.end
