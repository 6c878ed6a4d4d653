* clock divided by four with flip-flop cells
vp vp 0 {vdd}
vck ck 0 pulse(0 {vdd} {1*ts} {0.1*ts} {0.1*ts} {0.9*ts} {2*ts})
x1 ck d1 q1 vp dff
xi1 q1 d1 vp inv
x2 d1 d2 q2 vp dff
xi2 q2 d2 vp inv
c2 q2 0 5f
.ic v(q1)=0 v(q2)=0
.tran {0.002*ts} {24*ts} 0 {0.002*ts}
.meas tran f_quarter trig v(q2) val={vdd/2} rise=1 td={2*ts} targ v(q2) val={vdd/2} rise=2 td={2*ts}
.meas tran t_clk_q trig v(ck) val={vdd/2} rise=4 targ v(q1) val={vdd/2} cross=4
.meas tran i_supply avg i(vp) from={8*ts} to={24*ts}
.end
