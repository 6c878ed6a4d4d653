* ring5
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.options reltol=1e-6 abstol=1e-12 vntol=1e-9 chgtol=1e-21 gmin=1e-15
.subckt inv a y vdd
xn y a 0 0 sg13_lv_nmos w=1u l=0.13u
xp y a vdd vdd sg13_lv_pmos w=2u l=0.13u
.ends
vdd vdd 0 dc 1.2
x1 n1 n2 vdd inv
x2 n2 n3 vdd inv
x3 n3 n4 vdd inv
x4 n4 n5 vdd inv
x5 n5 n1 vdd inv
c1 n1 0 1f
c2 n2 0 1f
c3 n3 0 1f
c4 n4 0 1f
c5 n5 0 1f
ik 0 n1 dc 0 pulse(0 100u 5p 1p 1p 30p 1)
.save v(n1) v(n2) v(n3) v(n4) v(n5) i(vdd)
.tran 0.5p 2n 0 0.05p
.end
