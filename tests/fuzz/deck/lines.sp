lines, files and a start-up file
.include other
V1 1 0 pwl(0 0 1n 1 2n 1) r=0
T1 1 0 2 0 z0=50 td=1n
R2 2 0 50
O1 1 0 3 0 lm
R3 3 0 50
.model lm ltra r=0.1 l=250n c=100p len=1
A1 1 4 gain1
.model gain1 gain(gain=2 in_offset=0.1)
R4 4 0 1k
S1 4 5 1 0 sm
R5 5 0 1k
.model sm sw vt=0.5 vh=0.1 ron=1 roff=1meg
K1 l1 l2 0.9
L1 1 6 1u
L2 7 0 1u
R6 6 0 10
R7 7 0 10
B1 8 0 v=v(1)*v(2)+ddt(v(3))
R8 8 0 1
.tran 0.5n 5n
.meas tran m1 find v(2) at=2n
.meas tran m2 trig v(1) val=0.5 rise=1 targ v(2) val=0.2 rise=1
.step param p list 1 2
.end
*---
.param p=1
C9 2 0 {p*1p}
*---
set numdgt=6
