* classab - amplifier with class-AB output of hv transistors at 3.3 V, 1 kohm and 20 pF, sine of 1 MHz
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/r3_cmc/r3_cmc.va"
.lib "$PDK/ngspice/models/cornerMOShv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vdd vdd 0 3.3
vin in 0 sin(1.65 0.6 1meg)
.global vdd
ib nb0 0 20u
* bias: mirrors, two stacks for the gates of the floating source
xb0 nb0 nb0 vdd vdd sg13_hv_pmos w=8u l=1u ng=2
xb1 nb nb0 vdd vdd sg13_hv_pmos w=8u l=1u ng=2
xb2 nb nb 0 0 sg13_hv_nmos w=3u l=1u ng=1
xb3 vn nb0 vdd vdd sg13_hv_pmos w=8u l=1u ng=2
xb4 vn vn n1 0 sg13_hv_nmos w=5u l=0.5u ng=1
xb5 n1 n1 0 0 sg13_hv_nmos w=5u l=0.5u ng=1
xb6 vp nb 0 0 sg13_hv_nmos w=3u l=1u ng=1
xb7 vp vp p1 vdd sg13_hv_pmos w=12u l=0.4u ng=2
xb8 p1 p1 vdd vdd sg13_hv_pmos w=12u l=0.4u ng=2
xb9 pc nb 0 0 sg13_hv_nmos w=3u l=1u ng=1
xb10 pc pc vdd vdd sg13_hv_pmos w=2u l=1u ng=1
* folded first stage; the floating source stands in its right leg
xt tl nb 0 0 sg13_hv_nmos w=12u l=1u ng=4
xm1 f1 out tl 0 sg13_hv_nmos w=40u l=0.5u ng=8
xm2 f2 in tl 0 sg13_hv_nmos w=40u l=0.5u ng=8
xl1 f1 nb0 vdd vdd sg13_hv_pmos w=40u l=1u ng=10
xl2 f2 nb0 vdd vdd sg13_hv_pmos w=40u l=1u ng=10
xk1 y1 pc f1 vdd sg13_hv_pmos w=20u l=0.4u ng=4
xk2 gp pc f2 vdd sg13_hv_pmos w=20u l=0.4u ng=4
xq1 y1 y1 0 0 sg13_hv_nmos w=8u l=1u ng=2
xq2 gn y1 0 0 sg13_hv_nmos w=8u l=1u ng=2
xf1 gp vn gn 0 sg13_hv_nmos w=10u l=0.5u ng=2
xf2 gn vp gp vdd sg13_hv_pmos w=24u l=0.4u ng=4
* output
xm9 out gp vdd vdd sg13_hv_pmos w=240u l=0.4u ng=24
xm10 out gn 0 0 sg13_hv_nmos w=100u l=0.5u ng=20
xr1 out c1 0 rppd w=2u l=6u
xr2 out c2 0 rppd w=2u l=6u
xc1 c1 gp cap_cmim w=30u l=30u
xc2 c2 gn cap_cmim w=30u l=30u
vl l 0 1.65
rl out l 1k
cl out 0 20p
.save v(out) v(gp) v(gn) v(y1)
.tran 2n 4u 0 10n
.meas tran high max v(out) from=1u to=4u
.meas tran low min v(out) from=1u to=4u
.meas tran swing param='high-low'
.end
