a comparator without gain limit, fed by itself
X1 out latch
R1 out 0 1k
.subckt latch p
X2 p core
.ends
.subckt core q
B1 q 0 v=v(q)>0.5 ? 0 : 1
.ends
.op
.end
