#!/usr/bin/env python3
"""Noise and scattering on periodic orbits (.hbnoise modulated, strobe, cross; .hbsp; AM and PM of
.phasenoise) against closed forms, and against .noise and .sp on linear circuits.

    orbit_noise.py VSIM [test...]

Each bound says where it comes from."""
import cmath
import math
import os
import re
import subprocess
import sys
import unittest

import periodic
from periodic import K, T27

T0 = 290
KR = 1.38064852e-23     # Boltzmann's constant of resistors: CODATA 2014
DB = 10 / math.log(10)  # dB of a small relative difference of powers


SWITCH = """`include "disciplines.vams"
`include "constants.vams"
module switch(p, n, c); inout p, n, c; electrical p, n, c; real g;
parameter real sign = 1;
analog begin
  g = 1e-3 * 0.5 * (1 + tanh(25 * (sign * V(c) - 0.3)));
  I(p,n) <+ g * V(p,n) + white_noise(4 * `P_K * $temperature * g, "thermal");
end endmodule
"""
# c1 and c2 with two switches each around an amplifier: see the test of it
INTEGRATOR = """integrator
.hdl sw.va
.model one switch
.model two switch sign=-1
vc c 0 sin(0 1 1meg)
vin in 0 0
n1 in a c one
n2 b 0 c one
c1 a b 10p
n3 a 0 c two
n4 b g c two
e1 out 0 0 g 1e6
cf g out 60p
n5 d 0 c one
n6 e 0 c one
c2 d e 20p
n7 d g c two
n8 e out c two
"""


def check_integrator(test, n, tol):
    """The samples' noise n is the closed form that the test of the integrator derives."""
    kt, r, c1, c2, cf = K * T27, 2e3, 10e-12, 20e-12, 60e-12
    a, k, l1, l2 = cf / (cf + c2), 1 / (r * cf * c2), 1 / (r * c1), (cf + c2) / (r * cf * c2)
    qx = -kt * c1 * k / (l1 + l2)
    xx = -k * qx / l2 + kt * cf / ((cf + c2) * c2)
    e = kt * (c1 + c2) / (cf + c2)**2 + (kt * c1 + 2 * c2 * qx + c2 * c2 * xx) / cf**2
    for f, d in zip(n['frequency'], n['onoise_spectrum']):
        test.close(d * d, 2e-6 * e / abs(1 - a * cmath.exp(-2e-6j * math.pi * f))**2, tol)
    # the middles of 20 equal pieces: the sum is the integral within 2 a^40
    test.close(sum(d * d for d in n['onoise_spectrum']) * 25e3, e / (1 - a * a), tol)


def poles_noise(n, c1, c2, f0, f, by=None, gain=1):
    """The density at f, in V^2/Hz up to f0/2, of the samples that n switched-capacitor poles in a row
    hold, with an ideal amplifier behind each. One switch charges c1 to the input, the other connects it
    to c2, once a period: h' = (c2 h + c1 (input + p))/(c1 + c2) + q/c2. What a switch leaves when it
    opens is thermal: p has kT/c1, the charge q between the two has kT times both in series. Of one pole
    that adds up to kT/c2. by: of each pole, the noise of its switches in parts of the thermal one; gain:
    of each, at 0 Hz."""
    both, kt = c1 + c2, K * T27
    white = 2 / f0 * (c1 / both**2 + c1 / (both * c2)) * kt
    back = cmath.exp(-2j * math.pi * f / f0)
    own = 1 / (1 - c2 / both * back)
    return white * sum((by[n - 1 - k] if by else 1) * abs(own * (gain * c1 / both * back * own)**k)**2
                       for k in range(n))


def integral(f, d):
    return sum((d[k] + d[k + 1]) / 2 * (f[k + 1] - f[k]) for k in range(len(f) - 1))


