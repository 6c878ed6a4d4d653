Gilbert cell multiplier: product and dc offsets
.options reltol=1e-5
VCC vcc 0 10
VB1 bx 0 6
VB2 by 0 3
VX x 0 dc 0.02 sin(0 20m 1meg)
VY y 0 dc 0.05 sin(0 50m 50k)
EX xp bx x 0 1
EY yp by y 0 1
Q1 o1 xp e1 qn
Q2 o2 bx e1 qn
Q3 o2 xp e2 qn
Q4 o1 bx e2 qn
Q5 e1 yp e5 qn
Q6 e2 by e6 qn
R5 e5 t 500
R6 e6 t 500
I1 t 0 1m
RC1 vcc o1 4.7k
RC2 vcc o2 4.7k
.model qn npn is=1e-16 bf=120 vaf=60 cje=0.5p cjc=0.3p tf=0.1n rb=80
.control
op
print v(o1) v(o2) v(t)
let d = v(o2)-v(o1)
print d
dc vy -0.2 0.2 0.02 vx -0.03 0.03 0.03
meas dc most max par('v(o1)-v(o2)')
tran 20n 20u 0 10n
meas tran swing pp par('v(o1)-v(o2)') from=5u to=20u
meas tran power rms v(o1,o2) from=0 to=20u
.endc
.end
