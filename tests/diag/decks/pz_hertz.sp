* an expression of hertz has no poles
V1 in 0 dc 0 ac 1
R1 in a 50
B1 b 0 v={v(a)*hertz}
R2 b 0 50
C1 a 0 1p
.pz in 0 b 0 vol pz
.end
