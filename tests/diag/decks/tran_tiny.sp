steps whose inverse is no number
v1 in 0 1
r1 in out 1k
c1 out 0 1p
.tran 5e-324 1e-320
.end
