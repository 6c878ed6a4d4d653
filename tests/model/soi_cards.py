#!/usr/bin/env python3
"""Random cards of BSIM3SOI (PD, DD, FD) and BSIMSOI 4, vsim against ngspice: currents, admittances, noise, transients.

    soi_cards.py VSIM MODEL [--count N] [--first N] [--show]     exit code 77 if ngspice is not installed

MODEL is bsim3soipd, bsim3soidd, bsim3soifd or bsim4soi (soi_cards_4.py). Each card is transistors with a body contact
and with a floating body, in the linear region, in saturation, with a forward body, with drain and source exchanged; an n or a p channel at a random
temperature, one in four heating itself. ngspice 39 connects the fifth node of PD to nothing, so that there a contact is
the seventh of seven (docs/models/bsim3soi.md).

Bounds: a current above 1e-12 A agrees to 1e-6 of itself; an admittance to 1e-5 of the largest entry of the matrix of its
transistor, a noise density to 1e-5, and the currents of a sinusoidal drive to 1e-2 of the largest, which is what 1000
steps a period leave of corners (DD and FD, whose slopes by the body's voltage are not those of their charges: drive
5e-2, noise of DD 1e-3). Where ngspice's ac is no slope of its own currents or charges (docs/models/bsim3soi.md, bsim4soi.md),
admittances are compared with differences of its transient instead, to 1e-5, or 1e-3 where it solves that at a reltol of
1e-6 of voltages only, 3 % of a step. Conductances at rest of heated BSIMSOI 4, and of those whose body is a network,
agree to 1e-5 of the largest with differences of ngspice's sweeps. What ngspice does not solve within 10 s of processor time
is left out, at most a quarter of its runs."""
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import soi_cards_4
from mos_cards import Failed, arguments, column, read_raw, text, worst_of
from mos_cards_bsim3 import near
from soi_cards_4 import GATES

PATIENCE = 10       # s of the processor
FLOOR = 1e-12       # ampere
QUIET = 1e-17       # ampere per root hertz
BOUND = {'i': 1e-6, 'y': 1e-5, 's': 1e-5, 'n': 1e-5, 'r': 0, 't': 1e-2}
BOUND_FD = {'i': 1e-6, 'y': 1e-5, 's': 1e-5, 'n': 1e-5, 'r': 0, 't': 5e-2}
BOUND_DD = dict(BOUND_FD, s=1e-3, n=1e-3)   # reltol there is 1e-6 of voltages, 3 % of a step
# vds, vbs (None: floating), ves
BIAS = [(0.05, 0.0, 0.0), (1.4, -0.4, -1.0), (-0.9, -1.2, 0.6), (1.1, 0.35, 0.0), (1.4, None, 0.0), (0.15, None, -1.0),
        (-1.1, None, 0.5)]
SAME = 6
# The body of DD conducts nothing into a contact below its least voltage
BIAS_DD = [(0.05, 0.0, 0.0), (1.4, 0.2, -1.0), (-0.9, -0.7, 0.6), (1.1, 0.35, 0.0), (0.6, 0.1, 0.3), (0.15, 0.4, -1.0),
           (-1.1, -0.9, 0.5)]
LEVEL = {'bsim3soipd': 57, 'bsim3soidd': 56, 'bsim3soifd': 55}

