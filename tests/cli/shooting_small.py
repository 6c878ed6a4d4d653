#!/usr/bin/env python3
"""Small signals in time on orbits of shooting (.pss method=shooting, then .hbac .hbnoise .hbsp) against
closed forms, .ac, .noise and .sp beside an unrelated drive, and harmonic balance.

    shooting_small.py VSIM [test...]

Each bound says where it comes from."""
import cmath
import math
import os
import subprocess
import sys
import unittest

import orbit_noise
import periodic
import shooting

PULSES = 'vd d 0 pulse(-1 1 0 5n 5n 495n 1u)\nrd d e 1k\ncd e 0 1n\nd1 e 0 dm\n.model dm d is=1e-14\n'
# G0 (1 + m cos), C and a source of 1 A at f: sidebands of v solve a tridiagonal system
MODULATED = """conductance that is modulated
vlo lo 0 sin(0 1 1meg 0 0 90)
i1 0 a dc 0 ac 1
b1 a 0 i=v(a)*1m*(1+0.8*v(lo))
c1 a 0 100p
.options reltol=%g
"""


def sidebands(f, n=60):
    """v at sidebands -1, 0, 1 of MODULATED: elimination from both ends of a long chain."""
    g, side = 1e-3, 0.4e-3
    own = [g + 2j * math.pi * (f + k * 1e6) * 100e-12 for k in range(-n, n + 1)]
    up = down = 0
    for k in range(n):  # admittance that the chain beyond shows
        up = side * side / (own[2 * n - k] - up)
        down = side * side / (own[k] - down)
    v = 1 / (own[n] - up - down)
    return -v * down / side, v, -v * up / side


