* lv_pmos_noise
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_@corner@
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vg1 g1 0 dc -0.6 ac 1
vd1 d1 0 dc -1
x1 d1 g1 0 0 sg13_lv_pmos w=10u l=0.13u ng=2
h1 out 0 vd1 1
.save all
.noise v(out) vg1 dec 2 1 10g
.end
