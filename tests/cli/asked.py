#!/usr/bin/env python3
"""Values inside devices at every point of a transient or of a long sweep: kernels of their own give what the interpreter gives.

    asked.py VSIM"""
import csv
import json
import os
import subprocess
import sys
import unittest

from folder import Folder

VSIM = ''
ASKED = {'m1': 'id gm gds cgs p', 'm2': 'id gm gds', 'q1': 'ic ib gm gpi p', 'd1': 'id gd p', 'r1': 'i p', 'c1': 'v', 'b1': 'i'}
DECK = """x
.model nm nmos level=1 vto=0.6 kp=200u gamma=0.4 lambda=0.05 cgso=1n
.model pm pmos level=1 vto=-0.7 kp=80u
.model qm npn is=1e-15 bf=120 vaf=50 cje=1p tf=0.1n
.model dm d is=1e-14 rs=2 cjo=1p
vdd vdd 0 2.5
vin in 0 sin(1.1 0.6 2meg)
r1 vdd out 5k
m1 out in 0 0 nm w=10u l=1u
m2 o2 out vdd vdd pm w=20u l=1u
r2 o2 0 10k
q1 vdd o2 e qm
r3 e 0 2k
d1 e k dm
r4 k 0 3k
c1 k 0 10p
b1 0 k i=1u*v(e)
"""
SAVES = '.save v(out) v(o2) v(e) v(k)\n' + ''.join('.save @%s[%s]\n' % (d, w) for d, words in ASKED.items() for w in words.split())


class Asked(Folder):
    def run_it(self, deck, *args, **env):
        self.write('d.sp', deck + '.end\n')
        r = subprocess.run([VSIM, '--csv', '-r', 'out.csv', '--stats', 's.json', *args, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                           env={**os.environ, **env})
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        tables, rows = [], list(csv.reader(self.read('out.csv').splitlines()))
        for row in rows:
            if row and row[0].startswith('#'):
                continue
            try:
                values = [float(v) for v in row]
            except ValueError:
                tables.append({name: [] for name in row})
                continue
            for name, v in zip(tables[-1], values):
                tables[-1][name].append(v)
        return tables, r.stdout + r.stderr

    def same(self, a, b, bound):
        self.assertEqual(list(a), list(b))
        for name in a:
            scale = max(map(abs, a[name])) + 1e-30
            self.assertEqual(len(a[name]), len(b[name]))
            for x, y in zip(a[name], b[name]):
                self.assertTrue(x != x and y != y or abs(x - y) <= bound * scale, (name, x, y))

    def test_the_first_point_is_the_operating_point(self):
        """Of which the interpreter, which is not specialised, tells the values."""
        (op, tran), _ = self.run_it(DECK + SAVES + '.option reltol=1e-7 vntol=1e-12 abstol=1e-18\n.op\n.tran 1n 20n\n')
        asked = [n for n in tran if n.startswith('@')]
        self.assertEqual(len(asked), sum(len(w.split()) for w in ASKED.values()))
        for name in asked:
            self.assertLessEqual(abs(op[name][0] - tran[name][0]), 1e-6 * abs(op[name][0]) + 1e-15, name)

    def test_kernels_and_interpreter(self):
        (plain,), _ = self.run_it(DECK + SAVES + '.tran 1n 500n\n', '--interpret')
        (tran,), said = self.run_it(DECK + SAVES + '.tran 1n 500n\n', '--check-kernels')
        self.assertRegex(said, r'(?m)^ +\S+ +asked +\S+')
        self.same(plain, tran, 1e-6)  # their steps differ by what rounding does to estimates of errors

    def test_the_same_bits_for_all_lanes(self):
        deck = DECK + ''.join('mx%d vdd in 0 0 nm w=%du l=1u\n.save @mx%d[gm]\n' % (i, i + 1, i) for i in range(10)) + SAVES + '.tran 1n 100n\n'
        want = self.run_it(deck, VSIM_LANES='1')[0]
        for lanes in '248':
            self.assertEqual(self.run_it(deck, VSIM_LANES=lanes)[0], want)

    def test_long_sweeps(self):
        """Their values come from kernels, those of short ones from the interpreter."""
        def sweep(step, *args):
            (t,), said = self.run_it(DECK + SAVES + '.option reltol=1e-7 vntol=1e-12 abstol=1e-18\n.dc vin 0.5 1.5 %s\n' % step, *args)
            self.assertEqual(' asked ' in said, step == '1m' and '--check-kernels' in args)
            return t
        fine, coarse = sweep('1m', '--check-kernels'), sweep('10m', '--check-kernels')
        self.same({name: v[::10] for name, v in fine.items()}, coarse, 1e-6)

    def test_current_and_power_fit_what_is_outside(self):
        (t,), _ = self.run_it(DECK + SAVES + '.save v(vdd) i(vdd)\n.tran 1n 500n\n')
        for k, out in enumerate(t['v(out)']):
            v = t['v(vdd)'][k] - out  # of numbers up to 2.5, so known to 1e-15
            self.assertLessEqual(abs(t['@r1[i]'][k] - v / 5e3), 1e-14 * 2.5 / 5e3)
            self.assertLessEqual(abs(t['@r1[p]'][k] - v * v / 5e3), 1e-14 * 2.5 * 2.5 / 5e3)
            self.assertEqual(t['@c1[v]'][k], t['v(k)'][k])

    def test_sizes_share_a_kernel(self):
        """Of ten sizes of a transistor all take the same kernel."""
        deck, n = DECK + '.tran 1n 20n\n', {}
        for i in range(10):
            deck += 'mx%d vdd in 0 0 nm w=%du l=1u\n' % (i, i + 1)
        for save in '', ''.join('.save @mx%d[gm]\n' % i for i in range(10)):
            self.run_it(deck + '.save v(out)\n' + save, '--no-cache')
            n[bool(save)] = json.loads(self.read('s.json'))['kernels_compiled']
        self.assertEqual(n[True], n[False] + 1)

    def test_limits_of_cards(self):
        deck = DECK.replace('cjo=1p', 'cjo=1p id_max=0.2m') + '.option warn=1\n.save v(k)\n.tran 1n 500n\n'
        said = [self.run_it(deck, *how)[1] for how in ((), ('--interpret',))]
        warned = [[line for line in s.splitlines() if 'id_max' in line] for s in said]
        self.assertTrue(warned[0])
        self.assertEqual(*warned)

    def test_derivatives_with_checked_kernels(self):
        """Groups beside those of the circuit have names of their devices too: this crashed."""
        _, said = self.run_it(DECK + '.save v(k)\n.tran 1n 50n\n.meas tran top max v(k)\n.sens tran top param=r1 m1:w dm:is\n', '--check-kernels')
        self.assertRegex(said, r'(?m)^ +\S+ +back +\S+')


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
