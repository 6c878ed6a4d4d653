starts programs in all ways that shells know
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
shell touch ../OWNED
system touch ../OWNED
!touch ../OWNED
set x = `touch ../OWNED`
echo `touch ../OWNED` $(touch ../OWNED)
write "|touch ../OWNED"
echo x | touch ../OWNED
.endc
.end
