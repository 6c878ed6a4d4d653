sweeps with points that have no solution
.param r=1k
V1 t 0 0
V2 u 0 1
R0 t 0 1k
R1 o 0 {r}
B1 o 0 v=v(u)*v(t)>0.55 & v(t)<0.75 ? v(o)*v(o)+1 : v(u)*v(t)
B2 p 0 v=pwl(v(o), 12,24, 2,4, -10,-8) + table(v(o), 0,0, 1,1)
R2 p 0 1k
Ib 0 q -0.1n
Q1 p q 0 qm
.model qm npn is=1e-16
.dc V1 0 1 0.1 V2 0 1 1
.dc r 1k 2k 1k V1 0.6 0.8 0.1
.dc temp 0 50 25
.meas dc m max v(o)
.meas dc f find v(o) at=0.9
.print dc v(o) v(p)
.sens dc m param=r
.end
