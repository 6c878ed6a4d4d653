* strongarm - clocked comparator with latch and clock buffer, 1 GHz, offset sweep at its input
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.param vdd=1.2
vdd vdd 0 {vdd}
vclk cki 0 pulse(0 {vdd} 0.2n 30p 30p 0.47n 1n)
* The difference goes down from 60 mV and changes its sign at 10 ns; the common mode is 0.7 V.
vcm cm 0 0.7
vd d 0 pwl(0 60m 20n -60m)
ep ip cm d 0 0.5
en in cm d 0 -0.5
.subckt inv a y wn=1u wp=2u
xn y a 0 0 sg13_lv_nmos w=wn l=0.13u ng=1
xp y a vdd vdd sg13_lv_pmos w=wp l=0.13u ng=1
.ends
.subckt nand a b y
xn1 y a m 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn2 m b 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xp1 y a vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xp2 y b vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
.ends
.global vdd
x1 cki ckb inv wn=2u wp=4u
x2 ckb ck inv wn=4u wp=8u
* core: tail, pair, cross-coupled inverters, four switches that set it back
xt t ck 0 0 sg13_lv_nmos w=8u l=0.13u ng=2
xa1 p1 ip t 0 sg13_lv_nmos w=8u l=0.13u ng=2
xa2 p2 in t 0 sg13_lv_nmos w=8u l=0.13u ng=2
xb1 o1 o2 p1 0 sg13_lv_nmos w=4u l=0.13u ng=1
xb2 o2 o1 p2 0 sg13_lv_nmos w=4u l=0.13u ng=1
xc1 o1 o2 vdd vdd sg13_lv_pmos w=4u l=0.13u ng=1
xc2 o2 o1 vdd vdd sg13_lv_pmos w=4u l=0.13u ng=1
xr1 o1 ck vdd vdd sg13_lv_pmos w=3u l=0.13u ng=1
xr2 o2 ck vdd vdd sg13_lv_pmos w=3u l=0.13u ng=1
xr3 p1 ck vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
xr4 p2 ck vdd vdd sg13_lv_pmos w=2u l=0.13u ng=1
* latch and drivers
xi1 o1 s inv
xi2 o2 r inv
xj1 s sb inv
xj2 r rb inv
xl1 sb qb q nand
xl2 rb q qb nand
xd1 q y inv wn=2u wp=4u
xd2 qb yb inv wn=2u wp=4u
cl1 y 0 20f
cl2 yb 0 20f
.save v(o1) v(o2) v(q) v(qb) v(y) v(p1)
.tran 10p 20n 0 20p
.meas tran fall when v(q)=0.6 fall=1
.meas tran rise when v(q)=0.6 rise=1
.meas tran last find v(q) at=19.9n
.end
