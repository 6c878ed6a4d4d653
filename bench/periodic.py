#!/usr/bin/env python3
"""Periodic states of large circuits of PSP103 transistors: decks, and what they cost by size.

    periodic.py block 1000 > block.sp              a clocked block, .pss by shooting
    periodic.py register 500 > register.sp         a register, whose bits take many periods
    periodic.py memory 500 > memory.sp             latches that keep what they have
    periodic.py block 1000 --coarse > block.sp     on the transient's steps
    periodic.py block 1000 --tran > tran.sp        the transient that the shooting begins with
    periodic.py mixers 500 --order 3 > mixers.sp   mixers under three tones, .hb
    periodic.py mixers 100 --vacask > mixers.sim   the same in VACASK's language

block: slices of 96 transistors, each two flip-flops of transmission gates as a Johnson counter, a
full adder of NAND gates of both and the carry of the slice before, and a flip-flop for the sum; the
carry begins anew each four slices. The clock has 500 MHz; the state repeats after four periods.
register: flip-flops in a row behind a source of one bit of two clocks in four, from a state that is
empty. memory: pairs of inverters, of which every third begins with 1, on a common bit line that a
flip-flop drives, and of which the clock connects the first.
mixers: cells of six transistors with their loads, each with two gates for its radio-frequency
input; current sources, bias, supply and the local oscillator's rails are common and have resistance
from cell to cell, as wires of a chip have."""
import argparse
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
MODELS = os.path.join(ROOT, 'netlists', 'psp103_models.inc')
F_CLOCK, SLICE, CELL = 500e6, 96, 6
TONES = (2.3e9, 2.4e9, 2.401e9)


class Netlist:
    """Elements: (kind, name, nodes, values)."""

    def __init__(self):
        self.all = []

    def add(self, kind, name, nodes, **given):
        self.all.append((kind, name, nodes.split(), given))

    def n_transistors(self):
        return sum(kind in 'np' for kind, *_ in self.all)

    def n(self, name, nodes, w=0.5):
        self.add('n', name, nodes + ' 0', w=w)

    def p(self, name, nodes, w=1.0):
        self.add('p', name, nodes + ' vdd', w=w)


# -- the clocked block --

def inverter(net, name, into, out):
    net.p(name + 'p', '%s %s vdd' % (out, into))
    net.n(name + 'n', '%s %s 0' % (out, into))


def nand(net, name, a, b, out):
    net.p(name + 'pa', '%s %s vdd' % (out, a))
    net.p(name + 'pb', '%s %s vdd' % (out, b))
    net.n(name + 'na', '%s %s %s_m' % (out, a, name))
    net.n(name + 'nb', '%s_m %s 0' % (name, b))


def gate(net, name, a, b, on, off):
    """a and b are connected while `on` is high and `off` is low."""
    net.n(name + 'n', '%s %s %s' % (a, on, b))
    net.p(name + 'p', '%s %s %s' % (a, off, b))


def flip_flop(net, name, d, q, qn):
    """20 transistors: both phases of the clock are its own; d goes to q at the rise."""
    c, cn = name + '_c', name + '_cn'
    inverter(net, name + 'i1', 'clk', cn)
    inverter(net, name + 'i2', cn, c)
    m, mn, mf, s, sf = (name + '_' + x for x in ('m', 'mn', 'mf', 's', 'sf'))
    gate(net, name + 't1', d, m, cn, c)
    inverter(net, name + 'i3', m, mn)
    inverter(net, name + 'i4', mn, mf)
    gate(net, name + 't2', mf, m, c, cn)
    gate(net, name + 't3', mn, s, c, cn)
    inverter(net, name + 'i5', s, q)
    inverter(net, name + 'i6', q, qn)
    gate(net, name + 't4', qn, s, cn, c)
    return sf


def adder(net, name, a, b, c, total, carry):
    x, y, z, h, u, v, w = (name + '_' + k for k in 'xyzhuvw')
    for k, (i, j, o) in enumerate(((a, b, x), (a, x, y), (b, x, z), (y, z, h), (h, c, u),
                                   (h, u, v), (c, u, w), (v, w, total), (u, x, carry))):
        nand(net, '%s%d' % (name, k), i, j, o)


def clocked():
    net = Netlist()
    net.add('v', 'dd', 'vdd 0', wave=1.2)
    period = 1 / F_CLOCK
    net.add('v', 'c', 'clk 0', wave=('pulse', 0, 1.2, 0.25 * period, 50e-12, 50e-12,
                                     0.5 * period - 50e-12, period))
    return net


