overwrites itself and what it includes
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.include "part.inc"
.control
op
write deck.sp
echo x > part.inc
wrdata deck.sp v(in)
set appendwrite
write part.inc
.endc
.end
