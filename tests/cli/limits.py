#!/usr/bin/env python3
"""Limits of safe operation on model cards (option warn): each point beyond one is told, as ngspice tells it.

    limits.py VSIM [unittest arguments]"""
import os
import re
import shutil
import subprocess
import sys
import unittest

import folder

VSIM = ''
NGSPICE = shutil.which('ngspice')
OURS = re.compile(r'^deck\.sp:\d+:\d+: warning: (\S+): \w+=(\S+) \w+(?: \w+)? is beyond (\w+)=\S+ [\w ]+?'
                  r'(?: at [-\w]+=(\S+))?$', re.M)
THEIRS = re.compile(r'^Instance: (\S+) Model: \S+ (?:Time: (\S+) )?\|?\w+\|?=(\S+) .*?has exceeded (\w+_max)=', re.M)
DIODES = """V1 1 0 1
D1 1 0 dm m=2
D2 0 1 dm
.model dm d(is=1e-14 rs=0.1 fv_max=0.82 bv_max=1.52 id_max=0.1 pd_max=0.05)
"""
BIPOLAR = """Vc c 0 3
V1 b 0 1
Q1 c b 0 qm m=2
.model qm npn(is=1e-16 bf=100 rc=10 vbe_max=0.61 vbc_max=2.52 vce_max=2 ic_max=1m ib_max=20u)
"""
MOSFETS = """V1 g 0 1
Vd d 0 5
Mn d g 0 0 n1 l=1u w=10u
.model n1 nmos level=8 version=3.3.0 vgs_max=7.05 vgsr_max=5.05 vgd_max=6.05 vds_max=4 vgb_max=9.05 vbd_max=4
Mp 0 g d d p1 l=1u w=10u
.model p1 pmos level=14 version=4.8.0 vgs_max=11.05 vgsr_max=5.05 vgd_max=6.05 vds_max=4 vbd_max=4 vgb_max=9.05
"""
POWER = """V1 g 0 1
Vd d 0 5
M1 d g 0 vm m=2
.model vm vdmos(vto=2 kp=1 rd=10m rs=10m vgs_max=7.05 vgsr_max=5.05 vgd_max=6.05 vds_max=4 id_max=2)
"""
PASSIVE = """V1 1 0 1
R1 1 0 rm 1k bv_max=2.05
C1 1 0 cm 1n
.model rm r r=1k
.model cm c bv_max=1.95
"""


