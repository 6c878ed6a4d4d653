* sky130_gilbert_ip3 - the mixer of sky130_gilbert.sp with two tones of -30 dBm at 2.400 and 2.401 GHz: IP3
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
vcc vcc 0 1.8
.param a={sqrt(8*50*1u)}
v1 r1 0 sin(0 {a} 2.4g)
v1b r2 r1 sin(0 {a} 2.401g)
rs r2 rf 50
rm rf 0 50
vb b 0 0.9
e1 rp b rf 0 0.5
e2 rn b rf 0 -0.5
* LO: 0.6 V of sine around 1.4 V
vl lb 0 1.4
vlo lp lb sin(0 0.3 2.3g)
e3 ln lb lp lb -1
.subckt n4 d g s
x1 d g s 0 sky130_fd_pr__nfet_01v8 w=5 l=0.15 ad=1.5 as=1.5 pd=10.6 ps=10.6 m=8
.ends
xq1 t1 rp s n4
xq2 t2 rn s n4
it s 0 2m
xq3 op lp t1 n4
xq4 on ln t1 n4
xq5 on lp t2 n4
xq6 op ln t2 n4
rl1 vcc op 300
rl2 vcc on 300
.hb tones=2.3g 2.4g 2.401g nharms=6 3 3 intmodmax=7
.meas hb wanted find vdb(op,on) at=100meg
.meas hb im3 find vdb(op,on) at=99meg
.meas hb iip3_dbm param='-30+(wanted-im3)/2'
.end
