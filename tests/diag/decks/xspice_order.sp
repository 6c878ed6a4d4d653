bad deck: xspice_order
v1 a 0 1
r1 a 0 1k
a1 a c g
.model g s_xfer(num_coeff=[1 2 3] den_coeff=[1 1])
.op
