* scfilter - 32 switched-capacitor poles in a row, 128 transistors of SG13G2: the periodic state
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/psp103/psp103_nqs.va"
* Of each section C2 takes C1/(C1+C2) of what is missing at each period of 10 MHz.
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
vdd vdd 0 1.2
vc c 0 pulse(0 1.2 2n 1n 1n 44n 100n)
vd d 0 pulse(1.2 0 2n 1n 1n 44n 100n)
ve e 0 pulse(0 1.2 52n 1n 1n 44n 100n)
vf f 0 pulse(1.2 0 52n 1n 1n 44n 100n)
.subckt gate p q on off
xn p on q 0 sg13_lv_nmos w=1u l=0.13u ng=1
xp p off q vdd sg13_lv_pmos w=2u l=0.13u ng=1
.ends
.global vdd c d e f
.subckt pole i o
x1 i m c d gate
c1 m 0 1p
x2 m h e f gate
c2 h 0 1p
e1 o 0 h 0 1
.ends
vin n0 0 dc 0.6 ac 1
.for k = 1 to 32
x{k} n{k-1} n{k} pole
.endfor
.pss 10meg 1u n32 201 20 method=shooting
.end
