* sky130_classe - a class-E amplifier at 1 GHz, SKY130: power at the output and from the supply
.lib "$PDK/sky130_fd_pr/combined_models/sky130.lib.spice" tt
* the drain rises to 3.7 times the supply, 1.84 V
vdd vdd 0 0.5
lc vdd d 15n
vg g 0 pulse(0 1.8 0 50p 50p 450p 1n)
xm1 d g 0 0 sky130_fd_pr__nfet_01v8 w=5 l=0.15 ad=1.5 as=1.5 pd=10.6 ps=10.6 m=80
cs d 0 2.2p
* Q of 5 at 15 ohm: the series resonance, and 1.15 R of excess reactance
ls d m 11.94n
co m out 2.76p
rl out 0 15
.pss 1g 100n out 257 40 method=shooting
.meas pss pout avg par('v(out)*v(out)/15')
.meas pss pdc avg par('-i(vdd)*v(vdd)')
.meas pss efficiency param='pout/pdc'
.end
