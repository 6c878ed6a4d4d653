#!/usr/bin/env python3
"""Jitter and spectrum of oscillators over many transient noise runs, beside `.phasenoise`: of an LC
oscillator, a ring of level-1 transistors and the ring of bench/rf (SG13G2, PSP 103, 1/f noise).

    oscillator_noise.py VSIM [RUNS [NAME...]]     200 runs of each if not said; NAME: LC ring kit

All runs of an oscillator are one deck, `.mc RUNS` with `.trannoise`, whose noise has 32 or 64
samples a period: its density is right to 1 % at the first harmonic. Of each run PERIODS are looked
at.

Jitter: the variance of the time t of k periods, in n pieces that do not overlap. White noise makes
c t of it, with the diffusion c of the projection on the orbit; it is known to sqrt(2/n) of itself.
With 1/f noise that depends on the lowest frequency of a run. Half of the mean square of the
difference of neighbouring pieces (Allan's variance) does not: with the phase noise L it is 16/w^2
times the integral of L sin^4(pi f t), of which white noise makes c t too. Its error is that of the
mean of the runs by their scatter.

Spectrum: the squared magnitude of the run's Fourier sum behind a Hann window, at offsets of k of
its bins, beside `phnoise`. Each is distributed exponentially, and every second bin is nearly
independent of the next: the mean of n is known to sqrt((1 + 2/36)/n) of itself. The window sees
the mean of the density over its lobe, of a variance of 1/3 bins^2: 1 + 1/k^2 of one that falls with
1/f^2.

`off` is the difference in errors."""

import math
import operator
import os
import statistics
import sys
import tempfile
from collections import namedtuple

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path[:0] = [os.path.join(ROOT, 'tests', 'pdk'), os.path.join(ROOT, 'tests', 'cli')]
import kit  # noqa: E402
import oscillators  # noqa: E402

LC, RING = oscillators.LC, oscillators.RING + 'ik 0 a pulse(0 50u 0 10p 10p 200p)\n'
LAGS = (25, 50, 100)
BANDS = (range(8, 15, 2), range(16, 25, 2), range(26, 41, 2))  # bins of the spectrum
LINE = 6  # bins on each side of the carrier that its line may have
FIRST, PERIODS = 50, 200  # of a run: periods before, periods
# tone, level of the crossings, scale of the noise, samples of a period, reltol of the runs; 1/f
# noise
Case = namedtuple('Case', 'tone level scale samples reltol flicker')
CASES = {
    'LC': Case(5e9, 0, 300, 64, 1e-6, False),
    'ring': Case(1e9, 0.9, 10, 64, 1e-6, False),
    'kit': Case(5e9, 0.6, 10, 32, 1e-4, True),
}
Orbit = namedtuple('Orbit', 'f0 c frequency noise ppv')


def circuit_of(name):
    if name != 'kit':
        return LC if name == 'LC' else RING
    with open(os.path.join(ROOT, 'bench', 'rf', 'ring.sp')) as f:
        analyses = ('.hbosc', '.phasenoise', '.end\n')
        return ''.join(x for x in list(f)[1:] if not x.startswith(analyses))


def orbit(vsim, folder, name, grid):
    """The orbit's numbers, and its phase noise on a grid."""
    text = 'orbit\n%s.options reltol=1e-6\n.hbosc tone=%g nharms=31 probenode=a tstab=40n\n' % (
        circuit_of(name), CASES[name].tone)
    plots = kit.plots_of(vsim, folder, text + '.phasenoise v(a) %s\n.end\n' % grid)
    o = next(p for n, p in plots if n.startswith('Oscillator'))
    p = next(p for n, p in plots if n.startswith('Phase Noise'))
    return Orbit(o['frequency0'][0], o['diffusion'][0], p['frequency'], p['phnoise'],
                 p['phnoise_ppv'])


def runs_of(vsim, folder, name, f0, n):
    """Samples of v(a) of each run."""
    case = CASES[name]
    text = 'runs\n%s.options reltol=%g interp=1\n.save v(a)\n' % (circuit_of(name), case.reltol)
    text += '.trannoise fmax=%.17g scale=%g seed=5\n' % (case.samples / 2 * f0, case.scale)
    step = 1 / (case.samples * f0)
    text += '.tran %.17g %.17g 0 %.17g\n' % (step, (FIRST + PERIODS + 10) / f0, step)
    return [p['v(a)'] for _, p in kit.plots_of(vsim, folder, text + '.mc %d seed=5\n.end\n' % n)]


def crossings(v, level):
    """Where it rises through the level, in samples."""
    return [k - 1 + (level - a) / (b - a) for k, (a, b) in enumerate(zip(v, v[1:]), 1)
            if a < level <= b]


