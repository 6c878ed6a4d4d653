* npn13G2l_yp
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
* bias q: instances 4q-3..4q drive c,b,e,s in turn; the terminal sees -1 V, so Y = -i(v..)
vbq1 bq1 0 dc 0
vcq1 cq1 0 dc 1.2
vc1 cq1 c1 dc 0 ac 1
vb1 bq1 b1 dc 0
ve1 0 e1 dc 0
vs1 0 s1 dc 0
x1 c1 b1 e1 s1 npn13G2l Nx=2 le=1u
vc2 cq1 c2 dc 0
vb2 bq1 b2 dc 0 ac 1
ve2 0 e2 dc 0
vs2 0 s2 dc 0
x2 c2 b2 e2 s2 npn13G2l Nx=2 le=1u
vc3 cq1 c3 dc 0
vb3 bq1 b3 dc 0
ve3 0 e3 dc 0 ac 1
vs3 0 s3 dc 0
x3 c3 b3 e3 s3 npn13G2l Nx=2 le=1u
vc4 cq1 c4 dc 0
vb4 bq1 b4 dc 0
ve4 0 e4 dc 0
vs4 0 s4 dc 0 ac 1
x4 c4 b4 e4 s4 npn13G2l Nx=2 le=1u
vbq2 bq2 0 dc 0.7
vcq2 cq2 0 dc 1.2
vc5 cq2 c5 dc 0 ac 1
vb5 bq2 b5 dc 0
ve5 0 e5 dc 0
vs5 0 s5 dc 0
x5 c5 b5 e5 s5 npn13G2l Nx=2 le=1u
vc6 cq2 c6 dc 0
vb6 bq2 b6 dc 0 ac 1
ve6 0 e6 dc 0
vs6 0 s6 dc 0
x6 c6 b6 e6 s6 npn13G2l Nx=2 le=1u
vc7 cq2 c7 dc 0
vb7 bq2 b7 dc 0
ve7 0 e7 dc 0 ac 1
vs7 0 s7 dc 0
x7 c7 b7 e7 s7 npn13G2l Nx=2 le=1u
vc8 cq2 c8 dc 0
vb8 bq2 b8 dc 0
ve8 0 e8 dc 0
vs8 0 s8 dc 0 ac 1
x8 c8 b8 e8 s8 npn13G2l Nx=2 le=1u
vbq3 bq3 0 dc 0.85
vcq3 cq3 0 dc 1.2
vc9 cq3 c9 dc 0 ac 1
vb9 bq3 b9 dc 0
ve9 0 e9 dc 0
vs9 0 s9 dc 0
x9 c9 b9 e9 s9 npn13G2l Nx=2 le=1u
vc10 cq3 c10 dc 0
vb10 bq3 b10 dc 0 ac 1
ve10 0 e10 dc 0
vs10 0 s10 dc 0
x10 c10 b10 e10 s10 npn13G2l Nx=2 le=1u
vc11 cq3 c11 dc 0
vb11 bq3 b11 dc 0
ve11 0 e11 dc 0 ac 1
vs11 0 s11 dc 0
x11 c11 b11 e11 s11 npn13G2l Nx=2 le=1u
vc12 cq3 c12 dc 0
vb12 bq3 b12 dc 0
ve12 0 e12 dc 0
vs12 0 s12 dc 0 ac 1
x12 c12 b12 e12 s12 npn13G2l Nx=2 le=1u
vbq4 bq4 0 dc 0.92
vcq4 cq4 0 dc 1
vc13 cq4 c13 dc 0 ac 1
vb13 bq4 b13 dc 0
ve13 0 e13 dc 0
vs13 0 s13 dc 0
x13 c13 b13 e13 s13 npn13G2l Nx=2 le=1u
vc14 cq4 c14 dc 0
vb14 bq4 b14 dc 0 ac 1
ve14 0 e14 dc 0
vs14 0 s14 dc 0
x14 c14 b14 e14 s14 npn13G2l Nx=2 le=1u
vc15 cq4 c15 dc 0
vb15 bq4 b15 dc 0
ve15 0 e15 dc 0 ac 1
vs15 0 s15 dc 0
x15 c15 b15 e15 s15 npn13G2l Nx=2 le=1u
vc16 cq4 c16 dc 0
vb16 bq4 b16 dc 0
ve16 0 e16 dc 0
vs16 0 s16 dc 0 ac 1
x16 c16 b16 e16 s16 npn13G2l Nx=2 le=1u
vbq5 bq5 0 dc 0.9
vcq5 cq5 0 dc 0.3
vc17 cq5 c17 dc 0 ac 1
vb17 bq5 b17 dc 0
ve17 0 e17 dc 0
vs17 0 s17 dc 0
x17 c17 b17 e17 s17 npn13G2l Nx=2 le=1u
vc18 cq5 c18 dc 0
vb18 bq5 b18 dc 0 ac 1
ve18 0 e18 dc 0
vs18 0 s18 dc 0
x18 c18 b18 e18 s18 npn13G2l Nx=2 le=1u
vc19 cq5 c19 dc 0
vb19 bq5 b19 dc 0
ve19 0 e19 dc 0 ac 1
vs19 0 s19 dc 0
x19 c19 b19 e19 s19 npn13G2l Nx=2 le=1u
vc20 cq5 c20 dc 0
vb20 bq5 b20 dc 0
ve20 0 e20 dc 0
vs20 0 s20 dc 0 ac 1
x20 c20 b20 e20 s20 npn13G2l Nx=2 le=1u
.save i(vc1) i(vb1) i(ve1) i(vs1) i(vc2) i(vb2) i(ve2) i(vs2) i(vc3) i(vb3) i(ve3) i(vs3) i(vc4) i(vb4) i(ve4) i(vs4) i(vc5) i(vb5) i(ve5) i(vs5)
+ i(vc6) i(vb6) i(ve6) i(vs6) i(vc7) i(vb7) i(ve7) i(vs7) i(vc8) i(vb8) i(ve8) i(vs8) i(vc9) i(vb9) i(ve9) i(vs9) i(vc10) i(vb10) i(ve10) i(vs10)
+ i(vc11) i(vb11) i(ve11) i(vs11) i(vc12) i(vb12) i(ve12) i(vs12) i(vc13) i(vb13) i(ve13) i(vs13) i(vc14) i(vb14) i(ve14) i(vs14) i(vc15) i(vb15)
+ i(ve15) i(vs15) i(vc16) i(vb16) i(ve16) i(vs16) i(vc17) i(vb17) i(ve17) i(vs17) i(vc18) i(vb18) i(ve18) i(vs18) i(vc19) i(vb19) i(ve19) i(vs19)
+ i(vc20) i(vb20) i(ve20) i(vs20)
.ac dec 1 1meg 10g
.end
