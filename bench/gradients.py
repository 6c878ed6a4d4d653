#!/usr/bin/env python3
"""Gradients (.sens) of twelve circuits by 50 parameters each, beside differences of runs.

    gradients.py VSIM                        a table: circuit, analysis, gradients, the largest error
    gradients.py VSIM --only ring ldo --all  each gradient
    gradients.py VSIM --every 10             every tenth parameter alone, without the column "second" (the test
                                             suite, where closed forms stand for it: tests/cli/gradients.py)

Differences are central, with relative steps from 6.4e-2 down to 1e-6 in factors of 4, and extrapolated to
higher orders from each step on (Ridders 1982): of all these values that one counts which differs least from
both that it was made of, and this difference is its uncertainty. Large steps serve where rounding of a run is
what limits: a voltage that a capacitor of 3 V leaves of 15 mV is known to 1e-13 V. Small ones serve where
a model has kinks, which each point of a run may pass as the parameter moves: the mean of both sides is no
derivative. With trtol=1e15 truncation error never shortens a step, so that all runs have the same times and
the difference is that of the very function whose gradient is computed. Errors are in parts of what the
measure would change by if the parameter changed by all of its value, or of 1e-3 of the measure, if that is
more; a gradient is wrong where this is above 1e-5.
Where a curve crosses a level, differences are those of the curve's value there, over its slope: the time itself
is taken from a line between two points, whose slope is right to first order of the step alone. The slope
that fits the parameters best is compared with that of the curve, with an eighth of the step.
Gradients by parameters that move corners of sources are right to second order of the transient's step only;
so are differences. Both are extrapolated from runs with a half, a quarter and an eighth of the deck's step, and
what comes of it is compared, in parts of the measure, with the bound 1e-5 (column second, with the slopes). In
these runs a clock has a corner at the end of each step: all times but that of the corner that moves stay, and
no step becomes another one. Otherwise steps behind a corner follow the length of the last one before it. The
corner moves by one whole step to both sides: the error of a run depends on the part of a step that lies before
the corner, by the step squared, and a difference by less than a step would have this part's derivative, which is
of the order of the step and jumps as steps are halved."""
import argparse
import collections
import concurrent.futures
import csv
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
PSP = os.path.join(ROOT, 'netlists', 'psp103_models.inc')
KINDS = ('tran', 'op', 'dc', 'ac', 'noise')
BOUND = 1e-5
STEPS = [6.4e-2 / 4 ** k for k in range(9)]  # of differences, relative
CORNER_STEPS = [4e-4, 1e-4, 2.5e-5]  # of those whose runs are extrapolated with them
FINER = (2, 4, 8)  # parts of the step of a transient or a sweep
UNIT = {'p': 1e-12, 'n': 1e-9, 'u': 1e-6}
HELD = '.option reltol=1e-12 abstol=1e-18 vntol=1e-13 trtol=1e15'


Row = collections.namedtuple('Row', 'kind measure param got want error wrong unsure')


class Deck:
    """Cards, the parameters of the gradients, name -> value, which of these move corners of sources,
    and which --every never leaves out."""

    def __init__(self, corners='', always=''):
        self.cards, self.by, self.corners, self.always = [], {}, set(corners.split()), set(always.split())
        self.measures, self.span = {}, {}

    def card(self, text):
        self.cards.append(text)

    def measure(self, analysis, **what):
        """The card of an analysis, and its measures."""
        kind = analysis.split()[0]
        if kind == 'noise':
            what['all'] = "integ par('onoise_spectrum*onoise_spectrum')"
        self.span[kind] = analysis
        self.measures[kind] = what

    def step(self, kind, finer):
        """Of the transient or the sweep: a number and its unit."""
        number, unit = re.match(r'([0-9.]+)(.*)', self.span[kind].split()[4]).groups()
        return float(number) / finer, unit

    def text(self, kinds, finer=1, clock=False):
        """The deck with analyses of these kinds; steps of transients and sweeps are `finer` times smaller. With a
        clock, whose corners they are, times of steps are fixed."""
        lines = list(self.cards)
        for kind in kinds:
            words = self.span[kind].split()
            if kind in ('tran', 'dc'):
                step, unit = self.step(kind, finer)
                words[4] = f'{step!r}{unit}'
            if kind == 'tran':
                words[1] = words[4]
                if clock:
                    lines.append(f'vclock clock 0 pulse(0 1 0 {words[1]} {words[1]} {words[1]} {4 * step!r}{unit})')
            lines.append('.' + ' '.join(words))
            lines += [f'.meas {kind} {name} {rest}' for name, rest in self.measures[kind].items()]
        return '\n'.join([*lines, HELD, ''])

    def param(self, **values):
        for name, value in values.items():
            self.card(f'.param {name}={value!r}')
            self.by[name] = value

    def element(self, name, nodes, value, more=''):
        self.card(f'{name} {nodes} {value!r} {more}')
        self.by[name] = value

    def elements(self, text):
        """NAME NODE NODE VALUE; ..."""
        for words in (e.split() for e in text.split(';')):
            self.element(words[0], ' '.join(words[1:3]), float(words[3]))

    def device(self, name, rest, **values):
        self.card(f'{name} {rest} ' + ' '.join(f'{k.rstrip("_")}={v!r}' for k, v in values.items()))
        self.by.update({f'@{name}[{k.rstrip("_")}]': v for k, v in values.items()})

    def model(self, name, kind, **values):
        self.card(f'.model {name} {kind} ' + ' '.join(f'{k.rstrip("_")}={v!r}' for k, v in values.items()))
        self.by.update({f'{name}({k.rstrip("_")})': v for k, v in values.items()})

    def heat(self):
        self.by['temp'] = 27.0


