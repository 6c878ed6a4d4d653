* classe - a class-E amplifier at 1 GHz, SG13G2: power at the output and from the supply
.hdl "$PDK/ngspice/va/psp103/psp103.va"
.hdl "$PDK/ngspice/va/psp103/psp103_nqs.va"
.lib "$PDK/ngspice/models/cornerMOSlv.lib" mos_tt
vdd vdd 0 1
lc vdd d 30n
vg g 0 pulse(0 1.2 0 50p 50p 450p 1n)
xm1 d g 0 0 sg13_lv_nmos w=400u l=0.13u ng=40
cs d 0 0.9p
* Q of 5 at 30 ohm: the series resonance, and 1.15 R of excess reactance
ls d m 29.4n
co m out 1.38p
rl out 0 30
.pss 1g 100n out 257 40 method=shooting
.meas pss pout avg par('v(out)*v(out)/30')
.meas pss pdc avg par('-i(vdd)*v(vdd)')
.meas pss efficiency param='pout/pdc'
.end
