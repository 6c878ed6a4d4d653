* chain of 100 inverters
vp vp 0 {vdd}
vin in 0 pulse(0 {vdd} {0.2*ts} {0.1*ts} {0.1*ts} {6*ts} {20*ts})
@chain 100@
.tran {0.001*ts} {10*ts} 0 {0.001*ts}
.meas tran t_rise trig v(in) val={vdd/2} rise=1 targ v(n100) val={vdd/2} rise=1
.meas tran t_fall trig v(in) val={vdd/2} fall=1 targ v(n100) val={vdd/2} fall=1
.meas tran t_half trig v(in) val={vdd/2} rise=1 targ v(n51) val={vdd/2} fall=1
.end
