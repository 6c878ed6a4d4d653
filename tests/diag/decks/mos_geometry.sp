transistors without a length, or with sizes that are none
vd d 0 1
m1 d d 0 0 n4
m2 d d 0 0 n3 w=1u
m3 d d 0 0 n4 w=0 l=1u
m4 d d 0 0 n3 w=1u l=-1u
m5 d d 0 0 n4 w=1u l=1u nf=-2
m6 d d 0 0 n4 w=1u l=1u temp=-300
m7 d d 0 0 n3 w=1u l=1u dtemp=-400
m8 d d 0 0 n4 w=1u l=1u ad=-1p
.model n4 nmos level=54
.model n3 nmos level=49
.op
.end
