#!/usr/bin/env python3
"""What a run tells of itself: rows of devices, measures of an operating point, warnings.
reports.py VSIM [test...]"""
import math
import os
import re
import subprocess
import sys
import unittest

import folder
from rawfile import read_raw

VSIM = ''
DECK = '''* one of each
v1 d 0 1
m1 d d 0 0 nm w=1u l=1u
m2 d d 0 0 m4 w=1u l=1u
q1 d b 0 qn
rb d b 10k
.model nm nmos level=1 vto=0.5 kp=100u
.model m4 nmos level=14 version=4.8
.model qn npn
.op
'''


class Reports(folder.Folder):
    def vsim(self, deck, *args, code=0):
        self.write('deck.sp', deck + '.end\n')
        done = subprocess.run([VSIM, *args, 'deck.sp'], cwd=self.tmp.name, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout, done.stderr

    def test_a_spectrum_has_the_figures_of_its_tones(self):
        """exp(sin x) is I0(1) + 2 sum I_k(1) cos k(x - pi/2): Abramowitz & Stegun 9.6.34."""
        def bessel(k):
            return sum(0.5 ** (2 * m + k) / (math.factorial(m) * math.factorial(m + k))
                       for m in range(20))
        out, said = self.vsim('spectra\nv1 a 0 sin(0 1 1meg)\nr1 a 0 1k\nb1 d 0 v=exp(v(a))\n'
                              'r2 d 0 1k\n.tran 1n 4u 0 1n\n'
                              '.meas fft thd THD v(d)\n.meas fft h3 FIND vm(d) AT=3meg\n'
                              '.meas fft enob ENOB v(d) binsiz=1\n'
                              '.fft v(a) window=hann\n.fft v(d) np=2048 freq=1meg fmax=8meg\n')
        self.assertEqual(said, '')
        got = {m[1]: float(m[2]) for m in re.finditer(r'(?m)^(\w+) +=  (\S+)', out)}
        rest = math.sqrt(sum(bessel(k) ** 2 for k in range(2, 9))) / bessel(1)
        # samples of 1000 points a period err by h^3 w^3 / 8 = 3e-8, at two in a thousand of them
        self.assertAlmostEqual(got['thd'], 100 * rest, delta=1e-4)
        self.assertAlmostEqual(got['h3'], 2 * bessel(3), delta=1e-6)
        self.assertAlmostEqual(got['enob'], (-20 * math.log10(rest) - 10 * math.log10(1.5))
                               / (20 * math.log10(2)), delta=1e-4)
        table = out.split('FFT of v(d)')[1]
        self.assertEqual(re.findall(r'(?m)^ +(\d+)  \S+ ', table),
                         [str(4 * k) for k in range(1, 9)])

    def test_bad_words_of_fft_are_told_before_the_run(self):
        _, said = self.vsim('t\nv1 a 0 1\nr1 a 0 1k\n.tran 1n 1u\n.fft v(a) windw=hann\n', code=1)
        self.assertIn("deck.sp:5:11: error: 'windw' is no word of .fft", said)
        self.assertIn("did you mean 'window'", said)
        _, said = self.vsim('t\nv1 a 0 1\nr1 a 0 1k\n.op\n.fft v(a)\n')
        self.assertIn('the deck has no .tran analysis', said)

    def test_eyes_of_a_filter(self):
        """Bits of 10 ns, edges of 1 ps, through r and 1 pF: behind each edge the exponential goes on."""
        bits = [int(b) for b in '0110100011101000000000101111111101001100010']
        late, text, was = 5e-9, '0 0', 0
        for k, b in enumerate(bits):
            if b != was:
                text += ' %.15g %d %.15g %d' % (late + k * 1e-8, was, late + k * 1e-8 + 1e-12, b)
            was = b
        deck = ('eyes\n.param r=2k\nv1 in 0 pwl(%s)\nr1 in out {r}\nc1 out 0 1p\n.tran 50p 435n\n'
                '.options reltol=1e-6 vntol=1e-9\n.step param r list 2k 4k 6k\n'
                '.eye v(out) ui=10n offset=5n points=20\n.eye v(in)\n' % text)
        names = ('openheight', 'amplitude', 'jitterpp', 'ui')
        deck += ''.join('.meas eye %s %s v(out)\n' % (n, n) for n in names) + '.meas eye ui_in ui v(in)\n'
        for k, jobs in enumerate('12'):
            self.vsim(deck, '--jobs', jobs, '--measures', 'm%d.csv' % k)
        self.assertEqual(self.read('m0.csv'), self.read('m1.csv'))
        head, *rows = [line.split(',') for line in self.read('m0.csv').split()]
        self.assertEqual(len(rows), 3)
        for row in rows:
            got = {n.strip('"'): float(x) for n, x in zip(head, row) if re.match('[-0-9.]', x)}
            tau, y, lows, highs = got['r'] * 1e-12, 0, [], []
            for b in bits:
                part = [b + (y - b) * math.exp(-t / tau) for t in (4e-9, 6e-9)]
                (highs if b else lows).append(min(part) if b else max(part))
                y = b + (y - b) * math.exp(-1e-8 / tau)
            # the edge is half a picosecond later than the step, and has steps of 50 ps behind it
            self.assertAlmostEqual(got['openheight'], min(highs) - max(lows), delta=2 * 0.5e-12 / tau + 1e-5)
            self.assertAlmostEqual(got['ui'], 1e-8, delta=1e-22)
            self.assertAlmostEqual(got['ui_in'], 1e-8, delta=1e-16)

    def test_an_eye_in_a_block_and_its_file(self):
        out, said = self.vsim('eye\nv1 a 0 pulse(0 1 1n 0.1n 0.1n 0.9n 2n)\nr1 a 0 1k\n.tran 10p 20n\n.control\nrun\n'
                              'eye v(a) points=10\nmeas eye r rise v(a)\nwrite eye.raw v(a)\n'
                              'print length(v(a))\n.endc\n')
        self.assertEqual(said, '')
        self.assertIn('Eye diagram of v(a): 18 traces', out)
        self.assertRegex(out, r'(?m)^ +rise time, 20 to 80 % +6e-11 s$')
        self.assertRegex(out, r'(?m)^r +=  6\.000000e-11')
        _, p = read_raw(self.path('eye.raw'))[-1]
        for k in range(18):
            x, y = p['time'][22 * k:22 * k + 22], p['v(a)'][22 * k:22 * k + 22]
            self.assertEqual([math.isnan(v) for v in y], [False] * 21 + [True])
            self.assertEqual(x, p['time'][:22])
            self.assertAlmostEqual(y[5], 0.5, delta=1e-9)  # the crossing
            self.assertEqual(abs(y[10] - y[20]), 1)  # a clock: the middles of neighbours

    def test_phases_of_a_run_add_up(self):
        out, said = self.vsim('phases\nv1 a 0 ac 1 pulse(0 1 0 1n 1n 1u 2u)\nr1 a b 1k\nd1 b 0 dx\n.model dx d cjo=1p\n'
                              '.op\n.dc v1 0 1 0.1\n.ac dec 2000 1 1e9\n.tran 1n 20u\n')
        line = re.search(r'(?m)^time by phase, s: (.*)$', out + said)[1]
        run, inside = line.split('; within analyses: ')
        own, part = ({m[1]: float(m[2]) for m in re.finditer(r'([a-z ]+) ([0-9.]+)', t.split(';')[0])}
                     for t in (run, inside))
        total = own.pop(' total')
        rounding = 0.0005 * (len(own) + 1) + 1e-9
        self.assertLessEqual(abs(sum(own.values()) - total), rounding, line)
        analyses = own[' op'] + own[' tran'] + own[' other analyses']
        self.assertGreater(own[' other analyses'], 0, line)
        self.assertLessEqual(sum(part.values()), analyses + 0.0005 * (len(part) + 3), line)

    def test_a_device_is_one_row(self):
        out, _ = self.vsim(DECK)
        rows = re.findall(r'(?m)^  (m1|m2|q1|rb) +(.*=.*)$', out)
        self.assertEqual([name for name, _ in rows], ['m1', 'm2', 'q1', 'rb'])
        for _, values in rows[:3]:
            self.assertIn(' gm=', values)
        # kp/2 (vgs - vto)^2 = 12.5 uA
        self.assertIn('id=1.25e-05', rows[0][1])
        self.assertNotIn('@', out)

    def test_all_variables_with_v(self):
        out, _ = self.vsim(DECK, '-v')
        self.assertIn('@m2[cgg]', out)
        self.assertIn('@q1[cpi]', out)

    def test_measures_of_an_operating_point_need_no_at(self):
        out, _ = self.vsim(DECK + '.meas op vb find v(d)\n.meas op twice find par(\'2*v(d)\')\n')
        self.assertRegex(out, r'(?m)^vb +=  1\.000000e\+00')
        self.assertRegex(out, r'(?m)^twice +=  2\.000000e\+00')

    def test_a_measure_along_an_axis_still_does(self):
        _, err = self.vsim('* rc\nv1 a 0 1\nr1 a 0 1k\n.tran 1n 10n\n.meas tran x find v(a)\n', code=1)
        self.assertIn('FIND needs WHEN or AT=', err)

    def test_resistors_too_small_are_told(self):
        _, err = self.vsim('* r\ni1 0 a 1\nr1 a 0 1e-14\n.op\n')
        self.assertIn('r1: r = 1e-14 Ohm is below 1e-12 Ohm, which is used', err)
        _, err = self.vsim('* r\ni1 0 a 1\nr1 a 0 1e-12\n.op\n')
        self.assertEqual(err, '')

    def test_a_voltage_contribution_to_ground_is_a_path(self):
        self.write('m.va', '`include "disciplines.vams"\nmodule vc1(a, out); inout a, out; electrical a, out;\n'
                   'analog V(out) <+ 2 * V(a);\nendmodule\n')
        head = '* m\n.hdl "m.va"\nv1 a 0 1\nr1 a 0 1k\n.model m1 vc1\n.op\n'
        out, err = self.vsim(head + 'n1 a out m1\nr2 out x 1k\nr3 x 0 1k\n')
        self.assertNotIn('no dc path', err)
        self.assertIn('v(out)                   2', out)
        out, err = self.vsim(head + 'n1 a out m1\nc2 out 0 1p\n')
        self.assertEqual(err, '')
        self.assertRegex(out, r'(?m)^  i\(n1\) +-?0$')  # and no gmin loads it
        _, err = self.vsim(head + 'n1 a out m1\nr2 out x 1k\nc1 x y 1p\nc2 y 0 1p\n')
        self.assertIn("no dc path to ground from node 'y'", err)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
