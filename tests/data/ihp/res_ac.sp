* res_ac
.lib "$PDK/ngspice/models/cornerRES.lib" res_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
v1 p 0 dc 1 ac 1
va1 p a1 dc 0
vs1 0 s1 dc 0
x1 a1 0 s1 rsil 
va2 p a2 dc 0
vs2 0 s2 dc 0
x2 a2 0 s2 rsil w=1u l=10u
va3 p a3 dc 0
vs3 0 s3 dc 0
x3 a3 0 s3 rsil w=0.5u l=5u b=3
va4 p a4 dc 0
vs4 0 s4 dc 0
x4 a4 0 s4 rsil w=2u l=2u m=3 trise=10
va5 p a5 dc 0
vs5 0 s5 dc 0
x5 a5 0 s5 rsil w=1u l=5u sw_et=1
va6 p a6 dc 0
vs6 0 s6 dc 0
x6 a6 0 s6 rsil w=1u l=5u postsim=1
va7 p a7 dc 0
vs7 0 s7 dc 0
x7 a7 0 s7 rppd 
va8 p a8 dc 0
vs8 0 s8 dc 0
x8 a8 0 s8 rppd w=1u l=10u
va9 p a9 dc 0
vs9 0 s9 dc 0
x9 a9 0 s9 rppd w=0.5u l=5u b=3
va10 p a10 dc 0
vs10 0 s10 dc 0
x10 a10 0 s10 rppd w=2u l=2u m=3 trise=10
va11 p a11 dc 0
vs11 0 s11 dc 0
x11 a11 0 s11 rppd w=1u l=5u sw_et=1
va12 p a12 dc 0
vs12 0 s12 dc 0
x12 a12 0 s12 rppd w=1u l=5u postsim=1
va13 p a13 dc 0
vs13 0 s13 dc 0
x13 a13 0 s13 rhigh 
va14 p a14 dc 0
vs14 0 s14 dc 0
x14 a14 0 s14 rhigh w=1u l=10u
va15 p a15 dc 0
vs15 0 s15 dc 0
x15 a15 0 s15 rhigh w=0.5u l=5u b=3
va16 p a16 dc 0
vs16 0 s16 dc 0
x16 a16 0 s16 rhigh w=2u l=2u m=3 trise=10
va17 p a17 dc 0
vs17 0 s17 dc 0
x17 a17 0 s17 rhigh w=1u l=5u sw_et=1
va18 p a18 dc 0
vs18 0 s18 dc 0
x18 a18 0 s18 rhigh w=1u l=5u postsim=1
.save i(va1) i(vs1) i(va2) i(vs2) i(va3) i(vs3) i(va4) i(vs4) i(va5) i(vs5) i(va6) i(vs6) i(va7) i(vs7) i(va8) i(vs8) i(va9) i(vs9) i(va10) i(vs10)
+ i(va11) i(vs11) i(va12) i(vs12) i(va13) i(vs13) i(va14) i(vs14) i(va15) i(vs15) i(va16) i(vs16) i(va17) i(vs17) i(va18) i(vs18)
.ac dec 1 1k 100g
.end
