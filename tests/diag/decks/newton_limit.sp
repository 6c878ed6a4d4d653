one iteration is never enough
V1 in 0 SIN(0 5 1k)
D1 in out dm
R1 out 0 1k
C1 out 0 1u
.model dm d(is=1e-14)
.options itl4=1
.tran 10u 2m
.end
