"""Random cards of BSIMSOI 4 for soi_cards.py."""
from mos_cards_bsim3 import near

BOUND = {'i': 1e-6, 'y': 1e-5, 's': 1e-3, 'n': 1e-5, 'r': 1e-5, 't': 1e-2}
GATES = [(0, 0.9), (1, 0.2), (1, 1.3), (2, 0.6), (3, 0.8), (4, 0.25), (4, 1.2), (5, 0.7), (6, 0.5)]  # bias, vgs
BIAS = [(0.05, 0.0, 0.0), (1.4, -0.4, -1.0), (-0.9, -1.2, 0.6), (1.1, 0.35, 0.0), (1.4, None, 0.0), (0.15, None, -1.0),
        (-1.1, None, 0.5)]

BASE = {'tox': 4.5e-9, 'tbox': 8e-8, 'tsi': 8e-8, 'nch': 4e17, 'nsub': 6e16, 'k1': 0.5, 'k2': 0.05, 'k3': 2, 'k3b': 1,
        'w0': 1e-6, 'lpe0': 1e-7, 'lpeb': 2e-8, 'dvt0': 1.5, 'dvt1': 0.5, 'dvt2': -0.05, 'ua': 1.2e-9, 'ub': 1.5e-18,
        'vsat': 1e5, 'a0': 1.1, 'ags': 0.2, 'voff': -0.12, 'nfactor': 0.9, 'cdsc': 2e-4, 'cdscb': 1e-5, 'cdscd': 1e-5,
        'cit': 1e-4, 'eta0': 0.05, 'etab': -0.03, 'dsub': 0.4, 'pclm': 1.5, 'pdiblc1': 0.2, 'pdiblc2': 0.004,
        'pdiblcb': -0.05, 'drout': 0.4, 'pvag': 0.5, 'delta': 0.01, 'kt1': -0.2, 'kt1l': 1e-9, 'kt2': 0.02, 'ute': -1.4,
        'ua1': 3e-9, 'ub1': -5e-18, 'at': 2e4, 'lint': 1e-8, 'wint': 1e-8, 'keta': -0.1, 'ketas': 0.1, 'isbjt': 2e-5,
        'isdif': 1e-5, 'isrec': 4e-3, 'istun': 2e-6, 'ntun': 14, 'nrecf0': 2.2, 'nrecr0': 5, 'vrec0': 1.1, 'vtun0': 0.9,
        'ln': 2e-6, 'lbjt0': 2e-7, 'nbjt': 0.8, 'vabjt': 8, 'cgdo': 1.5e-10, 'cgso': 1.2e-10, 'cgeo': 1e-11, 'cjswg': 4e-10,
        'mjswg': 0.5, 'pbswg': 0.8, 'tt': 3e-11, 'clc': 1e-7, 'cle': 0.6, 'ckappa': 0.6, 'cgsl': 1e-10, 'cgdl': 1.5e-10,
        'ndiode': 1.1, 'csdesw': 1e-12, 'asd': 0.3, 'kb1': 0.95}
EXTRA = {'rdsw': 300, 'prwg': 0.05, 'prwb': -0.05, 'prt': 50, 'wr': 0.95, 'dwg': 2e-9, 'dwb': 3e-9, 'b0': 5e-8, 'b1': 1e-7,
         'a1': 0.05, 'a2': 0.9, 'dvt0w': 0.3, 'dvt1w': 4e6, 'dvt2w': -0.04, 'ngate': 6e19, 'll': 1e-15, 'lw': 2e-15,
         'lwl': 1e-22, 'wl': 1e-15, 'ww': 1.5e-15, 'wwl': 1e-22, 'dlc': 2e-8, 'dwc': 1e-8, 'cf': 1e-10, 'tnom': 30, 'rsh': 5,
         'em': 3e7, 'ef': 1.05, 'af': 1.1, 'bf': 1.9, 'noif': 1.2, 'ntnoi': 1.1, 'kf': 1e-28, 'w0flk': 0, 'csdmin': 2e-5,
         'vsdfb': -0.5, 'vsdth': 0.6, 'xj': 6e-8, 'k1w1': 1e-8, 'k1w2': 1e-8, 'ahli': 1e-12, 'beta0': 0.01, 'beta1': 0.05,
         'alpha0': 1e-8, 'vdsatii0': 0.8, 'sii1': 0.2, 'sii2': 0.1, 'siid': 0.1, 'tii': 0.1, 'lii': 1e-9, 'fbjtii': 0.2,
         'agidl': 1e-12, 'bgidl': 1e9, 'egidl': 0.9, 'cgidl': 0.3, 'agisl': 2e-12, 'xdif': 1.1, 'xtun': 0.5, 'xbjt': 0.9,
         'xrec': 0.9, 'ntrecf': 0.1, 'ntrecr': 0.2, 'tcjswg': 5e-4, 'tpbswg': 1e-3, 'fbody': 0.9, 'dlcb': 1e-8, 'dlbg': 1e-8,
         'delvt': 0.02, 'acde': 0.8, 'moin': 14, 'noff': 1.1, 'dtoxcv': 2e-10, 'llc': 2e-15, 'wlc': 2e-15, 'wth0': 1e-7,
         'ldif0': 0.9, 'ndif': -0.9, 'aely': 1e7, 'toxm': 4e-9, 'epsrox': 3.8, 'dvtp0': 1e-8, 'dvtp1': 0.2, 'dvtp2': 1e-9,
         'dvtp3': 0.5, 'dvtp4': 0.4, 'minv': 0.3, 'minvcv': 0.2, 'voffcv': -0.03, 'fprout': 20, 'pdits': 0.1, 'pditsd': 0.3,
         'pditsl': 1e5, 'cfrcoeff': 1.3, 'isbjt': 3e-5, 'idbjt': 1e-5, 'iddif': 2e-5, 'idrec': 3e-3, 'idtun': 1e-6,
         'ndioded': 1.2, 'nrecf0d': 2.1, 'nrecr0d': 6, 'vrec0d': 1.2, 'vtun0d': 1.0, 'ntund': 12, 'ahlid': 2e-12,
         'cjswgd': 3e-10, 'mjswgd': 0.4, 'pbswgd': 0.75, 'vfb': -1.0, 'cdsbs': 1e-5, 'vsce': 0.1}