def ladder():
    d = Deck('td tr tf pw')
    d.param(vlo=0.2, vhi=1.2, td=2.118e-9, tr=3.318e-9, tf=2.718e-9, pw=21.018e-9)
    d.card('v1 n0 0 dc 1 ac 1 pulse({vlo} {vhi} {td} {tr} {tf} {pw} 60n)')
    for k in range(20):
        d.element(f'r{k}', f'n{k} n{k + 1}', 1e3 * (1 + k / 20), 'tc1=1m')
        d.element(f'c{k}', f'n{k + 1} 0', 20e-15 * (1 + k / 10))
    d.element('rl', 'n20 0', 50e3)
    d.by['@r1[tc1]'] = d.by['@r9[tc1]'] = 1e-3
    d.heat()
    d.measure('tran 20p 60.01n 0 20p', late='trig at=5n targ v(n20) val=0.5 rise=1', mean='avg v(n10) from=3n to=50n',
              power="integ par('-v(n0)*i(v1)') from=1n to=59n")
    d.measure('op', level='find v(n20)')
    d.measure('ac dec 4 1meg 1g', half='find vdb(n20) at=10meg', turn='find vp(n20) at=1meg')
    d.measure('noise v(n20) v1 dec 4 1k 100meg', dens='find onoise_spectrum at=1k')
    return d


def filters():
    d = Deck(always='l2 l3 coupling')
    d.param(vo=0.3, va=1.1, fr=31e6, th=4e6, vdc=0.7)
    d.card('v1 a0 0 dc {vdc} ac 1 sin({vo} {va} {fr} 0 {th})')
    d.element('rs', 'a0 b0', 50.0)
    for k in range(11):
        d.element(f'l{k}', f'b{k} m{k}', 80e-9 * (1 + k / 30))
        d.element(f'rw{k}', f'm{k} b{k + 1}', 0.4 + k / 20)
        d.element(f'c{k}', f'b{k + 1} 0', 30e-12 * (1 + k / 25))
        d.element(f'rp{k}', f'b{k + 1} 0', 20e3 * (1 + k / 10))
    d.element('rl', 'b11 0', 51.0)
    d.param(coupling=0.31)
    d.card('k1 l2 l3 {coupling}')
    d.measure('tran 0.2n 150n 0 0.2n', out='rms v(b11) from=20n to=150n', mid='find v(b6) at=95n',
              cur='find i(l3) at=101n', cross='when v(b11)=0.2 rise=2')
    d.measure('op', level='find v(b11)')
    d.measure('ac lin 11 20meg 60meg', gain='find vm(b11) at=40meg', turn='find vp(b11) at=40meg')
    d.measure('noise v(b11) v1 lin 5 20meg 60meg', dens='find inoise_spectrum at=30meg')
    return d


def clipper():
    d = Deck()
    d.param(va=4.1, fr=1.1e6, off=0.2, v2=1.3)
    for name, scale in (('da', 1.0), ('db', 1.7)):
        d.model(name, 'd', is_=3e-14 * scale, n=1.06, rs=4.1 * scale, cjo=6e-12, vj=0.71, m=0.42, tt=4e-9, eg=1.11,
                xti=3.1, isr=2e-11, nr=2.1, ikf=0.02, bv=6.2 * scale, ibv=1.1e-5, fc=0.47, kf=1e-15, af=1.05)
    d.card("""v1 a 0 dc 0.9 ac 1 sin({off} {va} {fr})
v2 e 0 {v2}""")
    d.element('r1', 'a b', 470.0, 'tc1=2m')
    d.element('r2', 'c 0', 2200.0)
    d.element('r3', 'b f', 330.0)
    d.element('r4', 'g 0', 1500.0)
    d.element('c1', 'c 0', 1e-10)
    d.element('c2', 'b 0', 1e-11)
    d.element('c3', 'g 0', 47e-12)
    d.device('d1', 'b e da', area=1.1)
    d.device('d2', '0 b da', area=0.9)
    d.device('d3', 'b c db', area=1.4)
    d.device('d4', 'f g db', area=0.7)
    d.heat()
    d.card("""d5 0 h db
d6 b h da""")
    d.measure('tran 1n 1.6u 0 1n', top='find v(b) at=1.23u', mean='avg v(c) from=0.3u to=1.6u',
              power="integ par('-v(a)*i(v1)') from=0.2u to=1.5u", cross='when v(b)=0.8 rise=2')
    d.measure('op', level='find v(c)')
    d.measure('ac dec 2 10k 100meg', gain='find vm(c) at=1meg', turn='find vp(g) at=10meg')
    d.measure('noise v(c) v1 dec 3 100 10meg', dens='find onoise_spectrum at=100')
    return d


