versions and levels that are none, of several transistors of a card
vd d 0 1
m1 d d 0 0 n1 w=1u l=1u
m2 d d 0 0 n2 w=1u l=1u
m3 d d 0 0 n2 w=2u l=1u
m4 d d 0 0 n3 w=1u l=1u
m5 d d 0 0 n4 w=1u l=1u
m6 d d 0 0 n5 w=1u l=1u
m7 d d 0 0 n6 w=1u l=1u
m8 d d 0 0 n7 w=1u l=1u
m9 d d 0 0 n8 w=1u l=1u
.model n1 nmos level=54 version=four
.model n2 nmos level=54 version=99
.model n3 nmos level=14 version=-4.5
.model n4 nmos level=49 version=-1
.model n5 nmos level=8 version=BSIM3
.model n6 nmos level=five
.model n7 nmos level=-54
.model n8 nmos level=54.5
.op
.end
