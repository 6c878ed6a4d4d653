Switched-capacitor resistor that charges a capacitor
.options reltol=1e-5
VIN in 0 1
VP1 p1 0 pulse(0 1 10n 5n 5n 400n 1u)
VP2 p2 0 pulse(0 1 510n 5n 5n 400n 1u)
S1 in a p1 0 sx
S2 a out p2 0 sx
CS a 0 2p
CL out 0 20p
RL out 0 10meg
.model sx sw vt=0.5 vh=0 ron=2k roff=1e12
.tran 5n 60u 0 5n
.meas tran v10 find v(out) at=10.45u
.meas tran v30 find v(out) at=30.45u
.meas tran mean avg v(out) from=50u to=60u
.end
