"""Random cards of BSIM1 for mos_cards.py, parameters around those of a 1 um process.

Left out, because ngspice's derivatives are not the slopes of its currents and charges (docs/models/bsim1.md)."""
from mos_cards import Card
from mos_cards_bsim3 import near, rounding

BASE = {'vfb': -0.9, 'phi': 0.75, 'k1': 0.9, 'k2': 0.08, 'eta': 0.02, 'x2e': -0.003, 'x3e': 0.001, 'muz': 550,
        'x2mz': 10, 'mus': 620, 'x2ms': 5, 'x3ms': 8, 'u0': 0.08, 'x2u0': -0.002, 'u1': 0.12, 'x2u1': -0.004,
        'x3u1': 0.003, 'n0': 1.3, 'nb': 0.05, 'nd': 0.01, 'tox': 0.025, 'dl': 0.1, 'dw': 0.2, 'cgso': 2e-10,
        'cgdo': 2.5e-10, 'cgbo': 1e-10, 'js': 1e-4, 'cj': 1e-4, 'cjsw': 3e-10, 'mj': 0.5, 'mjsw': 0.33, 'pb': 0.8,
        'pbsw': 0.7}
SIZED = ['vfb', 'phi', 'k1', 'k2', 'eta', 'x2e', 'x3e', 'x2mz', 'mus', 'x2ms', 'x3ms', 'u0', 'x2u0', 'u1', 'x2u1',
         'x3u1', 'n0', 'nb', 'nd']


def card(rng, number):
    polarity = 1 if number % 2 else -1
    m = {k: near(rng, v) for k, v in BASE.items()}
    m['vdd'] = 5
    if number // 2 % 2:
        m['xpart'] = 1  # in ngspice a flag, 1 with any value
    for k in SIZED:
        if rng.random() < 0.5:
            m['l' + k], m['w' + k] = near(rng, 0.05 * m[k], 1), near(rng, 0.05 * m[k], 1)
    if rng.random() < 0.2:
        m['n0'] = 200.0
    if rng.random() < 0.5:
        m['rsh'] = near(rng, 30)
    inst = {'w': near(rng, 10e-6), 'l': near(rng, rng.choice([1e-6, 5e-6])), 'ad': 4e-11, 'as': 5e-11, 'pd': 3e-5, 'ps': 4e-5}
    if rng.random() < 0.3:
        inst['m'] = rng.randint(2, 5)
    inst.update(nrd=1, nrs=1)
    unlike = {t + e + k for k in '34' for t in ('dgsb' if 'rsh' in m else 'ds') for e in 'gdb'} | {t + e + '5' for t in 'dgsb' for e in 'gdb'}
    unlike |= {t + e + '0' for t in 'dgsb' for e in ('gdb' if 'rsh' in m else 'd')}
    return Card(4, 'bsim1', m, inst, polarity, near(rng, 27, 1), charges=False, gmin=1e-20,
                rounding=rounding(m, inst, 0), unlike=unlike, skip=['n'])
