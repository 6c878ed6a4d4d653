kinds of elements
e1 1 0 laplace {v(2)} = {1/(1+s*1u+s^2)}
e2 1 0 2 0 -3 m=2
g2 1 0 table {v(2)} (0 0) (1 1)
g3 1 0 poly(2) 1 0 2 0 0 1 2 3 4 5
e9 1 0 freq {v(2)} = db (1k,0,0) (2k,-3,-45) delay=1u
e10 1 0 nand(2) 1 0 2 0 (1,5) (3,0)
b1 1 0 i={laplace(v(2), 1/(1+s))+idt(v(2))+ddt(v(2))+i(v1)^2}
b2 2 0 v={pwl(v(1), 0,0, 1,2)+table(time,0,0,1,1)+(v(1,2)>0?1:-1)} tc1=1m
r1 1 2 1k tc=1m,2u ac=2k m=3 temp=30 noisy=0
r2 1 2 rmod w=1u l=10u dtemp=3
.model rmod r rsh=10 defw=1u narrow=0.1u tc1=1m
c1 1 2 1p ic=1 tc=1m
c2 1 2 cmod w=1u l=2u
c3 1 2 {1p*v(1)}
c4 1 2 q={v(1)^2}
.model cmod c cj=1e-4 cjsw=1e-10
l1 1 2 1m ic=2
l2 3 4 lmod
.model lmod l ind=1u nt=3
k1 l1 l2 0.99
t1 1 0 2 0 z0=50 f=1g nl=0.25 ic=1,2,3,4
o1 1 0 2 0 ltra
.model ltra ltra r=1 l=1u c=1p len=2 rel=1 abs=1 nocontrol
u1 1 2 0 urc l=1m n=3
.model urc urc k=2 fmax=6.5meg rperl=10 cperl=1p
p1 1 2 0 3 4 0 cpl
.model cpl cpl r=1 0 1 l=1u 0.1u 1u g=0 0 0 c=1p -0.1p 1p length=0.5
y1 1 0 2 0 tline
.model tline txl r=1 l=1u g=0 c=1p length=2
s1 1 2 3 4 sw on
w1 1 2 v1 csw off
.model sw vswitch von=1 voff=0 ron=1 roff=1meg
.model csw csw it=1m ih=0.1m
v1 1 0 1
q1 1 2 3 0 npn area=2 m=1 off ic=0.6,1
.model npn npn bf=100 level=1
q2 1 2 3 0 5 vbic
.model vbic npn level=4
d1 1 2 dio area=1 pj=2 temp=30 off
.model dio d (is=1e-14 rs=1 cjo=1p)
j1 1 2 3 jf 2 off ic=1,2
.model jf njf vto=-2 level=2
z1 1 2 3 mes
.model mes nmf level=1
m1 1 2 3 4 mos w=1u l=1u ad=1p as=1p pd=1u ps=1u nrd=1 nrs=1 m=2 ic=1,2,3
.model mos nmos level=3
m2 1 2 3 vd
.model vd vdmos nchan vto=2 kp=1
n1 1 2 va l=1u
.model va mymodule a=1 b="text"
x1 1 2 sub k=3 t="abc"
.subckt sub a b k=1 t="x"
.if (k > 2)
r1 a b {k}
.else
r1 a b {temper}
.endif
.model inner r r=1
.nodeset v(a)=1
.ends
.ic v(1)=1 v(2)=0
.temp 10 20 30
.option temp=10 tnom=27 reltol=1e-3 method=gear maxord=3 nomod
.save all @m1[id] v(1) i(v1) x1.r1 @x1.r1[i]
.probe v(1,2) alli
.print tran v(1) i(v1)
.plot ac vdb(1) vp(2)
.width out=80
.four 1k v(1) 20 v(2)
.pz 1 0 2 0 cur pol
.sens v(1,2) ac dec 10 1 1k
.sp dec 10 1 1g 1
.noise v(1,2) v1 dec 10 1 1g 5
.tf i(v1) v1
.dc temp 0 100 10 r1 1 2 1
.end
