#!/usr/bin/env python3
"""Words of PSpice's decks and of newer versions of ngspice, against their equations.   dialects.py VSIM [test...]"""
import csv
import math
import os
import re
import subprocess
import sys
import unittest

from folder import Folder

VSIM = ''


class Dialects(Folder):
    def run_deck(self, text, name='d.sp'):
        """Columns by name, and what was said."""
        self.write(name, text)
        r = subprocess.run([VSIM, '--csv', '-r', 'out.csv', name], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        rows = list(csv.reader(self.read('out.csv').splitlines()))
        return dict(zip(rows[0], ([float(v) for v in c] for c in zip(*rows[1:])))), r.stdout + r.stderr

    def close(self, a, b, rel=1e-9):
        self.assertLessEqual(abs(a - b), rel * abs(b), (a, b))

    def resistance(self, u, ron, roff):
        """PSpice's cubic, u from -1/2 (open) to 1/2 (closed)."""
        u = max(-0.5, min(0.5, u))
        return math.exp(math.log(ron * roff) / 2 + math.log(ron / roff) * (1.5 * u - 2 * u ** 3))

    def test_switches(self):
        v, _ = self.run_deck('switches\nv1 c 0 0\nv2 p 0 1\ns1 p q c 0 smod\nr1 q 0 1k\nvm c2 0 0\ng1 0 c2 c 0 1m\n'
                             'w1 p s vm wmod\nr2 s 0 1k\n.model smod vswitch(von=2 voff=1 ron=10 roff=1meg)\n'
                             '.model wmod iswitch ion=0.5m ioff=2.5m ron=2\n.dc v1 0.45 2.6 0.05\n.end\n')
        x, q, s = v['v-sweep'], v['v(q)'], v['v(s)']
        self.assertEqual(len(x), 44)
        for x, q, s in zip(x, q, s):
            self.close(q, 1e3 / (1e3 + self.resistance(x - 1.5, 10, 1e6)), 1e-6)
            self.close(s, 1e3 / (1e3 + self.resistance((x - 1.5) / -2, 2, 1e6)), 1e-6)

    def test_not_temp_and_vt(self):
        v, said = self.run_deck('names\n.param a={temp/10} n={0.3/vt}\nv1 a 0 {a}\nv2 b 0 {n}\nb1 c 0 v=~(~v(a) & v(b)) + 2*~v(b)\n'
                                'b2 d 0 v=~v(e)\nv3 e 0 0\n.option temp=50\n.op\n.end\n')
        self.close(v['v(a)'][0], 5)
        self.close(v['v(b)'][0], 0.3 / (1.380649e-23 * 323.15 / 1.602176634e-19))
        self.assertEqual((v['v(c)'][0], v['v(d)'][0]), (1, 1))
        self.assertIn("no parameter 'vt': it is the thermal voltage", said)

    def test_a_parameter_called_vt_is_the_decks(self):
        v, said = self.run_deck('own\n.param vt=0.7 temp=3\nv1 a 0 {vt*temp}\nr1 a 0 1\n.op\n.end\n')
        self.close(v['v(a)'][0], 2.1)
        self.assertNotIn('no parameter', said)

    def test_global_param_is_param(self):
        """Xyce's word for a parameter that every subcircuit sees."""
        v, _ = self.run_deck('word\n.param foo={3*9}\n.global_param bar={foo} k=2\nv1 a 0 {bar}\nx1 a s\n'
                             '.subckt s a\nb1 b 0 v=k*bar\nr1 a b 1\n.ends\n.op\n.print op v(x1.b)\n.end\n')
        self.close(v['v(a)'][0], 27)
        self.close(v['v(x1.b)'][0], 54)

    def test_xyce_options(self):
        """A package's options that have a meaning here are taken, one warning names the others."""
        v, said = self.run_deck('packages\n.options device temp=77 debuglevel=-100\n'
                                '.options timeint reltol=1e-4 method=8 delmax=1m breakpoints=1m,2m abstol=1e-7\n'
                                '.options nonlin-tran maxstep=3\n'
                                'v1 a 0 sin(0 1 10)\nr1 a b {temper}\nc1 b 0 1u\n.tran 0 50m\n.print tran v(b)\n.end\n')
        self.assertIn("of the options of 'device' these have no effect here: debuglevel", said)
        self.assertIn("of the options of 'timeint' these have no effect here: breakpoints", said)
        self.assertIn("of the options of 'nonlin-tran' these have no effect here: maxstep", said)
        self.assertIn("this card is Xyce's", said)
        steps = [b - a for a, b in zip(v['time'], v['time'][1:])]
        self.assertLessEqual(max(steps), 1.0001e-3)
        self.assertEqual(v['time'][-1], 50e-3)
        plain, said = self.run_deck('none of it\n.option temp=77 reltol=1e-4 method=gear delmax=1m vntol=1e-7\n'
                                    'v1 a 0 sin(0 1 10)\nr1 a b {temper}\nc1 b 0 1u\n.tran 50u 50m 0 1m\n.end\n')
        self.assertNotIn('Xyce', said)
        self.assertEqual(plain['v(b)'], v['v(b)'])

    def test_xyce_print(self):
        """Braces, words about files, and what is not there: warnings, and the rest is printed."""
        _, said = self.run_deck('printed\nv1 a 0 100\nr1 a 0 1k\nb1 c 0 v=log(v(a))\n'
                                '.op\n.print op format=csv file = x.csv {v(a)} {log(v(a)) + 1} n(m1:gm) r1:r p(v7) v(c)\n'
                                '.print homotopy v(a)\n.sens objfunc={v(a)} param=r1:r\n.preprocess replaceground true\n.end\n')
        for text in ("'n(m1:gm)' is not known here", "'r1:r' is not known here", "'p(v7)' is not known here", 'the deck has no .homotopy analysis',
                     "'.sens' is not supported", "'.preprocess' is not supported"):
            self.assertIn(text, said)
        values = [float(x) for x in re.findall(r'= *(\S+)', said[said.index('(v(a)) ='):])[:3]]
        for got, want in zip(values, (100, 3, 2)):  # log() is to base 10
            self.close(got, want)

    def test_xyce_start_and_xor(self):
        """ic= of a capacitor at ground holds the operating point of a transient; ^ of truth values is exclusive or."""
        deck = ('start\n%sc1 1 0 1u ic=1\nr1 1 2 1k\nv1 2 0 0\nl1 3 0 1m ic=1\nr3 3 0 1\n'
                'b1 4 0 v={if((v(1)>0.5) ^ (v(1)>2), 3, 1)}\nr4 4 0 1\n.tran 10u 1m\n.end\n')
        v, said = self.run_deck(deck % '.options device tnom=27\n')
        self.assertIn('l1: ic= of an inductor', said)
        self.assertNotIn('c1: ic=', said)
        for t, x, y in zip(v['time'], v['v(1)'], v['v(4)']):
            self.assertAlmostEqual(x, math.exp(-t / 1e-3), delta=2e-3)  # reltol
            if abs(x - 0.5) > 5e-3:  # 1 ^ 0, then 0 ^ 0
                self.assertAlmostEqual(y, 3 if x > 0.5 else 1, delta=1e-3)
        v, said = self.run_deck(deck % '')
        self.assertNotIn('ic=', said)
        self.assertLess(max(abs(x) for x in v['v(1)']), 1e-9)

    def test_log_is_natural_elsewhere(self):
        v, said = self.run_deck('natural\nv1 a 0 100\nr1 a 0 1k\nb1 c 0 v=log(v(a))\n.op\n.print op v(a)\n.end\n')
        self.close(v['v(c)'][0], math.log(100))
        self.assertNotIn('Xyce', said)

    def test_wildcards_terminals_and_powers_in_print(self):
        """What they stand for is printed in any deck; the sums of currents and of powers are 0."""
        self.write('d.sp', 'wild\nv1 a 0 2\nr1 a b1 1k\nr2 b1 0 1k\nx1 b1 s\n.subckt s p\nrr p q 1k\nm1 q p 0 0 nm\n.ends\n'
                   '.model nm nmos vto=0.5\n.op\n.print op v(b?) v(x1:*) id(x1.m*) is(x1.m1) i(r*) p(*) v(zz) w(zz)\n'
                   '.meas op drain find id(x1:m1)\n.end\n')
        r = subprocess.run([VSIM, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        said = r.stdout + r.stderr
        self.assertEqual(r.returncode, 0, said)
        self.assertIn("'w(zz)' is not known here and left out", said)
        self.assertIn("'v(zz)' is not known here and left out", said)
        v = dict(re.findall(r'(?m)^([a-z]+\([a-z0-9.]+\)|drain) *= *(\S+)', said))
        for name in ('v(b1)', 'id(x1.m1)', 'is(x1.m1)', 'i(r1)', 'i(r2)', 'p(v1)', 'p(x1.rr)', 'drain'):
            self.assertIn(name, v, said)
        x = {k: float(y) for k, y in v.items()}
        self.close(x['i(r1)'], x['i(r2)'] + x['id(x1.m1)'], 1e-5)  # six digits are printed
        self.close(x['id(x1.m1)'], -x['is(x1.m1)'], 1e-5)
        self.close(x['drain'], x['id(x1.m1)'], 1e-5)
        self.assertLess(abs(sum(y for k, y in x.items() if k.startswith('p('))), 1e-5 * abs(x['p(v1)']))

    def test_measures_of_xyce(self):
        """On a square wave and lines, whose figures are known."""
        self.write('d.sp', 'measures\nv1 a 0 pulse(0 1 0.2m 1u 1u 0.299m 1m)\nv2 b 0 pwl(0 1 10m 2)\nv3 c 0 pwl(0 1.1 10m 2.2)\n'
                   'r1 a 0 1\nr2 b 0 1\nr3 c 0 1\n.tran 10u 10m\n'
                   '.meas tran n on_time v(a) on=0.5\n.meas tran f off_time v(a) on=0.9 off=0.1 from=1m to=3m\n'
                   '.meas tran d duty v(a) on=0.5\n.meas tran q freq v(a) on=0.9 off=0.1\n'
                   '.meas tran e err1 v(b) v(c)\n.meas tran g err2 v(b) v(c) from=2m to=4m\n'
                   '.meas tran w eqn {v(c)*2}\n.meas tran m max v(b) output=time\n'
                   '.meas tran x find v(b) at 5m default_val=-1\n.meas tran_cont y when v(b)=1.25\n.end\n')
        r = subprocess.run([VSIM, '--measures', 'm.csv', 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        said = r.stdout + r.stderr
        self.assertEqual(r.returncode, 0, said)
        x = {row['name']: float(row['value']) for row in csv.DictReader(self.read('m.csv').splitlines())}
        on = 0.3e-3  # from half to half of the edges
        off = ((0.2e-3 + 0.9e-6) + 0.7e-3 + (0.5e-3 - 0.9e-6)) / 3  # from 1 ms to 3 ms
        for name, want in (('n', on), ('f', off), ('d', 0.3), ('q', 1e3), ('e', 0.1), ('g', 0.1), ('w', 4.4), ('m', 10e-3),
                           ('x', 1.5), ('y', 2.5e-3)):
            self.close(x[name], want, 1e-9)
        self.assertIn("'default_val' has no effect here", said)
        self.assertIn('measures at each crossing', said)
        for text, why, code in (('x error v(a) file=y.prn', 'ERROR compares with a file', 0), ('x four v(a) at=1k', 'FOUR is a card of its own', 0),
                                ('x duty v(a)', 'ON= is missing', 1), ('x duty v(a) on=1 off=2', 'OFF= is above ON=', 1)):
            self.write('bad.sp', 'bad\nv1 a 0 1\nr1 a 0 1\n.tran 1u 1m\n.meas tran %s\n.end\n' % text)
            r = subprocess.run([VSIM, 'bad.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertIn(why, r.stderr)
            self.assertEqual(r.returncode, code)

    def test_steps_of_waveforms_and_tables(self):
        """.step source:number, and rows of .data as HSPICE and Xyce have them."""
        self.write('d.sp', 'steps\n.param k=1 u=1\nv1 a 0 sin(0 1 1k)\nr1 a 0 1\nv2 b 0 {k*u}\nr2 b 0 1\n'
                   '.data points\n+ k u\n+ 1 2\n+ 3 4\n+ 5 6\n.enddata\n.step v1:va 2 3 1\n.step data=points\n.tran 1u 1m\n'
                   '.meas tran x find v(a) at=0.25m\n.meas tran y find v(b) at=0\n.end\n')
        r = subprocess.run([VSIM, '-q', '--csv', '-r', 'o.csv', '--measures', 'm.csv', 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        rows = list(csv.DictReader(self.read('m.csv').splitlines()))
        self.assertEqual([[float(row[k]) for k in ('k', 'u', 'v1:va')] for row in rows],
                         [[k, k + 1, va] for va in (2, 3) for k in (1, 3, 5)] if rows[1]['v1:va'] == rows[0]['v1:va']
                         else [[k, k + 1, va] for k in (1, 3, 5) for va in (2, 3)])
        for row in rows:
            self.close(float(row['x']), float(row['v1:va']), (math.pi * 20e-6 * 1e3) ** 2 / 2)  # lines between steps of 20 us
            self.close(float(row['y']), float(row['k']) * float(row['u']))
        for text, why in (('.step data=nothing 1', 'the name of a .data card is expected'),
                          ('.data p\n+ k u\n+ 1 2 3\n.enddata\n.step data=p', '3 numbers are no rows of 2 columns')):
            self.write('bad.sp', 'bad\n.param k=1 u=1\nv1 a 0 {k*u}\nr1 a 0 1\n%s\n.op\n.end\n' % text)
            r = subprocess.run([VSIM, 'bad.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertIn(why, r.stderr)

    def test_a_node_of_ic_that_is_not_there(self):
        """.ic and .nodeset go on without it; colons between levels of hierarchy are dots, as Xyce writes them."""
        v, said = self.run_deck('nodes\nx1 a s\n.subckt s p\nc1 p 0 1u\nr1 p q 1k\nr2 q 0 1k\n.ends\n'
                                '.ic v(a)=1 v(nix)=2 v(x1:nox)=1\n.nodeset v(x1:q)=0.5 v(nax)=1\n.tran 1u 1m\n.end\n')
        self.close(v['v(a)'][0], 1)
        for name in ('nix', 'x1:nox', 'nax'):
            self.assertIn("no node '%s'; the card goes on without it" % name, said)
        self.assertNotIn("'x1:q'", said)

    def test_vbic_of_three_terminals(self):
        """Xyce's level 11 is level 9 without what leads to the substrate; its fourth node is the thermal one, and it heats
        itself without one too."""
        card = ('.model %s npn level=%d is=1e-16 ibei=1e-18 ibci=2e-17 rcx=10 rci=60 rbx=10 rbi=40 re=2 rbp=40 rs=20 vef=10 ikf=2m '
                'cje=0.1p cjc=0.02p rth=300 tf=10p%s\n')
        deck = ('vbic\n' + card % ('m3', 11, '%s') + card % ('m4', 12, '') + 'vb b 0 0.85\nvc c 0 2\nva a 0 2\nvd d 0 2\n'
                'q1 c b 0 t1 m3\nq2 a b 0 m3\nq3 d b 0 0 t3 m4\n.op\n.print op format=csv v(t1)\n.end\n')
        v, said = self.run_deck(deck % '')
        self.assertIn("this card is Xyce's", said)
        for other in ('i(va)', 'i(vd)'):
            self.close(v[other][0], v['i(vc)'][0], 2e-3)  # reltol of each
        self.close(v['v(t3)'][0], v['v(t1)'][0], 2e-3)
        self.close(v['v(t1)'][0], -300 * (2 * v['i(vc)'][0] + 0.85 * v['i(vb)'][0] / 3), 4e-3)
        # with ikp absent the parasitic transistor would only lead to the substrate
        more, _ = self.run_deck(deck % ' isp=1e-15 ibcip=1e-15 cjcp=1p')
        self.assertEqual(more['i(vc)'], v['i(vc)'])
        self.assertEqual(more['v(t1)'], v['v(t1)'])
        _, said = self.run_deck('no card of Xyce\n' + card % ('m3', 11, '') + 'vb b 0 0.85\nvc c 0 2\nq1 c b 0 m3\n.op\n.end\n')
        self.assertIn('has parameters of VBIC, which is level 11 in Xyce only: it is taken as VBIC of three terminals', said)

    def test_least_resistance_of_vbic(self):
        """Xyce's VBIC, release 1.3, has none below 1 mohm. 1e9 S at a node that hangs on gmin leave rounding of 6e-8 S there,
        by which Newton's updates shrank as 1/n; the same circuits with 1 mohm have the same bits."""
        deck = ('gate without supply\nv1 1 0 pulse(5 0 3u 0.5n 0.5n 4u 8.275u)\nv2 2 0 pulse(0 5 2u 0.5n 0.5n 4u 8.275u)\n'
                'x1 1 2 o nand\nx2 1 o p nand\n.subckt nand a b out\nr1 vdd b1 4k\nq1 b2 b1 a q\nq2 b2 b1 b q\nr2 vdd c2 1.6k\n'
                'q3 c2 b2 b3 q\nr3 vdd out 4k\nq4 out b3 0 q\nr4 b3 0 1k\n.ends\n.options device gmin=1e-12\n'
                '.model q npn level=11 rbi=10 rbp=%s rbx=3.5 rci=1.8 rcx=4.5 re=%s rth=200 is=6e-24 ibci=1.6e-14 ibcn=9.4e-14\n'
                '+ ibei=5.9e-24 iben=2.4e-17 nci=1.933 ncn=1.97 nei=1.169 nen=2.21 nf=1.02 nkf=0.12 vbbe=7.7\n.tran 20n 10u\n.end\n')
        least, said = self.run_deck(deck % ('1m', '1m'))
        self.assertNotIn('is taken as', said)
        below, said = self.run_deck(deck % ('1e-9', '1e-4'))
        self.assertEqual(below, least)
        self.assertIn("model 'q': rbp=1e-09 ohm is taken as 0.001 ohm, the least that VBIC 1.3 has", said)
        self.assertIn("model 'q': re=0.0001 ohm is taken as 0.001 ohm", said)

    def test_global_nodes_by_their_name(self):
        """$g_... of PSpice, $g... of Xyce need no .global."""
        deck = ('globals\nv1 $g_vdd 0 5\nv2 $gx 0 3\nx1 a b s\n.subckt s a b\nr1 $g_vdd a 1k\nr2 $gx b 1k\n.ends\n'
                'r3 a 0 1k\nr4 b 0 1k\n.op\n%s.end\n')
        v, _ = self.run_deck(deck % '.print op format=csv v(a)\n')
        self.close(v['v(a)'][0], 2.5)
        self.close(v['v(b)'][0], 1.5)
        v, _ = self.run_deck(deck % '')
        self.close(v['v(a)'][0], 2.5)
        self.assertEqual(v['v(b)'][0], 0)  # a node of x1

    def run_complex(self, text):
        """As run_deck, of a plot with complex numbers: its columns name.re, name.im as one."""
        v, said = self.run_deck(text)
        return {k[:-3] if k.endswith('.re') else k: [complex(*z) for z in zip(x, v[k[:-3] + '.im'])] if k.endswith('.re') else x
                for k, x in v.items() if not k.endswith('.im')}, said

    def test_dc_at_the_rows_of_a_table(self):
        """A point a row, of elements, sources, parameters and the temperature; the axis is the row's number."""
        v, said = self.run_deck('rows\n.param k=1\nv1 a 0 10\nr1 a b 10 tc1=1m\nr2 b 0 5\nv2 c 0 {k}\nr3 c 0 1\n'
                                '.data t\n+ r1 r2:r v1 k temp\n+ 8 4 1 2 27\n+ 9 4 2 3 27\n+ 8 5 3 {2+2} 127\n.enddata\n'
                                '.dc data=t\n.meas dc late max v(b) from=2 to=2\n.end\n')
        self.assertEqual(v['row'], [1, 2, 3])
        self.assertNotIn('reads this table', said)
        for x, want in zip(v['v(b)'], (4 / 12, 2 * 4 / 13, 3 * 5 / (5 + 8 * 1.1))):
            self.close(x, want)
        self.assertEqual(v['v(c)'], [2, 3, 4])
        self.close(float(re.search(r'(?m)^late *= *(\S+)', said).group(1)), 2 * 4 / 13, 1e-5)
        # only sources; what comes behind has the deck's values again
        v, _ = self.run_deck('rows\nv1 a 0 10\nr1 a b 1k\nr2 b 0 1k\n.data t v1\n+ 1 4 2\n.enddata\n.dc data=t\n.end\n')
        self.assertEqual(v['v(a)'], [1, 4, 2])
        _, said = self.run_deck('rows\nv1 a 0 10\nr1 a b 1k\nr2 b 0 1k\n.data t v1 r1\n+ 1 3k\n.enddata\n.dc data=t\n.op\n.print op v(b)\n.end\n')
        self.close(float(re.search(r'(?m)^v\(b\) *= *(\S+)', said).group(1)), 5)

    def test_ac_and_noise_at_the_rows_of_a_table(self):
        """Frequencies in any order, and with other columns each row a circuit of its own."""
        rc = 'rows\n.param res=1k\ni1 0 a ac 1 0\nr1 a 0 {res}\nc1 a 0 2u\n.data t\n+ %s\n.enddata\n%s\n.end\n'

        def z(f, r=1e3, c=2e-6):
            return 1 / (1 / r + 2j * math.pi * f * c)
        v, _ = self.run_complex(rc % ('freq 10 1k 0 100', '.ac data=t'))
        self.assertEqual(v['frequency'], [10, 1000, 0, 100])
        for f, x in zip(v['frequency'], v['v(a)']):
            self.assertLessEqual(abs(x - z(f)), 1e-9 * abs(z(f)))
        rows = ((1, 10, 1e3, 2e-6, 1), (2, 100, 2e3, 3e-6, 0.5), (3, 20, 3e3, 4e-6, 2))
        v, _ = self.run_complex(rc % ('i1:acmag hertz res c1 i1:acphase\n' + '\n'.join(
            '+ %r %r %r %r %r' % (m, f, r, c, p) for m, f, r, c, p in rows), '.ac data=t'))
        self.assertEqual(v['frequency'], [r[1] for r in rows])
        for (m, f, r, c, p), x in zip(rows, v['v(a)']):
            want = m * complex(math.cos(math.radians(p)), math.sin(math.radians(p))) * z(f, r, c)
            self.assertLessEqual(abs(x - want), 1e-9 * abs(want))
        noise = lambda f, r, c: math.sqrt(4 * 1.380649e-23 * 300.15 / r) * abs(z(f, r, c))
        for table, want in (('freq 1 10 100', [(f, 1e3, 2e-6) for f in (1, 10, 100)]),
                            ('freq 100 1', [(f, 1e3, 2e-6) for f in (100, 1)]),
                            ('res c1 freq\n+ 1k 1u 5\n+ 4k 3u 50\n+ 2k 2u 500', [(5, 1e3, 1e-6), (50, 4e3, 3e-6), (500, 2e3, 2e-6)])):
            v, said = self.run_deck(rc % (table, '.noise v(a) i1 data=t\n.print noise onoise_spectrum'))
            x = [float(n) for n in re.findall(r'(?m)^\d+\t\S+\t(\S+)', said)]
            self.assertEqual(len(x), len(want), said)
            for a, b in zip(x, want):
                self.close(a, noise(*b), 2e-6)  # six digits are printed
            self.assertEqual('there are no totals of noise' in said, table != 'freq 1 10 100')

    def test_wrong_tables(self):
        top = 'bad\n.param k=1\nv1 a 0 {k} ac 1\nr1 a b 1\nr2 b 0 1\n%s\n.end\n'
        for text, why in (('.data t k\n+ 1\n.enddata\n.ac data=t', 'a column freq or hertz with the frequencies is missing'),
                          ('.data t freq hertz\n+ 1 2\n.enddata\n.ac data=t', "the table has two columns of 'frequency'"),
                          ('.data t r1 k r1\n+ 1 2 3\n.enddata\n.dc data=t', "the table has two columns of 'r1'"),
                          ('.data t freq\n+ -1\n.enddata\n.ac data=t', '-1 is no frequency, which is 0 or more'),
                          ('.data t freq\n+ 0\n.enddata\n.noise v(b) v1 data=t', '0 is no frequency, which is positive'),
                          ('.data t freq k\n+ 1 2 3\n.enddata\n.ac data=t', '3 numbers are no rows of 2 columns'),
                          ('.data t nix\n+ 1\n.enddata\n.dc data=t', "no source, parameter or element 'nix' to sweep"),
                          ('.dc data=t', 'the name of a .data card is expected'),
                          ('.data t k\n+ 1\n.enddata\n.dc data=t 3', 'nothing more is expected'),
                          ('.data t k\n+ 1 2\n.enddata\n.dc data=t\n.sens dc m param=v1\n.meas dc m max v(b)',
                           'there are no derivatives of an analysis at the rows of a table')):
            self.write('bad.sp', top % text)
            r = subprocess.run([VSIM, 'bad.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertIn(why, r.stderr)
            self.assertEqual(r.returncode, 1, text)
        _, said = self.run_deck(top % '.data t k\n+ 1\n.enddata\n.op')
        self.assertIn('no .step, .dc, .ac or .noise data=t reads this table', said)

    def test_list_in_front_of_its_name(self):
        """.dc list name values, as HSPICE and Xyce write it too, and nested."""
        v, _ = self.run_deck('list\nv1 a 0 1\nv2 b 0 1\nr1 a 0 1\nr2 b 0 1\n.dc list v1 3 1 2 list v2 5 4\n.end\n')
        self.assertEqual(v['v(a)'], [3, 1, 2, 3, 1, 2])
        self.assertEqual(v['v(b)'], [5, 5, 5, 4, 4, 4])
        self.write('bad.sp', 'list\nv1 a 0 1\nr1 a 0 1\n.dc list v1\n.end\n')
        r = subprocess.run([VSIM, 'bad.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertIn('LIST needs values', r.stderr)

    def test_xyce_level(self):
        """Level 9 is BSIM3 there, MOS 9 elsewhere."""
        deck = 'level\nvd d 0 1\nvg g 0 1\nm1 d g 0 0 nm w=1u l=1u\n.model nm nmos level=%s vth0=0.5\n.op\n%s.end\n'
        is_9, said = self.run_deck(deck % ('9', '.preprocess replaceground true\n'))
        bsim3, _ = self.run_deck(deck % ('49', ''))
        self.assertIn("this card is Xyce's", said)
        self.assertEqual(is_9['i(vd)'], bsim3['i(vd)'])
        is_9, said = self.run_deck(deck % ('9', ''))
        self.assertIn('it is taken as BSIM3', said)
        self.assertEqual(is_9['i(vd)'], bsim3['i(vd)'])

    def test_models_that_are_not_there(self):
        """What another model or no value stands in for is told."""
        v, said = self.run_deck('stands in\nv1 a 0 1\nr1 a b tc1=0.1\nr2 b 0 2k\nd1 b 0 dm\n.model dm d level=200\n.op\n.end\n')
        self.assertIn("'r1' has no value: it is 1 mOhm", said)
        self.assertIn("level 200 of type 'd' is not supported; it is taken as level 1", said)
        self.write('bad.sp', 'files\nb1 a 0 v={table("x.dat", 1, 2)}\nr1 a 0 1\n.op\n.end\n')
        r = subprocess.run([VSIM, 'check', 'bad.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn('bad.sp:2:17: error: tables in files are not read', r.stderr)
        self.write('bad.sp', 'jfet\n.preprocess replaceground true\nv1 d 0 1\nj1 d 0 0 jm\n.model jm njf level=3\n.op\n.end\n')
        r = subprocess.run([VSIM, 'check', 'bad.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn("level 3 of type 'njf' is not supported; 1, 2 are", r.stderr)

    def test_xyce_jfet_level(self):
        """Level 2 is Shockley's channel, depletion layers of width sqrt(V / (pb - vto)), saturated where they meet, or with
        delta beyond; elsewhere it is another model. Also turned round, and of the p type."""
        def channel(vgst, vds, beta, vto, pb, lam, theta, delta):
            a, sat = pb - vto, vgst + delta
            v = vgst if vds >= sat else vds * vgst / sat
            layers = max(1 + (v - vgst) / a, 0) ** 1.5 - max(1 - vgst / a, 0) ** 1.5
            return beta * (1 + lam * vds) / (1 + theta * vgst) * (v - 2 / 3 * a * layers) if vgst > 0 else 0

        for more, (lam, theta, delta) in (('', (0, 0, 0)), ('lambda=0.02 theta=0.05 delta=0.3', (0.02, 0.05, 0.3))):
            for kind, sign in (('njf', 1), ('pjf', -1)):
                deck = (f'channel\nvd d 0 1\nvg g 0 {-sign}\nvs s 0 0\nj1 d g s jm\n.model jm {kind} level=2 vto=-2 beta=1m pb=0.9 is=0 {more}\n'
                        '.dc vd -1 4 0.25 vg -2.5 2.5 0.5\n.option reltol=1e-10\n%s.end\n')
                v, said = self.run_deck(deck % '.preprocess replaceground true\n')
                self.assertIn("this card is Xyce's", said)
                n = 0
                for vd, vg, i in zip(v['v-sweep'], v['v(g)'], v['i(vd)']):
                    vds, vgs = sign * vd, sign * vg
                    a = (vgs + 2, vds, 1) if vds >= 0 else (vgs - vds + 2, -vds, -1)
                    want = a[2] * channel(a[0], a[1], 1e-3, -2, 0.9, lam, theta, delta)
                    self.assertAlmostEqual(-sign * i, want, delta=1e-9 + 1e-9 * abs(want), msg=(kind, vd, vg))
                    n += abs(want) > 1e-5
                self.assertGreater(n, 100)
                other, _ = self.run_deck(deck % '')
                self.assertNotEqual(other['i(vd)'], v['i(vd)'])

    def test_forms_in_front(self):
        """.dc lin name start end step; .dc dec name start end points; .step element:parameter."""
        v, _ = self.run_deck('front\nv1 a 0 1\nr1 a 0 1k\n.dc dec v1 1 100 1\n.end\n')
        self.assertEqual(len(v['v(a)']), 3)
        for got, want in zip(v['v(a)'], (1, 10, 100)):
            self.close(got, want)
        v, _ = self.run_deck('front\nv1 a 0 1\nr1 a 0 1k\n.dc lin v1 1 2 0.25\n.end\n')
        self.assertEqual(v['v(a)'], [1, 1.25, 1.5, 1.75, 2])
        v, _ = self.run_deck('front\nv1 a 0 1\nr1 a b 1k\nr2 b 0 1k\n.step r1:r 1k 3k 2k\n.op\n.end\n')
        self.close(v['v(b)'][0], 0.5)
        self.close(v['v(b)'][1], 0.25)

    def test_step_of_zero(self):
        """.tran 0 tstop: largest steps of a fiftieth, edges without a length of a thousandth of the run."""
        v, _ = self.run_deck('zero\nv1 a 0 pulse(0 1 0.1 0 0 0.2 1)\nr1 a 0 1k\n.tran 0 1\n.end\n')
        steps = [b - a for a, b in zip(v['time'], v['time'][1:])]
        self.assertLessEqual(max(steps), 0.02 * (1 + 1e-9))
        for t, a in zip(v['time'], v['v(a)']):
            self.assertAlmostEqual(a, max(0, min(1, (t - 0.1) / 1e-3, 1 - (t - 0.301) / 1e-3)), delta=1e-9)

    def test_eight_values(self):
        v, _ = self.run_deck('waves\nv1 a 0 am(0.3 0.5 2 200 1500 1m 25 15)\nv2 b 0 sffm(0.2 2 1k 5 100 1m 20 10)\n'
                             'r1 a b 1k\n.tran 20u 5m\n.end\n')
        deg = math.pi / 180
        for t, a, b in zip(v['time'], v['v(a)'], v['v(b)']):
            u = t - 1e-3
            if u > 1e-8:
                self.assertAlmostEqual(a, 0.3 + (0.5 + 2 * math.sin(400 * math.pi * u + 25 * deg)) *
                                       math.sin(3000 * math.pi * u + 15 * deg), delta=1e-9)
                self.assertAlmostEqual(b, 0.2 + 2 * math.sin(2000 * math.pi * u + 10 * deg + 5 * math.sin(200 * math.pi * u + 20 * deg)),
                                       delta=1e-9)
            elif u < -1e-9:
                self.assertEqual((a, b), (0, 0))

    def test_power_of_a_port(self):
        """The source behind z0 has the amplitude sqrt(4 P z0), as in ngspice; a load of z0 sees half of it."""
        v, _ = self.run_deck('port\nv1 a 0 dc 0.5 ac 1 portnum 1 z0 100 pwr 1m freq 1meg\nr1 a 0 100\n.tran 10n 3u\n.end\n')
        for t, a in zip(v['time'], v['v(a)']):
            self.assertAlmostEqual(a, 0.25 + math.sqrt(0.1) * math.cos(2e6 * math.pi * t), delta=1e-9)

    def test_words_of_blocks(self):
        _, said = self.run_deck("""blocks
v1 1 0 sin(0 1 1k)
r1 1 0 1k
.control
noise v(1) v1 dec 1 10 100
setplot noise1
print ally
plot ally retraceplot
tran 10u 4m 0 10u
let cut-tstart = 1m
let cut-tstop = 2m
cutout
let first = time[0]
let last = time[length(time)-1]
let n = length(v(1))
print first last n
let six = 6
let five = 5
if six >< five
  echo they differ
end
compose f start = 1 stop = 4 step =1
let sum = f[0]+f[1]+f[2]+f[3]
let g = abs(-3)$ a comment
print sum g
settype s-param g
settype temp-sweep f
pyplot out v(1)
if $oscompiled = 6 | $oscompiled = 7
  echo a system it knows
end
.endc
.end
""")
        value = {k: float(v) for k, v in re.findall(r'(?m)^(\w+) = (\S+)$', said)}
        self.assertTrue(1e-3 <= value['first'] < 1.02e-3 and 1.98e-3 < value['last'] <= 2e-3, value)
        self.assertTrue(100 <= value['n'] < 220, value)
        self.assertEqual((value['sum'], value['g']), (10, 3))
        for words in ('they differ', 'pyplot would start Python: nothing is drawn', 'a system it knows', 'onoise_spectrum'):
            self.assertIn(words, said)

    METERS = ('meters\n.param x=0.5u\nc1 a 0 2u\nc2 b a 3u m=2\nc3 c 0 1u\nv1 a c 0\nv2 a d 0 ac 1\nc4 d 0 {x}\n'
              'v3 a f 1\nc5 f 0 7u\na1 a oc mc\n.model mc cmeter(gain=1e6)\nr1 a 0 1k\nr2 b 0 1k\nr5 f 0 1k\n'
              'l1 p 0 2\nl2 p q 2 m=2\na2 p ol ml\n.model ml lmeter\na3 %vd(b a) %id(o 0) mo\n.model mo lmeter gain=1p\nro o 0 1\nr3 q 0 1k\nr4 oc ol 1k\n')

    def test_meters_of_what_a_node_has(self):
        # 2 + 2 3 uF, 1 and x uF across 0 V; those across 1 V do not count. 2 H beside 1 H; none
        v, said = self.run_deck(self.METERS + '.op\n.end\n')
        self.assertNotIn('warning', said)
        self.close(v['v(oc)'][0], 9.5)
        self.close(v['v(ol)'][0], 2 / 3)
        self.close(v['v(o)'][0], -1)

    def test_meters_follow_what_changes(self):
        v, _ = self.run_deck(self.METERS + '.dc x 0.5u 2u 0.5u\n.end\n')
        self.assertEqual(len(v['v(oc)']), 4)
        for i, c in enumerate(v['v(oc)']):
            self.close(c, 9.5 + 0.5 * i)
        v, _ = self.run_deck(self.METERS + '.dc v1 0 1 1\n.end\n')
        self.close(v['v(oc)'][0], 9.5)
        self.run_deck(self.METERS + '.control\nalter c4=5u\nalter l2=4\nop\nprint v(oc) v(ol) > out.txt\n.endc\n.end\n')
        self.assertEqual(re.findall(r'= (\S+)', self.read('out.txt')), ['1.400000e+01', '1.000000e+00'])

    def test_meters_refuse_values_that_vary(self):
        for line in ('c9 a 0 cm w=1u l=1u\n.model cm c cj=1m\n', "c9 a 0 c='1u*(1+v(a))'\n"):
            self.write('d.sp', self.METERS + line + '.op\n.end\n')
            r = subprocess.run([VSIM, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertEqual(r.returncode, 1)
            self.assertIn("error: a1: 'cmeter' measures fixed values only, not that of 'c9'", r.stderr)

    def test_marked_resistors(self):
        v, _ = self.run_deck('marks\nv1 a 0 1\nr1 a b R47\nr2 b c r047\nr3 c 0 R7\n.model r7 r(r=3)\n.op\n.end\n')
        self.close(v['i(v1)'][0] if 'i(v1)' in v else v['v1#branch'][0], -1 / (0.47 + 0.047 + 3))

    def test_ends_of_files(self):
        """A block that ends with the file, and the character with which DOS ended files."""
        self.write('sub.lib', '.subckt s a\nr1 a 0 1k\n.ends\r\n\x1a')
        v, said = self.run_deck('ends\n.include sub.lib\nx1 a s\nv1 a 0 2\n.op\n.endc\n.control\nop\necho done here\n')
        self.assertIn('.control without .endc: it ends with the file', said)
        self.assertIn('.endc without .control has no effect', said)
        self.assertIn('done here', said)

    def test_probes_of_all_currents(self):
        """Of controlled sources and switches too; the power of a device is a name in expressions."""
        v, said = self.run_deck("""alli
v1 a 0 2
vf a b 0
rb b 0 1k
f1 f 0 vf 3
rf f 0 1
s1 a s a 0 sm
rs s 0 1k
w1 a w vf wm
rw w 0 1k
h1 h 0 vf 500
rh h 0 1k
.model sm vswitch(von=1 voff=0 ron=1k)
.model wm iswitch(ion=1m ioff=0 ron=1k)
.probe alli p(rs)
.control
op
let a = i(f1)
let b = i(s1)
let c = i(w1)
let d = i(h1)
let e = 2*rs:power
print a b c d e
.endc
.end
""")
        value = {k: float(v) for k, v in re.findall(r'(?m)^(\w+) = (\S+)$', said)}
        for name, expected in zip('abcde', (6e-3, 1e-3, 1e-3, -1e-3, 2e-3)):
            self.close(value[name], expected, 1e-6)

    def test_ngspices_words_for_values_inside_devices(self):
        v, _ = self.run_deck('words\nv1 a 0 0.5\nd1 a 0 dm\n.model dm d is=1e-14 cjo=1p\nm1 a a 0 0 nm\n'
                             '.model nm nmos level=1 vto=0.1 gamma=0.5\nm2 a a 0 vm\n.model vm vdmos cgdmax=1n cgs=1n cjo=2n\n'
                             '.save @d1[qd] @d1[charge] @m1[gmb] @m1[gmbs] @m2[cgd] @m2[capgd] @m2[qgs] @m2[qdio] @m2[cds]\n.op\n.end\n')
        for own, theirs in (('@d1[charge]', '@d1[qd]'), ('@m1[gmbs]', '@m1[gmb]'), ('@m2[capgd]', '@m2[cgd]')):
            self.assertEqual(v[own], v[theirs])
            self.assertGreater(v[own][0], 0)
        self.close(v['@m2[qgs]'][0], 1e-9 * 0.5, 1e-6)
        self.assertLess(v['@m2[qdio]'][0], 0)

    def test_a_capacitance_at_the_bias_goes_before_the_parameter_of_its_name(self):
        v, _ = self.run_deck('bias\nv1 b 0 -0.6\nm1 0 0 0 b nm m=2\n.model nm nmos level=1 cbd=1p cbs=2p pb=0.8 mj=0.5\n'
                             '.save @m1[cbd] @m1[cbs] @m1[capbd] @m1[capbs]\n.op\n.end\n')
        for name, at_zero in (('bd', 1e-12), ('bs', 2e-12)):
            self.assertEqual(v['@m1[c%s]' % name], v['@m1[cap%s]' % name])
            self.close(v['@m1[c%s]' % name][0], 2 * at_zero / (1 + 0.6 / 0.8) ** 0.5, 1e-9)

    def test_a_warning_names_the_coupled_line_and_not_a_part_of_it(self):
        _, said = self.run_deck('ends\n.subckt pair i o\np#1 i k 0 o q 0 pm len=1\n.ends\nv1 a 0 1\nr1 a i 50\nx1 i o pair\nr2 o 0 50\n'
                             'r#3 o t 1\n.model pm cpl r=2 0 2 l=9n 1n 9n g=1u 0 1u c=4p -1p 4p length=1\n.tran 1p 2p\n.end\n')
        for node, element in (('x1.k', 'x1.p#1'), ('x1.q', 'x1.p#1'), ('t', 'r#3')):
            self.assertIn("node '%s' is connected to one terminal only, of '%s'\n" % (node, element), said)

    def test_a_blank_may_stand_behind_the_name_of_a_function(self):
        _, said = self.run_deck("""blank
v1 a 0 dc 3 ac 1
r1 a b 1k
r2 b 0 2k
.control
op
define twice(x) 2*x
let k = abs (0-v(b)) + twice (v (a))
let max = 5
print k
print max (a) abs (b)
.endc
.end
""")
        value = dict(re.findall(r'(?m)^(\S.*?) = (\S+)$', said))
        for name, expected in (('k', 8), ('max', 5), ('(a)', 3), ('abs (b)', 2)):
            self.close(float(value[name]), expected, 1e-9)

    PINS = """pins
.subckt amp in out vp vm
r1 in vm 1k
r2 vp out 2k
r3 out 0 4k
x2 out vm load
.ends
.subckt load a b
r1 a b 3k
c1 a b 1u
.ends
v1 1 0 1
v2 p 0 12
x1 1 o p 0 amp
rl o 0 {rl}
.param rl=1k
"""

    def amp(self, rl):
        """Its output at dc, and the currents into its terminals and that of x2; the power to ground."""
        g = 1 / 2e3 + 1 / 4e3 + 1 / 3e3 + 1 / rl
        o = 12 / 2e3 / g
        return o, {'in': 1e-3, 'out': -o / rl, 'vp': (12 - o) / 2e3, 'vm': -1e-3 - o / 3e3, 'x2.a': o / 3e3}

    def test_probes_of_terminals_of_subcircuits(self):
        """By name, by number, in LTspice's words, inside others; one of them goes to ground, beside another path."""
        v, said = self.run_deck(self.PINS + '.probe i(x1:in) i(x1:3) i(x1:vm) p(x1) i(x1.x2:a)\n.save all ix(1:out)\n'
                                '.probe i(x1:foo) i(x1)\n.op\n.end\n')
        o, i = self.amp(1e3)
        for pin, value in i.items():
            self.close(v['i(x1.x2:a)' if pin == 'x2.a' else f'i(x1:{pin})'][0], value, 1e-6)
        self.close(v['x1:power'][0], 1 * i['in'] + o * i['out'] + 12 * i['vp'], 1e-6)
        self.close(v['v(o)'][0], o, 1e-6)
        self.assertIn("'x1' has no terminal 'foo'", said)
        self.assertIn("a terminal is needed, as in i(x1:out), for the current of 'x1'", said)
        self.assertFalse([name for name in v if 'probe' in name])

    def test_probes_of_all_terminals_follow_changes(self):
        v, said = self.run_deck(self.PINS + '.probe alli\n.control\nop\nlet a = i(x1:out)\nalterparam rl=3k\nreset\nop\n'
                                'let b = i(x1:out)\nlet c = i(x1:vp)\nprint op1.a b c\n.endc\n.end\n')
        value = [float(x) for x in re.findall(r'(?m)^\S+ = (\S+)$', said)]
        after = self.amp(3e3)[1]
        for got, expected in zip(value, (self.amp(1e3)[1]['out'], after['out'], after['vp']), strict=True):
            self.close(got, expected, 1e-5)  # six digits are printed

    def test_terminals_carry_charging_currents(self):
        """A terminal's current is that of its elements: C dv/dt of the ramp, and v/R."""
        v, _ = self.run_deck('ramp\n.subckt load a b\nr1 a b 3k\nc1 a b 1u\n.ends\nv1 1 0 pwl(0 0 1m 3)\nx1 1 0 load\n'
                             '.probe i(x1:a) i(x1:b)\n.tran 10u 1m\n.end\n')
        for t, u, a, b in zip(v['time'], v['v(1)'], v['i(x1:a)'], v['i(x1:b)']):
            if t > 0.5e-3:
                self.close(a, u / 3e3 + 1e-6 * 3e3, 1e-6)
                self.close(b, -a, 1e-9)

    def test_saved_currents_carry_what_charges(self):
        """.options savecurrents: a current into a terminal is that of the resistor there, in subcircuits too; those of a
        device add up to nothing: Newton leaves 1e-5 of the flows of each of its rows."""
        deck = 'edges\nvp p 0 2\nvg g 0 pulse(0 2 1n 1n 1n 5n 20n)\nx1 p g cell\n.subckt cell p g\n'
        at = {'m1': 'dgsb', 'q1': 'cbes', 'j1': 'dgs', 'd1': 'p'}
        for device, letters in at.items():
            nodes = ['%s%s' % (device, t) for t in letters]
            deck += '%s %s %s %sx\n' % (device, ' '.join(nodes), '0' if device == 'd1' else '', device)
            for t, node in zip(letters, nodes):
                deck += 'r%s %s %s 500\n' % (node, {'d': 'p', 'c': 'p', 'g': 'g', 'b': 'g', 'p': 'g'}.get(t, '0'), node)
        deck = deck.replace('rm1b g', 'rm1b 0')
        deck += ('.model m1x nmos level=1 vto=0.5 kp=1m tox=20n cgso=1n cgdo=1n cbd=1p cbs=1p\n.ends\n'
                 '.model q1x npn tf=10p cje=1p cjc=1p cjs=1p\n.model j1x njf vto=-2 beta=1m cgs=1p cgd=1p\n'
                 '.model d1x d cjo=1p tt=1n\n')
        v, _ = self.run_deck(deck + '.options savecurrents reltol=1e-5\n.tran 0.1n 10n\n.end\n')
        # rows right behind corners hold means of currents (docs/numerics.md, 4)
        mean = [any(0 < t - corner < 0.1e-9 / 2048 for corner in (1e-9, 2e-9, 7e-9, 8e-9)) for t in v['time']]
        v = {name: [x for x, skip in zip(curve, mean) if not skip] for name, curve in v.items()}
        for device, letters in at.items():
            into = {t: v['@x1.r%s%s[i]' % (device, t)] for t in letters}
            bound = 1e-3 * max(abs(i) for curve in into.values() for i in curve)
            for t, curve in into.items():
                word = 'id' if t == 'p' else 'i' + t
                if (device, word) != ('m1', 'id'):  # that of the channel
                    for a, b in zip(curve, v['@x1.%s[%s]' % (device, word)], strict=True):
                        self.assertLessEqual(abs(a - b), bound, (device, word))
            for row in zip(*into.values()) if device != 'd1' else ():
                self.assertLessEqual(abs(sum(row)), bound, device)
        self.assertNotIn('@x1.d1[i]', v)  # id

    def test_cards_of_results_name_currents_of_elements(self):
        """Without .probe, beside it, and beside .save; in subcircuits, in ac, of a wrong name."""
        deck = ('currents\nv1 a 0 dc 2 ac 2\nx1 a b s\n.subckt s a b\nr1 a b 1k\n.ends\nr2 b 0 1k\nl1 b c 1\nr3 c 0 500\n'
                'b1 a 0 i=v(b)*1m\nb2 d 0 v=v(b)\nr4 d 0 1k\n')
        want = {'i(x1.r1)': 1.5e-3, 'i(r3)': 1e-3, 'i(b1)': 5e-4, 'i(r2)': 5e-4}  # v(b) = 0.5
        for more in ('', '.probe i(r2)\n', '.save v(b)\n', '.probe i(x1.r1) i(r3) i(b1) i(r2)\n'):
            with self.subTest(more=more):
                v, said = self.run_deck(deck + more + '.op\n.print op i(x1.r1) i(r3) i(b1) i(l1) i(v1) i(b2)\n'
                                        '.print op 2*i(r2)\n.end\n')
                self.assertNotIn('no vector', said)
                for name, value in want.items():
                    self.assertLessEqual(abs(v[name][0] - value), 1e-3 * value, name)
        v, said = self.run_deck(deck + '.ac lin 1 1 1\n.meas ac m1 find mag(i(r4)) at=1\n.end\n')
        self.assertNotIn('no vector', said)
        self.assertNotIn('failed', said)
        v, said = self.run_deck(deck + '.tran 1m 10m\n.meas tran m1 max i(nobody)\n.end\n')
        self.assertIn("there is no vector 'i(nobody)'", said)

    TERMINALS = ('terminals\nvd d 0 1.5\nvg g 0 1.2\nm1 d g 0 0 n w=10u l=1u\nq1 d b 0 qn\nrb b d 100k\nx1 d g sub\n'
                 '.subckt sub d g\nm1 d g s 0 n w=10u l=1u\nrs s 0 10\nxi d g inn\n.ends\n'
                 '.subckt inn d g\nm1 d g 0 0 n w=10u l=1u\n.ends\n.model n nmos vto=0.7 kp=100u\n.model qn npn\n')
    BY = {'i(m1:d)': 'i(m1:d)', 'i(m1:3)': 'i(m1:s)', 'id(m1)': 'i(m1:d)', 'i2(q1)': 'i(q1:b)', 'ie(q1)': 'i(q1:e)',
          'i(x1.m1:d)': 'i(x1.m1:d)', 'i(m.x1.m1:s)': 'i(x1.m1:s)', 'i(x1:m1:s)': 'i(x1.m1:s)', 'id(x1.m1)': 'i(x1.m1:d)',
          'i(x1:d)': 'i(x1:d)', 'i(x1:1)': 'i(x1:d)', 'i(x1.xi:2)': 'i(x1.xi:g)', 'i(x1:xi:d)': 'i(x1.xi:d)',
          'i(rb:1)': 'i(rb)', 'p(q1)': 'q1:power', 'w(x1)': 'x1:power'}

    def test_terminals_by_every_card_and_command(self):
        want, _ = self.run_deck(self.TERMINALS + '.probe i(m1:d) i(m1:s) i(q1:b) i(q1:e) i(x1.m1:d) i(x1.m1:s) i(x1:d) '
                                'i(x1.xi:g) i(x1.xi:d) i(rb) p(q1) p(x1)\n.op\n.end\n')
        self.close(want['i(x1:d)'][0], want['i(x1.m1:d)'][0] + want['i(x1.xi:d)'][0], 1e-6)
        self.close(want['i(x1.m1:s)'][0], -want['i(x1.m1:d)'][0], 1e-6)
        for item, of in self.BY.items():
            for card in ('.save', '.print op', '.meas', 'save'):
                with self.subTest(item=item, card=card):
                    if card == '.meas':
                        cards = ".op\n.meas op y param='%s'\n" % item
                    elif card == 'save':
                        cards = '.control\nsave %s\nop\nprint %s\nlet y = %s\nwrdata y.txt y\n.endc\n' % (item, item, item)
                    else:
                        cards = '%s %s\n.op\n' % (card, item)
                    v, said = self.run_deck(self.TERMINALS + cards + '.end\n')
                    self.assertNotIn('warning', said)
                    self.assertNotIn('error', said)
                    if card == '.save':
                        self.assertEqual(len(v), 1)
                        got = next(iter(v.values()))[0]
                    elif card == '.print op':
                        got = float(re.search(r'^%s = (\S+)$' % re.escape(item), said, re.M)[1])
                    elif card == '.meas':
                        got = float(re.search(r'^y += +(\S+)', said, re.M)[1])
                    else:
                        got = float(self.read('y.txt').split()[-1])
                    self.assertLessEqual(abs(got - want[of][0]), 1e-5 * abs(want[of][0]) + 1e-15)

    def test_terminals_that_are_not_there(self):
        here = {'i(m2:d)': "did you mean 'm1'?", 'id(x1.m2)': "did you mean 'x1.m1'?", 'p(m7)': "did you mean 'm1'?",
                'i(m1:x)': 'terminals are d, g, s, b, or 1 to 4', 'ie(m1)': 'terminals are d, g, s, b, or 1 to 4',
                'i(rb:3)': 'terminals are 1 to 2', 'i(x1:nix)': 'terminals are d, g, or 1 to 2',
                'i(x2:d)': "did you mean 'x1'?"}
        for item, note in here.items():
            for cards in ('.save %s v(d)\n.op\n', '.op\n.print op %s v(d)\n', ".op\n.meas op y param='%s'\n",
                          '.control\nsave %s v(d)\nop\n.endc\n', '.probe %s\n.op\n'):
                if cards.startswith('.probe') and item[:2] not in ('i(', 'p('):
                    continue
                with self.subTest(item=item, cards=cards):
                    _, said = self.run_deck(self.TERMINALS + cards % item + '.end\n')
                    self.assertEqual(said.count('warning'), 1)
                    self.assertIn(note, said.replace("the terminals of 'm1' are", 'its terminals are')
                                  .replace("the terminals of 'rb' are", 'its terminals are')
                                  .replace("the terminals of 'x1' are", 'its terminals are'))

    def test_terminals_of_subcircuits_that_are_like_others(self):
        """Like instances are copies of the first one, which has no sources at its terminals."""
        deck = ('like\nvd d 0 1.5\n%s.subckt sub d\nr1 d 0 1k\nxi d inn\n.ends\n.subckt inn d\nrs d 0 500\n.ends\n'
                % ''.join('x%d d sub\n' % i for i in range(1, 5)))
        for cards in ('.probe i(x3:d)\n.op\n', '.save i(x3:d)\n.op\n', '.probe alli\n.op\n', '.op\n.print op i(x3:d)\n',
                      ".op\n.meas op y param='i(x3:d)'\n", '.control\nsave i(x3:d)\nop\nwrdata y.txt i(x3:d)\n.endc\n'):
            with self.subTest(cards=cards):
                v, said = self.run_deck(deck + cards + '.end\n')
                self.assertNotIn('warning', said)
                self.assertNotIn('error', said)
                got = float(self.read('y.txt').split()[-1]) if 'wrdata' in cards else v['i(x3:d)'][0]
                self.close(got, 4.5e-3, 1e-6)
                if 'alli' in cards:
                    self.assertLessEqual({'i(x%d:d)' % i for i in range(1, 5)}, set(v))
        v, said = self.run_deck(deck + '.probe i(x3.xi:d) p(x4.xi)\n.op\n.end\n')
        self.assertNotIn('warning', said)
        self.close(v['i(x3.xi:d)'][0], 3e-3, 1e-6)
        self.close(v['x4.xi:power'][0], 4.5e-3, 1e-6)

    def test_items_of_cards_inside_a_subcircuit(self):
        deck = ('inside\nvd d 0 1.5\nvg g 0 1.2\nx1 d g sub\nx2 d g sub\nrt d 0 1k\n.subckt sub d g\nm1 d g s 0 n w=10u l=1u\n'
                'rs s 0 10\nxi d g inn\n%s\n.ends\n.subckt inn d g\nm1 d g 0 0 n w=10u l=1u\n.ends\n'
                '.model n nmos vto=0.7 kp=100u\n.op\n.end\n')
        at = 'x1.', 'x2.'
        for items, names in (('i(xi:d)', ['i(%sxi:d)']), ('i(xi:2)', ['i(%sxi:2)', 'i(%sxi:g)']), ('i(m1:d)', ['i(%sm1:d)']),
                             ('p(xi)', ['%sxi:power']), ('p(m1)', ['%sm1:power']), ('i(xi.m1:s)', ['i(%sxi.m1:s)']),
                             ('vd(m1:d:s)', ['v(vd_%sm1:d:s)']), ('vd(rs)', ['v(vd_%srs)']), ('i(rt)', ['i(rt)'])):
            for card in ('.save', '.probe'):
                if card == '.save' and items[:2] == 'vd':
                    continue
                with self.subTest(items=items, card=card):
                    v, said = self.run_deck(deck % ('%s %s' % (card, items)))
                    self.assertNotIn('warning', said)
                    self.assertNotIn('error', said)
                    for path in at:
                        self.assertTrue(any((name % path if '%' in name else name) in v for name in names), list(v))
                    self.assertEqual('v(d)' in v, card == '.probe')
        v, _ = self.run_deck(deck % '.probe i(xi:d) i(m1:d) vd(m1:d:s)')
        self.close(v['i(x2.xi:d)'][0], 1.25e-4, 1e-6)
        self.close(v['v(vd_x2.m1:d:s)'][0], 1.5 - v['v(x2.s)'][0], 1e-6)
        for item, note in (('i(xi:dd)', 'its terminals are d, g, or 1 to 2'), ('i(xj:d)', "did you mean 'x1.xi'?"),
                           ('p(m9)', "did you mean 'x1.m1'?")):
            for card in ('.save', '.probe'):
                with self.subTest(item=item, card=card):
                    _, said = self.run_deck(deck % ('%s %s v(s)' % (card, item)))
                    self.assertEqual(said.count('warning'), 1, said)
                    self.assertIn(note, said)

    MODULE = ('`include "disciplines.vams"\nmodule tri(DD, G, S);\ninout DD, G, S; electrical DD, G, S;\n'
              'parameter real r = 1k;\nanalog begin\nI(DD,S) <+ V(DD,S)/r;\nI(G,S) <+ V(G,S)/(2*r);\nend\nendmodule\n')

    def test_names_of_terminals_that_a_module_tells(self):
        self.write('tri.va', self.MODULE)
        deck = ('module\n.hdl "tri.va"\nv1 a 0 2\nv2 b 0 1\nn1 a b 0 tm\n.model tm tri r=1k\nx1 a b 0 tm\nn2 a b 0 tri\nx2 a b sub\n'
                '.subckt sub p q\nn1 p q 0 tm\n%s.ends\n%s.end\n')
        want = {'n1:dd': 2e-3, 'n1:g': 5e-4, 'n1:s': -2.5e-3, 'n1:2': 5e-4, 'x1:s': -2.5e-3, 'n2:dd': 2e-3, 'x2.n1:g': 5e-4}
        for at, value in want.items():
            for cards in ('.save i(%s)\n.op\n', '.probe i(%s)\n.op\n', '.op\n.print op i(%s)\n', ".op\n.meas op y param='i(%s)'\n",
                          '.control\nsave i(%s)\nop\nwrdata y.txt i(%s)\n.endc\n'):
                with self.subTest(at=at, cards=cards):
                    v, said = self.run_deck(deck % ('', cards.replace('%s', at)))
                    self.assertNotIn('warning', said)
                    self.assertNotIn('error', said)
                    self.close(float(self.read('y.txt').split()[-1]) if 'wrdata' in cards else v['i(%s)' % at][0], value, 1e-6)
        v, said = self.run_deck(deck % ('.save i(n1:G)\n', '.op\n'))
        self.assertNotIn('warning', said)
        self.close(v['i(x2.n1:g)'][0], 5e-4, 1e-6)
        for cards in ('.probe i(n1:d)\n.op\n', '.save i(n1:d) v(a)\n.op\n', '.op\n.print op i(n1:d) v(a)\n'):
            _, said = self.run_deck(deck % ('', cards))
            self.assertIn('terminals are dd, g, s, or 1 to 3', said.replace("of 'n1' ", ''))
        self.write('bad.va', self.MODULE.replace('V(DD,S)', 'V(nowhere,S)'))
        for old, new, error in (('tm tri', 'tm try', "unknown type 'try'"), ('tri.va', 'absent.va', "'absent.va' does not exist"),
                                ('tri.va', 'bad.va', "unknown node or branch 'nowhere'")):
            self.write('d.sp', (deck % ('', '.probe i(n1:dd) i(n1:g)\n.op\n')).replace(old, new))
            done = subprocess.run([VSIM, 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
            self.assertIn(error, done.stderr)
            self.assertEqual(done.stderr.count('error:'), 1)
            self.assertNotIn('no terminal', done.stderr)

    def test_names_of_terminals_that_a_compiled_library_tells(self):
        mock = os.path.join(os.path.dirname(VSIM), 'tests', 'unit', 'osdi', 'mock4.osdi')
        if not os.path.exists(mock):
            self.skipTest('the mocks were not built')
        self.write('d.sp', 'osdi\n.hdl "%s"\n.model k mock_diode\nv1 a 0 0.5\nr1 a b 1k\nn1 b 0 k\n.probe i(n1:a) i(n1:C) i(r1) i(n1:x)\n'
                           '.op\n.end\n' % mock)
        r = subprocess.run([VSIM, '--allow-native', '--csv', '-r', 'out.csv', 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('its terminals are a, c, or 1 to 2', r.stderr)
        v = dict(zip(*[line.split(',') for line in self.read('out.csv').split('\n')[:2]]))
        self.close(float(v['i(n1:a)']), float(v['i(r1)']), 1e-6)
        self.close(float(v['i(n1:c)']), -float(v['i(r1)']), 1e-6)

    def test_names_of_terminals_that_code_models_tell(self):
        deck = ('codes\nv1 in 0 1\na1 in out gm\n.model gm gain(gain=3)\nr1 out 0 1k\na2 [in out] o2 sm\n.model sm summer(in_gain=[1 2])\n'
                'r2 o2 0 1k\na3 %vd(in out) %id(o3 0) gm\nr3 o3 0 1k\na4 in od sd\n.model sd sidiode(ron=1k rrev=1k)\nr4 od 0 1k\n'
                'a5 [in] [d] adc\n.model adc adc_bridge\na6 d q inv\n.model inv d_inverter\na7 [q] [oq] dac\n.model dac dac_bridge\nr7 oq 0 1k\n')
        want = {'a1:out': -3e-3, 'a2:out': -7e-3, 'a3:out': -6, 'a3:out_n': 6, 'a4:ds': 0.5e-3, 'a4:ds_n': -0.5e-3,
                'a2:in[1]': 0, 'a1:in': 0, 'a5:in': 0}
        items = ' '.join('i(%s)' % at for at in want)
        for cards in ('.probe %s\n.op\n' % items, '.save %s\n.op\n' % items, '.op\n.print op %s\n' % items):
            v, said = self.run_deck(deck + cards + '.end\n')
            self.assertNotIn('warning', said)
            for at, value in want.items():
                with self.subTest(at=at, cards=cards):
                    self.assertAlmostEqual(v['i(%s)' % at][0], value, delta=1e-6)
        for item, note in (('a2:in', 'in[0], in[1], out, or 1 to 3'), ('a1:q', 'in, out, or 1 to 2'), ('a3:p', 'in, in_n, out, out_n, or 1 to 4')):
            _, said = self.run_deck(deck + '.probe i(%s)\n.op\n.end\n' % item)
            self.assertIn('its terminals are ' + note, said)

    def test_of_many_terminals_the_nearest_is_told(self):
        inputs = ' '.join('n%d' % k for k in range(40))
        deck = 'many\nv1 n0 0 1\na1 [%s] out sm\n.model sm summer\nr1 out 0 1k\n%s.op\n%%s\n.end\n' % (
            inputs, ''.join('rr%d n%d 0 1k\n' % (k, k) for k in range(40)))
        _, said = self.run_deck(deck % '.probe i(a1:in[17])')
        self.assertNotIn('warning', said)
        _, said = self.run_deck(deck % '.probe i(a1:inn[17])')
        self.assertIn('its terminals are in[0], ... in[17], or 1 to 41', said)
        _, said = self.run_deck(deck % '.print op i(a1:inn[39])')
        self.assertIn("the terminals of 'a1' are in[0], ... in[39], or 1 to 41", said)

    def test_names_of_terminals_of_digital_devices(self):
        deck = ('pspice\nv1 in 0 pulse(0 5 1n 1n 1n 10n 20n)\nv2 i2 0 5\nu1 nand(2) vdd 0 in i2 out g t\n.model g ugate\n.model t uio\n'
                'rl out 0 1k\nu2 dff(2) vdd 0 hi hi in out i2 q0 q1 n0 n1 f t\n.model f ueff\nrh hi 0 1meg\nr0 q0 0 1k\nr1 q1 0 1k\n'
                'r2 n0 0 1k\nr3 n1 0 1k\n.tran 1n 40n\n%s\n.end\n')
        v, said = self.run_deck(deck % '.probe i(u1:out) i(rl) i(u1:in[1]) i(u2:out[1])')
        self.assertNotIn('no terminal', said)
        for got, want in zip(v['i(u1:out)'], v['i(rl)']):
            self.assertAlmostEqual(got, -want, delta=1e-8)
        self.assertGreater(max(v['i(rl)']), 1e-3)
        _, said = self.run_deck(deck % '.probe i(u1:q)')
        self.assertIn('its terminals are in[0], in[1], out, or 1 to 3', said)
        _, said = self.run_deck(deck % '.probe i(u2:x)')
        self.assertIn('set, reset, clk, data[0], data[1], out[0], out[1], nout[0], nout[1], or 1 to 9', said)

    def test_no_current_flows_at_digital_nodes(self):
        """A source there would be an analog element, with bridges on both sides: the signal would come later."""
        deck = ('digital\nv1 in 0 pulse(0 5 1n 1n 1n 10n 20n)\na2 [in] [d] adc\n.model adc adc_bridge\na3 d q inv\n.model inv d_inverter\n'
                'a4 [q] [oq] dac\n.model dac dac_bridge\nr4 oq 0 1k\nu1 inv vdd 0 q out g t\n.model g ugate\n.model t uio\nrl out 0 1k\n'
                '.meas tran t trig v(in) val=0.5 rise=2 targ v(oq) val=0.5 fall=2\n.tran 1n 60n\n%s\n.end\n')
        time = lambda said: re.search(r'^t += +(\S+)', said, re.M)[1]
        _, said = self.run_deck(deck % '')
        want = time(said)
        for items in ('i(a3:1)', 'i(a3:in) i(a3:out)', 'p(a3)', 'i(a2:out)', 'i(u1:in)'):
            for card in ('.probe', '.save v(oq)'):
                with self.subTest(items=items, card=card):
                    _, said = self.run_deck(deck % ('%s %s' % (card, items)))
                    self.assertEqual(time(said), want)
                    self.assertIn('nothing is saved for it', said)
        v, said = self.run_deck(deck % '.probe i(u1:out) i(rl) i(a4:out) i(a2:in)')
        self.assertNotIn('nothing is saved', said)
        self.assertEqual(time(said), want)

    def test_probes_of_all_currents_have_modules_and_code_models(self):
        """By the names of their terminals; digital ones are left out, and signals stay where they are."""
        self.write('tri.va', self.MODULE)
        v, said = self.run_deck('module\n.hdl "tri.va"\nv1 a 0 2\nv2 b 0 1\nn1 a b 0 tm\n.model tm tri r=1k\nx1 a b 0 tm\n'
                                'n3 a b 0 tm\nx2 a b sub\n.subckt sub p q\nn1 p q 0 tm\n.ends\n.probe alli\n.op\n.end\n')
        self.assertNotIn('warning', said)
        for name in 'n1', 'x1', 'n3':
            for terminal, value in (('dd', 2e-3), ('g', 5e-4), ('s', -2.5e-3)):
                self.close(v['i(%s:%s)' % (name, terminal)][0], value, 1e-6)
        self.assertNotIn('i(x2.n1:dd)', v)
        deck = ('digital\nv1 in 0 pulse(0 5 1n 1n 1n 10n 20n)\na1 in g gm\n.model gm gain(gain=2)\nrg g 0 1k\na2 [in] [d] adc\n'
                '.model adc adc_bridge\na3 d q inv\n.model inv d_inverter\na4 [q] [oq] dac\n.model dac dac_bridge\nr4 oq 0 1k\n'
                'u1 inv vdd 0 in out g t\n.model g ugate\n.model t uio\nrl out 0 1k\n'
                '.meas tran t trig v(in) val=0.5 rise=2 targ v(oq) val=0.5 fall=2\n.meas tran u trig v(in) val=0.5 rise=2 '
                'targ v(out) val=0.5 fall=2\n.tran 1n 60n\n%s\n.end\n')
        times = lambda said: re.findall(r'^[tu] += +(\S+)', said, re.M)
        _, said = self.run_deck(deck % '')
        want = times(said)
        self.assertEqual(len(want), 2)
        v, said = self.run_deck(deck % '.probe alli')
        self.assertEqual(times(said), want)
        self.assertNotIn('warning', said)
        self.assertEqual({k for k in v if re.match(r'i\([au].*:', k)}, {'i(a1:in)', 'i(a1:out)', 'i(a2:in)', 'i(a4:out)'})
        for k in range(len(v['time'])):
            self.assertAlmostEqual(v['i(a1:out)'][k], -v['i(rg)'][k], delta=1e-8)
            self.assertAlmostEqual(v['i(a4:out)'][k], -v['i(r4)'][k], delta=1e-8)

    def test_cards_inside_a_subcircuit_that_name_from_the_top(self):
        """Whether the instance that a card names is expanded before the one with the card, or behind it."""
        first, last = 'x1 a one\nx2 a one\nx5 a one\n', 'x3 a two\nx4 a two\n'
        deck = ('order\nv1 a 0 {v}\n.param v=1\n%s.subckt one p\nr1 p 0 1k\nxi p inn\n.ends\n.subckt inn q\nr1 q 0 500\n.ends\n'
                '.subckt two p\nr1 p 0 2k\nxd p deep\n.ends\n.subckt deep p\nr2 p 0 4k\n%s\n.ends\n.op\n%s.end\n')
        cards = {'.save i(x1.xi:q) i(x2:p) p(x5)': {'i(x1.xi:q)': 2e-3, 'i(x2:p)': 3e-3, 'x5:power': 3e-3},
                 '.probe i(x1.xi:q) i(x2:p) p(x5) vd(x2.r1)': {'i(x1.xi:q)': 2e-3, 'i(x2:p)': 3e-3, 'x5:power': 3e-3,
                                                                'v(vd_x2.r1)': 1},
                 '.if (v>0)\n.save i(x5.xi:1)\n.endif': {'i(x5.xi:q)': 2e-3}}
        for order in first + last, last + first:
            for card, want in cards.items():
                with self.subTest(order=order, card=card):
                    v, said = self.run_deck(deck % (order, card, ''))
                    self.assertNotIn('warning', said)
                    for name, value in want.items():
                        self.close(v.get(name, v.get(name.replace(':q)', ':1)'), [0]))[0], value, 1e-6)
        self.write('d.sp', deck % (first + last, '.save i(x1.xi:q)', '.step param v list 1 3\n'))
        subprocess.run([VSIM, '--csv', '-r', 'out.csv', 'd.sp'], cwd=self.tmp.name, capture_output=True, check=True)
        rows = [b.split('\n') for b in self.read('out.csv').strip().split('\n\n')]
        for block, value in zip(rows, (2e-3, 6e-3)):
            self.close(float(dict(zip(block[0].split(','), block[1].split(',')))['i(x1.xi:q)']), value, 1e-6)

    def test_voltages_at_elements_that_a_point_expands_anew(self):
        deck = ('step\n.param w=%s\nvd d 0 1.5\nvg g 0 1.2\nx1 d g sub\nx2 d g sub\n.subckt sub d g\n.if (w>2u)\nrs s t 10\nrt t 0 10\n'
                '.else\nrs s 0 20\n.endif\nm1 d g s 0 n w={w} l=1u\n%s.ends\n.model n nmos vto=0.7 kp=100u\n%s.dc vd 1.5 1.5 1\n%s.end\n')
        for inner, outer in (('.probe vd(rs) vd(m1:d:s)\n', ''), ('', '.probe vd(x1.rs) vd(x2.rs) vd(x2.m1:d:s)\n')):
            with self.subTest(inner=inner, outer=outer):
                self.write('d.sp', deck % ('1u', inner, outer, '.step param w list 1u 4u 1u\n'))
                subprocess.run([VSIM, '--csv', '-r', 'out.csv', 'd.sp'], cwd=self.tmp.name, capture_output=True, check=True)
                blocks = [b.split('\n') for b in self.read('out.csv').strip().split('\n\n')]
                family = [dict(zip(b[0].split(','), map(float, b[1].split(',')))) for b in blocks]
                self.assertEqual(len(family), 3)
                for w, point in zip(('1u', '4u', '1u'), family):
                    alone, _ = self.run_deck(deck % (w, inner, outer, ''))
                    for name in 'v(vd_x1.rs)', 'v(vd_x2.rs)', 'v(vd_x2.m1:d:s)':
                        self.close(point[name], alone[name][-1], 1e-9)

    def test_levels_of_zero_are_finite(self):
        self.write('z.sp', 'zero\nv1 a 0 ac 1 sin(0 1 1k)\nr1 a 0 1k\nr2 b 0 1k\n.ac dec 1 1 10\n.print ac vdb(b)\n.tran 1u 2m\n'
                           '.fft v(a) np=64\n.fft v(b) np=64\n.meas ac m find vdb(b) at=1\n.control\nrun\n'
                           'let z = db(v(b))\nwrite z.raw z\nset wr_singlescale\nwrdata z.txt z\nprint z[0]\n.endc\n.end\n')
        r = subprocess.run([VSIM, 'z.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotRegex(r.stdout, r'\binf\b|\bnan\b')
        self.assertRegex(r.stdout, r'm += +-1.000000e\+03')
        self.assertNotIn('inf', self.read('z.txt'))
        r = subprocess.run([VSIM, 'convert', 'z.raw', 'z.csv'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertNotIn('inf', self.read('z.csv'))

    def test_terminals_in_transients_and_ac(self):
        deck = ('four\nv1 a 0 sin(0 1 1meg) ac 1\nr1 a b 1k\nq1 b a 0 qn\nm1 b a 0 0 n\n.model qn npn\n.model n nmos\n'
                '.tran 1n 3u\n.save ic(q1) i(m1:d) v(a)\n.four 1meg ib(q1) i(m1:g)\n.meas tran x max ib(q1)\n'
                '.meas tran y max i(q1:2)\n.plot tran i(m1:s) i(q1:e)\n.end\n')
        v, said = self.run_deck(deck)
        self.assertNotIn('warning', said)
        self.assertLessEqual({'i(q1:c)', 'i(m1:d)', 'v(a)'}, set(v))
        self.assertIn('Fourier analysis for ib(q1)', said)
        x, y = (re.search(r'^%s += +(\S+)' % k, said, re.M)[1] for k in 'xy')
        self.assertEqual(x, y)

    def test_terminals_in_sweeps_and_subcircuits(self):
        deck = ('step\n.param w=1u\nvd d 0 1.5\nvg g 0 1.2\nx1 d g sub\n.subckt sub d g\nm1 d g s 0 n w={w} l=1u\n'
                '.save i(m1:d)\n.if (w>2u)\nrs s 0 10\n.else\nrs s 0 20\nrq s 0 20\n.endif\n.ends\n'
                '.model n nmos vto=0.7 kp=100u\n.save i(x1.m1:s)\n.dc vd 1.5 1.5 1\n.step param w list 1u 4u\n.end\n')
        self.write('d.sp', deck)
        r = subprocess.run([VSIM, '--csv', '-r', 'out.csv', 'd.sp'], cwd=self.tmp.name, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        rows = [line.split(',') for line in self.read('out.csv').split('\n') if line]
        self.assertEqual(rows[0][-2:], ['i(x1.m1:d)', 'i(x1.m1:s)'])
        last = [[float(x) for x in row[-2:]] for row in rows if 'v-sweep' not in row]
        self.assertEqual(len(last), 2)
        for row in last:
            self.close(row[0], -row[1], 1e-6)
        self.close(last[1][0], 4 * last[0][0], 1e-2)

    def test_probes_that_mean_nothing(self):
        v, said = self.run_deck('probes\nv1 a 0 2\nr1 a 0 1k\n.probe vd(r1: 1 : 2) i(r1)\n.probe vd(r1: 7 : 0)\n.op\n.end\n')
        self.assertIn("'r1' has no terminal '7'; nothing is saved for it", said)
        self.assertEqual(v['v(vd_r1:1:2)'][0], 2)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
