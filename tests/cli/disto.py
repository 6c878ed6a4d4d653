#!/usr/bin/env python3
"""Distortion of small signals (.disto) against closed forms and harmonic balance.

    disto.py VSIM [test...]

ngspice's own, live: small.py. Each bound says where it comes from."""
import cmath
import math
import os
import subprocess
import sys
import unittest

import periodic

DIODE = """diode
v1 in 0 dc 0.75 %s
r1 in a 1k
d1 a 0 dd
.model dd d is=1e-14 cjo=2p rs=5 tt=1n
"""
BIPOLAR = """stage
vcc vcc 0 5
v1 in 0 dc 0.72 %s
r1 in b 200
q1 a b 0 qn
r2 vcc a 1k
.model qn npn is=1e-16 bf=100 vaf=50 cje=1p cjc=0.5p tf=0.2n rb=50
"""
MOS = """stage
vdd vdd 0 3
v1 in 0 dc 1 %s
r1 in g 1k
m1 a g 0 0 nm w=10u l=1u
r2 vdd a 20k
.model nm nmos level=1 vto=0.6 kp=100u gamma=0.4 phi=0.65 lambda=0.02 tox=20n rd=100 rs=100
"""


class Disto(periodic.Deck):
    def plots_of(self, deck):
        return [p for n, p in self.run_deck(deck) if n.startswith('DISTORTION')]

    def cubic(self, card):
        """Amplitudes X, Y by closed form, and the plots."""
        g, c, g2, g3 = 1e-3, 1e-9, 2e-4, 5e-5
        p = self.plots_of("""cubic
v1 in 0 distof1 0.5 30
v2 x in distof2 0.25 -60
r1 x a 1k
b1 a 0 i=2e-4*v(a)^2+5e-5*v(a)^3
c1 a 0 1n
%s
.end
""" % card)
        return (lambda f: g + 2j * math.pi * f * c), g, g2, g3, p

    def test_harmonics_of_a_cubic_conductance(self):
        # 1e-7: second differences over 3 mV round by 1e-16 / 1e-5 of r1's 1 mS, where the cube's
        # part, 6 g3 |X|^2 (3 mV / |X|)^2, is 3e-9 S
        adm, g, g2, g3, p = self.cubic('.disto dec 2 10k 1meg')
        self.assertEqual(len(p), 2)
        for k, f in enumerate(p[0]['frequency']):
            f = f.real
            x = 0.5 * cmath.exp(1j * math.pi / 6) * g / adm(f)
            x2 = -0.5 * g2 * x * x / adm(2 * f)
            x3 = -(g2 * x * x2 + 0.25 * g3 * x ** 3) / adm(3 * f)
            self.close(p[0]['v(a)'][k], x2, 1e-7)
            self.close(p[1]['v(a)'][k], x3, 1e-7)

    def test_products_of_two_tones_in_a_cubic_conductance(self):
        adm, g, g2, g3, p = self.cubic('.disto dec 2 10k 1meg 0.7')
        self.assertEqual(len(p), 3)
        f2 = 7e3
        y = 0.25 * cmath.exp(-1j * math.pi / 3) * g / adm(f2)
        for k, f in enumerate(p[0]['frequency']):
            f = f.real
            x = 0.5 * cmath.exp(1j * math.pi / 6) * g / adm(f)
            x2 = -0.5 * g2 * x * x / adm(2 * f)
            m = -g2 * x * y.conjugate() / adm(f - f2)
            third = -(g2 * (x * m + y.conjugate() * x2) + 0.75 * g3 * x * x * y.conjugate())
            self.close(p[0]['v(a)'][k], -g2 * x * y / adm(f + f2), 1e-7)
            self.close(p[1]['v(a)'][k], m, 1e-7)
            self.close(p[2]['v(a)'][k], third / adm(2 * f - f2), 1e-7)

    def test_devices_as_in_harmonic_balance_of_a_small_drive(self):
        # at 1 mV the terms of higher order are (1 mV / 25 mV)^2 of those that are compared, less
        # where resistors take some of the drive; of MOS at 10 mV (10 mV / 0.4 V)^2
        for deck, drive, reltol in ((DIODE, '1m', '1e-9'), (BIPOLAR, '1m', '1e-9'),
                                    (MOS, '10m', '1e-8')):
            p = self.plots_of(deck % f'distof1 {drive}' + '.disto lin 1 10meg 10meg\n.end\n')
            hb = self.plot(self.run_deck(
                deck % ('sin(%s %s 10meg 0 0 90)' % (deck.split('dc ')[1].split(' ')[0], drive)) +
                f'.options reltol={reltol} vntol=1e-14 abstol=1e-17\n'
                '.hb 10meg nharms=6\n.end\n'), 'Harmonic')
            for order in (2, 3):
                self.close(p[order - 2]['v(a)'][0], hb['v(a)'][order], 2e-3)

    def test_cards_commands_and_steps(self):
        text = """stepped
.param g=1m
v1 in 0 distof1 1
r1 in a 1k
b1 a 0 i=g*v(a)^2
.disto lin 1 1k 1k
.meas disto third max vm(a)
.step param g list 1m 2m
.end
"""
        self.write('deck.sp', text)
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        third = [float(line.split()[-1]) for line in done.stdout.splitlines()
                 if line.split()[:1] in (['1'], ['2'])]
        # X3 = g2 X X2 / A with X2 = g2 X^2 / 2 A: (1k g)^2 / 2 of 1 V
        self.assertEqual(['%.6g' % y for y in third], ['0.5', '2'], done.stdout)
        self.write('deck.sp', 'none\nv1 a 0 ac 1\nr1 a 0 1k\n.disto dec 1 1k 10k\n.end\n')
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300)
        self.assertIn('no source has a distof1 value', done.stderr)


if __name__ == '__main__':
    periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
