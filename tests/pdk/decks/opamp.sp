* two-stage amplifier: open loop
.subckt amp inp inn out vp
ib vp nb 20u
xb nb nb 0 0 n w=4 l={4*lmin}
xt t nb 0 0 n w=8 l={4*lmin}
x1 x inn t 0 n w=10 l={2*lmin}
x2 y inp t 0 n w=10 l={2*lmin}
x3 x x vp vp p w=8 l={4*lmin}
x4 y x vp vp p w=8 l={4*lmin}
x5 out y vp vp p w=40 l={4*lmin}
x6 out nb 0 0 n w=20 l={4*lmin}
rz y z 2k
xc z out cm w=25
.ends
vp vp 0 {vdd}
vi in 0 dc {vdd/2} ac 1 pulse({vdd/2} {vdd/2+0.2} 0.1u 1n 1n 1u 4u)
xo in fb out vp amp
lf out fb 1g
cf fb 0 1
cl out 0 1p
.print ac v(out)
.ac dec 20 10 1g
.meas ac db_gain find vdb(out) at=100
.meas ac hz_unity when vdb(out)=0
.meas ac hz_pole when vdb(out)=40
.meas ac phase_unity find vp(out) when vdb(out)=0
.end
