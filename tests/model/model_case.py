"""Decks of the tests of one model each: what they share."""
import math
import os
import subprocess
import sys
import tempfile
import unittest

import mos_cards


class ModelCase(unittest.TestCase):
    TITLE = 'model'
    TIGHT = ''  # the second line of each deck
    vsim = ''   # run() sets it

    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)

    def run_deck(self, lines, status=0):
        """Results by name, if there are any; and what it said."""
        path = os.path.join(self.tmp.name, 'd.sp')
        with open(path, 'w') as f:
            f.write('\n'.join([self.TITLE, self.TIGHT] + lines + ['.end', '']))
        done = subprocess.run([self.vsim, '-r', path + '.raw', path], cwd=self.tmp.name, timeout=300,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return mos_cards.read_raw(path + '.raw') if not status else None, done.stderr

    def check_finite(self, lines, analyses, who):
        """The deck has finite results in each analysis."""
        for analysis in analyses:
            for name, v in self.run_deck(lines + [analysis])[0][0].items():
                self.assertTrue(all(math.isfinite(abs(x)) for x in v), (who, analysis, name))

    def check_finite_or_refused(self, decks, least):
        """Each deck has finite results or ends with an error, and so many have results. decks: pairs of what tells a
        deck and its text."""
        path = os.path.join(self.tmp.name, 'r.sp')
        ran = 0
        for card, text in decks:
            with open(path, 'w') as f:
                f.write(text)
            done = subprocess.run([self.vsim, '-q', '-r', path + '.raw', path], capture_output=True, text=True,
                                  timeout=200)
            self.assertIn(done.returncode, (0, 1), card + done.stderr)
            if done.returncode:
                self.assertIn('error', done.stderr, card)
                continue
            ran += 1
            for name, v in mos_cards.read_raw(path + '.raw')[0].items():
                self.assertTrue(all(map(math.isfinite, v)), (card, name, v))
        self.assertGreaterEqual(ran, least)


def run():
    """VSIM [test...]"""
    ModelCase.vsim = os.path.abspath(sys.argv.pop(1))
    unittest.main()
