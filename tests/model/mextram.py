#!/usr/bin/env python3
"""MEXTRAM 504 (levels 504 and 505): against Xyce's own results and against the model's equations,
written down here once more from the publications that models/mextram.va names.

    mextram.py VSIM [test...]"""
import csv
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import model_case  # noqa: E402
import mos_cards  # noqa: E402

DATA = os.path.join(HERE, '..', 'data', 'mextram_xyce.csv')
Q, K = 1.6021918e-19, 1.3806226e-23
KOQ = K / Q

# The cards of Xyce's decks, as far as they are not the model's defaults
XYCE = 'level=504 deg=0.01 xrec=0.1 kavl=1 mult=1.5'
# Voltages of c, b, e, s; what is swept; the current that is told
SWEEPS = {'FGummel_Ib': ((1, 0, 0, 0), '', 'b'), 'FGummel_Ic': ((1, 0, 0, 0), '', 'c'),
          'FGummel_low_MLF_Ib': ((1, 0, 0, 0), ' mlf=2.1', 'b'),
          'FGummel_low_MLF_Ic': ((1, 0, 0, 0), ' mlf=2.1', 'c'),
          'RGummel_Ib': ((0, 0, 1, 0), '', 'b'), 'RGummel_Ie': ((0, 0, 1, 0), '', 'e')}
# What Xyce's names of noise by branches contain
NOISE = ('in', 'iavl', 'ib', 're', 'rbc', 'rbv', '1overfib1 1overfib2', 'ib3 iex',
         '1overfib3 1overfiex', 'xiex', '1overfxiex', 'isub', 'xisub')
DEFAULT = dict(
    level=504, tref=25, dta=0, exmod=1, exphi=1, exavl=0, exsub=0, mult=1, gmin=1e-13, ik=0.1,
    ver=2.5, vef=44, bf=215, ibf=2.7e-15, mlf=2, xibi=0, izeb=0, nzeb=22, bri=7, ibr=1e-15, vlr=0.2,
    xext=0.63, wavl=1.1e-6, vavl=3, sfh=0.3, re=5, rbc=23, rbv=18, rcc=12, rcblx=0, rcbli=0,
    rcv=150, scrcv=1250, ihc=4e-3, axi=0.3, cje=73e-15, vde=0.95, pe=0.4, xcje=0.4, cbeo=0,
    cjc=78e-15, vdc=0.68, pc=0.5, xp=0.35, mc=0.5, xcjc=0.032, cbco=0, mtau=1, taue=2e-12,
    taub=4.2e-12, tepi=41e-12, taur=520e-12, deg=0, xrec=0, xqb=1 / 3, ke=0, aqbo=0.3, ae=0, ab=1,
    aepi=2.5, aex=0.62, ac=2, acbl=2, dvgbf=0.05, dvgbr=0.045, vgb=1.17, vgc=1.18, vgj=1.15,
    vgzeb=1.15, avgeb=4.73e-4, tvgeb=636, dvgte=0.05, dais=0, af=2, kf=20e-12, kfn=20e-12, kavl=0,
    kc=0, ftaun=0, iss=48e-18, icss=-1, iks=250e-6, cjs=315e-15, vds=0.62, ps=0.34, vgs=1.2,
    asub=2, **{'is': 22e-18, 'as': 1.58})
FLAGS = {'exmod': 2, 'exphi': 1, 'exavl': 1, 'exsub': 1, 'kavl': 1, 'kc': 2}
PARTS = ('xibi', 'xext', 'xcje', 'xcjc', 'xqb', 'ke', 'ftaun', 'xp', 'mc')
OFF = {'izeb': 1e-6, 'rcblx': 10, 'rcbli': 8, 'deg': 0.02, 'xrec': 0.2, 'icss': 3e-17, 'ke': 0.3,
       'dais': 0.2, 'ftaun': 0.4, 'cbeo': 5e-15, 'cbco': 7e-15, 'ae': 0.1, 'xibi': 0.2}
# vbe, vce, vse: off, weak and strong injection, quasi-saturation, saturation, inverse operation,
# tunnelling, avalanche, a substrate that conducts
BIAS = ((0.45, 1, 0), (0.7, 1, -1), (0.8, 1.5, 0), (0.88, 0.3, -2), (0.95, 1, 0), (1.05, 2, 0),
        (0.85, 0.05, 0), (0.1, -0.8, 0), (-1.5, 0.5, 0), (0.82, 6, -3), (0.78, 12, 0),
        (1.2, 0.6, 0), (0.3, -0.75, 0.1), (-3, 2, 0), (0.7, 1, 1.6))


def rows_of(*names):
    with open(DATA) as f:
        return [(r[0], *map(float, r[1:])) for r in csv.reader(x for x in f if x[0] != '#')
                if r[0] in names]


def random_card(rng, most=0.5):
    """Values around the defaults, and by lot those that are off there."""
    p = {}
    for k, v in DEFAULT.items():
        if k in FLAGS:
            p[k] = rng.randint(0, FLAGS[k])
        elif k in OFF:
            if rng.random() < 0.5:
                p[k] = OFF[k] * math.exp(rng.uniform(-most, most))
        elif k not in ('level', 'tref', 'dta', 'gmin', 'icss'):
            p[k] = v * math.exp(rng.uniform(-most, most))
        if k in PARTS and k in p:
            p[k] = min(p[k], 0.95)
    p['mult'] = rng.choice((1, 1, 2.5))
    p['dta'] = rng.choice((0, 7))
    p['tref'] = rng.choice((25, 25, 40))
    return p