class Small(periodic.Deck):
    def test_a_linear_circuit_beside_a_drive_is_that_of_ac_and_noise(self):
        # constant envelopes are exact whatever the steps are: rounding, of v(c) 1e-8 of v(in) at 100 MHz
        p = self.run_deck('linear\n' + PULSES + """v1 in 0 dc 2 ac 3
c3 in 0 1n
r1 in a 50 kf=1e-15 af=1
l1 a b 3u
c1 b 0 1n
r2 b 0 60
l2 b c 100u
c2 c 0 250p
r3 c 0 10k
.pss 1meg 2u e 65 10 method=shooting
.hbac dec 3 1k 100meg
.hbnoise v(c) v1 dec 3 1k 100meg 1
.hbnoise v(b) v1 lin 3 0.1meg 0.9meg 1 sideband=2
.ac dec 3 1k 100meg
.noise v(c) v1 dec 3 1k 100meg 1
.noise v(b) v1 lin 3 2.1meg 2.9meg 1
.end
""")
        orbit, ac = self.plot(p, 'Periodic AC'), self.plot(p, 'AC')
        for k in range(len(ac['frequency'])):
            for name in ('v(in)', 'v(a)', 'v(b)', 'v(c)', 'i(l1)', 'i(v1)'):
                self.close(orbit[name][k], ac[name][k], 1e-9)
                self.close(orbit[name + '[1]'][k], 0, 1e-9, abs(ac[name][k]))
        for i in range(2):
            orbit, noise = self.plot(p, 'Periodic Noise', i), self.plot(p, 'Noise Spectral', i)
            for k in range(len(noise['frequency'])):
                for name in ('onoise_spectrum', 'onoise_r1', 'onoise_r1_thermal', 'onoise_r1_1overf',
                             'onoise_r2', 'onoise_r3') + (() if i else ('inoise_spectrum',)):
                    self.close(orbit[name][k], noise[name][k], 1e-9)
        self.assertEqual(sorted(set(orbit) - set(noise)), [])

    def test_what_a_period_does_not_forget_is_that_of_ac_and_noise(self):
        # 40 resonators that ring for periods: about as many products as rows with charge, more
        # than are tried before columns precondition. Constant envelopes are exact; Q makes of rounding 1e-9
        rings = ''.join('l%d n%d m%d %gu\nr%d m%d n%d 1\nc%d n%d 0 1n\n' % (k, k, k, 2 + 0.1 * k, k, k, k + 1, k, k + 1)
                        for k in range(40))
        p = self.run_deck('rings\n' + PULSES + 'v1 in 0 ac 1\nrin in n0 1\n' + rings + """.pss 1meg 2u e 65 10 method=shooting
.hbac lin 3 110k 1.3meg
.hbnoise v(n40) v1 lin 3 110k 1.3meg 1
.ac lin 3 110k 1.3meg
.noise v(n40) v1 lin 3 110k 1.3meg 1
.end
""")
        orbit, ac = self.plot(p, 'Periodic AC'), self.plot(p, 'AC')
        noise, want = self.plot(p, 'Periodic Noise'), self.plot(p, 'Noise Spectral')
        for k in range(3):
            self.close(orbit['v(n40)'][k], ac['v(n40)'][k], 1e-8)
            self.close(noise['onoise_spectrum'][k], want['onoise_spectrum'][k], 1e-8)

    def test_scattering_beside_a_drive_is_that_of_sp(self):
        ports = 'v1 a 0 dc 0 portnum 1 z0=50\nv2 b 0 dc 0 portnum 2 z0=75\nl1 a b 30n\nc1 b 0 3p\nr1 a b 500\n'
        p = self.run_deck('ports\n' + PULSES + ports + """.pss 1meg 2u e 65 10 method=shooting
.hbsp lin 3 10meg 400meg harms=2 2 donoise
.sp lin 3 12meg 402meg donoise
.end
""")
        orbit, sp = self.plot(p, 'Periodic SP'), self.plot(p, 'SP Analysis')
        for k in range(3):
            for name in ('s_1_1', 's_1_2', 's_2_1', 's_2_2'):
                self.close(orbit[name][k], sp[name][k], 1e-9, 1)
            for name in ('y', 'z', 'cy'):
                size = max(abs(sp['%s_%d_%d' % (name, i, j)][k]) for i in (1, 2) for j in (1, 2))
                for at in ('_1_1', '_1_2', '_2_1', '_2_2'):
                    self.close(orbit[name + at][k], sp[name + at][k], 1e-8, size)
            for name in ('nf', 'nfieee', 'nfdsb'):
                self.close(orbit[name][k], sp['nf'][k], 1e-8, 1)

    def test_a_modulated_conductance_to_the_order_of_the_rule(self):
        # 4, 60 and 120 harmonics ask for 128, 256 and 512 samples, which halvings=0 takes as steps: of
        # order 4 the error falls to 1/16. As the next order counts too: 8 to 32, until rounding. Steps
        # that follow reltol miss no more than that.
        miss = []
        for n in (4, 60, 120):
            p = self.run_deck(MODULATED % 1e-3 + '.pss 1meg 0 lo 65 %d method=shooting integration=trap halvings=0\n'
                              '.hbac lin 1 370k 370k\n.end\n' % n)
            z = self.plot(p, 'Periodic AC')
            got = [z[name][0] for name in ('v(a)[-1]', 'v(a)', 'v(a)[1]')]
            miss.append(max(abs(x - y) for x, y in zip(got, sidebands(370e3))) / abs(got[1]))
        for a, b in zip(miss, miss[1:]):
            self.assertTrue(8 < a / b < 32 or b < 1e-11, miss)
        p = self.run_deck(MODULATED % 1e-6 + '.pss 1meg 0 lo 65 4 method=shooting\n.hbac dec 2 1k 10meg\n.end\n')
        z = self.plot(p, 'Periodic AC')
        for k, f in enumerate(z['frequency']):
            for name, want in zip(('v(a)[-1]', 'v(a)', 'v(a)[1]'), sidebands(f.real)):
                self.close(z[name][k], want, 1e-6, abs(z['v(a)'][k]))

    def test_an_ideal_sampler(self):
        # pulses e^(3 sin - 3): sideband k of v(out) is the Fourier coefficient e^-3 I_k(3) (-j)^k
        p = self.run_deck("""sampler
vc c 0 sin(0 1 1meg)
v1 in 0 dc 0 ac 1
b1 out 0 v=v(in)*exp(3*v(c)-3)
r1 out 0 1k
.options reltol=1e-6
.pss 1meg 0 c 65 20 method=shooting
.hbac lin 3 10k 400k sidebands=5
.end
""")
        z = self.plot(p, 'Periodic AC')
        for k in range(-5, 6):
            bessel = sum((1.5)**(2 * m + abs(k)) / math.factorial(m) / math.factorial(m + abs(k)) for m in range(40))
            for got in z['v(out)' + ('[%d]' % k if k else '')]:
                self.close(got, math.exp(-3) * bessel * (-1j)**k, 1e-6, math.exp(-3) * 4.88)

    def test_a_mixer_is_what_harmonic_balance_finds(self):
        # harmonic balance with 80 harmonics has 1e-10 of those of 160; steps miss reltol at most
        deck = """mixer
v1 a 0 dc 0 ac 1 portnum 1 z0=50
v2 b 0 dc 0 portnum 2 z0=50
vl l 0 sin(0 1 1meg)
b1 a b i=v(a,b)*10m/(1+exp(-20*v(l)))
c1 b 0 100p
c2 a 0 20p
r1 a c 300
d1 c 0 dm
.model dm d is=1e-12 cjo=5p kf=1e-14
v3 x 0 sin(0.3 0.4 1meg)
r2 x c 100
.options reltol=1e-6 vntol=1e-9 abstol=1e-13
"""
        after = """.hbac lin 3 10k 400k sidebands=2
.hbsp lin 3 10k 400k harms=1 0 donoise
.hbnoise v(b) v1 lin 3 10k 400k 1 sideband=1
.hbnoise v(c) v1 lin 3 10k 400k 1 modulated sideband=1
.end
"""
        a = self.run_deck(deck + '.hb 1meg nharms=80\n' + after)
        b = self.run_deck(deck + '.pss 1meg 2u b 65 20 method=shooting\n' + after)
        for name in ('Periodic AC', 'Periodic SP', 'Periodic Noise', 'Periodic Noise, Modulation', 'Modulation'):
            v, w = self.plot(a, name), self.plot(b, name)
            self.assertEqual(list(v), list(w))
            for x in v:
                self.assertEqual(len(v[x]), len(w[x]))
                for y, z in zip(v[x], w[x]):
                    if cmath.isfinite(y) or cmath.isfinite(z):
                        # decibel of power: 4.34e-6; some entries are 0 to rounding
                        size = max([abs(q) for q in v[x] if cmath.isfinite(q)])
                        self.close(y, z, 1e-5, max(size, 1e-9 if name in ('Periodic AC', 'Periodic SP') else 0))

    def test_1_over_f_noise_at_multiples_of_the_frequency(self):
        # That from 0 Hz is left out, by both, also where rounding of the grid leaves something of 0 Hz.
        deck = """a diode with 1/f noise
v1 in 0 dc 0.6 sin(0.6 0.3 1meg) ac 1
r1 in a 1k
d1 a b dm
r2 b 0 2k
c1 b 0 20p
.model dm d is=1e-14 rs=10 cjo=1p kf=1e-14 af=1
.options reltol=1e-5
.pss 1meg 5u b 64 60 method=shooting
.hbnoise v(b) v1 dec 3 1k 10meg method=%s
.end
"""
        a, b = (self.plot(self.run_deck(deck % m), 'Periodic Noise')['onoise_spectrum'] for m in ('shooting', 'hb'))
        for x, y in zip(a, b):
            self.close(x, y, 1e-5)

    def test_the_adjoint_and_the_answer_are_the_same_gain(self):
        p = self.run_deck(shooting.RECTIFIER.replace('v1 in 0', 'v1 in 0 ac 1') + """.options reltol=1e-5
.pss 1meg 2u out 65 20 method=shooting
.hbac dec 1 1k 1meg
.hbnoise v(out) v1 dec 1 1k 1meg
.end
""")
        z, n = self.plot(p, 'Periodic AC'), self.plot(p, 'Periodic Noise')
        for k in range(4):
            self.close(n['onoise_spectrum'][k] / n['inoise_spectrum'][k], abs(z['v(out)'][k]), 1e-5)

    def test_a_leaky_switched_capacitor_integrator(self):
        # orbit_noise.py has the closed form; here the clock has edges of 10 ns, and the sample is in the
        # middle of one, with all switches open. No harmonics are chosen: what is left is reltol, and that
        # half a period settles within e^-10. Densities: twice that of amplitudes, 0.2 % each.
        self.write('sw.va', orbit_noise.SWITCH)
        p = self.run_deck(orbit_noise.INTEGRATOR.replace('vc c 0 sin(0 1 1meg)', 'vc c 0 pulse(-1 1 0 10n 10n 490n 1u)') +
                          '.pss 1meg 0 out 65 10 method=shooting\n.hbnoise v(out) vin lin 20 12.5k 487.5k strobe=5n\n.end\n')
        orbit_noise.check_integrator(self, self.plot(p, 'Periodic Noise, Samples'), 0.005)

    def test_switched_capacitor_poles_in_a_row(self):
        # Six poles: a charge takes a period a pole. The switches of 1 kohm settle to e^-40 on 1 and 2 pF
        # and leave nothing when they are off; steps miss reltol = 1e-3. kT/C of all of them is folded
        self.write('sw.va', orbit_noise.SWITCH)
        p = self.run_deck('''poles
.hdl sw.va
.model one switch
vc c 0 pulse(-1 1 2n 1n 1n 44n 100n)
ve e 0 pulse(-1 1 52n 1n 1n 44n 100n)
v1 n0 0 0
.for k = 1 to 6
na{k} n{k-1} m{k} c one
c{k} m{k} 0 1p
nb{k} m{k} h{k} e one
cd{k} h{k} 0 2p
e{k} n{k} 0 h{k} 0 1
rl{k} n{k} 0 1k
.endfor
.pss 10meg 0.2u n6 65 20 method=shooting
.hbnoise v(n6) v1 lin 3 20k 4.9meg strobe=99n
.end
''')
        n = self.plot(p, 'Periodic Noise, Samples')
        for f, got in zip(n['frequency'], n['onoise_spectrum']):
            want = orbit_noise.poles_noise(6, 1e-12, 2e-12, 10e6, f)
            self.assertLess(abs(got**2 / want - 1), 1e-3, '%g Hz' % f)

    def test_the_second_analysis_has_the_bits_of_the_first(self):
        noise = '.hbnoise v(out) v1 dec 2 1k 1meg\n'
        deck = shooting.RECTIFIER + '.pss 1meg 2u out 65 10 method=shooting\n%s.end\n'
        p = [v for n, v in self.run_deck(deck % (noise + '.hbnoise v(a) v1 lin 2 1k 100k strobe=0.3u\n' + noise))
             if n == 'Periodic Noise']
        self.assertEqual(len(p), 2)
        self.assertEqual(p[0], p[1])

    def test_the_choice(self):
        deck = shooting.RECTIFIER + '.pss 1meg 2u out 65 10 method=shooting\n%s.end\n'
        card = '.hbnoise v(out) v1 lin 2 1k 100k %s\n'
        self.write('deck.sp', deck % (card % '' + card % 'method=shooting' + card % 'method=hb'))
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('solved in time'), 2)
        self.assertEqual(done.stdout.count('solved in 10 harmonics'), 1)
        a, b, c = (v for n, v in periodic.plots(self.path('out.raw')) if n == 'Periodic Noise')
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def test_a_line_falls_back_to_harmonics(self):
        self.write('deck.sp', 'line\nv1 a 0 sin(0 1 1meg) ac 1\nr1 a b 50\nt1 b 0 c 0 z0=50 td=70n\nr2 c 0 50\n'
                   '.pss 1meg 0 c 65 4 method=shooting\n.hbac lin 1 1k 1k\n.ac lin 1 1k 1k\n.end\n')
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('deck.sp:7:1: warning: small signals on the orbit with lines or delays are solved in 4 harmonics',
                      done.stderr)
        p = periodic.plots(self.path('out.raw'))
        self.close(self.plot(p, 'Periodic AC')['v(c)'][0], self.plot(p, 'AC')['v(c)'][0], 1e-9)

    def test_a_sample_that_noise_reaches_at_once_is_told(self):
        self.write('deck.sp', 'divider\nv1 a 0 sin(0 1 1meg)\nr1 a b 1k\nr2 b 0 1k\nc1 a 0 1p\n'
                   '.pss 1meg 0 b 65 4 method=shooting\n.hbnoise v(b) v1 lin 2 1k 400k strobe=0\n.end\n')
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, timeout=300)
        self.assertIn('deck.sp:7:1: warning: noise of r1 is in the samples with no capacitance before them', done.stderr)

    def test_bad_input(self):
        deck = shooting.RECTIFIER + '%s\n%s\n.end\n'
        pss = '.pss 1meg 0 out 65 10 method=shooting'
        for orbit, card, text in (
                (pss, '.hbac lin 1 1k 1k method=ac', "9:26: error: hb or shooting is expected, not 'ac'"),
                (pss, '.hbac lin 1 1k 1k strobe=1', 'sidebands= or method= is expected'),
                (pss, '.hbac lin 1 1k 1k sidebands=200', "sideband 200: the orbit's steps are made for 32 harmonics"),
                (pss, '.hbsp lin 1 1k 1k method=', 'hb or shooting is expected'),
                (pss, '.hbnoise v(out) v1 lin 2 1k 900k strobe=0', 'noise of samples goes to half'),
                (pss, '.hbnoise v(out) v1 lin 2 1k 100k cross=5', 'is not there'),
                ('.hb 1meg nharms=4', '.hbac lin 1 1k 1k method=shooting', 'method=shooting needs the orbit of .pss')):
            with self.subTest(card=card):
                self.assertIn(text, self.run_deck(deck % (orbit, card), 1))
        err = self.run_deck(shooting.OSCILLATOR + '.pss 5meg 20u a 65 8 uic method=shooting\n'
                            '.hbac lin 1 1k 1k method=shooting\n.end\n', 1)
        self.assertIn('method=shooting is not possible on the orbit of an oscillator', err)


if __name__ == '__main__':
    periodic.VSIM = orbit_noise.periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
