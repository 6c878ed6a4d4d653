#!/usr/bin/env python3
"""Mismatch (.dcmatch, .acmatch) against closed forms, differences of runs and Monte Carlo.

    mismatch.py VSIM [test...]

Each bound says where it comes from."""
import csv
import math
import os
import re
import subprocess
import sys
import unittest

import periodic

# Random numbers of four kinds in a divider: of a card, of parameters, of a source.
DIVIDER = """divider
.param ra=agauss(1k,30,3) rb=aunif(2k,40) vs=limit(3,0.1)
v1 in 0 {vs}
r1 in a {ra}
r2 a b {gauss(500,0.06,2)}
r3 b 0 {rb}
%s
.end
"""
# A pair with two numbers in each transistor, one of them through a subcircuit of its own.
PAIR = """pair
.param dv1=0 dv2=0 db1=0 db2=0 on=%s
.subckt leg d g s dv=0 db=0
.param dvt={on*agauss(0,4m,1)+dv} dbeta={on*agauss(0,0.01,1)+db}
xm d g s leaf vt={0.6+dvt} k={100u*(1+dbeta)}
.ends
.subckt leaf d g s vt=0.6 k=100u
m1 d g s 0 nm
.model nm nmos level=1 vto={vt} kp={k} gamma=0.3 phi=0.65 lambda=0.03 tox=20n cgso=1n cgdo=1n
.ends
vdd vdd 0 3
vin p 0 dc 1.4 ac 1
vref n 0 1.4
x1 a p s leg dv={dv1} db={db1}
x2 b n s leg dv={dv2} db={db2}
r1 vdd a 20k
r2 vdd b 20k
c1 b 0 1p
i1 s 0 60u
%s
.end
"""
MOVED = {'x1.dvt': 'dv1', 'x2.dvt': 'dv2', 'x1.dbeta': 'db1', 'x2.dbeta': 'db2'}
SIGMA = {'dvt': 4e-3, 'dbeta': 0.01}


