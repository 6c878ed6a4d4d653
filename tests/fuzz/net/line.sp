Lossy line between drivers: step response
.options reltol=1e-5
V1 s 0 pulse(0 1 1n 0.2n 0.2n 30n 60n)
RS s a 40
O1 a 0 b 0 lline
RL b 0 1k
CL b 0 0.5p
.model lline ltra r=20 l=250n c=100p len=0.5
.tran 50p 30n 0 20p
.meas tran arrive trig v(s) val=0.5 rise=1 targ v(b) val=0.5 rise=1
.meas tran over max v(b)
.meas tran at_10 find v(b) at=10n
.meas tran at_25 find v(b) at=25n
.end
