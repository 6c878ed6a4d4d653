#!/usr/bin/env python3
"""Random cards of MESA (levels 2, 3, 4), HFET1 (5) and HFET2 (6), vsim against ngspice: currents of gate, drain and
source over gate and drain voltages, capacitances at 1 MHz.

    gaas_cards.py VSIM [--count N] [--level L]     exit code 77 if ngspice is not installed

Bounds: a current above 1e-12 A agrees to 1e-6 of itself, a capacitance current to 1e-6 of the largest of its analysis.
Left out, because ngspice differs there from its own equations (docs/models/gaas.md): conductances, and capacitances
behind resistances therefore; drain and source exchanged. Each card is five transistors: sweeps of the gate in the linear region and in saturation, of the
drain with an open channel and below threshold, of the gate into forward direction."""
import argparse
import os
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pdk'))
import kit  # noqa: E402

# around these, +- 15 %
MESA = {'vto': -1.26, 'lambda': 0.045, 'vs': 1.5e5, 'eta': 1.73, 'mu': 0.23, 'delta': 5, 'sigma0': 0.08, 'vsigma': 0.1,
        'vsigmat': 1.0, 'm': 2.5, 'mc': 3, 'n': 1.2, 'ggr': 40, 'del': 0.04, 'phib': 0.6, 'astar': 4e4}
MESA_EXTRA = {'tvto': 1e-3, 'tlambda': 1000, 'teta0': 800, 'xtm0': 0.5, 'phib1': 1e-4, 'ag': 0.1, 'tc': 0.2,
              'rsi': 10, 'rdi': 12, 'ks': 0.1, 'vsg': 0.1, 'xchi': 0.02}
HFET = {'vto': 0.15, 'lambda': 0.15, 'mu': 0.4, 'vs': 1.5e5, 'eta': 1.3, 'di': 4e-8, 'deltad': 4.5e-9, 'delta': 3, 'm': 2.8,
        'mc': 3, 'gamma': 3, 'sigma0': 0.05, 'vsigma': 0.1, 'vsigmat': 0.3, 'nmax': 1.2e16, 'ggr': 40, 'del': 0.04, 'd1': 3e-8,
        'eta1': 2}
HFET_EXTRA = {'rsi': 10, 'rdi': 12, 'klambda': 1e-4, 'kmu': 1e-4, 'kvto': 1e-3, 'p': 0.8, 'vt1': 0.9}
HFET1_EXTRA = {'cds': 1e-15, 'a1': 0.2, 'a2': 0.1, 'phib': 0.6, 'talpha': 1000, 'mt1': 3.5, 'mt2': 8, 'ck1': 1.1, 'cm1': 2.8,
               'cm2': 0.1, 'js1d': 1.2, 'js2s': 1e6}
LEVEL = {2: {'beta': 0.008, 'nd': 2e23, 'd': 1.2e-7, 'theta': 0.02, 'alpha': 0.2, 'zeta': 1},
         3: {'beta': 0.008, 'du': 3.5e-8, 'ndu': 1e22, 'th': 1e-8, 'ndelta': 6e24},
         4: {'d': 1.2e-7, 'nmax': 1.5e16, 'gamma': 3, 'cas': 1.2, 'cbs': 0.9},
         5: {}, 6: {'cf': 1e-15, 'js': 1e-3, 'n': 2, 'knmax': 1e13}}
SERIES = {'rs': 20, 'rd': 25}


def near(rng, value):
    return value * (0.85 + 0.3 * rng.random())


def card_of(rng, level):
    m = {k: near(rng, v) for k, v in dict(MESA if level < 5 else HFET, **LEVEL[level]).items()}
    extra = MESA_EXTRA if level < 5 else dict(HFET_EXTRA, **(HFET1_EXTRA if level == 5 else {}))
    m.update({k: near(rng, v) for k, v in extra.items() if rng.random() < 0.4})
    if rng.random() < 0.4:
        m.update({k: near(rng, v) for k, v in SERIES.items()})
    if level == 5 and rng.random() < 0.5:
        m['gatemod'] = 1
    if level in (5, 6) and rng.random() < 0.4:
        m.update(eta2=near(rng, 2), d2=near(rng, 2e-7), vt2=near(rng, 0.1))
    return m


def deck_of(rng, level, number):
    m = card_of(rng, level)
    kind = 'nmf' if number % 2 else 'nhfet'
    text = ' '.join('%s=%s' % (k, v if isinstance(v, str) else '%.9g' % v) for k, v in m.items())
    deck = kit.Deck('gaas', '.model x %s level=%d %s\n.temp %g' % (kind, level, text, near(rng, 27)))
    low, high = (m['vto'] - 0.6, m['vto'] + 1.5) if level < 5 else (m['vto'] - 0.6, m['vto'] + 0.8)
    size = 'l=%.6gu w=%.6gu' % (near(rng, 1), near(rng, 20)) + (' m=2' if rng.random() < 0.3 else '')
    sweeps = [((high - low, low), (0, 0.1)), ((high - low, low), (0, 2)), ((0, m['vto'] + 0.5), (2.5, 0.01)),
              ((0, m['vto'] - 0.3), (2.5, 0.01)), ((0.7, 0), (0, 0.05))]
    for k, (gate, drain) in enumerate(sweeps):
        deck.place('level %d, card %d, sweep %d' % (level, number, k), 'z {d} {g} {s} x ' + size,
                   {'d': drain, 'g': gate, 's': (0, 0)})
    return deck, text


def only_imaginary(plots):
    """Of a small-signal analysis what flows through capacitances."""
    return [(name, {v: [x.imag if isinstance(x, complex) else x for x in values] for v, values in p.items()})
            for name, p in plots]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('vsim')
    parser.add_argument('--count', type=int, default=6)
    parser.add_argument('--level', type=int)
    args = parser.parse_args()
    if not shutil.which('ngspice'):
        return 77
    bad, worst = 0, (0.0, '')
    for level in [args.level] if args.level else sorted(LEVEL):
        for number in range(1, args.count + 1):
            deck, text = deck_of(random.Random(100 * level + number), level, number)
            deck.analyses = ['.dc vs 0 1 0.05'] + ['.ac lin 1 1meg 1meg'] * (not re.search('gatemod|rs=', text))
            with tempfile.TemporaryDirectory() as folder:
                bench = kit.Bench(args.vsim, folder)
                try:
                    mine, theirs = (only_imaginary(p) for p in bench.both('gaas', deck.text()))
                    worst = max(worst, kit.compare(deck, mine, theirs, lambda plot, label: 1e-6,
                                                   lambda plot, vector: 1e-17 if plot.startswith('AC') else 2e-15, least=1e-12))
                except kit.Failed as e:
                    print('level %d, card %d: %s\n  %s' % (level, number, str(e)[:900], text))
                    bad += 1
    print('%d outside; worst %.1e %s' % (bad, *worst))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
