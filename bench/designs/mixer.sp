* mixer - double-balanced mixer of npn13G2 with buffers, 2.4 GHz to 100 MHz: transient
.hdl "$PDK/ngspice/va/r3_cmc/r3_cmc.va"
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_typ
.lib "$PDK/ngspice/models/cornerRES.lib" res_typ
.lib "$PDK/ngspice/models/cornerCAP.lib" cap_typ
vcc vcc 0 3.3
vrf rp b sin(0 10m 2.4g)
vb b 0 1.3
vrb rn b 0
vlb lb 0 2.2
vlo lp lb sin(0 0.15 2.3g)
eln ln lb lp lb -1
* mirrors: 1 mA a side, 0.5 mA for each follower
.subckt tail c nb nx=4
xq c nb e 0 npn13G2 nx={nx}
xr e 0 0 rsil w=4u l=40u
.ends
xrb vcc n1 0 rppd w=2u l=11u
xq0 n1 n1 e0 0 npn13G2 nx=4
xr0 e0 0 0 rsil w=4u l=40u
xt1 s1 n1 tail
xt2 s2 n1 tail
* transconductors with degeneration, quad, loads
xq1 t1 rp s1 0 npn13G2 nx=4
xq2 t2 rn s2 0 npn13G2 nx=4
xre s1 s2 0 rsil w=2u l=20u
xq3 op bp t1 0 npn13G2 nx=2
xq4 on bn t1 0 npn13G2 nx=2
xq5 on bp t2 0 npn13G2 nx=2
xq6 op bn t2 0 npn13G2 nx=2
xrl1 vcc op 0 rppd w=2u l=4u
xrl2 vcc on 0 rppd w=2u l=4u
xcl op on cap_cmim w=20u l=20u
* followers for the local oscillator and for the output
xf1 vcc lpd fp 0 npn13G2 nx=4
xf2 vcc lnd fn 0 npn13G2 nx=4
xi1 fp n1 tail
xi2 fn n1 tail
xc1 fp bp cap_cmim w=30u l=30u
xc2 fn bn cap_cmim w=30u l=30u
xb1 lb bp 0 rhigh w=1u l=5u
xb2 lb bn 0 rhigh w=1u l=5u
vsp lpd lp 0.7
vsn lnd ln 0.7
xo1 vcc op yp 0 npn13G2 nx=4
xo2 vcc on yn 0 npn13G2 nx=4
xj1 yp n1 tail
xj2 yn n1 tail
cy1 yp 0 100f
cy2 yn 0 100f
.option gmin=1e-12
.save v(op) v(on) v(yp) v(yn) v(bp) v(s1)
.tran 10p 60n 0 20p
* Its output at 100 MHz: the part of v(yp, yn) over the last four periods.
.meas tran vs avg par('v(yp,yn)*sin(2*pi*100e6*time)') from=20n to=60n
.meas tran vc avg par('v(yp,yn)*cos(2*pi*100e6*time)') from=20n to=60n
.meas tran gain_db param='20*log10(2*sqrt(vs*vs+vc*vc)/10m)'
.end
