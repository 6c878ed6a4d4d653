* dantenna_iv
.lib "$PDK/ngspice/models/cornerDIO.lib" dio_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
v1 p 0 dc 0
va1 p a1 dc 0
x1 a1 0 dantenna 
va2 p a2 dc 0
x2 a2 0 dantenna l=5u w=2u
va3 p a3 dc 0
x3 a3 0 dpantenna 
va4 p a4 dc 0
x4 a4 0 dpantenna l=5u w=2u
.save v(p) i(va1) i(va2) i(va3) i(va4)
.dc v1 -12.5 1.1 0.1
.end
