elements by the names of ngspice
v1 a 0 2
x1 a 0 s
.subckt s p n
rs1 p q 1k
rs2 q n 1k
.ends
.control
alter r.x1.rs1=3k
op
if abs(@r.x1.rs1[i] - 0.5m) > 1p
echo wrong $&@r.x1.rs1[i]
quit 3
end
alter c.x1.rs1=3k
.endc
.end
