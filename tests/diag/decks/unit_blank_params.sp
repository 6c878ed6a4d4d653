units behind a blank in parameters of subcircuits: the unit scales
x1 a s1 delay=300 ps k=2
x2 a s1
v1 a 0 1
.subckt s1 a delay=200 ps k=3
r1 a 0 {k*1k*delay/1p}
.ends
.control
op
if abs(i(v1) + 1/600k + 1/600k) > 1n
  print i(v1)
  quit 3
end
.endc
.end
