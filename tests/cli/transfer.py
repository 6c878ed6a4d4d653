#!/usr/bin/env python3
"""Transfer from all sources (.acxf, .dcxf) against .ac and .tf of each of them.

    transfer.py VSIM [test...]

Both solve with the same factors, one with the matrix and one with its transpose; the bound is rounding
for conditions up to 1e4."""
import os
import subprocess
import sys
import unittest

import folder
import periodic

VSIM = ''
SOURCES = ['vin', 'vcc', 'ib', 'x1.vs']
DECK = """a stage with sources everywhere
.model qn npn is=1e-16 bf=120 vaf=60 rb=80 re=1 rc=5 cje=1p cjc=0.5p tf=0.2n
.subckt out a b
vs a m 0 AC3
r1 m b 2k
.ends
vcc vcc 0 10 AC1
vin in 0 0 AC0
c1 in b 100n
r1 vcc b 47k
r2 b 0 10k
r3 vcc c 3.3k
r4 e 0 1k
ce e 0 10u
q1 c b e qn
ib e 0 1u AC2 m=2
x1 c 0 out
"""


class Transfer(folder.Folder):
    def run_deck(self, text, fails=False):
        self.write('deck.sp', text)
        done = subprocess.run([VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, timeout=300,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stdout + done.stderr if fails else periodic.plots(self.path('out.raw'))

    def deck(self, driven, cards):
        text = DECK
        for i in range(len(SOURCES)):
            text = text.replace(f'AC{i}', 'ac 1' if i == driven else '')
        return text + cards + '.end\n'

    def close(self, a, b, most):
        self.assertLessEqual(abs(a - b), 1e-12 * most, f'{a} for {b}')

    def test_every_source_as_by_ac(self):
        for out, vector in (('v(c,e)', None), ('i(vcc)', 'i(vcc)')):
            xf = self.run_deck(self.deck(-1, f'.acxf {out} dec 2 10 1g\n'))[0][1]
            for i, name in enumerate(SOURCES):
                ac = self.run_deck(self.deck(i, '.ac dec 2 10 1g\n'))[0][1]
                want = ac[vector] if vector else [a - b for a, b in zip(ac['v(c)'], ac['v(e)'])]
                self.assertEqual(len(xf[name]), len(want))
                for a, b in zip(xf[name], want):
                    self.close(a, b, max(map(abs, want)))

    def test_every_source_as_by_tf(self):
        xf = self.run_deck(self.deck(-1, '.dcxf v(c)\n'))[0][1]
        for name in SOURCES:
            tf = self.run_deck(self.deck(-1, f'.tf v(c) {name}\n'))[0][1]
            want = tf['transfer_function'][0]
            self.close(xf[name][0], want, max(abs(want), 1e-3))

    def test_measures_and_prints(self):
        text = self.deck(-1, '.acxf v(c) dec 10 10 1g\n.meas acxf top max vm(vin)\n'
                             '.print acxf vin\n')
        self.run_deck(text)

    def test_what_cannot_be_is_said(self):
        self.assertIn("no node 'd'", self.run_deck(self.deck(-1, '.dcxf v(d)\n'), True))
        self.assertIn('dec, oct or lin', self.run_deck(self.deck(-1, '.acxf v(c)\n'), True))
        self.assertIn('no independent source',
                      self.run_deck('deck\nr1 a 0 1k\n.dcxf v(a)\n.end\n', True))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
