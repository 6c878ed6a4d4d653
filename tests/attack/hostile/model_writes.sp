has a model that opens files
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.hdl "files.va"
N1 in 0 m
.model m files
.tran 1n 10n
.end
