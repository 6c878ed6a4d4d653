two iterations are mostly too few
V1 in 0 SIN(0 5 1k)
D1 in out dm
R1 out 0 1k
C1 out 0 1n
.model dm d(is=1e-14)
.options itl4=2 reltol=1e-9 vntol=1e-12 abstol=1e-18 trtol=1e6
.tran 10u 2m
.end
