bad deck: xspice_no_list
v1 a 0 1
r1 a 0 1k
a1 a c g
.model g pwl(x_array=[0 1 2])
.op
