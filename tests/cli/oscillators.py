"""Oscillators that tests and benchmarks share: cards without a title."""

# g3 A^2 3/4 = g - 1/500: an amplitude near (4 (g - 2 mS)/3 g3)^(1/2), 5.03 GHz
TANK = """l1 a 0 1n
c1 a 0 1p
r1 a 0 500
b1 a 0 i=-%sm*v(a)+%sm*v(a)*v(a)*v(a)
"""
LC = TANK % ('4', '0.2') + 'ik 0 a pulse(0 1m 0 10p 10p 50p)\n'
# three inverters of level 1, about 1 GHz; nothing starts it
RING = """.model n nmos level=1 vto=0.5 kp=200u lambda=0.05 cgso=0.2n cgdo=0.2n
.model p pmos level=1 vto=-0.5 kp=80u lambda=0.05 cgso=0.2n cgdo=0.2n
.subckt inv i o v
m1 o i 0 0 n w=2u l=0.5u
m2 o i v v p w=5u l=0.5u
c1 o 0 20f
.ends
vdd v 0 1.8
x1 a b v inv
x2 b c v inv
x3 c a v inv
"""
