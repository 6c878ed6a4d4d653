#!/usr/bin/env python3
"""Sweeps that change values in place: every point is the run of that point alone, bit by bit, and only what
depends on a change is made again.

    redo.py VSIM SOURCE_ROOT [unittest arguments]"""
import array
import json
import os
import random
import re
import subprocess
import sys
import time
import unittest

from folder import Folder

VSIM = ROOT = ''
LINE = re.compile(r'point (\d+): (.*?): (\d+) netlists expanded, (\d+) circuits built, (\d+) kernels compiled, '
                  r'(\d+) matrices ordered, (\d+) operating points found, (\d+) taken over; in place (\d+) rows, (\d+) sources \((.*)\)')

HEAD = """values in place
.param p=2 q=2.5
.model dm d (is=1e-14 rs=5 cjo=1p)
.model nm nmos (level=1 vto=0.7 kp=1e-4 lambda=0.02)
.subckt cell a b r0=1k
R1 a m {r0*(1+p/10)}
R2 m b {r0}
C1 m 0 {1p*q}
D1 m 0 dm area={1+q}
.ends
"""
# what depends on p and q, what the parts beside it are; `build`: points may build the circuit anew
CASES = {
    'resistor': 'V1 a 0 1\nR1 a b {1k*p}\nR2 b 0 1.5k\nC1 b 0 1n\n.op\n.tran 10n 1u\n',
    'capacitor': 'V1 a 0 pulse(0 1 0 1n 1n 100n 200n)\nR1 a b 1k\nC1 b 0 {10p*p}\nC2 b 0 15p\n.tran 1n 1u\n',
    'inductors': 'V1 a 0 sin(0 1 1meg)\nR1 a b 50\nL1 b 0 {1u*p}\nL2 c 0 {2.1u*q}\nK1 L1 L2 0.5\nR2 c 0 50\n.tran 5n 2u\n',
    'source': 'V1 a 0 dc {p} ac {q}\nR1 a b 1k\nD1 b 0 dm\nC1 b 0 1p\n.op\n.ac dec 3 1k 1g\n.noise v(b) V1 dec 2 1k 1meg\n',
    'pulse': 'V1 a 0 pulse(0 {p} {10n*q} 1n 1n {50n*p} 200n)\nR1 a b 1k\nC1 b 0 10p\n.tran 1n 600n\n',
    'pwl': 'V1 a 0 pwl(0 0 {10n*q} {p} 100n 0)\nI1 b 0 sin(0 {1m*p} {1meg*q})\nR1 a b 1k\nC1 b 0 10p\n.tran 1n 600n\n',
    'subcircuits': 'V1 a 0 1\nX1 a b cell r0={1k*q}\nX2 b 0 cell\nX3 b c cell r0={2.1k*p}\nR9 c 0 1k\n.op\n.tran 10n 1u\n',
    'transistors': 'Vd d 0 1.8\nVg g 0 {0.5+p/4}\nM1 d g s 0 nm w={1u*q} l=1u\nM2 d g s 0 nm w=2.5u l=1u m={p}\nRs s 0 10k\n.op\n'
                   '.dc Vg 0 1.8 0.2\n.tran 1n 20n\n',
    'model card': '.model nx nmos (level=1 vto={0.4+p/10} kp=1e-4 lambda={0.01*q})\nVd d 0 1.8\nVg g 0 1\nM1 d g s 0 nx w=1u l=1u\n'
                  'M2 d g s 0 nm w=2u l=1u\nRs s 0 10k\n.op\n.tran 1n 20n\n',
    'expressions': '.func f(x) {x*x*p}\nV1 a 0 sin(0.5 1 1meg)\nB1 b 0 v={f(v(a))+q}\nB2 c 0 i={1m*v(a)*p+1u*temper}\n'
                   'R1 b 0 1k\nR2 c 0 {1k+q}\nR3 b e {1k*(1+p*v(a)*v(a))}\nC3 e 0 1p\nE1 g 0 value={q*v(b)}\nR4 g 0 1k\n.tran 10n 2u\n',
    'controlled': 'V1 a 0 1\nR1 a 0 1k\nE1 b 0 a 0 {p}\nG1 c 0 a 0 {1m*q}\nF1 d 0 V1 {q}\nH1 e 0 V1 {100*p}\n'
                  'E2 f 0 poly(1) a 0 0 {p} {q}\nR2 b 0 1k\nR3 c 0 1k\nR4 d 0 1k\nR5 e 0 1k\nR6 f 0 1k\n.op\n',
    'ics': '.ic v(b)={p/4}\n.nodeset v(a)={q}\nV1 a 0 1\nR1 a b 1k\nC1 b 0 1n\nC2 b c 1n ic={q/8}\nR2 c 0 10k\n.tran 10n 1u\n.tran 10n 1u 0 10n uic\n',
    'chains': '.param a1={p*2} a2={a1+q} a3={a1>2?a2:a1}\n.var w={a3*v(a)}\nV1 a 0 1\nR1 a b {1k*a3}\nR2 b 0 {500+a2}\nB1 0 b i={1u*w}\n.op\n',
    'measures': '.param lim={p/4}\nV1 a 0 pulse(0 1 0 1n 1n 100n 200n)\nR1 a b {1k*p}\nC1 b 0 50p\n.tran 1n 400n\n'
                '.meas tran d when v(b)={lim/2} rise=1\n.meas tran e param={2*p+q}\n',
    'one row for two': 'V1 a 0 1\nM1 a a 0 0 nm w={1u*p} l=1u\nM2 a a b 0 nm w={2u} l=1u\nM3 a a b 0 nm w={1u*p} l=1u\nR1 b 0 1k\n.op\n',
    'a branch': 'V1 a 0 1\n.if (p>2)\nR1 a b 1k\n.else\nR1 a b 2k\nR3 b c 1k\nR4 c 0 1k\n.endif\nR2 b 0 {1k*q}\n.op\n',
    'collapse': '.model dr d (is=1e-14 rs={p-2})\nV1 a 0 0.8\nR1 a b 10\nD1 b 0 dr area={q}\n.op\n.tran 1n 10n\n',
    'analysis': 'V1 a 0 sin(0 1 1meg)\nR1 a b {1k*q}\nC1 b 0 100p\n.tran 10n {p*1u}\n',
    'bins': '.model nb.1 nmos (level=1 vto=0.5 lmin=0 lmax=1 wmin=0 wmax=2.5u)\n.model nb.2 nmos (level=1 vto=0.9 lmin=0 lmax=1 wmin=2.5u wmax=1)\n'
            'V1 a 0 1.5\nM1 a a b 0 nb w={1u*p} l=1u\nR1 b 0 {1k*q}\n.op\n',
    'branches of parameters': '.subckt s a b k=1\n.param r=1k c=1p\n.if (k>2)\n.param r={1k*k} c=2p\n.elseif (k>1.5)\n.param r=700\n.endif\n'
                              'R1 a m {r}\nR2 m b {2*r}\nC1 m 0 {c}\nX1 m t r={r/2}\n.ends\n.subckt t a r=1\n.if (r>600)\n.param g={r+1}\n.else\n'
                              '.param g={2*r}\n.endif\nR1 a 0 {g}\n.ends\nV1 a 0 1\nX1 a b s k={p}\nX2 b 0 s\nR1 b 0 {1k*q}\n.op\n.tran 10n 100n\n',
    'branches that stay': 'V1 a 0 1\n.if (p>0)\nR1 a b {1k*p}\n.else\nR1 a c 1k\n.endif\n.if (q*p>1e3)\nR9 a 0 1\n.endif\nR2 b 0 {1k*q}\n.op\n',
    'multiplicities': '.subckt s a b n=1\nX1 a b t m={n}\n.ends\n.subckt t a b\nR1 a b 1k\nC1 a b 1p\nI1 a b 1m\n.ends\nV1 a 0 1\nX1 a b s m={p} n={q}\n'
                      'X2 b 0 t m={1+q}\nR1 b 0 1k\n.op\n.tran 10n 100n\n',
    'joined': '.model nj nmos (level=1 vto=0.5 kp=1e-4 lambda={q-2.5})\n.model pj nmos (level=1 vto=0.4 kp={2e-5*p} gamma={p-2})\n'
              'Vd d 0 1.8\nVi a 0 pulse(0 1.8 0 1n 1n 9n 20n)\nM1 b a 0 0 nj w=1u l=1u\nM2 d a b b pj w=2u l=1u\n'
              'M3 c b 0 0 nj w={1u*p} l=1u\nM4 d a c c pj w=2u l=1u\nC1 b 0 10f\nC2 c 0 10f\n.op\n.dc Vi 0 1.8 0.3\n.tran 1n 40n\n',
    'switches': '.model sm sw (vt={0.5*q} vh=0.1 ron=1)\nV1 a 0 sin(0 1 1meg)\nS1 a b a 0 sm\nR1 b 0 {1k*p}\n.tran 10n 2u\n',
    'line': 'V1 a 0 pulse(0 1 0 1n 1n 20n 100n)\nR1 a b {50*p}\nT1 b 0 c 0 z0={50*q} td=5n\nR2 c 0 50\n.tran 1n 100n\n',
    'ports': 'V1 a 0 dc 0 portnum 1 z0=50\nV2 b 0 dc 0 portnum 2 z0=50\nR1 a b {50*p}\nC1 b 0 {1p*q}\n.sp lin 3 1meg 1g\n',
    'large': 'V1 n0 0 sin(0 1 1meg)\n.for i = 1 to 520\nR[{i}] n{i-1} n{i} {10+i*q}\nC[{i}] n{i} 0 1p\nD[{i}] n{i} 0 dm area={p}\n.endfor\n'
             '.tran 20n 40n\n',
    'sensitivity': 'V1 a 0 {p} ac 1\nR1 a b {1k*q}\nR2 b 0 2.2k\nC1 b 0 1p\n.tf v(b) V1\n.sens v(b)\n.pz a 0 b 0 vol pz\n',
}
STEPS = [(p, q) for q in (2.5, 4) for p in (2, 3, 5)]


