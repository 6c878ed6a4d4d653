* the name of a file cannot begin with a bracket
V1 1 0 1
R1 1 0 1k
.step file (points.csv)
.op
.end
