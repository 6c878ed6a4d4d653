* ring of 51 inverters
vp vp 0 {vdd}
@ring 51@
.ic v(n51)=0
.tran {0.002*ts} {20*ts} 0 {0.002*ts}
.meas tran f_period trig v(n1) val={vdd/2} rise=2 targ v(n1) val={vdd/2} rise=4
.meas tran i_supply avg i(vp) from={5*ts} to={20*ts}
.end
