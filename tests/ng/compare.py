#!/usr/bin/env python3
"""libngspice.so.0 as programs see it.   compare.py CLIENT LIBRARY [unittest arguments]

CLIENT (client.c) plays scenes on a library: ours, and ngspice's where it is installed (Debian's
libngspice0). Callbacks, their order, plots, names, types and answers must be the same; values within
what two simulators may differ by."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

CLIENT = os.path.abspath(sys.argv.pop(1))
OURS = os.path.abspath(sys.argv.pop(1))
RUNS = int(os.environ.get('VSIM_NG_RUNS', '2000'))  # of one process; at night 10,000
NAMES = {'ngCM_Input_Path', 'ngGet_Evt_NodeInfo', 'ngGet_Vec_Info', 'ngSpice_AllEvtNodes',
         'ngSpice_AllPlots', 'ngSpice_AllVecs', 'ngSpice_Circ', 'ngSpice_Command', 'ngSpice_CurPlot',
         'ngSpice_Init', 'ngSpice_Init_Evt', 'ngSpice_Init_Sync', 'ngSpice_LockRealloc',
         'ngSpice_Reset', 'ngSpice_SetBkpt', 'ngSpice_UnlockRealloc', 'ngSpice_nospiceinit',
         'ngSpice_nospinit', 'ngSpice_running'}


def play(library, *scene):
    done = subprocess.run([CLIENT, library, *scene], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


def has_ngspice():
    return play('libngspice.so.0', 'none')[1].startswith('init 0')


def facts(text):
    """Lines as lists of words. Vectors of a plot are sorted and lose their numbers: each library has
    its own order. What a run in pieces had reached at its pause, and the type of what let made, are
    the library's own too."""
    out, block = [], []
    for line in text.splitlines() + ['']:
        if line.startswith('  '):
            block.append(re.sub(r'^  \d+ ', '  ', line))
            continue
        out += [b.split() for b in sorted(block)]
        block = []
        line = re.sub(r'first index [1-9]\d*', 'first index later', line)
        line = re.sub(r'(vector (twice|x): \w+ type) \d', r'\1 any', line)
        out.append(line.split())
    return out


def near(a, b):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    return abs(x - y) <= 2e-3 * max(abs(x), abs(y)) + 1e-6


class Same(unittest.TestCase):
    maxDiff = None

    def same(self, scene, change=lambda lines: lines, *path):
        if not has_ngspice():
            self.skipTest('libngspice.so.0 of ngspice is not installed')
        want, have = (change(facts(play(lib, scene, *path)[1])) for lib in ('libngspice.so.0', OURS))
        for w, h in zip(want, have):
            if len(w) != len(h) or not all(near(a, b) for a, b in zip(w, h)):
                self.fail('ngspice: %s\nours:    %s' % (' '.join(w), ' '.join(h)))
        self.assertEqual(len(want), len(have))
        self.assertGreater(len(have), 6)

    def test_plots_and_vectors(self):
        self.same('plots')

    def test_changes_circuits_and_pauses(self):
        # values of the point at which each library paused
        def until_resume(lines):
            at = [i for i, x in enumerate(lines) if x[:4] == ['command', 'tran', '10u', '2m:']][0]
            return [x for x in lines[:at] if x] + [x[:2] for x in lines[at:] if x]
        self.same('changes', until_resume)

    def test_the_thread(self):
        # whether bg_run answers before the thread's first callback is chance
        self.same('background', lambda lines: [x for x in lines if x[:2] != ['command', 'bg_run:']])

    def test_what_is_altered_in_a_pause(self):
        # the point at which each paused is its own, and so is the first one behind it
        def of_the_end(lines):
            lines = [x for x in lines if x[:2] != ['command', 'bg_resume:'] and 'scale' not in x]
            return [x for x in lines if 'last' not in x] + [x for x in lines if 'last' in x][1:]
        self.same('alter', of_the_end)

    def test_a_circuit_without_event_nodes(self):
        self.same('events')

    def test_breakpoints_of_the_host(self):
        """Where each library paused is its own."""
        self.same('breakpoint', lambda lines: [x for x in lines if x[:2] != ['cb', 'data'] and 'scale' not in x])

    def test_commands_that_no_other_scene_gives(self):
        with tempfile.TemporaryDirectory() as folder:
            deck = os.path.join(folder, 'c.cir')
            with open(deck, 'w', encoding='utf-8') as f:
                f.write('* c\nv1 a 0 6\nr1 a b 1k\nr2 b 0 1k\n.end\n')
            self.same('commands', lambda lines: lines, deck)

    def test_calls_of_kicad(self):
        self.same('kicad', lambda lines: [x for x in lines if x[:2] != ['command', 'bg_run:']])

    def test_calls_of_ngspyce(self):
        """It gives SendData without SendInitData: ngspice does not call it then."""
        self.same('script')


