* an effective channel length that is negative
vd d 0 1
vg g 0 2
m1 d g 0 0 n l=0.1u w=1u
.model n nmos level=3 ld=0.2u
.op
.end
