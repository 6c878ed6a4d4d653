step
.param n=3
V1 a0 0 dc 1
.for i = 1 to n
R{i} a0 0 1k
.endfor
.op
.step n 1 3 1
.end
