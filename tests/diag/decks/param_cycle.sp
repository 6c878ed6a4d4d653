bad deck: param cycle
v1 a 0 1
r1 a 0 1k
.param x={y+1} y={z*2} z={x}
r2 a 0 {x}
.op
