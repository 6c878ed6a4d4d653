#!/usr/bin/env python3
"""Families of runs: .step and .mc, workers, shards, journals, memory.

    sweeps.py VSIM [unittest arguments]"""
import csv
import json
import math
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import time
import unittest

import deadly
import folder

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

VSIM = ''
DIVIDER = """divider
.param r=1k c=1n unused=0
V1 in 0 dc 1
R1 in out {r}
R2 out 0 1k tc1=1e-3
.dc V1 0 1 1
.meas dc vo find v(out) at=1
"""
RC = """RC
.param r=1k c=1n
V1 in 0 dc 1 PULSE(0 1 0 1n 1n 10u 20u)
R1 in out {r}
C1 out 0 {c}
.tran 10n 20u
.meas tran d trig v(in) val=0.5 rise=1 targ v(out) val=0.5 rise=1
.meas tran top max v(out)
"""


class Folder(folder.Folder):
    def write(self, name, text):
        super().write(name, text)
        os.utime(self.path(name), (10**9, 10**9))
        return name

    def data(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def start(self, *args, stdin=None):
        return subprocess.Popen([VSIM, *args], cwd=self.tmp.name, stdin=stdin, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run_it(self, *args, code=0, stdin=None):
        p = self.start(*args, stdin=stdin)
        out, err = p.communicate(timeout=200)
        self.assertEqual(p.returncode, code, out + err)
        return out, err

    def rows(self, deck, *args, code=0):
        self.write('d.sp', deck)
        self.run_it('--measures', 'm.csv', '-r', 'd.raw', *args, 'd.sp', code=code)
        with open(self.path('m.csv')) as f:
            return list(csv.DictReader(f))


class Steps(Folder):
    def test_first_step_varies_fastest(self):
        rows = self.rows(DIVIDER + '.step param r list 1k 3k\n.step temp 27 127 100\n')
        want = [(1000, 27), (3000, 27), (1000, 127), (3000, 127)]
        self.assertEqual([(float(r['r']), float(r['temp'])) for r in rows], want)
        for row, (r, t) in zip(rows, want):
            r2 = 1000 * (1 + 1e-3 * (t - 27))
            self.assertAlmostEqual(float(row['vo']), r2 / (r + r2), places=6)

    def test_what_can_be_stepped(self):
        self.write('pts.csv', 'r,temp,unused\n1k,27,1\n3k,27,2\n')
        self.write('c.lib', '.lib tt\n.param q=1k\n.endl\n.lib ss\n.param q=3k\n.endl\n')
        for card in ('.step r1 1k 3k 2k', '.step @r1[value] list 1k 3k', '.step file pts.csv', '.step lin param r 1k 3k 2k',
                     '.step param r lin 2 1k 3k', '.step file pts.csv r', '.step r list 1k,3k'):
            self.assertEqual([round(float(r['vo']), 6) for r in self.rows(DIVIDER + card + '\n')], [0.5, 0.25], card)
        deck = DIVIDER.replace('R1 in out {r}', 'R1 in out {q}') + '.step lib c.lib tt ss\n'
        self.assertEqual([(r['lib'], round(float(r['vo']), 6)) for r in self.rows(deck)], [('tt', 0.5), ('ss', 0.25)])
        deck = DIVIDER.replace('R1 in out {r}', 'R1 in out rm 1k') + '.model rm r (r=1k tc1=0)\n.step r rm(tc1) list 0 1e-2\n.temp 127\n'
        got = [float(r['vo']) for r in self.rows(deck)]
        self.assertAlmostEqual(got[0], 1100 / 2100, places=6)
        self.assertAlmostEqual(got[1], 1100 / 3100, places=6)
        got = [float(r['r']) for r in self.rows(DIVIDER + '.step dec param r 1k 100k 2\n')]
        for a, b in zip(got, [1e3, 10**3.5, 1e4, 10**4.5, 1e5]):
            self.assertAlmostEqual(a / b, 1, places=9)

    def test_analyses_follow_the_parameter(self):
        deck = 'x\n.param t=1u\nV1 a 0 PWL(0 0 1 1)\nR1 a 0 1\n.tran 10n {t}\n.meas tran m max v(a)\n.step t list 1u 2u\n'
        rows = self.rows(deck)
        self.assertAlmostEqual(float(rows[1]['m']) / float(rows[0]['m']), 2, places=6)

    def test_one_file_tells_the_values(self):
        self.rows(DIVIDER + '.step param r list 1k 3k\n')
        self.assertEqual(re.findall(rb'Plotname: (.*)', self.data('d.raw')),
                         [b'DC transfer characteristic, r=1000', b'DC transfer characteristic, r=3000'])
        self.run_it('--csv', '-r', 'd.csv', 'd.sp')
        with open(self.path('d.csv')) as f:
            rows = list(csv.reader(f))
        self.assertEqual(rows[0][:3], ['r', 'v-sweep', 'v(in)'])
        self.assertEqual([r[0] for r in rows[1:]], ['1000', '1000', '3000', '3000'])

    def test_a_point_that_fails_does_not_end_the_sweep(self):
        self.write('d.sp', DIVIDER + 'R9 out 0 {1/(r-2k)+1k}\n.step param r 1k 3k 1k\n')
        out, err = self.run_it('--measures', 'm.csv', 'd.sp', code=1)
        self.assertIn('point 2 (r=2000) failed', err)
        self.assertIn('division of 1 by zero', err)
        self.assertIn('3 of 3 points, 1 failed', out)
        self.assertIn('2,2000,nan,failed', self.data('m.csv').decode())

    TELL = '''`include "disciplines.vams"
module tell(p, n);
  inout p, n; electrical p, n;
  parameter real r = 1k from (0:inf);
  analog begin
    if (r > 2500) $warning("r=%g is large", r);
    I(p, n) <+ V(p, n) / r;
  end
endmodule
'''

    def test_warnings_of_setup_are_told_once_with_their_point(self):
        self.write('m.va', self.TELL)
        self.write('d.sp', 'x\n.hdl "m.va"\n.param rr=1k\n.model tm tell r={rr}\n.model tk tell r=5k\nV1 a 0 1\nN1 a 0 tm\n'
                   'N2 a 0 tm r={2*rr}\nN3 a 0 tk\n.op\n.step param rr 1k 6k 1k\n')
        said = [self.run_it('-r', 'o.raw', '--jobs', jobs, 'd.sp')[1] for jobs in ('1', '2', '3')]
        self.assertEqual(re.findall(r'point .*|n\d: r=.*', said[0]), ['n3: r=5000 is large', 'point 2 (rr=2000):', 'n2: r=4000 is large'])
        self.assertEqual(said[1], said[0])
        self.assertEqual(said[2], said[0])
        # of the deck as it is with another number: of points, too
        self.write('d.sp', self.data('d.sp').decode().replace('rr=1k', 'rr=2.6k').replace('N2', '*'))
        said = self.run_it('-r', 'o.raw', 'd.sp')[1]
        self.assertEqual(re.findall(r'point .*|n1: r=.*', said), ['n1: r=2600 is large', 'point 3 (rr=3000):', 'n1: r=3000 is large'])

    def test_redo(self):
        self.write('d.sp', DIVIDER + '.step param unused 1 1000 1\n')
        out, _ = self.run_it('explain', '--redo', 'd.sp')
        self.assertEqual(len(re.findall(r'0 netlists expanded, 0 circuits built, 0 kernels compiled', out)), 1000)
        self.write('d.sp', DIVIDER + '.step param r 1 4 1\n')
        out, _ = self.run_it('explain', '--redo', 'd.sp')
        self.assertEqual(len(re.findall(r'circuits built, 0 kernels compiled', out)), 4)
        self.assertEqual(len(re.findall(r' 0 netlists expanded, 0 circuits built, .*; in place 1 rows, 0 sources \(r\)', out)), 3)


    def test_measures_that_meet_in_a_column_are_told(self):
        deck = RC.replace('.tran', '.tran 10n 2u\n.ac dec 1 1k 1k\n.tran') + '.meas ac top max vm(out)\n.step param r 1k 2k 1k\n'
        self.write('d.sp', deck)
        _, err = self.run_it('--measures', 'm.csv', 'd.sp')
        self.assertEqual(re.findall(r'd.sp:(\d+):\d+: warning: (.*)', err)[:3], [
            ('9', "2 analyses have the measure 'd': tables of points have that of the last one"),
            ('10', "2 analyses have the measure 'top': tables of points have that of the last one"),
            ('11', "there is a measure 'top' above: tables of points have several columns of this name")])
        with open(self.path('m.csv')) as f:
            rows = list(csv.reader(f))
        self.assertEqual(rows[0], ['point', 'r', 'd', 'top', 'top', 'status'])
        for row in rows[1:]: # of the transient, and of .ac, whose source has no ac value
            self.assertGreater(float(row[3]), 0.99)
            self.assertEqual(float(row[4]), 0)
        rows = self.rows(RC + '.alter\n.ac lin 1 1k 1k\n.meas ac top max vm(out)\n') # in place of the one of .tran
        self.assertGreater(float(rows[0]['top']), 0.99)
        self.assertEqual(float(rows[1]['top']), 0)
        self.write('d.sp', deck.replace('.step', '*'))
        _, err = self.run_it('--measures', 'm.csv', 'd.sp') # here each has a row
        self.assertNotIn('tables', err)


class Touchstone(Folder):
    DECK = """one port
.param r=10
V1 in 0 dc 1 portnum 1 z0 50
R1 in 0 {r} tc1=1e-3
.sp lin 2 1meg 2meg
.sp lin 1 5meg 5meg
.tran 1n 10n
.sp lin 1 7meg 7meg
.meas sp s11 find s_1_1 at=7meg
"""
    FAMILY = DECK + '.step param r list 10 50 75\n.temp 27 127\n'

    def files(self):
        return sorted(n for n in os.listdir(self.tmp.name) if n.startswith('net'))

    def reads(self, name):
        """Comments behind the first line, and points: (frequency, S11)."""
        lines = self.data(name).decode().split('\n')[:-1]
        self.assertEqual(lines[:2], ['! S-parameters by vsim, 1 port', '# Hz S RI R 50'])
        points = [tuple(map(float, t.split())) for t in lines[2:] if t[0] != '!']
        return [t for t in lines[2:] if t[0] == '!'], [(f, complex(a, b)) for f, a, b in points]

    def look(self, name, at, z):
        for word, hz in (('', [1e6, 2e6]), ('.sp2', [5e6]), ('.sp3', [7e6])):
            said, points = self.reads('%s%s.s1p' % (name, word))
            self.assertEqual(said, ['! at ' + at] if at else [])
            self.assertEqual([f for f, _ in points], hz)
            for _, s in points:
                self.assertAlmostEqual(s, (z - 50) / (z + 50), places=9)

    def look_family(self, points=range(6)):
        self.assertEqual(self.files(), sorted('net.point-%d%s.s1p' % (i + 1, k) for i in points
                                              for k in ('', '.sp2', '.sp3')))
        for i in points:
            r, t = (10, 50, 75)[i % 3], (27, 127)[i // 3]
            self.look('net.point-%d' % (i + 1), 'r=%d temp=%d' % (r, t), r * (1 + 1e-3 * (t - 27)))

    def test_each_card_has_its_file(self):
        self.write('d.sp', self.DECK)
        self.run_it('-q', '--fsync', '--touchstone', 'net', 'd.sp')
        self.assertEqual(self.files(), ['net.s1p', 'net.sp2.s1p', 'net.sp3.s1p'])
        self.look('net', '', 10)

    def test_no_file_is_told(self):
        for deck in (RC, RC + '.step param r 1k 2k 1k\n'):
            self.write('d.sp', deck)
            _, err = self.run_it('--touchstone', 'net', 'd.sp')
            self.assertEqual(err, "vsim: warning: no 'net.sNp' is written: the deck has no .sp and no .hbsp\n")
        self.assertEqual(self.files(), [])

    def test_each_command_has_its_file(self):
        self.write('d.sp', self.DECK + '.control\nsp lin 2 1meg 2meg\nsp lin 1 5meg 5meg\nrun\n.endc\n')
        self.run_it('-q', '--touchstone', 'net', 'd.sp')
        self.assertEqual(self.files(), ['net.s1p'] + ['net.sp%d.s1p' % k for k in (2, 3, 4, 5)])

    def test_each_point_has_its_files(self):
        self.write('d.sp', self.FAMILY)
        for args in ((), ('--jobs', '3', '--fsync')):
            self.run_it('-q', *args, '--touchstone', 'net', 'd.sp')
            self.look_family()
            for name in self.files():
                os.unlink(self.path(name))
        for i in (1, 2):
            self.run_it('-q', '--shard', '%d/2' % i, '-r', 'part%d.raw' % i, '--touchstone', 'net', 'd.sp')
        self.run_it('-q', 'merge', 'all.raw', 'part1.raw', 'part2.raw')
        self.look_family()

    def test_samples_and_blocks_have_theirs(self):
        self.write('d.sp', self.DECK.replace('r=10', 'r=agauss(50,5,1)') + '.mc 2\n.alter far\nV1 in 0 dc 1 portnum 1 z0 50\n')
        self.run_it('-q', '--touchstone', 'net', '--measures', 'm.csv', 'd.sp')
        with open(self.path('m.csv')) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), 4)
        for row in rows:
            said, points = self.reads('net.point-%s.sp3.s1p' % row['point'])
            self.assertEqual(said, ['! at alter=%s sample=%s' % (row['alter'], row['sample'])])
            self.assertAlmostEqual(points[0][1].real, float(row['s11']), places=6)

    def test_a_sweep_that_goes_on(self):
        self.write('d.sp', self.FAMILY)
        args = ('-q', '-r', 'd.raw', '--shard', '1/2') # whose journal stays
        self.run_it(*args, '--touchstone', 'net', 'd.sp')
        with open(self.path('d.raw.journal')) as f:
            lines = f.readlines()
        at = [i for i, t in enumerate(lines) if t.startswith('p ')]
        self.assertEqual(len(at), 3)
        self.write('d.raw.journal', ''.join(lines[:at[1]]))
        for name in self.files():
            if 'point-1.' not in name:
                os.unlink(self.path(name))
        self.run_it(*args, '--resume', '--touchstone', 'net', 'd.sp')
        self.look_family((0, 2, 4))
        _, err = self.run_it(*args, '--resume', 'd.sp', code=1)
        self.assertIn('another', err)

    def test_no_name_of_them_is_an_input_or_another_output(self):
        self.write('net.point-2.s1p', self.FAMILY)
        _, err = self.run_it('--touchstone', 'net', 'net.point-2.s1p', code=1)
        self.assertIn("'net.point-2.s1p' would be overwritten", err)
        self.assertEqual(self.data('net.point-2.s1p').decode(), self.FAMILY)
        self.write('d.sp', self.FAMILY)
        for option in ('-r', '--measures', '-o'):
            _, err = self.run_it(option, 'net.point-7.sp2.s3p', '--touchstone', 'net', 'd.sp', code=1)
            self.assertIn("S-parameters cannot be written to 'net.sNp': another output", err)
        self.assertEqual(self.files(), ['net.point-2.s1p'])
        self.write('net.sp', self.FAMILY) # this is none of the names
        self.run_it('-q', '--touchstone', 'net', 'net.sp')


class MonteCarlo(Folder):
    DECK = DIVIDER.replace('{r}', '{agauss(1k,300,3)}') + '.limits vo min=0.49 max=0.52\n'

    def test_statistics(self):
        rows = self.rows(self.DECK + '.mc 200 seed=5\n')
        v = [float(r['vo']) for r in rows]
        out, _ = self.run_it('d.sp')
        mean, sigma = (float(x) for x in re.search(r'mean (\S+), sigma (\S+),', out).groups())
        self.assertAlmostEqual(mean, statistics.mean(v), places=6)
        self.assertAlmostEqual(sigma, statistics.stdev(v), places=6)
        r = [1000 / x - 1000 for x in v]
        self.assertLess(abs(statistics.mean(r) - 1000), 5 * 100 / math.sqrt(200))
        self.assertLess(abs(statistics.stdev(r) / 100 - 1), 0.3)
        good = sum(0.49 <= x <= 0.52 for x in v)
        self.assertIn('yield: %d of 200' % good, out)
        worst = v.index(min(v)) + 1
        self.assertRegex(out, r'lowest: \S+ \(sample %d\)' % worst)

    def test_seeds(self):
        a = [r['vo'] for r in self.rows(self.DECK + '.mc 5 seed=5\n')]
        longer = [r['vo'] for r in self.rows(self.DECK + '.mc 9 seed=5\n')]
        other = [r['vo'] for r in self.rows(self.DECK + '.mc 5 seed=6\n')]
        self.assertEqual(a, longer[:5])
        self.assertFalse(set(a) & set(other))
        self.assertEqual(len(set(longer)), 9)


class Workers(Folder):
    SWEEP = RC + '.step param r 1k 5k 100\n.step param c list 1n 2n\n'

    def results(self, tag, *args, code=0):
        self.run_it(*args, '-r', tag + '.raw', '--measures', tag + '.csv', 'd.sp', code=code)
        return self.data(tag + '.raw'), self.data(tag + '.csv')

    def test_same_bytes_for_any_number(self):
        self.write('d.sp', self.SWEEP)
        one = self.results('a')
        for n in '2', '4', '0':
            self.assertEqual(self.results('b', '--jobs', n), one)
        self.assertFalse([f for f in os.listdir(self.tmp.name) if 'journal' in f or 'part' in f])
        self.run_it('--csv', '-r', 'c1.csv', 'd.sp')
        self.run_it('--csv', '--jobs', '3', '-r', 'c2.csv', 'd.sp')
        self.assertEqual(self.data('c1.csv'), self.data('c2.csv'))

    def test_shards(self):
        self.write('d.sp', self.SWEEP.replace('.tran', '.op\n.tran') + '.mc 2\n')
        one = self.results('a')
        self.run_it('--csv', '-r', 'one.csv', 'd.sp')
        for i in '1', '2', '3':
            self.run_it('--shard', i + '/3', '-r', 's' + i, 'd.sp')
            self.run_it('--csv', '--shard', i + '/3', '-r', 't' + i, 'd.sp')
        self.run_it('merge', 'all.raw', '--measures', 'all.csv', 's2', 's1', 's3')
        self.assertEqual((self.data('all.raw'), self.data('all.csv')), one)
        self.run_it('merge', 'sum.csv', 't1', 't2', 't3')
        self.assertEqual(self.data('sum.csv'), self.data('one.csv'))
        _, err = self.run_it('merge', 'x.raw', 's1', 's2', code=1)
        self.assertIn('has 3 shards, 2 were given', err)
        _, err = self.run_it('merge', 'x.raw', 's1', 's1', 's3', code=1)
        self.assertIn('given twice', err)
        self.write('d.sp', DIVIDER + 'R9 out 0 {1/(r-2k)+1k}\n.step param r 1k 3k 1k\n')
        for i, code in ('1', 0), ('2', 1):  # point 2 fails
            self.run_it('--shard', i + '/2', '-r', 'f' + i, '--measures', 'f' + i + '.m', 'd.sp', code=code)
        one = self.results('a', code=1)
        out, _ = self.run_it('merge', 'all.raw', '--measures', 'all.csv', 'f1', 'f2', code=1)
        self.assertEqual((self.data('all.raw'), self.data('all.csv')), one)
        self.assertIn('3 points, 1 failed', out)
        self.write('d.sp', DIVIDER + '.step r list 1 2 3 4\n')
        for i in '1', '2':
            self.run_it('--csv', '--shard', i + '/2', '-r', 'u' + i, 'd.sp')
        self.run_it('--csv', '-r', 'one.csv', 'd.sp')
        self.run_it('merge', 'sum.csv', 'u1', 'u2')
        self.assertEqual(self.data('sum.csv'), self.data('one.csv'))

    def children(self, pid):
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            return [int(x) for x in f.read().split()]

    def comes(self, p, what):
        """Waits for a state of a run; False: it was over first, since this process had no processor meanwhile."""
        while p.poll() is None:
            if what():
                return True
            time.sleep(0.005)
        p.communicate()
        return False

    def caught(self, what, sig, *args):
        """A run that was met by a signal in a state. It stands still when the state is looked at for the last time: it
        may have gone on, or be over, when this process has the processor again."""
        for _ in range(20):
            p = self.start(*args)
            if self.comes(p, what):
                p.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                there = what()
                if there:
                    p.send_signal(sig)
                p.send_signal(signal.SIGCONT)
                said = p.communicate(timeout=400)
                if there and p.returncode:
                    return p, said
        self.fail('it ends too early')

    def points(self, name):
        try:
            return self.data(name).count(b'\np ')
        except OSError:
            return 0

    LONG = RC.replace('20u', '60u') + '.step param r 1k 5k 20\n.step param c list 1n 2n\n'

    def hits(self, p, sig):
        """How many signals met a worker of a run, behind some points and behind more."""
        met = 0
        for points in (5, 100):
            if not self.comes(p, lambda: self.points('b.raw.journal') > points):
                break
            try:
                os.kill(self.children(p.pid)[0], sig)
                met += 1
            except (IndexError, ProcessLookupError):
                break  # they have ended
        return met

    def test_a_worker_that_dies_costs_nothing(self):
        self.write('d.sp', self.LONG)
        one = self.results('a')
        for sig in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            for _ in range(20):
                p = self.start('--jobs', '2', '-r', 'b.raw', '--measures', 'b.csv', 'd.sp')
                met = self.hits(p, sig)
                if p.poll() is None:
                    p.communicate(timeout=400)
                self.assertEqual(p.returncode, 0)
                self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)
                if met == 2:
                    break
            self.assertEqual(met, 2, 'it ends too early')

    def test_a_point_whose_workers_die_has_failed(self):
        """The first point lasts longer than any patience; who computes it is killed."""
        self.write('d.sp', RC.replace('20u\n.meas', '{t}\n.meas', 1) + '.param t=20u\n.step param t list 1000 20u\n')
        p = self.start('--jobs', '2', '-r', 'b.raw', 'd.sp')
        while p.poll() is None:
            for pid in self.children(p.pid):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)
        out, err = p.communicate(timeout=400)
        self.assertEqual(p.returncode, 10, out + err)
        self.assertIn('the process that computed it ended by signal 9, twice', err)

    def test_resume(self):
        self.write('d.sp', self.LONG)
        one = self.results('a')
        for jobs, sig in ('1', signal.SIGKILL), ('2', signal.SIGKILL), ('1', signal.SIGINT), ('2', signal.SIGTERM):
            p, _ = self.caught(lambda: 20 < self.points('b.raw.journal') < 300, sig,
                               '--jobs', jobs, '-r', 'b.raw', '--measures', 'b.csv', 'd.sp')
            self.assertEqual(p.returncode, -sig if sig == signal.SIGKILL else 130)
            done = self.points('b.raw.journal')
            self.assertLess(done, 402)
            with open(self.path('b.raw'), 'ab') as f:
                f.write(b'half a point')
            with open(self.path('b.raw.journal'), 'ab') as f:
                f.write(b'p 7 0')
            out, _ = self.run_it('--resume', '--jobs', '2', '-r', 'b.raw', '--measures', 'b.csv', 'd.sp')
            self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)
            self.assertIn('402 of 402 points', out)

    LARGE = ("""large at two of its points
.param big=0 r=1k
v1 n0 0 1
r0 n0 n1 {r}
r1 n1 0 1k bv_max=0.4
.options warn=1
.subckt ten a
""" + ''.join(f'r{i} a b{i} 1k\nc{i} b{i} 0 1n\n' for i in range(10)) + """.ends
.if (big)
.for i = 0 to 4000
x[i] q[i] ten
rr[i] q[i] n1 1meg
.endfor
.endif
.dc r0 1k 2k 1k
.meas dc vo find v(n1) at=1k
.step param big list 0 1 0 0.5 1 0
.save v(n1)
""")

    def limited(self, kb, *args, code=0):
        """With so little memory for addresses."""
        p = subprocess.run([VSIM, *args], cwd=self.tmp.name, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (kb << 10, kb << 10)), timeout=400)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stdout, p.stderr

    def again(self, *args):
        """A resumed run that is killed again and again, later each time, until it is through."""
        for k in range(50):
            p = self.start('--resume', *args, 'd.sp')
            time.sleep(0.02 * 1.5 ** k)
            p.kill()
            out, err = p.communicate()
            if p.returncode != -signal.SIGKILL:
                self.assertEqual(p.returncode, 0, out + err)
                return out
        self.fail('it never ends')

    def test_points_that_found_no_memory_are_computed_again(self):
        """By the next --resume, other points are copied; also if that is killed. Files are those of one run."""
        self.write('d.sp', self.LARGE)
        for ending in 'raw', 'csv':
            out = (*(('--csv',) if ending == 'csv' else ()), '--measures', 'm.csv', '--soa-log', 'l.txt', '-r', 'a.' + ending)
            self.run_it('--jobs', '2', *out, 'd.sp')
            whole = [self.data(name) for name in ('a.' + ending, 'm.csv', 'l.txt')]
            said, err = self.limited(60000, '--jobs', '2', *out, 'd.sp', code=7)
            self.assertEqual(err.count('failed: out of memory'), 3, err)
            self.assertIn('failed for 3 of these; to compute them: the same command with --resume', said)
            self.assertEqual(self.points('a.%s.journal' % ending), 6)
            said, err = self.limited(60000, '--resume', '--jobs', '2', *out, 'd.sp', code=7) # and again
            self.assertEqual(err.count('failed: out of memory'), 3, err)
            said = self.again('--jobs', '2', *out)
            self.assertIn('sweep: 6 of 6 points, 0 failed', said)
            self.assertEqual([self.data(name) for name in ('a.' + ending, 'm.csv', 'l.txt')], whole)
            self.assertEqual([n for n in os.listdir(self.tmp.name) if 'journal' in n or 'before' in n], [])

    def test_points_that_fail_by_themselves_are_not_computed_again(self):
        """Beside one that found no memory; and alone, where the journal goes and nothing is left to resume."""
        self.write('d.sp', self.LARGE.replace('list 0 1 0 0.5', 'list 0 -1 0 1').replace('.if (big)', '.if (big < 0)\nv9 n0 0 2\n'
                                              '.endif\n.if (big > 0)'))
        out = ('--measures', 'm.csv', '-r', 'a.raw')
        self.limited(60000, '--jobs', '2', *out, 'd.sp', code=1)
        said, err = self.run_it('--resume', '--jobs', '2', *out, 'd.sp', code=1)
        self.assertIn('6 of 6 points, 1 failed', said)
        self.assertNotIn('point 2', err)
        with open(self.path('m.csv')) as f:
            self.assertEqual([row['status'] for row in csv.DictReader(f)], ['done', 'failed'] + 4 * ['done'])

    def test_shards_compute_lost_points_again(self):
        self.write('d.sp', self.LARGE)
        self.run_it('-r', 'one.raw', '--measures', 'one.csv', 'd.sp')
        for i in '12':
            self.limited(60000, '--jobs', '2', '--shard', i + '/2', '-r', 'p.' + i, 'd.sp', code=7)
            self.run_it('--resume', '--shard', i + '/2', '-r', 'p.' + i, 'd.sp')
        self.run_it('merge', 'all.raw', 'p.1', 'p.2', '--measures', 'all.csv')
        self.assertEqual((self.data('all.raw'), self.data('all.csv')), (self.data('one.raw'), self.data('one.csv')))

    def test_points_whose_process_died_twice_are_computed_again(self):
        """By each --resume, and nothing else is; the files are those of one run in the end."""
        self.write('d.sp', deadly.DECK)
        deadly.put(self.tmp.name)
        bad = 2 * sum(deadly.BAD)
        for how in ('--jobs', '2'), ('--jobs', '3', '--shard', '1/2'):
            n = 2 * len(deadly.BAD) // (2 if '--shard' in how else 1)
            lost = bad // (2 if '--shard' in how else 1)
            args = ('--allow-native', '--measures', 'm.csv', '-r', 'a.raw', '--stats', 's.json', *how)
            self.run_it(*args, 'd.sp')
            alone = json.loads(self.read('s.json'))['points_accepted']
            whole = [self.data(name) for name in ('a.raw', 'm.csv')]
            self.write('deadly', '')
            for resume in (), ('--resume',), ('--resume',):
                out, err = self.run_it(*resume, *args, 'd.sp', code=10)
                self.assertEqual(len(re.findall('the process that computed it ended by signal 9, twice', err)), lost, err)
                self.assertIn('failed for %d of these; to compute them: the same command with --resume' % lost, out)
                self.assertEqual(deadly.deaths(self.tmp.name), 2 * lost)
                self.assertEqual(self.points('a.raw.journal'), n)
                self.assertEqual(self.data('m.csv').count(b',failed'), lost)
            os.unlink(self.path('deadly'))
            out, err = self.run_it('--resume', *args, 'd.sp')
            self.assertRegex(out, 'sweep: %d of %d points[a-z ]*, 0 failed' % (n, n))
            self.assertEqual([self.data(name) for name in ('a.raw', 'm.csv')], whole)
            computed = json.loads(self.read('s.json'))['points_accepted']
            self.assertLess(computed, 0.6 * alone)  # a third of the points: the others are copied
            self.assertGreater(computed, 0)
            # a shard keeps its journal, for merge
            self.assertEqual([f for f in os.listdir(self.tmp.name) if 'before' in f or ('journal' in f and '--shard' not in how)], [])

    def test_a_file_with_the_name_of_what_is_put_aside_stays(self):
        self.write('d.sp', self.LARGE)
        self.write('a.raw.before', 'mine')
        _, err = self.run_it('--jobs', '2', '-r', 'a.raw', 'd.sp', code=4)
        self.assertIn("'a.raw.before' would be overwritten", err)
        self.assertEqual(self.data('a.raw.before'), b'mine')

    def test_the_point_under_way_is_kept(self):
        endless = RC.replace('10u 20u', '10n 20n').replace('20u', '1')
        self.write('d.sp', endless + '.step param r 1k 3k 1k\n')
        for jobs, sig in ('1', signal.SIGKILL), ('2', signal.SIGKILL), ('1', signal.SIGINT), ('2', signal.SIGTERM):
            if os.path.exists(self.path('b.raw.point-0')):
                os.unlink(self.path('b.raw.point-0'))
            _, (_, err) = self.caught(lambda: os.path.exists(self.path('b.raw.point-0')) and
                                      os.path.getsize(self.path('b.raw.point-0')) > 1 << 20, sig,
                                      '--jobs', jobs, '-r', 'b.raw', 'd.sp')
            self.assertEqual(sig != signal.SIGKILL, "'b.raw.point-0'" in err, err)
            t = waves.read_raw(self.path('b.raw.point-0'))['time']
            self.assertGreater(len(t), 1000)
            self.assertTrue(all(a < b for a, b in zip(t, t[1:])))
        self.write('d.sp', RC + '.step param r 1k 3k 1k\n')
        self.run_it('-r', 'b.raw', 'd.sp')
        self.assertEqual(sorted(os.listdir(self.tmp.name)), ['b.raw', 'd.sp'])

    def test_damaged_parts_are_not_merged(self):
        self.write('d.sp', self.SWEEP)
        for i in '12':
            self.run_it('--shard', i + '/2', '-r', 's' + i, 'd.sp')
        self.run_it('merge', 'all.raw', 's1', 's2')
        whole = self.data('all.raw')
        draw = random.Random(17)
        for k in range(60):
            name = draw.choice(['s1', 's2', 's1.journal', 's2.journal'])
            good = self.data(name)
            at = draw.randrange(len(good))
            flipped = bytes([good[at] ^ 1 << draw.randrange(8)])
            bad = (good[:at], good[:at] + good[at + 1:], good + good[at:], good[:at] + flipped + good[at + 1:])[k % 4]
            with open(self.path(name), 'wb') as f:
                f.write(bad)
            self.run_it('merge', 'x.raw', 's1', 's2', code=1)
            with open(self.path(name), 'wb') as f:
                f.write(good)
        self.run_it('merge', 'x.raw', 's1', 's2')
        self.assertEqual(self.data('x.raw'), whole)

    def test_merge_writes_to_its_own_files_alone(self):
        """A file of the user's that has the name of a journal, and standard input where it is a file."""
        self.write('d.sp', self.SWEEP)
        for i in '12':
            self.run_it('--shard', i + '/2', '-r', 's' + i, 'd.sp')
        self.write('all.raw.journal', 'dear diary')
        out, err = self.run_it('merge', 'all.raw', 's1', 's2', code=1)
        self.assertIn("'all.raw.journal' is no journal of a sweep and would be overwritten", err)
        self.assertEqual((out, self.read('all.raw.journal')), ('', 'dear diary'))
        self.assertFalse(os.path.exists(self.path('all.raw')))
        os.unlink(self.path('all.raw.journal'))
        self.write('words', 'of the user')
        for mode in 'r', 'r+':
            with open(self.path('words'), mode) as stdin:
                self.run_it('merge', 'all.raw', 's1', 's2', stdin=stdin)
            self.assertEqual(self.read('words'), 'of the user')

    def test_a_run_writes_over_no_file_with_the_name_of_its_journal(self):
        self.write('d.sp', self.SWEEP)
        self.write('a.raw.journal', 'dear diary')
        for more in (), ('--resume',):
            out, err = self.run_it('-r', 'a.raw', *more, 'd.sp', code=1)
            self.assertIn("'a.raw.journal' is no journal of a sweep and would be overwritten", err)
            self.assertNotIn('point', out)
            self.assertEqual(sorted(os.listdir(self.tmp.name)), ['a.raw.journal', 'd.sp'])
            self.assertEqual(self.read('a.raw.journal'), 'dear diary')

    def test_journals_of_impossible_sweeps(self):
        """Sums that fit a line that no run wrote: numbers of shards, of points and of the format out of range."""
        self.write('d.sp', self.SWEEP)
        self.run_it('--shard', '1/2', '-r', 's1', 'd.sp')
        good = [line[:-18] for line in self.data('s1.journal').decode().split('\n')[:-1]]
        self.assertRegex(good[2], r'^total \d+ 0 2 0 0$')
        total = good[2].split()[1]
        for wrong in '%s 1 1 0 0', '%s -1 2 0 0', '%s 2 2 0 0', '%s 0 0 0 0', '%s 0 -1 0 0', '-%s 0 1 0 0', '%s 0 1 9 0', '%s 0 1 0 -1':
            chain = 0xcbf29ce484222325
            with open(self.path('s1.journal'), 'w') as f:
                for line in good[:2] + ['total ' + wrong % total] + good[3:]:
                    for c in line.encode():
                        chain = (chain ^ c) * 0x100000001b3 % 2**64
                    f.write('%s\t#%016x\n' % (line, chain))
            _, err = self.run_it('merge', 'x.raw', 's1', code=1)
            self.assertIn('has no journal beside it', err)

    def test_a_journal_of_another_sweep(self):
        self.write('d.sp', self.LONG)
        self.caught(lambda: self.points('b.raw.journal') > 5, signal.SIGKILL, '-r', 'b.raw', 'd.sp')
        self.write('d.sp', self.SWEEP)
        _, err = self.run_it('--resume', '-r', 'b.raw', 'd.sp', code=1)
        self.assertIn('belongs to another sweep', err)


