#!/usr/bin/env python3
""".step and .mc over periodic analyses, loop gain and noise in time: each point is what a deck with
its values gives alone.

    periodic_families.py VSIM [test...]

Bounds: a point of a family and the deck alone solve the same equations by the same steps from the
same starts, so that results are the same but for what an option of speed may change in last digits:
1e-9 of the largest value of a vector."""
import os
import sys
import unittest

import periodic

DRIVEN = """driven
v1 in 0 sin(0.2 1 1meg) ac 1
r1 in a {r}
d1 a out dd
c1 out 0 200p
r2 out 0 5k
.model dd d is=1e-14 n=2 cjo=2p rs=5 tt=1n
"""
PORTS = """ports
v1 a 0 dc 0 portnum 1 z0=50
v2 b 0 dc 0 portnum 2 z0=50
vl l 0 sin(0 1 1meg)
r1 a m {r}
b1 m b i=1m*(1+v(l))*v(m,b)
c1 m 0 100p
"""
OSCILLATOR = """van der pol
l1 a 0 1u ic=0
c1 a 0 1n ic=1
r1 a 0 {r}
b1 a 0 i=-3m*v(a)+0.4m*v(a)^3
"""
LOOP = """loop
e1 x 0 0 fb 1000
r1 x y {r}
c1 y 0 1n
vp y z 0
r2 z fb 1k
c2 fb 0 100p
"""
NOISY = """noise in time
v1 in 0 1
r1 in out {r}
c1 out 0 1p
"""
HB, SHOOT = '.hb 1meg nharms=10\n', '.pss 1meg 2u out 33 10 method=shooting\n'
OSC_HB = '.hbosc tone=5meg nharms=7 probenode=a tstab=10u uic\n'
OSC_SHOOT = '.pss 5meg 10u a 33 7 uic method=shooting\n'
NOISE = '.hbnoise v(out) v1 lin 3 1k 300k%s\n'
# what: circuit, cards, plots that the cards make
CASES = {
    'hb': (DRIVEN, HB, ('Periodic Steady', 'Harmonic')),
    'pss': (DRIVEN, SHOOT, ('Periodic Steady', 'Harmonic')),
    'hbosc': (OSCILLATOR, OSC_HB, ('Periodic Steady', 'Harmonic')),
    'pss of an oscillator': (OSCILLATOR, OSC_SHOOT, ('Periodic Steady', 'Harmonic')),
    'hbac': (DRIVEN, HB + '.hbac lin 3 1k 300k\n', ('Periodic AC',)),
    'hbac on shooting': (DRIVEN, SHOOT + '.hbac lin 3 1k 300k\n', ('Periodic AC',)),
    'hbnoise': (DRIVEN, HB + NOISE % ' 1', ('Periodic Noise',)),
    'strobed': (DRIVEN, HB + NOISE % ' strobe=0.3u', ('Periodic Noise, Samples', 'Sampled')),
    'strobed on shooting': (DRIVEN, SHOOT + NOISE % ' strobe=0.3u',
                            ('Periodic Noise, Samples', 'Sampled')),
    'hbxf': (DRIVEN, HB + '.hbxf v(out) lin 3 1k 300k\n', ('Periodic Transfer',)),
    'hbxf on shooting': (DRIVEN, SHOOT + '.hbxf v(out) lin 3 1k 300k\n', ('Periodic Transfer',)),
    'hbsp': (PORTS, '.hb 1meg nharms=4\n.hbsp lin 2 10k 100k\n', ('Periodic SP',)),
    'phasenoise': (OSCILLATOR, OSC_HB + '.phasenoise v(a) dec 1 1k 100k\n',
                   ('Phase Noise', 'Oscillator')),
    'phasenoise on shooting': (OSCILLATOR, OSC_SHOOT + '.phasenoise v(a) dec 1 1k 100k\n',
                               ('Phase Noise', 'Oscillator')),
    'lstb': (LOOP, '.lstb vsource=vp dec 2 1k 1g\n', ('Loop Stability', 'Stability')),
    'trannoise': (NOISY, '.trannoise fmax=1g seed=3\n.tran 1n 30n\n', ('Transient',)),
}


class Families(periodic.Deck):
    def deck(self, what, r, more=''):
        body, cards, _ = CASES[what]
        return body + '.param r=%s\n%s%s.end\n' % (r, cards, more)

    def same(self, what, family, alone, index):
        """Plots of point `index` of the family, and of the deck alone."""
        for name in CASES[what][2]:
            a, b = self.plot(family, name, index), self.plot(alone, name)
            self.assertEqual(list(a), list(b))
            for v in b:
                self.assertEqual(len(a[v]), len(b[v]), v)
                most = max(abs(y) for y in b[v])
                for x, y in zip(a[v], b[v]):
                    if y != y:  # no margin
                        self.assertNotEqual(x, x)
                        continue
                    self.assertLessEqual(abs(x - y), 1e-9 * most, '%s: %s' % (what, v))

    def test_steps(self):
        for what in CASES:
            with self.subTest(what=what):
                family = self.run_deck(self.deck(what, '1k', '.step param r list 1k 1.3k\n'))
                for k, r in enumerate(('1k', '1.3k')):
                    self.same(what, family, self.run_deck(self.deck(what, r)), k)

    def test_samples(self):
        # v(sample) is the value that a sample has, in every plot of unknowns
        for what in CASES:
            if what == 'trannoise':
                continue # its noise is that of the sample
            with self.subTest(what=what):
                told = 'vsample sample 0 {r}\n.op\n'
                family = self.run_deck(self.deck(what, 'gauss(1k, 0.1, 3)', told + '.mc 2 seed=4\n'))
                values = [p['v(sample)'][0] for n, p in family if n.startswith('Operating')]
                self.assertEqual(len(set(values)), 2)
                for k, r in enumerate(values):
                    self.same(what, family, self.run_deck(self.deck(what, '%.17g' % r, told)), k)

    def test_samples_of_noise_in_time(self):
        # the noise depends on the sample, runs repeat
        deck = self.deck('trannoise', 'gauss(1k, 0.1, 3)', 'vsample sample 0 {r}\n.op\n.mc 2 seed=4\n')
        runs = [self.run_deck(deck) for _ in range(2)]
        self.assertEqual(runs[0], runs[1])
        a, b = (self.plot(runs[0], 'Transient', k) for k in range(2))
        self.assertNotEqual(a['v(out)'], b['v(out)'])
        for p in (a, b):
            r = p['v(sample)'][0]
            square = [(x - 1)**2 for x in p['v(out)']]
            # kT/C is (64 uV)^2; a voltage of ten sigma is never seen
            self.assertLess(max(square), 100 * periodic.K * periodic.T27 / 1e-12)
            self.assertGreater(max(square), 0)
            self.assertNotEqual(r, 1e3)


if __name__ == '__main__':
    periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
