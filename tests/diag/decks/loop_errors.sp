errors in each of four million turns
v1 1 0 1
r1 1 0 1k
.for k=0 to 3999999
.sav
ra{k} 1 0 {k
.endfor
.op