def text(p):
    return ' '.join('%s=%.12g' % x for x in p.items())


def positive(x, w):
    r = math.hypot(x, w)
    return 0.5 * w * w / (r - x) if x < 0 else 0.5 * (r + x)


def at_least(x, x0, a):
    return max(x, x0) + a * math.log1p(math.exp(-abs(x - x0) / a))


def at_most(x, x0, a):
    return min(x, x0) - a * math.log1p(math.exp(-abs(x - x0) / a))


class Equations:
    """The transistor at t kelvin. Currents and charges follow from the voltages of its branches."""
    def __init__(self, card, t, pol=1):
        self.p = p = dict(DEFAULT, **card)
        self.pol, self.vt = pol, KOQ * t
        tr = p['tref'] + 273.15
        vt, r, db = self.vt, t / tr, 1 / (KOQ * t) - 1 / (KOQ * tr)
        for c, g in (('e', 'b'), ('c', 'c'), ('s', 's')):
            u = -3 * vt * math.log(r) + p['vd' + c] * r + (1 - r) * p['vg' + g]
            setattr(self, 'vd' + c, at_least(u, 0.05, vt))
        grown = (p['vde'] / self.vde) ** p['pe']
        self.cje = p['cje'] * grown
        self.cjs = p['cjs'] * (p['vds'] / self.vds) ** p['ps']
        scale = (1 - p['xp']) * (p['vdc'] / self.vdc) ** p['pc'] + p['xp']
        self.cjc, self.xp = p['cjc'] * scale, p['xp'] / scale
        self.rbv = p['rbv'] * r ** (p['ab'] - p['aqbo'])
        for k, a in (('re', 'ae'), ('rbc', 'aex'), ('rcc', 'ac'), ('rcblx', 'acbl'),
                     ('rcbli', 'acbl'), ('rcv', 'aepi')):
            setattr(self, k, p[k] * r ** p[a])
        self.bf = p['bf'] * r ** (p['ae'] - p['ab'] - p['aqbo']) * math.exp(-p['dvgbf'] * db)
        self.bri = p['bri'] * math.exp(-p['dvgbr'] * db)
        self.i_s = p['is'] * r ** (4 - p['ab'] - p['aqbo'] + p['dais']) * math.exp(-p['vgb'] * db)
        self.ik = p['ik'] * r ** (1 - p['ab'])
        self.ibf = p['ibf'] * r ** (6 - 2 * p['mlf']) * math.exp(-p['vgj'] * db / p['mlf'])
        self.ibr = p['ibr'] * r * r * math.exp(-0.5 * p['vgc'] * db)
        self.vef = p['vef'] * r ** p['aqbo'] / scale
        self.ver = p['ver'] * r ** p['aqbo'] / grown
        self.iss = p['iss'] * r ** (4 - p['as']) * math.exp(-p['vgs'] * db)
        self.isf = p['icss'] * r ** (3.5 - 0.5 * p['asub']) * math.exp(-p['vgs'] * db) \
            if p['icss'] >= 0 else self.iss
        self.iks = p['iks'] * r ** (1 - p['as']) * self.i_s / p['is'] * p['iss'] / self.iss
        self.taue = p['taue'] * r ** (p['ab'] - 2) * math.exp(-p['dvgte'] * db)
        self.taub = p['taub'] * r ** (p['aqbo'] + p['ab'] - 1)
        self.tepi = p['tepi'] * r ** (p['aepi'] - 1)
        self.taur = p['taur'] * (self.taub + self.tepi) / (p['taub'] + p['tepi'])
        self.deg = p['deg'] * r ** p['aqbo']

        def gap(x):
            return p['avgeb'] * x * x / (x + p['tvgeb'])
        self.gap = at_least(at_least(p['vgzeb'] + gap(tr), 0.05, 0.1) - gap(t), 0.05, 0.1)
        g, v = self.gap / p['vgzeb'], self.vde / p['vde']
        self.nzeb = p['nzeb'] * g ** 1.5 * v ** (p['pe'] - 1)
        self.izeb = p['izeb'] * g ** -0.5 * v ** (2 - p['pe']) * math.exp(p['nzeb'] - self.nzeb)
        x = t - 300
        self.an, b = (7.03e7, 1.23e8) if pol > 0 else (1.58e8, 2.04e8)
        self.bn = b * (1 + 7.2e-4 * x - 1.6e-6 * x * x) if t < 525 else 1.081 * b

    def depleted(self, v, vd, p, aj, w, f=1.0):
        vj = at_most(v, vd * (1 - aj ** (-1 / p)), w)
        return vd / (1 - p) * (1 - f * (1 - vj / vd) ** (1 - p)) + f * aj * (v - vj)

    def epilayer(self, x2, x1):
        """Of the voltages from the base to both ends: current, injected part, density at the base,
        its pn product, voltage and smoothing of the depletion, its factors."""
        p, vt, vd, rcv = self.p, self.vt, self.vdc, self.rcv
        k0, kw = (math.sqrt(1 + 4 * math.exp((x - vd) / vt)) for x in (x2, x1))
        pw = 2 * math.exp((x1 - vd) / vt) / (1 + kw)
        ec = vt * (k0 - kw - math.log((k0 + 1) / (kw + 1)))
        i = (ec + x2 - x1) / rcv
        if i <= 0:
            p0 = 2 * math.exp((x2 - vd) / vt) / (1 + k0)
            xi = 0.5 * (p0 + pw) / (1 + 0.5 * (p0 + pw))
            if abs(x2 - x1) >= 1e-5 * vt and ec != 0:
                xi = ec / (ec + x2 - x1)
            return (i, 0.0, xi, p0, pw, math.exp(x2 / vt), x2 - x1, 0.1 * vd, i, 1 - i / p['ihc'])
        ihc, sc = p['ihc'], p['scrcv']
        v = positive(vd + 2 * vt * math.log(0.5 * i * rcv / vt + 1) - x1, 0.2 * vd)
        iqs = v * (v + ihc * sc) / (sc * (v + ihc * rcv))
        alpha = at_least(i / iqs, 1, p['axi']) / at_least(0, 1, p['axi'])
        vy = v / (ihc * sc)
        y = (1 + math.sqrt(1 + 4 * alpha * vy * (1 + vy))) / (2 * alpha * (1 + vy))
        xi = (1 - y + pw * y) / (1 + pw * y)
        gp = 0.5 * i * rcv * xi / vt
        h = 0.5 * (gp - 1)
        p0 = h + math.sqrt(h * h + 2 * gp + pw * (pw + gp + 1))
        b = 0.5 * sc * (i - ihc)
        v0 = b + math.sqrt(b * b + sc * rcv * ihc * i)
        return (i, iqs, xi, p0, pw, p0 * (p0 + 1) * math.exp(vd / vt), v0,
                vd * (0.1 + 2 * i / (i + iqs)), ihc * i / (ihc + i), ihc / (ihc + i))

    def avalanche(self, i, x1, xi, cap, rest, qb, rb2):
        p = self.p
        if i <= 0 or x1 >= self.vdc:
            return 0.0
        slope = 2 * p['vavl'] / p['wavl'] ** 2
        xd = math.sqrt(2 * (self.vdc - x1) / (rest * slope))
        weff = p['wavl'] * ((1 - 0.5 * xi) ** 2 if p['exavl'] else 1)
        wd = xd * weff / math.hypot(xd, weff)
        mean = (self.vdc - x1) / wd
        em = e0 = mean + 0.5 * wd * slope * rest
        if p['exavl']:
            sh = 1 + 2 * p['sfh'] * (1 + 2 * xi)
            fi = (1 + p['sfh']) / (1 + 2 * p['sfh'])
            ew = mean - 0.5 * wd * slope * (fi - i / (p['ihc'] * sh))
            em = 0.5 * (ew + e0 + math.sqrt((ew - e0) ** 2 + 0.1 * mean ** 2 * cap / p['ihc']))
        lam = 0.5 * wd * em / (em - mean)
        g = self.an / self.bn * em * lam * math.exp(-self.bn / em) \
            * -math.expm1(-self.bn / em * weff / lam)
        most = self.vt / (i * (self.rbc + rb2)) + qb / self.bf + self.re / (self.rbc + rb2)
        return i * g / (g + g / most + 1)

    def tunnelling(self, x):
        p = self.p
        if not p['izeb'] or x >= 0:
            return 0.0
        pe, vd, two = p['pe'], self.vde, 2 ** (2 - p['pe'])
        vj = at_most(x, vd * (1 - 3 ** (-1 / pe)), 0.1 * vd)
        field = (1 - vj / vd) ** (1 - pe)
        u = x / vd
        other = (-u) ** (-2 - pe) * (pe * (1 - pe * pe - 3 * u * (pe - 1))
                                     - 6 * u * u * (pe - 1 + u)) / 6
        width = -x + self.gap * other * math.expm1(x * two * self.nzeb / (self.gap * other)) \
            / (two * self.nzeb)
        return 2 * self.izeb * width * field / (vd * two) \
            * math.exp(self.nzeb * (1 - two / (2 * field)))

    def values(self, v):
        """Currents and charges by the names of the operating point; v: vb2e1, vb2c2, vb2c1, vb1b2,
        vb1c4, vbc3, vsc1, vsc4, vsc3."""
        p, vt = self.p, self.vt
        x, x2, x1 = v['vb2e1'], v['vb2c2'], v['vb2c1']

        def e(y):
            return math.exp(y / vt)
        i, iqs, xi, p0, pw, es, v0, wch, cap, rest = self.epilayer(x2, x1)
        vte = self.depleted(x, self.vde, p['pe'], 3, 0.1 * self.vde)
        aj = (2 - self.xp) / (1 - self.xp)
        cv = self.depleted(x1 + v0, self.vdc, p['pc'], aj, wch, rest ** p['mc'])
        vtc = (1 - self.xp) * cv + self.xp * x1
        if0 = 4 * self.i_s / self.ik
        n0, nb = (if0 * y / (1 + math.sqrt(1 + if0 * y)) for y in (e(x), es))
        q1 = qq = positive(1 + vte / self.ver + vtc / self.vef, 0.1)
        if p['deg']:
            d = self.deg / vt
            q1 = positive((math.exp((vte / self.ver + 1) * d) - math.exp(-vtc / self.vef * d))
                          / (math.exp(d) - 1), 0.1)
        n = 1 + 0.5 * (n0 + nb)
        o = {'ic1c2': i, 'iqs': iqs, 'xiwepi': xi, 'in': self.i_s * (e(x) - es) / (q1 * n)}
        ib0 = self.i_s / self.bf
        o['ib1'] = (1 - p['xibi']) * ib0 * (
            (1 - p['xrec']) * (e(x) - 1) + p['xrec'] * (e(x) + es - 2) * (1 + vtc / self.vef))
        o['sib1'] = p['xibi'] * ib0 * (e(v['vb1b2'] + x) - 1)
        gmin = p['gmin'] / p['mult']
        o['ib2'] = self.ibf * (e(x / p['mlf']) - 1) + gmin * x
        o['ib3'] = self.ibr * (e(v['vb1c4']) - 1) / (e(0.5 * v['vb1c4']) + e(0.5 * p['vlr'])) \
            + gmin * v['vb1c4']
        o['izteb'] = self.tunnelling(x)
        split = p['xext'] if p['exmod'] else 0

        def injected(y):
            return (if0 * e(y) - if0) / (1 + math.sqrt(1 + if0 * e(y)))

        def substrate(y, s):
            back = e(s) if p['exsub'] else 1
            return 2 * self.iss * (e(y) - back) \
                / (1 + math.sqrt(1 + 4 * self.i_s / self.iks * e(y)))
        nex, nxx = injected(v['vb1c4']), injected(v['vbc3'])
        o['iex'] = (1 - split) * 0.5 * self.ik * nex / self.bri
        o['isub'] = (1 - split) * substrate(v['vb1c4'], v['vsc4'])
        o['isf'] = self.isf * (e(v['vsc1']) - 1)
        o['xiex'], o['xisub'] = (split * y for y in (0.5 * self.ik * nxx / self.bri,
                                                     substrate(v['vbc3'], v['vsc3'])))
        part = 1.0
        if p['exmod'] == 1:
            bias = p['xext'] * (self.i_s / self.bri + self.iss) * self.rcc
            room = positive(v['vbc3'] - vt * (2 - math.log(bias / vt)), 0.11)
            part = room / (bias + (o['xiex'] + o['xisub']) * self.rcc + room)
        o['xiex'] *= part
        o['xisub'] *= part
        rb2 = 3 * self.rbv / (qq * n)
        o['ib1b2'] = (2 * vt * (e(v['vb1b2']) - 1) + v['vb1b2']) / rb2
        o['iavl'] = self.avalanche(i, x1, xi, cap, rest, q1 * n, rb2)
        # charges
        qb0, qw0 = self.taub * self.ik, 4 * self.tepi * vt / self.rcv
        qe = self.taue * self.ik * (self.i_s / self.ik) ** (1 / p['mtau']) * e(x / p['mtau'])
        qbe, qbc = 0.5 * qb0 * n0 * qq, 0.5 * qb0 * nb * qq
        o['qte'] = (1 - p['xcje']) * self.cje * vte
        o['sqte'] = p['xcje'] * self.cje * self.depleted(x + v['vb1b2'], self.vde, p['pe'], 3,
                                                         0.1 * self.vde)
        o['qtc'] = p['xcjc'] * self.cjc * vtc
        o['qepi'] = 0.5 * qw0 * xi * (p0 + pw + 2)
        o['qts'] = self.cjs * self.depleted(v['vsc1'], self.vds, p['ps'], 2, 0.1 * self.vds)
        o['qb1b2'] = 0.0
        if p['exphi']:
            h = 1e-5

            def emitter(y):
                return (1 - p['xcje']) * self.cje * self.depleted(
                    y, self.vde, p['pe'], 3, 0.1 * self.vde) \
                    + 0.5 * qb0 * qq * if0 * e(y) / (1 + math.sqrt(1 + if0 * e(y))) \
                    + qe * e((y - x) / p['mtau'])
            o['qb1b2'] = 0.2 * v['vb1b2'] * (emitter(x + h) - emitter(x - h)) / (2 * h)
            both = qbe + p['ke'] * qe
            qbe, qbc, qe = (1 - p['xqb']) * both, qbc + p['xqb'] * both, (1 - p['ke']) * qe
        o['qe'], o['qbe'], o['qbc'] = qe, qbe, qbc

        def outside(y):
            return self.cjc * (1 - p['xcjc']) * (
                (1 - self.xp) * self.depleted(y, self.vdc, p['pc'], aj, 0.1 * self.vdc)
                + self.xp * y)

        def stored(y, m):
            g2 = 4 * e(y - self.vdc)
            return self.taur * 0.5 * (qb0 * m + qw0 * g2 / (1 + math.sqrt(1 + g2))) \
                / (self.taub + self.tepi)
        o['qtex'] = (1 - p['xext']) * outside(v['vb1c4'])
        o['xqtex'] = p['xext'] * outside(v['vbc3'])
        o['qex'] = stored(v['vb1c4'], nex) * (1 - p['xext'] if p['exmod'] == 1 else 1)
        o['xqex'] = part * p['xext'] * stored(v['vbc3'], nxx) if p['exmod'] == 1 else 0.0
        return o


