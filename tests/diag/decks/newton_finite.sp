a product beyond all numbers
V1 a 0 1e200
R1 a 0 1k
B1 out 0 v=v(a)*v(a)
R2 out 0 1k
.op
.end
