bad deck: ac too
v1 a 0 1
r1 a 0 1k
.op
.ac dec 10 1 1k
