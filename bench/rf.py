#!/usr/bin/env python3
"""Radio-frequency designs on the kits IHP SG13G2 and, `sky130_...`, SKY130 (bench/rf): what the
periodic analyses give, and the processor time and memory that they take.

    rf.py VSIM [NAME...]     exit code 77 if a kit is not in $VSIM_PEERS (./bootstrap test)

NAME: a deck's name without its ending; all if none is given. Each deck runs twice, the first time to
fill the cache of compiled models. The loop gains of `pll` and `sky130_pll` take the gain of the
oscillators of `ring` and `sky130_ring` from two runs at other supplies."""
import argparse
import glob
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'cli'))
from rawfile import read_raw  # noqa: E402


class Run:
    """One run: plots, measures, seconds of processor time, MB."""

    def __init__(self, bench, name, option=()):
        raw = os.path.join(bench.folder, 'out.raw')
        command = [bench.vsim, '--cache-dir', os.path.join(bench.folder, 'cache'), '-r', raw, *option,
                   os.path.join(ROOT, 'bench', 'rf', name + '.sp')]
        env = dict(os.environ, PDK=kit_of(name))
        env.pop('VSIM_CACHE_DIR', None)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.run(command, cwd=bench.folder, env=env, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if p.returncode:
            raise SystemExit('%s:\n%s' % (' '.join(command), p.stdout[-3000:]))
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.megabytes = re.search(r'peak memory ([\d.]+ \w+)', p.stdout).group(1)
        self.plots = read_raw(raw)
        self.measure = {m[0]: float(m[1]) for m in
                        re.findall(r'(?m)^(\w+) +=  *(-?[\d.]+e[-+]\d+)', p.stdout)}

    def plot(self, name):
        return next({k.lower(): v for k, v in p[1].items()} for p in self.plots
                    if p[0].startswith(name))


def kit_of(name):
    """The folder that a deck calls $PDK, or None."""
    parts = ('sky130', 'src') if name.startswith('sky130_') else ('ihp', 'models')
    found = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', *parts))
    return found[0] if found else None


class Bench:
    def __init__(self, vsim, folder):
        self.vsim, self.folder = os.path.abspath(vsim), folder

    def run(self, name, option=()):
        return Run(self, name, option)


def real(x):
    return x.real if isinstance(x, complex) else x


def near(axis, x):
    return min(range(len(axis)), key=lambda i: abs(real(axis[i]) - x))


def offsets(run):
    """Phase noise at decades of the offset, and the frequency."""
    noise, orbit = run.plot('Phase Noise'), run.plot('Oscillator')
    axis = noise['frequency']
    text = ', '.join('%.1f at %s' % (real(noise['phnoise'][near(axis, f)]), name) for f, name in
                     ((1e3, '1 kHz'), (1e6, '1 MHz'), (1e8, '100 MHz')))
    return '%.4g GHz; %s dBc/Hz' % (real(orbit['frequency0'][0]) / 1e9, text)


def mixer(run):
    p = run.plot('Periodic SP')
    k = near(p['frequency'], 100e6)
    return 'power gain %.2f dB, NF %.2f, NFdsb %.2f dB' % (
        20 * math.log10(abs(p['s_2_1'][k])), real(p['nf'][k]), real(p['nfdsb'][k]))


def intercept(run):
    m = run.measure
    return 'IIP3 %.2f dBm; third-order product %.1f dB below' % (m['iip3_dbm'], m['wanted'] - m['im3'])


def amplifier(run):
    m = run.measure
    return '%.2f mW of %.2f mW, %.1f %%' % (m['pout'] * 1e3, m['pdc'] * 1e3, m['efficiency'] * 100)


def filtered(run):
    """The source is a constant: what the switches' charges make of it."""
    state = run.plot('Periodic Steady State')
    out, given = [real(v) for v in state['v(n32)'][:-1]], real(state['v(n0)'][0])
    return '32 poles add %.1f mV to %.1f V' % ((sum(out) / len(out) - given) * 1e3, given)


def margins(run):
    m = run.plot('Stability Margins')
    return 'unity gain at %.3g MHz, phase margin %.2f degrees' % (
        real(m['phase_margin_freq'][0]) / 1e6, real(m['phase_margin'][0]))


def supply_gain(bench, name):
    """What a volt of the supply adds to the frequency of the ring of a kit."""
    deck, supply = ('sky130_ring', 1.8) if name.startswith('sky130_') else ('ring', 1.2)
    f = [real(bench.run(deck, ['-D', 'supply=%.17g' % v]).plot('Oscillator')['frequency0'][0])
         for v in (supply - 0.01, supply + 0.01)]
    return (f[1] - f[0]) / 0.02


WHAT = {'vco': offsets, 'ring': offsets, 'gilbert': mixer, 'gilbert_ip3': intercept,
        'classe': amplifier, 'scfilter': filtered, 'pll': margins, 'sky130_vco': offsets,
        'sky130_ring': offsets, 'sky130_gilbert': mixer, 'sky130_gilbert_ip3': intercept,
        'sky130_classe': amplifier, 'sky130_scfilter': filtered, 'sky130_pll': margins}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('vsim')
    ap.add_argument('name', nargs='*', choices=[[], *WHAT])
    args = ap.parse_args()
    for name in args.name or WHAT:
        if not kit_of(name):
            print('the kit of %s is not in %s' % (name, PEERS))
            return 77
    print('| deck | processor time | memory | results |\n|---|---|---|---|')
    with tempfile.TemporaryDirectory(prefix='vsim-rf') as folder:
        bench = Bench(args.vsim, folder)
        for name in args.name or WHAT:
            option = ['-D', 'kvco=%.17g' % supply_gain(bench, name)] if name.endswith('pll') else []
            bench.run(name, option)
            run = bench.run(name, option)
            print('| `%s` | %.2f s | %s | %s |' % (name, run.seconds, run.megabytes, WHAT[name](run)))
            sys.stdout.flush()
    return 0


if __name__ == '__main__':
    sys.exit(main())
