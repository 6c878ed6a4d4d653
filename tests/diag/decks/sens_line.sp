* lines are left out, with a word
V1 in 0 dc 1
R1 in a 50
T1 a 0 b 0 z0=50 td=1n
R2 b 0 50
.sens v(b)
.end
