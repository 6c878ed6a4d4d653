"""Random cards of MOS 9 for mos_cards.py, parameters around those of a 2 um process.

Left out: conductances, where ngspice's derivatives of MOS 3 and MOS 9 are not the slopes of its currents
(docs/models/basic.md)."""
from mos_cards import Card
from mos_cards_bsim3 import near, rounding

BASE = {'vto': 0.8, 'tox': 4e-8, 'nsub': 2e16, 'u0': 600, 'theta': 0.06, 'ld': 1e-7, 'cgso': 2e-10, 'cgdo': 2.5e-10,
        'cgbo': 1e-10, 'cj': 1e-4, 'cjsw': 3e-10, 'mj': 0.5, 'mjsw': 0.33, 'pb': 0.8, 'is': 1e-15}
EXTRA = {'vmax': 1.5e5, 'eta': 0.6, 'kappa': 0.3, 'delta': 0.8, 'xj': 2e-7, 'nfs': 2e11, 'xl': 1e-7, 'wd': 1e-7, 'xw': 2e-7,
         'delvto': 0.05, 'gamma': 0.6, 'phi': 0.7, 'kp': 4e-5, 'tnom': 30, 'rsh': 20}


def card(rng, number):
    polarity = 1 if number % 2 else -1
    m = {k: near(rng, v) for k, v in BASE.items()}
    m['vto'] *= polarity
    for k, v in EXTRA.items():
        if rng.random() < 0.5:
            m[k] = near(rng, v)
    inst = {'w': near(rng, 10e-6), 'l': near(rng, rng.choice([2e-6, 5e-6])), 'ad': 4e-11, 'as': 5e-11, 'pd': 3e-5, 'ps': 4e-5,
            'nrd': 1, 'nrs': 1}
    if rng.random() < 0.3:
        inst['m'] = rng.randint(2, 5)
    return Card(9, 'mos3', m, inst, polarity, near(rng, 27, 1), charges=False, gmin=1e-20, rounding=rounding(m, inst, 0), skip=['n', 'y'] if 'rsh' in m else ['n'], unlike=['real'])
