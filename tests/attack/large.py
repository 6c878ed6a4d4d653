"""Random circuits of hundreds to thousands of unknowns, and what must hold for them: there trees of factors,
panels, homes of threads, held linearisations, latent cells, regions, scenes and shared subcircuits are at work,
which circuits of a few nodes never reach.

An input is a line `SEED CHECK...`: the deck is made from the seed, each CHECK (CHECKS) compares its run with
another way to the same results. `large.py SEED` prints the deck."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import circuits

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
PATIENCE = 200     # s, a run
PARAMETERS = {'wn': 1.0, 'rs': 1.0, 'cs': 1.0, 'vs': 1.0, 'vt': 0.0}  # factors of widths, R, C, supply; V

MODELS = {
    'level 1': (1.8, """.model nm nmos level=1 vto={0.45+vt} kp=170u lambda=0.08 tox=4n gamma=0.4 cgso=0.3n cgdo=0.3n cj=1m mj=0.5
.model pm pmos level=1 vto={-0.45-vt} kp=60u lambda=0.1 tox=4n gamma=0.4 cgso=0.3n cgdo=0.3n cj=1m mj=0.5"""),
    'bsim3': (1.8, """.model nm nmos level=8 version=3.3.0 tox=4.1n vth0={0.4+vt} u0=270 vsat=1e5 k1=0.5 cgso=0.3n cgdo=0.3n cj=1m
.model pm pmos level=8 version=3.3.0 tox=4.1n vth0={-0.4-vt} u0=110 vsat=1e5 k1=0.5 cgso=0.3n cgdo=0.3n cj=1m"""),
    'bsim4': (1.2, """.model nm nmos level=14 version=4.8 toxe=1.8n vth0={0.35+vt} u0=0.03 vsat=1e5 k1=0.4 ndep=2.5e17 xj=0.1u
