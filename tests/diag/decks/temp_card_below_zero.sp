.temp below absolute zero
V1 a 0 1
R1 a 0 1k tc1=1m
.temp -273.15
.op
.end
