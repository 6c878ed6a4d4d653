Zener reference with an emitter follower: line and load regulation, temperature
VIN in 0 12
R1 in z 1k
D1 0 z dz
Q1 in z out qp
RL out 0 220
.model dz d is=1e-14 rs=5 bv=5.6 ibv=5m cjo=50p tt=20n
.model qp npn is=1e-14 bf=100 vaf=100 ikf=0.5 rb=10
.control
op
print v(z) v(out) i(vin)
dc vin 8 16 0.5
meas dc line deriv v(out) at=12
meas dc at_10 find v(out) at=10
dc temp -40 125 16.5
meas dc cold find v(out) at=-40
meas dc hot find v(out) at=125
alter rl = 100
op
print v(out)
tf v(out) vin
print transfer_function output_impedance_at_v(out)
.endc
.end
