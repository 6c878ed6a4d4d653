* ring - five inverters, SG13G2; phase noise from 1 kHz to 100 MHz
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/psp103/psp103_nqs.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.param supply=1.2
vdd vdd 0 {supply}
.subckt inv i o v
xn o i 0 0 sg13_lv_nmos w=2u l=0.13u ng=1
xp o i v v sg13_lv_pmos w=4u l=0.13u ng=1
.ends
x1 a b vdd inv
x2 b c vdd inv
x3 c d vdd inv
x4 d e vdd inv
x5 e a vdd inv
ik 0 a pulse(0 1m 0 5p 5p 40p)
.hbosc tone=5g nharms=32 probenode=a tstab=5n
.phasenoise v(a) dec 4 1k 100meg
.end
