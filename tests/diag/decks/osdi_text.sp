text instead of a library
.hdl "osdi_text.osdi"
R1 a 0 1k
V1 a 0 1
.op
.end
