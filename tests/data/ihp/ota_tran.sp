* ota_tran
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
.options reltol=1e-6 abstol=1e-12 vntol=1e-9 chgtol=1e-21 gmin=1e-15
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
vin inp 0 dc 0.7 pulse(0.7 0.9 20n 0.1n 0.1n 200n 1)
vfb out inn dc 0
.save v(inp) v(out) v(y) v(tail)
.tran 1n 420n 0 0.05n
.end
