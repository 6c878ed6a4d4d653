names on the line of an instance
.param w=10
.subckt s a b w=1 l=7
r1 a b {w}
r2 b 0 {l}
.ends
v1 1 0 1
x1 1 2 s w={w*2} l={w}
x2 1 3 s l={w} w={w}
x3 1 4 s l={w*2}
.op
