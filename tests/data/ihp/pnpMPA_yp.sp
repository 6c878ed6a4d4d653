* pnpMPA_yp
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
* terminal sees -1 V: Y = -i(v..)
veq1 eq1 0 dc 0
vcq1 cq1 0 dc -1
vc1 cq1 c1 dc 0 ac 1
vb1 0 b1 dc 0
ve1 eq1 e1 dc 0
x1 c1 b1 e1 pnpMPA a=4p p=8u ac=20p pc=18u
vc2 cq1 c2 dc 0
vb2 0 b2 dc 0 ac 1
ve2 eq1 e2 dc 0
x2 c2 b2 e2 pnpMPA a=4p p=8u ac=20p pc=18u
vc3 cq1 c3 dc 0
vb3 0 b3 dc 0
ve3 eq1 e3 dc 0 ac 1
x3 c3 b3 e3 pnpMPA a=4p p=8u ac=20p pc=18u
veq2 eq2 0 dc 0.65
vcq2 cq2 0 dc -1
vc4 cq2 c4 dc 0 ac 1
vb4 0 b4 dc 0
ve4 eq2 e4 dc 0
x4 c4 b4 e4 pnpMPA a=4p p=8u ac=20p pc=18u
vc5 cq2 c5 dc 0
vb5 0 b5 dc 0 ac 1
ve5 eq2 e5 dc 0
x5 c5 b5 e5 pnpMPA a=4p p=8u ac=20p pc=18u
vc6 cq2 c6 dc 0
vb6 0 b6 dc 0
ve6 eq2 e6 dc 0 ac 1
x6 c6 b6 e6 pnpMPA a=4p p=8u ac=20p pc=18u
veq3 eq3 0 dc 0.8
vcq3 cq3 0 dc -1
vc7 cq3 c7 dc 0 ac 1
vb7 0 b7 dc 0
ve7 eq3 e7 dc 0
x7 c7 b7 e7 pnpMPA a=4p p=8u ac=20p pc=18u
vc8 cq3 c8 dc 0
vb8 0 b8 dc 0 ac 1
ve8 eq3 e8 dc 0
x8 c8 b8 e8 pnpMPA a=4p p=8u ac=20p pc=18u
vc9 cq3 c9 dc 0
vb9 0 b9 dc 0
ve9 eq3 e9 dc 0 ac 1
x9 c9 b9 e9 pnpMPA a=4p p=8u ac=20p pc=18u
veq4 eq4 0 dc 0.75
vcq4 cq4 0 dc 0.3
vc10 cq4 c10 dc 0 ac 1
vb10 0 b10 dc 0
ve10 eq4 e10 dc 0
x10 c10 b10 e10 pnpMPA a=4p p=8u ac=20p pc=18u
vc11 cq4 c11 dc 0
vb11 0 b11 dc 0 ac 1
ve11 eq4 e11 dc 0
x11 c11 b11 e11 pnpMPA a=4p p=8u ac=20p pc=18u
vc12 cq4 c12 dc 0
vb12 0 b12 dc 0
ve12 eq4 e12 dc 0 ac 1
x12 c12 b12 e12 pnpMPA a=4p p=8u ac=20p pc=18u
.save i(vc1) i(vb1) i(ve1) i(vc2) i(vb2) i(ve2) i(vc3) i(vb3) i(ve3) i(vc4) i(vb4) i(ve4) i(vc5) i(vb5) i(ve5) i(vc6) i(vb6) i(ve6) i(vc7) i(vb7)
+ i(ve7) i(vc8) i(vb8) i(ve8) i(vc9) i(vb9) i(ve9) i(vc10) i(vb10) i(ve10) i(vc11) i(vb11) i(ve11) i(vc12) i(vb12) i(ve12)
.ac dec 1 1meg 1g
.end
