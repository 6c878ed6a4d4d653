* reference over temperature
vp vp 0 {vhigh}
ib pb 0 2u
is vp a 10n
xb pb pb vp vp ph w=4 l={2*lh}
xt t pb vp vp ph w=8 l={2*lh}
xd1 x a t vp ph w=10 l={2*lh}
xd2 y b t vp ph w=10 l={2*lh}
xn1 x x 0 0 nh w=4 l={4*lh}
xn2 y x 0 0 nh w=4 l={4*lh}
xf g y 0 0 nh w=4 l={4*lh}
xm0 g g vp vp ph w=10 l={4*lh}
xm1 a g vp vp ph w=10 l={4*lh}
xm2 b g vp vp ph w=10 l={4*lh}
xm3 ref g vp vp ph w=10 l={4*lh}
xq1 a 0 pnp
xr1 b e rp l=20
xe1 e 0 pnp
xe2 e 0 pnp
xe3 e 0 pnp
xe4 e 0 pnp
xe5 e 0 pnp
xe6 e 0 pnp
xe7 e 0 pnp
xe8 e 0 pnp
xr2 ref r rp l=180
xq3 r 0 pnp
.dc temp -40 125 5
.meas dc v_cold find v(ref) at=-40
.meas dc v_room find v(ref) at=25
.meas dc v_hot find v(ref) at=125
.meas dc i_hot find i(vp) at=125
.end