BASE = {'tox': 4.5e-9, 'tbox': 8e-8, 'nch': 4e17, 'k1': 0.5, 'k2': 0.05, 'k3': 2, 'k3b': 1, 'w0': 1e-6, 'nlx': 1e-7,
        'dvt0': 1.5, 'dvt1': 0.5, 'dvt2': -0.05, 'ua': 1.2e-9, 'ub': 1.5e-18, 'vsat': 1e5, 'a0': 1.1, 'ags': 0.2,
        'voff': -0.12, 'nfactor': 0.9, 'cdsc': 2e-4, 'cdscb': 1e-5, 'cdscd': 1e-5, 'cit': 1e-4, 'eta0': 0.05,
        'etab': -0.03, 'dsub': 0.4, 'pclm': 1.5, 'pdiblc1': 0.2, 'pdiblc2': 0.004, 'pdiblcb': -0.05, 'drout': 0.4,
        'pvag': 0.5, 'delta': 0.01, 'kt1': -0.2, 'kt1l': 1e-9, 'kt2': 0.02, 'ute': -1.4, 'ua1': 3e-9, 'ub1': -5e-18,
        'at': 2e4, 'lint': 1e-8, 'wint': 1e-8, 'cgdo': 1.5e-10, 'cgso': 1.2e-10, 'cgeo': 1e-11, 'cjswg': 4e-10,
        'mjswg': 0.5, 'pbswg': 0.8, 'tt': 3e-11, 'clc': 1e-7, 'cle': 0.6, 'ckappa': 0.6, 'cgsl': 1e-10, 'cgdl': 1.5e-10,
        'ndiode': 1.1, 'csdesw': 1e-12, 'asd': 0.3, 'kb1': 0.95}
EXTRA = {'rdsw': 300, 'prwg': 0.05, 'prwb': -0.05, 'prt': 50, 'wr': 0.95, 'dwg': 2e-9, 'dwb': 3e-9, 'b0': 5e-8, 'b1': 1e-7,
         'a1': 0.05, 'a2': 0.9, 'dvt0w': 0.3, 'dvt1w': 4e6, 'dvt2w': -0.04, 'ngate': 6e19, 'll': 1e-15, 'lw': 2e-15,
         'lwl': 1e-22, 'wl': 1e-15, 'ww': 1.5e-15, 'wwl': 1e-22, 'dlc': 2e-8, 'dwc': 1e-8, 'cf': 1e-10, 'tnom': 30, 'rsh': 5,
         'em': 3e7, 'ef': 1.05, 'af': 1.1, 'noif': 1.2, 'kf': 1e-28, 'csdmin': 2e-5, 'vsdfb': -0.5, 'vsdth': 0.6,
         'xj': 6e-8}
OWN = {
    'bsim3soipd': ({'tsi': 1e-7, 'nsub': 6e16, 'keta': -0.1, 'ketas': 0.1, 'isbjt': 2e-5, 'isdif': 1e-5, 'isrec': 4e-3,
                    'istun': 2e-6, 'ntun': 14, 'nrecf0': 2.2, 'nrecr0': 5, 'vrec0': 1.1, 'vtun0': 0.9, 'ntrecf': 0.1,
                    'ntrecr': 0.2, 'xbjt': 0.9, 'xrec': 0.9, 'ln': 2e-6, 'lbjt0': 2e-7, 'nbjt': 0.8, 'vabjt': 8,
                    'aely': 1e7, 'alpha0': 1e-8, 'beta1': 0.05, 'beta2': 0.07, 'vdsatii0': 0.8},
                   {'k1w1': 1e-8, 'k1w2': 1e-8, 'ahli': 1e-12, 'beta0': 0.01, 'sii1': 0.2, 'sii2': 0.1, 'siid': 0.1,
                    'tii': 0.1, 'lii': 1e-9, 'fbjtii': 0.2, 'agidl': 1e-12, 'bgidl': 1e9, 'ngidl': 1.0, 'xdif': 1.1,
                    'xtun': 0.5, 'tcjswg': 5e-4, 'tpbswg': 1e-3, 'fbody': 0.9, 'dlcb': 1e-8, 'dlbg': 1e-8, 'delvt': 0.02,
                    'acde': 0.8, 'moin': 14, 'dtoxcv': 2e-10, 'llc': 2e-15, 'wlc': 2e-15, 'wth0': 1e-7, 'rhalo': 1e10,
                    'rbody': 50, 'rbsh': 10, 'ldif0': 0.9, 'ndif': -0.9}),
    'bsim3soidd': ({'tsi': 5e-8, 'nsub': 1e15, 'keta': -0.3, 'isbjt': 2e-6, 'isdif': 1e-6, 'isrec': 1e-5, 'ntun': 14,
                    'edl': 5e-7, 'kbjt1': 1e-8, 'alpha1': 1.5, 'beta0': 20.5, 'dvbd0': 6, 'dvbd1': 1.1, 'kb3': 1.2,
                    'delp': 0.02, 'abp': 0.9, 'mxc': 0.8, 'adice0': 0.9},
                   {'istun': 1e-6, 'alpha0': 1e-8, 'aii': 1.2, 'bii': 1e-8, 'cii': 0.8, 'dii': 0.6, 'agidl': 1e-12,
                    'bgidl': 1e9, 'ngidl': 1.0, 'vbsa': -0.05, 'xrec': 2})}  # xdif: ngspice takes it for xbjt
