#!/usr/bin/env python3
"""Random cards of HICUM/L2 (level 8), vsim against ngspice: currents at ten operating points, admittances at six of
them and five frequencies, noise at four; and a pnp of the card, which is the npn turned round (ngspice does not find the
operating points of most pnp cards).

    hicum_cards.py VSIM [--count N] [--first N] [--show]     exit code 77 if ngspice is not installed

Bounds: a current agrees to 1e-6 of itself and 1e-15 A (more below SMALL, where ngspice weighs the charge of low currents otherwise);
an admittance to 1e-5 of the largest of its transistor; a noise density to 1e-5 of itself. Left out, because ngspice differs
there from its own equations (docs/models/hicum2.md): a substrate transistor with the temperature laws of version 2.1; a
barrier together with current spreading; admittances and noise of currents so small that it does not iterate (below SMALL), and
with an internal base resistance, whose derivatives it leaves out; noise with self-heating, for which it takes the temperature
around."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mos_cards import Failed, arguments, column, solve  # noqa: E402

BOUND = {'i': 1e-6, 'y': 1e-5, 'n': 1e-5, 'p': 1e-6}
QUIET = 1e-17
# around these, +- 15 %
BASE = {'c10': 9e-30, 'qp0': 1e-13, 'ibeis': 1.3e-19, 'mbei': 1.03, 'ibcis': 4.6e-17, 'mbci': 1.15, 'cjei0': 8.9e-15, 'vdei': 0.75,
        'zei': 0.25, 'ajei': 1.65, 'cjep0': 2.2e-15, 'vdep': 0.85, 'zep': 0.26, 'ajep': 1.6, 'cjci0': 3.6e-15, 'vdci': 0.8,
        'zci': 0.29, 'cjcx0': 6.3e-15, 'vdcx': 0.8, 'zcx': 0.29, 't0': 2.1e-13, 'rci0': 9.5, 'vlim': 0.7, 'vces': 0.02,
        'hjei': 1.5, 'hjci': 0.4}
GROUPS = [{'ireis': 1.5e-15, 'mrei': 2}, {'ibeps': 1.3e-19, 'mbep': 1.04, 'ireps': 1.8e-15, 'mrep': 1.8}, {'mcf': 1.01},
          {'ibcxs': 2e-17, 'mbcx': 1.1}, {'ibets': 0.02, 'abet': 24}, {'favl': 19, 'qavl': 5e-14}, {'favl': 15, 'qavl': 6e-14, 'kavl': 0.5},
          {'rbi0': 4.4, 'fgeo': 0.74}, {'rbi0': 6, 'fdqr0': 0.2, 'fqi': 0.9, 'fcrbi': 0.2}, {'rbx': 2.6}, {'re': 1.5}, {'rcx': 2.5},
          {'iscs': 4.6e-15, 'msc': 1.02}, {'rsu': 500, 'csu': 6e-14}, {'cjs0': 2.6e-14, 'vds': 0.9, 'zs': 0.4}, {'cscp0': 1.4e-14},
          {'vptci': 2.5}, {'vptcx': 2.5}, {'dt0h': 8e-14, 'tbvl': 8e-14}, {'tef0': 3e-13, 'gtfe': 3.5}, {'thcs': 5e-12, 'fthc': 0.7, 'ahc': 0.05},
          {'vpt': 2, 'aick': 2e-3, 'delck': 1.8}, {'tr': 1e-11}, {'cbepar': 2.6e-14, 'fbepar': 0.6}, {'cbcpar': 1.6e-14, 'fbcpar': 0.3},
          {'kf': 1e-12, 'af': 1.5}, {'kfre': 1e-10, 're': 1.2}, {'ich': 0.05}, {'ahjei': 3, 'rhjei': 2},
          {'alt0': 0.004, 'kt0': 6e-5, 'zetaci': 0.6, 'alvs': 0.001, 'alces': -0.002}, {'zetarbi': 0.3, 'zetarbx': 0.06, 'zetarcx': -0.03, 'zetare': -0.9},
          {'vgb': 1.1, 'vge': 1.15, 'vgc': 1.14, 'vgs': 1.05, 'zetact': 4, 'zetabet': 4.5}, {'dvgbe': 0.02, 'zetahjei': -0.5, 'zetavgbe': 0.7},
          {'alfav': -0.002, 'alqav': -6e-4, 'alkav': 1e-3, 'alb': 1e-3}]
SPREAD = [{'latb': 3, 'latl': 0.5}, {'latb': 0.5, 'latl': 2}, {'latl': 0.7}]
# vbe, vce, vsc
BIAS = [(0.45, 1, 0), (0.7, 1, -1), (0.8, 1.5, 0), (0.88, 0.3, -2), (0.95, 1, 0), (1.0, 2, 0), (0.85, 0.05, 0), (0.1, -0.8, 0),
        (-1.5, 0.5, 0), (0.82, 3, -3)]
ACTIVE = [2, 3, 4, 5, 6, 9]
QUIETER = [2, 4, 5, 9]
SMALL = 1e-4  # ampere
PORTS = 'bcs'


def near(rng, value):
    return value * (0.85 + 0.3 * rng.random())


def card_of(rng):
    m = {k: near(rng, v) for k, v in BASE.items()}
    for group in GROUPS:
        if rng.random() < 0.5:
            m.update({k: near(rng, v) for k, v in group.items()})
    m['flcomp'] = rng.choice((0, 2.1, 2.3, 2.4))
    if m['flcomp'] > 2.2:
        m['flnqs'] = rng.choice((0, 1))
        if rng.random() < 0.5:
            m.update(itss=near(rng, 1e-17), msf=near(rng, 1.05), tsf=near(rng, 1e-12))
    if rng.random() < 0.4:
        m.update(hf0=near(rng, 5), hfe=near(rng, 4), hfc=near(rng, 6))
    if 'thcs' in m and rng.random() < 0.4:
        m.update({k: near(rng, v) for k, v in rng.choice(SPREAD).items()})
    elif 'thcs' in m and rng.random() < 0.6:
        m.update(vcbar=near(rng, 0.04), icbar=near(rng, 0.01), acbar=near(rng, 1.5), tbhrec=near(rng, 1e-10))
    m['tunode'] = rng.choice((0, 1))
    m['cfbe'] = rng.choice((-1, -2))
    if rng.random() < 0.3:
        m.update(flsh=rng.choice((1, 2)), rth=near(rng, 100), cth=near(rng, 1e-11), alrth=near(rng, 1e-3), zetarth=near(rng, 0.2))
    return 'npn', m, rng.choice((-40, 27, 27, 85, 125)), ' area=%.4g' % near(rng, 2) if rng.random() < 0.3 and 'ich' not in m else ''


def head(card):
    kind, m, temp, _ = card
    return ['* random card', '.options reltol=1e-9 abstol=1e-18 vntol=1e-12 chgtol=1e-24 gmin=1e-15', '.temp %g' % temp,
            '.model x %s level=8 tnom=27 %s' % (kind, ' '.join('%s=%.9g' % p for p in m.items()))]


def device(card, k, bias, ac=''):
    sign = 1 if card[0] == 'npn' else -1
    vbe, vce, vsc = bias
    if vbe > 0.4:
        vbe += 1.5e-3 * (27 - card[2])
    volts = {'b': vbe, 'c': vce, 's': vsc + vce}
    return (['V%s%d %s%d 0 %.10g%s' % (t, k, t, k, sign * volts[t], ' ac 1' if t == ac else '') for t in PORTS]
            + ['Q%d c%d b%d 0 s%d x%s' % (k, k, k, k, card[3])])


def op_deck(card):
    lines = head(card)
    for k, bias in enumerate(BIAS):
        lines += device(card, k, bias)
    return '\n'.join(lines + ['.op', '.end', ''])


def ac_deck(card):
    lines = head(card)
    for j, t in enumerate(PORTS):
        for k in ACTIVE:
            lines += device(card, 20 * j + k, BIAS[k], t)
    return '\n'.join(lines + ['.ac dec 1 1meg 10g', '.end', ''])


def noise_deck(card):
    lines = head(card)
    for k in QUIETER:
        lines += device(card, k, BIAS[k], 'b')
        lines += ['H%d o%d 0 VC%d 1' % (k, k, k), 'RO%d o%d 0 1k' % (k, k), '.noise v(o%d) VB%d dec 1 1k 1g' % (k, k)]
    return '\n'.join(lines + ['.end', ''])


def worst_of(pairs, scale):
    worst = (0.0, '')
    for a, b, name in pairs:
        error = abs(a - b) / scale(a, b, name) if a != b else 0.0
        if not error <= worst[0]:
            worst = (error, '%s: %r against %r' % (name, a, b))
    return worst


def check(args, card, folder):
    def both(deck):
        return (solve(args.vsim, folder, deck, True), solve('ngspice', folder, deck, False, 10))
    result = {}
    # below the current from which ngspice iterates it weighs the charge by 1, 1e-5 of the hole charge
    low = 1e-5 * max(1.0, card[1].get('hf0', 1.0))
    a, b = (p[0] for p in both(op_deck(card)))
    names = ['i(v%s%d)' % (t, k) for k in range(len(BIAS)) for t in PORTS]
    pairs = [(column(a, n)[0], column(b, n)[0], n) for n in names]
    top = {k: max(abs(y) for _, y, n in pairs if n[4:-1] == str(k)) for k in range(len(BIAS))}
    result['i'] = worst_of(pairs, lambda x, y, n: max(abs(x), abs(y)) * (low / BOUND['i'] if top[int(n[4:-1])] < SMALL else 1)
                           + 1e-15 / BOUND['i'] + 1e-9 * top[int(n[4:-1])])
    p = solve(args.vsim, folder, op_deck(('pnp', *card[1:])), True)[0]
    result['p'] = worst_of([(column(a, n)[0], -column(p, n)[0], n) for n in names],
                           lambda x, y, n: abs(x) + 1e-12 * top[int(n[4:-1])] + 1e-18)
    if 'rbi0' not in card[1]:
        a, b = (p[0] for p in both(ac_deck(card)))
        slack = 20 if 'vptci' in card[1] else 1  # ngspice's capacitance of punch-through is not quite the charge's slope
        worst = (0.0, '')
        for k in (k for k in ACTIVE if top[k] > SMALL):
            for f in range(5):
                pairs = [(column(a, n)[f], column(b, n)[f], 'bias %d, frequency %d, i%s by v%s' % (k, f, t, e))
                         for j, e in enumerate(PORTS) for t in PORTS for n in ['i(v%s%d)' % (t, 20 * j + k)]]
                top_y = max(abs(y) for _, y, _ in pairs)
                worst = max(worst, worst_of(pairs, lambda x, y, n: top_y * slack))
        result['y'] = worst
        if 'flsh' not in card[1]:
            a, b = ([p['onoise_spectrum'] for p in plots if 'onoise_spectrum' in p] for plots in both(noise_deck(card)))
            b.reverse()  # ngspice runs the cards of an analysis from the last to the first
            result['n'] = worst_of([(x, y, 'noise at bias %d, point %d' % (k, j)) for i, k in enumerate(QUIETER)
                                    for j, (x, y) in enumerate(zip(a[i], b[i])) if top[k] > SMALL], lambda x, y, n: abs(y) + QUIET)
    return result


def main():
    args = arguments(12)
    if not shutil.which('ngspice'):
        return 77
    bad, over, refused = 0, {}, 0
    for number in range(args.first, args.first + args.count):
        card = card_of(random.Random(number))
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = check(args, card, folder)
            except (Failed, subprocess.TimeoutExpired) as e:
                if re.match(r"ngspice|Command '\['ngspice'", str(e)):
                    refused += 1
                    print('card %d: %s' % (number, str(e)[:200]))
                    continue
                print('card %d: %s' % (number, e))
                bad += 1
                continue
        wrong = {k: v for k, v in result.items() if not v[0] <= BOUND[k]}
        if wrong or args.show:
            print('card %d: %s' % (number, '; '.join('%s %.1e (%s)' % (k, v[0], v[1]) for k, v in result.items())))
        if wrong:
            print('  ' + head(card)[-1] + card[3] + ' temp %g' % card[2])
        bad += bool(wrong)
        for k, v in result.items():
            over[k] = max(over.get(k, 0.0), v[0])
        sys.stdout.flush()
    print('%d cards, %d outside, %d that ngspice does not solve; worst %s'
          % (args.count, bad, refused, ', '.join('%s %.1e' % x for x in sorted(over.items()))))
    return 1 if bad or refused > args.count // 4 else 0


if __name__ == '__main__':
    sys.exit(main())
