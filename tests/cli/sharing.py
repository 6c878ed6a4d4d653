#!/usr/bin/env python3
"""Loops, indices, sums and shared expressions: netlists/epidemic.sp and small variants of it.

    sharing.py VSIM [test...]"""
import csv
import json
import math
import os
import subprocess
import sys
import unittest

import folder

VSIM = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
BETA, TAU, PEOPLE = 1.8, 6.0, 1000.0


def epidemic():
    with open(os.path.join(ROOT, 'netlists', 'epidemic.sp')) as f:
        return f.read()


def sized(text, na, nv, nl, ni):
    return text.replace('na=4 nv=2 nl=51 ni=11', 'na=%d nv=%d nl=%d ni=%d' % (na, nv, nl, ni))


def integrate(na, nv, nl, ni, t_end, h):
    """The same epidemic by the classical Runge-Kutta method: number in E(1,0,7) and X(0,0,0,0) at t_end."""
    everybody = na * nv * nl * ni * PEOPLE
    cells = [(a, v, l) for a in range(na) for v in range(nv) for l in range(nl)]
    theta = [1 - k / 12 for k in range(ni)]
    weight = [[math.exp(-abs(a - p) / 2) * (1 - v / 2) * (1 + l / 100) / 2.2 for p, v, l in cells] for a in range(na)]
    # all places of an age are alike but for what started there: X depends on age and immunity only
    x = [[PEOPLE] * ni for _ in range(na)]
    e = [50.0 if (a, l) == (1, 7) else 0.0 for a, v, l in cells]

    def rates(x, e):
        foi = [BETA / everybody * sum(w * n for w, n in zip(weight[a], e)) for a in range(na)]
        dx = [[-foi[a] * theta[k] * x[a][k] for k in range(ni)] for a in range(na)]
        into = [-sum(row) for row in dx]
        return dx, [into[c[0]] - n / TAU for c, n in zip(cells, e)]

    def moved(x, e, d, s):
        return ([[p + s * q for p, q in zip(r, t)] for r, t in zip(x, d[0])], [p + s * q for p, q in zip(e, d[1])])

    for _ in range(round(t_end / h)):
        k1 = rates(x, e)
        k2 = rates(*moved(x, e, k1, h / 2))
        k3 = rates(*moved(x, e, k2, h / 2))
        k4 = rates(*moved(x, e, k3, h))
        for k, s in ((k1, h / 6), (k2, h / 3), (k3, h / 3), (k4, h / 6)):
            x, e = moved(x, e, k, s)
    return {'v(e[1,0,%d])' % min(7, nl - 1): e[cells.index((1, 0, min(7, nl - 1)))], 'v(x[0,0,0,0])': x[0][0]}


