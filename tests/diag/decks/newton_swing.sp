an inverter of infinite gain fed by itself
B1 out 0 v=v(out)>0.5 ? 0 : 1
R1 out 0 1k
.op
.end
