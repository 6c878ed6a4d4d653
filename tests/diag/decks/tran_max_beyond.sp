a largest step beyond the end does not make the smallest one larger
.model nm nmos level=1 vto=0.4 kp=200u tox=2n cgso=0.3n cgdo=0.3n
.model pm pmos level=1 vto=-0.4 kp=80u tox=2n cgso=0.3n cgdo=0.3n
vdd vdd 0 1.2
vin a 0 pulse(0 1.2 1n 20p 20p 1n 2n)
mp b a vdd vdd pm w=2u l=0.13u
mn b a 0 0 nm w=1u l=0.13u
c1 b 0 1f
.tran 10p 4n 0 1
.end