class Modulation(periodic.Deck):
    # A carrier c of 2 V (X = 1) and its quadrature; slow noise voltages m, m2, and h that is m behind
    # another RC. A carrier moves noise at f + 2 f0 and f - 2 f0 into its sidebands too: M2, M-2.
    DECK = """modulated carriers
vc c 0 sin(0 2 1meg 0 0 90)
vs s 0 sin(0 2 1meg)
r1 m 0 1k
c1 m 0 100n
r2 m2 0 1k
c2 m2 0 100n
b3 h 0 i=(v(h)-v(m))*1m
c3 h 0 100n
%s
.hb 1meg nharms=4
.hbnoise %s lin 3 500 2500 1 sideband=1 modulated
.end
"""

    def low_pass(self, f):
        return 1 / (1 + 2j * math.pi * f * 1e-4)

    def s(self, f):
        return 4 * KR * T27 * 1e3 * abs(self.low_pass(f))**2

    def moved(self, f):
        return self.s(f + 2e6) + self.s(f - 2e6)

    def both(self, source, output='v(o) vc'):
        p = self.run_deck(self.DECK % (source, output))
        return self.plot(p, 'Periodic Noise, Modulation'), self.plot(p, 'Modulation')

    def power(self, got, want):
        self.close(10**(got / 10), want, 1e-9)

    def test_noise_that_multiplies_the_carrier_is_am(self):
        # V_u = M0 + M2, V_l = M0 + M-2: a = M0 + (M2 + M-2) / 2, p the difference
        n, whole = self.both('b1 o 0 v=v(c)*(1+v(m))')
        for k, f in enumerate(n['frequency']):
            self.power(n['amnoise'][k], (self.s(f) + self.moved(f) / 4) / 2)
            self.power(n['pmnoise'][k], self.moved(f) / 4 / 2)
            self.close(n['onoise_spectrum'][k], math.sqrt(self.s(f) + self.s(f + 2e6)), 1e-9)
            self.close(n['onoise_lsb'][k], math.sqrt(self.s(f) + self.s(f - 2e6)), 1e-9)
        self.close(whole['amplitude'][0], 2, 1e-9)
        self.close(whole['carrier'][0], 1e6, 1e-12)

    def test_noise_in_quadrature_is_pm_and_gives_jitter(self):
        # cos - m sin is cos(.. + m) to first order. Between points a power of f stands for the
        # density, whose slope changes from 0.18 to 1.42 there: 5 %.
        n, whole = self.both('b1 o 0 v=v(c)-v(s)*v(m)')
        for k, f in enumerate(n['frequency']):
            self.power(n['pmnoise'][k], (self.s(f) + self.moved(f) / 4) / 2)
            self.power(n['amnoise'][k], self.moved(f) / 4 / 2)
        rms = math.sqrt(integral(range(500, 2501), [self.s(f) for f in range(500, 2501)]))
        self.close(whole['pm_total'][0], rms, 0.05)
        self.close(whole['jitter'][0], whole['pm_total'][0] / (2 * math.pi * 1e6), 1e-12)

    def test_added_noise_is_am_and_pm_in_equal_parts(self):
        # V_u / X + V_l / X* of parts that are independent
        n, _ = self.both('b1 o 0 v=v(c)+v(m)')
        for k, f in enumerate(n['frequency']):
            want = (self.s(1e6 + f) + self.s(1e6 - f)) / 4 / 2
            self.power(n['amnoise'][k], want)
            self.power(n['pmnoise'][k], want)

    def test_independent_noise_of_both_kinds_adds_in_each_sideband(self):
        n, _ = self.both('b1 o 0 v=v(c)*(1+3*v(m))-v(s)*v(m2)')
        for k, f in enumerate(n['frequency']):
            self.close(n['onoise_spectrum'][k], math.sqrt(10 * (self.s(f) + self.s(f + 2e6))), 1e-9)
            self.close(n['onoise_lsb'][k], math.sqrt(10 * (self.s(f) + self.s(f - 2e6))), 1e-9)
            self.power(n['amnoise'][k], (9 * self.s(f) + 10 / 4 * self.moved(f)) / 2)
            self.power(n['pmnoise'][k], (self.s(f) + 10 / 4 * self.moved(f)) / 2)

    def test_correlated_am_and_pm_make_sidebands_differ(self):
        # a = m, p = h = H m: V_u = (1 + j H) M0 + (1 - j H2) M2, V_l = (1 - j H) M0 + (1 + j H-2) M-2;
        # the RC of h is without noise.
        n, _ = self.both('b1 o 0 v=v(c)*(1+v(m))-v(s)*v(h)')
        for k, f in enumerate(n['frequency']):
            h = self.low_pass(f)
            up = abs(1 - 1j * self.low_pass(f + 2e6))**2 * self.s(f + 2e6)
            down = abs(1 + 1j * self.low_pass(f - 2e6))**2 * self.s(f - 2e6)
            self.close(n['onoise_spectrum'][k]**2, abs(1 + 1j * h)**2 * self.s(f) + up, 1e-9)
            self.close(n['onoise_lsb'][k]**2, abs(1 - 1j * h)**2 * self.s(f) + down, 1e-9)
            self.power(n['amnoise'][k], (self.s(f) + (up + down) / 4) / 2)
            self.power(n['pmnoise'][k], (abs(h)**2 * self.s(f) + (up + down) / 4) / 2)

    def parts_add_up(self, noise, whole, device):
        """AM and PM of devices are sums of their sources', and all of the totals (1e-12: roundings);
        integrals of single sources differ from the total's by the power between points."""
        db = lambda x: 10**(x / 10)  # noqa: E731
        for kind in ('amnoise', 'pmnoise'):
            for k in range(len(noise['frequency'])):
                of = {d: db(noise['%s_%s' % (kind, d)][k]) for d in device}
                self.close(sum(of.values()), db(noise[kind][k]), 1e-11)
                for d in device:
                    source = [v[k] for n, v in noise.items() if n.startswith('%s_%s_' % (kind, d))]
                    self.assertTrue(source)
                    self.close(sum(map(db, source)), of[d], 1e-11)
        for kind in ('am_total', 'pm_total'):
            self.close(math.sqrt(sum(whole['%s_%s' % (kind, d)][0]**2 for d in device)),
                       whole[kind][0], 0.05)

    def test_am_and_pm_are_told_apart_by_device(self):
        # m of r1 is amplitude, m2 of r2 is phase: each has the other kind from M2, M-2 only
        deck = self.DECK % ('b1 o 0 v=v(c)*(1+v(m))-3*v(s)*v(m2)', 'v(o) vc')
        p = self.run_deck(deck.replace('2500 1 sideband', '2500 sideband'))
        for name in ('Periodic Noise, Modulation', 'Modulation'):
            self.assertFalse([v for v in self.plot(p, name) if v.endswith('_r1')])  # no points
        p = self.run_deck(deck)
        n, whole = self.plot(p, 'Periodic Noise, Modulation'), self.plot(p, 'Modulation')
        for k, f in enumerate(n['frequency']):
            for name, by, kind, other in (('r1', 1, 'amnoise', 'pmnoise'),
                                          ('r2', 9, 'pmnoise', 'amnoise')):
                self.power(n[kind + '_' + name][k], by * (self.s(f) + self.moved(f) / 4) / 2)
                self.power(n[other + '_' + name][k], by * self.moved(f) / 4 / 2)
        self.parts_add_up(n, whole, ('r1', 'r2'))

    def test_am_and_pm_of_an_lc_oscillator(self):
        # Stationary noise has equal quadratures. The phase keeps them all, the amplitude returns
        # with the rate (a - g) / C of the averaged equation: AM is PM f^2 / (f^2 + fa^2). Averaging
        # is right to (a - g) / (C omega_0) = 1 %; 0.2 dB.
        p = self.run_deck(periodic.LC.replace('r1 a 0 500', 'r1 a 0 1k\nr2 a 0 1k') +
                          '.phasenoise v(a) dec 2 100k 100meg 1\n.end\n')
        n, o = self.plot(p, 'Phase Noise'), self.plot(p, 'Oscillator')
        self.parts_add_up(n, o, ('r1', 'r2'))
        fa = (2.3e-3 - 2e-3) / (2 * math.pi * 1e-12)
        powers = []
        for f, am, pm, ppv in zip(n['frequency'], n['amnoise'], n['pmnoise'], n['phnoise_ppv']):
            self.assertLess(abs(pm - ppv), 0.2)
            self.assertLess(abs(am - pm - 10 * math.log10(f * f / (f * f + fa * fa))), 0.2)
            powers.append(2 * 10**(pm / 10))
        # 1/f^2 is integrated exactly: S f1 (1 - f1 / f2); PM departs from it by 0.2 dB = 5 % at most
        want = math.sqrt(powers[0] * 1e5 * (1 - 1e-3))
        self.close(o['pm_total'][0], want, 0.05)
        self.close(o['jitter'][0], o['pm_total'][0] / (2 * math.pi * o['frequency0'][0]), 1e-12)


