#!/usr/bin/env python3
"""Sizes a ring oscillator: least power at a given frequency, by a quasi-Newton method whose gradients
come from .sens tran (docs/analyses.md).

    ring_size.py [--vsim PROGRAM] [--frequency HZ] [--differences]

Widths and supply are moved; the sum of log(power) and of 100 log(frequency / wanted)^2 falls. With
--differences the same method takes a run for each parameter instead, to see what that costs."""
import argparse
import math

from sizing import Deck, minimise

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
NAMES = ['wn', 'wp', 'sup']


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    a.add_argument('--vsim', default='vsim')
    a.add_argument('--frequency', type=float, default=8e9)
    a.add_argument('--differences', action='store_true')
    o = a.parse_args()
    ring = Deck(o.vsim, DECK, NAMES, ['.sens tran f p'])

    def cost_of(out):
        return math.log(out['p']['p']) + 100 * math.log(out['f']['f'] / o.frequency) ** 2

    def cost(x):
        if o.differences:
            return ring.by_differences(x, cost_of)
        out = ring.run(x)
        f, p = out['f']['f'], out['p']['p']
        weight = {'p': 1 / p, 'f': 200 * math.log(f / o.frequency) / f}
        return cost_of(out), ring.by_logarithms(x, out, weight), out

    x, out = minimise(cost, [math.log(v) for v in (1e-6, 3e-6, 1.2)])
    print(' '.join(f'{n}={math.exp(v):.4g}' for n, v in zip(NAMES, x)))
    print(f"f={out['f']['f']:.6g} p={out['p']['p']:.6g} runs={ring.runs}")


if __name__ == '__main__':
    main()
