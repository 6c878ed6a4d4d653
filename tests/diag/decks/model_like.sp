* ako errors
v1 a 0 1
d1 a 0 x
d2 a 0 z
d3 a 0 w
q1 a a 0 qq
.model x ako: y
.model y ako: x d
.model z ako:nothere d
.model w ako:
.model qq ako:dd npn
.model dd d is=1e-14
.op
.end