+ cgso=0.2n cgdo=0.2n cjs=1m cjd=1m cjsws=0.1n cjswd=0.1n rdsw=150
.model pm pmos level=14 version=4.8 toxe=1.9n vth0={-0.35-vt} u0=0.012 vsat=8e4 k1=0.4 ndep=2e17 xj=0.1u
+ cgso=0.2n cgdo=0.2n cjs=1m cjd=1m cjsws=0.1n cjswd=0.1n rdsw=250"""),
    'psp103': (1.2, '.include "%s"' % os.path.join(ROOT, 'netlists', 'psp103_models.inc')),
}
REST = """.model dm d is=1e-15 cjo=5f rs=20 tt=1p
.model qn npn bf=100 cje=20f cjc=10f tf=5p vaf=50
.model qp pnp bf=50 cje=20f cjc=10f tf=10p
.model aadc adc_bridge(in_low={vdd*0.45} in_high={vdd*0.55})
.model adac dac_bridge(out_low=0 out_high={vdd} t_rise=20p t_fall=20p)
.model ainv d_inverter(rise_delay=30p fall_delay=40p)
"""


class Chip:
    """Cards of a deck, drawn at random."""

    def __init__(self, seed):
        self.draw = draw = random.Random('large %d' % seed)
        self.seed, self.cards, self.subckts, self.shown, self.count = seed, [], [], [], 0
        self.node_count = 0
        self.model = draw.choice(['level 1', 'bsim3', 'bsim3', 'bsim4', 'psp103'])
        self.high = MODELS[self.model][0]
        self.size = int(10 ** draw.uniform(2.5, 3.3 if draw.random() < 0.8 else 3.8))  # unknowns, about
        self.supply = draw.choice(['ideal', 'ideal', 'mesh', 'package'])
        self.wired = draw.random() < 0.6
        self.stop = draw.choice([0.2e-9, 0.4e-9, 1e-9])
        self.tags = []

    def card(self, text, *args):
        self.cards.append(text % args if args else text)

    def number(self):
        self.count += 1
        return self.count

    def value(self, low, high):
        return float(circuits.value(self.draw, low, high))

    def resistor(self, a, b, low, high=None):
        self.card('r%d %s %s {rs*%.4g}', self.number(), a, b, self.value(low, high or low * 1.0001))

    def capacitor(self, a, b, low, high=None):
        self.card('c%d %s %s {cs*%.4g}', self.number(), a, b, self.value(low, high or low * 1.0001))

    def wave(self, idle=False):
        d = self.draw
        if idle:
            return d.choice(['0', '%g' % self.high])
        low, high = d.choice([('0', '{vdd}'), ('0', '{vdd}'), ('{vdd}', '0')])
        kind = d.randrange(8)
        delay, edge = self.value(20e-12, self.stop / 2), self.value(10e-12, 80e-12)
        if kind == 0:
            return 'pwl(0 %s %.4g %s %.4g %s)' % (low, delay, low, delay + edge, high)
        if kind == 1:
            return 'sin({vdd/2} {vdd/2} %.4g)' % self.value(0.3 / self.stop, 4 / self.stop)
        width = self.value(0.1e-9, self.stop)
        return 'pulse(%s %s %.4g %.3g %.3g %.4g %.4g)' % (low, high, delay, edge, edge * d.choice([1, 2]), width,
                                                        2 * width + 4 * edge)

    def input(self, idle=False):
        k = self.number()
        self.card('v%d i%d 0 %s', k, k, self.wave(idle))
        if self.draw.random() < 0.5:
            return 'i%d' % k
        self.resistor('i%d' % k, 'j%d' % k, 50, 2000)
        return 'j%d' % k

    # -- gates --

    def gates(self):
        shape = ('x%s %s %smos w={%g*wn*w*1u} l=0.2u' if self.model == 'psp103' else
                 'm%s %s %sm w={%g*wn*w*1u} l=' + ('0.13u' if self.model == 'bsim4' else '0.18u'))
        mos = lambda *what: shape % what   # name, nodes, n or p, width
        inner = lambda name: '%s 0 {cs*0.3f}' % name
        return ['.subckt inv y a vdd vss w=1', mos('p', 'y a vdd vdd', 'p', 1), mos('n', 'y a vss vss', 'n', 0.5), '.ends',
                '.subckt nand y a b vdd vss w=1', mos('p', 'y a vdd vdd', 'p', 1), mos('q', 'y b vdd vdd', 'p', 1),
                mos('n', 'y a m vss', 'n', 1), mos('o', 'm b vss vss', 'n', 1), 'cm ' + inner('m'), '.ends',
                '.subckt nor y a b vdd vss w=1', mos('p', 'm a vdd vdd', 'p', 2), mos('q', 'y b m vdd', 'p', 2),
                mos('n', 'y a vss vss', 'n', 0.5), mos('o', 'y b vss vss', 'n', 0.5), '.ends',
                '.subckt buf y a vdd vss w=1', 'x1 m a vdd vss inv w={w}', 'x2 y m vdd vss inv w={3*w}', 'cm ' + inner('m'),
                '.ends']

    def gate(self, y, inputs, vdd, vss, cards=None):
        d, k = self.draw, self.number()
        kind = d.choice(['inv', 'inv', 'buf']) if len(inputs) == 1 else d.choice(['nand', 'nor'])
        w = d.choice(['', '', ' w=2', ' w=%.3g' % self.value(0.5, 4)])
        (self.cards if cards is None else cards).append(
            'x%d %s %s %s %s %s%s' % (k, y, ' '.join(inputs), vdd, vss, kind, w))

    def taps(self):
        """Nodes where a block hangs at the supplies."""
        if self.supply == 'mesh':
            x, y = (self.draw.randrange(self.side) for _ in range(2))
            return 'vd_%d_%d' % (x, y), 'vs_%d_%d' % (x, y)
        return ('vdd', '0') if self.supply == 'ideal' else ('vddi', 'vssi')

    def wire(self, a, b, cards=None):
        """Pi pieces from a to b."""
        d, last, pieces = self.draw, a, self.draw.randint(1, 5)
        out = self.cards if cards is None else cards
        for k in range(pieces):
            here = b if k == pieces - 1 else '%s_%d' % (b, k)
            n = self.number()
            out.append('r%d %s %s {rs*%.4g}\nc%d %s 0 {cs*%.4g}' % (n, last, here, self.value(0.5, 300), n, here,
                                                                  self.value(0.1e-15, 5e-15)))
            if d.random() < 0.1:
                out.append('cx%d %s %s {cs*%.3g}' % (n, here, d.choice(self.near), self.value(0.05e-15, 1e-15)))
            self.near = (self.near + [here])[-20:]
            last = here

    def layers(self, inputs, n, vdd, vss, prefix, cards=None):
        """n random gates behind the inputs; the nets."""
        nets, self.near = list(inputs), list(inputs)
        for k in range(n):
            y = '%s%d' % (prefix, k)
            sees = self.draw.sample(nets[-40:], min(self.draw.choice([1, 1, 2, 2, 2]), len(nets[-40:])))
            if self.wired and self.draw.random() < 0.7:
                self.gate(y + 'd', sees, vdd, vss, cards)
                self.wire(y + 'd', y, cards)
            else:
                self.gate(y, sees, vdd, vss, cards)
            nets.append(y)
        return nets

    # -- blocks; each takes about n unknowns --

    def logic(self, n):
        per = 8 if self.wired else 2
        idle = self.draw.random() < 0.4
        inputs = [self.input(idle and self.draw.random() < 0.9) for _ in range(self.draw.randint(1, 12))]
        k = self.number()
        nets = self.layers(inputs, max(n // per, 3), *self.taps(), 'g%d_' % k)
        self.shown += nets[-6:] + self.draw.sample(nets, min(6, len(nets)))

    def copies(self, n):
        """A block as a subcircuit, many times; most of them idle."""
        per, k = (8 if self.wired else 2), self.number()
        many = self.draw.randint(3, 40)
        gates, ports = max(n // per // many, 2), self.draw.randint(1, 4)
        cards = []
        nets = self.layers(['a%d' % i for i in range(ports)], gates, 'vdd', 'vss', 'n', cards)
        out = nets[-1]
        self.subckts.append('.subckt blk%d %s z vdd vss\n%s\nrz %s z 10\n.ends' % (
            k, ' '.join('a%d' % i for i in range(ports)), '\n'.join(cards), out))
        shared = [self.input(True) for _ in range(ports)]
        for i in range(many):
            idle = self.draw.random() < 0.8
            inputs = shared if idle else [self.input() for _ in range(ports)]
            self.card('x%d_%d %s z%d_%d %s %s blk%d', k, i, ' '.join(inputs), k, i, *self.taps(), k)
            if not idle or i < 3:
                self.shown.append('z%d_%d' % (k, i))

    def rings(self, n):
        stages = self.draw.choice([5, 11, 31])
        per = stages * (5 if self.wired else 1)
        for _ in range(max(1, n // per)):
            k, (vdd, vss) = self.number(), self.taps()
            self.near = ['k%d_0' % k]
            for s in range(stages):
                a, y = 'k%d_%d' % (k, s), 'k%d_%d' % (k, (s + 1) % stages)
                if self.wired:
                    self.card('x%d_%d %sd %s %s %s inv', k, s, y, a, vdd, vss)
                    self.wire(y + 'd', y)
                else:
                    self.card('x%d_%d %s %s %s %s inv\nc%d_%d %s 0 {cs*3f}', k, s, y, a, vdd, vss, k, s, y)
            if self.draw.random() < 0.7:
                self.card('ik%d 0 k%d_0 pulse(0 50u %.4gp 10p 10p 50p)', k, k, self.value(5, 200))
        self.tags.append('ring')
        self.shown.append('k%d_0' % k)

    def memory(self, n):
        cols = max(2, int((n / 3) ** 0.5))
        rows, k = max(2, n // 3 // cols), self.number()
        vdd, vss = self.taps()
        psp = self.model == 'psp103'
        line = (lambda name, nodes: 'x%s %s nmos w=0.5u l=0.2u' % (name, nodes)) if psp else (
            lambda name, nodes: 'm%s %s nm w=0.5u l=0.18u' % (name, nodes))
        self.subckts.append('.subckt cell%d b nb w vdd vss\nx1 q nq vdd vss inv\nx2 nq q vdd vss inv\n%s\n%s\n.ends' % (
            k, line('a', 'b w q vss'), line('b', 'nb w nq vss')))
        for r in range(rows):
            word = self.input(r > 1)
            if r > 1:
                self.cards = [re.sub(r'^(v\d+ %s 0) .*' % word.replace('j', 'i'), r'\1 0', x) if x.startswith('v') else x
                              for x in self.cards]
            last = word
            for c in range(cols):
                if self.wired:
                    self.resistor(last, 'w%d_%d_%d' % (k, r, c), 1, 20)
                    last = 'w%d_%d_%d' % (k, r, c)
                one = self.draw.randrange(2)
                self.card('x%d_%d_%d b%d_%d nb%d_%d %s %s %s cell%d', k, r, c, k, c, k, c, last, vdd, vss, k)
                self.card('.nodeset v(x%d_%d_%d.q)=%g v(x%d_%d_%d.nq)=%g', k, r, c, one * self.high, k, r, c,
                          (1 - one) * self.high)
        for c in range(cols):
            for b in ('b', 'nb'):
                self.resistor('%s%d_%d' % (b, k, c), vdd, 5e3, 3e4)
                self.capacitor('%s%d_%d' % (b, k, c), '0', 1e-15, 2e-14)
        self.shown += ['b%d_%d' % (k, c) for c in range(min(cols, 6))]

    def mesh(self, n):
        side, k = max(3, int(n ** 0.5)), self.number()
        name = lambda x, y: 'm%d_%d_%d' % (k, x, y)
        for x in range(side):
            for y in range(side):
                if x:
                    self.resistor(name(x, y), name(x - 1, y), 0.2, 5)
                if y:
                    self.resistor(name(x, y), name(x, y - 1), 0.2, 5)
                self.capacitor(name(x, y), '0', 1e-15, 5e-14)
                if self.draw.random() < 0.03:
                    self.card('il%d_%d_%d %s 0 pulse(10u 1m %.4g 50p 50p 0.2n 1n)', k, x, y, name(x, y),
                              self.value(5e-11, self.stop / 2))
        self.resistor(self.input(), name(0, 0), 0.5, 50)
        self.shown += [name(0, 0), name(side // 2, side // 2), name(side - 1, side - 1)]

    def tree(self, n):
        k = self.number()
        self.resistor(self.input(), 't%d_0' % k, 10, 500)
        for i in range(1, n):
            up = self.draw.randrange(max(0, i - self.draw.choice([2, 10, 1000])), i)
            self.resistor('t%d_%d' % (k, i), 't%d_%d' % (k, up), 1, 1000)
            self.capacitor('t%d_%d' % (k, i), '0', 1e-16, 3e-15)
            if self.draw.random() < 0.05:
                self.card('d%d_%d t%d_%d 0 dm', k, i, k, i)
        self.shown += ['t%d_%d' % (k, i) for i in (0, n // 2, n - 1)]

    def analog(self, n):
        """Pairs of bipolar transistors in a row, each with its mirror; sources that are controlled."""
        vdd, vss = self.taps()
        k = self.number()
        p, q = self.input(), self.input(True)
        for s in range(max(1, n // 6)):
            y, z = 'y%d_%d' % (k, s), 'z%d_%d' % (k, s)
            self.card('q%d_%da %s %s e%d_%d qn\nq%d_%db %s %s e%d_%d qn', k, s, y, p, k, s, k, s, z, q, k, s)
            self.card('rt%d_%d e%d_%d %s {rs*4k}', k, s, k, s, vss)
            self.resistor(y, vdd, 2e3, 6e3)
            self.resistor(z, vdd, 2e3, 6e3)
            self.capacitor(y, '0', 1e-15, 2e-14)
            self.capacitor(z, '0', 1e-15, 2e-14)
            self.card(self.draw.choice(['eo%d_%d o%d_%d 0 %s %s 0.4', 'bo%d_%d o%d_%d 0 v=0.5*tanh(2*v(%s,%s))']),
                      k, s, k, s, y, z)
            self.resistor('o%d_%d' % (k, s), 'p%d_%d' % (k, s), 100, 2e3)
            self.capacitor('p%d_%d' % (k, s), '0', 1e-15, 2e-14)
            self.card('gb%d_%d p%d_%d %s p%d_%d 0 1m', k, s, k, s, vss, k, s)
            if self.draw.random() < 0.3:
                p = self.input()
            else:
                p = 'f%d_%d' % (k, s)
                self.card('ef%d_%d %s 0 p%d_%d 0 1\n', k, s, p, k, s)
                self.cards[-1] = 'bf%d_%d %s 0 v=%g+v(p%d_%d)' % (k, s, p, self.high / 2, k, s)
            self.shown = (self.shown + ['p%d_%d' % (k, s)])[-40:]

    def coils(self, n):
        """A line of lumped L and C with coupled neighbours."""
        k = self.number()
        self.resistor(self.input(), 'u%d_0' % k, 20, 100)
        for s in range(max(2, n // 2)):
            self.card('l%d_%d u%d_%d u%d_%d %.4g', k, s, k, s, k, s + 1, self.value(2e-11, 2e-10))
            if s and self.draw.random() < 0.3:
                self.card('k%d_%d l%d_%d l%d_%d %.2g', k, s, k, s - 1, k, s, self.draw.uniform(0.05, 0.45))
            self.capacitor('u%d_%d' % (k, s + 1), '0', 3e-14, 3e-13)
        self.card('rl%d u%d_%d 0 50', k, k, max(2, n // 2))
        self.shown += ['u%d_%d' % (k, s) for s in (0, 1, 2)]

    def pump(self, n):
        """Diodes and capacitors in a row."""
        k, last = self.number(), self.input()
        clock = self.input()
        for s in range(max(2, n)):
            self.card('d%d_%d %s h%d_%d dm', k, s, last, k, s)
            self.capacitor('h%d_%d' % (k, s), clock if s % 2 else '0', 5e-15, 5e-14)
            last = self.input() if self.draw.random() < 0.03 else 'h%d_%d' % (k, s)
        self.resistor(last, '0', 1e4, 1e6)
        self.shown += ['h%d_%d' % (k, s) for s in (0, 1)]

    def fan(self, n):
        """One driver, many loads: a long column."""
        k, (vdd, vss) = self.number(), self.taps()
        self.card('x%d fn%d %s %s %s inv w=%d', k, k, self.input(), vdd, vss, max(4, n // 8))
        for i in range(max(2, n // 2)):
            self.card('x%d_%d fo%d_%d fn%d %s %s inv', k, i, k, i, k, vdd, vss)
            self.capacitor('fo%d_%d' % (k, i), '0', 1e-16, 1e-15)
        self.shown += ['fn%d' % k, 'fo%d_0' % k]

    def digital(self, _):
        k = self.number()
        self.card('aa%d [%s] [da%d_0] aadc', k, self.input(), k)
        for s in range(self.draw.randint(1, 5)):
            self.card('ai%d_%d da%d_%d da%d_%d ainv', k, s, k, s, k, s + 1)
        self.card('ad%d [da%d_%d] [do%d] adac\nrd%d do%d dp%d 1k\ncd%d dp%d 0 {cs*5f}', k, k, s + 1, k, k, k, k, k, k)
        self.shown.append('dp%d' % k)

    def line(self, _):
        k = self.number()
        self.card('rt%d %s la%d 50\nt%d la%d 0 lb%d 0 z0=50 td=%.4g\nrl%d lb%d 0 %.3g', k, self.input(), k, k, k, k,
                  self.value(5e-11, 5e-10), k, k, self.value(20, 500))
        self.shown.append('lb%d' % k)

    def grows(self, _):
        k = self.number()
        self.card('rg%d %s ga%d 1k\ncg%d ga%d 0 -0.2f\nrh%d ga%d 0 2k', k, self.input(), k, k, k, k, k)
        self.shown.append('ga%d' % k)

    def deck(self):
        d = self.draw
        self.side = d.randint(2, max(2, int((self.size / 30) ** 0.5)))
        self.card('vdd vdd 0 {vdd}')
        if self.supply == 'mesh':
            for net, root in ('vd', 'vdd'), ('vs', '0'):
                for x in range(self.side):
                    for y in range(self.side):
                        here = '%s_%d_%d' % (net, x, y)
                        if x:
                            self.resistor(here, '%s_%d_%d' % (net, x - 1, y), 0.2, 2)
                        if y:
                            self.resistor(here, '%s_%d_%d' % (net, x, y - 1), 0.2, 2)
                        self.capacitor(here, '0', 1e-15, 5e-14)
                self.resistor(root, net + '_0_0', 0.1)
        elif self.supply == 'package':
            self.card('lvd vdd vddp 50p\nrvd vddp vddi 0.2\nlvs 0 vssp 50p\nrvs vssp vssi 0.2\ncdec vddi vssi 2p')
        left = self.size
        kinds = [self.logic, self.logic, self.copies, self.copies, self.rings, self.memory, self.mesh, self.tree,
                 self.analog, self.coils, self.pump, self.fan]
        used = []
        while left > 20:
            n = left if d.random() < 0.3 or left < 100 else d.randint(20, left)
            block = d.choice(kinds)
            if block in (self.coils, self.pump, self.analog):
                n = min(n, 300)
            block(n)
            used.append('%s %d' % (block.__name__, n))
            left -= n
        for block, part in (self.digital, 0.08), (self.line, 0.06), (self.grows, 0.05):
            if d.random() < part:
                block(0)
                used.append(block.__name__)
        self.options = []
        for text, part in (('method=gear', 0.2), ('bypass=1', 0.1), ('reltol=1e-4', 0.1), ('abstol=1e-9', 0.1),
                           ('lu=klu', 0.05), ('gmin=1e-10', 0.1)):
            if d.random() < part:
                self.options.append(text)
        if d.random() < 0.15:
            self.options.append('itl4=%d' % d.choice([6, 30]))
        shown = sorted(set(d.sample(self.shown, min(40, len(self.shown)))))
        self.uic = d.random() < 0.1
        self.step = self.stop / d.choice([60, 150, 400])
        head = 'large %d: %s, supply %s, %s' % (self.seed, self.model, self.supply, ', '.join(used))
        return '\n'.join([
            head[:500], '.param vdd={%g*vs}' % self.high] + ['.param %s=%g' % x for x in PARAMETERS.items()] +
            [MODELS[self.model][1], REST] + self.gates() + self.subckts + self.cards +
            ['.options ' + x for x in self.options] +
            ['.save i(vdd) ' + ' '.join('v(%s)' % s for s in shown), '.tran %.4g %.4g%s' % (
                self.step, self.stop, ' uic' if self.uic else ''), '.end', ''])


# -- what must hold --

class Wrong(Exception):
    """What a check found."""


class Runs:
    """Runs of one deck in a folder."""

    def __init__(self, vsim, seed, folder):
        self.vsim, self.folder, self.chip = vsim, folder, Chip(seed)
        self.text = self.chip.deck()
        self.draw = random.Random('checks %d' % seed)
        self.cache, self.made = None, {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, name, text, *args):
        with open(self.path(name + '.sp'), 'w') as f:
            f.write(text)
        os.utime(self.path(name + '.sp'), (10**9, 10**9))  # whose date the results of a family have
        for end in '.raw', '.json':
            if os.path.exists(self.path(name + end)):
                os.unlink(self.path(name + end))
        return [self.vsim, '-n', '-r', name + '.raw', '--stats', name + '.json', *args, name + '.sp']

    def run(self, name, text=None, *args, codes=(0,), **environment):
        """Figures of the run, bytes of its results. Other exit codes than `codes` are findings."""
        command = self.command(name, text or self.text, *args)
        p = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors='replace', env=dict(os.environ, **environment))
        try:
            said = p.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise Slow(' '.join(command)) from None
        if p.returncode not in codes:
            raise Wrong('%s: exit code %d: %s' % (' '.join(command[1:]), p.returncode, said[-600:]))
        return self.result(name)

    def result(self, name):
        stats = {}
        if os.path.exists(self.path(name + '.json')):
            with open(self.path(name + '.json')) as f:
                stats = json.load(f)
        with open(self.path(name + '.raw'), 'rb') as f:
            return stats, re.sub(rb'Date:[^\n]*', b'', f.read())

    def first(self, name, text, *args, **environment):
        """As run, once for each name."""
        if name not in self.made:
            self.made[name] = self.run(name, text, *args, **environment)
        return self.made[name]

    def reference(self):
        return self.first('ref', self.text, '--threads', '1')

    def plots(self, name):
        return circuits.read_raw(self.path(name + '.raw'))

    def wave(self, name):
        """The transient of a run: its times, {vector: values}."""
        for title, vectors in self.plots(name):
            if 'transient' in title.lower():
                return vectors
        raise Wrong('%s: no transient' % name)


class Slow(Exception):
    """A run that takes longer than there is patience: no finding, no result."""


class Nothing(Exception):
    """A deck without what a check needs."""


def with_options(text, options):
    return text.replace('\n.save', '\n.options %s\n.save' % options)


def same_bytes(a, b, what):
    if a != b:
        n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        raise Wrong('%s: other results from byte %d of %d, %d on' % (what, n, len(a), len(b)))


FIGURES = ('device_evaluations', 'newton_iterations', 'factorizations', 'refactorizations')


def threads(r):
    """The same bits with any number of threads, all of whose limits are set to nothing, and lanes."""
    stats, want = r.reference()
    for n in r.draw.sample(['1', '2', '3', '5'], 2):
        lanes = r.draw.choice(['1', '2', '4', '8'])
        other, got = r.run('threads', r.text, '--threads', n, VSIM_LANES=lanes, VSIM_PARALLEL_MIN='1')
        same_bytes(want, got, '%s threads, %s lanes' % (n, lanes))
        for key in FIGURES if lanes == '8' else FIGURES[1:]:  # levels evaluate by packs, as wide as these
            if stats.get(key) != other.get(key):
                raise Wrong('%s threads, %s lanes: %s %s, of one thread %s' % (n, lanes, key, other.get(key), stats.get(key)))


def distance(a, b, grid):
    """{vector: (mean distance, size)} of two transients at common times."""
    out = {}
    for name, v in b.items():
        if name and name in a:
            x, y = circuits.on_grid(a[''], a[name], grid), circuits.on_grid(b[''], v, grid)
            out[name] = (sum(abs(p - q) for p, q in zip(x, y)) / len(grid), max(map(abs, y)))
    return out


def as_exact(r, name, text, *args, what=None):
    """A run is no farther from one with a hundredth of the tolerances than five times what one without bypass is, and
    half a percent: steps may fall otherwise, so edges move within the truncation error, to either side."""
    r.first('plain', with_options(r.text, 'bypass=0'), '--threads', '1')
    r.first('exact', with_options(re.sub(r'(?m)^\.options (reltol|abstol|itl4).*\n', '', r.text),
                                  'bypass=0 reltol=1e-5 vntol=1e-8 abstol=1e-14'), '--threads', '1')
    r.run(name, text, *args)
    end = r.chip.stop
    grid = [end * k / 500 for k in range(1, 500)]
    exact = r.wave('exact')
    near, far = distance(r.wave('plain'), exact, grid), distance(r.wave(name), exact, grid)
    largest = max((size for n, (_, size) in near.items() if n.startswith('v(')), default=1)
    for n, (d, size) in sorted(far.items()):
        floor = 5e-3 * (largest if n.startswith('v(') else max(size, 1e-5))
        if not d <= 5 * near[n][0] + floor:
            raise Wrong('%s: %s is %.3g off, of %.3g; without bypass %.3g' % (what or name, n, d, size, near[n][0]))


def bypass(r):
    """What is left alone changes little."""
    as_exact(r, 'again', r.text, '--threads', '1', what='bypass')


def method(r):
    """Another method for linear systems."""
    kind = r.draw.choice(['klu', 'umfpack'])
    as_exact(r, 'lu', r.text, '--lu', kind, what='lu=' + kind)


def order(r):
    """Cards in another order: another numbering, other cells, other sums."""
    lines = r.text.split('\n')
    first = next(i for i, x in enumerate(lines) if x.startswith('vdd '))
    last = next(i for i, x in enumerate(lines) if x.startswith(('.options', '.save')) and i > first)
    cards = lines[first:last]
    r.draw.shuffle(cards)
    as_exact(r, 'order', '\n'.join(lines[:first] + cards + lines[last:]), what='order of cards')


def verify(r):
    """Kirchhoff's sums, charges and kernels by other means: exit code 9 says that they do not fit."""
    r.run('verify', r.text, '--verify', '--threads', r.draw.choice(['1', '2']))


