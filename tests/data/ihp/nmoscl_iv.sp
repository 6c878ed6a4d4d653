* nmoscl_iv
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_@corner@
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
v1 p 0 dc 0
va1 p a1 dc 0
x1 a1 0 nmoscl_2
va2 p a2 dc 0
x2 a2 0 nmoscl_4
.save v(p) i(va1) i(va2)
.dc v1 -0.6 3 0.05
.end