OWN['bsim3soifd'] = OWN['bsim3soidd']
BINNED = ['vth0', 'u0', 'k2', 'ua', 'vsat', 'a0', 'voff', 'eta0', 'pclm', 'keta', 'isrec', 'ndiode', 'kb1']


class Card:
    def __init__(self, rng, number, name):
        self.name, self.level = name, LEVEL[name]
        self.contacts = name != 'bsim3soifd'
        self.bottomless = name != 'bsim3soipd'  # ngspice's ac leaves the charge below out
        self.bound = {'bsim3soipd': BOUND, 'bsim3soidd': BOUND_DD, 'bsim3soifd': BOUND_FD}[name]
        self.bias = BIAS_DD if name == 'bsim3soidd' else BIAS
        self.polarity = 1 if number % 2 else -1
        self.temp = rng.choice([-30, 0, 27, 27, 60, 110])
        m = {'mobmod': 1 + number % 3, 'capmod': rng.choice([2, 3]), 'xpart': rng.choice([0, 0.5, 1]),
             'noimod': rng.randint(1, 4), 'binunit': rng.choice([1, 1, 2]), 'vth0': self.polarity * near(rng, 0.45),
             'u0': near(rng, 0.035 if self.polarity > 0 else 0.012)}
        base, extra = OWN[name]
        for table, chance in ((BASE, 1), (base, 1), (EXTRA, 0.4), (extra, 0.5)):
            m.update({k: near(rng, v) for k, v in table.items() if rng.random() < chance})
        m['uc'] = near(rng, -0.04 if m['mobmod'] == 3 else -4e-11)
        if rng.random() < 0.2:
            m['nsub'] = -m['nsub']
        if name != 'bsim3soipd' and (m['binunit'] != 1 or rng.random() < 0.5):
            m.update({c + k: 0.0 for c in 'lwp' for k in ('kb3', 'dvbd0', 'dvbd1')})  # 1 if not given
        if name == 'bsim3soipd' and rng.random() < 0.4:
            m['igmod'] = 1
            m['toxqm'] = near(rng, 3e-9)
        for k in BINNED:
            if k in m and rng.random() < 0.3:
                for c in 'lwp':
                    scale = 1 if m['binunit'] == 1 else {'l': 1e-6, 'w': 1e-6, 'p': 1e-12}[c]
                    m[c + k] = near(rng, 0.02 * m[k] * scale, 1)
        self.heats = number % (3 if name == 'bsim3soipd' else 5) == 0 and (name == 'bsim3soipd' or self.polarity > 0)
        if self.heats:
            m.update(shmod=1, rth0=near(rng, 0.02), cth0=near(rng, 1e-5))
        self.model = m
        inst = {'w': near(rng, 8e-6), 'l': near(rng, rng.choice([3e-7, 1e-6])), 'ad': 4e-12, 'as': 5e-12, 'pd': 1.2e-5,
                'ps': 1.3e-5, 'nrd': 1, 'nrs': 1.5, 'nrb': 1.2}
        if name == 'bsim3soipd' and rng.random() < 0.4:
            inst.update(nbc=1, nseg=2, pdbcp=1e-7, psbcp=2e-7, agbcp=1e-13, aebcp=2e-13, frbody=1.5)
            m['dwbc'] = near(rng, 1e-8)
        if rng.random() < 0.15:
            inst['bjtoff'] = 1
        self.instance = inst
        # a series resistance has the current of eps V / R of rounding
        self.rounding = 1e-15 / m['rsh'] if 'rsh' in m else 0.0
        # ngspice takes the surface potential at the temperature of the point before: a heated card has each point more often
        self.same = SAME if self.heats else 1

    def contact(self, k, ours):
        """Nodes of transistor k behind the first four, and what they need."""
        if self.name != 'bsim3soipd':
            return ' p%d' % k, []
        return (' p%d b%d' % (k, k) if ours else ' b%d t%d p%d' % (k, k, k)), [] if self.heats else ['RT%d t%d 0 1' % (k, k)]

    def without_reference(self, make, k):
        """docs/models/bsim3soi.md: what heat does there to other than forward direct currents."""
        return self.heats and (make != 'dc' or self.name == 'bsim3soipd' and k not in (4, 5))

    def follows(self, k):
        """Whether bias k is a floating body whose admittances follow from those with a contact."""
        return self.name == 'bsim3soipd' and self.bias[k][1] is None

    def unlike(self, part, t, e, k):
        """Admittances where ngspice's are no slopes of its own currents or charges, or its charge is not conserved."""
        if self.name == 'bsim3soipd':
            return self.bias[k][1] is None or part == 'imag' and ('delvt' in self.model or self.model['capmod'] == 3)
        if self.name == 'bsim3soidd' and part == 'real':
            return 'a1' in self.model or 'a2' in self.model
        if self.name == 'bsim3soidd':
            return set(t + e) & set('ep') or self.model['capmod'] == 3
        return part == 'imag' and (t == 's' or e == 'e' or self.model['capmod'] == 3)

    def unsloped(self, part, t):
        """PD's are left out. The charge of FD's back gate has no counterpart in ngspice: here it is with terminal s."""
        return (self.name != 'bsim3soidd' and (t == 's' or self.name == 'bsim3soipd')
                or part == 'real' and self.model['capmod'] == 3)

    def noise_unlike(self, k):
        return self.follows(k) or 'delvt' in self.model

    def slopes_at_rest(self):
        return False