class Samples(periodic.Deck):
    def test_samples_of_stationary_noise_fold(self):
        # An RC beside a clock: the sum of its spectrum over all harmonics that are kept, exactly.
        deck = """RC beside a clock
vclk clk 0 sin(0 1 1meg)
rc clk 0 1k
vin in 0 0
r1 in out 1k
c1 out 0 60p
.hb 1meg nharms=30
.hbnoise v(out) vin lin 5 50k 450k strobe=%s
.end
"""
        for instant in ('0', '0.3u', '7.81u'):
            p = self.run_deck(deck % instant)
            n, whole = self.plot(p, 'Periodic Noise, Samples'), self.plot(p, 'Sampled Noise')
            for f, d in zip(n['frequency'], n['onoise_spectrum']):
                want = sum(4 * KR * T27 * 1e3 / (1 + (2 * math.pi * (f + q * 1e6) * 60e-9)**2)
                           for q in range(-30, 31))
                self.close(d, math.sqrt(want), 1e-9)
            self.close(whole['instant'][0], float(instant.replace('u', 'e-6')) % 1e-6, 1e-9, 1e-6)

    def test_kt_over_c_of_a_track_and_hold(self):
        # In equilibrium a sample has kT/C at any instant, whatever the conductance does. Noise
        # beyond 200 harmonics of the 2.65 MHz of the closed switch is left out: 2/pi fc/f = 0.85 %.
        self.write('sw.va', periodic.CHOPPER)
        p = self.run_deck("""track and hold
.hdl sw.va
.model ch chopper
vc c 0 sin(0 1 1meg)
vin in 0 0
n1 in out c ch
c1 out 0 60p
.hb 1meg nharms=200
.hbnoise v(out) vin lin 8 1k 500k strobe=0.25u
.hbnoise v(out) vin lin 8 1k 500k strobe=0.75u
.end
""")
        for k, instant in enumerate(('closed', 'held')):
            with self.subTest(switch=instant):
                n = self.plot(p, 'Periodic Noise, Samples', k)
                square = [x * x for x in n['onoise_spectrum']]
                total = integral((0, *n['frequency']), [square[0]] + square)
                self.close(total, K * T27 / 60e-12, 0.01)
                self.close(self.plot(p, 'Sampled Noise', k)['onoise_total'][0], math.sqrt(total), 0.005)

    def test_a_leaky_switched_capacitor_integrator(self):
        # c1 is charged to the input (0 V) in the first phase, c2 emptied; in the second one both go
        # to the virtual ground, c2 beside cf. All have two switches in series, r together. A held
        # sample is v' = a v + e, a = cf/(cf + c2), e independent of what was before. e: charges of
        # kT c1 and kT c2 of the first phase, shared by cf and c2, and what moves in the second one
        # when the switches open. That is the stationary state of
        #     q' = -l1 q + noise (kT c1),  x' = -l2 x - k q + noise,  charge of cf: -q - c2 x
        # with the charge q of c1, the voltage x of c2 and k = 1/(r cf c2). It is the same whatever
        # the conductance of all switches does while they open. Half a period is 10 r c2: settled
        # within e^-10. 1 %: of samples taken at once, 2/pi 8 MHz/100 MHz would be left out of the
        # noise of c1; switches that open over 20 ns leave less.
        self.write('sw.va', SWITCH)
        p = self.run_deck(INTEGRATOR + '''.hb 1meg nharms=100
.hbnoise v(out) vin lin 20 12.5k 487.5k strobe=0
.end
''')
        check_integrator(self, self.plot(p, 'Periodic Noise, Samples'), 0.01)

    CROSSING = """a sine with noise through levels
vs s 0 sin(0 2 1meg)
r1 m 0 1k
c1 m 0 1n
b1 o 0 v=v(s)+v(m)
.hb 1meg nharms=8
.hbnoise v(o) vs lin 4 100k 400k %s
.end
"""

    def test_jitter_of_a_crossing_is_noise_over_slope(self):
        # 2 sin passes 1 V at 1/12 and 5/12 of the period, with slopes of +- 2 omega cos 30 degrees
        slope = 2 * 2e6 * math.pi * math.cos(math.pi / 6)
        for card, instant, sign in (('cross=1', 1 / 12, 1), ('cross=1 rise=1', 1 / 12, 1),
                                    ('cross=1 fall=1', 5 / 12, -1), ('cross=-1 fall=1', 7 / 12, -1)):
            with self.subTest(card=card):
                p = self.run_deck(self.CROSSING % card)
                n, whole = self.plot(p, 'Periodic Noise, Samples'), self.plot(p, 'Sampled Noise')
                self.close(whole['instant'][0], instant * 1e-6, 1e-9)
                self.close(whole['slope'][0], sign * slope, 1e-9)
                for d, j in zip(n['onoise_spectrum'], n['jitter_spectrum']):
                    self.close(j, d / slope, 1e-9)
                self.close(whole['jitter'][0], whole['onoise_total'][0] / slope, 1e-9)

    def test_phase_noise_of_the_carrier_is_the_jitter_of_its_crossing(self):
        # Slow noise of the phase alone: the crossing moves by p / omega. Noise at the other
        # multiples of the frequency is below (1.6 kHz / 1 MHz)^2 = 3e-6 of it each: 2e-5 in all.
        deck = """phase
vc c 0 sin(0 2 1meg 0 0 90)
vs s 0 sin(0 2 1meg)
r1 m 0 1k
c1 m 0 100n
b1 o 0 v=v(c)-v(s)*v(m)
.hb 1meg nharms=2
.hbnoise v(o) vc lin 2 100 400 %s
.end
"""
        pm = self.plot(self.run_deck(deck % 'modulated sideband=1'), 'Periodic Noise, Mod')['pmnoise']
        at = self.plot(self.run_deck(deck % 'cross=0 fall=1'), 'Periodic Noise, Samples')
        for j, p in zip(at['jitter_spectrum'], pm):
            self.close(j, math.sqrt(2 * 10**(p / 10)) / (2e6 * math.pi), 2e-5)


