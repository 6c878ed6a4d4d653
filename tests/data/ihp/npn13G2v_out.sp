* npn13G2v_out
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vc c 0 dc 0
ib1 0 b1 dc 0.3u
vc1 c c1 dc 0
vs1 s1 0 dc 0
x1 c1 b1 0 s1 npn13G2v Nx=1 le=2.5u
ib2 0 b2 dc 1u
vc2 c c2 dc 0
vs2 s2 0 dc 0
x2 c2 b2 0 s2 npn13G2v Nx=1 le=2.5u
ib3 0 b3 dc 3u
vc3 c c3 dc 0
vs3 s3 0 dc 0
x3 c3 b3 0 s3 npn13G2v Nx=1 le=2.5u
ib4 0 b4 dc 0.3u
vc4 c c4 dc 0
vs4 s4 0 dc 0
x4 c4 b4 0 s4 npn13G2v Nx=4 le=1u
ib5 0 b5 dc 1u
vc5 c c5 dc 0
vs5 s5 0 dc 0
x5 c5 b5 0 s5 npn13G2v Nx=4 le=1u
ib6 0 b6 dc 3u
vc6 c c6 dc 0
vs6 s6 0 dc 0
x6 c6 b6 0 s6 npn13G2v Nx=4 le=1u
ib7 0 b7 dc 0.3u
vc7 c c7 dc 0
vs7 s7 0 dc 0
x7 c7 b7 0 s7 t7 npn13G2v_5t Nx=4 le=1u
ib8 0 b8 dc 1u
vc8 c c8 dc 0
vs8 s8 0 dc 0
x8 c8 b8 0 s8 t8 npn13G2v_5t Nx=4 le=1u
ib9 0 b9 dc 3u
vc9 c c9 dc 0
vs9 s9 0 dc 0
x9 c9 b9 0 s9 t9 npn13G2v_5t Nx=4 le=1u
ib10 0 b10 dc 0.3u
vc10 c c10 dc 0
vs10 s10 0 dc 0
x10 c10 b10 0 s10 npn13G2v Nx=1 le=2.5u selft=0
ib11 0 b11 dc 1u
vc11 c c11 dc 0
vs11 s11 0 dc 0
x11 c11 b11 0 s11 npn13G2v Nx=1 le=2.5u selft=0
ib12 0 b12 dc 3u
vc12 c c12 dc 0
vs12 s12 0 dc 0
x12 c12 b12 0 s12 npn13G2v Nx=1 le=2.5u selft=0
.save v(c) v(b1) i(vc1) v(b2) i(vc2) v(b3) i(vc3) v(b4) i(vc4) v(b5) i(vc5) v(b6) i(vc6) v(b7) i(vc7) v(t7) v(b8) i(vc8) v(t8) v(b9) i(vc9) v(t9)
+ v(b10) i(vc10) v(b11) i(vc11) v(b12) i(vc12)
.dc vc 0 2.4 0.05
.end