def head(card, more=''):
    return ['* random card', '.options reltol=1e-8 abstol=1e-19 vntol=1e-12 chgtol=1e-23 gmin=1e-20 itl1=400 itl2=400 ' + more,
            '.temp %g' % card.temp,
            '.model x %s level=%d %s' % ('nmos' if card.polarity > 0 else 'pmos', card.level, text(card.model))]


def device(card, k, bias, vg, ours, ac=''):
    """Transistor k with sources of its own."""
    p = card.polarity
    vds, vbs, ves = card.bias[bias]
    deck = ['VD%d d%d 0 %g' % (k, k, p * vds), 'VE%d e%d 0 %g' % (k, k, p * ves), 'VS%d s%d 0 0' % (k, k),
            'VG%d g%d %s' % (k, k, vg)]
    nodes = 'd%d g%d s%d e%d' % (k, k, k, k)
    if vbs is not None and card.contacts:
        deck.append('VP%d p%d 0 %g' % (k, k, p * vbs))
        more, needs = card.contact(k, ours)
        nodes += more
        deck += needs
    deck = [s + (' ac 1' if ac and s[1].lower() == ac else '') for s in deck]
    instance = dict(card.instance)
    if ac and card.bottomless:
        instance.update({'ad': 0, 'as': 0, 'pd': 0, 'ps': 0})
    return deck + ['M%d %s x %s' % (k, nodes, text(instance))]


