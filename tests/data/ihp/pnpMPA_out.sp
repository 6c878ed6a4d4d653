* pnpMPA_out
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vc c 0 dc 0
ib1 b1 0 dc 0.1u
vc1 c c1 dc 0
x1 c1 b1 0 pnpMPA a=4p p=8u ac=20p pc=18u
ib2 b2 0 dc 1u
vc2 c c2 dc 0
x2 c2 b2 0 pnpMPA a=4p p=8u ac=20p pc=18u
ib3 b3 0 dc 10u
vc3 c c3 dc 0
x3 c3 b3 0 pnpMPA a=4p p=8u ac=20p pc=18u
.save v(c) v(b1) i(vc1) v(b2) i(vc2) v(b3) i(vc3)
.dc vc -3 0.5 0.1
.end
