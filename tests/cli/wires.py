"""Option rcreduce: extracted wires with fewer nodes.   Run: wires.py VSIM"""
import json
import os
import re
import subprocess
import sys
import unittest

from folder import Folder

VSIM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else 'vsim'
N, FREQ, R, C = 200, 1e9, 5.0, 1 / (2 * 3.141592653589793 * 1e9 * 200 * 200 * 5.0)


def chain(*cards, option='rcreduce=0.01 rcfreq=1g', r='%g' % R):
    """A wire of N pieces from n0 to n200, with 2 pi FREQ R_total C_total = 1."""
    text = ['a wire', 'v1 n0 0 dc 1 ac 1 pulse(0 1 0 10p 10p 1n 3n)', '.param rr=%g' % R]
    for k in range(N):
        text += ['r%d n%d n%d %s' % (k, k, k + 1, r), 'c%d n%d 0 %.17g' % (k, k + 1, C)]
    return '\n'.join(text + list(cards) + ['.option ' + option] * bool(option) + ['.end', ''])


class Wires(Folder):
    def vsim(self, *args, code=0):
        done = subprocess.run([VSIM, *args], cwd=self.tmp.name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout[-3000:])
        return done.stdout

    def run_deck(self, text, *args, code=0):
        return self.vsim('-r', 'o.raw', *args, self.write('d.sp', text), code=code)

    def measures(self, text):
        return {k: float(v) for k, v in re.findall(r'(?m)^(m\w+)\s*=\s*(\S+)', self.run_deck(text))}

    def nodes(self, text):
        """Those that the result file has."""
        self.run_deck(text)
        with open(self.path('o.raw'), 'rb') as f:
            head = f.read().split(b'Binary:')[0].decode()
        return {m for m in re.findall(r'\tv\((\S+?)\)', head)}

    def explained(self, text):
        return json.loads(self.vsim('explain', '--json', self.write('e.sp', text))).get('rcreduce')

    def test_the_transfer_is_within_the_bound(self):
        """The error of v(out) is z^T E x, of voltages x of at most 1 and of z, those of 1 A into `out`, of at most R_total.
        With |x^H E x| <= tol w x^H C x it is at most tol w R_total C_total, and that is tol at FREQ."""
        cards = ['.ac dec 5 10meg 1g']
        for k, f in enumerate((1e7, 1e8, 1e9)):
            cards += ['.meas ac mr%d find vr(n200) at=%g' % (k, f), '.meas ac mi%d find vi(n200) at=%g' % (k, f)]
        exact = self.measures(chain(*cards, option=''))
        self.assertEqual(len(exact), 6)
        for tol in (0.05, 0.01, 0.001):
            option = 'rcreduce=%g rcfreq=1g' % tol
            got = self.measures(chain(*cards, option=option))
            worst = max(abs(got[m] - exact[m]) for m in exact)
            self.assertLessEqual(worst, 1.1 * tol)
            self.assertGreater(worst, 0)
            e = self.explained(chain(*cards, option=option))
            self.assertGreater(e['taken_out'], N / 2)
            self.assertLessEqual(e['bound'], tol)
            self.assertLess(e['elements'], e['elements_before'] / 2)
            self.assertEqual((e['nodes'], e['tolerance'], e['frequency']), (N + 1, tol, 1e9))

    def test_operating_points_are_exact(self):
        for option in ('', 'rcreduce=0.5'):
            text = chain('rl n200 0 1k', '.dc v1 1 1 1', '.meas dc m1 find v(n200) at=1', option=option)
            self.assertAlmostEqual(self.measures(text)['m1'], 1000 / (1000 + N * R), delta=1e-8)

    def test_what_is_named_stays(self):
        got = self.nodes(chain('.tran 10p 0.1n', '.ic v(n30)=0', '.nodeset v(n40)=0', '.meas tran m1 max v(n50)',
                               '.print tran v(n60)', 'b1 b 0 v=2*v(n70)-V(n72,n74)', 'i1 n80 0 0', 'e1 e 0 n90 0 1',
                               '.step r100 list 5 5.1',
                               option='rcreduce=0.9 rcfreq=1g'))
        self.assertEqual(got, {'n0', 'n30', 'n40', 'n50', 'n60', 'n70', 'n72', 'n74', 'b', 'n80', 'e', 'n90', 'n100', 'n101'})

    def test_what_a_block_names_stays(self):
        got = self.nodes(chain('.control', 'tran 10p 0.1n', 'print v(n50)[3]-v(n60)[3]', 'alter r70=6', 'write o.raw', '.endc',
                               option='rcreduce=0.9 rcfreq=1g'))
        self.assertEqual(got, {'n0', 'n50', 'n60', 'n70', 'n71'})

    def test_without_the_option_nothing_goes(self):
        self.assertEqual(len(self.nodes(chain('.tran 10p 0.1n', option=''))), N + 1)
        self.assertIsNone(self.explained(chain('.op', option='')))
        self.assertNotIn('rcreduce', self.vsim('explain', self.write('d.sp', chain('.op', option=''))))
        self.assertIn('nodes taken out', self.vsim('explain', self.write('d.sp', chain('.op'))))

    def test_a_netlist_that_changes_is_reduced_again(self):
        """Each run of a family is the run of a deck with its values."""
        meas = ('.tran 10p 1n', '.meas tran m1 find v(n200) at=0.9n')
        one = [self.measures(chain(*meas, r='{rr}').replace('rr=5', 'rr=%g' % v))['m1'] for v in (4, 5, 6)]
        text = self.run_deck(chain(*meas, '.step param rr 4 6 1', r='{rr}'), '--measures', 't.csv')
        rows = [r.split(',') for r in self.read('t.csv').splitlines() if r and r[0].isdigit()]
        self.assertEqual(len(rows), 3, text)
        for row, m in zip(rows, one):
            self.assertTrue(any(abs(float(v) - m) < 1e-6 for v in row if re.match(r'[\d.]', v)), (row, m))

    def test_elements_that_are_more_than_a_value_stay(self):
        got = self.explained('kinds\nv1 a 0 1\nr1 a b 1k tc1=1m\nr2 b c 1k\nc2 c 0 1f ic=0.5\nr3 c d 1k\nr4 d e {1k}\n'
                             'r5 e 0 r=1k m=2\n.op\n.option rcreduce=0.1\n')
        self.assertEqual((got['taken_out'], got['elements'], got['made']), (2, 5, 1))  # d and e

    def test_bad_values(self):
        for value in ('1', '-0.1', 'x'):
            text = self.run_deck(chain('.op', option='rcreduce=' + value), code=1)
            self.assertIn('option rcreduce=%s: a number from 0 to below 1 is needed' % value, text)
        self.assertIn('option rcfreq=0: a positive number is needed', self.run_deck(chain('.op', option='rcfreq=0'), code=1))


if __name__ == '__main__':
    unittest.main()