def ports(card, bias):
    return 'dgse' + ('p' if card.bias[bias][1] is not None and card.contacts else '')


def save(names):
    return '.save ' + ' '.join('i(v%s)' % n for n in names)


def dc_deck(card, ours, which):
    deck = head(card) + ['VGG gg 0 0', 'VN n 0 0']
    for k in which:
        deck += device(card, k, k, 'gg 0', ours)
    p = card.polarity
    return '\n'.join(deck + [save('%s%d' % (t, k) for k in which for t in ports(card, k)),
                             '.dc %sVGG %g %g %g' % ('VN 0 %d 1 ' % (card.same - 1) if card.same > 1 else '', -0.6 * p, 1.8 * p, 0.15 * p),
                              '.end', ''])


def excited(card, k):
    """The copies of a bias, each excited at one terminal: number, terminal."""
    return [(20 * j + k, e) for j, e in enumerate(ports(card, GATES[k][0]).replace('s', ''))]


def ac_deck(card, ours, which):
    deck = head(card)
    for k in which:
        for copy, e in excited(card, k):
            deck += device(card, copy, GATES[k][0], '0 %g' % (card.polarity * GATES[k][1]), ours, e)
    return '\n'.join(deck + [save('%s%d' % (t, c) for k in which for c, _ in excited(card, k) for t in ports(card, GATES[k][0])),
                             '.ac lin 1 1e7 1e7', '.end', ''])


def noise_deck(card, ours, which):
    deck = head(card)
    for k in which:
        deck += device(card, k, GATES[k][0], '0 %g' % (card.polarity * GATES[k][1]), ours, 'g')
        deck += ['H%d o%d 0 VD%d 1' % (k, k, k), 'RO%d o%d 0 1k' % (k, k), '.noise v(o%d) VG%d dec 1 1k 1meg' % (k, k)]
    return '\n'.join(deck + ['.end', ''])


PERIOD = 1e-9
POINTS = 1000


def tran_deck(card, ours, which):
    p = card.polarity
    deck = head(card)
    deck[1] = '.options reltol=1e-4 abstol=1e-15 vntol=1e-7 chgtol=1e-20 gmin=1e-20 itl1=400 itl4=100 method=gear'
    for k in which:
        deck += device(card, k, k, '0 SIN(%g %g %g)' % (0.6 * p, 0.7 * p, 1 / PERIOD), ours)
    return '\n'.join(deck + [save('%s%d' % (t, k) for k in which for t in ports(card, k)),
                             '.tran %g %g 0 %g' % (PERIOD / POINTS, PERIOD, PERIOD / POINTS), '.end', ''])


def patience():
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))


