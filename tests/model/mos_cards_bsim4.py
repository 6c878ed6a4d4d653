"""Random cards of BSIM4 for mos_cards.py: each flag in turn, parameters around those of a 0.13 um process.

ngspice 39 forgets the mobility's change by stress and well proximity (docs/models/bsim4.md); it gets it as mulu0. Left out, because
its equations differ there: tvoffcv in 4.7, cf with mtrlmod, rgeomod above 1."""
from mos_cards import Card

# around these, +- the fraction
BASE = {'toxe': 3.2e-9, 'xj': 1.2e-7, 'ndep': 3e17, 'k1': 0.5, 'k2': -0.02, 'k3': 10, 'k3b': 1, 'w0': 1e-6, 'lpe0': 1e-7,
        'lpeb': 2e-8, 'dvt0': 1.5, 'dvt1': 0.5, 'dvt2': -0.03, 'ub': 1e-18, 'vsat': 9e4, 'a0': 1.1, 'ags': 0.3, 'keta': -0.03,
        'voff': -0.1, 'voffl': 1e-9, 'minv': 0.2, 'nfactor': 1.3, 'cdsc': 3e-4, 'cdscb': 1e-5, 'cdscd': 2e-5, 'cit': 1e-4,
        'eta0': 0.06, 'etab': -0.05, 'dsub': 0.5, 'pclm': 1.1, 'pdiblc1': 0.2, 'pdiblc2': 0.003, 'pdiblcb': -0.05,
        'drout': 0.5, 'pscbe1': 5e8, 'pscbe2': 1e-6, 'pvag': 0.05, 'delta': 0.01, 'kt1': -0.12, 'kt1l': 1e-9, 'kt2': 0.02,
        'ute': -1.4, 'lint': 5e-9, 'wint': 8e-9, 'cgdo': 2e-10, 'cgso': 2.5e-10, 'cgbo': 1e-11, 'cjs': 1e-3, 'cjsws': 3e-10,
        'cjswgs': 2e-10, 'mjs': 0.4, 'mjsws': 0.3, 'mjswgs': 0.25, 'pbs': 0.9, 'pbsws': 0.85, 'pbswgs': 0.8, 'jss': 1e-6,
        'jsws': 1e-11, 'jswgs': 1e-11, 'njs': 1.05, 'xtis': 3, 'moin': 15, 'noff': 1.1, 'acde': 0.8, 'clc': 1e-7, 'cle': 0.6,
        'ckappas': 0.6, 'cgsl': 1e-10, 'cgdl': 1.5e-10, 'ud': 5e15, 'ngate': 1e20, 'nsd': 1e20}
# drawn with chance one half each
EXTRA = {'rdsw': 150, 'rdswmin': 20, 'prwg': 0.4, 'prwb': 0.1, 'wr': 0.95, 'dwg': 2e-9, 'dwb': 3e-9,
         'b0': 5e-8, 'b1': 1e-7, 'a1': 0.05, 'a2': 0.9, 'dvt0w': 0.3, 'dvt1w': 4e6, 'dvt2w': -0.04, 'alpha0': 1e-7,
         'alpha1': 1.5, 'beta0': 15, 'toxm': 3.5e-9, 'dtox': 4e-10, 'epsrox': 4.0, 'll': 1e-15, 'lw': 2e-15, 'lwl': 1e-22,
         'wl': 1e-15, 'ww': 1.5e-15, 'wwl': 1e-22, 'xl': 5e-9, 'xw': -1e-8, 'dlc': 8e-9, 'dwc': 6e-9, 'dwj': 5e-9,
         'llc': 2e-15, 'wlc': 2e-15, 'tcj': 1e-3, 'tcjsw': 5e-4, 'tcjswg': 4e-4, 'tpb': 1e-3, 'tpbsw': 1e-3, 'tpbswg': 8e-4,
         'cf': 1e-10, 'voffcv': 0.05, 'tnom': 30, 'ijthsfwd': 0.01, 'ijthdfwd': 0.02, 'phin': 0.03, 'dvtp0': 5e-9,
         'dvtp1': 0.2, 'fprout': 50.0, 'pdits': 0.01, 'pditsl': 2e5, 'pditsd': 0.3, 'lambda': 2e-10, 'vtl': 2e5, 'xn': 4,
         'lc': 1e-8, 'up': 0.1, 'lp': 5e-8, 'tvoff': 1e-3, 'vfbsdoff': 0.02, 'tvfbsdoff': 1e-3, 'cjd': 1.1e-3,
         'cjswd': 2.5e-10, 'cjswgd': 3e-10, 'mjd': 0.45, 'mjswd': 0.35, 'mjswgd': 0.28, 'pbd': 0.85, 'pbswd': 0.8,
         'pbswgd': 0.75, 'jsd': 2e-6, 'jswd': 2e-11, 'jswgd': 2e-11, 'njd': 1.1, 'xtid': 3.2, 'ckappad': 0.7, 'em': 3e7,
         'ef': 1.05, 'lintnoi': 5e-9, 'noia': 2e41, 'noib': 2e26, 'noic': 5e9, 'ntnoi': 0.9, 'dmcg': 1e-7, 'dmci': 1.2e-7,
         'dmdg': 8e-8, 'vfbcv': -0.9, 'ntox': 1.1, 'toxref': 3e-9, 'delvto_': 0}
