#!/usr/bin/env python3
"""Periodic analyses and loop gain in vsim and VACASK, on equal equations.

    peer_periodic.py VSIM [CASE...]      exit code 77 if VACASK is not installed (tests/peers.txt)

VACASK takes about twice as many harmonics, for its samples are fewer: at equal numbers it is off by
what folds back (docs/analyses.md). Errors are relative to the largest line. Where a circuit has a
closed form both are held against it too, so that a difference says who is wrong.

Three tones: without `immax` its diamond is the whole box, and with it what is cut folds back
greatly. So it gets circuits whose products end within what it keeps ("cubic", "mixer", "switch");
where they do not end ("... 7, 9, 10"), the tones are multiples of 1 MHz, and it gets that one tone
with many harmonics: lines of ours at one frequency are added up."""
import cmath
import functools
import itertools
import math
import os
import subprocess
import sys
import tempfile

import periodic

TOLERANCE = 1e-6

LIBRARY = """load "spice/diode.osdi"
load "spice/resistor.osdi"
load "spice/capacitor.osdi"
load "spice/mos1.osdi"
load "spice/bjt.osdi"
load "cell.va"
model vsource vsource
model vcvs vcvs
model dd sp_diode(is=1e-14 cjo=2p rs=5 n=1.1)
model r sp_resistor
model c sp_capacitor
model ideal sp_diode(is=1e-14)
model square sp_mos1(type=1 vto=0.5 kp=2e-3)
model npn sp_bjt(type=1 is=1e-16)
model conductance conductance(g0=1m g1=0.5m)
model gate gate(sharp=3)
model cubic cubic(g2=1m g3=0.5m)
model isource isource
model stage sp_bjt(type=1 is=1e-16 bf=100 cje=1p)
"""
CELLS = """`include "disciplines.vams"
module conductance(p, n, c); inout p, n, c; electrical p, n, c;
parameter real g0 = 1m, g1 = 1m;
analog I(p,n) <+ (g0 + g1 * V(c)) * V(p,n);
endmodule
module gate(p, i, c); inout p, i, c; electrical p, i, c;
parameter real sharp = 1;
analog V(p) <+ V(i) * exp(sharp * (V(c) - 1));
endmodule
module cubic(i, o); inout i, o; electrical i, o;
parameter real g2 = 1m, g3 = 1m;
analog I(o) <+ g2 * V(i) * V(i) + g3 * V(i) * V(i) * V(i);
endmodule
"""
MODEL = """.hdl cell.va
.model dd d is=1e-14 cjo=2p rs=5 n=1.1
.model ideal d is=1e-14
.model square nmos level=1 vto=0.5 kp=2m
.model npn npn is=1e-16
.model conductance conductance(g0=1m g1=0.5m)
.model gate gate(sharp=3)
.model cubic cubic(g2=1m g3=0.5m)
.model stage npn is=1e-16 bf=100 cje=1p
"""
OPTIONS = '  options reltol=1e-9 vntol=1e-12 abstol=1e-15\n'

