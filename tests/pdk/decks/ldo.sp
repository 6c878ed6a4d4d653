* regulator from the high supply to the core's, load step
vp vp 0 {vhigh-1}
vr ref 0 {vdd/2}
ib vp nb 10u
xb nb nb 0 0 nh w=4 l={2*lh}
xt t nb 0 0 nh w=8 l={2*lh}
x1 x fb t 0 nh w=20 l={2*lh}
x2 g ref t 0 nh w=20 l={2*lh}
x3 x x vp vp ph w=8 l={2*lh}
x4 g x vp vp ph w=8 l={2*lh}
xo1 out g vp vp ph w=100 l={lh}
xo2 out g vp vp ph w=100 l={lh}
xo3 out g vp vp ph w=100 l={lh}
xo4 out g vp vp ph w=100 l={lh}
r1 out fb 50k
r2 fb 0 50k
co out z 100n
rz z 0 0.5
il out 0 pwl(0 100u 2u 100u 2.1u 2m 12u 2m 12.1u 100u)
.tran 10n 20u 0 10n
.meas tran v_start find v(out) at=1u
.meas tran v_min min v(out)
.meas tran v_load find v(out) at=11u
.meas tran v_max max v(out) from=12u to=20u
.end
