deck with a word that the code model does not know
v1 a 0 1
r1 a 0 1k
a1 a b g
a2 a c g
.model g gain(gian=2)
.op
