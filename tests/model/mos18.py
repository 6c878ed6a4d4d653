#!/usr/bin/env python3
"""Level 18 of MOS transistors, Xyce's power MOSFET: against Xyce's own results and against its
equations, written down here once more from the publications that models/mos18.va names.

    mos18.py VSIM [test...]

Xyce takes x for ln(1 + exp(x)/2) from x = 50 on, which is ln 2 more: its charge of the channel has
a step of 1.4 % there. Here it has none, so above it the currents are smaller than Xyce's by up to
ln 2 / x; its own tolerance is 1 %."""
import csv
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import model_case  # noqa: E402
import mos_cards  # noqa: E402

DATA = os.path.join(HERE, '..', 'data', 'mos18_xyce.csv')
Q, KOQ = 1.6021766208e-19, 1.38064852e-23 / 1.6021766208e-19
K, ROOM = KOQ * Q, 300.15
EPSOX, EPSSI = 3.9 * 8.854214871e-12, 11.7 * 8.854214871e-12

# Model card, line of the element, steps of the sweep of drain and gate
DECKS = {
    'irf130': ('nmos level=18 cv=1 cve=1 vto=3.5 rd=0 rs=0.005 lambda=0 sigma0=0 uo=230 vmax=4e4 '
               'delta=5 tox=50n', 'w=0.386 l=2.5u', 5, 5),
    'irhc110': ('nmos level=18 vto=4 rd=0.12 rs=0.055 lambda=0 sigma0=0 uo=700 tox=100n '
                'nsub=4.6e16 phi=0.6', 'w=0.25 l=3u', 1, 1),
    'mtb60p06v': ('pmos level=18 rd=0 rg=0 rs=0.0025 vto=-3.2 sigma0=0 nsub=4.6e15 phi=0.6 uo=355 '
                  'tox=105n', 'w=1.114 l=1.632u', -0.5, -0.25)}
DEFAULT = dict(vto=0, phi=0.6, rd=0, rs=0, uo=280, vmax=4e4, delta=5, eta=1.32, sigma0=0.048,
               vsigmat=1.7, vsigma=0.2, theta=0, tox=1e-7, gammas0=0.5, gammal0=0, driftparama=0.08,
               driftparamb=0.013, nsub=0, isubmod=0, mc=3, ls=35e-9, ai=2e9, bi=8e8, rsub=0,
               delmax=0.9, md=2, vp=0, w=1e-4, l=1e-4, cv=1, cve=1, vfb=0)
UNIT = {'n': 1e-9, 'u': 1e-6, 'm': 1e-3, 'k': 1e3, 'p': 1e-12}


def number(text):
    return float(text[:-1]) * UNIT[text[-1]] if text[-1] in UNIT else float(text)


def unified(x):
    return x - math.log(2) if x > 50 else math.log1p(0.5 * math.exp(max(x, -300)))


def gap(t):
    return 1.16 - 7.02e-4 * t * t / (t + 1108)


def potential(v, t, tn):
    """A junction potential v of tn at t."""
    def shift(x):
        half = 0.5 * (1.1150877 / (KOQ * ROOM) - gap(x) / (KOQ * x))
        return -2 * KOQ * x * (1.5 * math.log(x / ROOM) + half)
    return shift(t) + t / tn * (v - shift(tn))


def rows_of(*names):
    with open(DATA) as f:
        return [(r[0], *map(float, r[1:])) for r in csv.reader(x for x in f if x[0] != '#')
                if r[0] in names]


