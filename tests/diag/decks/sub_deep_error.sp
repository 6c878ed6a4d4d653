bad deck: sub deep error
v1 a 0 1
r1 a 0 1k
.subckt in p z=0
r1 p 0 {1/z}
.ends
.subckt out p
x2 p in
.ends
x1 a out
.op
