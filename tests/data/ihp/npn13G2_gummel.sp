* npn13G2_gummel
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vb b 0 dc 0
vc c 0 dc 0
vc1 c c1 dc 0
vb1 b b1 dc 0
ve1 0 e1 dc 0
vs1 0 s1 dc 0
x1 c1 b1 e1 s1 npn13G2 Nx=1
vc2 c c2 dc 0
vb2 b b2 dc 0
ve2 0 e2 dc 0
vs2 0 s2 dc 0
x2 c2 b2 e2 s2 npn13G2 Nx=4
vc3 c c3 dc 0
vb3 b b3 dc 0
ve3 0 e3 dc 0
vs3 0 s3 dc 0
x3 c3 b3 e3 s3 t3 npn13G2_5t Nx=4
vc4 c c4 dc 0
vb4 b b4 dc 0
ve4 0 e4 dc 0
vs4 0 s4 dc 0
x4 c4 b4 e4 s4 npn13G2 Nx=1 selft=0
.save v(b) v(c) i(vc1) i(vb1) i(ve1) i(vs1) i(vc2) i(vb2) i(ve2) i(vs2) i(vc3) i(vb3) i(ve3) i(vs3) v(t3) i(vc4) i(vb4) i(ve4) i(vs4)
.dc vb 0.3 1.0 0.02 vc 0.6 1.2 0.6
.end
