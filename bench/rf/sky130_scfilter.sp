* sky130_scfilter - 32 switched-capacitor poles in a row, 128 transistors of SKY130: the periodic state
* Of each section C2 takes C1/(C1+C2) of what is missing at each period of 10 MHz.
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
vdd vdd 0 1.8
vc c 0 pulse(0 1.8 2n 1n 1n 44n 100n)
vd d 0 pulse(1.8 0 2n 1n 1n 44n 100n)
ve e 0 pulse(0 1.8 52n 1n 1n 44n 100n)
vf f 0 pulse(1.8 0 52n 1n 1n 44n 100n)
.subckt gate p q on off
xn p on q 0 sky130_fd_pr__nfet_01v8 w=1 l=0.15 ad=0.3 as=0.3 pd=2.6 ps=2.6
xp p off q vdd sky130_fd_pr__pfet_01v8 w=2 l=0.15 ad=0.6 as=0.6 pd=4.6 ps=4.6
.ends
.global vdd c d e f
.subckt pole i o
x1 i m c d gate
c1 m 0 1p
x2 m h e f gate
c2 h 0 1p
e1 o 0 h 0 1
.ends
* Near 0.9 V, half of the supply, neither transistor of a gate is well on: 44 ns would leave 1 %.
vin n0 0 dc 0.6 ac 1
.for k = 1 to 32
x{k} n{k-1} n{k} pole
.endfor
* BSIM4's inner nodes make 780 unknowns; with one stage a step, what all steps keep fits into memory.
.pss 10meg 1u n32 201 20 method=shooting integration=gear
.end