def solve(command, folder, deck, ours):
    name = os.path.join(folder, 'ours' if ours else 'theirs')
    with open(name + '.sp', 'w') as f:
        f.write(deck)
    if os.path.exists(name + '.raw'):
        os.remove(name + '.raw')
    done = subprocess.run([command, '-q' if ours else '-b', '-r', name + '.raw', name + '.sp'], cwd=folder, text=True,
                          preexec_fn=None if ours else patience, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode or not os.path.exists(name + '.raw'):
        raise Failed('%s: exit code %d\n%s\n%s' % (command, done.returncode, done.stdout[-1500:], deck))
    try:
        return read_raw(name + '.raw')
    except (KeyError, UnicodeDecodeError):  # a run that ngspice gave up, with exit code 0
        raise Failed('%s: no points' % command)


def theirs(args, card, folder, kind, k, length=None):
    """The plots of ngspice for one transistor; None if it does not solve it."""
    if card.without_reference(kind, k):
        return None
    args.asked += 1
    try:
        plots = solve('ngspice', folder, DECK[kind](card, False, [k]), False)
    except Failed:
        plots = []
    if plots and all(math.isfinite(abs(x)) for plot in plots for v in plot.values() for x in v):
        if length is None or len(next(iter(plots[0].values()))) == length:
            return plots
    args.left += 1
    return None


def line(x, y, t):
    """y at t, by straight lines."""
    lo, hi = 0, len(x) - 1
    while hi - lo > 1:
        mid = (lo + hi) // 2
        lo, hi = (mid, hi) if x[mid] <= t else (lo, mid)
    return y[lo] + (y[hi] - y[lo]) * (t - x[lo]) / (x[hi] - x[lo])


def compare_dc(args, card, folder):
    ours = solve(args.vsim, folder, dc_deck(card, True, range(len(BIAS))), True)[0]
    pairs = []
    for k in range(len(BIAS)):
        plots = theirs(args, card, folder, 'dc', k, 17 * card.same)
        for t in ports(card, k).replace('e', '') if plots else '':
            a, b = (column(q, 'i(v%s%d)' % (t, k)) for q in (ours, plots[0]))
            pairs += [(x, y, 'i%s of transistor %d, point %d' % (t, k, j)) for j, (x, y) in enumerate(zip(a, b))
                      if j % card.same == card.same - 1]
    # through rbody flows what the tolerances of the body's voltage are
    floor = (card.rounding + 1e-16) / card.bound['i']
    return worst_of(pairs, lambda a, b: max(abs(a), abs(b)) + floor if max(abs(a), abs(b)) > FLOOR else 0)


def compare_ac(args, card, folder):
    ours = solve(args.vsim, folder, ac_deck(card, True, range(len(GATES))), True)[0]
    worst = (0.0, '')
    for k in range(len(GATES)):
        if card.follows(GATES[k][0]):
            continue
        plots = theirs(args, card, folder, 'ac', k)
        every = [abs(column(plots[0], 'i(v%s%d)' % (t, c))[0]) for c, _ in excited(card, k)
                 for t in ports(card, GATES[k][0])] if plots else [0]
        for part in ('real', 'imag') if plots else ():
            pairs = [(getattr(column(ours, n)[0], part), getattr(column(plots[0], n)[0], part),
                      '%s of i%s by v%s at bias %d' % (part, t, e, k))
                     for c, e in excited(card, k) for t in ports(card, GATES[k][0]) for n in ['i(v%s%d)' % (t, c)]
                     if not card.unlike(part, t, e, GATES[k][0])]
            top = max(every) + card.rounding / card.bound['y']
            worst = max(worst, worst_of(pairs, lambda a, b: top))
    return worst


RAMP = 1e-10        # s, from one end of a triangle to the other
SWING = 5e-3        # V, from its middle
SETTLED = 1e-13     # A: currents of a transient at these tolerances


def ramp_deck(card, _, which):
    """ngspice: each copy of a bias with the voltage of one terminal rising and falling by a triangle."""
    deck = head(card)
    deck[1] += ' itl4=100 method=gear'
    if card.name in ('bsim3soidd', 'bsim4soi'):  # often without a first point else
        deck[1] = deck[1].replace('reltol=1e-8 abstol=1e-19 vntol=1e-12 chgtol=1e-23', 'reltol=1e-6 abstol=1e-16 vntol=1e-9')
    names = []
    for k in which:
        for copy, e in excited(card, k):
            for s in device(card, copy, GATES[k][0], '0 %g' % (card.polarity * GATES[k][1]), False, e):
                if s.endswith(' ac 1'):
                    name, node, ground, at = s[:-5].split()
                    lo, hi = float(at) - SWING, float(at) + SWING
                    s = '%s %s %s PWL(0 %.12g %g %.12g %g %.12g)' % (name, node, ground, lo, RAMP, hi, 2 * RAMP, lo)
                deck.append(s)
            names += ['%s%d' % (t, copy) for t in ports(card, GATES[k][0])]
    return '\n'.join(deck + [save(names), '.tran %g %g 0 %g' % (RAMP / 300, 2 * RAMP, RAMP / 300), '.end', ''])


def slopes(x, y):
    """Conductance and capacitance at a triangle's middle: five-point difference; rising less falling."""
    at = {j: (line(x, y, RAMP * (0.5 + j / 6)) + line(x, y, RAMP * (1.5 - j / 6))) / 2 for j in (-2, -1, 1, 2)}
    step = SWING / 3
    return ((at[-2] - 8 * at[-1] + 8 * at[1] - at[2]) / (12 * step),
            (line(x, y, RAMP * 0.5) - line(x, y, RAMP * 1.5)) / (4 * SWING / RAMP))


def compare_slopes(args, card, folder):
    """Admittances that ngspice's ac has not, by differences of its own transient."""
    ours = solve(args.vsim, folder, ac_deck(card, True, range(len(GATES))), True)[0]
    worst = (0.0, '')
    for k in range(len(GATES)):
        asked = [(part, t, c, e) for part in ('real', 'imag') for c, e in excited(card, k) for t in ports(card, GATES[k][0])
                 if card.unlike(part, t, e, GATES[k][0]) and not card.unsloped(part, t)]
        plots = theirs(args, card, folder, 'ramp', k) if asked else None
        if not plots:
            continue
        have = {(t, c): slopes(plots[0]['time'], column(plots[0], 'i(v%s%d)' % (t, c)))
                for c, _ in excited(card, k) for t in ports(card, GATES[k][0])}
        omega = 2 * math.pi * 1e7
        top = max(math.hypot(g, omega * c) for g, c in have.values())
        for part, t, c, e in asked:
            y, (g, b) = column(ours, 'i(v%s%d)' % (t, c))[0], have[t, c]
            mine, its = (y.real, g) if part == 'real' else (y.imag, omega * b)
            # a difference of currents over SWING / 3 has the tolerance of both
            scale = top + (SETTLED / (SWING / 3) / card.bound['s'] if part == 'real' else 0)
            worst = max(worst, worst_of([(mine, its, '%s of i%s by v%s at bias %d' % (part, t, e, k))], lambda a, b: scale))
    return worst


STEP = 1e-3         # V


def rest_deck(card, ours, which):
    """Each copy of a bias: at rest by ac (vsim), or with the voltage of its terminal swept in steps (ngspice)."""
    deck, names = head(card) + ['VN n 0 0', 'VM m 0 0'], []
    for k in which:
        for copy, e in excited(card, k):
            lines = device(card, copy, GATES[k][0], '0 %g' % (card.polarity * GATES[k][1]), ours, e)
            if not ours:
                lines = [' '.join(s.split()[:2] + ['n', s.split()[3]]) if s.endswith(' ac 1') else s for s in lines]
            deck += lines
            names += ['%s%d' % (t, copy) for t in ports(card, GATES[k][0])]
    sweep = '.dc VM 0 %d 1 VN %g %g %g' % (SAME - 1, -2 * STEP, 2.1 * STEP, STEP)
    return '\n'.join(deck + [save(names), '.ac lin 1 1e-3 1e-3' if ours else sweep, '.end', ''])


def compare_rest(args, card, folder):
    """Conductances at rest where ngspice's own are not slopes of its currents, by differences of those."""
    if not card.slopes_at_rest():
        return (0.0, '')
    worst = (0.0, '')
    for k in range(len(GATES)):
        try:
            b = solve('ngspice', folder, rest_deck(card, False, [k]), False)[0]
        except (Failed, IndexError):
            continue
        if len(next(iter(b.values()))) != 5 * SAME:
            continue
        a = solve(args.vsim, folder, rest_deck(card, True, [k]), True)[0]
        pairs = []
        for c, e in excited(card, k):
            for t in ports(card, GATES[k][0]):
                n = 'i(v%s%d)' % (t, c)
                i = column(b, n)[SAME - 1::SAME]
                pairs.append((column(a, n)[0].real, (i[0] - 8 * i[1] + 8 * i[3] - i[4]) / (12 * STEP),
                              'i%s by v%s at rest, bias %d' % (t, e, k)))
        # a difference of currents over STEP has the tolerance of both
        top = max(abs(x) for _, x, _ in pairs) + card.settled / STEP / card.bound['r']
        worst = max(worst, worst_of(pairs, lambda x, y: top))
    return worst


def compare_noise(args, card, folder):
    ours = solve(args.vsim, folder, noise_deck(card, True, range(len(GATES))), True)
    a = [p['onoise_spectrum'] for p in ours if 'onoise_spectrum' in p]
    worst = (0.0, '')
    for k in range(len(GATES)):
        if card.noise_unlike(GATES[k][0]):
            continue
        plots = theirs(args, card, folder, 'noise', k)
        for b in [p['onoise_spectrum'] for p in plots or [] if 'onoise_spectrum' in p]:
            worst = max(worst, worst_of([(x, y, 'noise at bias %d, point %d' % (k, j)) for j, (x, y) in enumerate(zip(a[k], b))],
                                        lambda x, y: abs(y) if abs(y) > QUIET else 0))
    return worst


def compare_tran(args, card, folder):
    ours = solve(args.vsim, folder, tran_deck(card, True, range(len(BIAS))), True)[0]
    worst = (0.0, '')
    times = [PERIOD * (0.05 + 0.9 * j / 50) for j in range(51)]
    for k in range(len(BIAS)):
        plots = theirs(args, card, folder, 'tran', k)
        for t in ports(card, k).replace('' if card.contacts else 's', '') if plots else '':
            x, a, u, b = ours['time'], column(ours, 'i(v%s%d)' % (t, k)), plots[0]['time'], column(plots[0], 'i(v%s%d)' % (t, k))
            top = max(map(abs, b)) or 1
            worst = max(worst, worst_of([(line(x, a, s), line(u, b, s), 'i%s of transistor %d at %.3g s' % (t, k, s))
                                         for s in times if s < u[-1]], lambda a, b: top))
    return worst


DECK = {'dc': dc_deck, 'ac': ac_deck, 'noise': noise_deck, 'tran': tran_deck, 'ramp': ramp_deck}


def check(args, card, folder):
    return {'i': compare_dc(args, card, folder), 'y': compare_ac(args, card, folder), 's': compare_slopes(args, card, folder), 'n': compare_noise(args, card, folder),
            'r': compare_rest(args, card, folder), 't': compare_tran(args, card, folder)}


def main():
    args = arguments(10, model={'choices': sorted(LEVEL) + ['bsim4soi']})
    if not shutil.which('ngspice'):
        return 77
    bad, over = 0, {}
    args.asked = args.left = 0
    for number in range(args.first, args.first + args.count):
        card = (Card if args.model in LEVEL else soi_cards_4.Card)(random.Random(number), number, args.model)
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = check(args, card, folder)
            except Failed as e:
                print('card %d: %s' % (number, e))
                bad += 1
                continue
        wrong = {k: v for k, v in result.items() if not v[0] <= card.bound[k]}
        if wrong or args.show:
            print('card %d: %s' % (number, '; '.join('%s %.1e (%s)' % (k, v[0], v[1]) for k, v in result.items())))
        if wrong:
            print('  ' + head(card)[3] + '\n  ' + text(card.instance) + ' temp %g' % card.temp)
        bad += bool(wrong)
        for k, v in result.items():
            over[k] = max(over.get(k, 0.0), v[0])
        sys.stdout.flush()
    print('%d cards, %d outside, %d of %d runs not solved by ngspice; worst %s'
          % (args.count, bad, args.left, args.asked, ', '.join('%s %.1e' % x for x in sorted(over.items()))))
    return 1 if bad or 4 * args.left > args.asked else 0


if __name__ == '__main__':
    sys.exit(main())
