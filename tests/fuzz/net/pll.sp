Behavioural phase-locked loop with a voltage controlled oscillator
.options reltol=1e-5
.param f0=100k kv=20k
VREF r 0 sin(0 1 110k)
BPD pd 0 v=v(r)*v(o)
R1 pd c 10k
C1 c 0 10n
R2 c 0 1meg
BI 0 ph i=1e-6*2*pi*(f0+kv*2*v(c))
CPH ph 0 1u ic=0
BO o 0 v=cos(v(ph))
.tran 0.1u 1m 0 0.05u uic
.meas tran lock avg v(c) from=0.8m to=1m
.meas tran phase find v(ph) at=1m
.meas tran cycles param='phase/(2*3.14159265358979)'
.end
