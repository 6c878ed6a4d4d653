#!/usr/bin/env python3
"""Schematic editors of Debian with vsim as their simulator: Xschem and lepton-eda, with the examples they come with.

    editors.py VSIM [unittest arguments]     exit code 77 if neither is there

Xschem 2.8.1 opens a display even for a netlist alone, so it runs below Xvfb. `--all` (at night) also runs the two
examples that take minutes. Where Debian's ngspice is there, it runs what vsim runs, and both must agree."""
import math
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
from folder import Folder  # noqa: E402
from rawfile import read_raw  # noqa: E402

VSIM, ALL = '', False
PEER = shutil.which('ngspice')
XSCHEM = '/usr/share/xschem'
LEPTON = '/usr/share/doc/lepton-eda/examples'
SLOW = ('tesla', 'test_ne555')
# A subcircuit with no source: vsim says that it has no operating point. ngspice 39 has no analysis there, and says nothing.
NO_POINT = ('lm324',)


def why_no_xschem():
    for program, package in (('xschem', 'xschem'), ('xvfb-run', 'xvfb'), ('xauth', 'xauth')):
        if not shutil.which(program):
            return "%s is not there (Debian's package %s)" % (program, package)
    return None if os.path.isdir(XSCHEM + '/xschem_library') else "no examples in '%s'" % XSCHEM


def why_no_lepton():
    if not shutil.which('lepton-netlist'):
        return "lepton-netlist is not there (Debian's package lepton-eda)"
    return None if os.path.isdir(LEPTON) else "no examples in '%s'" % LEPTON


def near(test, ours, theirs, part, what):
    """Two curves differ by at most that part of the largest magnitude."""
    most = max(abs(y) for y in theirs)
    worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    test.assertLessEqual(worst, part * most, what)


