#!/usr/bin/env python3
"""Sizes a ring oscillator: least power at a given frequency, by a quasi-Newton method whose gradients
come from .sens tran (docs/analyses.md).

    ring_size.py [--vsim PROGRAM] [--frequency HZ] [--differences]

Widths and supply are moved; the sum of log(power) and of 100 log(frequency / wanted)^2 falls. With
--differences the same method takes a run for each parameter instead, to see what that costs."""
import argparse
import math
import os
import re
import subprocess
import tempfile

DECK = """ring of three inverters, PSP103
.include "MODELS"
.param wn=%(wn).17g wp=%(wp).17g sup=%(sup).17g
.subckt inv in out vdd
xp out in vdd vdd pmos w={wp} l=0.2u
xn out in 0 0 nmos w={wn} l=0.2u
cl out 0 5f
.ends
i1 0 1 pulse(0 20u 10p 10p 10p 20p)
x1 1 2 vdd inv
x2 2 3 vdd inv
x3 3 1 vdd inv
vdd vdd 0 {sup}
.option reltol=1e-5
.tran 1p 1.5n 0 2p
.meas tran t1 when v(1)='sup/2' rise=3
.meas tran t2 when v(1)='sup/2' rise=6
.meas tran f param='3/(t2-t1)'
.meas tran p avg par('-v(vdd)*i(vdd)') from=0.3n
%(card)s
.end
"""
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'netlists',
                      'psp103_models.inc')
NAMES = ['wn', 'wp', 'sup']


class Ring:
    def __init__(self, vsim, wanted, differences):
        self.vsim, self.wanted, self.differences = vsim, wanted, differences
        self.runs = 0
        self.dir = tempfile.TemporaryDirectory()

    def run(self, x, card):
        """{measure: {name: number}} of the plots of gradients, and measures as the run prints them."""
        deck, raw = (os.path.join(self.dir.name, n) for n in ('ring.sp', 'ring.raw'))
        values = {n: math.exp(v) for n, v in zip(NAMES, x)}
        with open(deck, 'w', encoding='utf-8') as f:
            f.write((DECK % {**values, 'card': card}).replace('MODELS', MODELS))
        done = subprocess.run([self.vsim, '-r', raw, '--ascii', deck], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        self.runs += 1
        out = {m: {m: float(v)} for m, v in
               re.findall(r'(?m)^(\w+) +=  (\S+)', done.stdout)}
        with open(raw, encoding='utf-8') as f:
            parts = f.read().split('Title:')[1:]
        for p in parts:
            name = re.search(r'Plotname: Gradient of (\S+)', p)
            if name:
                names = re.findall(r'(?m)^\t\d+\t(\S+)\t\S+$', p)
                numbers = p.split('Values:')[1].split()[1:]
                out[name[1]] = dict(zip(names, map(float, numbers)))
        return out

    def cost_of(self, out):
        return math.log(out['p']['p']) + 100 * math.log(out['f']['f'] / self.wanted) ** 2

    def cost(self, x):
        """The cost and its gradient by the logarithms of the parameters."""
        if self.differences:
            out = self.run(x, '')
            y, h = self.cost_of(out), 1e-2
            return y, [(self.cost_of(self.run([v + h * (i == k) for i, v in enumerate(x)], '')) - y)
                       / h for k in range(len(x))], out
        out = self.run(x, '.sens tran f p param=' + ' '.join(NAMES))
        f, p = out['f'], out['p']
        by_f = 200 * math.log(f['f'] / self.wanted) / f['f']
        return self.cost_of(out), [math.exp(v) * (p[n] / p['p'] + by_f * f[n])
                                   for n, v in zip(NAMES, x)], out


def dot(a, b):
    return sum(u * v for u, v in zip(a, b))


def minimise(cost, x, steps=40, small=2e-2):
    """BFGS with halved steps. Returns the place and what the run there said."""
    n = len(x)
    h = [[0.05 * (i == j) for j in range(n)] for i in range(n)]
    y, g, out = cost(x)
    for _ in range(steps):
        if max(map(abs, g)) < small:
            break
        d = [-dot(row, g) for row in h]
        scale = min(1, 0.3 / max(map(abs, d)))
        for _ in range(8):
            new = [a + scale * b for a, b in zip(x, d)]
            y1, g1, out1 = cost(new)
            if y1 <= y + 1e-4 * scale * dot(d, g):
                break
            scale /= 2
        else:
            break
        s, t = [b - a for a, b in zip(x, new)], [b - a for a, b in zip(g, g1)]
        st = dot(s, t)
        if st > 1e-12:
            ht = [dot(row, t) for row in h]
            k = (1 + dot(t, ht) / st) / st
            h = [[h[i][j] + k * s[i] * s[j] - (ht[i] * s[j] + s[i] * ht[j]) / st
                  for j in range(n)] for i in range(n)]
        x, y, g, out = new, y1, g1, out1
    return x, out


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    a.add_argument('--vsim', default='vsim')
    a.add_argument('--frequency', type=float, default=8e9)
    a.add_argument('--differences', action='store_true')
    o = a.parse_args()
    ring = Ring(o.vsim, o.frequency, o.differences)
    x, out = minimise(ring.cost, [math.log(v) for v in (1e-6, 3e-6, 1.2)])
    print(' '.join(f'{n}={math.exp(v):.4g}' for n, v in zip(NAMES, x)))
    print(f"f={out['f']['f']:.6g} p={out['p']['p']:.6g} runs={ring.runs}")


if __name__ == '__main__':
    main()
