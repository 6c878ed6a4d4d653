#!/usr/bin/env python3
"""Random model cards of transistors, vsim against ngspice: currents, charges, admittances, noise.

    mos_cards.py VSIM MODEL [--count N] [--first N] [--show]     exit code 77 if ngspice is not installed

MODEL is a file tests/model/mos_cards_MODEL.py with card(rng): parameters of a random valid card that switches the
model's flags, instance parameters, and names of what is not compared (docs/models/MODEL.md tells why). Each card is
four transistors: deep subthreshold to strong inversion in the linear region, in saturation with body bias, with drain
and source exchanged, and with a forward body; an n or a p channel at a random temperature.

Bounds: a current above 1e-12 A agrees to 1e-6 of itself; a charge to 1e-5 of the largest of its sweep; an admittance to
1e-5 of the largest entry of the matrix of its transistor; a noise density to 1e-5. --count: cards (12), --first: number
of the first one, which is the seed of its random numbers; --show prints the worst of each card."""
import argparse
import copy
import importlib
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

FLOOR = 1e-12       # ampere
QUIET = 1e-17       # ampere per root hertz: thermal noise of 170 teraohm
BOUND = {'i': 1e-6, 'q': 1e-5, 'y': 1e-5, 'n': 1e-5}
BIAS = [(0.05, 0.0), (2.0, -1.0), (-1.2, -2.0), (1.5, 0.35)]  # vds, vbs
PORTS = 'dgsb'


class Card:
    """What a model's generator returns."""
    def __init__(self, level, module, model, instance, polarity=1, temp=27.0, skip=(), charges=True,
                 rounding=0.0, unlike=(), freq=1e6, loose=None, abstol=1e-18, theirs=None, gmin=1e-15):
        self.level, self.module, self.model, self.instance = level, module, model, instance
        self.polarity, self.temp, self.skip, self.charges = polarity, temp, set(skip), charges
        self.rounding = rounding      # ampere, siemens: of a series resistance, eps V / R in either program
        self.freq, self.abstol, self.gmin = freq, abstol, gmin
        self.theirs = theirs          # instance parameters for ngspice, where it needs others
        self.bound = dict(BOUND, **(loose or {}))
        self.unlike = set(unlike)     # admittances, as 'gb' or 'gb5' (bias 5), or 'real', where ngspice's is no slope of its own charge or current


def text(params):
    return ' '.join('%s=%s' % (k, v if isinstance(v, str) else '%.15g' % v if k == 'mulu0' else '%.9g' % v) for k, v in params.items())


def model_line(card):
    kind = 'nmos' if card.polarity > 0 else 'pmos'
    return '.model x %s level=%d %s' % (kind, card.level, text(card.model))


def head(card):
    return ['* random card', '.options reltol=1e-9 abstol=%g vntol=1e-12 chgtol=1e-22 gmin=%g' % (card.abstol, card.gmin),
            '.temp %g' % card.temp]


def device(card, k, vds, vbs, vg, ac=''):
    """Transistor k with sources of its own; the drain's current also as a voltage, for noise."""
    p = card.polarity
    source = ['VD%d d%d 0 %g' % (k, k, p * vds), 'VB%d b%d 0 %g' % (k, k, p * vbs), 'VS%d s%d 0 0' % (k, k)]
    source += ['VG%d g%d %s' % (k, k, 'gg 0' if vg is None else '0 %g' % (p * vg))]
    source = [s + (' ac 1' if s[1].lower() == ac else '') for s in source]
    return source + ['M%d d%d g%d s%d b%d x %s' % (k, k, k, k, k, text(card.instance))]


def dc_deck(card):
    deck = head(card) + [model_line(card), 'VGG gg 0 0']
    for k, (vds, vbs) in enumerate(BIAS):
        deck += device(card, k, vds, vbs, None)
    p = card.polarity
    save = ['i(v%s%d)' % (t, k) for k in range(len(BIAS)) for t in PORTS]
    if card.charges:
        save += ['@m%d[q%s]' % (k, t) for k in range(len(BIAS)) for t in 'gdb']
    return '\n'.join(deck + ['.save ' + ' '.join(save), '.dc VGG %g %g %g' % (-1.5 * p, 3.0 * p, 0.1875 * p), '.end', ''])


