bad deck: xspice_list_param
v1 a 0 1
r1 a 0 1k
a1 [a b] c g
.model g summer(in_gan=[1 2])
.op
