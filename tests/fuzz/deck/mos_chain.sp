gates in a row: levels, latency, wires taken out
.model nm nmos level=1 vto=0.4 kp=1e-4 cgso=1e-10
.model pm pmos level=1 vto=-0.4 kp=5e-5 cgso=1e-10
.subckt inv a y v
M1 y a 0 0 nm w=1u l=1u
M2 y a v v pm w=2u l=1u
C1 y 0 2f
.ends
.param n=40
Vd v 0 1.8
V1 a[0] 0 pulse(0 1.8 1n 0.1n 0.1n 2n 5n)
.for k = 0 to n-1
X[{k}] a[{k}] b[{k}] v inv
R[{k}] b[{k}] a[{k+1}] 10
Cw[{k}] a[{k+1}] 0 1f
.endfor
.option rcreduce=0.01 rcfreq=1g bypass=1
.tran 0.1n 4n
.nodeset v(a[3])=1.8
.ic v(b[5])=0
.meas tran d trig v(a[0]) val=0.9 rise=1 targ v(a[4]) val=0.9 rise=1
.end
