bad deck: sub parameter
v1 a 0 1
r1 a 0 1k
x1 a 0 cell wdth=1
.subckt cell p n width=2
r1 p n {width}
.ends
.op