class Sharing(folder.Folder):
    def vsim(self, text, *args, code=0):
        deck = self.path(self.write('deck.sp', text))
        done = subprocess.run([VSIM, *args, deck], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout + done.stderr

    def table(self, text):
        self.vsim(text, '-q', '--csv', '-r', 'out.csv')
        with open(self.path('out.csv')) as f:
            rows = list(csv.reader(f))
        return {n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(rows[0])}

    def groups(self, text):
        """Instances and terminals of the groups made for expressions, and the unknowns."""
        out = json.loads(self.vsim(text, 'explain', '--json'))
        seen = {g['module']: (g['instances'], g['unknowns_before']) for g in out['groups'] if 'behav' in g['module']}
        return sorted(seen.values()), out['unknowns']

    def test_body_stands_once_per_row(self):
        groups, unknowns = self.groups(epidemic())
        self.assertIn((4, 410), groups)  # four rows of 408 terms
        self.assertEqual(sum(n for n, _ in groups), 4488 + 4)
        self.assertTrue(all(k == 3 for n, k in groups if n != 4), groups)  # a cell reads its X, its E, foi
        self.assertEqual(unknowns, 4488 + 408 + 4)

    def test_the_ssa_has_the_sum_once(self):
        out = self.vsim(sized(epidemic(), 4, 2, 6, 2), '--dump=ir')
        reads = out.count('probe')
        wide = self.vsim(sized(epidemic(), 4, 2, 9, 2), '--dump=ir').count('probe')
        # 24 more nodes in the sum: read in one function per form of one module, whatever the number of cells
        self.assertLessEqual(wide - reads, 24 * 8)
        self.assertGreater(wide, reads)

    def test_rows_by_age_and_place(self):
        text = epidemic().replace('.for age = 0 to na-1\n.var foi[{age}]',
                                  '.for age = 0 to na-1\n.for here = 0 to nl-1\n.var foi[{age},{here}]')
        text = text.replace('/2.2} *', '/(2+abs(here-loc)/10)} *').replace(')))}\n.endfor', ')))}\n.endfor\n.endfor')
        text = text.replace('foi[{age}]*', 'foi[{age},{loc}]*')
        groups, unknowns = self.groups(text)
        self.assertIn((204, 410), groups)
        self.assertEqual(unknowns, 4488 + 408 + 204)

    def test_shared_is_plain_at_small_size(self):
        text = sized(epidemic(), 4, 2, 8, 3)
        text = '\n'.join(line for line in text.split('\n') if not line.startswith('.save'))
        text = text.replace('.tran 0.5 120', '.save v(e[1,0,7]) v(x[0,0,0,0])\n.options reltol=1e-6\n.tran 0.5 60')
        plain = self.table(text.replace('.options', '.options noshare'))
        shared = self.table(text)
        for name in ('v(e[1,0,7])', 'v(x[0,0,0,0])'):
            self.assertAlmostEqual(plain[name][-1], shared[name][-1], delta=2e-5 * max(plain[name]))
        exact = integrate(4, 2, 8, 3, 60, 0.25)
        for name, value in exact.items():
            self.assertAlmostEqual(shared[name][-1], value, delta=1e-4 * max(shared[name]))

    def test_full_size_against_runge_kutta(self):
        text = epidemic().replace('.save v(e[0,0,0])', '.options reltol=1e-5\n.save v(e[0,0,0])')
        found = self.table(text)
        for name, value in integrate(4, 2, 51, 11, 120, 0.5).items():
            self.assertAlmostEqual(found[name][-1], value, delta=5e-4 * max(found[name]))
        self.assertGreater(max(found['v(e[0,0,0])']), 100)  # there is an epidemic

    def test_loops(self):
        deck = """loops
.param n=3
.for i = 0 to n-1
.for j = {i} to 0 step -1
R[{i},{j}] x[{i}] y_{j} {1k*(i+1) + j}
.endfor
.endfor
V1 x[0] 0 1
Rg y_0 0 1k
.op
.end
"""
        out = self.vsim(deck, '--dump=circuit')
        names = [line.split()[0] for line in out.split('\n') if line.startswith('r[')]
        self.assertEqual(names, ['r[0,0]', 'r[1,1]', 'r[1,0]', 'r[2,2]', 'r[2,1]', 'r[2,0]'])
        self.assertIn('r[2,1] x[2] y_1 value=3001', out)
        more = self.vsim(deck, '-D', 'n=5', '--dump=circuit')
        self.assertIn('r[4,4] x[4] y_4 value=5004', more)

    def test_bad_input(self):
        body = 'R1 a 0 1k\nV1 a 0 1\n.op\n.end\n'
        for text, expected in [
                ('.for i = 0 to 3\nR{i} a 0 1k\n', '.for without .endfor'),
                ('.endfor\n', '.endfor without .for'),
                ('.for i = 0 to v(a)\n.endfor\n', 'bounds of .for must be numbers'),
                ('.for i = 0 to 1e9\nR{i} a 0 1k\n.endfor\n', 'more than 4000000 turns'),
                ('.for i = 0 to 3 step 0\n.endfor\n', 'step of .for is 0'),
                ('.for 3 = 0 to 3\n.endfor\n', '.for needs'),
                ('.for i = 0 to 2\nR9 q[{i/2}] 0 1k\n.endfor\n', 'an index must be a whole number'),
                ('B1 b 0 v={sum(k, 0, v(a), v(a))}\n', 'bounds of sum() must be numbers'),
                ('.var x={y}\n.var y={x+1}\nB1 b 0 v={x}\n', 'depends on itself'),
                ('.var x={v(a)}\nR2 a 0 {x}\n', "depends on the circuit"),
                ('B1 b 0 v={foi[3]}\n', "unknown parameter 'foi[3]'")]:
            out = self.vsim('bad\n' + text + body, code=1)
            self.assertIn(expected, out, text)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