class Sweeps(Folder):
    def write(self, name, text):
        super().write(name, text)
        os.utime(self.path(name), (10**9, 10**9))

    def run_it(self, *args, code=0):
        p = subprocess.run([VSIM, *args], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stdout

    def plots(self, name):
        """Name and bytes of each plot, without date and label."""
        with open(self.path(name), 'rb') as f:
            data = f.read()
        out = []
        for part in data.split(b'Title: ')[1:]:
            head, _, rest = part.partition(b'Binary:\n')
            kept = [x for x in head.split(b'\n')[1:] if not x.startswith(b'Date')]
            out.append((b'\n'.join(re.sub(rb'^(Plotname: [^,]*).*', rb'\1', x) for x in kept), rest))
        return out

    def points(self, out):
        got = [m.groups() for m in map(LINE.match, out.splitlines()) if m]
        return [dict(zip('number label expanded built compiled ordered found taken rows sources why'.split(), g)) for g in got]

    def total(self, points, key):
        return sum(int(p[key]) for p in points)


class Compare(Sweeps):
    def compare(self, deck, cards, alone, *args):
        """The sweep's plots against runs of each point alone; its --redo lines."""
        self.write('d.sp', deck + cards)
        out = self.run_it('--redo', '-r', 's.raw', *args, 'd.sp')
        swept = self.plots('s.raw')
        single = []
        for k, (text, opts) in enumerate(alone):
            self.write('one.sp', text)
            self.run_it('-q', '-r', 'o.raw', *opts, 'one.sp')
            single += self.plots('o.raw')
        self.assertEqual(len(swept), len(single))
        for a, b in zip(swept, single):
            self.assertEqual(a[0], b[0])
            self.assertTrue(a[1] == b[1], 'numbers of ' + a[0].decode())
        return self.points(out)


class Equal(Compare):
    def param_case(self, name):
        deck = HEAD + CASES[name]
        alone = [(deck, ['-D', f'p={p}', '-D', f'q={q}']) for p, q in STEPS]
        return self.compare(deck, '.step p list 2 3 5\n.step q list 2.5 4\n', alone)

    def test_jobs(self):
        for name in ('subcircuits', 'expressions', 'one row for two'):
            self.write('d.sp', HEAD + CASES[name] + '.step p list 2 3 5\n.step q list 2.5 4\n')
            self.run_it('-q', '-r', 'a.raw', '--measures', 'a.csv', 'd.sp')
            self.run_it('-q', '-r', 'b.raw', '--measures', 'b.csv', '--jobs', '3', 'd.sp')
            for ext in ('raw', 'csv'):
                with open(self.path('a.' + ext), 'rb') as a, open(self.path('b.' + ext), 'rb') as b:
                    self.assertTrue(a.read() == b.read(), name)

    def test_one_variant_for_two(self):
        body = HEAD + CASES['joined'].replace('{p-2}', '0.4').replace('{q-2.5}', '0.02')
        for card, change, built in (('.step pj(vto) list 0.4 0.3', ('vto=0.4', 'vto=0.3'), 0),
                                    ('.step pj(gamma) list 0.4 0', ('gamma=0.4', 'gamma=0'), 1), # now 0 in both
                                    ('.step nj(lambda) list 0.02 0', ('lambda=0.02', 'lambda=0'), 1),
                                    ('.step nj(gamma) list 0 0.4', ('lambda=0.02', 'lambda=0.02 gamma=0.4'), 0)): # it was not the same in both
            with self.subTest(card=card):
                points = self.compare(body, card + '\n', [(body, []), (body.replace(*change), [])])
                self.assertEqual([int(p['built']) for p in points[1:]], [built])

    def test_other_targets(self):
        body = HEAD + CASES['transistors']
        for card, changes in {
                '.step @m1[w] list 1u 3u 1u': [('M1 d g s 0 nm w={1u*q}', f'M1 d g s 0 nm w={w}') for w in ('1u', '3u', '1u')],
                '.step nm(vto) list 0.7 0.6': [('vto=0.7', f'vto={v}') for v in (0.7, 0.6)],
                '.step Vd list 1.8 1': [('Vd d 0 1.8', f'Vd d 0 {v}') for v in (1.8, 1)],
                '.step Rs list 10k 1k': [('Rs s 0 10k', f'Rs s 0 {v}') for v in ('10k', '1k')],
                '.step temp list 27 85 0': [('.op\n', f'.op\n.temp {t}\n') for t in (27, 85, 0)],
                '.step option tnom list 27 50': [('.op\n', f'.op\n.option tnom={t}\n') for t in (27, 50)],
                '.step option reltol list 1e-3 1e-5': [('.op\n', f'.op\n.option reltol={t}\n') for t in (1e-3, 1e-5)]}.items():
            with self.subTest(card=card):
                points = self.compare(body, card + '\n', [(body.replace(*c), []) for c in changes])
                self.assertEqual(self.total(points[1:], 'expanded'), 0)
                self.assertEqual(self.total(points[1:], 'ordered'), 0)

    def test_temperature_in_expressions(self):
        deck = HEAD + CASES['expressions'].replace('{1k+q}', '{1k+temper}')
        alone = [(deck + f'.temp {t}\n', []) for t in (27, 85, -40)]
        points = self.compare(deck, '.step temp list 27 85 -40\n', alone)
        self.assertEqual(self.total(points[1:], 'expanded'), 0)

    def test_samples(self):
        deck = HEAD.replace('r0=1k', 'r0={agauss(1k,100,1)}') + CASES['subcircuits'].replace('2.1k*p', 'agauss(2k,10,1)*p')
        self.write('d.sp', deck + '.step p list 1 2\n.mc 6 seed=3\n')
        points = self.points(self.run_it('--redo', '-r', 'a.raw', 'd.sp'))
        self.assertEqual(self.total(points[1:], 'expanded'), 0)
        self.run_it('-q', '-r', 'b.raw', '--jobs', '4', 'd.sp')
        self.assertEqual(self.plots('a.raw'), self.plots('b.raw'))
        for k in range(12): # every point by a process that knows no other
            self.run_it('-q', '-r', f'p{k}.raw', '--shard', f'{k + 1}/12', 'd.sp')
            self.assertEqual(self.plots(f'p{k}.raw'), self.plots('a.raw')[2 * k:2 * k + 2])


class Families(Compare):
    DECK = ('families\n.param r=1k\nV1 in 0 dc 1\nR1 in out {r}\nR2 out 0 1k tc1=1e-3\n.model dm d (is=1e-14)\nD1 out 0 dm\n.op\n'
            '.tran 1u 2u\n.meas tran vo find v(out) at=1u\n')

    def results(self, deck, *args, code=0):
        self.write('d.sp', deck)
        self.run_it('-q', '-r', 'd.raw', '--measures', 'm.csv', *args, 'd.sp', code=code)
        with open(self.path('m.csv')) as f:
            return [line.split(',') for line in f.read().splitlines()]

    def test_temperatures(self):
        alone = [(self.DECK + f'.temp {t}\n', []) for t in (27, 127, -40)]
        points = self.compare(self.DECK, '.temp 27 127 -40\n', alone)
        self.assertEqual([p['label'] for p in points], ['temp=27', 'temp=127', 'temp=-40'])
        self.assertEqual(self.total(points[1:], 'built'), 0)
        deck = self.DECK + '.step r list 1k 2k\n.temp 27 127\n'
        self.assertEqual([r[1:3] for r in self.results(deck)[1:]], [['1000', '27'], ['2000', '27'], ['1000', '127'], ['2000', '127']])
        self.write('d.sp', self.DECK + '.step temp 0 10 10\n.temp 1 2\n')
        p = subprocess.run([VSIM, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertIn("'temp' is stepped twice", p.stderr)

    def test_alter_blocks(self):
        blocks = ['.alter other r\n.param r=2k\n', '.alter\nR2 out 0 3k\n.model dm d (is=1e-12)\nC9 out 0 1n\n',
                  '.alter hot\n.temp 100\n.option reltol=1e-5\n.tran 1u 3u\n']
        one = self.DECK.replace('r=1k', 'r=2k')
        two = one.replace('R2 out 0 1k tc1=1e-3', 'R2 out 0 3k').replace('1e-14', '1e-12') + 'C9 out 0 1n\n'
        three = two.replace('.tran 1u 2u', '.tran 1u 3u') + '.temp 100\n.option reltol=1e-5\n'
        alone = [(text, []) for text in (self.DECK, one, two, three)]
        points = self.compare(self.DECK, ''.join(blocks), alone)
        self.assertEqual([p['label'] for p in points], ['alter=main', 'alter=other_r', 'alter=2', 'alter=hot'])
        self.assertEqual(self.total(points, 'compiled'), 0)
        jobs = self.results(self.DECK + ''.join(blocks), '--jobs', '3')
        self.assertEqual(jobs, self.results(self.DECK + ''.join(blocks)))
        deck = self.DECK + '.step r list 1k 2k\n.option reltol=1e-4\n' + blocks[1]
        rows = self.results(deck)
        self.assertEqual([r[1:3] for r in rows[1:]], [['1000', 'main'], ['2000', 'main'], ['1000', '1'], ['2000', '1']])

    def test_alter_with_libraries(self):
        self.write('m.lib', '.lib slow\n.model rm r (r=3k)\n.param gone=1\n.endl\n.lib fast\n.model rm r (r=1k)\n.endl\n')
        deck = self.DECK.replace('R1 in out {r}', 'R1 in out rm') + ".lib 'm.lib' slow\n"
        fast = deck.replace("' slow", "' fast")
        self.compare(deck, ".alter\n.del lib 'm.lib' slow\n.lib 'm.lib' fast\n", [(deck, []), (fast, [])])
        self.compare(deck, ".alter\n.lib 'm.lib' fast\n", [(deck, []), (fast, [])])

    def test_wrong_blocks(self):
        for cards, text in ((".alter\n.del lib 'x.lib' a\n", "no .lib or .include of 'x.lib' with section a"),
                            ('.subckt s a\n.alter\n.ends\n', '.alter stands in the deck itself'),
                            ('.if (1)\n.alter\n.endif\n', '.alter stands in the deck itself'),
                            ('.del lib a b\n', '.del lib FILE [section] stands in an .alter block'),
                            ('.alter\nR1 in out\n', 'a resistor has two nodes and a value')):
            self.write('d.sp', self.DECK + cards)
            p = subprocess.run([VSIM, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertEqual(p.returncode, 1, cards)
            self.assertIn(text, p.stderr)


KEPT = """operating points
.param p=2
.model dm d (is=1e-14 rs=5 cjo=1p KF)
.model nm nmos (level=1 vto=0.7 kp=1e-4 lambda=0.02 cgso=1n)
.model sm sw (vt=0.5 vh=0.1 ron=10 roff=1meg)
V1 a 0 DRIVE
Vd d 0 1.8
R1 a b RES
D1 b 0 dm
C1 b 0 CAP
M1 d b s 0 nm w=10u l=1u
Rs s 0 10k
S1 b e a 0 sm
Re e 0 5k
"""


class Kept(Compare):
    """Operating points that a change does not reach are taken over."""
    TEXT = {'DRIVE': 'dc 0.9 ac 1', 'RES': '1k', 'CAP': '1p', 'KF': '', 'ANA': '.op\n.tran 1n 40n\n.ac dec 2 1k 1g\n'
            '.noise v(b) V1 dec 2 1k 1meg\n.tf v(b) V1\n'}

    def taken(self, first=(1, 4), values=(2, 3, 5), **change):
        """(found, taken over) of the points behind the first; all equal runs alone."""
        text = dict(self.TEXT, **change)
        deck = KEPT + text.pop('ANA')
        for name, value in text.items():
            deck = deck.replace(name, value)
        alone = [(deck, ['-D', f'p={p}']) for p in values]
        points = self.compare(deck, '.step p list ' + ' '.join(map(str, values)) + '\n', alone)
        self.assertEqual((int(points[0]['found']), int(points[0]['taken'])), first)
        got = {(int(p['found']), int(p['taken'])) for p in points[1:]}
        self.assertEqual(len(got), 1)
        return got.pop()

    def test_what_does_not_reach_them(self):
        for change in ({'DRIVE': 'dc 0.9 ac {p}'}, {'DRIVE': 'dc 0.9 pulse(0.9 {p} 1n 1n 1n 5n 20n)'}, {'KF': 'kf={p*1e-15} af=1'},
                       {'DRIVE': 'dc 0.9 sin(0.9 {p/10} 10meg)'}, {'ANA': '.op\n.tran 1n {p*20n}\n.ac dec {p} 1k 1g\n'
                                                                   '.noise v(b) V1 dec 2 1k {p*1meg}\n.tf v(b) V1\n'}):
            with self.subTest(change=change):
                self.assertEqual(self.taken(**change), (0, 5))

    def test_what_does(self):
        self.assertEqual(self.taken(RES='{1k*p}'), (1, 4)) # .op's serves all
        self.assertEqual(self.taken(DRIVE='dc {p/5} ac 1'), (1, 4))
        two = {'first': (2, 3)} # the source begins at another value
        self.assertEqual(self.taken(**two, DRIVE='dc 0.9 pulse({p/5} 1 1n 1n 1n 5n 20n)'), (1, 4)) # of the transient alone
        self.assertEqual(self.taken(**two, DRIVE='dc {p/5} pulse(0.8 1 1n 1n 1n 5n 20n) ac 1'), (1, 4)) # of all others

    def test_times_that_waveforms_take_from_tran(self):
        tran = {'ANA': '.op\n.tran {p*1n} {p*20n}\n.ac dec 2 1k 1g\n.noise v(b) V1 dec 2 1k 1meg\n.tf v(b) V1\n'}
        self.assertEqual(self.taken(DRIVE='dc 0.9 pulse(0.9 0.2 1n)', **tran), (0, 5))

    def test_analyses_of_other_kinds(self):
        ana = '.tran 1n 40n\n.op\n.pz a 0 b 0 vol pz\n.sens v(b)\n.dc V1 0 1 0.25\n'
        self.assertEqual(self.taken(first=(3, 2), DRIVE='dc 0.9 ac {p}', ANA=ana), (1, 4)) # that of .dc is found

    def test_factors_of_a_linear_circuit(self):
        grid = 'grid\n.param p=1\n.for i = 1 to 40\n.for k = 1 to 30\nR[{i},{k}] n[{i},{k}] n[{i-1},{k}] 1\nRc[{i},{k}] n[{i},{k}] n[{i},{k-1}] 2\n' \
               '.endfor\n.endfor\nRg n[1,1] 0 1\nI1 0 n[20,20] {p*1m}\n.op\n'
        alone = [(grid, ['-D', f'p={p}']) for p in (1, 2, 3)]
        self.compare(grid, '.step p list 1 2 3\n', alone, '--stats', 's.json')
        with open(self.path('s.json')) as f:
            n = json.load(f)['generations']['factors']
        self.assertEqual(n['rebuilt'], 1)
        self.assertGreaterEqual(n['lookups'], 3)


class KeptByChance(Sweeps):
    """Decks put together by chance, with a model that has hysteresis, an integral and a transition: points of sweeps are
    runs alone, whatever was taken over."""
    MODEL = """`include "disciplines.vams"
module hyst(p,n,c); inout p,n,c; electrical p,n,c;
parameter real g=1m; parameter real tr=1n;
integer on; real s;
analog begin
 @(initial_step) on = 0;
 if (V(c) > 0.6) on = 1; else if (V(c) < 0.2) on = 0;
 s = idt(V(c), 0.1);
 I(p,n) <+ V(p,n)*(g + (on ? 9*g : 0)) + 1u*limexp(V(p,n)/0.1) + 1e-4*transition(on, 0, tr) + 1e-9*s;
 I(c) <+ 1e-6*V(c) + ddt(1e-12*V(c));
end
endmodule
"""
    DECK = ('by chance\n.param p=1\n.hdl "hyst.va"\n.model dm d (is=1e-14 rs=5 cjo=1p KF)\n.model hm hyst\nV1 a 0 DRIVE\nR1 a b RES\n'
            'D1 b 0 dm\nN1 b 0 a hm tr=RISE\nC1 b 0 CAP\nL1 b e 1n\nR3 e 0 10k\n.ic v(e)=IC\n')
    CHOICE = {'KF': ('', 'kf={p*1e-15}'), 'RES': ('1k', '1k', '{1k*p}'), 'RISE': ('1n', '{p*1n}'), 'CAP': ('1p', '{p*1p}'),
              'IC': ('0', '0.1', '{p/10}'), 'DRIVE': ('dc 0.7 ac {p}', 'dc 0.5 pulse(0.5 {p/4} 5n 1n 1n 8n 25n) ac 1',
                                                      'sin(0.3 {p/5} 50meg) ac 1', 'dc {p/4} ac 1', 'pulse(0 1 1n)')}
    ANALYSES = ('.op', '.tran 1n {40n+p*10n}', '.tran 2n 30n', '.ac dec 2 1k {1g+p*1meg}', '.noise v(b) V1 dec 2 1k 1meg', '.tf v(b) V1',
                '.dc V1 0 1 0.25', '.tran 1n 20n uic', '.pz a 0 b 0 vol pz', '.sens v(b)')

    def test_points_are_runs_alone(self):
        chance, taken = random.Random(5), 0
        self.write('hyst.va', self.MODEL)
        for _ in range(12):
            deck = self.DECK
            for name, values in self.CHOICE.items():
                deck = deck.replace(name, chance.choice(values))
            deck += '\n'.join(chance.sample(self.ANALYSES, chance.randint(1, 5))) + '\n' + chance.choice(('', '', '.option bypass=1\n'))
            steps = [chance.choice((1, 2, 3)) for _ in range(4)]
            self.write('d.sp', deck + '.step p list %d %d %d %d\n' % tuple(steps))
            points = self.points(self.run_it('--redo', '-r', 's.raw', 'd.sp'))
            self.assertEqual(len(points), 4)
            taken += self.total(points, 'taken')
            self.write('o.sp', deck)
            alone = []
            for p in steps:
                self.run_it('-q', '-r', 'o.raw', '-D', f'p={p}', 'o.sp')
                alone += self.plots('o.raw')
            self.assertTrue(self.plots('s.raw') == alone, deck)
        self.assertGreater(taken, 20)


class Effects(Sweeps):
    def test_models_print_at_every_point(self):
        self.write('s.va', '`include "disciplines.vams"\nmodule sres(p,n); inout p,n; electrical p,n;\nparameter real r=1k;\nanalog begin\n'
                           'I(p,n) <+ V(p,n)/r;\n@(initial_step) $strobe("begins with %g", r);\nend\nendmodule\n')
        deck = 'prints\n.param p=1 none=0\n.hdl "s.va"\nV1 a 0 1\nN1 a b m r={1k*p}\n.model m sres\nR2 b 0 1k\n.op\n'
        for steps, said in (('.step p list 1 2 3\n', '1000 2000 3000'), ('.step none list 1 2 3\n', '1000 1000 1000')):
            self.write('d.sp', deck + steps)
            for jobs in ('1', '2'): # the operating point of such a circuit is found each time
                out = self.run_it('--no-output', '--jobs', jobs, 'd.sp')
                self.assertEqual(re.findall('begins with (.*)', out), said.split())


class Start(Compare):
    """.option stepstart=first: points begin from the solution of the first one, whoever computes them."""
    DECK = HEAD + ('V1 a 0 pulse(1.2 0.4 1n 1n 1n 5n 20n)\nR1 a b 100\nX1 b c cell r0={100*q}\nD2 c 0 dm area={p}\nM1 a b c 0 nm w={1u*p} l=1u\n'
                   'Rc c 0 1meg\n.ic v(c)=0.3\n.op\n.tran 1n 10n\n.ac dec 2 1k 1meg\n.dc V1 0.9 1.3 0.1\n.option stepstart=first\n')

    def raw(self, deck, *args):
        self.write('d.sp', deck)
        self.run_it('-q', '-r', 'd.raw', *args, 'd.sp')
        return self.plots('d.raw')

    def test_whoever_computes_them(self):
        steps = '.step p list 2 3 5\n.step q list 2.5 4\n'
        whole = self.raw(self.DECK + steps)
        self.assertEqual(len(whole), 24)
        self.assertEqual(self.raw(self.DECK + steps, '--jobs', '3'), whole)
        for k in range(6):
            self.assertEqual(self.raw(self.DECK + steps, '--shard', f'{k + 1}/6'), whole[4 * k:4 * k + 4])
        other = self.raw(self.DECK + '.step p list 2 5 3\n.step q list 2.5 4\n') # the same first point
        self.assertEqual([other[i:i + 4] for i in (0, 8, 4, 12, 20, 16)], [whole[i:i + 4] for i in range(0, 24, 4)])

    def test_fewer_iterations_to_the_same_values(self):
        steps, n = '.step p list 2 2.1 1.9 2.2\n', {}
        deck = re.sub(r'\.tran.*\n|\.dc.*\n', '', self.DECK)
        values = {}
        for word in ('first', 'none'):
            values[word] = [array.array('d', p[1][:8 * (len(p[1]) // 8)]) for p in self.raw(deck.replace('=first', '=' + word) + steps, '--stats', 's.json')]
            with open(self.path('s.json')) as f:
                n[word] = json.load(f)['newton_iterations']
        self.assertLess(n['first'], 0.7 * n['none'])
        self.assertNotEqual(values['first'], values['none'])
        for a, b in zip(values['first'], values['none']):
            for x, y in zip(a, b):
                self.assertLess(abs(x - y), 1e-3 * abs(y) + 1e-6)

    def test_a_run_that_was_killed_goes_on(self):
        deck = self.DECK + '.step p list 2 3 5\n.step q 1 4 0.03\n'
        whole = self.raw(deck)
        p = subprocess.Popen([VSIM, '-q', '-r', 'd.raw', 'd.sp'], cwd=self.tmp.name)
        while p.poll() is None:
            try:
                with open(self.path('d.raw.journal'), 'rb') as f:
                    if f.read().count(b'\np ') >= 5:
                        p.kill()
            except FileNotFoundError:
                pass
            time.sleep(0.001)
        self.assertEqual(self.raw(deck, '--resume'), whole)

    def test_other_circuits_begin_from_nothing(self):
        deck = self.DECK + '.if (p>2)\nR7 c d 1k\nR8 d 0 1k\n.endif\n'
        points = self.raw(deck + '.step p list 2 3\n')
        alone = self.raw(deck.replace('stepstart=first', 'stepstart=none'), '-D', 'p=3')
        self.assertEqual(points[4:], alone)

    def test_a_first_point_that_fails(self):
        deck = HEAD + 'V1 a 0 1\nR1 a b {1k*q}\nD1 b 0 dm area={q}\n.if (p==1)\nV2 a 0 2\n.endif\n.op\n.option stepstart=first\n'
        self.write('d.sp', deck + '.step p list 1 2\n')
        p = subprocess.run([VSIM, '-q', '-r', 'd.raw', 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(p.returncode, 1)
        self.assertEqual(p.stderr.count('loop of voltage sources'), 1)
        got = self.plots('d.raw')
        self.assertEqual(got[-1:], self.raw(deck.replace('stepstart=first', 'stepstart=none'), '-D', 'p=2'))

    def test_a_wrong_word(self):
        self.write('d.sp', self.DECK.replace('stepstart=first', 'stepstart=last'))
        p = subprocess.run([VSIM, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(p.returncode, 1)
        self.assertIn('option stepstart=last: first or none is needed', p.stderr)


class Decks(Compare):
    """What makes another deck of it: steps that decide loops, corners that load models."""
    LOOP = ('loops\n.param n=3 m=1 deep=0\n.model dm d (is=1e-14 cjo=1p)\nV1 a0 0 dc 1\n.for i = 1 to (deep > 1 ? m : n)\nR{i} a{i-1} a{i} {1k*m}\n'
            'D{i} a{i} 0 dm area={i*m}\n.endfor\nR99 a1 0 1k\n.op\n.tran 1n 3n\n.meas tran z find v(a2) at=2n\n')
    VA = ('`include "disciplines.vams"\nmodule rva(a,b); inout a,b; electrical a,b; parameter real r=1;\n'
          'analog I(a,b) <+ V(a,b)/r$; endmodule\n')

    def test_loops(self):
        values = [(n, m) for m in (1, 2) for n in (3, 1, 2)]
        alone = [(self.LOOP, ['-D', f'n={n}', '-D', f'm={m}']) for n, m in values]
        points = self.compare(self.LOOP, '.step n list 3 1 2\n.step m 1 2 1\n', alone)
        self.assertIn('n, another deck', points[1]['why'])
        deck = self.LOOP.replace('(deep > 1 ? m : n)', 'n')
        alone = [(deck, opts) for _, opts in sorted(alone, key=lambda a: '312'.index(a[1][1][2]))]
        points = self.compare(deck, '.step m 1 2 1\n.step n list 3 1 2\n', alone)
        self.assertEqual([p['expanded'] for p in points], ['0', '0', '1', '0', '1', '0'])
        self.run_it('-q', '-r', 'j.raw', '--jobs', '3', '--measures', 'j.csv', 'd.sp')
        self.assertEqual(self.plots('j.raw'), self.plots('s.raw'))
        with open(self.path('j.csv')) as f: # a1 alone has no second node: the measure fails, not the point
            self.assertEqual([x.split(',')[-1] for x in f.read().splitlines()[1:]], ['done'] * 6)
        self.run_it('-q', '--csv', '-r', 'c.csv', 'd.sp')
        with open(self.path('c.csv')) as f: # a line of names wherever they change
            self.assertEqual(sum('v(a1)' in x for x in f), 12)

    def test_a_loop_that_asks_for_more_later(self):
        alone = [(self.LOOP, ['-D', f'deep={d}', '-D', f'm={m}']) for d in (1, 2) for m in (1, 2)]
        self.compare(self.LOOP, '.step m 1 2 1\n.step deep 1 2 1\n', alone)

    def test_loops_from_standard_input(self):
        deck = self.LOOP + '.step n list 3 1 2\n'
        self.write('d.sp', deck)
        self.run_it('-q', '-r', 'a.raw', 'd.sp')
        subprocess.run([VSIM, '-q', '-r', 'b.raw', '-'], input=deck, text=True, cwd=self.tmp.name, check=True, capture_output=True)
        self.assertEqual(self.plots('a.raw'), self.plots('b.raw'))

    def test_corners_that_load_models(self):
        for k, text in (('1', '*2'), ('2', '*3'), ('3', '')):
            self.write(f'r{k}.va', self.VA.replace('$', text)) # the module has one name in two of the files
        self.write('r3.va', self.VA.replace('$', '').replace('rva(', 'other('))
        sub = ''.join(f'.subckt s{k} a b\nR1 a b 1k\n.ends\n' for k in range(9))
        self.write('c.lib', ".lib one\n.hdl 'r1.va'\n.model rm rva (r=1k)\n.endl\n.lib two\n.hdl 'r2.va'\n.model rm rva (r=1k)\n" + sub +
                   ".endl\n.lib three\n.hdl 'r3.va'\n.model rm other (r=1k)\n.endl\n")
        deck = "corners\n.param p=1\nV1 a 0 1\nN1 a b rm\nR1 b 0 {2k*p}\n.op\n.tran 1n 2n\n"
        alone = [(deck + f".lib 'c.lib' {k}\n.param p={p}\n", []) for p in (1, 2) for k in ('one', 'two', 'three')]
        points = self.compare(deck, ".step lib 'c.lib' one two three\n.step p 1 2 1\n", alone)
        self.assertEqual(self.total(points[3:], 'compiled'), 0)


class Ring(Compare):
    """Nine inverters, 18 PSP103 transistors."""

    def deck(self, analysis, *change):
        with open(os.path.join(ROOT, 'netlists/ring.sp')) as f:
            text = f.read()
        text = text.replace('psp103_models.inc', os.path.join(ROOT, 'netlists/psp103_models.inc'))
        text = re.sub(r'(?m)^\.tran.*|^\.end$', '', text).replace('*change\n', '')
        for old, new in zip(change[::2], change[1::2]):
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text + analysis

    def counts(self, card, analysis='.op\n'):
        self.write('d.sp', self.deck(analysis) + card + '\n')
        points = self.points(self.run_it('explain', '--redo', 'd.sp'))
        for key in ('expanded', 'built', 'compiled', 'ordered'):
            self.assertEqual(self.total(points[1:], key), 0, key)
        return points

    def test_a_model_parameter(self):
        points = self.counts('.step psp103n(vfbo) -1.1 -0.9002 0.0002')
        self.assertEqual(len(points), 1000)
        self.assertEqual({p['rows'] for p in points[1:]}, {'1'}) # the row of nine equal transistors
        self.assertEqual({p['why'] for p in points[1:]}, {'psp103n(vfbo)'})

    def test_an_instance_parameter_and_temperature(self):
        self.assertEqual({p['rows'] for p in self.counts('.step @xu3.xmn.nm[l] 0.9u 0.99u 0.01u')[1:]}, {'1'})
        self.assertEqual({p['rows'] for p in self.counts('.step temp 0 100 10')[1:]}, {'2'})

    def test_nothing_that_counts(self):
        points = self.counts('.param unused=1\n.step unused 1 50 1')
        self.assertEqual(self.total(points[1:], 'rows'), 0)
        self.assertEqual({p['why'] for p in points[1:]}, {'nothing depends on what changed'})

    def test_transients_are_those_of_runs_alone(self):
        for option in ('', '.option bypass=1\n', '.option bypass=0\n'):
            tran = option + '.tran 0.05n 8n 0 0.05n\n'
            alone = [(self.deck(tran + f'.param wn={w}\n', 'inverter w=10u l=1u\nvdd', 'inverter w={wn} l=1u\nvdd'), []) for w in ('12u', '9u', '11u')]
            points = self.compare(self.deck(tran + '.param wn=10u\n', 'inverter w=10u l=1u\nvdd', 'inverter w={wn} l=1u\nvdd'),
                                  '.step wn list 12u 9u 11u\n', alone)
            self.assertEqual({p['rows'] for p in points[1:]}, {'2'})


class Random(Compare):
    """Decks made at random: nested subcircuits, .if in them and around them, m of subcircuits, bins, models and parameters in branches."""
    MODELS = ('.model dm d (is=1e-14 rs=5 cjo=1p)\n.model nb.1 nmos (level=1 vto=0.5 lmin=0 lmax=1 wmin=0 wmax=2.5u)\n'
              '.model nb.2 nmos (level=1 vto=0.9 lmin=0 lmax=1 wmin=2.5u wmax=1)\n.global g1\n')

    def number(self, r):
        return r.choice(['p', 'q', 'k', 'w', '1.5', 'p*q', 'k+p', '(p>2?1:3)', 'w/2+1', '2', '2', '3'])

    def condition(self, r):
        return r.choice(['p>2', 'q>3', 'k>2', 'w>2.2', 'p+q>5', 'k*p<7', 'p==3', '1', 'q<3 && k>1'])

    def element(self, r, kind, i, nodes, subs):
        a, b = r.sample(nodes, 2)
        if kind == 'x':
            name, ports = r.choice(subs)
            over = ''.join(f' {x}={{{self.number(r)}}}' for x in ('k', 'w', 'm') if r.random() < 0.35)
            return f'X{i} {" ".join(r.choice(nodes) for _ in range(ports))} {name}{over}\n'
        return {'r': f'R{i} {a} {b} {{1k*({self.number(r)})}}\n', 'c': f'C{i} {a} {b} {{1p*({self.number(r)})}}\n',
                'd': f'D{i} {a} {b} {r.choice(["dm", "dl"])} area={{{self.number(r)}}}\n', 'i': f'I{i} {a} {b} {{1u*({self.number(r)})}}\n',
                'm': f'M{i} {a} {b} 0 0 nb w={{1u*({self.number(r)})}} l=1u m={{{self.number(r)}}}\n',
                'b': f'B{i} {a} 0 i={{1u*v({a},{b})*({self.number(r)})+1n*v(g1)}}\n',
                'ic': f'.ic v({a})={{0.1*({self.number(r)})}}\n'}[kind]

    def body(self, r, nodes, subs, depth=0, branches=True):
        out = ''
        for _ in range(r.randint(2, 5)):
            self.serial += 1
            what = r.random()
            if what < 0.3 and depth < 2 and branches:
                out += f'.if ({self.condition(r)})\n{self.body(r, nodes, subs, depth + 1)}'
                if r.random() < 0.4:
                    out += f'.elseif ({self.condition(r)})\n{self.body(r, nodes, subs, depth + 1)}'
                if r.random() < 0.6:
                    out += f'.else\n{self.body(r, nodes, subs, depth + 1)}'
                out += '.endif\n'
            elif what < 0.4:
                out += f'.param w={{{r.choice(["p", "q", "1", "2", "3", "p+1", "q/2"])}}}\n'
            elif what < 0.45 and depth:
                out += f'.model dl d (is={{1e-14*({self.number(r)})}} cjo=2p)\n'
            else:
                out += self.element(r, r.choice(['r', 'c', 'd', 'i', 'm', 'b', 'ic'] + ['x'] * 3 * bool(subs)), self.serial, nodes, subs)
        return out

    def deck(self, seed):
        r = random.Random(seed)
        self.serial = 0
        subs, out = [], f'random {seed}\n.param p=2 q=2.5 k={r.choice(["1", "p", "q+1"])} w={r.choice(["1", "p", "2*q"])}\n' + self.MODELS
        out += '.model dl d (is=2e-14)\n.option noshare\n'
        for i in range(r.randint(2, 4)):
            ports = r.randint(2, 3)
            nodes = [f'p{k}' for k in range(ports)] + ['n1', 'n2', '0'] + ['g1'] * (r.random() < 0.4)
            out += f'.subckt s{i} {" ".join(nodes[:ports])} k=1{" w=2" * (r.random() < 0.5)}\n'
            out += ''.join(f'RG{k} {n} 0 20k\n' for k, n in enumerate(nodes[:ports] + ['n1', 'n2'])) + f'{self.body(r, nodes, subs)}.ends\n'
            subs.append((f's{i}', ports))
        nodes = ['a', 'b', 'c', '0', 'e']
        branches = seed % 3 == 0 # in the others subcircuits alone have some
        first = seed % 4 != 0 # is the global node there before a subcircuit asks for it?
        out += 'V1 a 0 1\nR1 a b 1k\nR2 b c 10k\nR3 c e 5k\n' + 'R4 e g1 1k\n' * first + self.body(r, nodes, subs, 0, branches)
        return out + self.body(r, nodes, subs, 0, branches) + 'R4 e g1 1k\n' * (not first) + 'R5 g1 0 3k\n.op\n.tran 10n 30n\n'

    def test_decks(self):
        kept = parts = total = 0
        for seed in range(int(os.environ.get('VSIM_DECKS', '30'))):
            deck = self.deck(seed)
            points = [(2, 2.5), (3, 2.5), (1, 4), (3, 4), (2, 2.5), (2.1, 2.5)]
            self.write('v.csv', 'p,q\n' + ''.join(f'{p},{q}\n' for p, q in points))
            self.write('d.sp', deck + '.step file v.csv\n')
            run = subprocess.run([VSIM, '--redo', '-r', 's.raw', 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
            single, alone = [], {}
            for p, q in dict.fromkeys(points):
                self.write('one.sp', deck)
                one = subprocess.run([VSIM, '-q', '-r', 'o.raw', '-D', f'p={p}', '-D', f'q={q}', 'one.sp'], cwd=self.tmp.name,
                                     capture_output=True, text=True, timeout=300)
                alone[p, q] = self.plots('o.raw') if one.returncode == 0 else None
            swept = self.plots('s.raw') if os.path.exists(self.path('s.raw')) else []
            with self.subTest(seed=seed):
                if any(a is None for a in alone.values()): # a deck that fails somewhere: the sweep fails too
                    self.assertNotEqual(run.returncode, 0)
                    continue
                self.assertEqual(run.returncode, 0, run.stderr)
                for p in points:
                    single += alone[p]
                self.assertEqual(len(swept), len(single))
                for a, b in zip(swept, single):
                    self.assertEqual(a[0], b[0])
                    self.assertTrue(a[1] == b[1], 'numbers of ' + a[0].decode())
                got = self.points(run.stdout)
                total += len(got)
                kept += sum(p['built'] == '0' for p in got)
                parts += sum('.if of' in p['why'] and p['expanded'] == '0' for p in got)
        self.assertGreater(total, 100) # most decks run, and many points need no new circuit
        self.assertGreater(kept, total // 8)
        self.assertGreater(parts, 10)


def add_cases():
    anew = {'a branch', 'line', 'collapse'} # some points are more than other values
    rebuilt = {'bins', 'one row for two', 'branches of parameters', 'joined'} # of these the circuit, not the netlist
    for name in CASES:
        def test(self, name=name):
            points = self.param_case(name)
            self.assertEqual(len(points), len(STEPS))
            if name not in anew:
                self.assertEqual(self.total(points[1:], 'expanded'), 0)
            if name not in anew | rebuilt:
                self.assertEqual(sum(self.total(points[1:], key) for key in ('built', 'compiled', 'ordered')), 0)
        setattr(Equal, 'test_' + name.replace(' ', '_'), test)


if __name__ == '__main__':
    VSIM, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    add_cases()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