TAT = {'jtss': 2e-7, 'jtsd': 3e-7, 'jtssws': 2e-12, 'jtsswd': 3e-12, 'jtsswgs': 4e-12, 'jtsswgd': 5e-12, 'njts': 20, 'njtssw': 18,
       'njtsswg': 16, 'xtss': 0.05, 'xtssws': 0.04, 'xtsswgs': 0.03, 'tnjts': 0.1, 'tnjtssw': 0.1, 'tnjtsswg': 0.1, 'vtss': 5,
       'vtsd': 6, 'vtssws': 4, 'vtsswgs': 3}
TUNNEL = {'aigc': 1.2e-2, 'bigc': 1.5e-3, 'cigc': 0.06, 'aigbacc': 1.2e-2, 'bigbacc': 1.6e-3, 'cigbacc': 0.07, 'aigbinv': 1.1e-2,
          'bigbinv': 9e-4, 'cigbinv': 0.006, 'eigbinv': 1.0, 'nigc': 1.1, 'nigbacc': 1.2, 'nigbinv': 2.8, 'pigcd': 1.5,
          'poxedge': 1.05, 'dlcig': 1e-8}
STRESS = {'ku0': 1e-7, 'tku0': 0.2, 'lku0': 1e-7, 'wku0': 2e-7, 'pku0': 1e-14, 'llodku0': 1, 'wlodku0': 1, 'saref': 1.2e-6, 'sbref': 1.1e-6, 'wlod': 1e-7, 'kvth0': 8e-9, 'llodvth': 0.9, 'wlodvth': 0.8, 'lkvth0': 1e-6,
          'wkvth0': 2e-6, 'pkvth0': 1e-12, 'stk2': 1e-9, 'lodk2': 1.1, 'steta0': 1e-10, 'lodeta0': 1.2, 'kvsat': 0.3}
WELL = {'kvth0we': 2e-3, 'k2we': 1e-3, 'web': 1500, 'wec': 2000, 'scref': 1.1e-6}
BODY = {'rbps0': 60, 'rbpsl': 0.1, 'rbpsw': -0.2, 'rbpsnf': 0.3, 'rbpd0': 55, 'rbpdl': 0.1, 'rbpdw': -0.1, 'rbpdnf': 0.2,
        'rbpbx0': 120, 'rbpbxl': 0.1, 'rbpbxw': -0.1, 'rbpby0': 90, 'rbpbyw': 0.1, 'rbpbynf': -0.2, 'rbsbx0': 150, 'rbsby0': 110,
        'rbdbx0': 140, 'rbdby0': 130, 'rbsdbxl': 0.1, 'rbsdbxw': 0.1, 'rbsdbxnf': -0.1, 'rbsdbyl': 0.05, 'rbsdbyw': 0.1}
BINNED = ['vth0', 'u0', 'k2', 'ua', 'ub', 'vsat', 'a0', 'voff', 'eta0', 'pclm', 'kt1', 'cgsl', 'moin', 'noff', 'keta', 'ndep',
          'ngate', 'nfactor', 'minv', 'lpe0', 'pdiblc2', 'agidl', 'aigc', 'rdsw', 'dsub', 'cf', 'ud']
VERSIONS = ['4.8.2', '4.5', '4.6', '4.7', '4.8', '4.8.1', '4.6.5']


def near(rng, value, fraction=0.15):
    return value * (1 + fraction * (2 * rng.random() - 1))


def some(rng, table, chance=1.0):
    return {k: near(rng, v) for k, v in table.items() if rng.random() < chance}


