bad deck: hdl missing
v1 a 0 1
r1 a 0 1k
.hdl "not_there.va"
n1 a 0 m
.model m mymod
.op
