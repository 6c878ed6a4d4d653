* vco - 10 GHz: a cross-coupled pair and an LC tank, SG13G2; phase noise from 1 kHz to 100 MHz
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/psp103/psp103_nqs.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vdd vdd 0 1.2
* coils of 0.3 nH with a Q of 10
l1 vdd x 0.3n
rl1 x op 1.9
l2 vdd y 0.3n
rl2 y on 1.9
xc1 op 0 cap_cmim w=22.7u l=22.7u
xc2 on 0 cap_cmim w=22.7u l=22.7u
xm1 op on t 0 sg13_lv_nmos w=20u l=0.13u ng=4
xm2 on op t 0 sg13_lv_nmos w=20u l=0.13u ng=4
xm3 t nb 0 0 sg13_lv_nmos w=60u l=0.5u ng=6
xm4 nb nb 0 0 sg13_lv_nmos w=20u l=0.5u ng=2
ib vdd nb 1m
ik on op pulse(0 2m 0 5p 5p 40p)
.hbosc tone=10g nharms=15 probenode=op,on tstab=10n
.phasenoise v(op,on) dec 4 1k 100meg
.end
