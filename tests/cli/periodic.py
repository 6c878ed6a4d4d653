#!/usr/bin/env python3
"""Periodic analyses and loop gain against closed forms, and against the other analyses.

    periodic.py VSIM [test...]

Each bound says where it comes from."""
import cmath
import json
import math
import os
import struct
import subprocess
import sys
import unittest

import folder
import oscillators

VSIM = ''
K, Q, ZERO = 1.380649e-23, 1.602176634e-19, 273.15
T27 = 27 + ZERO
LC = 'LC with a cubic conductance\n' + oscillators.TANK % ('2.3', '0.1') + """.ic v(a)=0.1
.hbosc tone=5g nharms=15 probenode=a tstab=80n uic
"""
RING = 'ring\n' + oscillators.RING
# a conductance that a voltage turns on and off, with its thermal noise
CHOPPER = """`include "disciplines.vams"
`include "constants.vams"
module chopper(p, n, c); inout p, n, c; electrical p, n, c; real g;
analog begin
  g = 1e-9 + 1e-3 * 0.5 * (1 + tanh(8 * V(c)));
  I(p,n) <+ g * V(p,n) + white_noise(4 * `P_K * $temperature * g, "thermal");
end endmodule
"""


def plots(path):
    """[(name of the plot, {vector: [values]})] of a binary raw file, real or complex."""
    with open(path, 'rb') as f:
        data = f.read()
    out, at = [], 0
    while at < len(data):
        end = data.index(b'Binary:\n', at)
        head = data[at:end].decode().split('\n')
        field = dict(line.split(':', 1) for line in head if ':' in line and line[0] != '\t')
        names = [line.split('\t')[2].lower() for line in head if line.startswith('\t')]
        n, wide = int(field['No. Points']), 2 if 'complex' in field['Flags'] else 1
        start = end + len(b'Binary:\n')
        at = start + 8 * n * len(names) * wide
        v = struct.unpack('<%dd' % (n * len(names) * wide), data[start:at])
        if wide == 2:
            v = [complex(*v[2 * i:2 * i + 2]) for i in range(len(v) // 2)]
        out.append((field['Plotname'].strip(), {w: v[i::len(names)] for i, w in enumerate(names)}))
    return out


class Deck(folder.Folder):
    def run_deck(self, text, code=0):
        self.write('deck.sp', text)
        done = subprocess.run([VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, timeout=300,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return plots(self.path('out.raw')) if code == 0 else done.stderr

    def plot(self, all_plots, name, index=0):
        return [p for n, p in all_plots if n.startswith(name)][index]

    def close(self, a, b, tol, floor=0):
        self.assertLessEqual(abs(a - b), tol * max(abs(b), floor), f'{a} for {b}')


class Periodic(Deck):
    def test_the_second_analysis_of_an_orbit_has_the_bits_of_the_first(self):
        noise = '.hbnoise v(b) v1 dec 2 1k 1meg\n'
        deck = """rectifier
v1 a 0 sin(0 2 1meg) ac 1
d1 a b d1
r1 b 0 1k
c1 b 0 1n
.model d1 d is=1e-14 cjo=2p kf=1e-15
%s.end
"""
        p = self.run_deck(deck % ('.hb 1meg nharms=20\n' + 3 * noise))
        p = [v for n, v in p if n.startswith('Periodic Noise')]
        self.assertEqual(len(p), 3)
        block = '.control\n%swrite one.raw all\n%swrite out.raw all\n.endc\n.hb 1meg nharms=20\n'
        p.append(self.run_deck(deck % (block % (noise[1:], noise[1:])))[-1][1])
        p.append(plots(self.path('one.raw'))[-1][1])
        for other in p[1:]:
            self.assertEqual(p[0], other)

    # -- orbits --

    def test_a_linear_circuit_answers_as_in_ac(self):
        # both are (G + j omega C)^-1 b of the same numbers
        p = self.run_deck("""linear, with a line
v1 in 0 dc 2 sin(2 3 1meg) ac 3
r1 in a 50
l1 a b 3u
c1 b 0 1n
t1 b 0 c 0 z0=75 td=40n
r2 c 0 60
.hb 1meg nharms=3
.ac lin 1 1meg 1meg
.op
.end
""")
        hb, ac, op = self.plot(p, 'Harmonic'), self.plot(p, 'AC'), self.plot(p, 'Operating')
        for name in ('v(a)', 'v(b)', 'v(c)', 'i(v1)'):
            # a sine is the phasor -i
            self.close(hb[name][1], -1j * ac[name][0], 1e-9)
            self.close(hb[name][0], op[name][0], 1e-9)
            self.close(hb[name][2], 0, 1e-12, abs(hb[name][1]))

    def test_blocks_and_the_whole_matrix_give_the_same(self):
        # Newton ends when an update of 1e-3 reltol is made, of which GMRES leaves 1e-8; of small
        # signals it leaves 1e-12 of a drive of 1 V over 50 ohm, 2e-14 A
        mixer = """a commutating bridge of MOS transistors, three tones
v1 lo 0 sin(1 1.5 100meg)
v2 lon 0 sin(1 -1.5 100meg)
v3 a b sin(0 0.1 11meg)
v4 in a sin(0 0.1 11.7meg)
vb b 0 0.5
rs in rf 50
m1 rf lo op 0 nm w=20u l=1u
m2 rf lon on 0 nm w=20u l=1u
m3 b lo on 0 nm w=20u l=1u
m4 b lon op 0 nm w=20u l=1u
r1 op on 1k
c1 op 0 1p
c2 on 0 1p
.model nm nmos level=1 vto=0.6 kp=200u cgso=0.3n cgdo=0.3n lambda=0.05 gamma=0.4
.options reltol=1e-6 hbwhole=%s
.hb tones=%s
.hbac lin 2 1meg 3meg
.end
""".replace('rs in', 'vac in in2 ac 1\nrs in2')
        for tones in ('100meg 11meg 11.7meg nharms=3 2 2 intmodmax=3',
                      '100meg 11meg 11.7meg nharms=3 1 1'):
            a, b = (self.run_deck(mixer % (option, tones)) for option in ('1', '1e9'))
            for name in ('Harmonic', 'Periodic AC'):
                x, y = self.plot(a, name), self.plot(b, name)
                for vector in ('v(op)', 'v(rf)', 'i(v1)'):
                    largest = max(abs(z) for z in y[vector])
                    self.assertGreater(largest, 0)
                    for k in range(len(y[vector])):
                        self.assertLess(abs(x[vector][k] - y[vector][k]), 1e-9 * largest + 2e-14)

    def test_a_strong_tone_leaves_weak_products_alone(self):
        # v = exp(5 cos w1 t + e cos w2 t + e cos w3 t), e = 1e-2, is a product of three Fourier
        # series of modified Bessel functions, so that each line has a closed form; nothing depends
        # on v. With order 3 the samples are a lattice: I_16(5) reaches no line but its own
        p = self.run_deck("""exponential of three tones
v1 a 0 sin(0 1 100meg 0 0 90)
v2 b 0 sin(0 1 11meg 0 0 90)
v3 c 0 sin(0 1 11.7meg 0 0 90)
b1 out 0 v=exp(5*v(a)+1e-2*(v(b)+v(c)))
.hb tones=100meg 11meg 11.7meg nharms=3 3 3 intmodmax=3
.end
""")
        hb = self.plot(p, 'Harmonic')

        def bessel(k, x):
            return sum((x / 2) ** (2 * m + abs(k)) / math.factorial(m) / math.factorial(m + abs(k))
                       for m in range(60))

        lines = [(i, j, k) for i in range(-3, 4) for j in range(-3, 4) for k in range(-3, 4)
                 if abs(i) + abs(j) + abs(k) <= 3]
        at = {round(abs(100e6 * i + 11e6 * j + 11.7e6 * k)): (i, j, k) for i, j, k in lines}
        self.assertEqual(len(hb['frequency']), 32)
        for f, z in zip(hb['frequency'], hb['v(out)']):
            i, j, k = at[round(f.real)]
            exact = bessel(i, 5) * bessel(j, 1e-2) * bessel(k, 1e-2) * (2 if f.real else 1)
            # what rounding of the largest sample, e^5, leaves in a mean; I_13(5) = 1e-5 on the axis
            # of the strong tone, where a grid has it too, else relative
            on_axis = j == k == 0
            self.assertLess(abs(z - exact), 1e-4 if on_axis else 1e-6 * exact + 1e-12)

    def test_noise_of_three_tones_that_are_cut_by_order(self):
        # the samples are a lattice, on which noise sources are transformed too; the cut leaves out
        # products of order 4 and more of what is below 0.1 Vt at the diode: 1e-4
        deck = """noise of three tones
v1 in 0 sin(0.5 0.05 1meg)
v2 in2 in sin(0 0.05 1.1meg)
v3 in3 in2 dc 0 ac 1 sin(0 0.05 1.13meg)
r1 in3 a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.model dd d is=1e-14 cjo=2p rs=5 n=1.1
.hb tones=1meg 1.1meg 1.13meg nharms=3 3 3%s
.hbnoise v(out) v3 lin 2 1k 2k
.end
"""
        cut, box = (self.plot(self.run_deck(deck % o), 'Periodic Noise')['onoise_spectrum']
                    for o in (' intmodmax=3', ''))
        for x, y in zip(cut, box):
            self.close(x, y, 1e-4)

    def test_nodes_of_noise_are_made_for_noise_only(self):
        deck = """one transistor
.include "%s"
vd d 0 1.2
r1 d o 2k
vg g 0 sin(0.6 0.2 1g) ac 1
xm o g 0 0 nmos w=2u l=0.2u
c1 o 0 10f
.options reltol=1e-6
.hb 1g nharms=8
%s.end
"""
        models = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'netlists',
                              'psp103_models.inc')
        got = []
        for more in ('', '.hbnoise v(o) vg lin 1 1meg 1meg\n'):
            self.write('deck.sp', deck % (models, more))
            done = subprocess.run([VSIM, '-r', 'out.raw', '--stats', 'out.json', 'deck.sp'],
                                  cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path('out.json')) as f:
                got.append((json.load(f)['unknowns'],
                            self.plot(plots(self.path('out.raw')), 'Harmonic')['v(o)']))
        self.assertLess(got[0][0], got[1][0])
        for x, y in zip(got[0][1], got[1][1]):
            self.close(x, y, 1e-9, abs(got[0][1][1]))

    def test_small_signals_beside_a_large_unrelated_drive(self):
        p = self.run_deck("""an RC beside a rectifier that shares its ground only
v1 in 0 ac 1
r1 in out 1k
c1 out 0 1n
r2 out 0 5k
v2 big 0 sin(0 5 7meg)
d1 big x dd
r3 x 0 1k
c3 x 0 20p
.model dd d is=1e-14 cjo=1p rs=5
.hb 7meg nharms=20
.hbac dec 2 1k 10meg
.hbnoise v(out) v1 dec 2 1k 10meg
.ac dec 2 1k 10meg
.noise v(out) v1 dec 2 1k 10meg
.end
""")
        hbac, ac = self.plot(p, 'Periodic AC'), self.plot(p, 'AC')
        hbn, noise = self.plot(p, 'Periodic Noise'), self.plot(p, 'Noise Spec')
        for k, f in enumerate(ac['frequency']):
            self.close(hbac['frequency'][k], f, 1e-12)
            self.close(hbac['v(out)'][k], ac['v(out)'][k], 1e-9)
            self.close(hbac['v(out)[1]'][k], 0, 1e-12, 1)
            for name in ('onoise_spectrum', 'inoise_spectrum'):
                self.close(hbn[name][k], noise[name][k], 1e-9)

    def test_a_rectifier_is_what_a_transient_ends_in(self):
        # The transient's error at these tolerances, and that of straight lines between its points,
        # is some 1e-5 of the swing.
        deck = """rectifier
v1 in 0 sin(0.2 1.5 1meg)
r1 in a 200
d1 a out dd
c1 out 0 200p
r2 out 0 5k
.model dd d is=1e-14 cjo=2p rs=5 tt=1n
.options reltol=1e-6 vntol=1e-9 abstol=1e-13
"""
        hb = self.plot(self.run_deck(deck + '.hb 1meg nharms=60\n.end\n'), 'Periodic Steady')
        tran = self.plot(self.run_deck(deck + '.tran 1n 40u 39u 1n\n.end\n'), 'Transient')
        t, v = tran['time'], tran['v(out)']
        swing, k = max(v) - min(v), 0
        for x, y in zip(hb['time'], hb['v(out)']):
            while k + 2 < len(t) and t[k + 1] < 39e-6 + x:
                k += 1
            part = (39e-6 + x - t[k]) / (t[k + 1] - t[k])
            self.assertLess(abs(v[k] + part * (v[k + 1] - v[k]) - y), 1e-4 * swing)

    def test_two_tones_in_a_multiplier_and_a_cube(self):
        # products of cosines: closed forms, linear in the end
        p = self.run_deck("""products
v1 a 0 sin(0 2 10meg 0 0 90)
v2 b 0 sin(0 3 11meg 0 0 90)
b1 m 0 v=v(a)*v(b)
b2 c 0 v=(v(a)+v(b))**3
r1 m 0 1k
r2 c 0 1k
.hb tones=10meg 11meg nharms=4 4
.end
""")
        hb = self.plot(p, 'Harmonic')
        at = {round(f.real / 1e6): k for k, f in enumerate(hb['frequency'])}
        a, b = 2, 3
        for mhz, m, c in ((1, a * b / 2, 0), (21, a * b / 2, 0), (10, 0, .75 * a**3 + 1.5 * a * b * b),
                          (11, 0, .75 * b**3 + 1.5 * a * a * b), (9, 0, .75 * a * a * b),
                          (12, 0, .75 * a * b * b), (30, 0, .25 * a**3), (32, 0, .75 * a * b * b)):
            self.close(hb['v(m)'][at[mhz]], m, 1e-9, 3)
            self.close(hb['v(c)'][at[mhz]], c, 1e-9, 30)

    def test_three_tones_in_a_cube(self):
        p = self.run_deck("""cube
v1 a 0 sin(0 1 1meg 0 0 90)
v2 b a sin(0 2 1.13meg 0 0 90)
v3 c b sin(0 3 3.4meg 0 0 90)
b1 o 0 v=v(c)**3
r1 o 0 1k
.hb tones=1meg 1.13meg 3.4meg nharms=3 3 3 intmodmax=3
.end
""")
        hb = self.plot(p, 'Harmonic')
        at = {round(f.real / 1e4): k for k, f in enumerate(hb['frequency'])}
        for line, want in ((553, 9), (340 - 113 - 100, 9), (340 + 113 - 100, 9), (300, 0.25),
                           (340, 0.75 * 27 + 1.5 * 3 * (1 + 4)), (100, 0.75 + 1.5 * (4 + 9))):
            self.close(hb['v(o)'][at[line]], want, 1e-9)

    # -- many tones --

    def series(self, tones, amplitudes):
        """Cosines in series, up to node s0."""
        return ''.join('v%d s%d %s sin(0 %.17g %.17g 0 0 90)\n' %
                       (i, i, 's%d' % (i + 1) if i + 1 < len(tones) else '0', a, f)
                       for i, (f, a) in enumerate(zip(tones, amplitudes)))

    @staticmethod
    def times(a, b):
        """The product of two sums of exp(j k w t), by their orders k."""
        c = {}
        for k, x in a.items():
            for m, y in b.items():
                at = tuple(i + j for i, j in zip(k, m))
                c[at] = c.get(at, 0) + x * y
        return c

    def check_lines(self, hb, vector, tones, want, of=lambda f: 1):
        """All lines of the vector, by frequency; those that `want` has not are 0."""
        at = {}
        for k, c in want.items():
            f = sum(i * t for i, t in zip(k, tones))
            if f > 0 or not any(k):
                at[round(f)] = c * (2 if any(k) else 1) * of(f)
        most = max(map(abs, at.values()))
        seen = set()
        for f, v in zip(hb['frequency'], hb[vector]):
            f = round(f.real)
            self.assertNotIn(f, seen)
            seen.add(f)
            self.close(v, at.get(f, 0), 1e-9, most)
        self.assertTrue(set(at) <= seen)

    # products up to the third order of all of them are at different frequencies
    MANY = (0.9961e6, 1.08696e6, 1.24725e6, 1.51416e6, 1.87093e6, 2.29702e6, 2.84437e6, 3.39273e6, 4.17497e6, 5.20397e6)

    def test_many_tones_in_a_polynomial_and_a_filter(self):
        for n, cards in ((5, 'nharms=2'), (5, 'nharms=3 intmodmax=3'), (8, 'intmodmax=3'),
                         (8, 'nharms=3 3 3 3 1 1 1 3 intmodmax=3'), (10, 'nharms=2 intmodmax=2')):
            with self.subTest(n=n, cards=cards):
                tones, sizes = self.MANY[:n], [0.3 + 0.1 * i for i in range(n)]
                cube = 'intmodmax=3' in cards
                p = self.run_deck('polynomial of %d tones\n%s' % (n, self.series(tones, sizes)) +
                                  'b1 p 0 v=0.7*v(s0)**2%s\nr1 p c 1k\nc1 c 0 100p\n' %
                                  ('+0.2*v(s0)**3' if cube else '') +
                                  'r2 s0 d 1k\nc2 d 0 100p\n' +
                                  '.hb tones=%s %s\n.end\n' % (' '.join('%.17g' % f for f in tones), cards))
                hb = self.plot(p, 'Harmonic')
                one = {tuple(s * (i == t) for i in range(n)): a / 2
                       for t, a in enumerate(sizes) for s in (-1, 1)}
                two = self.times(one, one)
                all_ = {k: 0.7 * c for k, c in two.items()}
                for k, c in (self.times(two, one) if cube else {}).items():
                    all_[k] = all_.get(k, 0) + 0.2 * c
                harm = [1 if ' 1 1 1 ' in cards and i in (4, 5, 6) else 3 for i in range(n)]
                all_ = {k: c for k, c in all_.items() if all(abs(i) <= h for i, h in zip(k, harm))}
                low = lambda f: 1 / (1 + 2j * math.pi * f * 1e-7)
                self.check_lines(hb, 'v(s0)', tones, one)
                self.check_lines(hb, 'v(d)', tones, one, low)
                self.check_lines(hb, 'v(p)', tones, all_)
                self.check_lines(hb, 'v(c)', tones, all_, low)

    def test_a_diode_under_five_tones_on_the_lattice_is_that_on_a_grid(self):
        # both keep products to the order 6; the tones are small, so that what is cut has below 1e-9
        tones = self.MANY[:5]
        deck = ('diode\n' + self.series(tones, [2e-3] * 5) +
                'vb b s0 0.6\nr1 b a 100\nd1 a 0 dm\nc1 a 0 1n\n.model dm d is=1e-14 cjo=10p\n' +
                '.options reltol=1e-6\n.hb tones=%s %%s\n.end\n' % ' '.join('%.17g' % f for f in tones))
        a, b = (self.plot(self.run_deck(deck % c), 'Harmonic') for c in ('nharms=3 intmodmax=3', 'nharms=3 intmodmax=4'))
        lines = {round(f.real): v for f, v in zip(b['frequency'], b['v(a)'])}
        most = max(map(abs, a['v(a)']))
        for f, v in zip(a['frequency'], a['v(a)']):
            self.close(v, lines[round(f.real)], 1e-7, most)

    def test_too_many_tones(self):
        for cards, text in (('1k 2k 3k 4k 5k 6k 7k 8k 9k 10k 11k', 'more than 10 values'),
                            ('1 2 3 4 5 6 7 8 9 10 nharms=2000', 'harmonics in all, more than 50000'),
                            ('1 2 3 4 5 6 7 8 9 10 intmodmax=6', '134245 harmonics in all, more than 50000'),
                            ('%s nharms=4 intmodmax=5' % ' '.join('%.17g' % f for f in self.MANY),
                             'take more than 1048576 samples')):
            with self.subTest(cards):
                err = self.run_deck('bad\n%s.hb tones=%s\n.end\n' % (self.series(self.MANY, [1] * 10), cards), 1)
                self.assertIn(text, err)

    def test_modulated_conductance_converts(self):
        # g(t) = g0 + g1 cos: i at sidebands is g1/2 of a small voltage
        p = self.run_deck("""g0 (1 + cos / 2) across a small source
vlo lo 0 sin(0 1 1meg 0 0 90)
vin in 0 dc 0 ac 1
b1 in x i=v(in,x)*1m*(1+0.5*v(lo))
vm x 0 0
.hb 1meg nharms=4
.hbac lin 1 1k 1k sidebands=2
.end
""")
        ac = self.plot(p, 'Periodic AC')
        for k, want in ((-2, 0), (-1, 0.25e-3), (1, 0.25e-3), (2, 0)):
            self.close(ac[f'i(vm)[{k}]'][0], want, 1e-9, 1e-3)
        self.close(ac['i(vm)'][0], 1e-3, 1e-9)

    # -- noise --

    def test_kt_over_c_of_a_switched_capacitor(self):
        # In equilibrium, whatever the conductance does, the mean square voltage is kT/C. What lies
        # beyond the highest frequency falls as 1/f^2: its share is added.
        self.write('sw.va', CHOPPER)
        p = self.run_deck("""switched capacitor
.hdl sw.va
.model ch chopper
vc c 0 sin(0 1 1meg)
vin in 0 0
n1 in out c ch
c1 out 0 60p
.hb 1meg nharms=40
.hbnoise v(out) vin lin 400 25k 19.975meg
.end
""")
        n = self.plot(p, 'Periodic Noise')
        f, s = n['frequency'], [x * x for x in n['onoise_spectrum']]
        total = sum(s) * (f[1] - f[0]) + s[-1] * f[-1]
        self.close(total, K * T27 / 60e-12, 0.01)

    def test_white_noise_from_0_hz_is_folded(self):
        # White noise knows no 0 Hz: what the drive moves from there to the frequency of the drive
        # is what lies beside it.
        self.write('sw.va', CHOPPER)
        p = self.run_deck("""chopper
.hdl sw.va
.model ch chopper
vc c 0 sin(0 1 1meg)
vin in 0 0
n1 in out c ch
c1 out 0 60p
.hb 1meg nharms=20
.hbnoise v(out) vin lin 3 0.999999meg 1.000001meg
.end
""")
        n = self.plot(p, 'Periodic Noise')
        self.assertEqual(n['frequency'][1], 1e6)
        beside, at, _ = n['onoise_spectrum']
        self.close(at, beside, 1e-5)
        p = self.run_deck("""chopper between ports
.hdl sw.va
.model ch chopper
vc c 0 sin(0 1 1meg)
v1 in 0 dc 0 portnum 1 z0 50
v2 out 0 dc 0 portnum 2 z0 50
n1 in out c ch
c1 out 0 60p
.hb 1meg nharms=20
.hbsp lin 3 0.999999meg 1.000001meg donoise
.end
""")
        beside, at, _ = self.plot(p, 'Periodic SP')['nf']
        self.assertLess(abs(at - beside), 1e-4)  # dB

    def test_phase_noise_of_an_lc_oscillator(self):
        # nearly a sine: Hajimiri's form with an impulse sensitivity of rms 1/sqrt(2); 0.2 dB
        p = self.run_deck(LC + '.phasenoise v(a) dec 1 1k 10meg\n.end\n')
        hb, n, o = self.plot(p, 'Harmonic'), self.plot(p, 'Phase Noise'), self.plot(p, 'Oscillator')
        a = abs(hb['v(a)'][1])
        # the cubic's own balance: g = 3/4 g3 A^2, corrected by the third harmonic
        self.close(a, math.sqrt((2.3e-3 - 2e-3) / (0.75 * 0.1e-3)), 1e-2)
        self.close(hb['frequency'][1].real, 1 / (2 * math.pi * math.sqrt(1e-21)), 1e-3)
        for f, by_response, by_projection in zip(n['frequency'], n['phnoise'], n['phnoise_ppv']):
            want = 10 * math.log10(4 * K * T27 / 500 / (4 * (1e-12 * a * 2 * math.pi * f)**2))
            self.assertLess(abs(by_projection - want), 0.2)
            if f < 1e6:  # nearer the bandwidth of the tank amplitude noise adds
                self.assertLess(abs(by_response - by_projection), 0.01)
        c, f0 = o['diffusion'][0], o['frequency0'][0]
        self.close(o['period_jitter'][0], math.sqrt(c / f0), 1e-12)
        self.assertLess(abs(10 * math.log10(f0 * f0 * c / 1e6) - n['phnoise_ppv'][0]), 0.01)

    def test_phase_noise_of_a_source_that_follows_the_current(self):
        # The power of a noise current beside the tank is s (1 + m sin)^2, where sin is what the
        # phase follows: (1 + m sin)^2 sin^2 has the mean 1/2 + 3/8 m^2, of which noise around 0 Hz,
        # by the mean of (1 + m sin) sin, has m^2/4. Nearly a sine, as above: 0.2 dB.
        self.write('follow.va', """`include "disciplines.vams"
module follow(p, n, c); inout p, n, c; electrical p, n, c; parameter real s = 0, i0 = 1;
analog I(p,n) <+ white_noise(s * pow(1 + V(c) / i0, 2), "i");
endmodule
""")
        p = self.run_deck(LC.replace('l1 a 0 1n', """.hdl follow.va
.model fo follow s=1e-18 i0=0.07
n1 a 0 x fo
h1 x 0 vl 1
vl a la 0
l1 la 0 1n""") + '.phasenoise v(a) dec 1 100k 100k\n.end\n')
        o = self.plot(p, 'Oscillator')
        a, w0 = o['amplitude'][0], 2 * math.pi * o['frequency0'][0]
        m = a / (w0 * 1e-9) / 0.07
        want = (1e-18 * (1 / 2 + 3 / 8 * m * m) + 4 * K * T27 / 500 / 2) / 2 / (w0 * 1e-12 * a)**2
        self.assertLess(abs(10 * math.log10(o['diffusion'][0] / want)), 0.2)
        got = self.plot(p, 'Phase Noise')['phnoise_ppv'][0]
        self.assertLess(abs(got - 10 * math.log10((w0 / 2 / math.pi / 1e5)**2 * want)), 0.2)

    def test_a_ring_of_level_1_transistors(self):
        # frequency as in a long transient, to its own error between crossings
        p = self.run_deck(RING + """.ic v(a)=0 v(b)=1.8
.options reltol=1e-5
.hbosc tone=1g nharms=31 probenode=a tstab=40n
.phasenoise v(a) dec 1 10k 1meg 1
.tran 1p 40n
.end
""")
        f0 = self.plot(p, 'Harmonic')['frequency'][1].real
        tran = self.plot(p, 'Transient')
        t, v, up = tran['time'], tran['v(a)'], []
        for k in range(1, len(t)):
            if t[k] > 20e-9 and v[k - 1] < 0.9 <= v[k]:
                up.append(t[k - 1] + (0.9 - v[k - 1]) / (v[k] - v[k - 1]) * (t[k] - t[k - 1]))
        self.close(f0, (len(up) - 1) / (up[-1] - up[0]), 1e-3)
        n = self.plot(p, 'Phase Noise')
        self.assertLess(abs(n['phnoise'][0] - n['phnoise_ppv'][0]), 0.05)
        # far from the line, at 1 MHz, f0^2 c / f^2 (noise from around 0 Hz is a quarter of c)
        o = self.plot(p, 'Oscillator')
        by_diffusion = 10 * math.log10((f0 / 1e6)**2 * o['diffusion'][0])
        self.assertLess(abs(n['phnoise'][-1] - by_diffusion), 0.01)

    def test_pss_has_the_form_of_ngspice(self):
        p = self.run_deck("""driven
v1 in 0 sin(0 1 1meg)
r1 in out 1k
c1 out 0 1n
.pss 1meg 5u out 64 5
.end
""")
        td, fd = self.plot(p, 'Periodic Steady'), self.plot(p, 'Harmonic')
        self.assertEqual((len(td['time']), len(fd['frequency'])), (64, 6))
        self.close(abs(fd['v(out)'][1]), 1 / abs(1 + 2j * math.pi), 1e-9)

    def test_pss_at_a_number_that_is_no_node(self):
        """As decks of ngspice have it; the oscillator has an inductor, whose node is taken."""
        deck = """oscillator
l1 a 0 1u
c1 a 0 1n
b1 a 0 i=-2m*v(a)+0.5m*v(a)^3
.ic v(a)=0.5
.pss 5meg 5u %s 64 7 10 5e-3 uic
.end
"""
        got, want = [self.plot(self.run_deck(deck % node), 'Harmonic') for node in ('1', 'a')]
        self.assertEqual(got['frequency'], want['frequency'])
        self.assertEqual(got['v(a)'], want['v(a)'])

    # -- noise in time --

    RC = """kT/C
r1 out 0 10k
c1 out 0 1p
.trannoise fmax=200meg seed=%d
.tran 1n 100u
.end
"""

    def test_mean_square_of_transient_noise(self):
        # kT/C behind the straight lines between samples, sinc^4. A run of T has 2 T / RC degrees of
        # freedom: the mean square is off by sqrt(2 RC / T) of itself as a rule, 4 times that is
        # allowed.
        p = self.plot(self.run_deck(self.RC % 3), 'Transient')
        t, v = p['time'], p['v(out)']
        square = sum((a * a + a * b + b * b) / 3 * (y - x) for x, y, a, b in zip(t, t[1:], v, v[1:]))
        fc, fmax, want, df = 1 / (2 * math.pi * 1e-8), 200e6, 0, 1e5
        for k in range(20000):
            x = math.pi * (k + 0.5) * df / (2 * fmax)
            want += 4 * K * T27 * 1e4 * (math.sin(x) / x)**4 / (1 + ((k + 0.5) * df / fc)**2) * df
        self.close(square / t[-1], want, 4 * math.sqrt(2 * 1e-8 / 100e-6))

    def test_transient_noise_repeats_by_its_seed(self):
        deck = self.RC.replace('100u', '1u')
        a, b, c = (self.plot(self.run_deck(deck % seed), 'Transient')['v(out)'] for seed in (1, 1, 2))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def jitter_in_time(self, osc, orbit, noise, level, lag, n):
        """The time of lag periods in n pieces of a run with transient noise, of the scale that
        `noise` begins with: its variance is that of the projection, known to sqrt(2/n) of itself; 4
        times that is allowed."""
        p = self.run_deck(osc + orbit + '.phasenoise v(a) dec 1 1k 1k\n.end\n')
        o = self.plot(p, 'Oscillator')
        f0, c = o['frequency0'][0], o['diffusion'][0]
        scale, fmax, step = noise
        card = '.trannoise fmax=%g scale=%g seed=5\n.tran %g %.6g %.6g %g\n.end\n' % (
            fmax, scale, step, (60 + lag * n) / f0, 50 / f0, step)
        p = self.plot(self.run_deck(osc + card), 'Transient')
        t, v = p['time'], [x - level for x in p['v(a)']]
        up = [t[k - 1] - v[k - 1] / (v[k] - v[k - 1]) * (t[k] - t[k - 1])
              for k in range(1, len(t)) if v[k - 1] < 0 <= v[k]]
        pieces = [b - a for a, b in zip(up[::lag], up[lag::lag])][:n]
        self.assertEqual(len(pieces), n)
        mean = sum(pieces) / n
        variance = sum((x - mean)**2 for x in pieces) / (n - 1)
        self.close(variance, scale**2 * c * mean, 4 * math.sqrt(2 / n))

    def test_jitter_in_time_is_that_of_the_projection(self):
        # straight lines between samples take 0.3 % of the noise at the carrier
        self.jitter_in_time('LC with a cubic conductance\n' + oscillators.LC + '.options reltol=1e-6\n',
                            '.hbosc tone=5g nharms=15 probenode=a tstab=20n\n', (300, 125e9, 4e-12), 0, 25, 160)

    def test_jitter_of_a_ring_in_time_is_that_of_the_projection(self):
        # a quarter of c is noise from around 0 Hz; straight lines take some 1 % of all
        self.jitter_in_time(RING + """ik 0 a pulse(0 50u 0 10p 10p 200p)
.options reltol=1e-6
""", '.hbosc tone=1g nharms=31 probenode=a tstab=40n\n', (10, 50e9, 10e-12), 0.9, 4, 600)

    # -- loops --

    LOOP = """three poles, of which none loads another but through the probe
e1 x 0 0 fb 200
r1 x a 1k
c1 a 0 1u
%s
r2 b c 10k
c2 c 0 1n
e3 d 0 c 0 1
r3 d e 1k
c3 e 0 100p
e2 fb 0 e 0 1
"""

    def test_loop_gain_is_that_of_the_loop_cut_where_that_is_exact(self):
        whole = self.run_deck(self.LOOP % 'vp a b 0' + '.lstb vsource=vp dec 10 1 1e8\n.end\n')
        # cut at the ideal output of e3: the loading of the probe's node stays
        cut = self.LOOP.replace('r3 d e', 'vt d2 0 ac 1\nr3 d2 e') % 'vp a b 0'
        ac = self.plot(self.run_deck(cut + '.ac dec 10 1 1e8\n.end\n'), 'AC')
        gain = self.plot(whole, 'Loop Stability')['loopgain']
        for t, d in zip(gain, ac['v(d)']):
            self.close(t, -d, 1e-9, 1e-3)  # what is small is a difference from 1
        m = self.plot(whole, 'Stability Margins')
        mag = [abs(t) for t in gain]
        k = next(k for k in range(len(mag)) if mag[k] < 1)
        self.assertLess(abs(m['phase_margin'][0] - 180 - math.degrees(cmath.phase(gain[k]))), 8)
        self.assertTrue(ac['frequency'][k - 1].real < m['phase_margin_freq'][0] <= ac['frequency'][k].real)
        self.assertGreater(m['gain_margin'][0], 0)

    def test_a_differential_loop_is_two_equal_ones(self):
        pair = ''.join(f"""e{i}1 x{i} 0 0 f{i} 200
r{i} x{i} a{i} 1k
c{i} a{i} 0 1u
vp{i} a{i} b{i} 0
r{i}2 b{i} f{i} 10k
c{i}2 f{i} 0 1n
""" for i in (1, 2))
        p = self.run_deck('pair\n' + pair + """.ac dec 5 1 1e6
.lstb vsource=vp1
.lstb mode=diff vsource=vp1,vp2
.lstb mode=comm vsource=vp1,vp2
.end
""")
        one, diff, comm = (self.plot(p, 'Loop Stability', k)['loopgain'] for k in range(3))
        self.assertEqual(len(one), 31)
        for a, b, c in zip(one, diff, comm):
            self.close(b, a, 1e-9)
            self.close(c, a, 1e-9)

    # -- what is wrong is told --

    def test_transient_noise_of_bad_input(self):
        for card, text in (('fmax=-1', 'a frequency above 0'), ('fmx=1', 'fmax=, scale=, seed='),
                           ('seed=0.5', 'a seed')):
            with self.subTest(card=card):
                self.assertIn(text, self.run_deck(f'deck\nr1 a 0 1\n.trannoise {card}\n.tran 1n 1u\n.end\n', code=1))

    def test_bad_input(self):
        rc = 'deck\nv1 in 0 sin(0 1 1meg)\nr1 in out 1k\nc1 out 0 1n\n%s\n.end\n'
        for card, text in (
                ('.hb 3meg', "'v1' does not repeat with the tone 3000000 Hz"),
                ('.hb 1meg 1.3meg', 'no source drives the tone of 1300000 Hz'),
                ('.hb', 'the frequency is missing'),
                ('.hb -1', 'a frequency above 0'),
                ('.hb 1meg nharms=0', 'from 1 to 2000'),
                ('.hb 1meg harmonics=3', 'tones=, nharms=, intmodmax='),
                ('.hbosc tone=1meg nharms=3', 'probenode=NODE'),
                ('.hbosc tone=1meg nharms=3 probenode=zz', "no node 'zz'"),
                ('.hbosc tone=1meg nharms=3 probenode=out', "'v1' moves"),
                ('.hbac dec 1 1 10', 'needs an orbit'),
                ('.hb 1meg nharms=3\n.hbac dec 1 1 10 sidebands=9', 'the orbit has 3 harmonics'),
                ('.hb 1meg nharms=3\n.phasenoise v(out) dec 1 1 10', 'that of an oscillator'),
                ('.lstb dec 1 1 10', 'vsource=VPROBE'),
                ('.lstb vsource=v1 dec 1 1 10', 'one of its sides is ground'),
                ('vp out q 0\nr9 q 0 1\n.lstb vsource=vp', 'frequencies are missing')):
            with self.subTest(card=card):
                self.assertIn(text, self.run_deck(rc % card, code=1))

    def test_a_probe_in_no_loop_is_told(self):
        deck = 'chain\nv1 a 0 1\nr1 a c 1k\nvp c b 0\nr2 b 0 1k\n%s.lstb vsource=vp dec 1 1 1k\n.end\n'
        for more, told in (('', True), ('g1 c 0 b 0 1u\n', False)):
            self.write('deck.sp', deck % more)
            done = subprocess.run([VSIM, 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0)
            self.assertEqual("'vp' lies in no loop" in done.stderr, told, done.stderr)

    def test_an_oscillator_at_rest_is_told(self):
        message = self.run_deck("""rests
l1 a 0 1n
c1 a 0 1p
r1 a 0 500
.hbosc tone=5g nharms=5 probenode=a
.end
""", code=1)
        self.assertIn('no oscillation', message)
        self.assertIn('tstab=', message)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
