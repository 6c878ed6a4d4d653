bad deck: ac only
v1 a 0 1
r1 a 0 1k
.ac dec 10 1 1k
