* diffpair_dc
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_typ
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
vcc vcc 0 dc 2.5
vip ip 0 dc 1.5
vin in 0 dc 1.5
rc1 vcc o1 200
rc2 vcc o2 200
x1 o1 ip e 0 npn13G2 Nx=4
x2 o2 in e 0 npn13G2 Nx=4
x3 e nb 0 0 npn13G2 Nx=4 selft=1
vb nb 0 dc 0.87
cl1 o1 0 5f
cl2 o2 0 5f
.save v(ip) v(o1) v(o2) v(e) i(vcc) i(vip) i(vin)
.dc vip 1.2 1.8 0.01
.end
