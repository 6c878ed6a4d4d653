#!/usr/bin/env python3
"""The attack's own account: what was not judged is told and counted apart.   counts.py VSIM [test...]"""
import argparse
import contextlib
import io
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

import attack
import circuits
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

    def said(self, name, vsim, runs=2):
        o = argparse.Namespace(found=self.tmp.name, new=self.tmp.name, runs=runs, hours=None, seed=3)
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

    def test_results_that_did_not_come_are_no_success(self):
        vsim = self.program('vsim', 'case "$*" in *--resume*) exec sleep 60;; esac\nexec %s "$@"\n' % VSIM)
        said = self.said('journal', vsim, 1)
        self.assertIn('0 findings; not judged: over time 1\n', said)
        self.assertIn('journal: input 1 of seed 3: over time, not judged\n', said)

    def test_runs_that_were_asked_to_end_are_counted(self):
        said = self.said('control', self.program('vsim', 'exec sleep 60\n'), 1)
        self.assertIn('0 findings, ended when asked to 1\n', said)

    def test_a_law_of_what_is_not_solved_is_no_success(self):
        point = lambda v: (0, '', [('Operating Point', {'v(a)': [v]})])
        for results, verdict in (((None, '', []), (None, '', [])), 'over time'), (((1, 'error', []), (1, 'error', [])), 'neither solves'), \
                ((point(0.0), point(5.0)), 'two states'), ((point(5.0), point(5.0)), 'holds'):
            with mock.patch.object(circuits, 'run_vsim', side_effect=results):
                self.assertEqual(circuits.obeys(VSIM, 'names 1', self.tmp.name), (verdict, None))
        self.assertLessEqual({'over time', 'neither solves', 'two states'}, attack.Laws.UNJUDGED)

    def test_a_deck_without_sources_has_no_small_signals(self):
        self.assertRaises(large.Nothing, large.small, types.SimpleNamespace(text='x\n.tran 1 2\n'))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
