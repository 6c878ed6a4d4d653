"""Random cards of BSIM3v3 for mos_cards.py: each flag in turn, parameters around those of a 0.35 um process.

Left out, because ngspice 39's own equations differ there (docs/models/bsim3.md): nqsmod with a drift time (elm), acm
with gate edge capacitances that depend on the temperature, noimod 5 and 6 with drain and source exchanged."""
from mos_cards import Card

# around these, +- the fraction
BASE = {'tox': 8e-9, 'xj': 1.5e-7, 'nch': 2.2e17, 'nsub': 5e16, 'k1': 0.55, 'k2': -0.01, 'k3': 20, 'k3b': 2, 'w0': 1e-6,
        'nlx': 1.8e-7, 'dvt0': 2.5, 'dvt1': 0.5, 'dvt2': -0.05, 'ua': 1e-9, 'ub': 1.5e-18, 'vsat': 9e4, 'a0': 1.1,
        'ags': 0.2, 'keta': -0.02, 'voff': -0.1, 'nfactor': 1.1, 'cdsc': 3e-4, 'cdscb': 1e-5, 'cdscd': 1e-5, 'cit': 1e-4,
        'eta0': 0.08, 'etab': -0.06, 'dsub': 0.5, 'pclm': 1.2, 'pdiblc1': 0.3, 'pdiblc2': 0.005, 'pdiblcb': -0.05,
        'drout': 0.5, 'pscbe1': 4e8, 'pscbe2': 1e-6, 'pvag': 0.05, 'delta': 0.01, 'kt1': -0.12, 'kt1l': 1e-9,
        'kt2': 0.02, 'ute': -1.4, 'ua1': 3e-9, 'ub1': -5e-18, 'at': 3e4, 'lint': 1e-8, 'wint': 1.5e-8, 'cgdo': 2e-10,
        'cgso': 2.5e-10, 'cgbo': 1e-10, 'cj': 8e-4, 'cjsw': 3e-10, 'cjswg': 2e-10, 'mj': 0.4, 'mjsw': 0.3, 'mjswg': 0.25,
        'pb': 0.9, 'pbsw': 0.85, 'pbswg': 0.8, 'js': 1e-6, 'jsw': 1e-11, 'nj': 1.05, 'xti': 3, 'moin': 15, 'noff': 1.1,
        'acde': 0.8, 'clc': 1e-7, 'cle': 0.6, 'ckappa': 0.6, 'cgsl': 1e-10, 'cgdl': 1.5e-10}
# drawn with chance one half each
EXTRA = {'rdsw': 400, 'prwg': 0.05, 'prwb': -0.05, 'prt': 50, 'wr': 0.95, 'dwg': 2e-9, 'dwb': 3e-9, 'b0': 5e-8, 'b1': 1e-7,
         'a1': 0.05, 'a2': 0.9, 'dvt0w': 0.3, 'dvt1w': 4e6, 'dvt2w': -0.04, 'alpha0': 1e-7, 'alpha1': 1.5, 'beta0': 25,
         'ngate': 4e19, 'toxm': 8.5e-9, 'll': 1e-15, 'lw': 2e-15, 'lwl': 1e-22, 'wl': 1e-15, 'ww': 1.5e-15, 'wwl': 1e-22,
         'xl': 1e-8, 'xw': -1e-8, 'dlc': 2e-8, 'dwc': 1e-8, 'llc': 2e-15, 'wlc': 2e-15, 'tcj': 1e-3, 'tcjsw': 5e-4,
         'tpb': 1e-3, 'tpbsw': 1e-3, 'tpbswg': 8e-4, 'tcjswg': 4e-4, 'cf': 1e-10, 'vfbcv': -0.9, 'voffcv': 0.05, 'tnom': 30,
         'ijth': 0.01, 'rsh': 5, 'uc1': None, 'em': 3e7, 'ef': 1.05, 'af': 1.1, 'elm': None}
BINNED = ['vth0', 'u0', 'k2', 'ua', 'vsat', 'a0', 'voff', 'eta0', 'pclm', 'kt1', 'cgsl', 'moin', 'noff', 'keta', 'nch', 'ngate']


def near(rng, value, fraction=0.15):
    return value * (1 + fraction * (2 * rng.random() - 1))


def rounding(m, inst, acm):
    if acm:
        return 2e-16 * inst.get('m', 1)
    return 1e-15 * inst.get('m', 1) / (m['rsh'] * min(inst['nrd'], inst['nrs'])) if 'rsh' in m else 0.0


