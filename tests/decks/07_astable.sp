Astable multivibrator with two transistors
.options reltol=1e-5
VCC vcc 0 5
RC1 vcc c1 1k
RC2 vcc c2 1k
RB1 vcc b1 47k
RB2 vcc b2 33k
C1 c1 b2 10n ic=-4
C2 c2 b1 10n ic=0
Q1 c1 b1 0 q2
Q2 c2 b2 0 q2
.model q2 npn is=1e-14 bf=200 br=3 vaf=70 cje=8p cjc=4p tf=0.4n tr=60n rb=20 rc=1
.tran 0.5u 3m 0 0.5u uic
.meas tran t1 when v(c1)=2.5 rise=2
.meas tran t2 when v(c1)=2.5 rise=4
.meas tran period param='(t2-t1)/2'
.meas tran high trig v(c1) val=2.5 rise=2 targ v(c1) val=2.5 fall=3
.meas tran duty param='high/period'
.meas tran swing pp v(b2) from=1m to=3m
.end
