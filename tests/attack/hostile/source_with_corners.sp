has a source with 1e14 corners
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
V2 a 0 pulse(0 1 0 1n 1n 1n 1e-20)
R2 a 0 1
.tran 1n 1u
.end
