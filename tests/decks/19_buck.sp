Buck converter with an ideal switch and a diode
.options reltol=1e-4
VIN in 0 12
VG g 0 pulse(0 5 0 10n 10n 4u 10u)
S1 in sw g 0 sm
D1 0 sw dd
L1 sw out 47u
C1 out x 47u
RX x 0 20m
RL out 0 5
.model sm sw vt=2.5 vh=0.5 ron=50m roff=1meg
.model dd d is=1e-8 n=1.05 rs=30m cjo=50p
.ic v(out)=4.5 v(x)=4.5
.tran 50n 500u 0 50n
.meas tran vout avg v(out) from=400u to=500u
.meas tran ripple pp v(out) from=400u to=500u
.meas tran il_max max i(l1) from=400u to=500u
.meas tran il_min min i(l1) from=400u to=500u
.meas tran iin avg i(vin) from=400u to=500u
.end
