Quarter-wave stub in ac
V1 s 0 ac 1
RS s a 50
T1 a 0 b 0 z0=50 f=1g nl=0.25
T2 a 0 c 0 z0=75 td=0.25n
RB b 0 100
RC c 0 1meg
.save all
.ac lin 200 10meg 2g
.meas ac notch min vdb(a) from=0.5g to=1.5g
.meas ac at_500m find vm(a) at=0.5g
.meas ac at_500p find vp(a) at=0.5g
.meas ac far find vm(b) at=1.5g
.end