class Equations:
    """The device at t kelvin, a p channel with its voltages and currents turned round."""
    def __init__(self, card, inst, t=ROOM, tn=ROOM):
        words = [x.split('=') for x in (card + ' ' + inst).split() if '=' in x]
        self.p = p = dict(DEFAULT, **{k: number(v) for k, v in words})
        given = {k for k, _ in words}
        self.s, self.vt = -1 if card.startswith('pmos') else 1, KOQ * t
        self.alpha = p.get('alpha', 1.05 if self.s > 0 else 1.3)
        self.lam = 0 if p['isubmod'] else p.get('lambda', 0.048)
        self.cox = EPSOX / p['tox']
        gamma = math.sqrt(2 * EPSSI * Q * 1e6 * p['nsub']) / self.cox
        self.gs = p['gammas0'] if 'gammas0' in given or not p['nsub'] else gamma
        if p['nsub'] and 'phi' not in given:
            p['phi'] = max(0.1, 2 * KOQ * tn * math.log(1e6 * p['nsub'] / 1.45e16))
        self.vfb = self.s * p['vfb']
        full = gamma * math.sqrt(p['phi']) + p['phi']
        if p['nsub'] and 'vto' not in given:  # a gate of the other type
            if 'vfb' not in given:
                self.vfb = -0.5 * (gap(tn) + p['phi'])
            p['vto'] = self.s * (self.vfb + full)
        elif p['nsub'] and 'vfb' not in given:
            self.vfb = self.s * p['vto'] - full
        self.phi = potential(p['phi'], t, tn)
        vto = self.s * (p['vto'] + 0.5 * (gap(tn) - gap(t))) + 0.5 * (self.phi - p['phi']) \
            + gamma * (math.sqrt(self.phi) - math.sqrt(p['phi']))
        self.vtoo = vto - self.gs * math.sqrt(self.phi) + p['gammal0'] * self.phi
        self.mu0 = 1e-4 * p['uo'] / (t / tn) ** 1.5
        self.n0 = 0.5 * self.cox * p['eta'] * self.vt / Q

    def von(self, vbs):
        w, g = self.phi - vbs, self.p['gammal0']
        if g > 0:
            w = min(w, (self.gs / (2 * g)) ** 2)
        root = math.sqrt(max(w, 0.25 * self.phi))
        if w < 0.25 * self.phi:  # bulk forward biased: on as a hyperbola
            root /= 1 + (0.25 * self.phi - w) / (0.5 * self.phi)
        return self.vtoo + self.gs * root - g * w

    def multiplied(self, i, ns, mu, vds):
        """The current i with isubmod."""
        p, rt = self.p, self.p['rs'] + self.p['rd']
        qs, vml, oxide = Q * ns - i * self.cox * p['rs'], p['vmax'] * p['l'], self.cox * self.alpha
        if self.s > 0:
            vsat = 2 * qs * vml / (qs * mu + 2 * oxide * vml)
        else:
            x = 2 * qs * mu / (oxide * vml)  # vml / mu (sqrt(1 + x) - 1)
            vsat = vml / mu * x / (1 + math.sqrt(1 + x))
        vdso = vds - i * rt
        vdse = vdso / (1 + (vdso / vsat) ** p['mc']) ** (1 / p['mc'])
        vp = p['vp'] or vml / self.mu0 * (2 if self.s > 0 else 1)
        share = p['w'] * mu * self.cox * vdse / p['l']
        dl = p['ls'] * math.log10(1 + (vdso - vdse) / vp) / (1 + vdse / vp + share * p['rs'])
        over = vdso - vdse + self.vt
        mult = p['ai'] / p['bi'] * over * math.exp(-p['ls'] * p['bi'] / over)
        feed = 0.5 * (self.alpha - 1) * share * p['rsub'] * mult
        held = feed / (1 + (feed / p['delmax']) ** p['md']) ** (1 / p['md'])
        return i / ((1 - dl / p['l']) * (1 - held))

    def parts(self, vgs, vds, vbs):
        """Current and saturation voltage of the channel, vds >= 0."""
        p, vt = self.p, self.vt
        von = self.von(vbs)
        over = vgs - von
        fall = p['sigma0'] / (1 + math.exp(min((over - p['vsigmat']) / p['vsigma'], 500)))
        vgt = over + fall * vds
        b = 0.5 * vgt / vt - 1
        vgte = vt * (2 + b + math.hypot(p['delta'], b))
        ns = 2 * self.n0 * unified(vgt / (p['eta'] * vt))
        mu = self.mu0 / (1 + p['theta'] * (vgte + 2 * von) / p['tox'])
        gchi = Q * p['w'] / p['l'] * mu * ns
        vl = p['vmax'] * p['l'] / (mu if p['isubmod'] else self.mu0)
        h = 1 + gchi * p['rs'] + math.sqrt(1 + 2 * gchi * p['rs'] + (vgte / vl) ** 2)
        vdsat = vgte * (1 + gchi * (p['rs'] + p['rd'])) / h
        i = gchi * vgte / h * (1 + self.lam * vds) * math.tanh(vds / vdsat)
        return self.multiplied(i, ns, mu, vds) if p['isubmod'] else i, vdsat

    def channel(self, vgs, vds, vbs):
        if vds < 0:
            return -self.parts(vgs - vds, -vds, vbs - vds)[0]
        return self.parts(vgs, vds, vbs)[0]

    def drain(self, vd, vg, vb):
        """Current into the drain behind rd and the drift region, source behind rs at 0: between 0
        and what the drift region takes alone."""
        p, sign = self.p, 1 if vd >= 0 else -1
        lo, hi = 0.0, abs(vd) / (p['driftparama'] + p['driftparamb'] * abs(vd))
        for _ in range(200):
            i = 0.5 * (lo + hi)
            drop = i * p['driftparama'] / (1 - i * p['driftparamb'])
            vs, vdi = sign * i * p['rs'], vd - sign * (drop + i * p['rd'])
            more = sign * (vdi - vs) > 0 and sign * self.channel(vg - vs, vdi - vs, vb - vs) > i
            lo, hi = (i, hi) if more else (lo, i)
        return sign * lo

    def capacitances(self, vgs, vds, vbs):
        """From the gate to source, drain and bulk, vds >= 0."""
        p, total = self.p, self.cox * self.p['w'] * self.p['l']
        if p['cve'] == 2:
            h, at = 1e-5, (vgs, vgs - vds, vgs - vbs)
            moved = [[self.gate_charge(*(x + sign * h * (j == k) for j, x in enumerate(at)))
                      for sign in (1, -1)] for k in range(3)]
            return [max(a - b, 0) / (2 * h) for a, b in moved]
        x = vgs - self.von(vbs)
        vdsat = self.parts(vgs, vds, vbs)[1]
        cgb = total * min(max(-x / self.phi, 0), 1)
        c = 2 / 3 * total * min(max(1 + 2 * x / self.phi, 0), 1)
        if p['cv'] == 2:
            c = 2 / 3 * total / (1 + 2 * math.exp(-x / (p['eta'] * self.vt)))
            vds = vds / (1 + (vds / vdsat) ** p['mc']) ** (1 / p['mc'])
        if vds >= vdsat:
            return [c, 0, cgb]
        d = 2 * vdsat - vds
        return [c * (1 - ((vdsat - vds) / d) ** 2), c * (1 - (vdsat / d) ** 2), cgb]

    def gate_charge(self, vgs, vgd, vgb):
        p, wl, a = self.p, self.p['w'] * self.p['l'], Q / self.cox
        if vgb <= self.vfb:
            return self.cox * wl * (vgb - self.vfb)
        over, ev = vgs - self.von(vgs - vgb), p['eta'] * self.vt
        s, d = (2 * self.n0 * unified(x / ev) for x in (over, over - self.alpha * (vgs - vgd)))
        n = s
        if abs(s - d) > 1e-9 * s:  # mean along the channel: each density by its share of drift
            n = (0.5 * ev * (d * d - s * s) + a / 3 * (d ** 3 - s ** 3)) \
                / (ev * (d - s) + 0.5 * a * (d * d - s * s))
        root = math.sqrt(self.gs ** 2 + 4 * (vgb - self.vfb) - 4 * a * s)
        zeta = (1 - self.alpha) / self.alpha
        return Q * wl * (n + 0.5 * self.gs / a * (root - self.gs) - zeta * s + zeta * n)


