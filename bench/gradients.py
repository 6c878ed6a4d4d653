#!/usr/bin/env python3
"""Gradients (.sens) of twelve circuits by 50 parameters each, beside differences of runs.

    gradients.py VSIM                        a table: circuit, analysis, gradients, the largest error
    gradients.py VSIM --only ring ldo --all  each gradient
    gradients.py VSIM --every 10             every tenth parameter alone (the test suite)

A difference is made of six runs, at h, h/2 and h/4 to both sides of the value, h = 1e-3 of it, and
extrapolated twice (Romberg): wrong by h^6 and by what Newton leaves open over h. With trtol=1e15 truncation error
never shortens a step, so that all runs have the same times and the difference is that of the very function whose
gradient is computed. Errors are in parts of what the measure would change by if the parameter changed by
all of its value, or of 1e-3 of the measure, if that is more; a gradient is wrong where this is above 1e-5
and above what the last extrapolation changed (between: unsure).
Where a curve crosses a level, differences are those of the curve's value there, over its slope: the time itself
is taken from a line between two points, whose slope is right to first order of the step alone. The slope
that fits all parameters best is compared with that of the curve.
What is right to second order of the step stands in a column of its own (second), with the bound 1e-3: these slopes,
and parameters that move corners of sources, in parts of the measure; they move the points of the runs too, and
truncation error with these."""
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
H, BOUND, SECOND_BOUND = 1e-3, 1e-5, 1e-3
HELD = '.option reltol=1e-12 abstol=1e-18 vntol=1e-13 trtol=1e15'


Row = collections.namedtuple('Row', 'kind measure param got want error wrong second')


