library that is not there
.hdl "nowhere.osdi"
.model m psp103va
N1 a 0 0 0 m
V1 a 0 1
.op
.end
