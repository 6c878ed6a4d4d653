* ota_dc
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
.options reltol=1e-7 abstol=1e-13 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vdd vdd 0 dc 1.5
ib vdd nb dc 10u
xm0 nb nb 0 0 sg13_lv_nmos w=4u l=1u ng=2
xm5 tail nb 0 0 sg13_lv_nmos w=8u l=1u ng=4
xm7 out nb 0 0 sg13_lv_nmos w=20u l=1u ng=10
xm1 x inn tail 0 sg13_lv_nmos w=20u l=0.5u ng=4
xm2 y inp tail 0 sg13_lv_nmos w=20u l=0.5u ng=4
xm3 x x vdd vdd sg13_lv_pmos w=10u l=0.5u ng=2
xm4 y x vdd vdd sg13_lv_pmos w=10u l=0.5u ng=2
xm6 out y vdd vdd sg13_lv_pmos w=50u l=0.5u ng=10
xrz y z 0 rppd w=1u l=8u
xcc out z cap_cmim w=20u l=20u
cl out 0 2p
vin inp 0 dc 0.8
vfb out inn dc 0
.save v(nb) v(tail) v(x) v(y) v(z) v(out) v(inn) v(inp) i(vdd)
.dc vin 0.3 1.4 0.02
.end