GATES = [(0, 1.2), (1, 0.3), (1, 1.8), (2, 0.9), (2, -0.8), (3, 1.0)]  # bias, vgs


def ac_deck(card):
    """Transistor 10 t + k: bias k, excited at terminal t of gate, drain, bulk."""
    deck = head(card) + [model_line(card)]
    copies = [(10 * t + k, at, vg, e) for t, e in enumerate('gdb') for k, (at, vg) in enumerate(GATES)]
    for k, at, vg, e in copies:
        deck += device(card, k, BIAS[at][0], BIAS[at][1], vg, e)
    return '\n'.join(deck + ['.save ' + ' '.join('i(v%s%d)' % (t, k) for k, *_ in copies for t in PORTS),
                             '.ac lin 1 %g %g' % (card.freq, card.freq), '.end', ''])


def noise_deck(card):
    deck = head(card) + [model_line(card)]
    for k, (at, vg) in enumerate(GATES):
        deck += device(card, k, BIAS[at][0], BIAS[at][1], vg, 'g')
        deck += ['H%d o%d 0 VD%d 1' % (k, k, k), 'RO%d o%d 0 1k' % (k, k), '.noise v(o%d) VG%d dec 1 1k 1meg' % (k, k)]
    return '\n'.join(deck + ['.end', ''])


class Failed(Exception):
    pass


