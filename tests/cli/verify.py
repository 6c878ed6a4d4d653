#!/usr/bin/env python3
"""--verify: transients that are right pass; currents that are no function of the voltages do not.

    verify.py VSIM [unittest arguments]"""
import os
import re
import subprocess
import sys
import unittest

import folder

VSIM = ''

# Its current depends on the iteration that asks: what Newton's method found is no solution.
MOODY = """`include "disciplines.vams"
module moody(a, b);
  inout a, b; electrical a, b;
  parameter real mood = 0;
  analog I(a, b) <+ V(a, b)*1e-3*(1 + mood*(1 - 1/(1 + $simparam("iteration", 1))));
endmodule
"""
DECK = """looked at once more
.hdl "moody.va"
.model my moody (mood={mood})
.param mood=0
v1 in 0 sin(0 1 1meg)
n1 in out my
c1 out 0 100p
d1 out x dm
r1 x 0 1k
c2 x 0 50p
.model dm d is=1e-14 cjo=1p tt=1n rs=5
q1 c x 0 qm
vc vc 0 5
rc vc c 10k
.model qm npn bf=100 cje=1p cjc=1p tf=0.3n
t1 c 0 l 0 z0=50 td=3n
rl l 0 1meg
.tran 1n 2u
.end
"""


WRONG = """a model that is wrong
.hdl "moody.va"
.model my moody (mood={mood})
.param mood=0.05
v1 in 0 sin(0 1 1meg)
n1 in out my
c1 out 0 100p
r1 out 0 1k
.tran 10n 2u
.end
"""

# A charge with a corner at 0, crossed by moves that no linearisation is given up for.
CORNER = """`include "disciplines.vams"
module corner(a, b);
  inout a, b; electrical a, b;
  analog I(a, b) <+ ddt((V(a, b) > 0 ? 2f : 1f)*V(a, b));
endmodule
"""
AT_CORNER = """charges with a corner
.hdl "corner.va"
.model mc corner
v1 in 0 sin(0 0.1u 1g)
r1 in out 1k
n1 out 0 mc
.options bypass=1
.tran 1p 2n 0 1p
.end
"""


class Verify(folder.Folder):
    def vsim(self, deck, *args):
        self.write('moody.va', MOODY)
        self.write('corner.va', CORNER)
        self.write('deck.sp', deck)
        return subprocess.run([VSIM, '-n', 'deck.sp', '--no-output', *args], cwd=self.tmp.name,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    def passes(self, deck, *args):
        done = self.vsim(deck, '--verify', *args)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = re.search(r"verified: (\d+) of Kirchhoff's sums at (\d+) points from (\d+) "
                          r'evaluations', done.stdout)
        self.assertTrue(found, done.stdout)
        self.assertGreater(min(int(k) for k in found.groups()), 8)

    def test_right_transients_pass(self):
        for options in ('', '.options method=gear', '.options bypass=1', '.options reltol=2e-4',
                        '.options rshunt=1e9', '.trannoise fmax=1g'):
            with self.subTest(options):
                self.passes(DECK.replace('.tran', options + '\n.tran'))
        self.passes(DECK, '--interpret')

    def test_a_current_that_is_no_function_of_voltages_is_found(self):
        done = self.vsim(WRONG, '--verify')
        self.assertEqual(done.returncode, 9, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"not verified: the currents of node '(in|out)' at \S+ s")
        done = self.vsim(WRONG)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.passes(WRONG.replace('mood=0.05', 'mood=0'))

    def test_a_linearisation_held_beyond_a_corner_passes(self):
        self.passes(AT_CORNER)
        self.passes(AT_CORNER.replace('bypass=1', 'bypass=0'))

    def test_a_run_without_transient_says_so(self):
        done = self.vsim(DECK.replace('.tran 1n 2u', '.op'), '--verify')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('there was no transient', done.stderr)

    def test_only_runs_take_it(self):
        done = subprocess.run([VSIM, 'check', '--verify', 'deck.sp'], capture_output=True)
        self.assertEqual(done.returncode, 2)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
