Logarithmic amplifier by a transistor in feedback, temperature
VIN in 0 1
R1 in n 10k
Q1 n 0 out qn
E1 out 0 0 n 1e6
.model qn npn is=1e-15 bf=200 vaf=200
.control
foreach u 1m 10m 100m 1 10
alter vin = $u
op
print v(out) v(n)
end
alter vin = 1
dc temp -50 100 25
meas dc slope deriv v(out) at=25
meas dc cold find v(out) at=-50
tf v(out) vin
print transfer_function
.endc
.end
