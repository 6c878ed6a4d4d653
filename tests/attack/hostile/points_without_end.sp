asks for 1e300 points
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.dc V1 0 1 1e-300
.ac dec 1000000000 1 1e300
.step param r 0 1 1e-300
.param r=1
.noise v(in) V1 lin 1e15 1 2
.mc 1e18
.end