class Editor(Folder):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path('bin'))
        os.symlink(VSIM, self.path('bin/ngspice'))

    def run_in(self, folder, *words, text='', seconds=300):
        """The exit code and what the program said; below `folder`, with vsim as the ngspice of the path."""
        env = dict(os.environ, PATH=self.path('bin') + os.pathsep + os.environ['PATH'], HOME=self.tmp.name,
                   GUILE_AUTO_COMPILE='0')  # lepton's scripts would be compiled into the new home, for a minute
        done = subprocess.run(words, cwd=folder, env=env, input=text, text=True, errors='replace', timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def folder(self, name):
        os.makedirs(self.path(name), exist_ok=True)
        return self.path(name)


@unittest.skipIf(why_no_xschem(), why_no_xschem())
class Xschem(Editor):
    # Xschem starts one script below one display; its `simulate` gives the command to a terminal's -e.
    RC = """source %s/xschemrc
set netlist_dir {%s}
set hspice_netlist 0
set hspice_path ngspice
set computerfarm {}
set terminal {%s}
"""
    TERMINAL = """#!/bin/sh
printf 'run\\nwrite typed.raw\\nquit\\n' | sh -c "${2%%; bash}"
touch done
"""

    def setUp(self):
        super().setUp()
        with open(self.path('terminal'), 'w', encoding='utf-8') as f:
            f.write(self.TERMINAL)
        os.chmod(self.path('terminal'), 0o755)

    def xschem(self, netlists, schematics, *options):
        with open(self.path('xschemrc'), 'w', encoding='utf-8') as f:
            f.write(self.RC % (XSCHEM, netlists, self.path('terminal')))
        with open(self.path('all.sh'), 'w', encoding='utf-8') as f:
            for s in schematics:
                f.write("timeout 60 xschem --rcfile '%s' -r -s -n %s -q '%s' </dev/null\n"
                        % (self.path('xschemrc'), ' '.join(options), s))
        return self.run_in(netlists, 'xvfb-run', '-a', 'sh', self.path('all.sh'))[1]

    def library(self):
        """A copy: Xschem writes schematics that it has read in an older form anew, where root may."""
        copy = self.path('library')
        if not os.path.exists(copy):
            shutil.copytree(XSCHEM + '/xschem_library', copy)
        return copy

    def schematics(self):
        found = [os.path.join(at, f) for at, _, files in os.walk(self.library()) for f in files if f.endswith('.sch')]
        return sorted(found)

    def batch(self, program, netlists, name):
        """Xschem's command of a batch run, of its release 3: the exit code and the first plot, if there is one."""
        folder = self.folder(os.path.basename(program) + '_' + os.path.basename(os.path.dirname(program)))
        shutil.copy(os.path.join(netlists, name + '.spice'), folder)
        code, said = self.run_in(folder, program, '-b', '-r', name + '.raw', '-o', name + '.out', name + '.spice')
        raw = os.path.join(folder, name + '.raw')
        return code, read_raw(raw)[0] if code == 0 and os.path.exists(raw) else None, said

    def test_its_examples_run_where_ngspice_runs_them(self):
        """All are netlisted; each ends with ngspice's exit code, and has the vectors and the length of its plot."""
        netlists = self.folder('netlists')
        said = self.xschem(netlists, self.schematics())
        names = sorted(f[:-6] for f in os.listdir(netlists) if f.endswith('.spice'))
        self.assertEqual({os.path.basename(s)[:-4] for s in self.schematics()} - set(names), set(), said)
        ran = []
        for name in names:
            if name in NO_POINT or name in SLOW and not ALL:
                continue
            code, plot, said = self.batch(self.path('bin/ngspice'), netlists, name)
            if plot:
                ran.append(name)
            if PEER and name not in SLOW:
                theirs, peer_plot, _ = self.batch(PEER, netlists, name)
                self.assertEqual((name, code, plot is None), (name, theirs, peer_plot is None), said)
                if plot:
                    self.same_plot(name, plot[1], peer_plot[1])
        self.assertEqual(ran, sorted(['cmos_example', 'osc', 'test_lm324'] + (list(SLOW) if ALL else [])))

    def same_plot(self, name, ours, theirs):
        self.assertEqual(list(theirs)[0], list(ours)[0], name)
        theirs = {n: v for n, v in theirs.items() if '$' not in n}  # code models that ngspice 39 puts in
        self.assertLessEqual(set(theirs), set(ours), name)
        self.assertAlmostEqual(list(ours.values())[0][-1] / list(theirs.values())[0][-1], 1, delta=1e-9)

    def test_a_sweep_agrees_with_ngspice(self):
        """A differential pair: both solve to reltol 1e-3, and the pair has a gain; so within 1 % of its swing."""
        if not PEER:
            self.skipTest('ngspice is not installed')
        netlists = self.folder('netlists')
        self.xschem(netlists, [self.library() + '/examples/cmos_example.sch'])
        _, (_, ours), _ = self.batch(self.path('bin/ngspice'), netlists, 'cmos_example')
        _, (_, theirs), _ = self.batch(PEER, netlists, 'cmos_example')
        for v in ('v(diffout)', 'v(sn)', 'v(gp)', 'i(vvcc)'):
            near(self, ours[v], theirs[v], 1e-2, v)

    def test_its_simulate_command(self):
        """`simulate` of 2.8.1 is `TERMINAL -e "SIMULATOR -i NETLIST | tee hspice.out ; bash"`: a user types `run`."""
        netlists = self.folder('netlists')
        self.xschem(netlists, [self.library() + '/examples/cmos_example.sch'], '-S')
        for _ in range(600):  # it starts the terminal behind its back
            if os.path.exists(os.path.join(netlists, 'done')):
                break
            subprocess.run(['sleep', '0.1'], check=True)
        with open(os.path.join(netlists, 'hspice.out'), encoding='utf-8') as f:
            said = f.read()
        self.assertIn('No. of Data Rows : 401', said)
        (plot, vectors), = read_raw(os.path.join(netlists, 'typed.raw'))
        self.assertEqual(plot, 'DC transfer characteristic')
        self.assertAlmostEqual(vectors['v(plus)'][-1], 1.7, delta=1e-12)

    def test_an_error_leads_to_its_line(self):
        netlists = self.folder('netlists')
        self.xschem(netlists, [self.library() + '/examples/flop.sch'])
        code, _, said = self.batch(self.path('bin/ngspice'), netlists, 'flop')
        self.assertEqual(code, 1)
        told = re.search(r"(?m)^Error: flop\.spice:(\d+):(\d+): .*'(\w+)'", said)
        self.assertTrue(told, said)
        with open(os.path.join(netlists, 'flop.spice'), encoding='utf-8') as f:
            line = f.read().splitlines()[int(told[1]) - 1]
        self.assertTrue(re.match(r'%s\b' % told[3], line[int(told[2]) - 1:], re.I), said)


@unittest.skipIf(why_no_lepton(), why_no_lepton())
class Lepton(Editor):
    def example(self, name, *schematics):
        """A copy of the example, netlisted by its own README's commands."""
        at = self.path(name)
        shutil.copytree(os.path.join(LEPTON, name), at)
        for s in schematics:
            code, said = self.run_in(at, 'lepton-netlist', '-g', 'spice-sdb', '-o', s + '.cir', s + '.sch')
            self.assertEqual(code, 0, said)
        return at

    def gain(self, program, at, net):
        """The gain over frequency, by the commands of a session behind the deck's own block."""
        code, said = self.run_in(at, program, '-p', net, text='wrdata gain v(vout)\nquit\n')
        table, = (n for n in os.listdir(at) if n.startswith('gain'))  # ngspice 39 adds .data
        with open(os.path.join(at, table), encoding='utf-8') as f:
            rows = [[float(x) for x in line.split()] for line in f]
        os.remove(os.path.join(at, table))
        return [r[0] for r in rows], [complex(r[1], r[2]) for r in rows], said

    def agrees(self, at, net, rows):
        f, ours, said = self.gain(self.path('bin/ngspice'), at, net)
        self.assertEqual(len(ours), rows, said)
        self.assertTrue(all(math.isfinite(abs(v)) for v in ours))
        if not PEER:
            self.skipTest('ngspice is not installed')
        g, theirs, _ = self.gain(PEER, at, net)
        near(self, f, g, 1e-6, 'frequencies')
        near(self, ours, theirs, 1e-2, 'gain')  # operating points to reltol 1e-3 each

    def test_two_stage_amplifier(self):
        self.agrees(self.example('TwoStageAmp', 'TwoStageAmp'), 'TwoStageAmp.cir', 161)

    def test_rf_amplifier_of_three_schematics(self):
        self.agrees(self.example('RF_Amp', 'Q1', 'Q2', 'MSA-2643'), 'MSA-2643.cir', 101)

    def test_a_batch_run_writes_raw_file_and_picture(self):
        at = self.example('TwoStageAmp', 'TwoStageAmp')
        code, said = self.run_in(at, 'ngspice', '-b', '-r', 'two.raw', 'TwoStageAmp.cir')
        self.assertEqual(code, 0, said)
        self.assertEqual([p for p, _ in read_raw(os.path.join(at, 'two.raw'))], ['AC Analysis'])
        self.assertTrue(os.path.exists(os.path.join(at, 'TwoStageAmp_plot1.svg')))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    ALL = '--all' in sys.argv
    if ALL:
        sys.argv.remove('--all')
    if why_no_xschem() and why_no_lepton():
        print(why_no_xschem(), why_no_lepton(), sep='; ')
        sys.exit(77)
    unittest.main()