class Mismatch(periodic.Deck):
    def pair_by_difference(self, card, name):
        """The plots of the card with the random number of `name` half a hundredth of its sigma off,
        to both sides."""
        h = 1e-2 * SIGMA[name.split('.')[1]]
        for y in (h, -h):
            deck = (PAIR % ('0', card)).replace(MOVED[name] + '=0 ', '%s=%.12g ' % (MOVED[name], y), 1)
            yield self.run_deck(deck)[0][1]

    def test_closed_forms_of_a_divider(self):
        # 1e-7: numbers move by a hundredth of sigma, that is values by 2e-4 at most, and central
        # differences err by its square
        p = self.plot(self.run_deck(DIVIDER % '.dcmatch v(b) threshold=0'), 'DC Mismatch')
        v, r = 3, {'ra': 1e3, 'r2': 500, 'rb': 2e3}
        total = sum(r.values())
        by_series = -v * r['rb'] / total ** 2
        want = {'ra': 10 * by_series, 'r2': 15 * by_series,
                'rb': 40 / math.sqrt(3) * v * (total - r['rb']) / total ** 2,
                'vs': 0.1 * r['rb'] / total}
        self.close(p['value'][0], v * r['rb'] / total, 1e-9)
        for name, y in want.items():
            self.close(p[name][0], y, 1e-7)
        self.close(p['sigma'][0], math.sqrt(sum(y * y for y in want.values())), 1e-7)
        names = [n for n in p if n in want]
        self.assertEqual(names, sorted(want, key=lambda n: -abs(want[n])))

    def test_threshold_leaves_small_parts_out_of_the_plot_only(self):
        whole = self.plot(self.run_deck(DIVIDER % '.dcmatch v(b) threshold=0'), 'DC Mismatch')
        some = self.plot(self.run_deck(DIVIDER % '.dcmatch v(b) threshold=0.1'), 'DC Mismatch')
        share = {n: (whole[n][0] / whole['sigma'][0]) ** 2 for n in ('ra', 'r2', 'rb', 'vs')}
        self.assertEqual({n for n in share if n in some}, {n for n in share if share[n] >= 0.1})
        self.assertLess(sum(share[n] >= 0.1 for n in share), 4)
        self.assertEqual(some['sigma'], whole['sigma'])

    def test_pair_as_by_differences(self):
        # both take differences over the same distance; what is left is the operating points'
        # reltol of 1e-9 over this distance, 1e-2 of sigma
        card = '.options reltol=1e-9 vntol=1e-12 abstol=1e-15\n'
        p = self.plot(self.run_deck(PAIR % ('1', card + '.dcmatch v(b,a) threshold=0')), 'DC Mismatch')
        for name in MOVED:
            up, down = (q['v(b)'][0] - q['v(a)'][0]
                        for q in self.pair_by_difference(card + '.op', name))
            self.close(p[name][0], (up - down) / 2e-2, 1e-4)

    def test_gain_as_by_differences_with_its_operating_point(self):
        card = '.options reltol=1e-9 vntol=1e-12 abstol=1e-15\n'
        grid = 'dec 1 1meg 1g'
        p = self.plot(self.run_deck(PAIR % ('1', card + f'.acmatch v(b) {grid} threshold=0')),
                      'AC Mismatch')
        slopes = {}
        for name in MOVED:
            up, down = (q['v(b)'] for q in self.pair_by_difference(card + '.ac ' + grid, name))
            slopes[name] = [(u - d) / 2e-2 for u, d in zip(up, down)]
        v = self.run_deck(PAIR % ('0', card + '.ac ' + grid))[0][1]['v(b)']
        for k, f in enumerate(p['frequency']):
            size = abs(v[k])
            self.close(p['magnitude'][k], size, 1e-8)
            along = [(v[k].conjugate() * d[k]) / size for d in slopes.values()]
            for name in MOVED:
                self.close(p[name][k], abs(slopes[name][k]), 1e-4)
            self.close(p['sigma'][k], math.sqrt(sum(abs(d) ** 2 for d in along)), 1e-4)
            self.close(p['sigma_magnitude'][k], math.sqrt(sum(d.real ** 2 for d in along)), 1e-4)
            self.close(p['sigma_phase'][k], math.degrees(
                math.sqrt(sum(d.imag ** 2 for d in along)) / size), 1e-4)

    def test_correlations_as_in_closed_form(self):
        # three normal numbers of the divider, two cards; 1e-7 as in the divider's test
        deck = DIVIDER.replace('aunif(2k,40)', 'agauss(2k,40,1)') % (
            '.correlate ra r2 cc=0.6\n.correlate rb ra cc={-1/4}\n.dcmatch v(b) threshold=0')
        p = self.plot(self.run_deck(deck), 'DC Mismatch')
        s, v, total = [10, 15, 40], 3, 3500
        part = [-v * 2000 / total ** 2 * s[0], -v * 2000 / total ** 2 * s[1],
                v * 1500 / total ** 2 * s[2]]
        source = 0.1 * 2000 / total
        cross = 0.6 * part[0] * part[1] - 0.25 * part[0] * part[2]
        for name, y in zip(('ra', 'r2', 'rb'), part):
            self.close(p[name][0], y, 1e-7)
        self.close(p['sigma'][0], math.sqrt(sum(y * y for y in part) + source ** 2 + 2 * cross), 1e-7)

    def test_equal_halves_leave_no_offset_where_they_vary_together(self):
        # sigma^2 = a^2 + b^2 + 2 cc a b of the parts a, b that the plot has; those of equal halves
        # are opposite to the 1e-4 of the test by differences
        deck = PAIR.replace('0.01,1', '0,1')
        for cc in (-1, 0, 0.75, 1):
            p = self.plot(self.run_deck(deck % ('1', '.correlate x1.dvt x2.dvt cc=%g\n'
                                                '.dcmatch v(b,a) threshold=0' % cc)), 'DC Mismatch')
            a, b = p['x1.dvt'][0], p['x2.dvt'][0]
            self.close(a, -b, 1e-4)
            if cc < 1:
                self.close(p['sigma'][0], math.sqrt(a * a + b * b + 2 * cc * a * b), 1e-9)
            else:
                self.assertLess(p['sigma'][0], 1e-4 * abs(a))

    def test_acmatch_adds_correlated_numbers_as_one(self):
        # cc=1: the numbers are one number; of equal spreads, the parts of the gain add as phasors,
        # and its magnitude is that by one common number in both (1e-6: central differences over
        # hundredths of sigma)
        card = '.acmatch v(b) lin 1 100meg 100meg threshold=0\n'
        apart = PAIR.replace('0.01,1', '0,1') % ('1', '.correlate x1.dvt x2.dvt cc=1\n' + card)
        common = PAIR.replace('0.01,1', '0,1').replace(
            '.subckt leg', '.param both=agauss(0,4m,1)\n.subckt leg').replace(
            'agauss(0,4m,1)+dv', 'both+dv') % ('1', card)
        a, b = (self.plot(self.run_deck(deck), 'AC Mismatch') for deck in (apart, common))
        for name in ('magnitude', 'sigma', 'sigma_magnitude', 'sigma_phase'):
            self.close(a[name][0], b[name][0], 1e-6)

    def test_samples_have_the_correlations(self):
        # of n samples a correlation c has the standard deviation (1 - c^2)/sqrt(n): five of these.
        # cc=-1: the same number with the other sign, but for the roundings of the output
        n, cc = 1000, 0.8
        self.write('mc.sp', """samples
.subckt two a b
.param p=agauss(0,1,1) q=agauss(0,2,1)
v1 a 0 {p}
v2 b 0 {q}
r1 a 0 1k
r2 b 0 1k
.ends
x1 a1 b1 two
x2 a2 b2 two
.correlate p q cc=%g
.correlate x1.p x2.p cc=-1
.correlate x2.q, x1.q cc=-1
.correlate x1.p x2.q cc=%g
.correlate x2.p x1.q cc=%g
.op
.meas op p1 find v(a1)
.meas op q1 find v(b1)
.meas op p2 find v(a2)
.meas op q2 find v(b2)
.mc %d seed=3
.end
""" % (cc, -cc, -cc, n))
        done = subprocess.run([periodic.VSIM, '--measures', 'mc.csv', 'mc.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        with open(os.path.join(self.tmp.name, 'mc.csv')) as file:
            rows = [{k: float(row[k]) for k in ('p1', 'q1', 'p2', 'q2')}
                    for row in csv.DictReader(file)]
        self.assertEqual(len(rows), n)
        for row in rows:
            self.close(row['p1'], -row['p2'], 1e-5)
            self.close(row['q1'], -row['q2'], 1e-5)
        x, y = ([row[k] for row in rows] for k in ('p1', 'q1'))
        mean = [sum(v) / n for v in (x, y)]
        sxy, sxx, syy = (sum((a - u) * (b - w) for a, b in zip(v, z)) for v, z, u, w in (
            (x, y, *mean), (x, x, mean[0], mean[0]), (y, y, mean[1], mean[1])))
        self.assertLess(abs(sxy / math.sqrt(sxx * syy) - cc), 5 * (1 - cc * cc) / math.sqrt(n))
        for total, sigma in ((sxx, 1), (syy, 2)):  # a sigma has the relative deviation 1/sqrt(2n)
            self.close(math.sqrt(total / n), sigma, 5 / math.sqrt(2 * n))

    def test_acmatch_takes_the_frequencies_of_ac(self):
        deck = PAIR % ('1', '.ac lin 1 1meg 1meg\n.acmatch v(b)')
        self.assertEqual(self.plot(self.run_deck(deck), 'AC Mismatch')['frequency'], (1e6,))

    def test_sigma_as_by_monte_carlo(self):
        # the sigma of 1000 samples has a sigma of 1 / sqrt(2000) = 2.2 %; four of them, and 1 % for
        # the curvature of the pair: (5 mV / 0.24 V)^2
        p = self.plot(self.run_deck(PAIR % ('1', '.dcmatch v(b,a)')), 'DC Mismatch')
        self.write('mc.sp', PAIR % ('1', '.op\n.meas op off find v(b,a)\n.mc 1000 seed=3'))
        said = subprocess.run([periodic.VSIM, '-r', 'mc.raw', 'mc.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300).stdout
        sigma = re.search(r'mean \S+, sigma (\S+),', said)
        self.assertTrue(sigma, said)
        self.close(float(sigma[1]), p['sigma'][0], 0.1)

    def refuses(self, deck, message):
        self.write('deck.sp', deck)
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(message, done.stderr)

    def test_lines_are_held_with_a_warning(self):
        self.write('deck.sp', DIVIDER % 't1 b 0 c 0 z0=50 td=1n\nr4 c 0 1k\n.dcmatch v(b)')
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('parameters of transmission lines do not count', done.stderr)

    def test_what_is_refused(self):
        self.refuses(PAIR % ('0', '.dcmatch v(b)'), 'the deck has no random number: agauss')
        self.refuses(PAIR % ('1', '.dcmatch v(b) threshold=2'), 'a share from 0 to 1')
        self.refuses(PAIR % ('1', '.acmatch v(b)'), 'frequencies are missing')
        self.refuses(PAIR % ('1', '.dcmatch v(z)'), "no node 'z'")
        self.refuses(DIVIDER % '.option rcreduce=0.5\n.dcmatch v(b)', 'option rcreduce joins')

    def test_what_is_refused_of_correlations(self):
        for card, message in (
                ('.correlate ra', 'two or more random numbers are expected'),
                ('.correlate ra r2', 'cc= is expected'),
                ('.correlate ra ra cc=1', "'ra' is named twice"),
                ('.correlate ra r2 cc=1.1', 'from -1 to 1, not 1.1'),
                ('.correlate ra r2 cc=0.1 more', 'nothing more is expected'),
                ('.correlate ra rb cc=0.1', "'rb' is not normal")):
            self.refuses(DIVIDER % (card + '\n.dcmatch v(b)'), message)
        normal = DIVIDER.replace('aunif(2k,40)', 'agauss(2k,40,1)')
        for cards in ('.dcmatch v(b)', '.op\n.mc 3'):
            self.refuses(normal % ('.correlate ra r2 rb cc=-0.6\n' + cards),
                         'not positive semidefinite')
        self.write('deck.sp', DIVIDER % '.correlate ra rr cc=0.5\n.dcmatch v(b)')
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("deck.sp:7:15: warning: .correlate: no random number has the name 'rr'",
                      done.stderr)


if __name__ == '__main__':
    periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
