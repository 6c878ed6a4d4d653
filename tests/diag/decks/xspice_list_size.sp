bad deck: xspice_list_size
v1 a 0 1
r1 a 0 1k
a1 [a b] c g
.model g summer(in_gain=[1 2 3])
.op
