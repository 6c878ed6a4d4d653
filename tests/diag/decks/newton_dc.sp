dc fails from 0.5 on
V1 t 0 0
R0 t 0 1k
B1 out 0 v=v(t)<0.5 ? 0 : v(out)*v(out)+1
R1 out 0 1k
.dc V1 0 1 0.1
.end
