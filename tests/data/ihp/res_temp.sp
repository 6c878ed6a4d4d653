* res_temp
.lib "$PDK/ngspice/models/cornerRES.lib" res_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
v1 p 0 dc 0.1
va1 p a1 dc 0
x1 a1 0 0 rsil w=1u l=10u
va2 p a2 dc 0
x2 a2 0 0 rppd w=1u l=10u
va3 p a3 dc 0
x3 a3 0 0 rhigh w=1u l=10u
va4 p a4 dc 0
x4 a4 0 Rparasitic R=50
.save i(va1) i(va2) i(va3) i(va4)
.dc temp -40 125 15
.end
