* gilbert_ip3 - the mixer of gilbert.sp with two tones of -30 dBm at 2.400 and 2.401 GHz: IP3
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_typ
vcc vcc 0 2.5
.param a={sqrt(8*50*1u)}
v1 r1 0 sin(0 {a} 2.4g)
v1b r2 r1 sin(0 {a} 2.401g)
rs r2 rf 50
rm rf 0 50
vb b 0 0.95
e1 rp b rf 0 0.5
e2 rn b rf 0 -0.5
vl lb 0 1.7
vlo lp lb sin(0 0.15 2.3g)
e3 ln lb lp lb -1
xq1 t1 rp e1 0 npn13G2 nx=2
xq2 t2 rn e2 0 npn13G2 nx=2
re1 e1 s 20
re2 e2 s 20
it s 0 2m
xq3 op lp t1 0 npn13G2 nx=2
xq4 on ln t1 0 npn13G2 nx=2
xq5 on lp t2 0 npn13G2 nx=2
xq6 op ln t2 0 npn13G2 nx=2
rl1 vcc op 300
rl2 vcc on 300
.hb tones=2.3g 2.4g 2.401g nharms=3 3 3 intmodmax=4
.meas hb wanted find vdb(op,on) at=100meg
.meas hb im3 find vdb(op,on) at=99meg
.meas hb iip3_dbm param='-30+(wanted-im3)/2'
.end
