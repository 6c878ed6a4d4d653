bad deck: sub end name
v1 a 0 1
r1 a 0 1k
.subckt cell p n
r1 p n 1
.ends sell
x1 a 0 cell
.op