# name: (deck of vsim, circuit of VACASK, its analysis, kind)
CASES = {
    'one tone': ("""v1 in 0 dc 0 ac 1 sin(0.5 0.15 1meg)
r1 in a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb 1meg nharms=16
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.15 freq=1meg mag=1
r1 (in a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hb freq=[1M] nharm=32', 'hb'),
    'two tones': ("""v1 in 0 dc 0 sin(0.5 0.01 1meg)
v2 in2 in sin(0 0.01 1.1meg)
r1 in2 a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb tones=1meg 1.1meg nharms=5 5
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.01 freq=1meg
v2 (in2 in) vsource type="sine" sinedc=0 ampl=0.01 freq=1.1meg
r1 (in2 a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M] nharm=[6, 6] truncate="box"', 'hb'),
    # of small amplitudes: what VACASK cuts folds back as their square, 2e-3 at 10 mV and 1.9e-6 at
    # 1 mV, where harmonics to the fifth order here move nothing by more than 8e-9
    'three tones': ("""v1 in 0 dc 0 sin(0.5 0.5m 1meg)
v2 in2 in sin(0 0.5m 1.1meg)
v3 in3 in2 sin(0 0.5m 1.13meg)
r1 in3 a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb tones=1meg 1.1meg 1.13meg nharms=2 2 2 intmodmax=2
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.5m freq=1meg
v2 (in2 in) vsource type="sine" sinedc=0 ampl=0.5m freq=1.1meg
v3 (in3 in2) vsource type="sine" sinedc=0 ampl=0.5m freq=1.13meg
r1 (in3 a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M, 1.13M] nharm=2 truncate="diamond"', 'hb'),
    # the last line is off by about itself: 1e-7 of the largest at the 64th, 2e-5 at the 40th
    'rectifier': ("""v1 in 0 sin(0 0.7 1meg)
d1 in out ideal
r2 out 0 1k
.hb 1meg nharms=64
""", """v1 (in 0) vsource type="sine" sinedc=0 ampl=0.7 freq=1meg
d1 (in out) ideal
r2 (out 0) r r=1k
""", 'hb freq=[1M] nharm=100', 'hb'),
    'conductance': ("""v1 in 0 0.5
v2 lo 0 sin(0 1 1meg)
n1 in out lo conductance
r2 out 0 1k
c1 out 0 200p
.hb 1meg nharms=12
""", """v1 (in 0) vsource dc=0.5
v2 (lo 0) vsource type="sine" sinedc=0 ampl=1 freq=1meg
n1 (in out lo) conductance
r2 (out 0) r r=1k
c1 (out 0) c c=200p
""", 'hb freq=[1M] nharm=12', 'hb'),
    # 10 mV are 0.39 Vt: I_6(0.39) is 8e-8
    'bipolar': ("""v0 e 0 -2
v1 b1 e sin(0.7 0.01 1meg)
v2 b b1 sin(0 0.01 1.1meg)
q1 out b e npn
r2 out 0 1k
c1 out 0 100p
.hb tones=1meg 1.1meg nharms=5 5
""", """v0 (e 0) vsource dc=-2
v1 (b1 e) vsource type="sine" sinedc=0.7 ampl=0.01 freq=1meg
v2 (b b1) vsource type="sine" sinedc=0 ampl=0.01 freq=1.1meg
q1 (out b e e) npn
r2 (out 0) r r=1k
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M] nharm=[6, 6] truncate="box"', 'hb'),
    # no product is above the second order: exact as long as the transistor saturates
    'square law': ("""v0 s 0 -5
v1 g1 s sin(1.5 0.2 1meg)
v2 g2 g1 sin(0 0.3 1.1meg)
v3 g g2 sin(0 0.1 1.13meg)
m1 out g s s square w=10u l=10u
r2 out 0 1k
c1 out 0 100p
.hb tones=1meg 1.1meg 1.13meg nharms=2 2 2 intmodmax=2
""", """v0 (s 0) vsource dc=-5
v1 (g1 s) vsource type="sine" sinedc=1.5 ampl=0.2 freq=1meg
v2 (g2 g1) vsource type="sine" sinedc=0 ampl=0.3 freq=1.1meg
v3 (g g2) vsource type="sine" sinedc=0 ampl=0.1 freq=1.13meg
m1 (out g s s) square w=10u l=10u
r2 (out 0) r r=1k
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M, 1.13M] nharm=2 truncate="diamond"', 'hb'),
    # no product is above the third order
    'cubic': ("""i1 0 i sin(0.2m 0.2m 1meg)
i2 0 i sin(0 0.3m 1.1meg)
i3 0 i sin(0 0.1m 1.13meg)
r1 i 0 1k
n1 i out cubic
r2 out 0 1k
c1 out 0 100p
.hb tones=1meg 1.1meg 1.13meg nharms=3 3 3 intmodmax=3
""", """i1 (0 i) isource type="sine" sinedc=0.2m ampl=0.2m freq=1M
i2 (0 i) isource type="sine" sinedc=0 ampl=0.3m freq=1.1M
i3 (0 i) isource type="sine" sinedc=0 ampl=0.1m freq=1.13M
r1 (i 0) r r=1k
n1 (i out) cubic
r2 (out 0) r r=1k
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M, 1.13M] nharm=3 immax=3 truncate="diamond"', 'hb'),
    # one tone opens and closes what the other two go through: they have no products
    'mixer': ("""v1 in2 0 sin(0.5 0.2 1.1meg)
v2 in in2 sin(0 0.3 1.13meg)
v3 lo 0 sin(0 1 1meg)
n1 in out lo conductance
r2 out 0 1k
c1 out 0 200p
.hb tones=1meg 1.1meg 1.13meg nharms=8 2 2
""", """v1 (in2 0) vsource type="sine" sinedc=0.5 ampl=0.2 freq=1.1M
v2 (in in2) vsource type="sine" sinedc=0 ampl=0.3 freq=1.13M
v3 (lo 0) vsource type="sine" sinedc=0 ampl=1 freq=1M
n1 (in out lo) conductance
r2 (out 0) r r=1k
c1 (out 0) c c=200p
""", 'hb freq=[1M, 1.1M, 1.13M] nharm=[8, 2, 2] truncate="box"', 'hb'),
    'switch': ("""v1 in2 0 sin(0 0.2 1.1meg)
v2 in in2 sin(0 0.3 1.13meg)
v3 lo 0 sin(0 1 1meg)
n1 out in lo gate
r2 out 0 1k
.hb tones=1meg 1.1meg 1.13meg nharms=16 1 1
""", """v1 (in2 0) vsource type="sine" sinedc=0 ampl=0.2 freq=1.1M
v2 (in in2) vsource type="sine" sinedc=0 ampl=0.3 freq=1.13M
v3 (lo 0) vsource type="sine" sinedc=0 ampl=1 freq=1M
n1 (out in lo) gate
r2 (out 0) r r=1k
""", 'hb freq=[1M, 1.1M, 1.13M] nharm=[16, 1, 1] truncate="box"', 'hb'),
    'diode 7, 9, 10': ("""i1 0 a sin(1m 0.15m 7meg)
i2 0 a sin(0 0.1m 9meg)
i3 0 a sin(0 50u 10meg)
r1 a 0 1k
d1 a out dd
r2 out 0 100
c1 out 0 10p
.hb tones=7meg 9meg 10meg nharms=10 10 10 intmodmax=10
""", """i1 (0 a) isource type="sine" sinedc=1m ampl=0.15m freq=7M
i2 (0 a) isource type="sine" sinedc=0 ampl=0.1m freq=9M
i3 (0 a) isource type="sine" sinedc=0 ampl=50u freq=10M
r1 (a 0) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=10p
""", 'hb freq=[1M] nharm=110', 'hb'),
    'npn 7, 9, 10': ("""i1 0 b sin(0.7m 20u 7meg)
i2 0 b sin(0 15u 9meg)
i3 0 b sin(0 10u 10meg)
r1 b 0 1k
q1 out b 0 stage
r2 out vc 1k
v9 vc 0 2
c1 out 0 10p
.hb tones=7meg 9meg 10meg nharms=7 7 7 intmodmax=7
""", """i1 (0 b) isource type="sine" sinedc=0.7m ampl=20u freq=7M
i2 (0 b) isource type="sine" sinedc=0 ampl=15u freq=9M
i3 (0 b) isource type="sine" sinedc=0 ampl=10u freq=10M
r1 (b 0) r r=1k
q1 (out b 0 0) stage
r2 (out vc) r r=1k
v9 (vc 0) vsource dc=2
c1 (out 0) c c=10p
""", 'hb freq=[1M] nharm=80', 'hb'),
    # the source's resistance makes products of all orders
    'mos 7, 9, 10': ("""i1 0 g sin(1.5m 0.2m 7meg)
i2 0 g sin(0 0.3m 9meg)
i3 0 g sin(0 0.1m 10meg)
r1 g 0 1k
m1 out g s 0 square w=10u l=10u
r3 s 0 300
r2 out vd 500
v9 vd 0 3
c1 out 0 20p
.hb tones=7meg 9meg 10meg nharms=7 7 7 intmodmax=7
""", """i1 (0 g) isource type="sine" sinedc=1.5m ampl=0.2m freq=7M
i2 (0 g) isource type="sine" sinedc=0 ampl=0.3m freq=9M
i3 (0 g) isource type="sine" sinedc=0 ampl=0.1m freq=10M
r1 (g 0) r r=1k
m1 (out g s 0) square w=10u l=10u
r3 (s 0) r r=300
r2 (out vd) r r=500
v9 (vd 0) vsource dc=3
c1 (out 0) c c=20p
""", 'hb freq=[1M] nharm=80', 'hb'),
    'conversion': ("""v1 in 0 dc 0.5 ac 1
v2 lo 0 sin(0 1 1meg)
n1 in out lo conductance
r2 out 0 1k
c1 out 0 200p
.hb 1meg nharms=12
.hbac dec 2 1k 10meg sidebands=3
""", """v1 (in 0) vsource dc=0.5 spur={[0]} smag=[1]
v2 (lo 0) vsource type="sine" sinedc=0 ampl=1 freq=1meg
n1 (in out lo) conductance
r2 (out 0) r r=1k
c1 (out 0) c c=200p
""", 'hbac freq=[1M] nharm=12 from=1k to=10M mode="dec" points=2', 'hbac'),
    'sampler': ("""v1 in 0 dc 0.5 ac 1
v2 lo 0 sin(0 1 1meg)
n1 out in lo gate
r2 out 0 1k
.hb 1meg nharms=16
.hbac dec 2 1k 10meg sidebands=3
""", """v1 (in 0) vsource dc=0.5 spur={[0]} smag=[1]
v2 (lo 0) vsource type="sine" sinedc=0 ampl=1 freq=1meg
n1 (out in lo) gate
r2 (out 0) r r=1k
""", 'hbac freq=[1M] nharm=16 from=1k to=10M mode="dec" points=2', 'hbac'),
    'diode stage': ("""v1 in 0 dc 0 ac 1 sin(0.5 0.15 1meg)
r1 in a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb 1meg nharms=16
.hbac dec 2 1k 10meg sidebands=3
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.15 freq=1meg spur={[0]} smag=[1]
r1 (in a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hbac freq=[1M] nharm=32 from=1k to=10M mode="dec" points=2', 'hbac'),
    # the diode's own noise is left out: that of the library counts its displacement current
    'noise': ("""v1 in 0 dc 0 ac 1 sin(0.5 0.15 1meg)
r1 in a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb 1meg nharms=16
.hbnoise v(out) v1 dec 2 1k 10meg 1
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.15 freq=1meg mag=1
r1 (in a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hbnoise freq=[1M] nharm=32 out="out" in="v1" from=1k to=10M mode="dec" points=2', 'hbnoise'),
    'loop': ("""e1 x 0 0 fb 200
r1 x a 1k
c1 a 0 1u
vp a b 0
r2 b c 10k
c2 c 0 1n
r3 c fb 100
c3 fb 0 100p
.lstb vsource=vp dec 2 1 1e8
""", """e1 (x 0 0 fb) vcvs gain=200
r1 (x a) r r=1k
c1 (a 0) c c=1u
vp (a b) vsource dc=0
r2 (b c) r r=10k
c2 (c 0) c c=1n
r3 (c fb) r r=100
c3 (fb 0) c c=100p
""", 'acstb probe="vp" from=1 to=1e8 mode="dec" points=2', 'lstb'),
}

# with CODATA 2014, as SPICE's models have it: that of 2018 is 3.4e-7 larger, times V/Vt
VT = 1.38064852e-23 * 300.15 / 1.6021766208e-19


def bessel(k, x):
    """I_k(x)."""
    return sum((x / 2)**(2 * m + abs(k)) / math.factorial(m) / math.factorial(m + abs(k)) for m in range(40))


def exponential(k, x):
    """Coefficient k of exp(x sin t)."""
    return (-1j)**k * bessel(k, x)


def line(f, *tones):
    """The orders of the line at f, the lowest to 6 whose products with the tones add up to f."""
    found = [()]
    for _ in tones:
        found = [k + (n,) for k in found for n in range(-6, 7)]
    return min((k for k in found if abs(sum(n * t for n, t in zip(k, tones)) - f) < 1),
               key=lambda k: sum(abs(n) for n in k))


def parallel(f, r, c):
    return r / (1 + 2j * math.pi * f * r * c)


@functools.cache
def rectifier():
    """r2's voltage at 1024 instants of the period; the lines that fold back from there are below 1e-16."""
    out = []
    for j in range(1024):
        v, x = 0.7 * math.sin(2 * math.pi * j / 1024), 0
        for _ in range(100):
            e = 1e-14 * math.exp((v - x) / VT)
            step = (x / 1e3 - e + 1e-14) / (1e-3 + e / VT)
            x -= step
            if abs(step) < 1e-14:
                break
        out.append(x)
    return out


def rectified(f):
    k = round(f / 1e6)
    total = sum(x * cmath.exp(-2j * math.pi * j * k / 1024) for j, x in enumerate(rectifier()))
    return total / 1024 * (2 if k else 1)


def converted(f, k):
    """C v' + v/R + g(t) (v - u) = 0 with g = g0 + g1 sin wt and u = e^(j 2 pi f t): the integrating
    factor is e^(a t - b cos wt), whose Fourier series has Bessel functions."""
    w, c, g0, g1 = 2e6 * math.pi, 200e-12, 1e-3, 0.5e-3
    a, b = (g0 + 1e-3) / c, g1 / c / w
    e = [(-1)**m * bessel(m, b) for m in range(-22, 23)]
    at = range(-20, 21)
    h = {m: (g0 * e[m + 22] + g1 * (e[m + 21] - e[m + 23]) / 2j) / c for m in at}
    return sum(bessel(k - m, b) * h[m] / (a + 2j * math.pi * f + 1j * m * w) for m in at)


def amplified(f):
    """Is e^(vbe/Vt), a product of the series of each tone."""
    i, j = line(f, 1e6, 1.1e6)
    current = 1e-16 * math.exp(0.7 / VT) * exponential(i, 0.01 / VT) * exponential(j, 0.01 / VT)
    return (2 if f else 1) * -current * parallel(f, 1e3, 100e-12)


def squared(f):
    """kp/2 (vgs - vto)^2, vgs - vto a constant and three sines, each two lines."""
    k, current = line(f, 1e6, 1.1e6, 1.13e6), 0
    drive = {(0, 0, 0): 1, (1, 0, 0): 0.1 / 1j, (-1, 0, 0): -0.1 / 1j, (0, 1, 0): 0.15 / 1j,
             (0, -1, 0): -0.15 / 1j, (0, 0, 1): 0.05 / 1j, (0, 0, -1): -0.05 / 1j}
    for p, x in drive.items():
        for q, y in drive.items():
            if tuple(m + n for m, n in zip(p, q)) == k:
                current += 1e-3 * x * y
    return (2 if f else 1) * -current * parallel(f, 1e3, 100e-12)


def cubed(f):
    """g2 v^2 + g3 v^3 of a constant and three sines."""
    k, drive, current = line(f, 1e6, 1.1e6, 1.13e6), {(0, 0, 0): 0.2}, 0
    for i, a in enumerate((0.2, 0.3, 0.1)):
        for sign in (1, -1):
            drive[tuple(sign * (i == j) for j in range(3))] = sign * a / 2j
    square = {}
    for (p, x), (q, y) in itertools.product(drive.items(), repeat=2):
        at = tuple(m + n for m, n in zip(p, q))
        square[at] = square.get(at, 0) + x * y
    current = 1e-3 * square.get(k, 0)
    for (p, x), (q, y) in itertools.product(drive.items(), square.items()):
        if tuple(m + n for m, n in zip(p, q)) == k:
            current += 0.5e-3 * x * y
    return (2 if f else 1) * -current * parallel(f, 1e3, 100e-12)


# what v1 and v2 of 'mixer' and 'switch' are: (frequency, amplitude), with the constant
MIXED = ((0, 0.5), (1.1e6, 0.2 / 1j), (1.13e6, 0.3 / 1j))


def mixed(f, through, of):
    """Each tone goes to the sidebands k of the first, where f may be below 0."""
    total = 0
    for tone, a in of:
        for side in (f, -f) if f else (f,):
            k = round((side - tone) / 1e6)
            if abs(tone + k * 1e6 - side) < 1:
                line_of = a * through(tone, k)
                total += line_of if side >= 0 else line_of.conjugate()
    return total if f else total.real


# name: value of the line at f, of the sideband k of .hbac at f
EXACT = {
    'cubic': cubed,
    'mixer': lambda f: mixed(f, converted, MIXED),
    'switch': lambda f: mixed(f, EXACT['sampler'], MIXED[1:]),
    'rectifier': rectified,
    'conductance': lambda f: converted(0, round(f / 1e6)) * (1 if f else 0.5),
    'bipolar': amplified,
    'square law': squared,
    'conversion': converted,
    'sampler': lambda f, k: math.exp(-3) * exponential(k, 3),
}


def vacask():
    peers = os.environ.get('VSIM_PEERS', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build', 'peers'))
    path = os.path.join(peers, 'bin', 'vacask')
    return path if os.path.exists(path) else None


def run(args, folder):
    done = subprocess.run(args, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        sys.exit(f'{args}: exit code {done.returncode}\n{done.stdout}{done.stderr}')


def added(frequency, values):
    """Lines of one frequency as one; at 0 Hz, where a line and its conjugate meet, the real part."""
    out = {}
    for f, v in zip(frequency, values):
        f = round(f.real)
        out[f] = out.get(f, 0) + (v if f else v.real)
    return out


def groups(kind, ours, theirs, exact):
    """[(ours, theirs, closed form or None)] of what both have; the lists are of one size, for one scale."""
    find = {name: columns for name, columns in ours}
    if kind == 'hb':
        p = find['Harmonic Balance']
        peer = added(theirs['frequency'], theirs['out'])
        return [[(v, peer[f], exact and exact(f)) for f, v in added(p['frequency'], p['v(out)']).items()]]
    if kind == 'hbac':
        p, group = find['Periodic AC Analysis'], []
        for k in range(-3, 4):
            mine, peer = p['v(out)' + (f'[{k}]' if k else '')], theirs[f'out;{k}']
            group += [(x, y, exact and exact(f.real, k)) for x, y, f in zip(mine, peer, p['frequency'])]
        return [group]
    if kind == 'hbnoise':
        p = find['Periodic Noise']
        gain = [(a / b)**2 for a, b in zip(p['onoise_spectrum'], p['inoise_spectrum'])]
        return [[(a, b, None) for a, b in zip(gain, theirs['gain'])]] + [
            [(a * a, b, None) for a, b in zip(p[f'onoise_{r}'], theirs[f'n({r})'])] for r in ('r1', 'r2')]
    return [[(a, b, None) for a, b in zip(find['Loop Stability']['loopgain'], theirs['w'])]]


def apart(group, i, j):
    return max(abs(row[i] - row[j]) for row in group) / max(abs(row[j]) for row in group)


def main():
    vsim, peer, worst = os.path.abspath(sys.argv[1]), vacask(), 0
    names = sys.argv[2:] or CASES
    if not peer:
        print('VACASK is not installed (./bootstrap test installs it)')
        return 77
    for name in names:
        deck, circuit, analysis, kind = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'a.sp'), 'w') as f:
                f.write(f'{name}\n{deck}{MODEL}.options reltol=1e-6 vntol=1e-9 abstol=1e-15\n.end\n')
            with open(os.path.join(folder, 'a.sim'), 'w') as f:
                f.write(f'{name}\n\nground 0\n{LIBRARY}{circuit}control\n{OPTIONS}  analysis x {analysis}\nendc\n')
            with open(os.path.join(folder, 'cell.va'), 'w') as f:
                f.write(CELLS)
            run([vsim, '-r', 'a.raw', 'a.sp'], folder)
            run([peer, 'a.sim'], folder)
            ours, theirs = periodic.plots(os.path.join(folder, 'a.raw')), periodic.plots(os.path.join(folder, 'x.raw'))
        exact = EXACT.get(name)
        found = groups(kind, ours, theirs[0][1], exact)
        errors = {what: max(apart(group, i, j) for group in found)
                  for what, i, j in (('beside VACASK', 0, 1), ('off', 0, 2), ('VACASK off', 1, 2))
                  if j == 1 or exact}
        bad = max(errors.values()) > TOLERANCE
        print(f'{name:12}', ', '.join(f'{what} {x:.2g}' for what, x in errors.items()), ' TOO MUCH' if bad else '')
        worst = max(worst, *errors.values())
    return 0 if worst <= TOLERANCE else 1


if __name__ == '__main__':
    sys.exit(main())