def show(name, what, got, want, ratio, error):
    print('| %s | %s | %s | %s | %.3f | %.3f | %.1f |' % (
        name, what, got, want, ratio, error, (ratio - 1) / error), flush=True)


def allan(o, t):
    """c t, and what the rest of the phase noise, between the points of a grid, adds to it."""
    rest = [(10**(level / 10) - o.f0**2 * o.c / f**2) * math.sin(math.pi * f * t)**4
            for f, level in zip(o.frequency, o.ppv)]
    area = sum((a + b) / 2 * (g - f)
               for f, g, a, b in zip(o.frequency, o.frequency[1:], rest, rest[1:]))
    return o.c * t + 16 / (2 * math.pi * o.f0)**2 * area


def jitter(name, runs, o):
    case = CASES[name]
    ticks = case.samples * o.f0
    time = [[t / ticks for t in crossings(v, case.level)[FIRST : FIRST + PERIODS + 1]]
            for v in runs]
    for k in LAGS:
        piece = [[b - a for a, b in zip(t[::k], t[k::k])] for t in time]
        if case.flicker:
            each = [statistics.mean((b - a)**2 / 2 for a, b in zip(p, p[1:])) for p in piece]
            got, want = statistics.mean(each), case.scale**2 * allan(o, k / o.f0)
            error = statistics.stdev(each) / math.sqrt(len(each)) / got
        else:
            every = [x for p in piece for x in p]
            got, want = statistics.variance(every), case.scale**2 * o.c * k / o.f0
            error = math.sqrt(2 / len(every))
        what = '%d periods, %s' % (k, 'Allan' if case.flicker else 'variance')
        show(name, what, '%.3e s^2' % got, '%.3e' % want, got / want, error)


def waves(samples, k):
    """Real and imaginary part of the windowed wave k bins beside the carrier."""
    n = PERIODS * samples
    w = [0.5 - 0.5 * math.cos(2 * math.pi * i / n) for i in range(n)]
    at = 2 * math.pi * (PERIODS + k) / n
    return ([x * math.cos(at * i) for i, x in enumerate(w)],
            [x * math.sin(at * i) for i, x in enumerate(w)])


def powers(runs, samples, k):
    """Of each run, k bins beside the carrier."""
    wave, first, n = waves(samples, k), FIRST * samples, PERIODS * samples
    cut = [v[first : first + n] for v in runs]
    return [sum(sum(map(operator.mul, v, w))**2 for w in wave) for v in cut]


def spectrum(name, runs, o):
    """o: with the phase noise at bins from 1. A line of amplitude A gives (A n/4)^2, and 1.5 times
    that in all bins together, also where noise makes it wide; noise of the density S gives 3/16 n S
    times the samples of a second; n samples are PERIODS periods."""
    case = CASES[name]
    line = [powers(runs, case.samples, k) for k in range(-LINE, LINE + 1)]
    carrier = sum(statistics.mean(p) for p in line) / 1.5
    to_density = 2 / 3 * PERIODS / o.f0 / carrier
    for band in BANDS:
        ratio = []
        for k in band:
            want = case.scale**2 * 10**(o.noise[k - 1] / 10) * (1 + 1 / k**2)
            ratio += [p * to_density / want for p in powers(runs, case.samples, k)]
        mean, middle = statistics.mean(ratio), band[len(band) // 2]
        level = 20 * math.log10(case.scale) + o.noise[middle - 1]
        what = '%.0f to %.0f MHz' % tuple(k * o.f0 / PERIODS / 1e6 for k in (band[0], band[-1]))
        show(name, what, '%.2f dBc/Hz' % (level + 10 * math.log10(mean)), '%.2f' % level, mean,
             math.sqrt((1 + 2 / 36) / len(ratio)))


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    vsim, runs = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ['200'])[0])
    found = kit.package('ihp', 'models')
    if found:
        os.environ['PDK'] = os.path.abspath(found)
    print('| oscillator | what | runs | `.phasenoise` | ratio | its error | off |')
    print('|---|---|---|---|---|---|---|')
    for name in sys.argv[3:] or [c for c in CASES if found or c != 'kit']:
        with tempfile.TemporaryDirectory(prefix='vsim-jitter') as folder:
            wide = orbit(vsim, folder, name, 'dec 40 100k 1g')
            bin_, last = wide.f0 / PERIODS, BANDS[-1][-1]
            bins = orbit(vsim, folder, name, 'lin %d %.17g %.17g' % (last, bin_, last * bin_))
            all_runs = runs_of(vsim, folder, name, wide.f0, runs)
        jitter(name, all_runs, wide)
        spectrum(name, all_runs, bins)
    return 0


if __name__ == '__main__':
    sys.exit(main())
