* pnpMPA_gummel
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
ve e 0 dc 0
vc c 0 dc 0
vc1 c c1 dc 0
vb1 0 b1 dc 0
ve1 e e1 dc 0
x1 c1 b1 e1 pnpMPA 
vc2 c c2 dc 0
vb2 0 b2 dc 0
ve2 e e2 dc 0
x2 c2 b2 e2 pnpMPA a=4p p=8u ac=20p pc=18u
.save v(e) v(c) i(vc1) i(vb1) i(ve1) i(vc2) i(vb2) i(ve2)
.dc ve -0.5 1.0 0.025 vc -2 0 1
.end
