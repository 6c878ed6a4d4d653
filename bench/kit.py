#!/usr/bin/env python3
"""Transients of a kit's circuits (tests/pdk/decks) in vsim and ngspice: processor time, points,
and what the measures are off by.

    kit.py VSIM sky130|gf180 [NAME...] [--repeat N] [--steps 1,5,25] [--reltol R]
            [--vsim-reltol R,...]
                                exit code 77 without the kit or ngspice (./bootstrap test)

NAME: a deck's name; all with a transient if none is given. Errors are the largest relative
difference of a measure (of a voltage below 1 V: the difference in V) from a run of vsim with
tolerances 100 times smaller and a quarter of the deck's largest step; `supply`: that of means and
integrals of the supply's current, the others are in `error`.
ngspice has the deck's largest step; vsim that one and multiples of it
(--steps). The last column is ngspice's time over vsim's; `*` marks the fastest run of vsim that is
at least as exact as ngspice. Times are processor time of a whole run less that of the same deck with
a transient of two steps (ngspice reads the library for 3 s), medians of interleaved runs. Both
programs have one thread."""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'pdk'))
import circuits
import gf180
import kit
import sky130

NAMES = [n for n in circuits.NAMES if n not in ('bandgap', 'opamp')]  # they have no transient
TRAN = re.compile(r'(?m)^\.tran +(\S+) +(\S+) +0 +(\S+)$')
RELTOL = re.compile(r'(?<=^\.options )reltol=\S+', re.M)
TIGHTER = '.options reltol=1e-6 abstol=1e-14 vntol=1e-8'


def processor_time(command, folder):
    """Seconds of a command and what it says."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        raise SystemExit('%s:\n%s' % (' '.join(command), p.stdout[-2000:]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, p.stdout


class Program:
    """One program with one setting."""

    def __init__(self, label, command, deck, folder):
        self.label, self.command, self.folder = label, command, folder
        self.deck = self.write('tran', deck)
        still = re.sub(r'(?m)^\.meas .*\n', '', TRAN.sub('.tran 1n 2n\n.print tran v(vp)', deck))
        self.still = self.write('start', still)
        self.seconds = []

    def write(self, what, text):
        path = os.path.join(self.folder, '%s_%s.sp' % (re.sub(r'\W', '_', self.label), what))
        with open(path, 'w') as f:
            f.write(text)
        return path

    def run(self):
        without, _ = processor_time(self.command + [self.still], self.folder)
        whole, self.said = processor_time(self.command + [self.deck], self.folder)
        self.seconds.append(whole - without)

    def points(self):
        said = re.search(r'transient: (\d+) points|No\. of Data Rows : (\d+)', self.said)
        return int(said.group(1) or said.group(2)) if said else 0


def coarser(deck, factor):
    """The deck with another largest step."""
    return TRAN.sub(lambda m: '.tran %s %s 0 {%g*%s}' % (*m.groups()[:2], factor, m.group(3).strip('{}')), deck)


def largest_errors(program, exact, deck):
    """Of the supply's current, of all others."""
    found = circuits.measures(program.said, deck)
    error = {
        k: abs(found[k] - v) / max(abs(v), 1 if k[:2] == 'v_' else 0) for k, v in exact.items()
    }
    supply = {k for k in error if k[:2] in ('i_', 'q_')}
    return [max((error[k] for k in kind), default=0) for kind in (supply, set(error) - supply)]


def bench(args, name, prelude, folder):
    deck = circuits.text(name, prelude)
    vsim = [os.path.abspath(args.vsim), '--no-init', '--no-output', '--threads', '1']
    if args.reltol:
        deck = RELTOL.sub('reltol=' + args.reltol, deck)
    tight = coarser(deck, 0.25).replace('.end\n', TIGHTER + '\n.end\n')
    _, said = processor_time(vsim + [Program('exact', vsim, tight, folder).deck], folder)
    exact = circuits.measures(said, tight)
    runs = [Program('ngspice', ['ngspice', '-b'], deck, folder)]
    for reltol in args.vsim_reltol or [None]:
        for k in args.steps:
            label = 'vsim, %g times its step' % k + (', reltol %s' % reltol if reltol else '')
            own = RELTOL.sub('reltol=' + reltol, coarser(deck, k)) if reltol else coarser(deck, k)
            runs.append(Program(label, vsim, own, folder))
    for r in runs[1:]:
        processor_time(r.command + [r.still], folder)  # its kernels are on the disk from here on
    for _ in range(args.repeat):
        for r in runs:
            r.run()
    supply, errors = zip(*(largest_errors(r, exact, deck) for r in runs))
    times = [statistics.median(r.seconds) for r in runs]
    good = [t for t, e in zip(times[1:], errors[1:]) if e <= errors[0]]
    for r, t, e, i in zip(runs, times, errors, supply):
        best = '*' if r is not runs[0] and good and e <= errors[0] and t == min(good) else ''
        print(
            '| %s | %s | %d | %.3f | %.1e | %.1e | %.1f%s |'
            % (name, r.label, r.points(), t, e, i, times[0] / t, best)
        )
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('vsim')
    p.add_argument('kit', choices=('sky130', 'gf180'))
    p.add_argument('name', nargs='*', default=NAMES)
    p.add_argument('--repeat', type=int, default=3)
    p.add_argument('--steps', type=lambda s: [float(x) for x in s.split(',')], default=[1, 5, 25])
    p.add_argument('--reltol', help='of both programs; the decks have 1e-4')
    p.add_argument('--vsim-reltol', type=lambda s: s.split(','), help='of vsim alone, each in turn')
    args = p.parse_args()
    prelude = {'sky130': sky130, 'gf180': gf180}[args.kit].PRELUDE
    if not kit.package(args.kit if args.kit == 'sky130' else 'c4m') or not shutil.which('ngspice'):
        sys.exit(77)
    print('| deck | program | points | s | error | supply | ratio |\n|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, '.spiceinit'), 'w') as f:
            f.write('set num_threads=1\n')  # of ngspice: two of them wait for each other at work
        for name in args.name or NAMES:
            bench(args, name, prelude, folder)


if __name__ == '__main__':
    main()
