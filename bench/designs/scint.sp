* scint - switched-capacitor integrator, 20 MHz: transmission gates, two-phase clock, folded-cascode amplifier
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vdd vdd 0 1.2
vcm cm 0 0.6
vck ck 0 pulse(0 1.2 1n 0.1n 0.1n 24.9n 50n)
vin in 0 sin(0.6 0.1 500k)
.global vdd
.subckt inv a y wn=1u wp=2u
xn y a 0 0 sg13_lv_nmos w=wn l=0.13u ng=1
xp y a vdd vdd sg13_lv_pmos w=wp l=0.13u ng=1
.ends
.subckt nor a b y
xn1 y a 0 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn2 y b 0 0 sg13_lv_nmos w=1u l=0.13u ng=1
xp1 m a vdd vdd sg13_lv_pmos w=4u l=0.13u ng=1
xp2 y b m vdd sg13_lv_pmos w=4u l=0.13u ng=1
.ends
.subckt gate a b on off
xn a on b 0 sg13_lv_nmos w=2u l=0.13u ng=1
xp a off b vdd sg13_lv_pmos w=4u l=0.13u ng=1
.ends
* phases that do not overlap: two nor gates with chains of long inverters
xi0 ck ckb inv
xg1 ck f2 a1 nor
xg2 ckb f1 a2 nor
.subckt slow a y
x1 a b inv wn=0.3u wp=0.6u
c1 b 0 20f
x2 b y inv wn=1u wp=2u
.ends
xs1 a1 f1 slow
xs2 a2 f2 slow
xn1 f1 f1b inv
xn2 f2 f2b inv
* switches around the sampling capacitor
xsw1 in l f1 f1b gate
xsw2 r cm f1 f1b gate
xsw3 l cm f2 f2b gate
xsw4 r vg f2 f2b gate
xc1 l r cap_cmim w=18u l=18u
xc2 vg out cap_cmim w=50u l=50u
* a reset at the start
vrs rs 0 pwl(0 1.2 40n 1.2 40.1n 0)
xrs rs rsb inv
xsw5 vg out rs rsb gate
* amplifier: pmos pair, folded, cascodes, 60 uA
.param ibias=20u
ib nb0 0 {ibias}
xb0 nb0 nb0 vdd vdd sg13_lv_pmos w=4u l=0.5u ng=1
xb1 nb nb0 vdd vdd sg13_lv_pmos w=4u l=0.5u ng=1
xb2 nb nb 0 0 sg13_lv_nmos w=2u l=0.5u ng=1
xb3 nc nb0 vdd vdd sg13_lv_pmos w=4u l=0.5u ng=1
xb4 nc nc 0 0 sg13_lv_nmos w=0.4u l=0.6u ng=1
xb5 pc nb 0 0 sg13_lv_nmos w=2u l=0.5u ng=1
xb6 pc pc vdd vdd sg13_lv_pmos w=0.6u l=0.5u ng=1
xt tl nb0 vdd vdd sg13_lv_pmos w=16u l=0.5u ng=4
xp1 x1 cm tl vdd sg13_lv_pmos w=40u l=0.2u ng=8
xp2 x2 vg tl vdd sg13_lv_pmos w=40u l=0.2u ng=8
xf1 x1 nb 0 0 sg13_lv_nmos w=10u l=0.5u ng=2
xf2 x2 nb 0 0 sg13_lv_nmos w=10u l=0.5u ng=2
xk1 y1 nc x1 0 sg13_lv_nmos w=10u l=0.2u ng=2
xk2 out nc x2 0 sg13_lv_nmos w=10u l=0.2u ng=2
xk3 y1 pc z1 vdd sg13_lv_pmos w=20u l=0.2u ng=4
xk4 out pc z2 vdd sg13_lv_pmos w=20u l=0.2u ng=4
xl1 z1 y1 vdd vdd sg13_lv_pmos w=12u l=0.5u ng=2
xl2 z2 y1 vdd vdd sg13_lv_pmos w=12u l=0.5u ng=2
cl out 0 1p
.save v(out) v(vg) v(l) v(r) v(f1) v(f2)
.tran 0.1n 2u 0 1n
* The gain at 500 kHz is C1/C2/(2 sin(pi f/fs)).
.meas tran high max v(out) from=0.2u to=2u
.meas tran low min v(out) from=0.2u to=2u
.meas tran swing param='high-low'
.end
