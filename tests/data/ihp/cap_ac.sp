* cap_ac
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
v1 p 0 dc 0.7 ac 1
va1 p a1 dc 0
x1 a1 0 cap_cmim
va2 p a2 dc 0
x2 a2 0 cap_cmim w=20u l=10u
va3 p a3 dc 0
vb3 b3 0 dc 0
vs3 s3 0 dc 0
x3 a3 b3 s3 cap_rfcmim
va4 p a4 dc 0
vb4 b4 0 dc 0
vs4 s4 0 dc 0
x4 a4 b4 s4 cap_rfcmim w=20u l=30u wfeed=5u
va5 p a5 dc 0
x5 a5 0 cparasitic c=10f
.save i(va1) i(va2) i(va3) i(vb3) i(vs3) i(va4) i(vb4) i(vs4) i(va5)
.ac dec 1 1meg 100g
.end
