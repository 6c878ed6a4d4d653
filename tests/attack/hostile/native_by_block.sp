loads native code by commands
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.control
op
pre_osdi evil.osdi
osdi evil.osdi
osdi ./sub/../evil.osdi
.endc
.end
