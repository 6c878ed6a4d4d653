#!/usr/bin/env python3
"""Monte Carlo of the IHP inverter with mismatch by one process, workers and ranks of MPI: the same bytes, and what more
processors give. A worker, a rank and the whole run are killed on the way.

    ihp_mc.py VSIM [--samples N] [--stop TIME] [--repeat N]     exit code 77 if the kit is not in $VSIM_PEERS (./bootstrap test)

--samples 200, --stop 900p is the whole deck (tests/data/ihp/inv_mc.sp); the test suite runs a small one without judging times. Processor
time of a run with N workers over that of one is what sharing costs; clock times mean something on a machine with idle processors."""
import argparse
import glob
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))
VA = ('psp103/psp103.va', 'psp103/psp103_nqs.va')


def children(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


class Bench:
    def __init__(self, args, kit, folder):
        self.args, self.folder = args, folder
        self.vsim = os.path.abspath(args.vsim)
        self.env = dict(os.environ, PDK=kit, HOME=folder, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                        OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_mtl='^psm,psm2,ofi')
        with open(os.path.join(ROOT, 'tests', 'data', 'ihp', 'inv_mc.sp')) as f:
            title, body = f.read().split('\n', 1)
        for name, samples in ('deck.sp', args.samples), ('half.sp', args.samples // 2), ('warm.sp', 2):
            with open(self.path(name), 'w') as f:
                f.write('\n'.join([title] + ['.hdl "$PDK/ngspice/va/%s"' % v for v in VA] +
                                  [body.replace('.mc 200', '.mc %d' % samples)]))
            os.utime(self.path(name), (10**9, 10**9))

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, launcher, options, tag, deck='deck.sp'):
        return launcher + [self.vsim, '--cache-dir', self.path('cache'), '-D', 'stop=' + self.args.stop, '-r', tag + '.raw',
                           '--measures', tag + '.csv', *options, deck]

    def start(self, *args):
        return subprocess.Popen(self.command(*args), cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def finish(self, p, code=0):
        out, err = p.communicate(timeout=3000)
        if p.returncode != code:
            sys.exit('exit code %d: %s' % (p.returncode, err[-2000:]))
        return out

    def timed(self, *args):
        """Clock and processor seconds."""
        before, t0 = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        self.finish(self.start(*args))
        t1, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        return t1 - t0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def halves(self):
        """Clock of two processes with half the samples each, which know nothing of each other: what the machine can give."""
        t0 = time.monotonic()
        for p in [self.start([], [], tag, 'half.sp') for tag in ('half1', 'half2')]:
            self.finish(p)
        return time.monotonic() - t0

    def data(self, tag):
        with open(self.path(tag + '.raw'), 'rb') as f, open(self.path(tag + '.csv'), 'rb') as g:
            return f.read(), g.read()

    def expect_same(self, what, tag):
        if self.data(tag) != self.data('one'):
            sys.exit('%s: other bytes than one process' % what)

    def done(self):
        try:
            with open(self.path('kill.raw.journal'), 'rb') as f:
                return f.read().count(b'\np ')
        except OSError:
            return 0

    def kill(self, launcher, options, depth):
        """Kills a process at that depth below the one started (0: itself), when some points are done. Its exit code."""
        for name in os.listdir(self.folder):
            if name.startswith('kill.'):
                os.remove(self.path(name))
        p = self.start(launcher, options, 'kill')
        while p.poll() is None:
            level = [p.pid]
            for _ in range(depth):
                level = [c for x in level for c in children(x)]
            if level and self.done() >= min(4, self.args.samples // 4):
                os.kill(level[-1], signal.SIGKILL)
                break
            time.sleep(0.002)
        p.communicate(timeout=3000)
        return p.returncode


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('vsim')
    ap.add_argument('--samples', type=int, default=200)
    ap.add_argument('--stop', default='900p')
    ap.add_argument('--repeat', type=int, default=1)
    args = ap.parse_args()
    found = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'ihp', 'models'))
    if not found:
        print('the IHP kit is not in', PEERS)
        return 77
    have_mpi = shutil.which('mpirun') and os.path.exists(os.path.join(os.path.dirname(os.path.abspath(args.vsim)), 'src/rank/libvsim-mpi.so'))
    ways = [('one process', 'one', [], []), ('--jobs 2', 'jobs', [], ['--jobs', '2'])]
    if have_mpi:
        ways += [('mpirun -n 2', 'two', ['mpirun', '-n', '2'], []), ('mpirun -n 4', 'four', ['mpirun', '-n', '4'], [])]
    with tempfile.TemporaryDirectory(prefix='vsim-mc') as folder:
        b = Bench(args, found[0], folder)
        b.finish(b.start([], [], 'warm', 'warm.sp'))  # compiles the models
        times, halves = {}, []
        for _ in range(args.repeat):
            halves.append(b.halves())
            for what, tag, launcher, options in ways:
                times.setdefault(what, []).append(b.timed(launcher, options, tag))
                b.expect_same(what, tag)
        print('%d samples; clock s, processor s, clock of one process over it' % args.samples)
        mid = {w: [statistics.median(x) for x in zip(*t)] for w, t in times.items()}
        for what, (clock, cpu) in mid.items():
            print('%-14s %8.2f %8.2f %6.2f' % (what, clock, cpu, mid['one process'][0] / clock))
        print('two processes with half the samples each: %.2f s, %.2f: the bound of this machine' %
              (statistics.median(halves), mid['one process'][0] / statistics.median(halves)))
        kills = [('a worker', [], ['--jobs', '2'], 1, 0), ('the run', [], ['--jobs', '2'], 0, -9)]
        if have_mpi:
            kills += [('a worker of a rank', ['mpirun', '-n', '4'], [], 3, 0), ('a rank', ['mpirun', '-n', '4'], [], 1, 137)]
        for what, launcher, options, depth, code in kills:
            got = b.kill(launcher, options, depth)
            if got != code:
                sys.exit('%s killed: exit code %d' % (what, got))
            left = b.done()
            if code:
                b.finish(b.start([], ['--jobs', '2', '--resume'], 'kill'))
            b.expect_same(what, 'kill')
            print('kill -9 of %s: exit code %d%s, same bytes' % (what, got, ', resumed after %d points' % left if code else ''))
    return 0


if __name__ == '__main__':
    sys.exit(main())