def block(size):
    net = clocked()
    for k in range(max(1, round(size / SLICE))):
        s = 's%d' % k
        flip_flop(net, s + 'a', s + 'qbn', s + 'qa', s + 'qan')
        flip_flop(net, s + 'b', s + 'qa', s + 'qb', s + 'qbn')
        adder(net, s + 'f', s + 'qa', s + 'qb', 's%dco' % (k - 1) if k % 4 else '0', s + 'sum',
              s + 'co')
        flip_flop(net, s + 'd', s + 'sum', s + 'qs', s + 'qsn')
    return net


def register(size):
    net = clocked()
    period = 1 / F_CLOCK
    net.add('v', 'd', 'q0 0', wave=('pulse', 0, 1.2, 0.1 * period, 50e-12, 50e-12, 2 * period - 50e-12,
                                    4 * period))
    for k in range(max(1, round(size / 20))):
        flip_flop(net, 'f%d' % k, 'q%d' % k, 'q%d' % (k + 1), 'q%dn' % (k + 1))
    return net


def memory(size):
    net = clocked()
    flip_flop(net, 'f', 'qn', 'q', 'qn')
    for k in range(max(1, round(size / 5))):
        inverter(net, 'a%d' % k, 'x%d' % k, 'y%d' % k)
        inverter(net, 'b%d' % k, 'y%d' % k, 'x%d' % k)
        net.n('w%d' % k, 'x%d %s q' % (k, '0' if k else 'clk'))
    return net


# -- the mixers --

def mixers(size):
    net = Netlist()
    cells = max(1, round(size / CELL))
    net.add('v', 'dd', 'sup 0', wave=1.2)
    net.add('v', 'b', 'bb 0', wave=0.55)
    net.add('v', 'l', 'lb 0', wave=0.85)
    net.add('v', 'lp', 'lop lb', wave=('sin', 0, 0.2, TONES[0]))
    net.add('v', 'ln', 'lon lb', wave=('sin', 0, -0.2, TONES[0]))
    net.add('v', 'r1', 'r1 bb', wave=('sin', 0, 0.02, TONES[1]))
    net.add('v', 'r2', 'rf r1', wave=('sin', 0, 0.02, TONES[2]))
    net.add('r', 'bias', 'bb b0', r=5)
    rails = {'vd': 'sup', 'lp': 'lop', 'ln': 'lon', 'rf': 'rf', 'b': 'b0'}
    last = dict(rails)
    for k in range(cells):
        at = {name: '%s%d' % (name, k + 1) for name in rails}
        for name in rails:
            net.add('r', 'w%s%d' % (name, k), '%s %s' % (last[name], at[name]), r=0.5)
        last = at
        x = 'x%d' % k
        t1, t2, op, on, tail = (x + s for s in ('t1', 't2', 'op', 'on', 's'))
        body = ' 0'
        for name, nodes, w in (('1', '%s %s %s' % (t1, at['rf'], tail), 4),
                               ('2', '%s %s %s' % (t2, at['b'], tail), 4),
                               ('3', '%s %s %s' % (op, at['lp'], t1), 8),
                               ('4', '%s %s %s' % (on, at['ln'], t1), 8),
                               ('5', '%s %s %s' % (on, at['lp'], t2), 8),
                               ('6', '%s %s %s' % (op, at['ln'], t2), 8)):
            net.add('n', x + name, nodes + body, w=w)
        net.add('r', x + 't', tail + ' 0', r=1500)
        for side in (op, on):
            net.add('r', side, '%s %s' % (at['vd'], side), r=2000)
            net.add('c', side, side + ' 0', c=20e-15)
    return net


# -- languages --

def wave_spice(w):
    return '%.9g' % w if isinstance(w, (int, float)) else '%s(%s)' % (
        w[0], ' '.join('%.9g' % x for x in w[1:]))


def spice(net, title, cards):
    out = [title, '.include "%s"' % MODELS]
    for kind, name, nodes, given in net.all:
        if kind in 'np':
            out.append('x%s %s %smos w=%gu l=0.2u' % (name, ' '.join(nodes), kind, given['w']))
        elif kind == 'v':
            out.append('v%s %s %s' % (name, ' '.join(nodes), wave_spice(given['wave'])))
        else:
            out.append('%s%s %s %.9g' % (kind, name, ' '.join(nodes), given[kind]))
    return '\n'.join(out + cards + ['.end', ''])


