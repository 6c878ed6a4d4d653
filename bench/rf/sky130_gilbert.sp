* sky130_gilbert - a double balanced mixer, SKY130: 2.4 GHz to 100 MHz, conversion gain and noise figures
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
vcc vcc 0 1.8
* port 1: 50 ohm into an ideal balun with a bias of 0.9 V
v1 rf 0 dc 0 portnum 1 z0 50
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
* the outputs drive port 2 through an ideal buffer of 600 ohm
e4 o 0 op on 1
v2 o2 0 dc 0 portnum 2 z0 600
ro o o2 600
.hb 2.3g nharms=20
.hbsp lin 3 50meg 150meg harms=1 0 donoise
.end
