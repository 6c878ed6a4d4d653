bad deck: noise source
v1 a 0 ac 1
r1 a b 1k
r2 b 0 1k
.noise v(b) v2 dec 10 1 1k
