* chargepump - phase-frequency detector, charge pump and loop filter, 100 MHz, inputs 1 ns apart
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/r3_cmc/r3_cmc.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vdd vdd 0 1.2
vref ref 0 pulse(0 1.2 1n 50p 50p 4.95n 10n)
vdiv div 0 pulse(0 1.2 2n 50p 50p 4.95n 10n)
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
xu3 upb upn inv wn=1u wp=2u
* pump: mirrors of 20 uA, switches at their sources' side, a dummy branch
ib vdd nb 20u
xm0 nb nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xm1 pb nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xm2 pb pb vdd vdd sg13_lv_pmos w=12u l=0.5u ng=2
xm3 sp pb vdd vdd sg13_lv_pmos w=12u l=0.5u ng=2
xm4 cp upb sp vdd sg13_lv_pmos w=4u l=0.13u ng=1
xm5 dum upn sp vdd sg13_lv_pmos w=4u l=0.13u ng=1
xm6 sn nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xm7 cp dnn sn 0 sg13_lv_nmos w=2u l=0.13u ng=1
xm8 dum dnb sn 0 sg13_lv_nmos w=2u l=0.13u ng=1
edum dx 0 cp 0 1
rdum dx dum 10
* filter
xrz cp z 0 rppd w=1u l=20u
xcz z 0 cap_cmim w=50u l=50u m=2
xcp cp 0 cap_cmim w=20u l=20u
* a reset at the start
v04 r4 0 0.4
vrs rs 0 pwl(0 1.2 4n 1.2 4.1n 0)
xmr cp rs r4 0 sg13_lv_nmos w=10u l=0.13u ng=2
xms z rs r4 0 sg13_lv_nmos w=10u l=0.13u ng=2
.save v(cp) v(z) v(up) v(dn) v(dum) v(rst)
.tran 10p 200n 0 0.2n
.meas tran v100 find v(z) at=100n
.meas tran v200 find v(z) at=199.9n
.meas tran pumped param='v200-v100'
.end