class Ours(unittest.TestCase):
    def has(self, text, *lines):
        at = 0
        for line in lines:
            found = text.find(line, at)
            self.assertGreaterEqual(found, 0, '%r is not in, or not behind the others:\n%s' % (line, text))
            at = found + len(line)

    def test_symbols(self):
        out = subprocess.run(['nm', '-D', '--defined-only', OURS], check=True, capture_output=True, text=True).stdout
        self.assertEqual({line.split()[-1] for line in out.splitlines()}, NAMES)
        out = subprocess.run(['readelf', '-d', OURS], check=True, capture_output=True, text=True).stdout
        self.assertIn('[libngspice.so.0]', out)

    def test_points_are_told_behind_columns(self):
        code, out = play(OURS, 'script')
        self.assertEqual(code, 0)
        self.has(out, 'vector I(va): ', 'vectors of tran1: b time', 'points told 0')

    def test_breakpoints_are_those_of_one_run(self):
        code, out = play(OURS, 'breakpoint', '-v')
        self.assertEqual(code, 0)
        self.has(out, 'cb char stderr Error: no circuit loaded.\nwithout a circuit 0\n', 'before a run 1', 'in a pause 1',
                 'points at 0.12345 ms 1, 0.54321 ms 1, 0.76543 ms 0', 'asked by the host 1',
                 'points at 0.12345 ms 0, 0.54321 ms 0, 0.76543 ms 1')

    def test_what_show_status_rusage_and_devhelp_say(self):
        with tempfile.NamedTemporaryFile('w', suffix='.cir') as f:
            f.write('* c\nv1 a 0 6\nr1 a b 1k\nr2 b 0 1k\n.end\n')
            f.flush()
            code, out = play(OURS, 'commands', f.name, '-v')
        self.assertEqual(code, 0)
        self.has(out, 'stdout Circuit: a divider', 'resistance', 'command show r1: 0', 'command showmod r2: 0',
                 'r1 a b 1k', 'command listing logical: 0', 'stop when time > 1m', 'command status: 0',
                 'command rusage time: 0', 'resistance', 'command devhelp resistor: 0')
        self.assertNotIn('stderr', out)

    def test_start_files_folder_and_reset(self):
        """A .spiceinit that names a folder, the folder of ngCM_Input_Path, and the library as it was at first."""
        with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
            for name, text in ((os.path.join(home, '.spiceinit'), "* mine\nset sourcepath = ( '%s' )\n" % folder),
                               (os.path.join(folder, 'parts.inc'), 'r2 b 0 2k\n')):
                with open(name, 'w', encoding='utf-8') as f:
                    f.write(text)
            env = dict(os.environ, HOME=home)
            for last, begin, first in ((('read',), 'init 0', 'b type 3 flags 1 real 1 complex 0 last 2 alone'),
                                       (('none',), 'start files 0 0\ninit 0', 'none')):
                done = subprocess.run([CLIENT, OURS, 'begin', folder, *last], cwd=home, env=env, capture_output=True,
                                      text=True, timeout=300)
                self.assertEqual(done.returncode, 0)
                self.has(done.stdout, begin, 'vector b: %s\nfolder ours' % first, 'cb init Operating Point',
                         'vector b: b type 3 flags 1 real 1 complex 0 last 2 alone', 'vector x: x type 0', 'last 4 alone',
                         'reset 0\ncurrent const, plots const\nvector b: none', 'circuit: 0', 'cb init Operating Point',
                         'vector b: b type 3 flags 1 real 1 complex 0 last 4 alone')

    def test_halt_and_resume(self):
        code, out = play(OURS, 'halt')
        self.assertEqual(code, 0)
        self.has(out, 'cb thread 0', 'running 1', 'cb thread 1', 'command bg_halt: 0', 'running 0',
                 'halted on the way 1', 'cb thread 0', 'went on 1', 'cb thread 1', 'ended 1')

    def test_sources_and_steps_of_the_host(self):
        code, out = play(OURS, 'source')
        self.assertEqual(code, 0)
        self.has(out, 'cb source v1', 'command run: 0', 'sources asked 1, sync asked 1',
                 'more points 1, longest step 1')

    def test_a_step_done_again_for_the_host(self):
        """Hosts of digital simulators: an attempt is place 1, a point that was accepted place 0."""
        code, out = play(OURS, 'redo')
        self.assertEqual(code, 0)
        self.has(out, 'cb source vtb.u0.a\n', 'command run: 0', 'a point at the jump 1, values 1 3',
                 'points 1, places wrong 0, last 3.000')

    def test_the_name_of_a_file_alone_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            deck = os.path.join(folder, 'divider.cir')
            with open(deck, 'w', encoding='utf-8') as f:
                f.write('divider\nv1 a 0 3\nr1 a b 1k\nr2 b 0 2k\n.end\n')
            code, out = play(OURS, 'file', deck)
        self.assertEqual(code, 0)
        self.has(out, 'cb char stdout Circuit: divider', 'command op: 0', 'vector b: b type 3', 'last 2 alone',
                 "there is no command 'nothing.cir'")

    def test_a_broken_deck_leads_to_its_line(self):
        code, out = play(OURS, 'wrong')
        self.assertEqual(code, 0)
        self.has(out, "cb char stderr Error: circuit:3:10: q1: unknown model 'nomodel'",
                 'cb char stderr     3 | q1 a b 0 nomodel', 'cb char stderr       |          ^~~~~~~',
                 'cb char stderr Error: circuit not parsed.', 'there is no circuit',
                 "there is no command 'nonsense'", 'cb char stdout Circuit: good', "'v(nowhere)'",
                 'cb char stdout No. of Data Rows : 1')

    def test_text(self):
        code, out = play(OURS, 'text')
        self.assertEqual(code, 0)
        self.has(out, 'cb stat Source Deck', 'cb char stdout Circuit: a filter', 'cb char stdout hello',
                 'cb char stdout ** ngspice-46', 'cb char stdout Doing analysis at TEMP = 27.000000',
                 'cb init Transient Analysis', 'cb stat --ready--', 'cb char stdout No. of Data Rows',
                 'cb char stdout v1#branch[0] = ', 'l1#branch           : current, real')
        self.assertNotRegex(out, r'cb char (?!stdout |stderr )')

    def test_many_runs_do_not_grow(self):
        """Once 64 circuits are kept a load frees one: what a run leaves behind must not add up. The
        bound is 2 KiB for each of the runs that are counted, the last three quarters."""
        code, out = play(OURS, 'many', str(RUNS))
        self.assertEqual(code, 0)
        found = re.search(r'%d runs, grown by (-?\d+) KiB' % RUNS, out)
        self.assertTrue(found, out)
        self.assertLess(int(found.group(1)), 1.5 * RUNS)


if __name__ == '__main__':
    unittest.main()
