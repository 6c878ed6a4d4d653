* a line has no finite number of poles
V1 in 0 dc 0 ac 1
R1 in a 50
T1 a 0 b 0 z0=50 td=1n
R2 b 0 50
C1 b 0 1p
.pz in 0 b 0 vol pz
.end
