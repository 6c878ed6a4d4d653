#!/usr/bin/env python3
"""Sizes an operational amplifier of two stages: least power with a given gain, bandwidth and phase
margin, by a quasi-Newton method whose gradients come from .sens ac and .sens tran
(docs/analyses.md).

    opamp_size.py [--vsim PROGRAM] [--gain DB] [--bandwidth HZ] [--margin DEGREES] [--differences]

Five widths, the compensation's capacitor and the bias current are moved. The cost is log(power), and
30 times the square of what lacks of each aim: in nepers of the bandwidth and of the gain, in radians
of the margin. With --differences the same method takes a run for each parameter instead."""
import argparse
import math

from sizing import Deck, minimise

DECK = """operational amplifier of two stages, PSP103
.include "MODELS"
.param w1=%(w1).17g w3=%(w3).17g w5=%(w5).17g w6=%(w6).17g w7=%(w7).17g
.param cc=%(cc).17g ib=%(ib).17g
vdd vdd 0 1.5
vip ip 0 0.8 ac 1
* feedback at dc alone
lf out in 1e6
cf in 0 1
ib vdd nb {ib}
x8 nb nb 0 0 nmos w=4u l=0.4u
x5 t nb 0 0 nmos w={w5} l=0.4u
x1 a in t 0 nmos w={w1} l=0.3u
x2 b ip t 0 nmos w={w1} l=0.3u
x3 a a vdd vdd pmos w={w3} l=0.4u
x4 b a vdd vdd pmos w={w3} l=0.4u
x6 out b vdd vdd pmos w={w6} l=0.2u
x7 out nb 0 0 nmos w={w7} l=0.4u
rz b z 3k
cc z out {cc}
cl out 0 1p
.option reltol=1e-6
.ac dec 50 1k 3g
.meas ac gain find vdb(out) at=1k
.meas ac gbw when vdb(out)=0
.meas ac phase find vp(out) when vdb(out)=0
* the operating point's power
.tran 1n 2n
.meas tran power find par('-1.5*i(vdd)') at=0
%(card)s.end
"""
START = {'w1': 8e-6, 'w3': 4e-6, 'w5': 8e-6, 'w6': 20e-6, 'w7': 20e-6, 'cc': 400e-15, 'ib': 20e-6}
NEPER = 20 / math.log(10)  # dB


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    a.add_argument('--vsim', default='vsim')
    a.add_argument('--gain', type=float, default=57)
    a.add_argument('--bandwidth', type=float, default=100e6)
    a.add_argument('--margin', type=float, default=60)
    a.add_argument('--steps', type=int, default=40)
    a.add_argument('--differences', action='store_true')
    o = a.parse_args()
    amp = Deck(o.vsim, DECK, list(START), ['.sens ac gain gbw phase', '.sens tran power'])

    def lacks(out):
        """{measure: (what lacks, its derivative by the measure)}"""
        gain, gbw, phase = (out[m][m] for m in ('gain', 'gbw', 'phase'))
        return {'gain': (max(0, (o.gain - gain) / NEPER), -1 / NEPER),
                'gbw': (max(0, math.log(o.bandwidth / gbw)), -1 / gbw),
                'phase': (max(0, math.radians(o.margin) - math.pi - phase), -1)}

    def cost_of(out):
        return math.log(out['power']['power']) + 30 * sum(v * v for v, _ in lacks(out).values())

    def cost(x):
        if o.differences:
            return amp.by_differences(x, cost_of)
        out = amp.run(x)
        weight = {m: 60 * v * d for m, (v, d) in lacks(out).items()}
        weight['power'] = 1 / out['power']['power']
        return cost_of(out), amp.by_logarithms(x, out, weight), out

    x, out = minimise(cost, [math.log(v) for v in START.values()], o.steps)
    margin = 180 + math.degrees(out['phase']['phase'])
    print(' '.join(f'{n}={math.exp(v):.4g}' for n, v in zip(START, x)))
    print(f"gain={out['gain']['gain']:.4g} gbw={out['gbw']['gbw']:.4g} margin={margin:.4g} "
          f"power={out['power']['power']:.4g}")
    if o.differences:
        print(f'runs={amp.runs}')
    else:
        print(f'runs={amp.runs}, by differences {amp.runs * (1 + len(x))}')


if __name__ == '__main__':
    main()
