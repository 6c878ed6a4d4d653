bad deck: a name that neither the caller nor the instance has
.subckt s a b w=1 l=7
r1 a b {w+l}
.ends
v1 1 0 1
r1 1 0 1
x1 1 0 s l={ww}
x2 1 0 s l={w+1} w={l+1}
x3 1 0 s w={w+1}
.op
