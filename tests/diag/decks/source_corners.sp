sources with corners without end
v1 1 0 pulse(0 1 0 1e-300 1e-300 1e-300 1e-299)
v2 2 0 pwl(0 0 1e-300 1) r=0
v3 3 0 trnoise(1 1e-300)
v4 4 0 trnoise(0 0 0 0 1 1e-300 1e-300)
v5 5 0 trrandom(1 1e-300)
v6 6 0 pulse(0 1 0 1p 1p 1p 10p)
r1 1 2 1k
r3 3 4 1k
r5 5 6 1k
.tran 1n 10n
