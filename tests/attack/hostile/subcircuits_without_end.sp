holds a subcircuit in itself
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.subckt s a
X1 a s
X2 a s
.ends
.subckt t a n=9
.if (n > 0)
X1 a t n={n-1e-30}
X2 a t n={n}
.endif
.ends
X1 in s
X2 in t
.op
.end
