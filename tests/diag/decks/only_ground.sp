every terminal is at ground
R1 0 0 1k
.op
.end
