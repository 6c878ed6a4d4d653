Boost converter with a power MOSFET
.options reltol=1e-4
VIN in 0 5
L1 in d 22u ic=1
M1 d g 0 mpow
VG gd 0 pulse(0 10 0 20n 20n 2.5u 5u)
RG gd g 5
D1 d out ds
C1 out 0 22u ic=9
RL out 0 20
.model mpow vdmos nchan vto=2 kp=20 rd=20m rs=5m rg=1 cgs=800p cgdmin=30p cgdmax=400p a=1 cjo=300p is=1e-12 rb=10m mtriode=1 lambda=0.01
.model ds d is=1e-7 n=1.05 rs=40m cjo=200p
.tran 20n 400u 0 10n uic
.meas tran vout avg v(out) from=300u to=400u
.meas tran ripple pp v(out) from=300u to=400u
.meas tran il avg i(l1) from=300u to=400u
.meas tran peak max v(d) from=300u to=400u
.end
