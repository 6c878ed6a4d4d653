#!/usr/bin/env python3
"""The attack's own account: what was not judged is told and counted apart.   counts.py VSIM [test...]"""
import argparse
import contextlib
import io
import os
import sys
import tempfile
import unittest

import attack
import large

VSIM = ''


class Counts(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)

    def program(self, name, text):
        path = os.path.join(self.tmp.name, name)
        with open(path, 'w') as f:
            f.write('#!/bin/sh\n' + text)
        os.chmod(path, 0o755)
        return path

    def said(self, name, vsim):
        o = argparse.Namespace(found=self.tmp.name, new=self.tmp.name, runs=2, hours=None, seed=3)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            found = attack.attack(name, attack.TARGETS[name](attack.Bench(vsim, None)), o)
        self.assertEqual(found, 0, out.getvalue())
        return out.getvalue()

    def test_a_run_over_time_is_no_success(self):
        patience, large.PATIENCE = large.PATIENCE, 0.01
        try:
            said = self.said('large', self.program('vsim', 'exec sleep 60\n'))
        finally:
            large.PATIENCE = patience
        self.assertIn('0 findings; not judged: over time 2\n', said)
        self.assertEqual(said.count(': over time, not judged\n'), 2, said)

    def test_a_peer_that_fails_is_no_success(self):
        self.program('ngspice', 'exit 1\n')
        path = os.environ['PATH']
        os.environ['PATH'] = self.tmp.name + os.pathsep + path
        try:
            said = self.said('peer', VSIM)
        finally:
            os.environ['PATH'] = path
        self.assertIn('0 findings; not judged: ngspice fails 2\n', said)
        self.assertEqual(said.count(': ngspice fails, not judged\n'), 2, said)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