class Mextram(model_case.ModelCase):
    TITLE = 'mextram'
    TIGHT = '.options gmin=1e-20 abstol=1e-21 reltol=1e-9 vntol=1e-13 chgtol=1e-22'

    def sources(self, volts, lines, sign=1, ac=''):
        return ['V%s %s 0 %.12g%s' % (t.upper(), t, sign * v, ' ac 1' if t == ac else '')
                for t, v in zip('cbes', volts)] + lines

    # -- Xyce --

    def test_currents_of_xyce(self):
        for name, (volts, more, at) in SWEEPS.items():
            for kind, sign in (('npn', 1), ('pnp', -1)):
                for celsius in sorted({r[1] for r in rows_of(name)}):
                    rows = [r for r in rows_of(name) if r[1] == celsius]
                    p = self.run_deck(self.sources(volts, [
                        'Q1 c b e s mod', '.model mod %s %s' % (kind, XYCE + more),
                        '.temp %g' % celsius, '.dc VB %g %g %g' % (
                            sign * rows[0][2], sign * (rows[-1][2] + 0.01), sign * 0.05)],
                        sign))[0][0]
                    i = mos_cards.column(p, 'i(v%s)' % at)
                    self.assertEqual(len(i), len(rows))
                    self.assertGreater(len(i), 7)
                    for got, (_, _, v, want) in zip(i, rows):  # Xyce's sources count from outside
                        self.assertAlmostEqual(-sign * got / want, 1, delta=1e-6,
                                               msg=(name, celsius, v))

    def admittances(self, volts, ac, celsius, sweep):
        p = self.run_deck(self.sources(volts, ['Q1 c b e s mod', '.model mod npn ' + XYCE,
                                               '.temp %g' % celsius, sweep], 1, ac))[0][0]
        return list(zip(*([-x for x in mos_cards.column(p, 'i(v%s)' % t)] for t in 'cbes')))

    def test_admittances_of_xyce(self):
        n = 0
        for name, at, sweep in (('acBias_Gbb', 'b', '.ac lin 1 1g 1g'),
                                ('acBias_Gcc', 'c', '.ac lin 1 1g 1g'),
                                ('acFreq_Gbb', 'b', '.ac dec 1 1meg 1g')):
            rows = rows_of(name)
            for k, (_, celsius, v, _, *want) in enumerate(rows):
                volts = [2 if name == 'acFreq_Gbb' else 1, 1, 0, 0]
                volts['cb'.index(at)] = v
                y = self.admittances(volts, at, celsius, sweep)[k if name == 'acFreq_Gbb' else 0]
                size = max(map(abs, want))
                for got, re, im in zip(y, want[::2], want[1::2]):
                    self.assertLess(abs(got - complex(re, im)), 2e-6 * size, (name, celsius, v))
                    n += 1
        self.assertEqual(n, 80)

    def test_transient_of_xyce(self):
        for celsius in (25, 100):
            p = self.run_deck(self.sources((1, 0, 0, 0), [
                'VX x 0 pwl(0 0.5 1 1.2)', 'Q1 c x e s mod', '.model mod npn ' + XYCE,
                '.temp %g' % celsius, '.tran 1m 1 0 0.5m']))[0][0]
            t, i = p['time'], [-x for x in mos_cards.column(p, 'i(vx)')]
            rows = [r for r in rows_of('FGummel_Ib_TRANS') if r[1] == celsius]
            self.assertGreater(len(rows), 7)
            for _, _, at, want in rows:
                k = max(1, next(k for k, x in enumerate(t) if x >= at))
                part = (at - t[k - 1]) / (t[k] - t[k - 1])
                got = i[k - 1] * (i[k] / i[k - 1]) ** part
                self.assertAlmostEqual(got / want, 1, delta=2e-5, msg=(celsius, at))

    def test_noise_of_xyce(self):
        """Contributions of the transistor to a stage's output, 1e-46 to 1e-26 V^2/Hz."""
        rows = rows_of('commonEmitterBjt_mextram')
        p = self.run_deck(['.temp 27', 'R5 0 OUT 1MEG', 'V1 1 0 AC 1', 'V2 Vcc 0 1',
                           'C2 Vc OUT 10u', 'R4 0 Ve 270', 'R3 Vc Vcc 1.5k', 'C1 1 Vb 10u',
                           'Q1 Vc Vb Ve 0 mod', 'R2 0 Vb 6.8k', 'R1 Vb Vcc 39k',
                           '.model mod npn ' + XYCE,
                           '.noise V(OUT) V1 oct 10 .01 1e3 1'])[0][0]
        self.assertGreater(len(rows), 8)
        for k, (_, _, f, *want) in enumerate(rows):
            self.assertAlmostEqual(p['frequency'][18 * k] / f, 1, 6)
            for name, root in zip(NOISE, want):
                got = sum(p['onoise_q1_' + x][18 * k] ** 2 for x in name.split())
                # Xyce's constant k of resistors is another one, and they set its operating point
                self.assertAlmostEqual(got / root ** 3, 1, delta=3e-5, msg=(name, f))

    # -- the equations --

    def biases(self, card, celsius, pol, level=504, more=''):
        """Values of the operating point at BIAS, of one transistor; the rises in temperature."""
        eq = Equations({}, celsius + 273.15)
        names = sorted(eq.values(dict.fromkeys(
            'vb2e1 vb2c2 vb2c1 vb1b2 vb1c4 vbc3 vsc1 vsc4 vsc3'.split(), 0.0)))
        names += 'vb2e1 vb2c2 vb2c1 vb1c1 vc4c1 vc3c4 vsc ircc irbc tk pdiss'.split()
        lines = ['.temp %g' % celsius, '.op',
                 '.model mod %s level=%d %s' % ('npn' if pol > 0 else 'pnp', level, text(card))]
        for k, (vbe, vce, vse) in enumerate(BIAS):
            if vbe > 0.4:
                vbe += 1.2e-3 * (27 - celsius)
            lines += ['V%s%d %s%d 0 %.12g' % (t, k, t, k, pol * v)
                      for t, v in (('c', vce), ('b', vbe), ('s', vse))]
            lines += ['Q%d c%d b%d 0 s%d mod %s' % (k, k, k, k, more),
                      '.save ' + ' '.join('@q%d[op_%s]' % (k, n) for n in names)]
        p = self.run_deck(lines)[0][0]
        return [{n: p['@q%d[op_%s]' % (k, n)][0] for n in names} for k in range(len(BIAS))]

    def against(self, card, celsius, pol):
        e = Equations(card, celsius + card.get('dta', 0) + 273.15, pol)
        m = card.get('mult', 1)
        seen = {}
        for k, got in enumerate(self.biases(card, celsius, pol)):
            self.assertAlmostEqual(got['tk'], KOQ ** -1 * e.vt, 9)
            v = {n: got[n] for n in ('vb2e1', 'vb2c2', 'vb2c1')}
            v['vb1b2'] = got['vb1c1'] - got['vb2c1']
            v['vb1c4'] = got['vb1c1'] - got['vc4c1']
            drop = got['ircc'] / m * e.rcc
            v['vsc3'] = pol * got['vsc'] + drop
            v['vsc4'] = v['vsc3'] + got['vc3c4']
            v['vsc1'] = v['vsc4'] + got['vc4c1']
            v['vbc3'] = v['vb1c4'] - got['vc3c4'] + got['irbc'] / m * e.rbc
            for n, want in e.values(v).items():
                # what follows from the rounding of a volt: in ic1c2, and the least of each kind
                least = {'q': 1e-22, 'x': 1e-7}.get(n[0], 1e-18) + (1e-15 / e.rcv) * (n != 'izteb')
                if n == 'ib1b2':
                    least = 1e-14 / e.rbv
                if n in ('xqtex', 'xqex', 'xiex', 'xisub'):
                    least = 1e-22 if n[1] == 'q' else 1e-17
                value = got[n] if n == 'xiwepi' else got[n] / m
                if n == 'iqs' and abs(got['ic1c2']) < 1e-15:
                    continue  # on which side of 0 decides
                self.assertAlmostEqual(value, want, delta=2e-7 * abs(want) + least,
                                       msg=(n, BIAS[k], celsius, pol, card))
                if abs(want) > 1e3 * least:
                    seen[n] = seen.get(n, 0) + 1
        return seen

    def test_values_equal_the_equations(self):
        rng = random.Random(504)
        seen = {}
        for k in range(24):
            card = random_card(rng)
            for n, c in self.against(card, rng.choice((-40, 0, 27, 85, 140)),
                                     1 - 2 * (k % 2)).items():
                seen[n] = seen.get(n, 0) + c
        self.against({}, 25, 1)
        self.against({'izeb': 1e-6, 'exavl': 1, 'exsub': 1}, 280, 1)
        for n in Equations({}, 300).values(dict.fromkeys(
                'vb2e1 vb2c2 vb2c1 vb1b2 vb1c4 vbc3 vsc1 vsc4 vsc3'.split(), 0.1)):
            self.assertGreater(seen.get(n, 0), 10, n)  # each of them was more than nothing

    def test_a_pnp_is_an_npn_turned_round(self):
        """But for avalanche, whose constants are those of holes: a wide epilayer has none."""
        rng = random.Random(505)
        for level in (504, 505):
            card = dict(random_card(rng), wavl=1e-3)
            card.pop('izeb', 0)
            one, two = (self.biases(card, 50, pol, level) for pol in (1, -1))
            for k, (a, b) in enumerate(zip(one, two)):
                for n in a:
                    s = -1 if n == 'vsc' else 1
                    least = 1e-9 if n in ('xiwepi', 'iqs') else 1e-16
                    self.assertAlmostEqual(a[n], s * b[n], delta=1e-8 * abs(a[n]) + least,
                                           msg=(n, BIAS[k]))

    # -- many, and heat --

    def stage(self, lines, analysis):
        return self.run_deck(['VS in 0 0.8 ac 1', 'RS in b 100', 'VC v 0 3', 'RC v c 200',
                              'RT t 0 300', *lines, analysis])[0][0]

    def test_mult_is_that_many_transistors(self):
        card = '.model mod npn level=%d deg=0.01 xrec=0.1 kavl=1 kc=1 izeb=1u rcblx=5 rcbli=3 ' \
            'cbco=1f cbeo=2f mlf=1.7 kf=1e-9 kfn=1e-9 af=1.6 exavl=1 gmin=1e-30 %s'
        for level in (504, 505):
            t = 't ' if level == 505 else ''
            forms = ((['Q%d c b 0 0 %smod' % (k, t) for k in range(3)], card % (level, '')),
                     (['Q0 c b 0 0 %smod m=3' % t], card % (level, '')),
                     (['Q0 c b 0 0 %smod mult=3' % t], card % (level, '')),
                     (['Q0 c b 0 0 %smod 3' % t], card % (level, '')),
                     (['Q0 c b 0 0 %smod' % t], card % (level, 'mult=3')),
                     (['Q0 c b 0 0 %smod' % t], card % (level, 'm=3')),
                     (['Q0 c b 0 0 %smod m=2' % t], card % (level, 'mult=1.5')))
            ac, noise, op = ([self.stage(lines + [model], a) for lines, model in forms] for a in (
                '.ac dec 1 1k 100g', '.noise v(c) VS dec 1 1 100g',
                '.op\n.save @q0[ic] @q0[op_gm] @q0[op_cbe] @q0[op_rb] @q0[op_pdiss] @q0[op_ft]'))
            for k in range(1, len(forms)):
                for a, b in zip(mos_cards.column(ac[0], 'v(c)'), mos_cards.column(ac[k], 'v(c)')):
                    self.assertLess(abs(a - b), 1e-9 * abs(a), (level, k))
                for a, b in zip(noise[0]['onoise_spectrum'], noise[k]['onoise_spectrum']):
                    self.assertAlmostEqual(b / a, 1, 9, (level, k))
            for k in range(1, len(forms)):
                for n, f in (('ic', 3), ('op_gm', 3), ('op_cbe', 3), ('op_rb', 1 / 3),
                             ('op_pdiss', 3), ('op_ft', 1)):
                    self.assertAlmostEqual(op[k]['@q0[%s]' % n][0] / op[0]['@q0[%s]' % n][0] / f, 1,
                                           8, (level, k, n))

    def test_heat(self):
        """Level 505 is level 504 at the temperature that its power makes."""
        rng = random.Random(6)
        for pol in (1, -1):
            card = random_card(rng)
            card.update(dta=0, mult=1)
            hot = dict(card, rth=400, ath=0.7)
            got = self.biases(hot, 60, pol, 505)
            rth = 400 * (333.15 / (card['tref'] + 273.15)) ** 0.7
            n = 0
            for k, b in enumerate(got):
                rise = b['tk'] - 333.15
                self.assertAlmostEqual(rise, rth * b['pdiss'], delta=1e-8 * abs(rise) + 1e-9)
                if rise < 1e-3:
                    continue
                n += 1
                cold = self.biases(card, 60, pol, 504, 'dtemp=%.15g' % rise)[k]
                for name in ('ircc', 'irbc', 'pdiss', 'vb2e1', 'qbe'):
                    self.assertAlmostEqual(cold[name], b[name], msg=(name, BIAS[k]),
                                           delta=1e-7 * abs(b[name]) + 1e-15)
            self.assertGreater(n, 8)

    def test_power_is_what_flows_in(self):
        rng = random.Random(7)
        for k in range(6):
            card = dict(random_card(rng), mult=1, exsub=1)
            lines = ['.temp 27', '.op', '.model mod npn level=504 ' + text(card)]
            for j, (vbe, vce, vse) in enumerate(BIAS):
                lines += ['V%s%d %s%d 0 %g' % (t, j, t, j, v)
                          for t, v in (('c', vce), ('b', vbe), ('s', vse))]
                lines += ['Q%d c%d b%d 0 s%d mod' % (j, j, j, j), '.save all @q%d[op_pdiss]' % j]
            p = self.run_deck(lines)[0][0]
            for j, bias in enumerate(BIAS):
                parts = [-mos_cards.column(p, 'i(v%s%d)' % (t, j))[0] * v
                         for t, v in zip('bcs', bias)]
                self.assertAlmostEqual(p['@q%d[op_pdiss]' % j][0], sum(parts),
                                       delta=1e-8 * max(map(abs, parts)) + 1e-18, msg=bias)

    def test_thermal_node(self):
        """A line without it has one of its own; with it a network outside counts too."""
        card = '.model mod npn level=505 rth=300 cth=1n'

        def rise(nodes, *more):
            p = self.run_deck(['VC c 0 2', 'VB b 0 0.85', 'Q1 c b 0 %s mod' % nodes, card, '.op',
                               '.save @q1[op_tk] @q1[op_pdiss]', *more])[0][0]
            return p['@q1[op_tk]'][0] - 300.15, p['@q1[op_pdiss]'][0]
        for nodes, more, r in (('', (), 300), ('0', (), 300), ('0 t', (), 300),
                               ('0 t', ('RT t 0 200',), 120)):
            got, power = rise(nodes, *more)
            self.assertAlmostEqual(got / (r * (300.15 / 298.15) ** 0 * power), 1, 8)
            self.assertGreater(got, 0.1)
        # 0.3 us: 632 parts of 1000 of the rise
        p = self.run_deck(['VC c 0 1', 'VB b 0 pulse(0 0.75 0 1p 1p 1 2)', 'Q1 c b 0 0 t mod', card,
                           '.tran 1n 3u 0 1n'])[0][0]
        t, v = p['time'], mos_cards.column(p, 'v(t)')
        at = next(x for x, y in zip(t, v) if y > 0.6321 * v[-1])
        self.assertAlmostEqual(at / 3e-7, 1, delta=0.03)

    # -- the rest --

    def test_excess_flag_of_noise(self):
        """exmod = 2 is no factor 2 of currents' noise, and xext above one half no root of less than
        nothing."""
        stage = ['VB b 0 0.75 ac 1', 'VC c 0 0.05', 'H1 o 0 VB 1', 'RO o 0 1', 'Q1 c b 0 0 mod',
                 '.noise v(o) VB dec 1 1 1meg']
        one, two = (self.run_deck(stage + ['.model mod npn level=504 xext=0.8 rcc=1m kf=1n exmod=%d'
                                           % k])[0][0]['onoise_spectrum'] for k in (1, 2))
        for a, b in zip(one, two):
            self.assertAlmostEqual(b / a, 1, delta=0.02)

    def test_correlated_noise(self):
        """With a noise transit time the collector's noise is in the base's current, shifted by a
        quarter of a period: at 1 GHz more, at 1 kHz nothing."""
        stage = ['VB b 0 0.8 ac 1', 'VC c 0 1', 'H1 o 0 VB 1', 'RO o 0 1', 'Q1 c b 0 0 mod',
                 '.noise v(o) VB dec 1 1k 1g']
        card = '.model mod npn level=504 exphi=0 rbc=1m rbv=1m rcc=1m re=1m rcv=1m tepi=0 cjc=0 ' \
            'taue=0 kf=0 kfn=0 '
        got = [self.run_deck(stage + [card + x])[0][0] for x in ('', 'kc=2 ftaun=1')]
        i = self.run_deck(['VB b 0 0.8', 'VC c 0 1', 'Q1 c b 0 0 mod', card, '.op',
                           '.save @q1[op_qbe] @q1[op_qbc] @q1[op_in]'])[0][0]
        tau = (i['@q1[op_qbe]'][0] + i['@q1[op_qbc]'][0]) / i['@q1[op_in]'][0]
        for at, f in ((0, 1e3), (6, 1e9)):
            more = got[1]['onoise_spectrum'][at] ** 2 - got[0]['onoise_spectrum'][at] ** 2
            want = 2 * Q * i['@q1[op_in]'][0] * (2 * math.pi * f * tau) ** 2
            if f > 1e6:
                self.assertAlmostEqual(more / want, 1, delta=0.1)
            else:
                self.assertLess(abs(more), 1e-9 * got[0]['onoise_spectrum'][at] ** 2)

    def test_noise_of_avalanche(self):
        """The collector's, from a base and an emitter without resistance: with kavl = 1 avalanche
        multiplies that of the transfer current and counts for its own pairs once more. Both come
        to the terminal as the current through the epilayer, which makes more avalanche."""
        card = '.model mod npn level=504 rbc=1m rbv=1m rcc=1m re=1m rcv=1m wavl=0.4u kavl=%d'
        stage = ['VB b 0 0.7', 'VC c 0 7 ac 1', 'H1 o 0 VC 1', 'RO o 0 1', 'Q1 c b 0 0 mod']
        got = [self.run_deck(stage + [card % k, '.noise v(o) VC dec 1 1meg 1meg'])[0][0]
               ['onoise_spectrum'][0] ** 2 for k in (0, 1)]
        i = self.run_deck(stage + [card % 1, '.op', '.save @q1[op_in] @q1[op_iavl]'])[0][0]
        i, avl = i['@q1[op_in]'][0], i['@q1[op_iavl]'][0]
        self.assertGreater(avl, 0.03 * i)
        g = avl / i
        want = (i * (1 + g) ** 2 + avl * (1 + g)) / (i + avl)
        self.assertAlmostEqual(got[1] / got[0] / want, 1, delta=1e-5)
        self.assertGreater(want, 1.05)

    def test_overlap_capacitances_lie_between_terminals(self):
        card = '.model mod npn level=504 cje=0 cjc=0 re=1k rcc=1k rbc=1k %s'
        for at, more in (('c', 'cbco=1p'), ('e', 'cbeo=1p')):
            y = [self.run_deck(self.sources((0, 0, 0, 0), [
                'Q1 c b e s mod', card % x, '.ac lin 1 1g 1g'], 1, 'b'))[0][0]
                ['i(v%s)' % at][0] for x in ('', more)]
            self.assertLess(abs(y[1] - y[0] - 2j * math.pi * 1e9 * 1e-12), 1e-12)

    def test_any_voltage_gives_numbers(self):
        full = 'level=%d izeb=1u xrec=0.1 deg=0.02 icss=1e-17 exsub=1 exavl=1 kavl=1 kc=1 ' \
            'rcblx=3 rcbli=2 xibi=0.1 pe=0.01 pc=0.01 ps=0.011 re=1m rbc=1m rbv=1m rcc=1m rcv=1m'
        for kind in ('npn', 'pnp'):
            for level, more in ((504, ''), (505, 'rth=10')):
                lines = ['VB x 0 0', 'RB x b 1k', 'VC y 0 0', 'RC y c 1k', 'VS z 0 0', 'RS z s 1k',
                         'Q1 c b 0 s mod', '.model mod %s %s %s' % (kind, full % level, more),
                         '.options reltol=1e-3 vntol=1e-6 abstol=1e-12 gmin=1e-12']
                self.check_finite(lines, ('.dc VB -100 100 4 VC -100 100 50', '.ac dec 1 1 1e12',
                                          '.dc VS -50 50 10 VB -50 50 10'), (kind, more))

    def test_random_cards_run_or_are_refused(self):
        """Parameters of any size: a finite operating point, or a message."""
        rng = random.Random(17)
        decks = []
        for _ in range(60):
            card = ''
            for n in rng.sample(sorted(set(DEFAULT) - {'level'}), 6):
                size = DEFAULT[n] or rng.choice((1e-12, 0.1, 10))
                size *= rng.choice((1,) * 9 + (-1,)) * 10 ** rng.uniform(-1.5, 2)
                card += ' %s=%.4g' % (n, rng.randint(0, FLAGS[n]) if n in FLAGS else size)
            text = ('any\nVC y 0 %g\nVB x 0 %g\nRB x b 100\nRC y c 50\nQ1 c b 0 0 mod\n.temp %g'
                    '\n.model mod %s level=%d%s\n.save all @q1[op_gm] @q1[op_cbc]\n.op\n.end\n'
                    % (rng.uniform(-10, 20), rng.uniform(-5, 5), rng.choice((-55, 27, 150)),
                       rng.choice(('npn', 'pnp')), rng.choice((504, 505)), card))
            decks.append((card, text))
        self.check_finite_or_refused(decks, 16)

    def test_levels_and_messages(self):
        deck = ['VC c 0 2', 'VB b 0 0.8', 'Q1 c b 0 0 mod', '.options warn=1', '.op']
        for card, said, status in (
                ('level=6 vers=504', "module 'mextram' has no parameter 'vers'", 0),
                ('level=504 rth=300', "module 'mextram' has no parameter 'rth'", 0),
                ('level=504 vce_max=1.5', 'Vce=2 V is beyond vce_max=1.5 V', 0),
                ('level=505 rth=0', "parameter 'rth' is 0 K/W, outside its range", 1),
                ('level=504 re=0', "parameter 're' is 0 Ohm, outside its range", 1)):
            _, got = self.run_deck(deck + ['.model mod npn ' + card], status)
            self.assertIn(said, got)


if __name__ == '__main__':
    model_case.run()