def temperature(rng, m):
    """Coefficients of the temperature mode; relative ones per kelvin or exponents from mode 1 on."""
    m['tempmod'] = float(rng.randint(0, 3 if m['version'] != '4.5' else 2))
    scale = {0: (1e-9, -5e-19, 3e4, 50), 1: (1e-3, -1e-3, 3e-4, 1e-3), 2: (1e-3, -1e-3, 3e-4, 1e-3), 3: (0.5, -0.5, 3e-4, 1e-3)}
    a, b, v, r = scale[int(m['tempmod'])]
    m.update(ua1=near(rng, a), ub1=near(rng, b), at=near(rng, v), prt=near(rng, r), uc1=near(rng, 1e-11 if m['tempmod'] == 0 else b),
             ud1=near(rng, 1e15 if m['tempmod'] == 0 else b))
    if m['version'][:3] in ('4.7', '4.8') and rng.random() < 0.5:
        m.update(tnfactor=near(rng, 0.1), teta0=near(rng, 0.02), **({} if m['version'] == '4.7' else {'tvoffcv': near(rng, 1e-3)}))


def junctions(rng, m):
    m['diomod'] = float(rng.randint(0, 2))
    if m['diomod'] != 1 and rng.random() < 0.6:     # breakdown within the sweep
        m.update(bvs=near(rng, 2.5), bvd=near(rng, 2.6), xjbvs=near(rng, 1), xjbvd=near(rng, 1.1), ijthsrev=1e-3, ijthdrev=1e-3)
    if rng.random() < 0.5:
        m.update(some(rng, TAT, 0.8))
        if m['version'] != '4.5' and rng.random() < 0.5:
            m.update(njtsd=near(rng, 19), njtsswd=near(rng, 17), njtsswgd=near(rng, 15), jtweff=near(rng, 1e-7))


def tunnelling(rng, m):
    m.update(igcmod=float(rng.randint(0, 2)), igbmod=float(rng.randint(0, 1)))
    if rng.random() < 0.6:
        m.update(some(rng, TUNNEL, 0.7))
        if m['version'] != '4.5' and rng.random() < 0.4:
            m.update(aigs=near(rng, 1.1e-2), aigd=near(rng, 1.2e-2), bigs=near(rng, 1.4e-3), cigd=near(rng, 0.06))
        elif rng.random() < 0.5:
            m.update(aigsd=near(rng, 1.1e-2), bigsd=near(rng, 1.4e-3), cigsd=near(rng, 0.06))
    if rng.random() < 0.6:
        m.update(agidl=near(rng, 1e-9), bgidl=near(rng, 1e9), cgidl=near(rng, 0.4), egidl=near(rng, 0.3))
        if m['version'] != '4.5' and rng.random() < 0.5:
            m.update(agisl=near(rng, 2e-9), bgisl=near(rng, 1.1e9), egisl=near(rng, 0.4))
        if m['version'][:3] in ('4.7', '4.8') and rng.random() < 0.5:
            m.update(gidlmod=1.0, rgidl=near(rng, 1.1), kgidl=near(rng, 0.1), fgidl=near(rng, 0.9))


def layout(rng, m, inst):
    """Areas, resistances, stress, well proximity."""
    m['permod'] = float(rng.randint(0, 1))
    inst['nf'] = float(rng.choice([1, 1, 2, 3, 4]))
    if rng.random() < 0.5:
        inst.update(ad=inst['w'] * 0.4e-6, pd=2.2 * inst['w'] + 1e-6)
        inst.update({'as': inst['w'] * 0.5e-6, 'ps': 2.3 * inst['w'] + 1.2e-6})
    inst.update(geomod=float(rng.randint(0, 10)), min=float(rng.randint(0, 1)))
    if rng.random() < 0.5:
        m['rsh'] = near(rng, 8)
        if rng.random() < 0.5:
            inst.update(nrd=near(rng, 0.4), nrs=near(rng, 0.5))
        else:
            inst['geomod'] = float(rng.choice([0, 1, 2, 3, 4, 6, 8, 9, 10]))  # 5, 7: 1/0 without inner ends
            inst['rgeomod'] = float(rng.randint(0, 1))
            m.update(dmcg=near(rng, 1e-7), dmdg=near(rng, 9e-8), dmci=near(rng, 1.2e-7), dmcgt=near(rng, 1e-8))
    if rng.random() < 0.4:
        m.update(some(rng, STRESS, 0.9))
        inst.update(sa=near(rng, 5e-7), sb=near(rng, 8e-7), sd=near(rng, 2e-7))
    if rng.random() < 0.4:
        m.update(wpemod=1.0, **some(rng, WELL))
        if rng.random() < 0.5:
            inst['sc'] = near(rng, 1e-6)
        else:
            inst.update(sca=near(rng, 1.5), scb=near(rng, 0.02), scc=near(rng, 0.003))
            m['ku0we'] = near(rng, -1e-3)


