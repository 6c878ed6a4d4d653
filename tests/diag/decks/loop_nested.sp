errors in each turn of loops in a loop
v1 1 0 1
.for i=1 to 2
.for k=0 to 1999997
.sav v({i})
.endfor
.endfor
.op
