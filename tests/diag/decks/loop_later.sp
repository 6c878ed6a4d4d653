an error far into a loop
v1 1 0 1
.for k=1 to 100100
ra{min(k,100000)} 1 0 1k
.endfor
.op
