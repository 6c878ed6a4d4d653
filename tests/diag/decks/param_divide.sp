bad deck: param divide
v1 a 0 1
r1 a 0 1k
.param x=0
.param y={1/x}
.op
