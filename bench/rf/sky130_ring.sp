* sky130_ring - five inverters, SKY130; phase noise from 1 kHz to 100 MHz
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
.param supply=1.8
vdd vdd 0 {supply}
.subckt inv i o v
xn o i 0 0 sky130_fd_pr__nfet_01v8 w=2 l=0.15 ad=0.6 as=0.6 pd=4.6 ps=4.6
xp o i v v sky130_fd_pr__pfet_01v8 w=4 l=0.15 ad=1.2 as=1.2 pd=8.6 ps=8.6
.ends
x1 a b vdd inv
x2 b c vdd inv
x3 c d vdd inv
x4 d e vdd inv
x5 e a vdd inv
ik 0 a pulse(0 1m 0 5p 5p 40p)
.hbosc tone=4g nharms=32 probenode=a tstab=5n
.phasenoise v(a) dec 4 1k 100meg
.end
