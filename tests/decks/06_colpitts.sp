Colpitts oscillator: frequency and amplitude
.options reltol=1e-5
VCC vcc 0 pwl(0 0 10n 9 1 9)
RB1 vcc b 22k
RB2 b 0 10k
CB b 0 10n
L1 vcc c 2u
C1 c e 200p
C2 e 0 600p
RC vcc c 3k
RE e 0 1.5k
Q1 c b e qn
.model qn npn is=1e-15 bf=150 vaf=100 cje=5p cjc=3p tf=0.3n rb=50
.tran 2n 60u 0 1n
.meas tran t1 when v(c)=9 rise=400
.meas tran t2 when v(c)=9 rise=420
.meas tran freq param='20/(t2-t1)'
.meas tran amplitude pp v(c) from=55u to=60u
.meas tran level avg v(e) from=40u to=60u
.end
