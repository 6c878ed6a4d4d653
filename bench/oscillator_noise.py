#!/usr/bin/env python3
"""Jitter of an LC and a ring oscillator over many transient noise runs, beside `.phasenoise`.

    oscillator_noise.py VSIM [RUNS]     200 runs of each if not said

All runs of an oscillator are one deck, `.mc RUNS` with `.trannoise`. The variance of the time that
25, 50 and 100 periods take is c T of it, with the diffusion c of the projection on the orbit. Of n
runs it is known to sqrt(2/n) of itself: `off` is the difference in such errors."""

import math
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path.insert(0, os.path.join(ROOT, 'tests', 'pdk'))
import kit  # noqa: E402

LC = """l1 a 0 1n
c1 a 0 1p
r1 a 0 500
b1 a 0 i=-4m*v(a)+0.2m*v(a)*v(a)*v(a)
ik 0 a pulse(0 1m 0 10p 10p 50p)
"""
RING = """.model n nmos level=1 vto=0.5 kp=200u lambda=0.05 cgso=0.2n cgdo=0.2n
.model p pmos level=1 vto=-0.5 kp=80u lambda=0.05 cgso=0.2n cgdo=0.2n
.subckt inv i o v
m1 o i 0 0 n w=2u l=0.5u
m2 o i v v p w=5u l=0.5u
c1 o 0 20f
.ends
vdd v 0 1.8
x1 a b v inv
x2 b c v inv
x3 c a v inv
ik 0 a pulse(0 50u 0 10p 10p 200p)
"""
LAGS = (25, 50, 100)
# circuit, tone, level of the crossings, periods before the first, step, fmax, scale of the noise
CASES = {
    'LC': (LC, 5e9, 0, 50, 4e-12, 20e9, 300),
    'ring': (RING, 1e9, 0.9, 20, 4e-12, 20e9, 10),
}


def run(vsim, folder, text, *option):
    path = os.path.join(folder, 'deck.sp')
    with open(path, 'w') as f:
        f.write(text)
    p = subprocess.run([vsim, '--no-init', '--threads', '1', *option, path], capture_output=True,
                       text=True, cwd=folder)
    if p.returncode:
        raise SystemExit(p.stderr[-2000:])


def orbit(vsim, folder, circuit, tone):
    """Frequency and diffusion."""
    text = 'orbit\n%s.options reltol=1e-6\n.hbosc tone=%g nharms=31 probenode=a tstab=40n\n'
    text += '.phasenoise v(a) dec 1 1k 1k\n.end\n'
    run(vsim, folder, text % (circuit, tone), '-r', 'orbit.raw')
    plots = kit.read_plots(os.path.join(folder, 'orbit.raw'))
    plot = next(p for n, p in plots if n.startswith('Oscillator'))
    return plot['frequency0'][0], plot['diffusion'][0]


def times(vsim, folder, name, f0, runs):
    """The times of the first crossing and of those LAGS later, of each run."""
    circuit, _, level, first, step, fmax, scale = CASES[name]
    text = 'runs\n%s.options reltol=1e-6\n.trannoise fmax=%g scale=%g seed=5\n' % (
        circuit, fmax, scale)
    text += '.tran %g %.6g 0 %g\n.mc %d seed=5\n' % (step, (first + LAGS[-1] + 20) / f0, step, runs)
    for k in (0, *LAGS):
        text += '.meas tran t%d when v(a)=%g rise=%d\n' % (k, level, first + k)
    run(vsim, folder, text + '.end\n', '--no-output', '--measures', 'table.csv')
    return kit.samples_of(os.path.join(folder, 'table.csv'))


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    vsim, runs = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ['200'])[0])
    print('| oscillator | periods | variance, s^2 | c T of `.phasenoise` | ratio | off |')
    print('|---|---|---|---|---|---|')
    for name, (circuit, tone, *_, scale) in CASES.items():
        with tempfile.TemporaryDirectory(prefix='vsim-jitter') as folder:
            f0, c = orbit(vsim, folder, circuit, tone)
            found = times(vsim, folder, name, f0, runs)
        for k in LAGS:
            lag = [b - a for a, b in zip(found['t0'], found['t%d' % k])]
            got, want = statistics.variance(lag), scale**2 * c * k / f0
            off = (got / want - 1) / math.sqrt(2 / runs)
            print('| %s, %.4g GHz | %d | %.4g | %.4g | %.3f | %.1f |' % (
                name, f0 / 1e9, k, got, want, got / want, off), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