def bipolar():
    d = Deck()
    d.param(va=2e-3, fr=2.1e6, vcc=5.1)
    d.model('qn', 'npn', is_=1e-16, bf=121.0, nf=1.01, vaf=61.0, ikf=0.02, ise=2e-15, ne=1.7, br=3.1, var=12.0,
            rb=90.0, irb=1e-4, rbm=16.0, re=1.1, rc=12.0, cje=0.2e-12, vje=0.75, mje=0.35, tf=15e-12, xtf=3.1,
            vtf=4.1, itf=0.03, cjc=0.12e-12, vjc=0.65, mjc=0.4, xcjc=0.61, tr=1e-9, cjs=0.1e-12, vjs=0.6, mjs=0.3,
            xtb=1.5, eg=1.12, xti=3.1, kf=1e-14, af=1.03)
    d.card("""v2 dd 0 {vcc}
v1 in 0 dc 0 ac 1 sin(0 {va} {fr})""")
    d.elements('rs in a 610.0; rf c b 330e3; rc dd c 3.9e3; rg e 0 310.0; ro o 0 2.2e3; rl p 0 10e3')
    d.elements('ca a b 1e-8; cf c b 1e-12; cl o p 1e-9; cp p 0 5e-12')
    d.device('q1', 'c b e 0 qn', area=1.2)
    d.device('q2', 'dd c o 0 qn', area=2.1)
    d.heat()
    d.card('rt p 0 1meg')
    d.measure('tran 2n 1.5u 0 2n', swing='find v(p) at=1.13u', mean='avg v(c) from=0.2u to=1.5u', cur='rms i(v2)')
    d.measure('op', level='find v(o)', power="find par('-v(dd)*i(v2)')")
    d.measure('ac dec 3 10k 1g', gain='find vdb(p) at=1meg', turn='find vp(p) at=100meg')
    d.measure('noise v(p) v1 dec 3 10 100meg', low='find inoise_spectrum at=10')
    return d


def mos_model(d, name, kind, sign):
    d.model(name, kind, vto=0.62 * sign, kp=(110e-6 if sign > 0 else 42e-6), gamma=0.51, phi=0.71, lambda_=0.04,
            tox=2e-8, cgso=3e-10, cgdo=3.1e-10, cgbo=1e-10, cj=3e-4, mj=0.51, cjsw=3e-10, mjsw=0.33, pb=0.81, kf=1e-27)


def amplifier():
    d = Deck()
    d.param(vcm=1.4, vs=0.3)
    mos_model(d, 'mn', 'nmos level=1', 1)
    mos_model(d, 'mp', 'pmos level=1', -1)
    d.card("""v2 dd 0 3.3
v1 ip 0 dc {vcm} ac 1 pulse({vcm} {vcm+vs} 21n 7n 7n 300n 1u)""")
    size = dict(ad=1e-11, as_=1e-11, pd=2e-5, ps=2e-5)
    more = ' '.join(f'{k.rstrip("_")}={v}' for k, v in size.items())
    for name, nodes, w, ll in (('m1', 'x o s 0 mn', 20e-6, 1e-6), ('m2', 'y ip s 0 mn', 20e-6, 1e-6),
                               ('m3', 'x x dd dd mp', 10e-6, 1.2e-6), ('m4', 'y x dd dd mp', 10e-6, 1.2e-6),
                               ('m5', 's b 0 0 mn', 12e-6, 2e-6), ('m6', 'o y dd dd mp', 60e-6, 1.1e-6),
                               ('m7', 'o b 0 0 mn', 36e-6, 2e-6), ('m8', 'b b 0 0 mn', 12e-6, 2e-6)):
        d.device(name, f'{nodes} {more}', w=w, l=ll)
    d.card('ib dd b 20u')
    d.element('cc', 'y z', 1.5e-12)
    d.element('rz', 'z o', 900.0)
    d.element('cl', 'o 0', 3e-12)
    d.card('rl o 0 1meg')
    d.heat()
    d.measure('tran 0.5n 600n 0 0.5n', late='trig at=20n targ v(o) val=1.55 rise=1', end='find v(o) at=250n',
              cur='avg i(v2)')
    d.measure('op', off='find v(o)', power="find par('-v(dd)*i(v2)')")
    d.measure('ac dec 4 1k 1g', bw='find vdb(o) at=10meg', turn='find vp(o) at=10meg')
    d.measure('noise v(o) v1 dec 3 100 100meg', low='find inoise_spectrum at=100')
    return d


def bsim3(d, name, kind, sign):
    d.model(name, f'{kind} level=8 version=3.3.0', vth0=0.48 * sign, u0=(420.0 if sign > 0 else 130.0), tox=6e-9,
            k1=0.55, k2=-0.02, vsat=9e4, nch=2.2e17, xj=1.4e-7, rdsw=300.0, cgso=2e-10, cgdo=2.1e-10, cj=9e-4, mj=0.4,
            cjsw=2e-10, mjsw=0.33, pb=0.85, nfactor=1.1, voff=-0.09, pclm=1.2)