def wave_vacask(w):
    if isinstance(w, (int, float)):
        return 'dc=%.9g' % w
    names = {'sin': ('sinedc', 'ampl', 'freq'),
             'pulse': ('val0', 'val1', 'delay', 'rise', 'fall', 'width', 'period')}[w[0]]
    return 'type="%s" dc=%.9g %s' % ('sine' if w[0] == 'sin' else 'pulse', w[1], ' '.join(
        '%s=%.9g' % pair for pair in zip(names, w[1:])))


def vacask(net, title, control):
    text = open(MODELS, encoding='ascii').read().replace('\n+', ' ')
    out = [title, 'load "psp103v4.osdi"', 'load "spice/resistor.osdi"',
           'load "spice/capacitor.osdi"', 'ground 0', 'model vsource vsource',
           'model r sp_resistor', 'model c sp_capacitor']
    for name, values in re.findall(r'(?m)^\.model (\w+) psp103va \((.*)\)\s*$', text):
        words = values.split()
        out.append('model %s psp103va (\n%s\n)' % (
            name, '\n'.join(' '.join(words[i:i + 8]) for i in range(0, len(words), 8))))
    for kind, name, nodes, given in net.all:
        at = '(%s)' % ' '.join(nodes)
        if kind in 'np':
            w = given['w']
            out.append('m%s %s psp103%s w=%gu l=0.2u ad=%gp as=%gp pd=%gu ps=%gu' % (
                name, at, kind, w, 0.5 * w, 0.5 * w, 2 * (w + 0.5), 2 * (w + 0.5)))
        elif kind == 'v':
            out.append('v%s %s vsource %s' % (name, at, wave_vacask(given['wave'])))
        else:
            out.append('%s%s %s %s %s=%.9g' % (kind, name, at, kind, kind, given[kind]))
    return '\n'.join(out + ['control'] + ['  ' + c for c in control] + ['endc', ''])


STATE_HZ = F_CLOCK / 4


def block_spice(size, tran=False, coarse=False, tstab=16e-9, what='block'):
    net = {'block': block, 'register': register, 'memory': memory}[what](size)
    title = '%s of %d transistors' % ('clocked block' if what == 'block' else what, net.n_transistors())
    probe, save = {'block': ('s0qa', 'v(s0qa) v(s0qb) v(s0qs) v(s0sum)'), 'register': ('q1', 'v(q1)'),
                   'memory': ('q', 'v(q) v(x0) v(x1)')}[what]
    cards = ['.save %s v(clk) i(vdd)' % save]
    if what == 'memory':
        cards += ['.ic v(x%d)=%g' % (k, 0 if k % 3 else 1.2) for k in range(max(1, round(size / 5)))]
    card = ('.tran %.9g %.9g uic' % (1 / STATE_HZ / 60, tstab + 1 / STATE_HZ) if tran else
            '.pss %.9g %.9g %s 513 40 uic method=shooting%s' % (
                STATE_HZ, tstab, probe, ' integration=trap halvings=0' if coarse else ''))
    return spice(net, title, [*cards, card])


def mixers_text(size, harm, order, language='spice'):
    net = mixers(size)
    title = 'mixers: %d transistors' % net.n_transistors()
    if language == 'spice':
        return spice(net, title, ['.save v(x0op) v(x0on) i(vdd)', '.hb tones=%s nharms=%s%s' % (
            ' '.join('%.9g' % f for f in TONES), ' '.join([str(harm)] * 3),
            ' intmodmax=%d' % order if order else '')])
    return vacask(net, title, ['save v(x0op) v(x0on)', 'analysis hb1 hb freq=[%s] nharm=%s truncate="%s"' % (
        ', '.join('%.9g' % f for f in TONES), order if order else '[%d, %d, %d]' % (harm,) * 3,
        'diamond' if order else 'box')])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('what', choices=('block', 'register', 'memory', 'mixers'))
    p.add_argument('size', type=int)
    p.add_argument('--tran', action='store_true')
    p.add_argument('--coarse', action='store_true')
    p.add_argument('--harm', type=int, default=3, help='harmonics of each tone')
    p.add_argument('--order', type=int, default=3, help='of products kept, 0: all of the box')
    p.add_argument('--vacask', action='store_true')
    o = p.parse_args()
    if o.size < 1:
        p.error('a size is a number of transistors')
    sys.stdout.write(mixers_text(o.size, o.harm, o.order, 'vacask' if o.vacask else 'spice')
                     if o.what == 'mixers' else block_spice(o.size, o.tran, o.coarse, what=o.what))
    return 0


if __name__ == '__main__':
    sys.exit(main())