def card(rng, number):
    polarity = 1 if number % 2 else -1
    version = ['3.3.0', '3.2.4', '3.2.2', '3.2.3', '3.2', '3.3', '3.24'][number % 7]
    new = version.startswith('3.3')
    m = {'version': version, 'mobmod': float(1 + number % 3), 'capmod': float(number // 3 % 4), 'xpart': rng.choice([0, 0.5, 1]),
         'noimod': float(rng.randint(1, 6 if new else 4)), 'binunit': float(rng.choice([1, 1, 2])),
         'vth0': polarity * near(rng, 0.55), 'u0': near(rng, 0.045 if polarity > 0 else 0.015)}
    m.update({k: near(rng, v) for k, v in BASE.items()})
    for k, v in EXTRA.items():
        if rng.random() < 0.5 and v is not None:
            m[k] = near(rng, v)
    uc = -0.04 if m['mobmod'] == 3 else -4e-11
    m['uc'] = near(rng, uc)
    if rng.random() < 0.5:
        m['uc1'] = near(rng, 1.2 * uc)
    if rng.random() < 0.3:  # threshold and body effect from the process
        for k in ('k1', 'k2'):
            del m[k]
        if rng.random() < 0.5:
            m['gamma1'], m['gamma2'] = near(rng, 0.6), near(rng, 0.35)
        m['xt'] = near(rng, 1.5e-7)
        m['vbm'] = -near(rng, 4)
    if rng.random() < 0.2:
        del m['vth0']
        m['vfb'] = -near(rng, 0.9, 0.05)
    elif rng.random() < 0.3:
        m['vfb'] = -near(rng, 0.9, 0.05)
    if rng.random() < 0.3:
        m['u0'] = m['u0'] * 1e4
    if m['noimod'] in (2, 3, 6) and rng.random() < 0.5:
        m.update(noia=near(rng, 2e20), noib=near(rng, 4e4), noic=near(rng, -1.2e-12))
    if m['noimod'] in (1, 4, 5):
        m['kf'] = near(rng, 1e-26)
    if new and rng.random() < 0.5:
        m['lintnoi'] = near(rng, 1e-8)
    for k in BINNED:
        if rng.random() < 0.4 and k in m:
            unit = 1.0 if m['binunit'] == 1 else 1e-6
            for pre, power in (('l', 1), ('w', 1), ('p', 2)):
                m[pre + k] = near(rng, 0.01 * m[k] * unit ** power, 1)
    inst = {'w': near(rng, rng.choice([1e-6, 5e-6, 20e-6])), 'l': near(rng, rng.choice([0.35e-6, 0.6e-6, 2e-6]))}
    skip = set()
    acm = rng.choice([0, 0, 0, 1, 2, 3, 11, 12, 13])
    given = acm == 0 or rng.random() < 0.5
    if given:
        inst.update(ad=inst['w'] * 0.8e-6, pd=rng.choice([0.5, 2]) * inst['w'] + 1.6e-6, nrd=near(rng, 0.4))
        inst.update({'as': inst['w'] * 0.9e-6, 'ps': 2 * inst['w'] + 1.8e-6, 'nrs': near(rng, 0.5)})
    if acm:
        m.update(acm=float(acm), hdif=near(rng, 4e-7), ldif=near(rng, 1e-7), ld=near(rng, 2e-8), rd=near(rng, 500),
                 rs=near(rng, 600), rdc=near(rng, 5), rsc=near(rng, 6), wmlt=rng.choice([1.0, 0.9]))
        if acm == 12:
            m['calcacm'] = float(rng.randint(0, 1))
        inst['geo'] = float(rng.randint(0, 3))
        if m.get('ijth', 0.1) > 0 and new:
            m['ijth'] = 0.1
        m.pop('tcjswg', None)
    if rng.random() < 0.3:
        inst.update(delvto=polarity * near(rng, 0.03), mulu0=near(rng, 0.95))
    if rng.random() < 0.2:
        inst['m'] = 3.0
    if m['noimod'] >= 5:
        skip.add('n')
    unlike = {'db5', 'gb5', 'sb5', 'bb5', 'n5'}             # slope of the clamp of a forward body bias
    if m['capmod'] == 0 and 'ngate' in m:
        skip.add('y')                                       # slope of the gate's depletion taken twice
    freq = 1e6
    if number % 5 == 0:
        freq = 3e8
        m['elm'] = 1e-6
        m['nqsmod' if number % 2 or not new else 'acnqsmod'] = 1.0
    if 'acnqsmod' in m:
        unlike |= {'db', 'gb', 'sb', 'bb'}                  # sign of the imaginary body transconductance
    return Card(8 if number % 2 else 49, 'bsim3', m, inst, polarity, rng.choice([27.0, -40.0, 125.0, 60.0]), skip,
                rounding=rounding(m, inst, acm), unlike=unlike, freq=freq,
                # slopes by the body bias: capmod 0 leaves out that of vbseff, capmod 3 of 3.3 has another saturated
                loose={'y': 2e-3} if m['capmod'] == 0 or m['capmod'] == 3 and new else None)