def ring():
    d = Deck()
    d.param(vstart=2.4)
    bsim3(d, 'bn', 'nmos', 1)
    bsim3(d, 'bp', 'pmos', -1)
    d.element('v2', 'dd 0', 2.5)
    for k in range(5):
        to = (k + 1) % 5
        more = 'ad=2p as=2p pd=6u ps=6u'
        p, n = (d.device, d.device) if k in (0, 3) else (None, None)
        if p:
            p(f'mp{k}', f'r{to} r{k} dd dd bp {more}', w=5e-6, l=0.3e-6)
            n(f'mn{k}', f'r{to} r{k} 0 0 bn {more}', w=2e-6, l=0.3e-6)
        else:
            d.card(f'mp{k} r{to} r{k} dd dd bp {more} w=5u l=0.3u\nmn{k} r{to} r{k} 0 0 bn {more} w=2u l=0.3u')
        d.element(f'c{k}', f'r{to} 0', 20e-15)
    d.by['c0'] = 20e-15
    d.heat()
    d.card("""rb r0 x 10k
.ic v(r0)={vstart} v(r1)=0""")
    d.measure('tran 2p 2.5n 0 2p', t1='when v(r0)=1.25 rise=1', t2='when v(r3)=1.25 fall=2',
              cur='avg i(v2) from=0.5n to=2.5n', most='find v(r3) at=1.41n', at='find v(r2) at=1.9n')
    return d


def regulator():
    d = Deck('tr')
    d.param(iload=4e-3, ilight=0.5e-3, tr=24.5e-9)
    d.model('qn', 'npn', is_=2e-16, bf=140.0, vaf=70.0, rb=60.0, cje=0.3e-12, tf=30e-12, cjc=0.2e-12)
    d.model('qp', 'pnp', is_=4e-16, bf=60.0, vaf=40.0, rb=70.0, cje=0.3e-12, tf=60e-12, cjc=0.3e-12)
    d.model('mp', 'pmos level=3', vto=-0.7, kp=4e-5, gamma=0.5, phi=0.7, theta=0.06, eta=0.03, kappa=0.4, tox=2e-8,
            cgso=3e-10, cgdo=3e-10, vmax=1.2e5, nsub=3e16)
    d.model('dz', 'd', is_=1e-15, n=1.02, rs=2.0)
    d.card('i1 out 0 pulse({ilight} {iload} 0.3u {tr} 34.5n 1.0045u 5u)')
    d.element('v1', 'in 0', 3.6, 'ac 1')
    d.elements('rb in ref 4.7e3; ra out fb 1.2e4; rc fb 0 1.0e4; rt e 0 2.2e4; rg g gg 200.0; re ce out 0.2; rx in '
               'g 5e5')
    d.elements('co ce 0 1e-7; cm g out 2e-12; cf out fb 5e-12; cg g 0 1e-12')
    d.card("""d1 ref k dz
d2 k 0 dz
q1 g ref e qn
q2 x fb e qn
q3 x x in qp
q4 g x in qp""")
    d.device('m1', 'out gg in in mp', w=2e-3, l=1e-6)
    d.heat()
    d.card('rl out 0 5k')
    d.measure('tran 5n 3.003u 0 5n', dip='find v(out) at=0.9u', back='find v(out) at=1.1u',
              mean='avg v(g) from=0.1u to=2.9u')
    d.measure('op', level='find v(out)', cur='find i(v1)')
    d.measure('dc v1 3.0 4.2 0.1', line='find v(out) at=4.05')
    d.measure('ac dec 3 100 100meg', psrr='find vdb(out) at=10k', high='find vp(out) at=1meg')
    d.measure('noise v(out) v1 dec 3 10 10meg', dens='find onoise_spectrum at=1k')
    return d


def surface():
    d = Deck('tr')
    d.param(sup=1.15, tr=21.9e-12, wn=1.1e-6, wp=2.1e-6, ln=0.2e-6, cw=4e-15)
    d.card(f'.include "{PSP}"\nv2 dd 0 {{sup}}\nv1 n0 0 dc 0.5 ac 1 pulse(0 {{sup}} 21p {{tr}} {{tr}} 0.3509n 1n)')
    for k in range(6):
        d.card(f"""xp{k} n{k + 1} n{k} dd dd pmos w={{wp}} l={{ln}}
xn{k} n{k + 1} n{k} 0 0 nmos w={{wn}} l={{ln}}
c{k} n{k + 1} 0 {{cw}}""")
    with open(PSP) as f:
        text = f.read()
    names = 'vfbo toxo nsubo uo mueo themuo cso xcoro rsw1 thesato axo alpl cfl lov novo cjorbot cjorsti cjorgat cfbo ' \
            'fol1 npck lap wvaro'.split()
    for card in ('psp103n', 'psp103p'):
        body = text.split(f'.model {card} ')[1].split(')')[0]
        for name in names:
            value = float(re.search(rf'\b{name}=(\S+)', body).group(1))
            if value and len(d.by) < 49:
                d.by[f'{card}({name})'] = value
    d.heat()
    d.measure('tran 1p 1.0006n 0 1p', late='trig at=0.05n targ v(n6) val=0.55 rise=1', at='find v(n3) at=0.43n',
              charge='integ i(v2) from=0 to=0.9n')
    d.measure('op', leak='find i(v2)', first='find v(n1)')
    d.measure('ac dec 2 1meg 10g', gain='find vm(n1) at=1g', turn='find vp(n1) at=10g')
    d.measure('noise v(n1) v1 dec 2 1k 1g', low='find onoise_spectrum at=1k')
    return d


