* inv_dc
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
.subckt inv a y vdd
xn y a 0 0 sg13_lv_nmos w=1u l=0.13u
xp y a vdd vdd sg13_lv_pmos w=2u l=0.13u
.ends
vdd vdd 0 dc 1.2
vin in 0 dc 0
x1 in out vdd inv
.save v(in) v(out) i(vdd)
.dc vin 0 1.2 0.01
.end
