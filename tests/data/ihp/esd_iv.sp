* esd_iv
.lib "$PDK/ngspice/models/cornerDIO.lib" dio_@corner@
.include "$PDK/ngspice/models/sg13g2_bondpad.lib"
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vp pad 0 dc 0
vdd vdd 0 dc 1.2
vss vss 0 dc 0
vd1 vdd d1 dc 0
vp1 pad p1 dc 0
vs1 vss s1 dc 0
x1 d1 p1 s1 diodevdd_2kv 
vd2 vdd d2 dc 0
vp2 pad p2 dc 0
vs2 vss s2 dc 0
x2 d2 p2 s2 diodevdd_4kv 
vd3 vdd d3 dc 0
vp3 pad p3 dc 0
vs3 vss s3 dc 0
x3 d3 p3 s3 diodevss_2kv 
vd4 vdd d4 dc 0
vp4 pad p4 dc 0
vs4 vss s4 dc 0
x4 d4 p4 s4 diodevss_4kv m=2
rpad pad2 0 1k
vq pad pad2 dc 0
xpad pad2 bondpad size=80u
.save v(pad) i(vd1) i(vp1) i(vs1) i(vd2) i(vp2) i(vs2) i(vd3) i(vp3) i(vs3) i(vd4) i(vp4) i(vs4) i(vq)
.dc vp -1.2 2.4 0.05
.end