def mobility(m, inst, temp):
    """Factor on the mobility by stress (14.1, 14.2) and well proximity (15.2)."""
    length, width = inst['l'] + m.get('xl', 0), inst['w'] / inst['nf'] + m.get('xw', 0)
    factor, sd = 1.0, inst.get('sd', 2 * m.get('dmcg', 0))
    if 'sa' in inst and m.get('ku0') and (inst['nf'] == 1 or sd > 0):
        a, b = length ** m.get('llodku0', 0), (width + m.get('wlod', 0)) ** m.get('wlodku0', 0)
        ku0 = 1 + m.get('lku0', 0) / a + m.get('wku0', 0) / b + m.get('pku0', 0) / (a * b)
        ku0 = ku0 * (1 + m.get('tku0', 0) * ((temp + 273.15) / (m.get('tnom', 27) + 273.15) - 1)) + 1e-9
        half, n = inst['l'] / 2, int(inst['nf'])
        here = sum(1 / (inst[s] + half + i * (sd + inst['l'])) for i in range(n) for s in ('sa', 'sb')) / n
        there = 1 / (m.get('saref', 1e-6) + half) + 1 / (m.get('sbref', 1e-6) + half)
        factor = (1 + m['ku0'] / ku0 * here) / (1 + m['ku0'] / ku0 * there)
    if 'ku0we' in m:
        factor *= 1 + m['ku0we'] * (inst['sca'] + m['web'] * inst['scb'] + m['wec'] * inst['scc'])
    return factor


def networks(rng, number, m, inst):
    """Gate, body, late charge; returns the frequency of the admittances."""
    if rng.random() < 0.3:
        inst['rgatemod'] = float(rng.randint(1, 3))
        m.update(rshg=near(rng, 5), xgw=near(rng, 1e-7), xrcrg1=near(rng, 10), xrcrg2=near(rng, 1))
    if rng.random() < 0.3:
        inst['rbodymod'] = float(rng.randint(1, 2))
        m.update(some(rng, BODY) if rng.random() < 0.5 else some(rng, {k: v for k, v in BODY.items() if k[:4] != rng.choice(['rbps', 'rbsb'])}))
    if number % 5 == 0:
        inst['trnqsmod' if rng.random() < 0.5 else 'acnqsmod'] = 1.0
        inst.pop('rgatemod', None)
        return 3e8
    return 1e6


def materials(rng, m):
    m.update(mtrlmod=1.0, eot=near(rng, 3e-9), phig=near(rng, 4.1, 0.02), epsrgate=near(rng, 11.7), easub=near(rng, 4.05, 0.01),
             epsrsub=near(rng, 12), ni0sub=near(rng, 1.4e10), bg0sub=near(rng, 1.17, 0.01), vddeot=m['vth0'] * 3, cf=near(rng, 1e-10))
    if m['version'][:3] in ('4.7', '4.8') and rng.random() < 0.5:
        m.update(mtrlcompatmod=1.0, toxp=near(rng, 2.6e-9))


def resistances(m, inst):
    return m['rdsmod'] or 'rsh' in m and ('nrd' in inst or inst.get('rgeomod'))


def unlike_slopes(m, inst):
    """Where ngspice's slopes are not those of its own currents and charges (docs/models/bsim4.md): kinds and their bound."""
    v = m['version'][:3]
    if v == '4.5':
        yield 'yn', 0.1             # bulk charge of capmod 1, 2; forward body of capmod 0; ud
    if 'vtl' in m:
        yield 'yn', 2e-2
    if m['igcmod'] and v != '4.8':
        yield 'y', 0.2 if m['igcmod'] == 2 else 1e-3
        yield 'n', 1e-3
    if m.get('gidlmod') == 1:
        yield 'yn', 0.1
    if m['tnoimod'] == 1 and not resistances(m, inst):
        yield 'n', 1e-3             # what ngspice's 1 mOhm adds
    if m['tnoimod'] == 2:
        yield 'n', 1e-3             # phase of the gate's noise


