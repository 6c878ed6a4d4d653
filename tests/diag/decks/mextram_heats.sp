MEXTRAM that heats itself, and a parameter that it does not have
vc c 0 2
vb b 0 0.7
q1 c b 0 0 q
.model q npn level=505 rth=300 rmin=1
.op
.end
