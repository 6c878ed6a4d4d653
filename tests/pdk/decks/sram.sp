* six-transistor cell: writes a 0, then reads it
vp vp 0 {vdd}
vwl wl 0 pulse(0 {vdd} {1*ts} {0.1*ts} {0.1*ts} {2*ts} {5*ts})
vwr wr 0 pwl(0 {vdd} {4*ts} {vdd} {4.1*ts} 0)
vpre pre 0 pwl(0 {vdd} {4.2*ts} {vdd} {4.3*ts} 0 {5.5*ts} 0 {5.6*ts} {vdd})
xp1 q qb vp vp p w=0.42 l={lmin}
xn1 q qb 0 0 n w=0.8 l={lmin}
xp2 qb q vp vp p w=0.42 l={lmin}
xn2 qb q 0 0 n w=0.8 l={lmin}
xa1 bl wl q 0 n w=0.5 l={lmin}
xa2 br wl qb 0 n w=0.5 l={lmin}
xw1 bl wr 0 0 n w=2 l={lmin}
xl1 bl pre vp vp p w=2 l={lmin}
xl2 br pre vp vp p w=2 l={lmin}
cl bl 0 20f
cr br 0 20f
.ic v(q)={vdd} v(qb)=0 v(bl)=0 v(br)={vdd}
.tran {0.001*ts} {9*ts} 0 {0.001*ts}
.meas tran t_write trig v(wl) val={vdd/2} rise=1 targ v(qb) val={vdd/2} rise=1
.meas tran v_disturb max v(q) from={6*ts} to={8*ts}
.meas tran t_read trig v(wl) val={vdd/2} rise=2 targ v(bl) val={0.9*vdd} fall=last
.meas tran v_bl find v(bl) at={7*ts}
.end
