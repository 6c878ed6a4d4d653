* two-stage amplifier: step
.subckt amp inp inn out vp
ib vp nb 20u
xb nb nb 0 0 n w=4 l={4*lmin}
xt t nb 0 0 n w=8 l={4*lmin}
x1 x inn t 0 n w=10 l={2*lmin}
x2 y inp t 0 n w=10 l={2*lmin}
x3 x x vp vp p w=8 l={4*lmin}
x4 y x vp vp p w=8 l={4*lmin}
x5 out y vp vp p w=40 l={4*lmin}
x6 out nb 0 0 n w=20 l={4*lmin}
rz y z 2k
xc z out cm w=25
.ends
vp vp 0 {vdd}
vi in 0 dc {vdd/2} pulse({vdd/2} {vdd/2+0.2} 0.1u 1n 1n 1u 4u)
xs in step step vp amp
cs step 0 1p
.tran 0.2n 2u 0 0.2n
.meas tran v_high find v(step) at=1u
.meas tran v_over max v(step)
.meas tran v_low find v(step) at=2u
.meas tran t_slew trig v(step) val={vdd/2+0.04} rise=1 targ v(step) val={vdd/2+0.16} rise=1
.end
