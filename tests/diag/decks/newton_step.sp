no solution after a while
V1 t 0 PULSE(0 1 0 1u 1u 1 2)
R0 t 0 1k
B1 out 0 v=v(t)<0.5 ? 0 : v(out)*v(out)+1
R1 out 0 1k
.tran 10n 2u
.end
