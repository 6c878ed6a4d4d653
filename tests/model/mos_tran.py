#!/usr/bin/env python3
"""BSIM4's late charge and its networks of gate and body in a transient, vsim against ngspice.

    mos_tran.py VSIM     exit code 77 if ngspice is not installed

A transistor pulls its drain down through a resistor while gate, then body and drain, are pulsed with edges of 20 ps, as fast
as its transit time. Both programs take steps of 0.25 ps at most; each current and the drain's voltage are compared away from
the pulses' corners, where capacitors' currents jump. Halving the step from 0.5 ps moves a curve by up to 1.7e-3 of its range
in either program; by a method of second order a third of that is left in each at 0.25 ps: BOUND. Each mode must also differ
from the transistor without it by ten times that, so that a test of nothing fails."""
import os
import sys
import tempfile

import mos_cards

BOUND = 1.2e-3      # of the range of a curve
CORNERS = 20, 40, 140, 160, 180, 200, 230, 250, 270, 290, 310, 330, 350  # picoseconds: of the pulses
CARD = {'vth0': 0.4, 'u0': 0.03, 'toxe': 3e-9, 'cgso': 2e-10, 'cgdo': 2e-10, 'cjs': 1e-3, 'cjsws': 3e-10, 'pclm': 1.0, 'rshg': 8,
        'xrcrg1': 12, 'xrcrg2': 1, 'rbps0': 400, 'rbpd0': 300, 'rbpbx0': 500, 'rbpby0': 600, 'rbsbx0': 900, 'rbsby0': 800, 'rbdbx0': 700,
        'rbdby0': 900, 'rbpb': 400, 'rbpd': 300, 'rbps': 350, 'rbdb': 500, 'rbsb': 450, 'gbmin': 1e-12}
MODES = [{'trnqsmod': 1}, {'rgatemod': 1}, {'rgatemod': 2}, {'rgatemod': 3}, {'rbodymod': 1}, {'rbodymod': 2},
         {'rgatemod': 3, 'rbodymod': 1}, {'trnqsmod': 1, 'rbodymod': 1}]
DECK = """* transient of networks
.options reltol=1e-5 abstol=1e-13 vntol=1e-8 chgtol=1e-20
.model x {kind} level=54 {card}
m1 d g 0 b x w=20u l={length} ad=8p as=8p pd=21u ps=21u {mode}
rd d dd 300
vd dd 0 {vdd} pulse({vdd} {low} 250p 20p 20p 40p 1)
vg g 0 pulse(0 {vdd} 20p 20p 20p 100p 1)
vb b 0 pulse(0 {body} 180p 20p 20p 30p 1)
.tran 0.25p 400p 0 0.25p
.save v(d) i(vd) i(vg) i(vb)
.end
"""


def deck(mode, polarity, version):
    p = polarity
    card = dict(CARD, version=version, vth0=p * 0.4)
    values = {'kind': 'nmos' if p > 0 else 'pmos', 'card': mos_cards.text(card), 'vdd': 1.5 * p, 'low': 1.0 * p, 'body': -0.6 * p,
              'length': '1u' if 'trnqsmod' in mode else '0.2u', 'mode': mos_cards.text(mode)}
    return DECK.format(**values)


def curves(plot):
    """{name: values at the same times}"""
    t = plot['time']
    times = [(n + 0.5) * 0.5e-12 for n in range(800)]
    times = [x for x in times if all(abs(x - 1e-12 * c) > 1e-12 for c in CORNERS)]  # where capacitors' currents jump
    out = {}
    for name in ('v(d)', 'd', 'vd', 'vg', 'vb'):
        try:
            y = mos_cards.column(plot, name)
        except mos_cards.Failed:
            continue
        k, v = 0, []
        for at in times:
            while t[k + 1] < at:
                k += 1
            v.append(y[k] + (y[k + 1] - y[k]) * (at - t[k]) / (t[k + 1] - t[k]))
        out[name] = v
    return out


def distance(a, b):
    """Largest difference of two sets of curves, in ranges, and whose it is."""
    worst = (0.0, '')
    for name in a.keys() & b.keys():
        span = max(b[name]) - min(b[name])
        worst = max(worst, (max(abs(x - y) for x, y in zip(a[name], b[name])) / span, name))
    return worst


def main():
    vsim, bad = os.path.abspath(sys.argv[1]), 0
    if not mos_cards.shutil.which('ngspice'):
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for k, mode in enumerate(MODES):
            polarity, version = (1, -1)[k % 2], ('4.8.2', '4.5', '4.7')[k % 3]
            text = deck(mode, polarity, version)
            mine = curves(mos_cards.solve(vsim, folder, text, True)[0])
            theirs = curves(mos_cards.solve('ngspice', folder, text, False)[0])
            plain = curves(mos_cards.solve(vsim, folder, deck(dict.fromkeys(mode, 0), polarity, version).replace(
                'l=0.2u', 'l=1u' if 'trnqsmod' in mode else 'l=0.2u'), True)[0])
            error, where = distance(mine, theirs)
            effect, _ = distance(mine, plain)
            wrong = not error <= BOUND or not effect >= 10 * BOUND or len(mine) < 4
            bad += wrong
            print('%-30s version %-6s %.1e of the range of %s, effect %.1e%s' % (
                mos_cards.text(mode), version, error, where, effect, '  WRONG' if wrong else ''))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
