a gate that only a capacitor drives has no dc path, whatever its Meyer capacitances are
m1 d g 0 0 nn
.model nn nmos tox=20n
v1 vd 0 3
r1 vd d 1k
c1 g 0 1p
.op
.end
