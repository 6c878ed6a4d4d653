* npn13G2l_noise
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vb1 b1 0 dc 0.85 ac 1
vc1 c1 0 dc 1.2
x1 c1 b1 0 0 npn13G2l Nx=2 le=1u
h1 out 0 vc1 1
.save all
.noise v(out) vb1 dec 2 1 10g
.end
