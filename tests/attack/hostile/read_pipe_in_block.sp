loads a pipe, and tables of it
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
V2 b 0 pwl file="pipe"
R2 b 0 1
.hdl "pipe"
.control
load pipe
op
.endc
.end
