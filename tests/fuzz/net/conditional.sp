Conditions, functions, nested definitions, bins of parameters
.param corner=2 vdd=3.3 tol=0.05
.func par(a,b) {a*b/(a+b)}
.func clip(x,lo,hi) {max(lo,min(hi,x))}
.if (corner == 1)
.model nch nmos level=1 vto=0.5 kp=150u lambda=0.03
.elseif (corner == 2)
.model nch nmos level=1 vto=0.6 kp=120u lambda=0.03
.else
.model nch nmos level=1 vto=0.7 kp=90u lambda=0.03
.endif
.param bias={ternary_fcn(vdd>3, 1.1, 0.9)} sw={vdd>3 ? 2 : 1}
.subckt stage in out vp r=10k
.param rr={par(r,10*r)}
.subckt load a b v=1k
r1 a m {v*0.5}
r2 m b {v*0.5}
.ends
x1 vp out load v={rr}
m1 out in 0 0 nch w={sw*2u} l=1u m=2
.ends
VDD vp 0 {vdd}
VIN in 0 {bias}
X1 in a vp stage
X2 a b vp stage r={clip(25k, 1k, 20k)}
R3 b c {1k*(1+tol)} tc1=2m temp=50
R4 c 0 5k
.control
op
print v(a) v(b) v(c) i(vdd)
dc vin 0 2 0.02
meas dc through when v(a)=1.65
meas dc second find v(b) at=1
.endc
.end
