words of kits' cards that no model here has
v1 a 0 0.6
d1 a 0 dm
q1 a a 0 qm
.model dm d is=1e-14 scalm=1
.model qm npn is=1e-15 dcap=2
.op
.end
