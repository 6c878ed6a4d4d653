no solution
B1 out 0 v=v(out)*v(out)+1
R1 out 0 1k
.op
.end
