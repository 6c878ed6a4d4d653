* inverter with mismatch, 200 samples
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt_mismatch
.param stop=900p
.subckt inv a y vdd
xn y a 0 0 sg13_lv_nmos w=1u l=0.13u
xp y a vdd vdd sg13_lv_pmos w=2u l=0.13u
.ends
vdd vdd 0 dc 1.2
vin in 0 dc 0 pulse(0 1.2 50p 20p 20p 180p 400p)
x1 in out vdd inv
x2 out out2 vdd inv
c1 out 0 5f
c2 out2 0 5f
.save v(in) v(out) v(out2) i(vdd)
.tran 0.5p {stop} 0 0.1p
.meas tran tf trig v(in) val=0.6 rise=1 targ v(out) val=0.6 fall=1
.meas tran tr trig v(in) val=0.6 fall=1 targ v(out) val=0.6 rise=1
.meas tran q integ i(vdd) from=0 to=300p
.limits tf max=30p
.mc 200 seed=7
.end
