temperatures below absolute zero
V1 a 0 1
R1 a 0 1k tc1=1m
.dc temp -300 100 100
.end
