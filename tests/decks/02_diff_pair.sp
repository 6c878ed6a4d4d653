Emitter-coupled pair with a current mirror: transfer curve and common-mode rejection
.options reltol=1e-5
VCC vcc 0 12
VEE vee 0 -12
VIN 1 0 dc 0 ac 1 sin(0 5m 100k)
RS1 1 2 1k
RS2 5 0 1k
Q1 3 2 4 mod1
Q2 6 5 4 mod1
RC1 vcc 3 10k
RC2 vcc 6 10k
RB vcc 7 20k
Q3 7 7 vee mod1
Q4 4 7 vee mod1
.model mod1 npn bf=80 rb=100 ccs=2p tf=0.3n tr=6n cje=3p cjc=2p va=50
.control
op
print v(3) v(4) v(6) v(7)
dc vin -0.2 0.2 0.005
meas dc top max v(6)
meas dc bottom min v(6)
meas dc slope deriv v(6) at=0.0025
ac dec 10 1k 100meg
meas ac dm_gain find vm(6) at=10k
meas ac corner when vm(6)=10
tran 50n 30u 0 20n
meas tran swing pp v(6) from=10u to=30u
meas tran middle avg v(3) from=10u to=30u
.endc
.end