class Memory(Folder):
    def setUp(self):
        super().setUp()
        self.needs_plain(VSIM)

    def memory(self, p):
        with open('/proc/%d/status' % p.pid) as f:
            return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))

    def worked(self, p, seconds):
        """Waits until a run has had the processor for so long."""
        used = 0
        while used < seconds:
            time.sleep(0.05)
            self.assertIsNone(p.poll())
            with open('/proc/%d/stat' % p.pid) as f:
                used = sum(int(x) for x in f.read().rsplit(')', 1)[1].split()[11:13]) / os.sysconf('SC_CLK_TCK')

    def look(self, p, deck):
        self.worked(p, 1)
        first = self.memory(p)
        self.worked(p, 2.5)
        last = self.memory(p)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=300)
        self.assertEqual(p.returncode, 130)
        self.assertLess(last, first + 1000, deck)
        self.assertLess(last, 200000)

    def test_billions_of_points(self):
        for step in '.step param r 1 4e9 1', '.step r1 1 65536 1\n.step @r2[tc1] 0 65535 1', '.step param unused 1 4e9 1':
            self.write('d.sp', DIVIDER + step + '\n')
            p = self.start('--measures', 'd.csv', '-o', 'd.log', 'd.sp')
            self.look(p, step)
            self.assertGreater(self.data('d.csv').count(b'\n'), 500, step)

    def test_billions_of_periods(self):
        self.write('d.sp', 'pulses\nV1 a 0 PULSE(0 1 0 1n 1n 4n 10n)\nR1 a b 1k\nC1 b 0 1p\n.tran 1n {10n*2**32}\n')
        self.look(self.start('--no-output', 'd.sp'), 'pulse')


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