class Scattering(periodic.Deck):
    LINEAR = """an amplifier's noise and scattering beside an unrelated drive
v1 in 0 dc 0 portnum 1 z0 50
r1 in a 30
c1 a 0 10p
g1 0 b a 0 20m
r2 b 0 300
c2 a b 0.5p
l2 b out 10n
v2 out 0 dc 0 portnum 2 z0 75
v3 big 0 sin(0 5 700meg)
d1 big x dd
r3 x 0 1k
c3 x 0 2p
.model dd d is=1e-14 cjo=1p rs=5
.hb 700meg nharms=12
"""

    def test_a_linear_circuit_beside_a_drive_is_that_of_sp(self):
        for harm, shift in (('', 0), (' harms=1 1', 700e6), (' harms=2 2', 1400e6)):
            with self.subTest(harms=harm):
                p = self.run_deck(self.LINEAR + f""".hbsp lin 4 10meg 400meg{harm} donoise
.sp lin 4 {10e6 + shift} {400e6 + shift} donoise
.end
""")
                orbit, sp = self.plot(p, 'Periodic SP'), self.plot(p, 'SP Analysis')
                for k in range(4):
                    for name in ('s_1_1', 's_1_2', 's_2_1', 's_2_2'):
                        self.close(orbit[name][k], sp[name][k], 1e-9)
                    for name in ('nf', 'nfieee', 'nfdsb'):
                        self.assertLess(abs(orbit[name][k] - sp['nf'][k]), 1e-9 * DB * 10)
                    # differences of S, whose entries are of the size of 1, beside 1 - S and 1 + S
                    for name in ('y', 'z', 'cy'):
                        size = max(abs(sp[f'{name}_{i}_{j}'][k]) for i in (1, 2) for j in (1, 2))
                        for i in (1, 2):
                            for j in (1, 2):
                                at = f'{name}_{i}_{j}'
                                self.close(orbit[at][k], sp[at][k], 1e-8, size)
                    for name in ('sopt', 'nfmin', 'rn'):
                        self.close(orbit[name][k], sp[name][k], 1e-7)
        p = self.run_deck(self.LINEAR + '.hbsp lin 2 10meg 20meg harms=1\n.end\n')
        self.assertEqual([abs(v) < 1e-12 for v in self.plot(p, 'Periodic SP')['s_2_1']], [True, True])

    def test_an_ideal_mixer_with_matched_ports(self):
        # 2 v cos into 50 ohm: S_21 = 1/2 from both sidebands. The matching resistors give kT from
        # each sideband and kT at the output; port 1 gives kT0.
        p = self.run_deck("""multiplier
v1 rf 0 dc 0 portnum 1 z0 50
r1 rf 0 50
vlo lo 0 sin(0 1 1g 0 0 90)
b1 m 0 v=2*v(rf)*v(lo)
r2 m if 50
v2 if 0 dc 0 portnum 2 z0 50
.hb 1g nharms=3
.hbsp lin 2 1meg 10meg harms=1 0 donoise
.hbsp lin 2 1meg 10meg harms=-1 0
.hbsp lin 2 1meg 10meg
.meas hbsp gain max vdb(s_2_1)
.end
""")
        up, image, straight = (self.plot(p, 'Periodic SP', k) for k in range(3))
        t = KR * T27 / (K * T0)
        for k in range(2):
            for name, want in (('s_1_1', 0), ('s_2_1', 0.5), ('s_1_2', 0), ('s_2_2', 0)):
                self.close(up[name][k], want, 1e-9, 1)
            self.close(image['s_2_1'][k], 0.5, 1e-9)
            self.close(straight['s_2_1'][k], 0, 1e-9, 1)
            for name, want in (('nf', 2 + 6 * t), ('nfieee', 1 + 6 * t), ('nfdsb', 1 + 3 * t)):
                self.close(up[name][k].real, 10 * math.log10(want), 1e-9)
            # Of unilateral ports with S_21 = 1/2: 50 Y = 1, 0, -1, 1. What reaches the shorted port 2
            # is r2's 4kT/50 and r1's at the image, 4kT/200; chain currents and voltages of both give
            # |u|^2 = 62.5 4kT, u i* = |u|^2/50, |i|^2 = 0.045 4kT.
            for name, want in (('y_1_1', 1), ('y_1_2', 0), ('y_2_1', -1), ('y_2_2', 1),
                               ('z_2_1', 2500), ('z_2_2', 2500), ('z_1_2', 0)):
                self.close(up[name][k], want / 50, 1e-9, 50 if name[0] == 'z' else 0.02)
            yopt = math.sqrt(0.045 / 62.5)
            self.close(up['rn'][k], 62.5 * t, 1e-9)
            self.close(up['nfmin'][k].real, 10 * math.log10(1 + 2 * t * (1.25 + 62.5 * yopt)), 1e-9)
            self.close(up['sopt'][k], (0.02 - yopt) / (0.02 + yopt), 1e-8)

    def test_a_conductance_that_is_modulated_reflects_to_other_frequencies(self):
        # At port 1: y = y0 (1 + m cos). With harmonics -1, 0, 1 alone the waves are those of
        # (1 - z Y)(1 + z Y)^-1 of the matrix of conversion.
        p = self.run_deck("""reflection
vlo lo 0 sin(0 1 1g 0 0 90)
v1 a 0 dc 0 portnum 1 z0 50
b1 a 0 i=v(a)*10m*(1+0.8*v(lo))
.hb 1g nharms=1
.hbsp lin 1 1meg 1meg
.end
""")
        z, m = 0.5, 0.8  # z y0
        # (1 + zY) u = 1 at the middle of three: u0 = 1 / (1 + z - 2 (z m / 2)^2 / (1 + z)), S = 2 u0 - 1
        u0 = 1 / (1 + z - 2 * (z * m / 2)**2 / (1 + z))
        self.close(self.plot(p, 'Periodic SP')['s_1_1'][0], 2 * u0 - 1, 1e-9)

    def test_a_port_at_three_harmonics(self):
        # the whole matrix of the conductance above: u = (1 + zY)^-1 e_j, S_ij = 2 u_i - (i = j). With
        # a = 1 + z, b = z m / 2: u of a drive at one side is (a^2 - b^2, -a b, b^2) / a / (a^2 - 2 b^2).
        p = self.run_deck("""reflection
vlo lo 0 sin(0 1 1g 0 0 90)
v1 a 0 dc 0 portnum 1 z0 50
b1 a 0 i=v(a)*10m*(1+0.8*v(lo))
v2 q 0 dc 0 portnum 2 z0 50
rq q 0 150
.hb 1g nharms=1
.hbsp lin 1 1meg 1meg harms=(-1 0 1)
.end
""")
        s = self.plot(p, 'Periodic SP')
        a, b = 1.5, 0.5 * 0.8 / 2
        size = a * a - 2 * b * b
        u = [[x / a / size for x in (a * a - b * b, -a * b, b * b)], [-b / size, a / size, -b / size]]
        u.append(u[0][::-1])
        for i in range(4):
            for j in range(4):
                want = 0.5 * (i == j) if 3 in (i, j) else 2 * u[j][i] - (i == j)
                self.close(s['s_%d_%d' % (i + 1, j + 1)][0], want, 1e-9, 1)

    def test_a_mixer_from_both_bands(self):
        p = self.run_deck("""multiplier
v1 rf 0 dc 0 portnum 1 z0 50
r1 rf 0 60
vlo lo 0 sin(0 1 1g)
b1 m 0 v=2*v(rf)*v(lo)
r2 m if 50
c1 if 0 1p
v2 if 0 dc 0 portnum 2 z0 50
.hb 1g nharms=3
.hbsp lin 2 1meg 10meg harms=(1 -1) 0
.hbsp lin 2 1meg 10meg harms=1
.hbsp lin 2 1meg 10meg harms=-1 0
.end
""")
        both, up, image = (self.plot(p, 'Periodic SP', k) for k in range(3))
        for k in range(2):
            for one, other in (('s_1_1', up['s_1_1']), ('s_3_1', up['s_2_1']), ('s_1_3', up['s_1_2']),
                               ('s_3_3', up['s_2_2']), ('s_2_2', image['s_1_1']), ('s_3_2', image['s_2_1'])):
                self.close(both[one][k], other[k], 1e-12, 1)

    def test_touchstone_has_the_ports_at_their_harmonics(self):
        # renormalised to 50 ohm as the file of .sp, where nothing converts
        self.write('deck.sp', self.LINEAR + """.hbsp lin 4 10meg 400meg harms=1 (1 2)
.sp lin 4 710meg 1100meg
.end
""")
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', '--touchstone', 'net', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.read('net.hbsp.s3p')
        self.assertEqual(re.findall('(?m)^! (Port.*)', text),
                         ['Port %d: port %d, %s, at the frequency +%d x 700000000 Hz' % row
                          for row in ((1, 1, 'v1', 1), (2, 2, 'v2', 1), (3, 2, 'v2', 2))])
        self.assertIn('\n# Hz S RI R 50\n', text)

        def rows(name, n): # [frequency, values] of each point
            x = [float(w) for line in self.read(name).split('\n') if line[:1] not in '!#' for w in line.split()]
            x = [x[i:i + 1 + 2 * n] for i in range(0, len(x), 1 + 2 * n)]
            return [(r[0], [complex(*r[i:i + 2]) for i in range(1, 2 * n, 2)]) for r in x]
        orbit, sp = rows('net.hbsp.s3p', 9), rows('net.s2p', 4)
        self.assertEqual([f for f, _ in orbit], [10e6, 140e6, 270e6, 400e6])
        for (_, s), (_, want) in zip(orbit, sp):
            for i, j, k in ((0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3)): # of two ports: 11 21 12 22
                self.close(s[3 * i + j], want[k], 1e-9)
            self.close(abs(s[2]) + abs(s[5]) + abs(s[6]) + abs(s[7]), 0, 1e-9, 1)


