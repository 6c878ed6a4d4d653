sections, conditions, functions, families, options
.lib input fast
.param corner=2 vdd=agauss(1.8,0.1,1)
.func g(x,y) {x*y+vdd}
.if (corner == 1)
R1 a 0 1k
.elseif (corner == 2)
R1 a 0 {g(1k,2)} tc1=1m tc2=1u
.else
R1 a 0 3k
.endif
V1 a 0 {vdd} ac 1 45
Xs a b sub w=3
.subckt sub p q w=1 m=2
.model dm d is={w*1e-15} level=1
D1 p q dm area={w} off
R9 q 0 1k noisy=0
.ends
.lib fast
C1 b 0 1p ic=0.2
.global vss
.endl fast
.option temp=50 tnom=25 method=gear maxord=3 reltol=1e-4 scale=1
.ic v(b)=0.1
.save v(a) i(v1) @r1[i]
.step param corner list 1 2 3
.step temp 0 50 50
.op
.dc v1 0 1 1
.tran 1n 20n uic
.alter second
.param corner=3
.end
