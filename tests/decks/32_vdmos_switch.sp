Power MOSFET switching an inductive load with a freewheeling diode
.options reltol=1e-5
VDD vdd 0 24
VG gd 0 pulse(0 10 1u 50n 50n 10u 25u)
RG gd g 20
M1 d g 0 mp
L1 vdd x 50u
RX x d 2
D1 d vdd dd
.model mp vdmos nchan vto=3 kp=8 lambda=0.005 rd=30m rs=10m rg=2 cgs=1n cgdmin=50p cgdmax=600p a=0.8 cjo=400p m=0.5 vj=0.7 is=1e-11 rb=20m mtriode=0.8
.model dd d is=1e-9 rs=50m cjo=100p
.tran 10n 24u 0 5n
.meas tran peak max i(l1)
.meas tran on trig v(gd) val=5 rise=1 targ v(d) val=12 fall=1
.meas tran off trig v(gd) val=5 fall=1 targ v(d) val=12 rise=1
.meas tran drop find v(d) at=10u
.meas tran clamp max v(d)
.meas tran later find i(l1) at=20u
.end