class Sweeps(periodic.Deck):
    def test_measures_and_prints_over_steps(self):
        # the density of a resistor at each of its values; gain and figures by their names
        self.write('deck.sp', """steps
.param r=1k
vs s 0 sin(0 2 1meg)
r1 m 0 {r}
b1 o 0 v=v(s)+v(m)
v1 p1 0 portnum 1 z0 50
v2 p2 0 portnum 2 z0 50
r2 p1 p2 100
.hb 1meg nharms=1
.hbnoise v(o) vs lin 2 100k 400k strobe=0
.hbsp lin 2 100k 400k
.meas hbnoise s max onoise_spectrum
.meas hbsp g max mag(s_2_1)
.print hbsp db(s_2_1)
.step param r list 1k 4k
.end
""")
        done = subprocess.run([periodic.VSIM, 'deck.sp', '-o', 'out.txt', '-r', 'out.raw'],
                              cwd=self.tmp.name, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path('out.txt'), encoding='utf-8') as f:
            text = f.read() + done.stdout
        # samples fold the three harmonics that are kept; 2 z0 / (2 z0 + r2) = 1/2
        rows = [line.split() for line in text.splitlines() if re.match(r' +[12]  [14]000 ', line)]
        self.assertEqual([row[1] for row in rows], ['1000', '4000'])
        for _, r, s, g in rows:
            self.close(float(s), math.sqrt(3 * 4 * KR * T27 * float(r)), 1e-6)  # as printed
            self.assertEqual(g, '0.5')
        self.assertEqual(text.count('-6.02060e+00'), 4)