def solve(command, folder, deck, ours, limit=300):
    name = os.path.join(folder, 'ours' if ours else 'theirs')
    with open(name + '.sp', 'w') as f:
        f.write(deck)
    if os.path.exists(name + '.raw'):
        os.remove(name + '.raw')
    extra = ['-q'] if ours else ['-b']
    done = subprocess.run([command] + extra + ['-r', name + '.raw', name + '.sp'], cwd=folder, timeout=limit,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or not os.path.exists(name + '.raw'):
        raise Failed('%s: exit code %d\n%s\n%s' % (command, done.returncode, done.stdout[-1500:], deck))
    return read_raw(name + '.raw')


def read_raw(path):
    """All plots of a binary raw file: dictionaries of lists, real or complex."""
    with open(path, 'rb') as f:
        data = f.read()
    plots = []
    while data.strip():
        head, _, rest = data.partition(b'Binary:\n')
        lines = head.decode().split('\n')
        field = {k.strip(): v.strip() for k, v in (x.split(':', 1) for x in lines if ':' in x)}
        n, points = int(field['No. Variables']), int(field['No. Points'])
        at = next(i for i, x in enumerate(lines) if x.startswith('Variables:')) + 1
        names = [x.split()[1].lower() for x in lines[at:at + n]]
        wide = 2 if 'complex' in field['Flags'] else 1
        values = struct.unpack('<%dd' % (n * points * wide), rest[:8 * n * points * wide])
        if wide == 2:
            values = [complex(*x) for x in zip(values[::2], values[1::2])]
        plots.append({name: list(values[i::n]) for i, name in enumerate(names)})
        data = rest[8 * n * points * wide:]
    return plots


def column(plot, name):
    for n in (name, name + '#branch', 'i(%s)' % name):
        if n in plot:
            return plot[n]
    raise Failed('no vector %s: %s' % (name, ' '.join(sorted(plot))))


def worst_of(pairs, scale_of):
    """Largest error of (ours, theirs, name) over what it is measured against."""
    worst = (0.0, '')
    for a, b, name in pairs:
        scale = scale_of(a, b)
        error = abs(a - b) / scale if scale else 0.0
        if not error <= worst[0]:
            worst = (error, '%s: %r against %r' % (name, a, b))
    return worst


def compare_dc(ours, theirs, card):
    result = {}
    pairs = [(a, b, 'i%s of transistor %d, point %d' % (t, k, j)) for k in range(len(BIAS)) for t in PORTS
             for j, (a, b) in enumerate(zip(column(ours, 'i(v%s%d)' % (t, k)), column(theirs, 'i(v%s%d)' % (t, k))))]
    result['i'] = worst_of(pairs, lambda a, b: max(abs(a), abs(b)) + card.rounding / BOUND['i'] if max(abs(a), abs(b)) > FLOOR else 0)
    if card.charges:
        result['q'] = (0.0, '')
        for k in range(len(BIAS)):
            for t in 'gdb':
                name = '@m%d[q%s]' % (k, t)
                a, b = ours[name], theirs[name]
                top = max(map(abs, b))
                result['q'] = max(result['q'], worst_of(
                    [(x, y, '%s, point %d' % (name, j)) for j, (x, y) in enumerate(zip(a, b))], lambda x, y: top))
    return result


def compare_ac(ours, theirs, card):
    """Admittances of each transistor: currents into the terminals by the voltages of gate, drain and bulk."""
    worst = (0.0, '')
    for k in range(len(GATES)):
        entry = [(t, e, 'i(v%s%d)' % (t, 10 * j + k)) for t in PORTS for j, e in enumerate('gdb')
                 if not {t + e, t + e + str(k)} & card.unlike]
        for part in {'real', 'imag'} - card.unlike if entry else ():
            pairs = [(getattr(column(ours, n)[0], part), getattr(column(theirs, n)[0], part),
                      '%s of i%s by v%s at bias %d' % (part, t, e, k)) for t, e, n in entry]
            top = max(abs(b) for _, b, _ in pairs)
            floor = card.rounding / BOUND['y'] if part == 'real' else 0
            worst = max(worst, worst_of(pairs, lambda a, b: top + floor))
    return {'y': worst}


def check(args, card, folder):
    """Worst errors by kind."""
    result = {}
    other = copy.copy(card)
    other.instance = dict(card.instance, **(card.theirs or {}))
    both = lambda make: (solve(args.vsim, folder, make(card), True), solve('ngspice', folder, make(other), False))  # noqa: E731
    if 'dc' not in card.skip:
        result.update(compare_dc(*(p[0] for p in both(dc_deck)), card))
    if 'y' not in card.skip:
        result.update(compare_ac(*(p[0] for p in both(ac_deck)), card))
    if 'n' not in card.skip:
        a, b = ([p['onoise_spectrum'] for p in plots if 'onoise_spectrum' in p] for plots in both(noise_deck))
        b.reverse()  # ngspice runs the cards of an analysis from the last to the first
        result['n'] = worst_of([(x, y, 'noise at bias %d, point %d' % (k, j)) for k in range(len(GATES))
                                if 'n%d' % k not in card.unlike for j, (x, y) in enumerate(zip(a[k], b[k]))],
                               lambda x, y: abs(y) if abs(y) > QUIET else 0)
    return result


def arguments(count, **other):
    """Of a program for `count` random cards: vsim, others with what argparse is told of them, which cards."""
    parser = argparse.ArgumentParser()
    parser.add_argument('vsim')
    for name, how in other.items():
        parser.add_argument(name, **how)
    parser.add_argument('--count', type=int, default=count)
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--show', action='store_true')
    args = parser.parse_args()
    args.vsim = os.path.abspath(args.vsim)
    return args


def main():
    args = arguments(12, model={})
    if not shutil.which('ngspice'):
        return 77
    card_of = importlib.import_module('mos_cards_' + args.model).card
    bad, over = 0, {}
    for number in range(args.first, args.first + args.count):
        card = card_of(random.Random(number), number)
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = check(args, card, folder)
            except Failed as e:
                print('card %d: %s' % (number, e))
                bad += 1
                continue
        wrong = {k: v for k, v in result.items() if k not in card.skip and not v[0] <= card.bound[k]}
        if wrong or args.show:
            print('card %d: %s' % (number, '; '.join('%s %.1e (%s)' % (k, v[0], v[1]) for k, v in result.items())))
        if wrong:
            print('  ' + model_line(card) + '\n  ' + text(card.instance) + ' temp %g' % card.temp)
        bad += bool(wrong)
        for k, v in result.items():
            if k not in card.skip and card.bound[k] == BOUND[k]:
                over[k] = max(over.get(k, 0.0), v[0])
        sys.stdout.flush()
    print('%d cards, %d outside; worst %s' % (args.count, bad, ', '.join('%s %.1e' % x for x in sorted(over.items()))))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
