has macros that double and call themselves
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.hdl "macros.va"
N1 in 0 m
.model m macros
.op
.end
