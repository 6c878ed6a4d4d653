* rhigh_noise
.lib "$PDK/ngspice/models/cornerRES.lib" res_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
v1 p 0 dc 1 ac 1
x1 p 0 0 rhigh w=1u l=5u
h1 out 0 v1 1
.save all
.noise v(out) v1 dec 2 1 1g
.end
