bad deck: sub recursive
v1 a 0 1
r1 a 0 1k
.subckt one p
x1 p two
.ends
.subckt two p
x1 p one
.ends
x1 a one
.op