def bsim4(d, name, kind, sign):
    d.model(name, f'{kind} level=14 version=4.8', toxe=1.9e-9, vth0=0.36 * sign, u0=(0.03 if sign > 0 else 0.012),
            vsat=9e4, k1=0.42, k2=-0.02, ndep=2.3e17, xj=1.1e-7, rdsw=160.0, cgso=2e-10, cgdo=2.1e-10, cjs=1.1e-3,
            cjsws=1e-10, mjs=0.5, pbs=0.9, nfactor=1.2, voff=-0.09, pclm=1.1, eta0=0.08)


def gates():
    d = Deck('tr')
    d.param(tr=31.45e-12)
    bsim4(d, 'nf', 'nmos', 1)
    bsim4(d, 'pf', 'pmos', -1)
    d.element('v2', 'dd 0', 1.2)
    d.card("""v1 a 0 dc 0.55 ac 1 pulse(0 1.2 41p {tr} {tr} 0.50045n 2n)
v3 b 0 1.2""")
    more = 'ad=0.3p as=0.3p pd=2u ps=2u'
    d.device('mp1', f'o a dd dd pf {more}', w=1e-6, l=0.13e-6)
    d.device('mp2', f'o b dd dd pf {more}', w=1e-6, l=0.13e-6)
    d.device('mn1', f'o a m 0 nf {more}', w=1e-6, l=0.13e-6)
    d.device('mn2', f'm b 0 0 nf {more}', w=1e-6, l=0.13e-6)
    d.card(f"""mp3 q o dd dd pf {more} w=2u l=0.13u
mn3 q o 0 0 nf {more} w=1u l=0.13u""")
    d.element('c1', 'o 0', 3e-15)
    d.element('c2', 'q 0', 11e-15)
    d.heat()
    d.measure('tran 0.5p 1.2003n 0 0.5p', late='trig at=0.05n targ v(q) val=0.6 rise=1',
              charge='integ i(v2) from=0 to=1.1n', at='find v(o) at=0.08n')
    d.measure('op', level='find v(o)', leak='find i(v2)')
    d.measure('dc v1 0.4 0.7 0.002', trip='when v(o)=0.6')
    d.measure('ac dec 2 1meg 10g', gain='find vm(o) at=1g', turn='find vp(o) at=1g')
    d.measure('noise v(o) v1 dec 2 1k 1g', low='find onoise_spectrum at=1k')
    return d


def lines():
    d = Deck()
    d.param(vdc=0.9, va=1.2)
    d.card('v1 a 0 dc {vdc} ac {va}')
    d.model('dc', 'd', is_=1e-14, n=1.1, rs=5.0, cjo=1e-12, vj=0.7, m=0.4, tt=1e-9, eg=1.1, xti=3.1)
    d.element('rs', 'a b0', 30.0)
    for k in range(4):
        d.card(f't{k} b{k} 0 e{k} 0 z0={50 + 10 * k} td={0.6 + 0.13 * k}n')
        d.element(f'rq{k}', f'e{k} 0', 2e3 + 200.0 * k)
        d.element(f'cf{k}', f'f{k} 0', 0.2e-12 + 0.1e-12 * k)
        d.element(f'r{k}', f'e{k} b{k + 1}', 5.0 + k)
        d.element(f'c{k}', f'b{k + 1} 0', 1e-12 + 0.3e-12 * k)
        d.element(f'rg{k}', f'b{k + 1} 0', 400.0 + 90 * k)
        d.element(f'cs{k}', f'e{k} 0', 0.4e-12 + 0.1e-12 * k)
        d.element(f'l{k}', f'b{k + 1} f{k}', 2e-9 + 0.4e-9 * k)
        d.element(f'rf{k}', f'f{k} 0', 150.0 + 20 * k)
    d.element('rl', 'b4 0', 90.0)
    d.element('cl', 'b4 0', 1e-12)
    d.device('d1', 'b4 0 dc', area=1.1)
    d.device('d2', '0 b2 dc', area=0.9)
    d.heat()
    d.measure('op', level='find v(b4)')
    d.measure('ac lin 5 0.1g 1g', gain='find vm(b4) at=0.1g')
    d.measure('noise v(b4) v1 lin 3 0.1g 1g', dens='find onoise_spectrum at=0.1g')
    return d


