an inductor whose value is an expression cannot be coupled
v1 a 0 1
l1 a 0 1m
l2 b 0 l={1u*(1+v(a))}
r2 b 0 1
k1 l1 l2 0.5
.op
.end