class Wrong(periodic.Deck):
    def test_bad_input(self):
        rc = 'deck\nv1 in 0 sin(0 1 1meg)\nr1 in out 1k\nc1 out 0 1n\n.hb 1meg nharms=3\n%s\n.end\n'
        noise = '.hbnoise v(out) v1 lin 2 1k 100k '
        for card, text in (
                (noise + 'modulated', 'sideband=1 or more'),
                (noise + 'modulated sideband=2', 'has no harmonic 2'),
                (noise + 'modulated sideband=9', 'the orbit has 3 harmonics'),
                (noise + 'modulated strobe=1u', 'one of modulated, strobe= and cross='),
                (noise + 'strobes=1u', 'sideband=, modulated, strobe=, cross= or method='),
                (noise + 'cross=0.5', 'moves from'),
                (noise + 'cross=0 rise=2', 'rise=2 is not there'),
                (noise + 'cross=0 fall=0', 'the number of an edge'),
                ('.hbnoise v(out) v1 lin 2 1k 600k strobe=0', 'half of the orbit'),
                ('.hbsp lin 2 1k 10k', '.hbsp needs ports'),
                ('vp q 0 portnum 1 z0 50\nrq q 0 1\n.hbsp lin 2 1k 10k harms=1 2', 'harms= is about 2 ports, the deck has 1'),
                ('vp q 0 portnum 1 z0 50\nrq q 0 1\n.hbsp lin 2 1k 10k harms=9', 'the orbit has 3 harmonics'),
                ('vp q 0 portnum 1 z0 50\nrq q 0 1\n.hbsp lin 2 1k 10k harms=0.5', 'the harmonic of a port'),
                ('.phasenoise v(out) lin 2 1k 10k', "'modulated'")):
            with self.subTest(card=card):
                self.assertIn(text, self.run_deck(rc % card, code=1))


if __name__ == '__main__':
    periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
