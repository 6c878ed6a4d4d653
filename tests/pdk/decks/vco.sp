* current-starved ring of 7 at two voltages
vp vp 0 {vdd}
.subckt cell a y c pb vp
x1 u pb vp vp p w=2 l={2*lmin}
x2 y a u vp p w=2 l={lmin}
x3 y a d 0 n w=1 l={lmin}
x4 d c 0 0 n w=1 l={2*lmin}
cy y 0 5f
.ends
.subckt osc c out vp
xm1 pb c 0 0 n w=1 l={2*lmin}
xm2 pb pb vp vp p w=2 l={2*lmin}
x1 out a c pb vp cell
x2 a b c pb vp cell
x3 b d c pb vp cell
x4 d e c pb vp cell
x5 e f c pb vp cell
x6 f g c pb vp cell
x7 g out c pb vp cell
.ends
v1 c1 0 {0.5*vdd}
v2 c2 0 {0.8*vdd}
x1 c1 o1 vp osc
x2 c2 o2 vp osc
.ic v(o1)=0 v(o2)=0
.tran {0.004*ts} {30*ts} 0 {0.004*ts}
.meas tran f_slow trig v(o1) val={vdd/2} rise=2 targ v(o1) val={vdd/2} rise=3
.meas tran f_fast trig v(o2) val={vdd/2} rise=2 targ v(o2) val={vdd/2} rise=6
.end
