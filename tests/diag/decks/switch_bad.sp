switches with mistakes
v1 a 0 1
s1 a 0 a 0 ms
.model ms sw vt=1 ron=0
q1 a a 0 mq
.model mq npn level=13
r1 a 0 1k
.op
.end