LAW = {'igcmod': {'aigc': 0.43, 'bigc': 0.054, 'cigc': 0.075, 'aigsd': 0.42, 'bigsd': 0.05, 'cigsd': 0.07, 'nigc': 1.1,
                  'pigcd': 2, 'poxedge': 0.95, 'dlcig': 3e-8, 'toxqm': 2.2e-9, 'ntox': 1.1},
       'igbmod': {'alphagb1': 0.35, 'betagb1': 0.03, 'alphagb2': 0.43, 'betagb2': 0.05, 'toxqm': 2.2e-9, 'ebg': 1.1},
       'gidlmod': {'agidl': 1e-12, 'bgidl': 1e9, 'egidl': 0.9, 'rgidl': 0.9, 'kgidl': 0.1, 'fgidl': 2.5},
       'iiimod': {'cbjtii': 1e-8, 'ebjtii': 1e-1, 'vbci': 0.8, 'tvbci': 0.1, 'abjtii': 1.5, 'mbjtii': 0.4},
       'rdsmod': {'rsh': 5, 'rsw': 80, 'rdw': 120, 'rswmin': 10, 'rdwmin': 20, 'prwg': 0.1, 'prwb': 0.02},
       'rgatemod': {'rshg': 2, 'xgw': 1e-7, 'xgl': 1e-8, 'xrcrg1': 11, 'xrcrg2': 0.9},
       'rbodymod': {'rbdb': 200, 'rbsb': 150},
       'soimod': {'vbsa': 0.05, 'nofffd': 1.1, 'vofffd': 0.02, 'moinfd': 900, 'k1b': 0.9, 'k2b': 0.1, 'dk2b': 0.5, 'dvbd0': 0.1,
                  'dvbd1': 0.4},
       'mtrlmod': {'eot': 3e-9, 'phig': 4.2, 'easub': 4.05, 'epsrsub': 11, 'epsrgate': 10, 'etsi': 8e-8, 'ni0sub': 1.4e10,
                   'bg0sub': 1.16, 'nsd': 1e20}}
STRESS = {'saref': 1e-6, 'sbref': 1e-6, 'ku0': 5e-8, 'kvsat': 0.4, 'kvth0': 2e-8, 'tku0': 0.1, 'stk2': 1e-9, 'steta0': 1e-9,
          'lku0': 1e-8, 'llodku0': 1, 'lkvth0': 1e-8, 'llodvth': 1}
BINNED = ['vth0', 'u0', 'k2', 'ua', 'vsat', 'a0', 'voff', 'eta0', 'pclm', 'keta', 'isrec', 'ndiode', 'kb1', 'nch', 'xj', 'ute',
          'at', 'agidl', 'xrec', 'aigc', 'dvtp0']


