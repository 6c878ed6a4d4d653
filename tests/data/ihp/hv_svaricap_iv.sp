* hv_svaricap_iv
.lib "$PDK/ngspice/models/cornerMOShv.lib" mos_@corner@
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vg g 0 dc 0
vga1 g ga1 dc 0
vgb1 0 gb1 dc 0
vw1 w 0 dc 0
vs1 s 0 dc 0
x1 ga1 w gb1 s sg13_hv_svaricap w=3.74u l=0.3u Nx=2
.save v(g) i(vga1) i(vgb1) i(vw1) i(vs1)
.dc vg -3.3 3.3 0.1
.end
