a table of two axes
V1 x 0 0.5 pulse(0 2 0 1n 1n 4n 10n)
V2 y 0 0.3
a1 %vd(x 0) %vd(y 0) %id(o 0) t2
.model t2 table2d(offset=0 gain=1 order=3 file="other")
R1 o 0 1k
.dc V1 0 1 0.25 V2 0 1 0.5
.tran 0.5n 10n
.end
*---
* axes
3 3
0 1 2
0 1 2
1 2 3
3 4 5
5 6 8
