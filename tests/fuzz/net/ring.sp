Ring of five inverters, level 1
.options reltol=1e-5
.param wn=2u lm=1u
.subckt inv in out vdd params: w=2u
mp out in vdd vdd pm w={2.5*w} l={lm} ad={5p*w/2u} as={5p*w/2u}
mn out in 0 0 nm w={w} l={lm} ad={2p*w/2u} as={2p*w/2u}
cl out 0 10f
.ends
.model nm nmos level=1 vto=0.6 kp=110u gamma=0.4 phi=0.7 lambda=0.05 tox=10n cgso=0.3n cgdo=0.3n cj=0.5m mj=0.5
.model pm pmos level=1 vto=-0.7 kp=40u gamma=0.5 phi=0.7 lambda=0.06 tox=10n cgso=0.3n cgdo=0.3n cj=0.6m mj=0.5
VDD vdd 0 3
X1 a b vdd inv w={wn}
X2 b c vdd inv w={wn}
X3 c d vdd inv w={wn}
X4 d e vdd inv w={wn}
X5 e a vdd inv w={wn}
.ic v(a)=0 v(b)=3 v(c)=0 v(d)=3 v(e)=0
.tran 5p 20n 0 5p uic
.meas tran period trig v(a) val=1.5 rise=5 targ v(a) val=1.5 rise=9
.meas tran freq param='4/period'
.meas tran swing pp v(a) from=5n to=20n
.meas tran supply avg i(vdd) from=5n to=15n
.end
