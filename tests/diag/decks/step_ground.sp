at one point of a sweep every terminal is at ground
.param g=1
.if (g>1.5)
R1 0 0 1k
.else
V1 a 0 1
R1 a 0 1k
.endif
.op
.step param g 1 2 1
.end
