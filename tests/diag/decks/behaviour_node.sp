bad deck: behaviour node
v1 a 0 1
r1 a 0 1k
b1 c 0 v={v(nowhere)}
r2 c 0 1
.op
