* schottky_iv
.lib "$PDK/ngspice/models/cornerDIO.lib" dio_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
va a 0 dc 0
vc c 0 dc 0
va1 a a1 dc 0
vc1 c c1 dc 0
vs1 0 s1 dc 0
x1 a1 c1 s1 schottky_nbl1 
va2 a a2 dc 0
vc2 c c2 dc 0
vs2 0 s2 dc 0
x2 a2 c2 s2 schottky_nbl1 Nx=4 Ny=2
.save v(a) v(c) i(va1) i(vc1) i(vs1) i(va2) i(vc2) i(vs2)
.dc va -2 1 0.05 vc 0 1 1
.end
