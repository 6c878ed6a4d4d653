* hv_nmos_yp_rf
.lib "$PDK/ngspice/models/cornerMOShv.lib" mos_@corner@
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
* bias q: instances 4q-3..4q drive d,g,s,b in turn. The ac source is the probe (+ at the bias node): the terminal sees -1 V, so Y = -i(v..)
vgq1 gq1 0 dc 0
vdq1 dq1 0 dc 3.3
vbq1 bq1 0 dc 0
vd1 dq1 d1 dc 0 ac 1
vg1 gq1 g1 dc 0
vs1 0 s1 dc 0
vb1 bq1 b1 dc 0
x1 d1 g1 s1 b1 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd2 dq1 d2 dc 0
vg2 gq1 g2 dc 0 ac 1
vs2 0 s2 dc 0
vb2 bq1 b2 dc 0
x2 d2 g2 s2 b2 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd3 dq1 d3 dc 0
vg3 gq1 g3 dc 0
vs3 0 s3 dc 0 ac 1
vb3 bq1 b3 dc 0
x3 d3 g3 s3 b3 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd4 dq1 d4 dc 0
vg4 gq1 g4 dc 0
vs4 0 s4 dc 0
vb4 bq1 b4 dc 0 ac 1
x4 d4 g4 s4 b4 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vgq2 gq2 0 dc 0.8
vdq2 dq2 0 dc 1.5
vbq2 bq2 0 dc 0
vd5 dq2 d5 dc 0 ac 1
vg5 gq2 g5 dc 0
vs5 0 s5 dc 0
vb5 bq2 b5 dc 0
x5 d5 g5 s5 b5 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd6 dq2 d6 dc 0
vg6 gq2 g6 dc 0 ac 1
vs6 0 s6 dc 0
vb6 bq2 b6 dc 0
x6 d6 g6 s6 b6 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd7 dq2 d7 dc 0
vg7 gq2 g7 dc 0
vs7 0 s7 dc 0 ac 1
vb7 bq2 b7 dc 0
x7 d7 g7 s7 b7 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd8 dq2 d8 dc 0
vg8 gq2 g8 dc 0
vs8 0 s8 dc 0
vb8 bq2 b8 dc 0 ac 1
x8 d8 g8 s8 b8 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vgq3 gq3 0 dc 3.3
vdq3 dq3 0 dc 3.3
vbq3 bq3 0 dc 0
vd9 dq3 d9 dc 0 ac 1
vg9 gq3 g9 dc 0
vs9 0 s9 dc 0
vb9 bq3 b9 dc 0
x9 d9 g9 s9 b9 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd10 dq3 d10 dc 0
vg10 gq3 g10 dc 0 ac 1
vs10 0 s10 dc 0
vb10 bq3 b10 dc 0
x10 d10 g10 s10 b10 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd11 dq3 d11 dc 0
vg11 gq3 g11 dc 0
vs11 0 s11 dc 0 ac 1
vb11 bq3 b11 dc 0
x11 d11 g11 s11 b11 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd12 dq3 d12 dc 0
vg12 gq3 g12 dc 0
vs12 0 s12 dc 0
vb12 bq3 b12 dc 0 ac 1
x12 d12 g12 s12 b12 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vgq4 gq4 0 dc 3.3
vdq4 dq4 0 dc 0.1
vbq4 bq4 0 dc 0
vd13 dq4 d13 dc 0 ac 1
vg13 gq4 g13 dc 0
vs13 0 s13 dc 0
vb13 bq4 b13 dc 0
x13 d13 g13 s13 b13 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd14 dq4 d14 dc 0
vg14 gq4 g14 dc 0 ac 1
vs14 0 s14 dc 0
vb14 bq4 b14 dc 0
x14 d14 g14 s14 b14 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd15 dq4 d15 dc 0
vg15 gq4 g15 dc 0
vs15 0 s15 dc 0 ac 1
vb15 bq4 b15 dc 0
x15 d15 g15 s15 b15 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd16 dq4 d16 dc 0
vg16 gq4 g16 dc 0
vs16 0 s16 dc 0
vb16 bq4 b16 dc 0 ac 1
x16 d16 g16 s16 b16 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vgq5 gq5 0 dc 2
vdq5 dq5 0 dc 3.3
vbq5 bq5 0 dc -1.5
vd17 dq5 d17 dc 0 ac 1
vg17 gq5 g17 dc 0
vs17 0 s17 dc 0
vb17 bq5 b17 dc 0
x17 d17 g17 s17 b17 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd18 dq5 d18 dc 0
vg18 gq5 g18 dc 0 ac 1
vs18 0 s18 dc 0
vb18 bq5 b18 dc 0
x18 d18 g18 s18 b18 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd19 dq5 d19 dc 0
vg19 gq5 g19 dc 0
vs19 0 s19 dc 0 ac 1
vb19 bq5 b19 dc 0
x19 d19 g19 s19 b19 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
vd20 dq5 d20 dc 0
vg20 gq5 g20 dc 0
vs20 0 s20 dc 0
vb20 bq5 b20 dc 0 ac 1
x20 d20 g20 s20 b20 sg13_hv_nmos w=10u l=0.45u ng=2 rfmode=1
.save i(vd1) i(vg1) i(vs1) i(vb1) i(vd2) i(vg2) i(vs2) i(vb2) i(vd3) i(vg3) i(vs3) i(vb3) i(vd4) i(vg4) i(vs4) i(vb4) i(vd5) i(vg5) i(vs5) i(vb5)
+ i(vd6) i(vg6) i(vs6) i(vb6) i(vd7) i(vg7) i(vs7) i(vb7) i(vd8) i(vg8) i(vs8) i(vb8) i(vd9) i(vg9) i(vs9) i(vb9) i(vd10) i(vg10) i(vs10) i(vb10)
+ i(vd11) i(vg11) i(vs11) i(vb11) i(vd12) i(vg12) i(vs12) i(vb12) i(vd13) i(vg13) i(vs13) i(vb13) i(vd14) i(vg14) i(vs14) i(vb14) i(vd15) i(vg15)
+ i(vs15) i(vb15) i(vd16) i(vg16) i(vs16) i(vb16) i(vd17) i(vg17) i(vs17) i(vb17) i(vd18) i(vg18) i(vs18) i(vb18) i(vd19) i(vg19) i(vs19) i(vb19)
+ i(vd20) i(vg20) i(vs20) i(vb20)
.ac dec 1 1meg 1g
.end
