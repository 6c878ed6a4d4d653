* from the core's supply to the high one and back
vp vp 0 {vdd}
vh vh 0 {vhigh}
vin in 0 pulse(0 {vdd} {1*ts} {0.1*ts} {0.1*ts} {10*ts} {22*ts})
xi in inb vp inv
xn1 x in 0 0 nh w=20 l={lh}
xn2 y inb 0 0 nh w=20 l={lh}
xp1 x y vh vh ph w=1 l={lh}
xp2 y x vh vh ph w=1 l={lh}
xp3 z y vh vh ph w=4 l={lh}
xn3 z y 0 0 nh w=2 l={lh}
xp4 back z vp vp ph w=20 l={lh}
xn4 back z 0 0 nh w=2 l={lh}
cz z 0 10f
cb back 0 5f
.tran {0.004*ts} {22*ts} 0 {0.004*ts}
.meas tran t_up trig v(in) val={vdd/2} rise=1 targ v(y) val={vhigh/2} rise=1
.meas tran t_down trig v(in) val={vdd/2} fall=1 targ v(y) val={vhigh/2} fall=1
.meas tran t_back trig v(in) val={vdd/2} rise=1 targ v(back) val={vdd/2} rise=1
.meas tran q_high integ i(vh) from={0.5*ts} to={22*ts}
.end
