* charge pump of two cross-coupled stages
vp vp 0 {vdd}
vc ck 0 pulse(0 {vdd} 5n 0.5n 0.5n 9.5n 20n)
vd cb 0 pulse({vdd} 0 5n 0.5n 0.5n 9.5n 20n)
.subckt stage in out a b
x1 in y x 0 nh w=5 l={lh}
x2 in x y 0 nh w=5 l={lh}
x3 out y x out ph w=10 l={lh}
x4 out x y out ph w=10 l={lh}
xc1 a x cm w=20
xc2 b y cm w=20
.ends
x1 vp m ck cb stage
x2 m out ck cb stage
cm m 0 1p
co out 0 2p
rl out 0 1meg
.ic v(m)={vdd} v(out)={vdd}
.tran 0.05n 600n 0 0.05n
.meas tran v_out avg v(out) from=500n to=600n
.meas tran v_mid avg v(m) from=500n to=600n
.meas tran v_early find v(out) at=100n
.meas tran i_supply avg i(vp) from=500n to=600n
.end
