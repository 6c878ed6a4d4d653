bad deck: xspice_many_ports
v1 a 0 1
r1 a 0 1k
a1 a b c g
.model g gain(gain=2)
.op
