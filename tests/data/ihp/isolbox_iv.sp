* isolbox_iv
.lib "$PDK/ngspice/models/cornerDIO.lib" dio_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vi i 0 dc 0
vnw nw 0 dc 0
vbn bn 0 dc 0
vi1 i i1 dc 0
vn1 nw n1 dc 0
vs1 bn s1 dc 0
x1 i1 n1 s1 isolbox 
vi2 i i2 dc 0
vn2 nw n2 dc 0
vs2 bn s2 dc 0
x2 i2 n2 s2 isolbox w=20u l=10u
vi3 i i3 dc 0
vn3 nw n3 dc 0
vs3 bn s3 dc 0
x3 i3 n3 s3 isolbox w=20u l=10u xd=1u
.save v(i) v(nw) i(vi1) i(vn1) i(vs1) i(vi2) i(vn2) i(vs2) i(vi3) i(vn3) i(vs3)
.dc vi -6 0.9 0.1 vnw 0 5 5
.end
