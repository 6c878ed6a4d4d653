* hv_svaricap_cv
.lib "$PDK/ngspice/models/cornerMOShv.lib" mos_@corner@
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
* C-V: instance k at v(g1) = v(g2) = -2.5 + 0.25*(k-1) V, well and substrate at 0; last two: vw = 1 V, vbn = -0.5 V, only G1 driven
vq1 q1 0 dc -2.5 ac 1
vga1 q1 ga1 dc 0
vgb1 q1 gb1 dc 0
vw1 w1 0 dc 0
vs1 s1 0 dc 0
x1 ga1 w1 gb1 s1 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq2 q2 0 dc -2.25 ac 1
vga2 q2 ga2 dc 0
vgb2 q2 gb2 dc 0
vw2 w2 0 dc 0
vs2 s2 0 dc 0
x2 ga2 w2 gb2 s2 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq3 q3 0 dc -2 ac 1
vga3 q3 ga3 dc 0
vgb3 q3 gb3 dc 0
vw3 w3 0 dc 0
vs3 s3 0 dc 0
x3 ga3 w3 gb3 s3 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq4 q4 0 dc -1.75 ac 1
vga4 q4 ga4 dc 0
vgb4 q4 gb4 dc 0
vw4 w4 0 dc 0
vs4 s4 0 dc 0
x4 ga4 w4 gb4 s4 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq5 q5 0 dc -1.5 ac 1
vga5 q5 ga5 dc 0
vgb5 q5 gb5 dc 0
vw5 w5 0 dc 0
vs5 s5 0 dc 0
x5 ga5 w5 gb5 s5 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq6 q6 0 dc -1.25 ac 1
vga6 q6 ga6 dc 0
vgb6 q6 gb6 dc 0
vw6 w6 0 dc 0
vs6 s6 0 dc 0
x6 ga6 w6 gb6 s6 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq7 q7 0 dc -1 ac 1
vga7 q7 ga7 dc 0
vgb7 q7 gb7 dc 0
vw7 w7 0 dc 0
vs7 s7 0 dc 0
x7 ga7 w7 gb7 s7 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq8 q8 0 dc -0.75 ac 1
vga8 q8 ga8 dc 0
vgb8 q8 gb8 dc 0
vw8 w8 0 dc 0
vs8 s8 0 dc 0
x8 ga8 w8 gb8 s8 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq9 q9 0 dc -0.5 ac 1
vga9 q9 ga9 dc 0
vgb9 q9 gb9 dc 0
vw9 w9 0 dc 0
vs9 s9 0 dc 0
x9 ga9 w9 gb9 s9 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq10 q10 0 dc -0.25 ac 1
vga10 q10 ga10 dc 0
vgb10 q10 gb10 dc 0
vw10 w10 0 dc 0
vs10 s10 0 dc 0
x10 ga10 w10 gb10 s10 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq11 q11 0 dc 0 ac 1
vga11 q11 ga11 dc 0
vgb11 q11 gb11 dc 0
vw11 w11 0 dc 0
vs11 s11 0 dc 0
x11 ga11 w11 gb11 s11 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq12 q12 0 dc 0.25 ac 1
vga12 q12 ga12 dc 0
vgb12 q12 gb12 dc 0
vw12 w12 0 dc 0
vs12 s12 0 dc 0
x12 ga12 w12 gb12 s12 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq13 q13 0 dc 0.5 ac 1
vga13 q13 ga13 dc 0
vgb13 q13 gb13 dc 0
vw13 w13 0 dc 0
vs13 s13 0 dc 0
x13 ga13 w13 gb13 s13 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq14 q14 0 dc 0.75 ac 1
vga14 q14 ga14 dc 0
vgb14 q14 gb14 dc 0
vw14 w14 0 dc 0
vs14 s14 0 dc 0
x14 ga14 w14 gb14 s14 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq15 q15 0 dc 1 ac 1
vga15 q15 ga15 dc 0
vgb15 q15 gb15 dc 0
vw15 w15 0 dc 0
vs15 s15 0 dc 0
x15 ga15 w15 gb15 s15 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq16 q16 0 dc 1.25 ac 1
vga16 q16 ga16 dc 0
vgb16 q16 gb16 dc 0
vw16 w16 0 dc 0
vs16 s16 0 dc 0
x16 ga16 w16 gb16 s16 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq17 q17 0 dc 1.5 ac 1
vga17 q17 ga17 dc 0
vgb17 q17 gb17 dc 0
vw17 w17 0 dc 0
vs17 s17 0 dc 0
x17 ga17 w17 gb17 s17 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq18 q18 0 dc 1.75 ac 1
vga18 q18 ga18 dc 0
vgb18 q18 gb18 dc 0
vw18 w18 0 dc 0
vs18 s18 0 dc 0
x18 ga18 w18 gb18 s18 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq19 q19 0 dc 2 ac 1
vga19 q19 ga19 dc 0
vgb19 q19 gb19 dc 0
vw19 w19 0 dc 0
vs19 s19 0 dc 0
x19 ga19 w19 gb19 s19 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq20 q20 0 dc 2.25 ac 1
vga20 q20 ga20 dc 0
vgb20 q20 gb20 dc 0
vw20 w20 0 dc 0
vs20 s20 0 dc 0
x20 ga20 w20 gb20 s20 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq21 q21 0 dc 2.5 ac 1
vga21 q21 ga21 dc 0
vgb21 q21 gb21 dc 0
vw21 w21 0 dc 0
vs21 s21 0 dc 0
x21 ga21 w21 gb21 s21 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq22 q22 0 dc 0.5 ac 1
vga22 q22 ga22 dc 0
vgb22 0 gb22 dc 0
vw22 w22 0 dc 1
vs22 s22 0 dc -0.5
x22 ga22 w22 gb22 s22 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
vq23 q23 0 dc -0.5 ac 1
vga23 q23 ga23 dc 0
vgb23 0 gb23 dc 0
vw23 w23 0 dc 1
vs23 s23 0 dc -0.5
x23 ga23 w23 gb23 s23 sg13_hv_svaricap w=9.74u l=0.8u Nx=4
.save i(vga1) i(vgb1) i(vw1) i(vs1) i(vga2) i(vgb2) i(vw2) i(vs2) i(vga3) i(vgb3) i(vw3) i(vs3) i(vga4) i(vgb4) i(vw4) i(vs4) i(vga5) i(vgb5) i(vw5)
+ i(vs5) i(vga6) i(vgb6) i(vw6) i(vs6) i(vga7) i(vgb7) i(vw7) i(vs7) i(vga8) i(vgb8) i(vw8) i(vs8) i(vga9) i(vgb9) i(vw9) i(vs9) i(vga10) i(vgb10)
+ i(vw10) i(vs10) i(vga11) i(vgb11) i(vw11) i(vs11) i(vga12) i(vgb12) i(vw12) i(vs12) i(vga13) i(vgb13) i(vw13) i(vs13) i(vga14) i(vgb14) i(vw14)
+ i(vs14) i(vga15) i(vgb15) i(vw15) i(vs15) i(vga16) i(vgb16) i(vw16) i(vs16) i(vga17) i(vgb17) i(vw17) i(vs17) i(vga18) i(vgb18) i(vw18) i(vs18)
+ i(vga19) i(vgb19) i(vw19) i(vs19) i(vga20) i(vgb20) i(vw20) i(vs20) i(vga21) i(vgb21) i(vw21) i(vs21) i(vga22) i(vgb22) i(vw22) i(vs22) i(vga23)
+ i(vgb23) i(vw23) i(vs23)
.ac dec 1 1meg 1g
.end
