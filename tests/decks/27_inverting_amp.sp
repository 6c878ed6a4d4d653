Inverting amplifier with a single-pole model, noise of the resistors
VIN in 0 dc 0.1 ac 1
R1 in n 10k
R2 n out 100k
CF n out 1p
E1 a 0 0 n 2e5
RP a b 1k
CP b 0 15.9u
E2 out 0 b 0 1
.control
op
print v(out) v(n)
ac dec 10 1 10meg
meas ac gain find vm(out) at=100
meas ac edge when vm(out)=7.0711
meas ac phase find vp(out) at=10k
noise v(out) vin dec 10 10 1meg
setplot noise1
meas noise at_1k find onoise_spectrum at=1k
meas noise in_1k find inoise_spectrum at=1k
.endc
.end
