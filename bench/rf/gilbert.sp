* gilbert - a double balanced mixer of npn transistors, SG13G2: 2.4 GHz to 100 MHz, conversion gain and noise figures
.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_typ
vcc vcc 0 2.5
* port 1: 50 ohm into an ideal balun with a bias of 0.95 V
v1 rf 0 dc 0 portnum 1 z0 50
rm rf 0 50
vb b 0 0.95
e1 rp b rf 0 0.5
e2 rn b rf 0 -0.5
* LO: 0.3 V around 1.7 V
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
* the outputs drive port 2 through an ideal buffer of 600 ohm
e4 o 0 op on 1
v2 o2 0 dc 0 portnum 2 z0 600
ro o o2 600
.option gmin=1e-12
.hb 2.3g nharms=10
.hbsp lin 3 50meg 150meg harms=1 0 donoise
.end
