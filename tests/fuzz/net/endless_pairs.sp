a subcircuit with two of itself, under a condition that always holds
.subckt pair a r=1k
.if (r > 500)
x1 a pair r={r+1}
x2 a pair
.endif
r1 a 0 {r}
.ends
x1 a pair
v1 a 0 1
.op
.end
