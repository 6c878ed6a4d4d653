#!/usr/bin/env python3
"""Operating points are those of the circuit: not of gmin, not of a model's straight lines.

    points.py VSIM [unittest arguments]"""
import math
import os
import re
import subprocess
import sys
import unittest

import folder

VSIM = ''
KT_Q = 1.380649e-23 * 300.15 / 1.602176634e-19


class Points(folder.Folder):
    def op(self, deck, code=0):
        """Values by name, and the messages."""
        self.write('deck.sp', 'operating point\n' + deck + '\n.op\n.end\n')
        done = subprocess.run([VSIM, '-n', '--no-output', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        found = re.findall(r'^  (\S+)\s+([-+.\deE]+)$', done.stdout, re.M)
        return {name: float(value) for name, value in found}, done.stderr

    def test_a_loop_of_gain_around_a_transistor_closes_where_it_conducts(self):
        """The fT bench: the base is driven until the collector takes 10 mA."""
        for amps in (1e-6, 1e-4, 1e-2):
            x, said = self.op('vce 1 0 3\nvgain 1 c 0\nf 0 2 vgain -1000\nl 2 b 1g\nc 2 0 1g\n'
                              'ic 0 c %g\nq1 c b 0 bfs17\n'
                              '.model bfs17 npn (is=0.48f nf=1.008 bf=99.655)' % amps)
            self.assertEqual(said, '')
            # i_c = 10 mA less what 1000 times the base needs: 1/(1000 beta) of it
            self.assertAlmostEqual(x['v(b)'], 1.008 * KT_Q * math.log(amps / 0.48e-15), delta=2e-6)

    def test_a_loop_of_gain_closes_inside_of_the_supplies(self):
        """The fT bench of a transistor that saturates: with amperes into its base the circuit has another
        solution, far above the supply, to which Newton comes at these currents and resistances."""
        for amps, out, re, rbx, other in ((51.2e-3, 0.3, 0.16, 4.2, 28.5), (48.5e-3, 0.3, 0.15, 3, 22),
                                          (0.152, 0.5, 0.29, 7.8, 23.3)):
            x, said = self.op('vce 1 0 3\nvgain 1 c 0\nf 0 2 vgain -1000\nl 2 b 1g\nc 2 0 1g\n'
                              'ic 0 c %g\nq1 c b e e m\nre e 0 %g\n'
                              '.model m npn (level=4 is=2f nf=0.99 ibei=2e-18 nei=0.95 iben=5f nen=1.36\n'
                              '+ ibci=0.16f ikf=1 ikr=2m re=%g rci=2.7 rbx=%g rbi=2 vef=500 ver=3 avc1=4\n'
                              '+ avc2=30 isp=1f ibcip=1f rbp=265 rs=26 wsp=1 ikp=1m gamm=6p vo=0.5m)'
                              % (amps, out, re, rbx))
            self.assertEqual(said, '')
            self.assertLess(x['v(b)'], 1, '%g V is the other' % other)

    def test_a_start_at_which_a_function_has_no_value(self):
        """acosh(cosh(v)) is |v|, but cosh is 0 where Newton starts; at 0 V the slope of acosh is infinite."""
        for volts in (-10, 0, 3):
            x, said = self.op('v1 1 0 %g\nb2 2 0 v=cosh(v(1))\nb3 3 0 v=acosh(v(2))\nr3 3 0 1k' % volts)
            self.assertEqual(said, '')
            self.assertAlmostEqual(x['v(3)'], abs(volts), delta=1e-5)
        _, said = self.op('v1 1 0 0.5\nb3 3 0 v=acosh(v(1))\nr3 3 0 1k', code=3)
        self.assertIn('no operating point found', said)
        self.assertIn('a value outside the domain of a function', said)

    def test_a_current_that_only_gmin_could_carry_is_no_operating_point(self):
        _, said = self.op('i1 0 a 1m\nr1 a b 1k\nd1 0 b dm\n.model dm d is=1e-15', code=3)
        self.assertRegex(said, r"no operating point found: node '[ab]' would be at 1e\+09 V")

    def test_leakage_that_gmin_carries_is_told(self):
        x, said = self.op('i1 0 a 100p\nr1 a b 1k\nd1 0 b dm\n.model dm d is=1e-15')
        self.assertAlmostEqual(x['v(a)'], 99.99, delta=0.1)
        self.assertRegex(said, r"warning: operating point: node '[ab]' is at .* because gmin carries")

    def test_high_voltages_that_devices_carry_are_not_looked_at(self):
        x, said = self.op('v1 a 0 1\nr1 a 0 1k\ni1 0 b 1\nr2 b 0 1meg\nd1 0 b dm\n.model dm d')
        self.assertAlmostEqual(x['v(b)'], 1e6, delta=10)
        self.assertEqual(said, '')

    def test_a_diode_across_a_source_is_told(self):
        x, said = self.op('v1 a 0 5\nd1 a 0 dm\n.model dm d is=1e-14')
        self.assertEqual(x['v(a)'], 5)
        self.assertIn('models continue their exponentials as straight lines there', said)

    def sweep(self, to, outer='', begin=0):
        """What is said of .dc to that voltage of a source across a junction of 1e-14 A."""
        return self.said('v1 a 0 0\nv2 b 0 0\nr2 b 0 1k\nd1 a 0 dm\n'
                         '.model dm d is=1e-14\n.dc v1 %g %g 0.5 %s\n' % (begin, to, outer))

    def said(self, deck):
        self.write('deck.sp', 'messages\n' + deck + '.end\n')
        done = subprocess.run([VSIM, '-n', '--no-output', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr

    def test_a_diode_across_a_swept_source_is_told_once(self):
        # the exponential has 1e6 A at kT/q ln(1e20) = 1.19 V
        said = self.sweep(5)
        self.assertIn('dc sweep, at the value 1.5: a current of', said)
        self.assertEqual(said.count('straight lines there'), 1)
        for begin in 0, 4.5:  # the inner sweeps begin without the current, and with it
            for outer in 'v2 0 3 1', 'r2 1k 3k 1k', 'temp 20 30 5':  # the last two make the circuit anew
                self.assertEqual(self.sweep(5, outer, begin).count('straight lines there'), 1, outer)
        self.assertEqual(self.sweep(1), '')

    def rows(self, deck):
        """Exit code, rows of a dc sweep by name, and what was said."""
        self.write('deck.sp', 'gaps\n' + deck + '.end\n')
        done = subprocess.run([VSIM, '-n', '--csv', '-r', 'out.csv', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=300)
        with open(os.path.join(self.tmp.name, 'out.csv')) as f:
            names, *rows = [line.strip().split(',') for line in f]
        return done.returncode, [dict(zip(names, map(float, row))) for row in rows], done.stderr

    def test_a_sweep_goes_on_behind_points_without_solution(self):
        """x = x^2 + 1 has no real solution; elsewhere x is the source's voltage."""
        deck = ('v1 t 0 {at}\nv2 u 0 1\nr0 t 0 1k\nr1 o 0 {r}\n.param r=1k at=0\n'
                'b1 o 0 v=v(u)*v(t)>0.55 & v(t)<0.75 ? v(o)*v(o)+1 : v(u)*v(t)\n')
        for sweep, n, lost in (('v1 0 1 0.1', 11, 2), ('v1 0.6 1 0.1', 5, 2), ('v1 0.7 0 -0.1', 8, 2), ('at 0 1 0.1', 11, 2),
                               ('v1 0 1 0.1 v2 0 1 1', 22, 2), ('v1 0.6 0.7 0.1 v2 1 0 -1', 4, 2), ('v1 0 1 0.1 r 1k 2k 1k', 22, 4)):
            code, rows, said = self.rows(deck + '.dc %s\n' % sweep)
            self.assertEqual((code, len(rows)), (3, n), said)
            self.assertIn('%d of %d points of this sweep have no operating point' % (lost, n), said)
            self.assertEqual(said.count('no operating point found'), 1, said)
            self.assertEqual(sum(math.isnan(row['v(o)']) for row in rows), lost)
            for row in rows:
                at = list(row.values())[0]
                if math.isnan(row['v(o)']):
                    self.assertTrue(0.55 < at < 0.75, row)
                elif row['v(u)'] > 0:
                    self.assertAlmostEqual(row['v(o)'], at, delta=1e-6)

    def test_a_diode_across_a_pulse_is_told_once(self):
        """At its end a transient tells of the largest current at any of its points."""
        deck = 'v1 a 0 pulse(%g %g 1n 1n 1n 5n)\nd1 a 0 dm\n.model dm d is=1e-14 cjo=1p\n.tran 0.1n %gn\n'
        for low, high, stop, where in ((0, 5, 10, 'transient'), (5, 0, 10, 'operating point'), (0, 0.7, 10, ''),
                                       (0, 5, 0.9, '')):
            said = self.said(deck % (low, high, stop))
            self.assertEqual(said.count('straight lines there'), where != '', said)
            self.assertIn(where and where + ': a current of', said)

    def transient(self, deck, code=0):
        """Rows of a transient by name, and what was said."""
        got, rows, said = self.rows(deck)
        self.assertEqual(got, code, said)
        return rows, said

    def test_a_current_that_only_gmin_could_carry_is_no_point_of_a_transient(self):
        """1 mA over 1e-12 S is 1e9 V. Where the source begins at 0 the operating point is right, and so is the
        transient until the source rises."""
        pulse = 'pulse(0 1m 10n 1n 1n 20n 100n)'
        for what in ('', 'r1 a b 1k\nd1 0 b dm\n', 'c1 a b 1p\n', 'm1 a 0 0 0 nm\n', 'b1 a b i=1e-15*v(a,b)\n'):
            for source, tran in (('dc 1m', ''), (pulse, ''), ('dc 1m', ' uic')):
                rows, said = self.transient('i1 0 a %s\nv1 z 0 1\n%s.model dm d is=1e-15\n.model nm nmos\n'
                                            '.tran 1n 100n%s\n' % (source, what, tran), 3)
                self.assertRegex(said, r"error: no .* would be at [\d.e+]+ V, where gmin alone carries the current")
                self.assertTrue(all(abs(row['v(a)']) <= 1.01e3 for row in rows), (what, source, tran))  # 1 nA
                self.assertEqual(len(rows) > 10, source == pulse)

    def test_without_gmin_too(self):
        for card in ('.op', '.tran 1n 100n', '.tran 1n 100n uic'):
            self.transient('i1 0 a 1m\nr1 a b 1k\n.options gmin=0\n%s\n' % card, 3)

    def test_a_current_into_charge_is_a_ramp(self):
        """v = i t / c, however large."""
        for c, stop in ((1e-12, 1e-7), (1e-12, 10)):  # 100 V; 1e10 V
            rows, said = self.transient('i1 0 a 1m\nc1 a 0 %g\n.tran %g %g uic\n' % (c, stop / 100, stop))
            self.assertNotIn('error', said)
            for row in rows[1:]:
                right = 1e-3 * row['time'] / c
                self.assertAlmostEqual(row['v(a)'], right, delta=1e-3 * right + 1e-6)

    isolated = ('v1 p 0 sin(0 10 1k)\nrp p p1 1\nl1 p1 0 10m\nl2 s1 s2 10m\nk1 l1 l2 0.99\nd1 s1 o dm\nc1 o s2 10u\n'
                'rl o s2 1k\n.model dm d\n.tran 10u 2m\n')

    def test_an_isolated_part_has_a_level(self):
        """The output of a rectifier behind a transformer is the same with its return at ground; rounding decided
        its level, which drowned the output."""
        right = self.transient(self.isolated + 'rg s2 0 1\n')[0][-1]
        rows, said = self.transient(self.isolated)
        self.assertIn("no dc path to ground from nodes 's1', 's2', 'o'", said)
        self.assertAlmostEqual(rows[-1]['v(o)'] - rows[-1]['v(s2)'], right['v(o)'] - right['v(s2)'], delta=0.01)
        self.assertTrue(all(abs(row['v(s2)']) < 20 for row in rows))

    def test_a_level_of_rounding_is_refused(self):
        """1e-12 S beside 10 uF over a step is less than rounding. The output is right, or an error says why not."""
        right = self.transient(self.isolated + 'rg s2 0 1\n')[0][-1]
        code, rows, said = self.rows(self.isolated + 'rg s2 0 1e12\n')
        if code:
            self.assertIn('error', said)
        else:
            self.assertAlmostEqual(rows[-1]['v(o)'] - rows[-1]['v(s2)'], right['v(o)'] - right['v(s2)'], delta=0.01)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