def sources():
    d = Deck('p3 p4 p5 p6 s3 e2 e4 wt')
    d.param(p1=0.1, p2=1.2, p3=2.1045e-9, p4=3.0135e-9, p5=4.0045e-9, p6=11.0135e-9, s0=0.2,
            s1=0.9, s2=81e6, s3=5.0135e-9, s4=11e6, s5=40.0,
            e0=0.1, e1=1.1, e2=3.009e-9, e3=6e-9, e4=25.0405e-9, e5=9e-9, w0=0.2, w1=1.4, w2=0.7, w3=1.1, wt=13.027e-9,
            f0=0.3, f1=0.8, f2=70e6, f3=1.7, f4=9e6, a0=0.4, a1=0.7, a2=13e6, a3=90e6)
    d.card("""v1 a 0 pulse({p1} {p2} {p3} {p4} {p5} {p6} 40n)
v2 b 0 sin({s0} {s1} {s2} {s3} {s4} {s5})
i3 0 c exp({e0*1m} {e1*1m} {e2} {e3} {e4} {e5})
v4 d 0 pwl(0 {w0} 7.0225n {w1} {wt} {w2} 31.045n {w3} 60n 0.4)
i5 0 e sffm({f0*1m} {f1*1m} {f2} {f3} {f4})
v6 f 0 am({a0} {a1} {a2} {a3} 0)""")
    for k, node in enumerate('abcdef'):
        d.element(f'r{k}', f'{node} o{k}', 1e3 + 100 * k)
        d.element(f'c{k}', f'o{k} 0', 1e-12 + 0.2e-12 * k)
        d.card(f'rl{k} o{k} s {700 + 100 * k}')
    d.element('rt', 's 0', 1500.0)
    d.element('ct', 's 0', 0.7e-12)
    d.card("""rc c 0 1k
re e 0 1k""")
    d.measure('op', level='find v(s)')
    d.measure('tran 5p 41.0495n 0 5p', mean='avg v(s) from=1n to=40n', out='rms v(s) from=5n to=39n',
              at='find v(s) at=23.3n', power="integ par('-v(a)*i(v1)') from=1n to=40n", late='when v(s)=0.3 rise=1')
    return d


def behaviour():
    d = Deck()
    values = {f'k{k}': 0.5 + k / 10 for k in range(30)}
    d.param(**values)
    d.param(va=0.8, fr=2.1e6, gm=2e-3, vs=0.31, lim=1.2, tau=31e-9)
    d.card("""v1 a 0 dc 0.6 ac 1 sin(0.1 {va} {fr})
b1 b 0 v={lim}*tanh({k0}*v(a)+{k1}*v(a)*v(a))
b2 0 c i={gm}*{k2}*v(b)/(1+{k3}*v(b)*v(b))
b3 d 0 v=exp(-{k4}*v(c)*v(c))*{k5}+sin({k6}*v(b))*{k7}
b4 0 e i={gm}*sqrt({k8}+v(d)*v(d)*{k9})
b5 f 0 v={k10}*v(e)+{k11}*atan({k12}*v(c))
b6 0 g i={gm}*({k13}*v(f)-{k14}*v(f)*v(f)*v(f)/10)
b7 h 0 v=ln({k15}+{k16}*v(g)*v(g))+pow(1.5+0.1*tanh(v(g)),{k17})
b8 0 o i={gm}*({k18}*v(h)+{k19}*v(d)*v(c)+{k20}*i(v1)*100)
e1 p 0 o 0 0.7
g1 0 q p 0 2m
b9 w 0 v=(v(q)>{vs})?{k21}*v(q):{k21}*{vs}+{k22}*0+{k21}*(v(q)-{vs})
b10 u 0 v=max(v(q)*{k23},-5)+min({k24},7)
b11 0 z i={gm}*{k25}*v(u)+{gm}*{k26}*v(w)
b12 y 0 v={k27}*ddt(v(z))*{tau}+v(z)*{k28}+{k29}""")
    for k, node in enumerate('cegoqz'):
        d.element(f'r{k}', f'{node} 0', 700.0 + 50 * k)
        d.element(f'c{k}', f'{node} 0', 1e-11 * (1 + k / 5))
    d.element('ra', 'a a2', 1e3)
    d.card("""ca a2 0 10p
ry y y2 1k
cy y2 0 5p""")
    d.measure('tran 2n 1.2u 0 2n', out='rms v(z) from=0.3u to=1.2u', at='find v(y2) at=0.73u',
              sum="integ par('v(o)*v(z)') from=0.2u to=1.15u")
    d.measure('op', level='find v(y)')
    d.measure('dc v1 -0.5 0.7 0.05', mid='find v(z) at=0.33')
    d.measure('ac dec 3 10k 100meg', gain='find vm(z) at=1meg', turn='find vp(o) at=10meg')
    d.measure('noise v(z) v1 dec 3 1k 10meg', dens='find onoise_spectrum at=1k')
    return d


CIRCUITS = {f.__name__: f for f in (ladder, filters, clipper, bipolar, amplifier, ring, regulator, surface, gates,
                                    lines, sources, behaviour)}


