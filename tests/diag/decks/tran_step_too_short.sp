steps that do not move the time
V1 a 0 1
R1 a 0 1k
.tran 1e-30 1
.end
