Pierce oscillator seen from its resonator: series and parallel resonance, noise
V1 s 0 ac 1
RS s a 100
L1 a x 10m
C1 x y 10f
R1 y b 50
C0 a b 4p
CL b 0 20p
RL b 0 1k
.control
ac lin 4001 15.90meg 15.94meg
meas ac peak max vm(b)
meas ac dip min vm(b)
meas ac f_peak max_at vm(b)
meas ac at_end find vp(b) at=15.935meg
noise v(b) v1 lin 101 15.90meg 15.93meg
setplot noise1
meas noise most max onoise_spectrum
.endc
.end
