everything that the language has
.option reltol=1e-4 method=gear temp=50
.temp 30
.global vdd
.param a=1k b={a*2} c='max(a,b)' s="text" f(x)={x*x}
.func g(x,y) {x>y ? sqrt(abs(x)) : pwl(y, 0,0, 1,2)}
.subckt cell p n params: r=1k m2=1
.model loc d is={1e-14*m2} n=1
.if (r > 500)
r1 p q {r}
.elseif (r == 3)
r1 p q 1
.else
r1 p q {g(r,2)}
.endif
d1 q n loc area=2 m={m2}
.ic v(q)=0.5
.ends cell
x1 vdd 0 cell r={b} m=3
x2 vdd out cell
v1 vdd 0 dc 1 ac 1 90 pwl(0 0 1n 1 2n 0) r=0
i1 0 out sin(0 1m 1k)
e1 o2 0 poly(2) out 0 vdd 0 0 1 2 3
e2 o3 0 table {v(out)} = (0,0) (1,2)
g1 o2 0 value={v(out)*i(v1)+ddt(v(vdd))}
f1 o2 0 v1 2
h1 o4 0 v1 5k
b1 o5 0 v={u(v(out)-0.5)*temper+time+hertz}
l1 o2 0 1m ic=1
l2 o3 0 1m
k1 l1 l2 0.9
t1 o2 0 o3 0 z0=50 td=1n
s1 o4 0 out 0 sw1 on
.model sw1 sw vt=0.5 ron=1
m1 o2 o3 0 0 n1 w=1u l=1u
.model n1.1 nmos lmin=0.1u lmax=10u wmin=0.1u wmax=10u vto=0.7
r9 o5 0 1k tc=1m,2u
.for k=1 to 3
rl{k} o5 n{k} {k*1k}
.endfor
.var pw = v(out)*2
.dc v1 0 1 0.1 x1.r1 1 2 1
.tran 1n 10n 0 1n uic
.ac dec 10 1 1meg
.noise v(out) v1 lin 10 1 10
.tf v(out) v1
.sens v(out)
.pz vdd 0 out 0 vol pz
.save v(out) i(v1) @m1[gm]
.meas tran t1 trig v(out) val=0.5 rise=1 targ v(out) val=0.6 fall=last
.four 1k v(out)
.print tran v(out)
.end
