* clocked comparator: 10 mV
vp vp 0 {vdd}
vck ck 0 pulse(0 {vdd} {1*ts} {0.1*ts} {0.1*ts} {3*ts} {6*ts})
vip ip 0 {0.6*vdd+0.005}
vin in 0 {0.6*vdd-0.005}
xt t ck 0 0 n w=4 l={lmin}
x1 x ip t 0 n w=4 l={lmin}
x2 y in t 0 n w=4 l={lmin}
x3 on op x 0 n w=3 l={lmin}
x4 op on y 0 n w=3 l={lmin}
x5 on op vp vp p w=3 l={lmin}
x6 op on vp vp p w=3 l={lmin}
x7 on ck vp vp p w=2 l={lmin}
x8 op ck vp vp p w=2 l={lmin}
x9 x ck vp vp p w=1 l={lmin}
x10 y ck vp vp p w=1 l={lmin}
c1 on 0 5f
c2 op 0 5f
.tran {0.001*ts} {6*ts} 0 {0.001*ts}
.meas tran t_decide trig v(ck) val={vdd/2} rise=1 targ v(on) val={vdd/4} fall=1
.meas tran v_dip min v(op) from={1*ts} to={3*ts}
.meas tran t_reset trig v(ck) val={vdd/2} fall=1 targ v(on) val={0.9*vdd} rise=1
.meas tran q_supply integ i(vp) from={0.5*ts} to={6*ts}
.end