class Card:
    bound, bias, contacts, bottomless, same = BOUND, BIAS, True, False, 1

    def __init__(self, rng, number, name):
        self.name, self.level = name, rng.choice([10, 58])
        self.polarity = 1 if number % 2 else -1
        self.temp = rng.choice([-30, 0, 27, 27, 60, 110])
        m = {'soimod': (0, 1, 2, 0, 1, 3)[number % 6], 'mobmod': rng.randint(1, 4), 'capmod': rng.choice([2, 3]),
             'vgstcvmod': rng.randint(0, 2), 'fdmod': rng.randint(0, 1), 'xpart': rng.choice([0, 0.5, 1]),
             'tnoimod': rng.randint(0, 2), 'fnoimod': rng.randint(0, 1), 'binunit': rng.choice([1, 1, 2]),
             'vth0': self.polarity * near(rng, 0.45), 'u0': near(rng, 0.035 if self.polarity > 0 else 0.012)}
        for table, chance in ((BASE, 1), (EXTRA, 0.3)):
            m.update({k: near(rng, v) for k, v in table.items() if rng.random() < chance})
        m['uc'] = near(rng, -0.04 if m['mobmod'] == 3 else -4e-11)
        if m['mobmod'] == 4:
            m.update(ua=near(rng, 0.2), ub=0, uc=near(rng, -0.01), ud=near(rng, 0.1), ud1=near(rng, 0.1), eu=near(rng, 1.5),
                     ucs=near(rng, 1.5), ucste=-4e-3)
        if rng.random() < 0.2:
            m['nsub'] = -m['nsub']
        for switch, table in LAW.items():
            if switch == 'soimod' and m[switch] or switch != 'soimod' and rng.random() < 0.35:
                if switch != 'soimod':
                    m[switch] = rng.randint(1, 3) if switch == 'rgatemod' else 1
                m.update({k: near(rng, v) for k, v in table.items()})
        if 'rdsmod' in m and m['soimod'] == 2:
            m['prwb'] = 0  # docs/models/bsim4soi.md: the body's voltage there
        inst = {'w': near(rng, 8e-6), 'l': near(rng, rng.choice([3e-7, 1e-6])), 'ad': 4e-12, 'as': 5e-12, 'pd': 1.2e-5,
                'ps': 1.3e-5, 'nrd': 1, 'nrs': 1.5, 'nrb': 1.2, 'nf': rng.choice([1, 1, 2, 3]), 'delvto': rng.choice([0, 0.02])}
        if rng.random() < 0.4:
            inst.update(nbc=1, nseg=2, pdbcp=1e-7, psbcp=2e-7, agbcp=1e-13, aebcp=2e-13, agbcpd=8e-14, frbody=1.5)
            m['dwbc'] = near(rng, 1e-8)
            if rng.random() < 0.5:
                inst['agbcp2'] = 3e-13
        if rng.random() < 0.3:
            inst.update(sa=3e-7, sb=5e-7, sd=4e-7)
            m.update({k: near(rng, v) for k, v in STRESS.items()})
        if rng.random() < 0.5:
            m.update(rbody=near(rng, 50), rbsh=near(rng, 10), rhalo=near(rng, 1e10))
        if 'rbodymod' in m:
            inst['nf'] = 1  # docs/models/bsim4soi.md
        if rng.random() < 0.15:
            inst['bjtoff'] = 1
        for k in BINNED:
            if k in m and rng.random() < 0.3:
                for c in 'lwp':
                    scale = 1 if m['binunit'] == 1 else {'l': 1e-6, 'w': 1e-6, 'p': 1e-12}[c]
                    m[c + k] = near(rng, 0.02 * m[k] * scale, 1)
        self.heats = rng.random() < 0.25
        if self.heats:
            m.update(shmod=1, rth0=near(rng, 0.02), cth0=near(rng, 1e-5))
        self.model, self.instance = m, inst
        self.settled = 1e-12 if 'rbodymod' in m else 1e-15  # A: what ngspice's currents miss (docs/models/bsim4soi.md)
        # a series resistance has the current of eps V / R of rounding
        self.rounding = 1e-15 / min([v for k, v in m.items() if k in ('rsh', 'rbody')] or [1e9])

    def contact(self, k, ours):
        return ' p%d' % k, []

    def without_reference(self, make, k):
        """docs/models/bsim4soi.md: bodies behind resistances; the charges' slopes by the temperature."""
        return ('rbodymod' in self.model and make != 'ac'
                or self.heats and make != 'dc' and (make != 'tran' or self.polarity < 0))

    def follows(self, k):
        return False

    def unlike(self, part, t, e, k):
        """ngspice's ac leaves the gate's charge by the substrate out, and its film's threshold a slope of dvtp0."""
        return self.model['soimod'] != 0 and (part == 'imag' and e == 'e' or 'dvtp0' in self.model)

    def unsloped(self, part, t):
        """Conductances are those of the currents, which are compared; the transients of dvtp0 are too coarse."""
        return part == 'real' or 'dvtp0' in self.model

    def slopes_at_rest(self):
        return self.heats or 'rbodymod' in self.model

    def noise_unlike(self, k):
        """ngspice's slopes of impact ionisation are not those of its currents: a floating body amplifies that."""
        return (self.model['soimod'] != 0 and 'dvtp0' in self.model
                or self.bias[k][1] is None and 'alpha0' in self.model)
