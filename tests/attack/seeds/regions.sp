a part that works beside parts that rest
V1 in 0 pulse(0 1.2 1n 0.1n 0.1n 2n 5n)
Vd vdd 0 1.2
.subckt inv a y v
M1 y a 0 0 nm w=1u l=0.13u
M2 y a v v pm w=2u l=0.13u
C1 y 0 2f
.ends
.param n=12
.for k = 0 to n-1
Xa[{k}] a[{k}] a[{k+1}] vdd inv
Xb[{k}] b[{k}] b[{k+1}] vdd inv
.endfor
R1 in a[0] 1
R2 0 b[0] 1
.model nm nmos level=14 version=4.5 vth0=0.35
.model pm pmos level=14 version=4.7 vth0=-0.35
.option bypass=1
.tran 0.1n 6n
.meas tran s avg v(a[{n}])
.print tran v(a[{n}]) v(b[{n}])
.end