class Limits(folder.Folder):
    def run_vsim(self, deck):
        """Messages: (device, limit, value, where), and the whole text."""
        self.write('deck.sp', 'limits\n' + deck + '\n.end\n')
        done = subprocess.run([VSIM, '-n', '--no-output', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [(device, limit, abs(float(value)), at) for device, value, limit, at in OURS.findall(done.stderr)], done.stderr

    def run_ngspice(self, deck):
        self.write('deck.sp', 'limits\n' + deck + '\n.end\n')
        done = subprocess.run([NGSPICE, '-b', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        return [(device, limit.lower(), abs(float(value)), at) for device, at, value, limit in THEIRS.findall(done.stdout)]

    @unittest.skipUnless(NGSPICE, 'no ngspice')
    def test_a_sweep_tells_what_ngspice_tells(self):
        for part, sweep in (DIODES, '-12 12 1'), (BIPOLAR, '-2 0.9 0.1'), (MOSFETS, '-12 12 3'), (POWER, '-12 12 1'), (PASSIVE, '-12 12 1'):
            deck = part + '.option warn=1 maxwarns=100 reltol=1e-6\n.dc V1 %s\n.print dc i(V1)\n' % sweep
            mine, theirs = sorted(self.run_vsim(deck)[0]), sorted(self.run_ngspice(deck))
            self.assertGreater(len(theirs), 20)
            points = [[(device, limit) for device, limit, _, _ in told] for told in (mine, theirs)]
            for key in set(points[0]) | set(points[1]):
                self.assertEqual(points[0].count(key), points[1].count(key), key)
            for device, limit in set(points[1]):
                a, b = (sorted(v for d, n, v, _ in told if (d, n) == (device, limit)) for told in (mine, theirs))
                for x, y in zip(a, b):
                    self.assertAlmostEqual(x, y, delta=2e-3 * y, msg='%s of %s' % (limit, device))

    @unittest.skipUnless(NGSPICE, 'no ngspice')
    def test_a_transient_tells_from_when_on(self):
        deck = ('V1 1 0 pwl(0 0 1u 1)\nD1 1 0 dm\n.model dm d(is=1e-14 rs=0.1 fv_max=0.5)\n'
                '.option warn=1 maxwarns=1\n.tran 1n 1u 0 1n\n')
        mine, _ = self.run_vsim(deck)
        theirs = self.run_ngspice(deck + '.print tran v(1)\n')
        for told in mine, theirs:
            self.assertEqual([(d, n) for d, n, _, _ in told], [('d1', 'fv_max')])
            self.assertAlmostEqual(float(told[0][3]), 0.5e-6, delta=1.1e-9)  # the first point behind it, steps of 1 ns

    def test_nothing_is_looked_at_without_the_option(self):
        self.assertEqual(self.run_vsim(DIODES + '.op')[1], '')

    def test_no_more_are_told_than_asked_for_and_the_rest_is_summed_up(self):
        told, said = self.run_vsim('V1 1 0 1\nR1 1 0 1k bv_max=2.5\n.option warn=1 maxwarns=2\n.dc V1 0 10 1')
        self.assertEqual(told, [('r1', 'bv_max', 3, '3'), ('r1', 'bv_max', 4, '4')])
        self.assertIn('further points beyond bv_max, of all devices: 6; the farthest: r1: Vr=10 V at v-sweep=10', said)

    def test_heat_takes_from_the_power(self):
        """25 kelvin above tnom over 200 kelvin a watt: 0.125 W less."""
        for watt, beyond in (0.13, True), (0.2, False):
            told, said = self.run_vsim('V1 1 0 1\nR1 1 2 10\nD1 2 0 dm\n.temp 50\n.option warn=1\n.op\n'
                                       '.model dm d(is=1e-14 rth0=200 tnom=25 pd_max=%g)' % watt)
            self.assertEqual([(d, n) for d, n, _, _ in told], [('d1', 'pd_max')] if beyond else [], said)

    def run_logged(self, deck, code=0):
        """The log, and what was said."""
        self.write('deck.sp', 'limits\n' + deck + '\n.end\n')
        done = subprocess.run([VSIM, '-n', '--no-output', '--soa-log', 'limits.log', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        path = os.path.join(self.tmp.name, 'limits.log')
        return self.read('limits.log') if os.path.exists(path) else None, done.stderr

    def test_a_log_takes_them_instead(self):
        log, said = self.run_logged('V1 1 0 pwl(0 0 1u 1)\nD1 1 0 dm\n.model dm d(is=1e-14 rs=0.1 fv_max=0.5)\nR1 1 0 1k bv_max=0.9\n'
                                    '.option warn=1 maxwarns=1\n.tran 1n 1u 0 1n\n.op\n.dc V1 -1 1 1\n')
        self.assertRegex(log, r'(?m)^Instance: r1 Model: resistor \|Vr\|=1 V has exceeded bv_max=0\.9 V at v-sweep=-1$')
        self.assertRegex(log, r'(?m)^Instance: d1 Model: dm Vd=1 V has exceeded fv_max=0\.5 V at v-sweep=1$')
        self.assertRegex(log, r'(?m)^Instance: d1 Model: dm Time: 5\.0[01]\S*e-07 Vd=0\.50\d* V has exceeded fv_max=0\.5 V$')
        self.assertIn('Further points beyond bv_max, of all devices: 1; the farthest: r1: Vr=-1 V at v-sweep=-1', log)
        self.assertNotIn('is beyond', said)
        self.assertEqual(said.count('lines of the log tell where'), 2)

    @unittest.skipUnless(NGSPICE, 'no ngspice')
    def test_the_log_is_read_as_that_of_ngspice(self):
        deck = MOSFETS + '.option warn=1 maxwarns=100 reltol=1e-6\n.dc V1 -12 12 3\n.print dc i(V1)\n'
        theirs = sorted((d, n) for d, n, _, _ in self.run_ngspice(deck))
        mine = sorted((m[0], m[3].lower()) for m in THEIRS.findall(self.run_logged(deck)[0]))
        self.assertEqual(mine, theirs)

    def test_a_log_is_no_input(self):
        self.write('limits.log', '* a file of cards\n')
        log, said = self.run_logged('V1 1 0 1\nR1 1 0 1k\n.include limits.log', 1)
        self.assertEqual(log, '* a file of cards\n')
        self.assertIn('limits.log', said)

    def sweep(self, *args):
        return subprocess.run([VSIM, '-r', 'out.raw', '--soa-log', 'limits.log', *args, 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)

    def test_a_log_of_a_sweep_names_its_points(self):
        """Points 1 and 3 of four are beyond; by workers, after a kill, and in shards."""
        lines = ['Point %d: v=%d\nInstance: r1 Model: resistor |Vr|=%d V has exceeded bv_max=4 V\n' % (k + 1, v, v)
                 for k, v in enumerate((5, 3, 7, 2))]
        whole = lines[0] + lines[2]
        self.write('deck.sp', 'limits\nV1 1 0 {v}\nR1 1 0 1k bv_max=4\n.param v=1\n.option warn=1\n.op\n'
                              '.step param v list 5 3 7 2\n.end\n')
        for args in ((), ('--jobs', '2')):
            done = self.sweep(*args)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read('limits.log'), whole)
            self.assertNotIn('is beyond', done.stderr)
            self.assertEqual(re.findall('limits of their cards.*', done.stderr), ['limits of their cards at 2 points: the log tells which'])
        for k, log in ((1, whole), (2, '')):
            self.assertEqual(self.sweep('--shard', '%d/2' % k).returncode, 0)
            self.assertEqual(self.read('limits.log'), log)
        self.assertEqual(self.sweep('--shard', '1/2').returncode, 0)
        with open(self.path('out.raw.journal'), 'rb') as f:
            journal = f.read()
        for cut, left in (('', whole + 'Instance: half'), ('', lines[0] + 'Poi'), ('x', '')):
            # a kill: the journal misses its last point, the log has more or less than the journal
            with open(self.path('out.raw.journal'), 'wb') as f:
                f.write(journal[:-7] if not cut else b'')
            self.write('limits.log', left)
            self.assertEqual(self.sweep('--shard', '1/2', '--resume').returncode, 0)
            self.assertEqual(self.read('limits.log'), whole)

    def test_regions_of_vbic(self):
        for kind, p in ('npn', 1), ('pnp', -1):
            q = 'Vc c 0 %g\nVb b 0 0\nVs s 0 %g\nQ1 c b 0 s qm\n.model qm %s level=4 is=1e-16 vbcfwd=0.3\n' % (0.4 * p, -p, kind)
            deck = q + '.option warn=%d maxwarns=9\n' + '.dc Vb %g %g %g\n' % (-0.5 * p, 1.1 * p, 0.4 * p)
            said = self.run_vsim(deck % 2)[1]
            told = re.findall(r'warning: q1 (is [a-z ]+) at v-sweep=([-.\d]+)', said)
            self.assertEqual([r for r, _ in told], ['is off', 'is off', 'is forward biased', 'is in saturation', 'is in saturation'])
            self.assertEqual(self.run_vsim(deck % 1)[1], '')
            said = self.run_vsim(q.replace('Vs s 0', 'Vs s c').replace('%g\nQ1' % -p, '%g\nQ1' % (0.3 * p))
                                 + '.option warn=1\n.op')[1]
            self.assertRegex(said, r'q1: Vsc=-?0\.3 V is beyond vsubfwd=0\.2 V')
        reverse = 'Vc c 0 -1\nVb b 0 0\nQ1 c b 0 0 qm\n.model qm npn level=4 is=1e-16\n.option warn=2\n.op\n'
        self.assertIn('q1 is reverse biased', self.run_vsim(reverse)[1])

    def test_a_limit_of_another_device_is_told_to_have_no_effect(self):
        said = self.run_vsim('V1 1 0 1\nR1 1 0 rm\n.model rm r r=1k vgs_max=1\n.option warn=1\n.op')[1]
        self.assertIn("parameter 'vgs_max' has no effect here", said)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
