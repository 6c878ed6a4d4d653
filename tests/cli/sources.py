#!/usr/bin/env python3
"""Random waveforms, tables of PWL in files and jumps of sources: the same numbers for any steps, workers and files. Options that change
what a deck means: interp, defl and its kind, gshunt.

    sources.py VSIM"""
import csv
import math
import os
import subprocess
import sys
import unittest

from folder import Folder

VSIM = ''


class Sources(Folder):
    def run_deck(self, text, *args, name='d.sp', fails=False):
        self.write(name, text)
        r = subprocess.run([VSIM, '--csv', '-r', 'out.csv', *args, name], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode != 0, fails, r.stdout + r.stderr)
        return r.stdout + r.stderr if fails else self.read('out.csv')

    def columns(self, text):
        rows = list(csv.reader(text.splitlines()))
        return [[float(v) for v in c] for c in zip(*rows[1:])]

    def noise(self, tmax, more=''):
        return self.run_deck(f'noise\nv1 a 0 dc 1 trnoise(1m 1u 1 1m 5m 20u 30u)\nv2 b 0 trrandom(2 1u 0 1)\nr1 a 0 1k\nr2 b 0 1k\n'
                             f'.tran 1u 60u 0 {tmax}\n{more}.end\n')

    def test_values_do_not_depend_on_the_steps(self):
        """At the corners, which all runs meet."""
        def table(text):
            t, a, b = self.columns(text)[:3]
            return {round(x * 1e6): (u, v) for x, u, v in zip(t, a, b) if abs(x * 1e6 - round(x * 1e6)) < 1e-9}
        coarse, fine = table(self.noise('1u')), table(self.noise('0.13u'))
        self.assertGreater(len(coarse), 59)
        for k in coarse:
            for u, v in zip(coarse[k], fine[k]):
                self.assertAlmostEqual(u, v, delta=1e-12)
        self.assertEqual(coarse[0], (1, 0))

    def test_seeds_and_samples(self):
        plain = self.noise('1u')
        self.assertEqual(plain, self.noise('1u'))
        seeds = [self.noise('1u', f'.option seed={k}\n') for k in (1, 2, 1)]
        self.assertEqual(seeds[0], seeds[2])
        self.assertNotEqual(seeds[0], seeds[1])
        deck = ('noise\nv1 a 0 trnoise(1m 1u)\nr1 a b 1k\nc1 b 0 1n\n.mc 6 seed=4\n.tran 1u 40u\n'
                '.meas tran last find v(b) at=39.5u\n.end\n')
        one = self.run_deck(deck)
        self.assertEqual(one, self.run_deck(deck, '--jobs', '2', '--measures', 'm.csv'))
        values = [float(r['last']) for r in csv.DictReader(self.read('m.csv').splitlines())]
        self.assertEqual(len(set(values)), 6)
        self.assertLess(max(map(abs, values)), 5e-3)

    def test_pwl_file(self):
        deck = 'pwl\nv1 a 0 pwl{}\nr1 a b 1k\nc1 b 0 1n\n.tran 0.1u 8u\n.end\n'
        self.write('my table.txt', '* time value\n0 0\n\n1u, 1 # up\n2u\t0.5\r\n  5u , -1;\n')
        inline = self.run_deck(deck.format('(0 0 1u 1 2u 0.5 5u -1) r=1u td=0.5u'))
        self.assertEqual(inline, self.run_deck(deck.format(' file="my table.txt" r=1u td=0.5u')))
        self.assertEqual(inline, self.run_deck(deck.format('(file="my table.txt") r=1u td=0.5u')))
        for text, message in (('0 0\n1u\n', "bad.txt:2:1: error: a time and a value are expected"),
                              ('0 0 0\n', 'bad.txt:1:5: error: text behind time and value'),
                              ('1 0\n0 1\n', 'bad.txt:2:1: error: PWL times do not go back: 0 after 1'),
                              ('# none\n', "error: file 'bad.txt' has no pairs of time and value")):
            self.write('bad.txt', text)
            self.assertIn(message, self.run_deck(deck.format(' file=bad.txt'), fails=True))

    def test_jumps_are_exact(self):
        """At the jump the value before it, behind it the exact answer of the RC; no step is rejected."""
        deck = 'jump\nv1 a 0 pwl(0 0 1u 0 1u 1 3u 1 3u 1.01)\nr1 a b 1k\nc1 b 0 1n\n.tran 20n 4u\n.end\n'
        t, a, b = self.columns(self.run_deck(deck, '--stats', 'st.json'))[:3]
        for x, u, v in zip(t, a, b):
            up, more = max(x - 1e-6, 0), max(x - 3e-6, 0)
            self.assertEqual(u, 1.01 if more > 0 else 1 if up > 0 else 0)
            self.assertAlmostEqual(v, 1 - math.exp(-up / 1e-6) + 0.01 * (1 - math.exp(-more / 1e-6)), delta=1e-4)
        self.assertIn('"points_rejected": 0', self.read('st.json'))

    def test_interp_writes_multiples_of_tstep(self):
        deck = 'interp\nv1 a 0 sin(0 1 1meg)\nr1 a 0 1k\n{}.tran 50n 3u {} 10n\n.end\n'
        t, a = self.columns(self.run_deck(deck.format('.options interp\n', '1u')))[:2]
        self.assertEqual([round(x * 1e9, 6) for x in t], [1000 + 50 * k for k in range(41)])
        for x, y in zip(t, a):
            self.assertAlmostEqual(y, math.sin(2e6 * math.pi * x), delta=6e-4)
        every = self.columns(self.run_deck(deck.format('', '0')))[0]
        self.assertGreater(len(every), 300)

    def test_telegraph_noise_without_times_is_left_out(self):
        deck = 'noise\nv1 a 0 trnoise(1m 1u 0 1 {})\nr1 a 0 1k\n.tran 1u 30u\n.end\n'
        plain = self.run_deck(deck.format('0'))
        for numbers in ('5', '5 0 0', '5 0'):
            self.assertEqual(self.run_deck(deck.format(numbers)), plain)
        said = self.run_deck(deck.format('5 1u'), fails=True)
        self.assertIn('needs the times of capture and emission', said)

    def test_default_geometry_and_gshunt(self):
        deck = ('geometry\nv1 a 0 2\n.options {}\nm1 a a 0 0 nm\nm2 a a 0 0 nm l={} w={}\nr1 a b 1k\n'
                '.model nm nmos level=1 kp=20u vto=0.7 cj=1m\n.save @m1[id] @m2[id] v(b)\n.op\n.end\n')
        one, two, b = self.columns(self.run_deck(deck.format('defl=1u defw=3u gshunt=1m', '1u', '3u')))
        self.assertEqual(one, two)
        self.assertAlmostEqual(one[0], 0.5 * 20e-6 * 3 * 1.3 ** 2, delta=1e-9)
        self.assertAlmostEqual(b[0], 1, delta=1e-6)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
