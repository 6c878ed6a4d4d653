bad deck: xspice_device
v1 a 0 1
r1 a 0 1k
a1 a b g
.model g resistor(r=2)
.op
