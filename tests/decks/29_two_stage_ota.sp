Two-stage CMOS amplifier, Miller compensated
.model nm nmos level=1 vto=0.7 kp=110u gamma=0.4 phi=0.7 lambda=0.04 tox=14n cgso=0.22n cgdo=0.22n cj=0.5m cjsw=0.4n
.model pm pmos level=1 vto=-0.7 kp=50u gamma=0.57 phi=0.8 lambda=0.05 tox=14n cgso=0.22n cgdo=0.22n cj=0.5m cjsw=0.35n
VDD vdd 0 2.5
VSS vss 0 -2.5
IB vdd b 30u
VIN p 0 dc 0 ac 1
M1 x1 out s s nm w=3u l=1u ad=18p as=18p pd=18u ps=18u
M2 x2 p s s nm w=3u l=1u ad=18p as=18p pd=18u ps=18u
M3 x1 x1 vdd vdd pm w=15u l=1u ad=90p as=90p pd=42u ps=42u
M4 x2 x1 vdd vdd pm w=15u l=1u ad=90p as=90p pd=42u ps=42u
M5 s b vss vss nm w=4.5u l=1u
M6 out x2 vdd vdd pm w=94u l=1u ad=564p as=564p
M7 out b vss vss nm w=14u l=1u ad=84p as=84p
M8 b b vss vss nm w=4.5u l=1u
CC x2 out 3p
CL out 0 10p
.control
op
print v(out) v(x1) v(x2) v(b) v(s) i(vdd)
print @m6[id] @m6[gm] @m1[gds]
ac dec 20 1k 1g
meas ac peak max vdb(out)
meas ac edge when vdb(out)=-3
noise v(out) vin dec 10 1k 10meg
setplot noise1
meas noise at_100k find onoise_spectrum at=100k
dc vin -2 2 0.1
meas dc follow find v(out) at=1
.endc
.end
