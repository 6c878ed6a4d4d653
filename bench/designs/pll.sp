* pll - transistor-level phase-locked loop: detector, charge pump, filter, ring oscillator, divider by 8; 100 MHz
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/r3_cmc/r3_cmc.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vdd vdd 0 1.2
vref ref 0 pulse(0 1.2 1n 50p 50p 4.95n 10n)
.global vdd
.subckt inv a y wn=0.5u wp=1u
xn y a 0 0 sg13_lv_nmos w=wn l=0.13u ng=1
xp y a vdd vdd sg13_lv_pmos w=wp l=0.13u ng=1
.ends
.subckt nand a b y
xn1 y a m 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn2 m b 0 0 sg13_lv_nmos w=1u l=0.13u ng=1
xp1 y a vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xp2 y b vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
.ends
.subckt nand3 a b c y
xn1 y a m 0 sg13_lv_nmos w=1.5u l=0.13u ng=1
xn2 m b k 0 sg13_lv_nmos w=1.5u l=0.13u ng=1
xn3 k c 0 0 sg13_lv_nmos w=1.5u l=0.13u ng=1
xp1 y a vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xp2 y b vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xp3 y c vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
.ends
.subckt nand4 a b c d y
xn1 y a m 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn2 m b k 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn3 k c j 0 sg13_lv_nmos w=2u l=0.13u ng=1
xn4 j d 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xp1 y a vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xp2 y b vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xp3 y c vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
xp4 y d vdd vdd sg13_lv_pmos w=1u l=0.13u ng=1
.ends
* passes a while clk = 1
.subckt gate a y clk ckb
xn y clk a 0 sg13_lv_nmos w=0.5u l=0.13u ng=1
xp y ckb a vdd sg13_lv_pmos w=1u l=0.13u ng=1
.ends
* divider by two: a flip-flop of gates and inverters whose inverted output is its input
.subckt half ck q
xk ck ckb inv
xkk ckb cki inv
x1 d m1 ckb cki gate
x2 m1 m2 inv
x3 m2 m3 inv
x4 m3 m1 cki ckb gate
x5 m2 s1 cki ckb gate
x6 s1 q inv
x7 q s2 inv
x8 s2 s1 ckb cki gate
x9 q d inv
.ends
* detector of nine gates: latches that remember an edge until both have come
xa1 ref u1 ub nand
xa2 ub sa u1x nand
xa3 u1x rst sa nand
xa4 ub u1x rst u1 nand3
xb1 div d1 db nand
xb2 db sb d1x nand
xb3 d1x rst sb nand
xb4 db d1x rst d1 nand3
xr ub u1x db d1x rst0 nand4
xr1 rst0 rst1 inv
xr2 rst1 rst inv
* u1, d1 are low while the pump works
xu1 u1 up inv
xu2 up upb inv wn=1u wp=2u
xd1 d1 dn inv
xd2 dn dnb inv wn=1u wp=2u
xd3 dnb dnn inv wn=1u wp=2u
* pump: mirrors of 20 uA, switches at their sources' side
ib vdd nb 20u
xm0 nb nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xm1 pb nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xm2 pb pb vdd vdd sg13_lv_pmos w=12u l=0.5u ng=2
xm3 sp pb vdd vdd sg13_lv_pmos w=12u l=0.5u ng=2
xm4 cp upb sp vdd sg13_lv_pmos w=4u l=0.13u ng=1
xm6 sn nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xm7 cp dnn sn 0 sg13_lv_nmos w=2u l=0.13u ng=1
* filter
xrz cp z 0 rppd w=1u l=20u
xcz z 0 cap_cmim w=50u l=50u m=2
xcp cp 0 cap_cmim w=15u l=15u
* oscillator: five inverters starved by cp and its mirror; the first one is a gate that starts it
vst st 0 pwl(0 0 1n 0 1.05n 1.2)
xv0 vp cp 0 0 sg13_lv_nmos w=2u l=0.26u ng=1
xv1 vp vp vdd vdd sg13_lv_pmos w=4u l=0.26u ng=1
.subckt starved a y n p
xp1 s p vdd vdd sg13_lv_pmos w=4u l=0.26u ng=1
xp2 y a s vdd sg13_lv_pmos w=2u l=0.13u ng=1
xn2 y a t 0 sg13_lv_nmos w=1u l=0.13u ng=1
xn1 t n 0 0 sg13_lv_nmos w=2u l=0.26u ng=1
c y 0 8f
.ends
xo0 r5 st r0 nand
xo1 r0 r1 cp vp starved
xo2 r1 r2 cp vp starved
xo3 r2 r3 cp vp starved
xo4 r3 r4 cp vp starved
xo5 r4 o1 inv
xo6 o1 r5 inv
xo7 r4 osc inv
* divider by eight
xe1 osc q1 half
xe2 q1 q2 half
xe3 q2 q3 half
xe4 q3 e4 inv wn=1u wp=2u
xe5 e4 div inv wn=1u wp=2u
* the filter starts at 0.55 V
v04 r04 0 0.55
vrs rs 0 pwl(0 1.2 2n 1.2 2.1n 0)
xmr cp rs r04 0 sg13_lv_nmos w=10u l=0.13u ng=2
xms z rs r04 0 sg13_lv_nmos w=10u l=0.13u ng=2
.save v(cp) v(z) v(up) v(dn) v(osc) v(div)
.tran 10p 400n 0 50p
.meas tran early trig v(osc) val=0.6 rise=10 targ v(osc) val=0.6 rise=18
.meas tran period trig v(div) val=0.6 td=380n rise=1 targ v(div) val=0.6 td=380n rise=2
.meas tran skew trig v(ref) val=0.6 td=385n rise=1 targ v(div) val=0.6 td=385n rise=1
.end