def card(rng, number):
    polarity = 1 if number % 2 else -1
    version = VERSIONS[number % 7]
    old = version == '4.5'
    m = {'version': version, 'mobmod': float(number % (3 if old else 4 if version[:3] in ('4.6', '4.7') else 7)),
         'capmod': float(number // 3 % 3), 'xpart': rng.choice([0, 0.5, 1]), 'fnoimod': float(rng.randint(0, 1)),
         'tnoimod': float(rng.randint(0, 1 if version[:3] in ('4.5', '4.6') else 2)), 'rdsmod': float(rng.randint(0, 1)),
         'binunit': float(rng.choice([1, 1, 2])), 'vth0': polarity * near(rng, 0.45), 'u0': near(rng, 0.04 if polarity > 0 else 0.012)}
    m.update(some(rng, BASE))
    m.update(some(rng, EXTRA, 0.5))
    m.pop('delvto_', None)
    m['ua'] = near(rng, 1e-15 if m['mobmod'] in (2, 6) else 1e-9)
    m['uc'] = near(rng, -0.04 if m['mobmod'] in (1, 5) else -4e-11)
    if m['mobmod'] in (2, 6):
        m.update(eu=near(rng, 1.6))
        m['uc'] = near(rng, -4e-17)
    if m['mobmod'] == 3:
        m.update(eu=near(rng, 1.6), ua=near(rng, 0.3), uc=near(rng, 0.01), ud=near(rng, 0.3), ucs=near(rng, 1.5), ucste=near(rng, -4e-3))
    temperature(rng, m)
    if m['mobmod'] in (2, 3, 6) and m['tempmod'] == 0:
        m.update(ua1=near(rng, 0.1 * m['ua']), uc1=near(rng, 0.1 * m['uc']), ud1=near(rng, 0.1 * m['ud']))
    if m['tempmod'] == 0 and m['mobmod'] in (1, 5):
        m['uc1'] = near(rng, 0.01)
    junctions(rng, m)
    tunnelling(rng, m)
    if not old and rng.random() < 0.3:
        m.update(cvchargemod=1.0, minvcv=near(rng, 0.3), voffcvl=near(rng, 1e-9))
    if version[:3] in ('4.7', '4.8') and rng.random() < 0.5:
        m.update(dvtp2=near(rng, 1e-9), dvtp3=near(rng, 1), dvtp4=near(rng, 0.5), dvtp5=near(rng, 0.01))
    if rng.random() < 0.2:      # threshold and body effect from the process
        for k in ('k1', 'k2'):
            del m[k]
        m.update(some(rng, {'gamma1': 0.6, 'gamma2': 0.35} if rng.random() < 0.5 else {}), xt=near(rng, 1.5e-7), vbm=-near(rng, 4), nsub=near(rng, 5e16))
    if rng.random() < 0.3:
        m['vfb'] = -near(rng, 0.9, 0.05)
        if rng.random() < 0.5:
            del m['vth0']
    if rng.random() < 0.3:
        m['u0'] = m['u0'] * 1e4
    if m['fnoimod'] == 0:
        m.update(kf=near(rng, 1e-26), af=near(rng, 1.1))
    if not old and rng.random() < 0.15 and 'vth0' in m:
        materials(rng, m)
    for k in BINNED:
        if rng.random() < 0.3 and k in m:
            unit = 1.0 if m['binunit'] == 1 else 1e-6
            for pre, power in (('l', 1), ('w', 1), ('p', 2)):
                m[pre + k] = near(rng, 0.003 * m[k] * unit ** power, 1)
    inst = {'w': near(rng, rng.choice([2e-6, 5e-6, 12e-6])), 'l': near(rng, rng.choice([0.13e-6, 0.25e-6, 1e-6]))}
    layout(rng, m, inst)
    if m['tnoimod'] == 1 and not resistances(m, inst):
        m.update(diomod=1.0, gidlmod=0.0)   # else the noise of ngspice's 1 mOhm shows in bulk currents
    freq = networks(rng, number, m, inst)
    if rng.random() < 0.3:
        inst.update(delvto=polarity * near(rng, 0.03), mulu0=near(rng, 0.95))
    if rng.random() < 0.2:
        inst['m'] = 3.0
    rounding = 1e-15 * inst.get('m', 1)
    if 'rsh' in m or m['rdsmod'] or 'rgatemod' in inst or 'rbodymod' in inst:
        rounding = 2e-12 * inst.get('m', 1)
    loose = {}
    for kinds, bound in unlike_slopes(m, inst):
        loose.update({k: max(bound, loose.get(k, 0)) for k in kinds})
    temp = rng.choice([27.0, -40.0, 125.0, 60.0])
    theirs = {'mulu0': inst.get('mulu0', 1) * mobility(m, inst, temp)}
    return Card(54 if number % 2 else 14, 'bsim4', m, inst, polarity, temp, (), theirs=theirs,
                rounding=rounding, loose=loose, freq=freq, abstol=1e-18 if rounding < 1e-14 else 1e-13)