class Deck:
    """Cards, the parameters of the gradients, name -> value, which of these move corners of sources,
    and which --every never leaves out."""

    def __init__(self, corners='', always=''):
        self.cards, self.by, self.corners, self.always = [], {}, set(corners.split()), set(always.split())

    def card(self, text):
        self.cards.append(text)

    def param(self, **values):
        for name, value in values.items():
            self.card(f'.param {name}={value!r}')
            self.by[name] = value

    def element(self, name, nodes, value, more=''):
        self.card(f'{name} {nodes} {value!r} {more}')
        self.by[name] = value

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
    d.param(vlo=0.2, vhi=1.2, td=2.1e-9, tr=3.3e-9, tf=2.7e-9, pw=21e-9)
    d.card('v1 n0 0 dc 1 ac 1 pulse({vlo} {vhi} {td} {tr} {tf} {pw} 60n)')
    for k in range(20):
        d.element(f'r{k}', f'n{k} n{k + 1}', 1e3 * (1 + k / 20), 'tc1=1m')
        d.element(f'c{k}', f'n{k + 1} 0', 20e-15 * (1 + k / 10))
    d.element('rl', 'n20 0', 50e3)
    d.by['@r1[tc1]'] = d.by['@r9[tc1]'] = 1e-3
    d.heat()
    d.card(""".tran 20p 60n 0 20p
.op
.ac dec 4 1meg 1g
.noise v(n20) v1 dec 4 1k 100meg
.meas tran late trig at=5n targ v(n20) val=0.5 rise=1
.meas tran mean avg v(n10) from=3n to=50n
.meas tran power integ par('-v(n0)*i(v1)') from=1n to=59n
.meas op level find v(n20)
.meas ac half find vdb(n20) at=10meg
.meas ac turn find vp(n20) at=1meg
.meas noise dens find onoise_spectrum at=1k
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
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
    d.card(""".tran 0.2n 150n 0 0.2n
.op
.ac lin 11 20meg 60meg
.noise v(b11) v1 lin 5 20meg 60meg
.meas tran out rms v(b11) from=20n to=150n
.meas tran mid find v(b6) at=95n
.meas tran cur find i(l3) at=101n
.meas tran cross when v(b11)=0.2 rise=2
.meas op level find v(b11)
.meas ac gain find vm(b11) at=40meg
.meas ac turn find vp(b11) at=40meg
.meas noise dens find inoise_spectrum at=30meg
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
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
d6 b h da
.tran 1n 1.6u 0 1n
.op
.ac dec 2 10k 100meg
.noise v(c) v1 dec 3 100 10meg
.meas tran top find v(b) at=1.23u
.meas tran mean avg v(c) from=0.3u to=1.6u
.meas tran power integ par('-v(a)*i(v1)') from=0.2u to=1.5u
.meas tran cross when v(b)=0.8 rise=2
.meas op level find v(c)
.meas ac gain find vm(c) at=1meg
.meas ac turn find vp(g) at=10meg
.meas noise dens find onoise_spectrum at=100
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
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
    for name, nodes, value in (('rs', 'in a', 610.0), ('rf', 'c b', 330e3), ('rc', 'dd c', 3.9e3), ('rg', 'e 0', 310.0),
                               ('ro', 'o 0', 2.2e3), ('rl', 'p 0', 10e3)):
        d.element(name, nodes, value)
    for name, nodes, value in (('ca', 'a b', 1e-8), ('cf', 'c b', 1e-12), ('cl', 'o p', 1e-9), ('cp', 'p 0', 5e-12)):
        d.element(name, nodes, value)
    d.device('q1', 'c b e 0 qn', area=1.2)
    d.device('q2', 'dd c o 0 qn', area=2.1)
    d.heat()
    d.card("""rt p 0 1meg
.tran 2n 1.5u 0 2n
.op
.ac dec 3 10k 1g
.noise v(p) v1 dec 3 10 100meg
.meas tran swing find v(p) at=1.13u
.meas tran mean avg v(c) from=0.2u to=1.5u
.meas tran cur rms i(v2)
.meas op level find v(o)
.meas op power find par('-v(dd)*i(v2)')
.meas ac gain find vdb(p) at=1meg
.meas ac turn find vp(p) at=100meg
.meas noise low find inoise_spectrum at=10
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
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
    d.card(f""".tran 0.5n 600n 0 0.5n
.op
.ac dec 4 1k 1g
.noise v(o) v1 dec 3 100 100meg
.meas tran late trig at=20n targ v(o) val=1.55 rise=1
.meas tran end find v(o) at=250n
.meas tran cur avg i(v2)
.meas op off find v(o)
.meas op power find par('-v(dd)*i(v2)')
.meas ac bw find vdb(o) at=10meg
.meas ac turn find vp(o) at=10meg
.meas noise low find inoise_spectrum at=100
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
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
.ic v(r0)={vstart} v(r1)=0
.tran 2p 2.5n 0 2p
.meas tran t1 when v(r0)=1.25 rise=1
.meas tran t2 when v(r3)=1.25 fall=2
.meas tran cur avg i(v2) from=0.5n to=2.5n
.meas tran most find v(r3) at=1.41n
.meas tran at find v(r2) at=1.9n""")
    return d


def regulator():
    d = Deck('tr')
    d.param(iload=4e-3, ilight=0.5e-3, tr=21e-9)
    d.model('qn', 'npn', is_=2e-16, bf=140.0, vaf=70.0, rb=60.0, cje=0.3e-12, tf=30e-12, cjc=0.2e-12)
    d.model('qp', 'pnp', is_=4e-16, bf=60.0, vaf=40.0, rb=70.0, cje=0.3e-12, tf=60e-12, cjc=0.3e-12)
    d.model('mp', 'pmos level=3', vto=-0.7, kp=4e-5, gamma=0.5, phi=0.7, theta=0.06, eta=0.03, kappa=0.4, tox=2e-8,
            cgso=3e-10, cgdo=3e-10, vmax=1.2e5, nsub=3e16)
    d.model('dz', 'd', is_=1e-15, n=1.02, rs=2.0)
    d.card('i1 out 0 pulse({ilight} {iload} 0.3u {tr} 30n 1u 5u)')
    d.element('v1', 'in 0', 3.6, 'ac 1')
    for name, nodes, value in (('rb', 'in ref', 4.7e3), ('ra', 'out fb', 1.2e4), ('rc', 'fb 0', 1.0e4),
                               ('rt', 'e 0', 2.2e4), ('rg', 'g gg', 200.0), ('re', 'ce out', 0.2), ('rx', 'in g', 5e5)):
        d.element(name, nodes, value)
    for name, nodes, value in (('co', 'ce 0', 1e-7), ('cm', 'g out', 2e-12), ('cf', 'out fb', 5e-12),
                               ('cg', 'g 0', 1e-12)):
        d.element(name, nodes, value)
    d.card("""d1 ref k dz
d2 k 0 dz
q1 g ref e qn
q2 x fb e qn
q3 x x in qp
q4 g x in qp""")
    d.device('m1', 'out gg in in mp', w=2e-3, l=1e-6)
    d.heat()
    d.card("""rl out 0 5k
.tran 5n 3u 0 5n
.op
.dc v1 3.0 4.2 0.1
.ac dec 3 100 100meg
.noise v(out) v1 dec 3 10 10meg
.meas tran dip find v(out) at=0.9u
.meas tran back find v(out) at=1.1u
.meas tran mean avg v(g) from=0.1u to=2.9u
.meas op level find v(out)
.meas op cur find i(v1)
.meas dc line find v(out) at=4.05
.meas ac psrr find vdb(out) at=10k
.meas ac high find vp(out) at=1meg
.meas noise dens find onoise_spectrum at=1k
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
    return d


def surface():
    d = Deck('tr')
    d.param(sup=1.15, tr=21e-12, wn=1.1e-6, wp=2.1e-6, ln=0.2e-6, cw=4e-15)
    d.card(f'.include "{PSP}"\nv2 dd 0 {{sup}}\nv1 n0 0 dc 0.5 ac 1 pulse(0 {{sup}} 21p {{tr}} {{tr}} 0.35n 1n)')
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
    d.card(""".tran 1p 1n 0 1p
.op
.ac dec 2 1meg 10g
.noise v(n1) v1 dec 2 1k 1g
.meas tran late trig at=0.05n targ v(n6) val=0.55 rise=1
.meas tran charge integ i(v2) from=0 to=0.9n
.meas tran at find v(n3) at=0.43n
.meas op leak find i(v2)
.meas op first find v(n1)
.meas ac gain find vm(n1) at=1g
.meas ac turn find vp(n1) at=10g
.meas noise low find onoise_spectrum at=1k
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
    return d


def bsim4(d, name, kind, sign):
    d.model(name, f'{kind} level=14 version=4.8', toxe=1.9e-9, vth0=0.36 * sign, u0=(0.03 if sign > 0 else 0.012),
            vsat=9e4, k1=0.42, k2=-0.02, ndep=2.3e17, xj=1.1e-7, rdsw=160.0, cgso=2e-10, cgdo=2.1e-10, cjs=1.1e-3,
            cjsws=1e-10, mjs=0.5, pbs=0.9, nfactor=1.2, voff=-0.09, pclm=1.1, eta0=0.08)


def gates():
    d = Deck('tr')
    d.param(tr=31e-12)
    bsim4(d, 'nf', 'nmos', 1)
    bsim4(d, 'pf', 'pmos', -1)
    d.element('v2', 'dd 0', 1.2)
    d.card("""v1 a 0 dc 0.55 ac 1 pulse(0 1.2 41p {tr} {tr} 0.5n 2n)
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
    d.card(""".tran 0.5p 1.2n 0 0.5p
.op
.dc v1 0.3 0.9 0.01
.ac dec 2 1meg 10g
.noise v(o) v1 dec 2 1k 1g
.meas tran late trig at=0.05n targ v(q) val=0.6 rise=1
.meas tran charge integ i(v2) from=0 to=1.1n
.meas tran at find v(o) at=0.08n
.meas op level find v(o)
.meas op leak find i(v2)
.meas dc trip when v(o)=0.6
.meas ac gain find vm(o) at=1g
.meas ac turn find vp(o) at=1g
.meas noise low find onoise_spectrum at=1k
.meas noise all integ par('onoise_spectrum*onoise_spectrum')""")
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
    d.card(""".op
.ac lin 5 0.1g 1g
.noise v(b4) v1 lin 3 0.1g 1g
.meas op level find v(b4)
.meas ac gain find vm(b4) at=0.1g
.meas noise dens find onoise_spectrum at=0.1g""")
    return d


def sources():
    d = Deck('p3 p4 p5 p6 s3 e2 e4 wt')
    d.param(p1=0.1, p2=1.2, p3=2.1e-9, p4=3e-9, p5=4e-9, p6=11e-9, s0=0.2, s1=0.9, s2=81e6, s3=5e-9, s4=11e6, s5=40.0,
            e0=0.1, e1=1.1, e2=3e-9, e3=6e-9, e4=25e-9, e5=9e-9, w0=0.2, w1=1.4, w2=0.7, w3=1.1, wt=13e-9,
            f0=0.3, f1=0.8, f2=70e6, f3=1.7, f4=9e6, a0=0.4, a1=0.7, a2=13e6, a3=90e6)
    d.card("""v1 a 0 pulse({p1} {p2} {p3} {p4} {p5} {p6} 40n)
v2 b 0 sin({s0} {s1} {s2} {s3} {s4} {s5})
i3 0 c exp({e0*1m} {e1*1m} {e2} {e3} {e4} {e5})
v4 d 0 pwl(0 {w0} 7n {w1} {wt} {w2} 31n {w3} 60n 0.4)
i5 0 e sffm({f0*1m} {f1*1m} {f2} {f3} {f4})
v6 f 0 am({a0} {a1} {a2} {a3} 0)""")
    for k, node in enumerate('abcdef'):
        d.element(f'r{k}', f'{node} o{k}', 1e3 + 100 * k)
        d.element(f'c{k}', f'o{k} 0', 1e-12 + 0.2e-12 * k)
        d.card(f'rl{k} o{k} s {700 + 100 * k}')
    d.element('rt', 's 0', 1500.0)
    d.element('ct', 's 0', 0.7e-12)
    d.card("""rc c 0 1k
re e 0 1k
.op
.meas op level find v(s)
.tran 5p 60n 0 5p
.meas tran mean avg v(s) from=1n to=59n
.meas tran out rms v(s) from=5n to=55n
.meas tran at find v(s) at=23.3n
.meas tran power integ par('-v(a)*i(v1)') from=1n to=59n
.meas tran late when v(s)=0.3 rise=1""")
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
cy y2 0 5p
.tran 2n 1.2u 0 2n
.op
.dc v1 -0.5 0.7 0.05
.ac dec 3 10k 100meg
.noise v(z) v1 dec 3 1k 10meg
.meas tran out rms v(z) from=0.3u to=1.2u
.meas tran at find v(y2) at=0.73u
.meas tran sum integ par('v(o)*v(z)') from=0.2u to=1.15u
.meas op level find v(y)
.meas dc mid find v(z) at=0.33
.meas ac gain find vm(z) at=1meg
.meas ac turn find vp(o) at=10meg
.meas noise dens find onoise_spectrum at=1k""")
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


def romberg(y, h):
    """Derivative and what the last extrapolation changed, of y at -h, h, -h/2, h/2, -h/4, h/4."""
    one = [(y[2 * k + 1] - y[2 * k]) / (2 * h / 2 ** k) for k in range(3)]
    two = [(4 * one[k + 1] - one[k]) / 3 for k in range(2)]
    best = (16 * two[1] - two[0]) / 15
    return best, abs(best - two[1])


def crossing(deck, name):
    """Kind, curve and level of a measure of where a curve crosses; None: it is another measure."""
    m = re.search(rf'^\.meas (\w+) {name} (?:trig at=(\S+) targ (\S+) val=(\S+)|when (\S+)=(\S+))(?: |$)', deck, re.M)
    return m and (m.group(1), m.group(3) or m.group(5), m.group(4) or m.group(6), m.group(2) or '0')


def at_crossings(vsim, folder, deck, measures, got):
    """The deck with the curve's value where it crosses, NAME_v, in place of where it does; {NAME: its slope}"""
    asked, there = deck, {}
    for name in measures:
        c = crossing(deck, name)
        if c:
            kind, curve, _, since = c
            since = float(since.rstrip('n')) * (1e-9 if since.endswith('n') else 1)
            at = got[name][name] + since
            asked += f'.meas {kind} {name}_v find {curve} at={at!r}\n.meas {kind} {name}_d deriv {curve} at={at!r}\n'
            there[name] = None
    if there:
        run(vsim, folder, 'slope.sp', f'{asked}.end\n', '--no-output', '--threads', '1', '--measures', 'slope.csv')
        with open(os.path.join(folder, 'slope.csv')) as f:
            value = {r['name']: float(r['value']) for r in csv.DictReader(f) if r['name'].endswith('_d')}
        there = {name: value[f'{name}_d'] for name in there}
    return re.sub(r'(?m)^\.meas \w+ \w+_d .*\n', '', asked), there


def differences(vsim, folder, deck, param, value):
    """{measure: (derivative, its own uncertainty)}"""
    h = 0.4 if param == 'temp' else H * abs(value)
    at = [value + s * h / 2 ** k for k in range(3) for s in (-1, 1)]
    name = re.sub(r'\W', '_', param)
    run(vsim, folder, f'd_{name}.sp', f'{deck}.step {param} list {" ".join(repr(v) for v in at)}\n.end\n',
        '--no-output', '--threads', '1', '--measures', f'd_{name}.csv')
    with open(os.path.join(folder, f'd_{name}.csv')) as f:
        rows = list(csv.DictReader(f))
    return {m: romberg([float(r[m]) for r in rows], h) for m in rows[0] if m not in ('status', 'state')}


def common_slope(pairs):
    """s of a = s b, the best for all parameters: a differences of the curve's value, b gradients of the time."""
    return sum(a * b for a, b in pairs) / sum(b * b for _, b in pairs)


def check(vsim, name, every, pool):
    """A Row for each measure and parameter."""
    d = CIRCUITS[name]()
    by = {p: v for k, (p, v) in enumerate(d.by.items()) if k % every == 0 or p in d.always}
    deck = f'{name}\n' + '\n'.join(d.cards) + f'\n{HELD}\n'
    measures = dict((m, k) for k, m in re.findall(r'^\.meas (\w+) (\w+)', deck, re.M))
    cards = ''
    for kind in KINDS:
        names = [m for m, k in measures.items() if k == kind]
        if names:
            cards += f'.sens {kind} {" ".join(names)} param={" ".join(by)}\n'
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run(vsim, folder, 'deck.sp', f'{deck}{cards}.end\n', '-r', 'out.raw', '--ascii', '--threads', '1')
        got = read_gradients(os.path.join(folder, 'out.raw'))
        asked, slope = at_crossings(vsim, folder, deck, measures, got)
        wants = dict(zip(by, pool.map(lambda p: differences(vsim, folder, asked, p, by[p]), by)))
    size = {p: 300.0 if p == 'temp' else abs(v) for p, v in by.items()}
    for m, kind in measures.items():
        value = f'{m}_v' if m in slope else m
        if m in slope:
            fit = common_slope([(-wants[p][value][0] * size[p], got[m][p] * size[p])
                                for p in by if p not in d.corners])
            error = abs(fit / slope[m] - 1)
            rows.append(Row(kind, m, 'slope of the curve', fit, slope[m], error, error > SECOND_BOUND, True))
        for p in by:
            want, unsure = (k / (-fit if m in slope else 1) for k in wants[p][value])
            second = p in d.corners and kind == 'tran'
            scale = max(abs(want) * size[p], (1 if second else 1e-3) * abs(got[m][m]))
            error, unsure = abs(got[m][p] - want) * size[p] / scale, abs(unsure) * size[p] / scale
            wrong = error > (SECOND_BOUND if second else BOUND) and error > 2 * unsure
            rows.append(Row(kind, m, p, got[m][p], want, error, wrong, second))
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
    print(f'{"circuit":10} {"of":6} {"measures":>8} {"params":>7} {"largest":>9} {"unsure":>7} {"second":>9} '
          f'{"wrong":>6}')
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for name in o.only:
            rows = check(vsim, name, o.every, pool)
            for kind in KINDS:
                of = [r for r in rows if r[0] == kind]
                if not of:
                    continue
                held = [r for r in of if not r.second]
                sure = [r for r in held if r.error <= BOUND or r.wrong]
                wrong = [r for r in of if r.wrong]
                n_wrong += len(wrong)
                print(f'{name:10} {kind:6} {len({r.measure for r in of}):8} {len({r.param for r in held}):7} '
                      f'{max((r.error for r in sure), default=0):9.1e} {len(held) - len(sure):7} '
                      f'{max((r.error for r in of if r.second), default=0):9.1e} {len(wrong):6}', flush=True)
                for r in of if o.all else wrong:
                    print(f'    d {r.measure} / d {r.param}: {r.got:.9g}, difference {r.want:.9g}, '
                          f'error {r.error:.1e}', flush=True)
    return 1 if n_wrong else 0


if __name__ == '__main__':
    sys.exit(main())
