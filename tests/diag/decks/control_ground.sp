every terminal is at ground, and a block computes
R1 0 0 1k
.op
.control
run
op
.endc
.end
