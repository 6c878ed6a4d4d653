"""Random cards of BSIM2 for mos_cards.py, parameters around those of a 1 um process.

Left out, because ngspice's derivatives are not the slopes of its currents and charges (docs/models/bsim2.md)."""
from mos_cards import Card
from mos_cards_bsim3 import near, rounding

BASE = {'vfb': -0.9, 'phi': 0.75, 'k1': 0.9, 'k2': 0.08, 'eta0': 0.02, 'etab': -0.003, 'mu0': 550, 'mu0b': 10, 'mus0': 620,
        'musb': 5, 'mu20': 1.4, 'mu2b': 0.02, 'mu2g': 0.05, 'mu30': 8, 'mu3b': 0.3, 'mu3g': -0.5, 'mu40': 0.5, 'mu4b': 0.02,
        'mu4g': -0.04, 'ua0': 0.1, 'uab': -0.003, 'ub0': 0.005, 'ubb': 0.0005, 'u10': 0.12, 'u1b': -0.004, 'u1d': 0.3, 'n0': 1.3,
        'nb': 0.3, 'nd': 0.01, 'vof0': 1.8, 'vofb': 0.05, 'vofd': 0.02, 'vghigh': 0.2, 'vglow': -0.15, 'tox': 0.025, 'dl': 0.1,
        'dw': 0.2, 'cgso': 2e-10, 'cgdo': 2.5e-10, 'cgbo': 1e-10, 'js': 1e-4, 'cj': 1e-4, 'cjsw': 3e-10, 'mj': 0.5, 'mjsw': 0.33,
        'pb': 0.8, 'pbsw': 0.7, 'temp': 30}
SIZED = ['vfb', 'phi', 'k1', 'k2', 'eta0', 'etab', 'mu0b', 'mus0', 'musb', 'mu20', 'mu2b', 'mu2g', 'mu30', 'mu3b', 'mu3g', 'mu40',
         'mu4b', 'mu4g', 'ua0', 'uab', 'ub0', 'ubb', 'u10', 'u1b', 'u1d', 'n0', 'nb', 'nd', 'vof0', 'vofb', 'vofd', 'vghigh', 'vglow']


def card(rng, number):
    polarity = 1 if number % 2 else -1
    m = {k: near(rng, v) for k, v in BASE.items()}
    m.update(vdd=5, vgg=5, vbb=-5)
    if rng.random() < 0.5:
        m.update(ai0=near(rng, 0.5), aib=near(rng, 0.02), bi0=near(rng, 10), bib=near(rng, 0.1))
    for k in SIZED:
        if rng.random() < 0.5:
            m['l' + k], m['w' + k] = near(rng, 0.05 * m[k], 1), near(rng, 0.05 * m[k], 1)
    if rng.random() < 0.2:
        m['n0'] = 0
        m.pop('ln0', None)
        m.pop('wn0', None)
    if rng.random() < 0.3:  # the fit ends below the voltages of the test
        m['vdd'], m['vgg'] = 0.7, 1.2
    if rng.random() < 0.5:
        m['rsh'] = near(rng, 30)
    inst = {'w': near(rng, 10e-6), 'l': near(rng, rng.choice([1e-6, 5e-6])), 'ad': 4e-11, 'as': 5e-11, 'pd': 3e-5, 'ps': 4e-5,
            'nrd': 1, 'nrs': 1}
    if rng.random() < 0.3:
        inst['m'] = rng.randint(2, 5)
    unlike = {t + e + k for k in '34' for t in ('dgsb' if 'rsh' in m else 'ds') for e in 'gdb'}
    if m['vdd'] < 5:  # where the fit has ended
        unlike |= {t + e + k for k in '125' for t in 'dgsb' for e in ('gdb' if 'rsh' in m else 'd')}
    unlike |= {t + e + '5' for t in 'dgsb' for e in ('gdb' if 'rsh' in m else 'b')}
    return Card(5, 'bsim2', m, inst, polarity, near(rng, 27, 1), charges=False, gmin=1e-20,
                rounding=rounding(m, inst, 0), unlike=unlike, skip=['n'])
