bad deck: xspice_null
v1 a 0 1
r1 a 0 1k
a1 null c g
.model g gain(gain=2)
.op
