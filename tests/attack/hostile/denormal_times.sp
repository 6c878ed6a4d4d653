asks for a transient to the smallest number there is
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.tran 5e-324 5e-324
.tran 1n 1e308
.tran 1e-300 1e-290
.end
