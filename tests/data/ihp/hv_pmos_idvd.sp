* hv_pmos_idvd
.lib "$PDK/ngspice/models/cornerMOShv.lib" mos_@corner@
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vg g 0 dc 0
vd d 0 dc 0
vbn bn 0 dc 1.5
vbf bf 0 dc -0.4
vd1 d d1 dc 0
vg1 g g1 dc 0
vs1 0 s1 dc 0
vb1 0 b1 dc 0
x1 d1 g1 s1 b1 sg13_hv_pmos w=10u l=0.4u
vd2 d d2 dc 0
vg2 g g2 dc 0
vs2 0 s2 dc 0
vb2 0 b2 dc 0
x2 d2 g2 s2 b2 sg13_hv_pmos w=0.3u l=0.4u
vd3 d d3 dc 0
vg3 g g3 dc 0
vs3 0 s3 dc 0
vb3 0 b3 dc 0
x3 d3 g3 s3 b3 sg13_hv_pmos w=10u l=10u
vd4 d d4 dc 0
vg4 g g4 dc 0
vs4 0 s4 dc 0
vb4 bn b4 dc 0
x4 d4 g4 s4 b4 sg13_hv_pmos w=10u l=0.4u ng=4
vd5 d d5 dc 0
vg5 g g5 dc 0
vs5 0 s5 dc 0
vb5 bn b5 dc 0
x5 d5 g5 s5 b5 sg13_hv_pmos w=1u l=0.5u ng=3 m=2 trise=5
vd6 d d6 dc 0
vg6 g g6 dc 0
vs6 0 s6 dc 0
vb6 bf b6 dc 0
x6 d6 g6 s6 b6 sg13_hv_pmos w=2u l=0.8u as=1.1p ad=0.9p ps=5.2u pd=4.8u
.save v(g) v(d) i(vd1) i(vg1) i(vs1) i(vb1) i(vd2) i(vg2) i(vs2) i(vb2) i(vd3) i(vg3) i(vs3) i(vb3) i(vd4) i(vg4) i(vs4) i(vb4) i(vd5) i(vg5) i(vs5)
+ i(vb5) i(vd6) i(vg6) i(vs6) i(vb6)
.dc vd 0.3 -3.3 -0.15 vg -0.5 -3.3 -0.7
.end