def kernels(r):
    """Calls of kernels beside the interpreter."""
    r.run('kernels', r.text, '--check-kernels=%d' % r.draw.choice([101, 499]))


def alone(r):
    """Instances that share nothing: each has a parameter of its own, which nobody reads."""
    _, want = r.reference()
    count = iter(range(10**6))
    text = re.sub(r'(?m)^(\.subckt .*)$', lambda m: m[1] + (' own=0' if '=' in m[1] else ' params: own=0'), r.text)
    text = re.sub(r'(?m)^(x\S+ .*\b(?:inv|nand|nor|buf|blk\d+|cell\d+)\b.*)$',
                  lambda m: '%s own=%d' % (m[1], next(count)), text)
    _, got = r.run('alone', text, '--threads', '1')
    title = lambda s: s[s.index(b'\n'):]
    same_bytes(title(want), title(got), 'instances that share nothing')


def restart(r):
    """Stopped or killed at any time, on another number of threads: the bytes of a run that went on."""
    args = ('--checkpoint', '1000')
    t0 = time.monotonic()
    _, want = r.first('kept', r.text, *args, '--threads', '1')
    whole = time.monotonic() - t0
    file, at = r.path('cut.raw.checkpoint'), None
    if os.path.exists(file):
        os.unlink(file)
    for hop in range(r.draw.randint(1, 3) + 1):
        on = ['--restart', 'cut.raw.checkpoint'] if os.path.exists(file) else []
        r.command('kept', r.text)   # writes the deck, whose name is in the results
        command = [r.vsim, '-n', '-r', 'cut.raw', *args, *on, '--threads', r.draw.choice(['1', '2', '3']), 'kept.sp']
        if not on and os.path.exists(r.path('cut.raw')):
            os.unlink(r.path('cut.raw'))
        p = subprocess.Popen(command, cwd=r.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, env=dict(os.environ, VSIM_LANES=r.draw.choice(['2', '4', '8']), VSIM_PARALLEL_MIN='1'))
        try:
            try:
                said = p.communicate(timeout=whole * r.draw.random() if hop < 3 else PATIENCE)[0]
            except subprocess.TimeoutExpired:
                kind = r.draw.choice(['TERM', 'TERM', 'USR1'])
                p.send_signal(getattr(signal, 'SIG' + kind))
                if kind == 'USR1':
                    try:
                        p.communicate(timeout=whole * r.draw.random() / 2)
                    except subprocess.TimeoutExpired:
                        p.kill()
                said = p.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise Slow(' '.join(command)) from None
        if p.returncode not in (0, 130, 143, -signal.SIGTERM, -signal.SIGKILL, -signal.SIGUSR1):
            raise Wrong('%s: exit code %d: %s' % (' '.join(command[1:]), p.returncode, said[-600:]))
        at = p.returncode
        if at == 0:
            break
    if at != 0:
        on = ['--restart', 'cut.raw.checkpoint'] if os.path.exists(file) else []
        said = subprocess.run([r.vsim, '-n', '-r', 'cut.raw', *args, *on, 'kept.sp'], cwd=r.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        if said.returncode:
            raise Wrong('restart: exit code %d: %s' % (said.returncode, said.stdout[-600:]))
    with open(r.path('cut.raw'), 'rb') as f:
        same_bytes(want, re.sub(rb'Date:[^\n]*', b'', f.read()), 'gone on')


def some_values(r):
    """Values of a few parameters of the deck."""
    names = r.draw.sample(sorted(PARAMETERS), r.draw.randint(1, 2))
    return {n: (0.01 if n == 'vt' else r.draw.choice([0.9, 1.05, 1.2])) for n in names}


def same_plot(a, b, what):
    for name, v in b.items():
        if a.get(name) != v:
            raise Wrong('%s: %s is another in %d of %d points' % (what, name, sum(
                x != y for x, y in zip(a.get(name, []), v)), len(v)))


def redo(r):
    """Points of a family, which change the circuit that is there: each is the run of that point alone."""
    value = some_values(r)
    temp = r.draw.random() < 0.3
    text = r.text
    for n, x in value.items():
        text = text.replace('\n.save', '\n.step param %s list %g %g\n.save' % (n, PARAMETERS[n], x))
    if temp:
        text = text.replace('\n.save', '\n.step temp list 27 60\n.save')
    r.run('family', text, '--threads', r.draw.choice(['1', '2']), '--jobs', r.draw.choice(['1', '1', '2']),
          VSIM_PARALLEL_MIN='1')
    plots = [p for p in r.plots('family') if 'transient' in p[0].lower()]
    title, got = r.draw.choice(plots[1:])
    here = dict(x.split('=') for x in re.findall(r'\w+=[-+.e0-9]+', title))
    alone_text = r.text
    for n, x in here.items():
        alone_text = alone_text.replace('\n.save', ('\n.temp %s\n.save' if n == 'temp' else '\n.param ' + n + '=%s\n.save') % x)
    r.run('point', alone_text, '--threads', '1')
    same_plot(r.wave('point'), got, title)


def altered(r):
    """A block that runs, changes parameters and runs again: the second run is that of a deck with these values."""
    value = some_values(r)
    tran = re.search(r'(?m)^\.(tran .*)$', r.text)[1]
    block = ['.control', r.draw.choice(['op', 'tran %.4g %.4g' % (r.chip.step, r.chip.stop / 4), tran])]
    block += ['alterparam %s=%g' % x for x in value.items()] + [tran, 'write block.raw', '.endc']
    text = re.sub(r'(?m)^\.tran .*$', lambda m: '\n'.join(block), r.text)
    if os.path.exists(r.path('block.raw')):
        os.unlink(r.path('block.raw'))
    command = r.command('control', text, '--threads', r.draw.choice(['1', '2']))
    p = subprocess.run(command, cwd=r.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, errors='replace', timeout=PATIENCE, env=dict(os.environ, VSIM_PARALLEL_MIN='1'))
    if p.returncode:
        raise Wrong('a block: exit code %d: %s' % (p.returncode, p.stdout[-600:]))
    more = ''.join('.param %s=%g\n' % x for x in value.items())
    r.run('fresh', r.text.replace('\n.save', '\n%s.save' % more), '--threads', '1')
    same_plot(r.wave('fresh'), r.wave('block'), 'altered %s' % value)


def small(r):
    """Small signals: the same bits with any threads, and the numbers of another method."""
    source = re.search(r'(?m)^(v\d+ i\d+ 0) (.*)$', r.text)
    if not source:
        raise Nothing('no source')
    text = r.text.replace(source[0], source[0] + ' ac 1')
    text = re.sub(r'(?m)^\.tran .*$', '.ac dec 2 1meg 10g', text)
    _, want = r.run('ac', text, '--threads', '1')
    _, got = r.run('ac2', text, '--threads', '3', VSIM_PARALLEL_MIN='1', VSIM_LANES=r.draw.choice(['2', '4', '8']))
    same_bytes(want, got, 'ac with 3 threads')
    r.run('ac3', text, '--lu', 'umfpack')
    for (_, a), (_, b) in zip(r.plots('ac'), r.plots('ac3')):
        for n, v in b.items():
            bound = 1e-2 * max(map(abs, v)) + 1e-6   # their operating points agree within reltol
            if max(abs(x - y) for x, y in zip(a[n], v)) > bound:
                raise Wrong('ac: %s is another by lu=umfpack' % n)


CHECKS = {f.__name__: f for f in (threads, bypass, method, order, verify, kernels, alone, restart, redo, altered, small)}


def holds(vsim, line, folder):
    """None, or what does not hold of the line "SEED CHECK..."; raises Slow where a run does not end in
    time, Nothing where the deck has nothing to compare."""
    seed, *checks = line.split()
    r, missing = Runs(vsim, int(seed), folder), None
    try:
        r.reference()
        for name in checks:
            r.draw = random.Random('%s %s' % (seed, name))
            try:
                CHECKS[name](r)
            except Nothing as why:
                missing = why
    except Wrong as why:
        return '%s\n%s' % (why, r.text.split('\n')[0])
    except subprocess.TimeoutExpired as why:
        raise Slow(str(why)) from None
    if missing:
        raise missing
    return None


if __name__ == '__main__':
    sys.stdout.write(Chip(int(sys.argv[1])).deck())
