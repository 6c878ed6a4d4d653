bad deck: xspice_no_card
v1 a 0 1
r1 a 0 1k
a1 a b gain
.op
