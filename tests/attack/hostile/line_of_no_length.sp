has a line with a delay of 1e-20 s
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
T1 in 0 b 0 z0=50 td=1e-20
R2 b 0 50
.tran 1u 1m
.end
