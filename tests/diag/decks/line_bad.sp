lines with mistakes
v1 a 0 1
t1 a 0 b 0 td=1n
t2 a 0 b 0 z0=50
t3 a 0 b 0 z0=50 tdd=1n
o1 a 0 b 0 mo
.model mo ltra r=1 c=1p
o2 a 0 b 0 ml
.model ml ltra r=1 l=1n len=1
u1 a b 0 mu l=1m
.model mu urc isperl=1p
o3 a 0 b 0 mr
.model mr r rsh=1
r1 b 0 1k
.op
.end