def run(vsim, folder, name, text, *args):
    with open(os.path.join(folder, name), 'w') as f:
        f.write(text)
    done = subprocess.run([vsim, *args, name], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f'{name}: {done.stdout}{done.stderr}')


def read_gradients(path):
    out = {}
    with open(path) as f:
        for part in f.read().split('Title:')[1:]:
            name = re.search(r'Plotname: (.*)', part).group(1).strip()
            if name.startswith('Gradient of '):
                names = re.findall(r'^\t\d+\t(\S+)\t\S+$', part, re.M)
                values = [float(v) for v in part.split('Values:')[1].split()[1:]]
                out[name[12:]] = dict(zip(names, values))
    return out


def ridders(one, ratio):
    """Value and uncertainty of a derivative, of central differences with steps that fall by `ratio`."""
    best, unsure, last = one[0], float('inf'), [one[0]]
    # the least of what the smallest steps differ by is taken for rounding, which falls as steps grow: a value that
    # agrees with its neighbours by less does so by chance
    noise = min((abs(a - b) / ratio ** k for k, (a, b) in list(enumerate(zip(one, one[1:]), 1))[-3:]), default=0)
    for level, d in enumerate(one[1:], 1):
        row = [d]
        for k, lower in enumerate(last):
            f = ratio ** (2 * (k + 1))
            row.append((f * row[k] - lower) / (f - 1))
            error = max(abs(row[-1] - row[-2]), abs(row[-1] - lower), noise * ratio ** level)
            if error < unsure:
                best, unsure = row[-1], error
        last = row
    return best, unsure


def romberg(values):
    """What values at a step, a half of it, a quarter ... tend to, of even powers of the step."""
    k = 1
    while len(values) > 1:
        values = [(4 ** k * b - a) / (4 ** k - 1) for a, b in zip(values, values[1:])]
        k += 1
    return values[0]


CROSSING = re.compile(r'(?:trig at=(\S+) targ (\S+) val=(\S+)|when (\S+)=(\S+))(?: |$)')


def at_crossings(vsim, folder, d, text, got):
    """The deck with the curve's value where it crosses, NAME_v, beside where it does; {NAME: its slope}"""
    asked, there = '', {}
    for kind, name, rest in ((k, n, r) for k, of in d.measures.items() for n, r in of.items() if n in got):
        c = CROSSING.match(rest)
        if c:
            since, curve = c.group(1) or '0', c.group(2) or c.group(4)
            at = got[name][name] + float(since.rstrip('n')) * (1e-9 if since.endswith('n') else 1)
            asked += f'.meas {kind} {name}_v find {curve} at={at!r}\n.meas {kind} {name}_d deriv {curve} at={at!r}\n'
            there[name] = None
    if there:
        run(vsim, folder, 'slope.sp', f'{text}{asked}.end\n', '--no-output', '--threads', '1', '--measures', 'slope.csv')
        with open(os.path.join(folder, 'slope.csv')) as f:
            value = {r['name']: float(r['value']) for r in csv.DictReader(f) if r['name'].endswith('_d')}
        there = {name: value[f'{name}_d'] for name in there}
    return text + re.sub(r'(?m)^\.meas \w+ \w+_d .*\n', '', asked), there


def differences(vsim, folder, deck, param, value, steps):
    """{measure: (derivative, its own uncertainty)}"""
    size = 300.0 if param == 'temp' else abs(value)
    at = [value + s * h * size for h in steps for s in (-1, 1)]
    name = re.sub(r'\W', '_', param)
    run(vsim, folder, f'd_{name}.sp', f'{deck}.step {param} list {" ".join(repr(v) for v in at)}\n.end\n',
        '--no-output', '--threads', '1', '--measures', f'd_{name}.csv')
    with open(os.path.join(folder, f'd_{name}.csv')) as f:
        rows = list(csv.DictReader(f))
    y = {m: [float(r[m]) for r in rows] for m in rows[0] if m not in ('status', 'state')}
    pairs = range(0, len(at), 2)
    return {m: ridders([(v[k + 1] - v[k]) / (at[k + 1] - at[k]) for k in pairs], 4) for m, v in y.items()}


def gradients(vsim, folder, d, text, kinds, by):
    """{measure: {parameter: derivative}}"""
    cards = ''.join(f'.sens {kind} {" ".join(d.measures[kind])} param={" ".join(by)}\n' for kind in kinds)
    run(vsim, folder, 'deck.sp', f'{text}{cards}.end\n', '-r', 'out.raw', '--ascii', '--threads', '1')
    return read_gradients(os.path.join(folder, 'out.raw'))


def common_slope(pairs):
    """s of a = s b, the best for all parameters: a differences of the curve's value, b gradients of the time."""
    return sum(a * b for a, b in pairs) / sum(b * b for _, b in pairs)


Both = collections.namedtuple('Both', 'got want fit slope')  # {measure: {parameter: (value, uncertainty)}} ...


