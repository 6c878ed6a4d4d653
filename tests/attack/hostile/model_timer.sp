has a model with a timer of 1e-20 s
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.hdl "hostile.va"
N1 in 0 m
.model m timers
.tran 1n 100n
.end