class Level18(model_case.ModelCase):
    TITLE = 'level 18'
    TIGHT = '.options gmin=1e-18 abstol=1e-15 reltol=1e-9 vntol=1e-12'

    def curves(self, card, inst, sweep, vb=0, more=()):
        """Drain and gate voltage, currents into drain and bulk."""
        p = self.run_deck(['VD d 0 0', 'VG g 0 0', 'VB b 0 %g' % vb, 'M1 d g 0 b mod ' + inst,
                           '.model mod ' + card, '.dc VD %s VG %s' % sweep] + list(more))[0][0]
        i, ib = ([-x for x in mos_cards.column(p, n)] for n in ('i(vd)', 'i(vb)'))
        return list(zip(mos_cards.column(p, 'v(d)'), mos_cards.column(p, 'v(g)'), i, ib))

    def test_results_of_xyce(self):
        for name, (card, inst, step_d, step_g) in DECKS.items():
            e = Equations(card, inst)
            want = {(vd, vg): i for _, vd, vg, i in rows_of(name)}
            ends = [sorted((v[k] for v in want), key=abs) for k in (0, 1)]
            sweep = ('0 %g %g' % (ends[0][-1], step_d),
                     '%g %g %g' % (ends[1][0], ends[1][-1], step_g))
            n = 0
            for vd, vg, i, _ in self.curves(card, inst, sweep):
                xyce = want.get((round(vd, 9), round(vg, 9)))
                if xyce is None:
                    continue
                n += 1
                stepped = e.s * (vg - e.p['vto']) > 50 * e.p['eta'] * e.vt
                less = 1 - i / xyce
                self.assertLess(less, 1e-4 + (math.log(2) / 50 if stepped else 0), (name, vd, vg))
                self.assertGreater(less, -1e-4, (name, vd, vg))
            self.assertEqual(n, len(want))
            self.assertGreater(n, 14)

    def test_transient_of_xyce(self):
        """Edges of 50 ns at the gate of a transistor that conducts; what charges the gate is 4 % of
        the drain's current."""
        rows = rows_of('irf130-tran')
        p = self.run_deck(['VD 3 1 0.5', 'VS 2 0 0', 'VID 0 1 0', 'M1 3 4 2 0 mod w=0.386 l=2.5u',
                           'VG 4 0 10 pulse(0 10 300ns 50ns 50ns 400ns 1000ns)',
                           '.model mod ' + DECKS['irf130'][0], '.tran 0.1n 1u 0 0.1n',
                           '.options reltol=1e-4 abstol=1e-9 vntol=1e-6'])[0][0]
        t, i = p['time'], mos_cards.column(p, 'i(vid)')
        for _, at, _, want in rows:
            k = next(k for k, x in enumerate(t) if x >= at)
            got = i[k - 1] + (i[k] - i[k - 1]) * (at - t[k - 1]) / (t[k] - t[k - 1])
            self.assertAlmostEqual(got, want, delta=6e-3 * max(r[3] for r in rows), msg=at)

    def against(self, card, sweep, vb=0, celsius=27):
        inst = 'w=20m l=2u'
        e = Equations(card, inst, celsius + 273.15)
        n = 0
        for vd, vg, i, _ in self.curves(card + ' is=0 d1is=1e-30 d1n=100', inst, sweep, vb,
                                        ['.options temp=%g tnom=27' % celsius]):
            want = e.s * e.drain(e.s * vd, e.s * vg, e.s * vb)
            self.assertAlmostEqual(i, want, delta=1e-6 * abs(want) + 1e-12,
                                   msg=(card, celsius, vd, vg))
            n += abs(want) > 1e-6
        self.assertGreater(n, 40)

    def test_currents_equal_the_equations(self):
        full = 'level=18 vto=%g rs=0.02 rd=0.1 lambda=0.03 sigma0=0.1 vsigmat=1 vsigma=0.3 ' \
            'theta=2n gammas0=0.8 gammal0=0.05 tox=60n uo=300 driftparama=0.2'
        mult = 'level=18 vto=%g rs=0.02 rd=0.05 isubmod=1 rsub=%d ls=40n mc=2.5 md=3 sigma0=0.02 ' \
            'tox=60n uo=300'
        for kind, s in (('nmos ', 1), ('pmos ', -1)):
            gates = '%g %g %g' % (1 * s, 6 * s, 0.5 * s)
            sweep = ('%g %g %g' % (-3 * s, 12 * s, 0.5 * s), gates)
            for celsius in (27, 125):
                self.against(kind + full % (2 * s), sweep, 0, celsius)
                for rsub in (0, 3):
                    self.against(kind + mult % (2 * s, rsub), sweep, 0, celsius)
            self.against(kind + full % (2 * s), ('0 %g %g' % (12 * s, 0.5 * s), gates), -3 * s)
            self.against(kind + 'level=18 vto=%g nsub=3e15' % (2 * s), sweep, 0, 85)
            self.against(kind + 'level=18 nsub=3e16', sweep, 0, 85)
            self.against(kind + 'level=18 nsub=3e16 phi=0.7 vfb=%g' % s, sweep, 0, 10)

    def test_multiplication_counts(self):
        """The terms of isubmod are more than rounding."""
        base = 'nmos level=18 vto=2 rs=0.02 lambda=0 sigma0=0 tox=60n uo=300 '
        i = [Equations(base + x, 'w=20m l=2u').channel(5, 12, 0)
             for x in ('', 'isubmod=1', 'isubmod=1 rsub=3')]
        self.assertGreater(i[1], 1.004 * i[0])
        self.assertGreater(i[2], 1.01 * i[1])

    def test_gate_capacitances_equal_the_equations(self):
        at = [(vg, vd) for vg in (-0.5, 1.2, 1.6, 1.85, 2.05, 2.5, 4) for vd in (0.02, 0.3, 1.5, 5)]
        for kind, s in (('nmos', 1), ('pmos', -1)):
            for which in ('cv=1', 'cv=2', 'cve=2'):
                card = '%s level=18 vto=%g tox=60n sigma0=0 gammas0=0.6 driftparama=1u ' \
                    'driftparamb=0 %s' % (kind, 2 * s, which)
                e = Equations(card, 'w=20m l=2u')
                size = e.cox * e.p['w'] * e.p['l']
                lines = ['.model mod ' + card + ' cgdo=1n cgbo=2u is=0 d1is=1e-30',
                         '.ac lin 1 1k 1k']
                for k, (vg, vd) in enumerate(at):
                    lines += ['VD%d d%d 0 %g' % (k, k, s * vd),
                              'VG%d g%d 0 %g ac 1' % (k, k, s * vg),
                              'VS%d s%d 0 0' % (k, k), 'VB%d b%d 0 %g' % (k, k, -0.4 * s),
                              'M{0} d{0} g{0} s{0} b{0} mod w=20m l=2u'.format(k)]
                p = self.run_deck(lines)[0][0]
                for k, (vg, vd) in enumerate(at):
                    c = e.capacitances(vg, vd, -0.4)
                    for v, want in zip('sdb', (c[0], c[1] + 20e-3 * 1e-9, c[2] + 2e-6 * 2e-6)):
                        got = mos_cards.column(p, 'i(v%s%d)' % (v, k))[0].imag / (2e3 * math.pi)
                        self.assertAlmostEqual(got / size, want / size, delta=3e-5,
                                               msg=(kind, which, vg, vd, v))

    def test_body_diode(self):
        card = 'nmos level=18 vto=3 is=0 d1is=2p d1n=1.1 d1isr=5n d1nr=2.2 d1vj=0.8 d1m=0.4 ' \
            'd1ikf=0.5 d1bv=30 d1ibv=1m '
        inst, vt, vbr = 'w=1m l=3u', KOQ * ROOM, 30.0
        for _ in range(50):
            vbr = 30 - vt * math.log(1e-3 / 2e-12 + 1 - vbr / vt)

        def diode(v):
            i = 5e-9 * ((1 - v / 0.8) ** 2 + 1e-3) ** 0.2 * math.expm1(v / (2.2 * vt))
            if v >= -3 * 1.1 * vt:
                i += 2e-12 * math.expm1(v / (1.1 * vt))
                return i * math.sqrt(0.5 / (0.5 + i)) if i > 0 else i
            if v >= -vbr:
                return i - 2e-12 * (1 + (3 * 1.1 * vt / (v * math.e)) ** 3)
            return i - 2e-12 * math.exp(-(vbr + v) / (1.1 * vt))

        for kind, s in (('nmos', 1), ('pmos', -1)):
            line = card.replace('nmos', kind).replace('vto=3', 'vto=%g' % (3 * s))
            for ends in ((-0.8, 0.2, 0.02), (5, 30, 0.5)):
                sweep = '%g %g %g' % tuple(s * x for x in ends)
                for vd, _, i, _ in self.curves(line, inst, (sweep, '%g %g 1' % (-5 * s, -5 * s))):
                    want = -diode(-s * vd) * s
                    self.assertAlmostEqual(i, want, delta=1e-7 * abs(want) + 1e-14, msg=(kind, vd))
        # behind d1rs: what the drop on it leaves; and the shunt
        i = self.curves(card + ' d1rs=0.2', inst, ('-0.9 -0.9 1', '-5 -5 1'))[0][2]
        self.assertAlmostEqual(diode(0.9 + 0.2 * i), -i, delta=1e-7 * abs(i))
        i = self.curves('nmos level=18 vto=3 is=0 d1is=1e-30 rdsshunt=500', inst,
                        ('5 5 1', '-5 -5 1'))[0][2]
        self.assertAlmostEqual(i, 0.01, delta=1e-9)

    def test_junctions_of_the_bulk(self):
        vt = KOQ * ROOM
        card = 'nmos level=18 vto=3 is=1p n2=1.1 d1is=1e-30 driftparama=1u'
        rest = ('0 0 1', '-5 -5 1')
        for vb in (-2, -0.1, 0.2, 0.4, 0.5):
            ib = self.curves(card, 'w=1m l=3u', rest, vb)[0][3]
            one = 1e-12 * (1.1 / vt * vb if vb < 0 else math.expm1(1.1 * vb / vt))
            self.assertAlmostEqual(ib, 2 * one, delta=1e-6 * abs(one) + 1e-17, msg=vb)
        ib = [self.curves(card + ' artd=' + a, 'w=1m l=3u as=1e-6', rest, 0.3)[0][3]
              for a in ('0', '1e4')]
        soft = [math.log1p(math.exp((0.035 - 0.1472 + x * 0.115 * 0.3) / vt)) for x in (1, -1)]
        want = 1e4 * 1e-6 * (soft[0] - soft[1]) \
            * (math.pi / 2 + math.atan((0.1472 - 0.115 * 0.3) / 0.0052))
        self.assertAlmostEqual(ib[1] - ib[0], want, delta=1e-6 * want)

    def density(self, vd, vg, card):
        p = self.run_deck(['VD d 0 %g ac 1' % vd, 'VG g 0 %g' % vg, 'H1 o 0 VD 1', 'RO o 0 1k',
                           'M1 d g 0 0 mod w=1m l=2u', '.noise v(o) VD lin 1 100 100',
                           '.model mod nmos level=18 vto=3 is=0 driftparama=1u ' + card])[0]
        return next(x['onoise_spectrum'] for x in p if 'onoise_spectrum' in x)[0] ** 2

    def test_noise(self):
        """Of the shunt, 4 k T / R, of the body diode, 2 q I and its flicker noise, and of the
        channel, 2/3 of that of a conductance gm."""
        i = 1e-12 * math.expm1(0.5 / (KOQ * ROOM))
        flicker = 1e-12 * i ** 1.2 / 100
        self.assertGreater(flicker, Q * i)
        e = Equations('nmos level=18 vto=3', 'w=1m l=2u')
        gm = (e.channel(6.001, 5, 0) - e.channel(5.999, 5, 0)) / 2e-3
        for vd, vg, card, want in (
                (1, -5, 'd1is=1e-30 rdsshunt=500', 4 * K * ROOM / 500),
                (-0.5, -5, 'd1is=1p', 2 * Q * i),
                (-0.5, -5, 'd1is=1p d1kf=1e-12 d1af=1.2', 2 * Q * i + flicker),
                (5, 6, 'd1is=1e-30 driftparamb=0', 8 / 3 * K * ROOM * gm)):
            self.assertAlmostEqual(self.density(vd, vg, card) / want, 1, 4, card)

    def test_sizes_and_temperatures(self):
        """Options and parameters of the card and of the line that say the same, or do not."""
        card, nominal = '.model mod nmos level=18 vto=2 wgammas=0.3 lgammas=0.2', ' w0=1m l0=2u'

        def current(line, *others):
            p = self.run_deck(['VD d 0 5', 'VG g 0 4', 'VB b 0 -2', '.op',
                               'M1 d g 0 b mod ' + line] + list(others))[0][0]
            return mos_cards.column(p, 'i(vd)')[0]

        plain = current('w=1m l=2u', card)
        sized = current('w=1m l=2u', card + nominal)
        for got, want, same in (
                (current('', card + nominal), sized, True),
                (current('', card, '.options defl=2u defw=1m'), sized, True),
                (current('', card + nominal, '.options defl=7u defw=5m'), sized, True),
                (current('w=1000 l=2', card + nominal, '.options scale=1u'), sized, True),
                (current('w=1m l=2u', card + ' w0=2m l0=2u'), sized, False),
                (current('w=1m l=2u', card + ' w0=1m l0=4u'), sized, False),
                (current('w=1m l=2u temp=60', card),
                 current('w=1m l=2u dtemp=20', card, '.options temp=40'), True),
                (current('w=1m l=2u temp=60', card), plain, False),
                (current('w=1m l=2u nrd=1 nrs=1', card + ' rsh=3'),
                 current('w=1m l=2u nrd=4 nrs=4', card + ' rsh=0.75'), True),
                (current('w=1m l=2u', card + ' rsh=3'), plain, False),
                (current('w=1m l=2u m=3', card), 3 * plain, True)):
            (self.assertAlmostEqual if same else self.assertNotAlmostEqual)(got / want, 1, 6)

    def test_any_voltage_gives_numbers(self):
        full = '%s level=18 vto=%g rs=0.02 rd=0.1 rg=2 sigma0=0.1 theta=20n gammal0=0.05 tox=50n ' \
            'nsub=1e16 cbd=1n cbs=1n artd=1e3 d1bv=100 d1isr=1n d1rs=0.01 d1cjo=1n d1tt=10n ' \
            'd1ikf=1 rdsshunt=1meg cgso=1n cgdo=1n cgbo=1n '
        for kind, s in (('nmos', 1), ('pmos', -1)):
            for more in ('', 'isubmod=1 rsub=10 cv=2', 'cve=2'):
                lines = ['VD d 0 1e4', 'VG g 0 0', 'VB b 0 0',
                         'M1 d g 0 b mod w=0.1 l=2u as=1u ad=1u',
                         '.model mod ' + full % (kind, 2 * s) + more,
                         '.options reltol=1e-3 vntol=1e-6 abstol=1e-12 gmin=1e-12']
                self.check_finite(lines, ('.dc VD -50 1e4 67 VG -100 1e4 1010', '.ac dec 1 1 1e12',
                                          '.dc VB -1e4 5 100 VG -50 50 10'), (kind, more))

    def test_random_cards_run_or_are_refused(self):
        """Parameters of any size: a finite operating point, or a message."""
        rng = random.Random(18)
        names = 'vto phi uo tox ld nsub vmax lambda delta eta sigma0 vsigmat vsigma theta ' \
            'gammas0 gammal0 lgammas wgammas alpha mc ls vp ai bi rsub delmax md driftparama ' \
            'driftparamb rd rg rs rsh rdsshunt is js n2 cj cjsw pb mj artd brtd crtd drtd nrtd ' \
            'd1is d1rs d1n d1cjo d1vj d1m d1eg d1xti d1fc d1bv d1ibv d1ikf d1isr d1nr kvt'.split()
        flags = ['isubmod', 'cve', 'mdtemp', 'tpg']
        decks = []
        for _ in range(60):
            card = ''
            for n in rng.sample(names + flags, 5):
                size = rng.choice((1,) * 9 + (-1,)) * 10 ** rng.uniform(-9, 4)
                card += ' %s=%.3g' % (n, rng.choice((0, 1, 2)) if n in flags else size)
            text = ('any\nVD d 0 %g\nVG g 0 %g\nRD d x 1\nM1 x g 0 0 mod w=1m l=10u ad=1n '
                    'as=1n\n.model mod nmos level=18%s\n.save all @m1[gm] @m1[cgs]\n.op\n.end\n'
                    % (rng.uniform(-20, 60), rng.uniform(-20, 20), card))
            decks.append((card, text))
        self.check_finite_or_refused(decks, 21)

    def test_messages(self):
        deck = ['VD d 0 5', 'M1 d d 0 0 mod w=1m l=2u', '.op']
        for card, said, status in (
                ('m=3 vto=1', "parameter 'm' has no effect, nor has it in Xyce", 0),
                ('xqc=0.7', "parameter 'xqc' has no effect, nor has it in Xyce", 0),
                ('kappa=1 nfs=2', "module 'mos18' has no parameters 'kappa', 'nfs': no effect", 0),
                ('driftparama=0', 'driftparama is 0 ohm; 1e-6 ohm is used', 0),
                ('driftparama=0 driftparamb=0', 'driftparama and driftparamb cannot both be 0', 1)):
            _, got = self.run_deck(deck + ['.model mod nmos level=18 ' + card], status)
            self.assertIn(said, got)
            self.assertNotIn("'vto'", got)


if __name__ == '__main__':
    model_case.run()