def both(vsim, d, kinds, by, steps, pool, finer=1, clock=False):
    """Gradients and differences; of crossings the slope that these two give, and the curve's. With a clock corners
    move by one step of it."""
    size = {p: 300.0 if p == 'temp' else abs(v) for p, v in by.items()}
    text = d.name + '\n' + d.text(kinds, finer, clock)
    with tempfile.TemporaryDirectory() as folder:
        got = gradients(vsim, folder, d, text, kinds, by)
        asked, slope = at_crossings(vsim, folder, d, text, got)
        step, unit = d.step('tran', finer) if clock else (0, 'p')
        moves = {p: [step * UNIT[unit] / size[p]] if clock and p in d.corners else steps for p in by}
        all_of = dict(zip(by, pool.map(lambda p: differences(vsim, folder, asked, p, by[p], moves[p]), by)))
    want, fit = {}, {}
    for m in got:
        want[m] = {p: all_of[p][f'{m}_v' if m in slope else m] for p in by}
        if m in slope:
            fit[m] = common_slope([(-want[m][p][0] * size[p], got[m][p] * size[p])
                                   for p in by if p not in d.corners])
            want[m] = {p: (v / -fit[m], abs(unsure / fit[m])) for p, (v, unsure) in want[m].items()}
    return Both(got, want, fit, slope)


def second_order(vsim, d, kind, by, first, pool):
    """Rows of what is right to second order of the step of a transient or a sweep."""
    corners = [p for p in by if p in d.corners and kind == 'tran']
    crossings = [m for m in d.measures[kind] if m in first.slope]
    if not corners and not crossings:
        return
    few = {p: v for p, v in by.items() if p not in d.corners}
    few = dict(list(few.items())[:8])
    fine = both(vsim, d, [kind], few, STEPS[-4:], pool, FINER[-1])
    for m in crossings:
        fit, slope = fine.fit[m], fine.slope[m]
        error = abs(fit / slope - 1)
        yield Row(kind, m, 'slope of the curve', fit, slope, error, error > BOUND, None)
    few.update({p: by[p] for p in corners})
    runs = [both(vsim, d, [kind], few, CORNER_STEPS, pool, n, True) for n in (FINER if corners else ())]
    for m, p in ((m, p) for m in d.measures[kind] for p in corners):
        got, want = romberg([r.got[m][p] for r in runs]), romberg([r.want[m][p][0] for r in runs])
        scale = max(abs(want * by[p]), abs(first.got[m][m]))
        error = abs((got - want) * by[p]) / scale
        yield Row(kind, m, p, got, want, error, error > BOUND, None)


def check(vsim, name, every, pool):
    """A Row for each measure and parameter."""
    d = CIRCUITS[name]()
    d.name = name
    by = {p: v for k, (p, v) in enumerate(d.by.items()) if k % every == 0 or p in d.always}
    kinds = [k for k in KINDS if k in d.measures]
    first = both(vsim, d, kinds, by, STEPS, pool)
    rows = [r for k in kinds if k in ('tran', 'dc') and every == 1 for r in second_order(vsim, d, k, by, first, pool)]
    for kind, m in ((k, m) for k in kinds for m in d.measures[k]):
        for p in by:
            if kind == 'tran' and p in d.corners:
                continue
            size = 300.0 if p == 'temp' else abs(by[p])
            (want, unsure), got = first.want[m][p], first.got[m][p]
            scale = max(abs(want) * size, 1e-3 * abs(first.got[m][m]))
            error = abs(got - want) * size / scale
            rows.append(Row(kind, m, p, got, want, error, error > BOUND, unsure * size / scale))
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('vsim')
    p.add_argument('--only', nargs='+', choices=CIRCUITS, default=list(CIRCUITS), metavar='CIRCUIT')
    p.add_argument('--every', type=int, default=1, help='every n-th parameter')
    p.add_argument('--all', action='store_true', help='print each gradient')
    p.add_argument('--jobs', type=int, default=2)
    o = p.parse_args()
    vsim = os.path.abspath(o.vsim)
    n_wrong = 0
    print(f'{"circuit":10} {"of":6} {"measures":>8} {"params":>7} {"largest":>9} {"unsure":>9} {"second":>9} '
          f'{"wrong":>6}')
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for name in o.only:
            rows = check(vsim, name, o.every, pool)
            for kind in KINDS:
                of = [r for r in rows if r.kind == kind]
                if not of:
                    continue
                held = [r for r in of if r.unsure is not None]
                wrong = [r for r in of if r.wrong]
                n_wrong += len(wrong)
                print(f'{name:10} {kind:6} {len({r.measure for r in of}):8} {len({r.param for r in held}):7} '
                      f'{max((r.error for r in held), default=0):9.1e} '
                      f'{max((r.unsure for r in held), default=0):9.1e} '
                      f'{max((r.error for r in of if r.unsure is None), default=0):9.1e} {len(wrong):6}', flush=True)
                for r in of if o.all else wrong:
                    print(f'    d {r.measure} / d {r.param}: {r.got:.9g}, difference {r.want:.9g}, '
                          f'error {r.error:.1e}', flush=True)
    return 1 if n_wrong else 0


if __name__ == '__main__':
    sys.exit(main())
