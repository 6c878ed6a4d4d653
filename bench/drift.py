#!/usr/bin/env python3
"""What latency and bypass do to circuits over many cycles: each deck with bypass=0 and with bypass=1.

    drift.py build/vsim                      10,000 cycles of each circuit
    drift.py build/vsim --cycles 200 --only ring filter

ring      9 inverters: when the last cycle ends; as much of the time as reltol
paced     the same with steps of 2 ps, whatever the errors are: what is left out moves no step
loop      a ring whose supply currents follow a phase detector and a low pass: its control voltage
tank      a cross-coupled pair on a tank of Q = 1000: when the last cycle ends, and the amplitude
filter    capacitors that a clock moves and a transistor connects: the voltage that they hold
charge    islands between linear capacitors on a clock: their charge, in roundings (4 a point)
Inverters that do nothing stand beside each, so that something sleeps while the circuit works."""
import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
MODELS = os.path.join(ROOT, 'netlists', 'psp103_models.inc')
RELTOL, VNTOL, VDD = 1e-3, 1e-6, 1.2
HEAD = """drift
.include '%s'
.subckt inv in out vdd
xmp out in vdd vdd pmos w=2u l=0.2u
xmn out in 0 0 nmos w=1u l=0.2u
.ends
.subckt starved in out vdd vp vn
xmp2 p vp vdd vdd pmos w=8u l=0.2u
xmp out in p vdd pmos w=2u l=0.2u
xmn out in n 0 nmos w=1u l=0.2u
xmn2 n vn 0 0 nmos w=4u l=0.2u
.ends
.subckt nand a b out vdd
xmp1 out a vdd vdd pmos w=2u l=0.2u
xmp2 out b vdd vdd pmos w=2u l=0.2u
xmn1 out a m 0 nmos w=2u l=0.2u
xmn2 m b 0 0 nmos w=2u l=0.2u
.ends
.subckt xor a b out vdd
xn1 a b n1 vdd nand
xn2 a n1 n2 vdd nand
xn3 b n1 n3 vdd nand
xn4 n2 n3 out vdd nand
.ends
vdd vdd 0 %g
vi i0 0 0
"""


class Circuit:
    """Cards, the least time in which `cycles` pass, its step, what is measured: name -> .meas, and how much of a
    value may differ (an absolute part from the values of bypass=0); the largest step, if it decides."""

    def __init__(self, cards, step, stop, measures, allowed, largest=0):
        self.cards, self.step, self.stop, self.measures, self.allowed = cards, step, stop, measures, allowed
        self.largest = largest


def by_tolerance(value):
    return RELTOL * abs(value) + VNTOL


def by_time(value):
    return RELTOL * abs(value)


def ring(cycles, largest=0):
    cards = ['xr%d r%d r%d vdd inv\ncr%d r%d 0 20f' % (k, k, (k + 1) % 9, k, k) for k in range(9)]
    cards.append('.ic v(r0)=0 v(r1)=%g' % VDD)
    return Circuit(cards, 20e-12, (cycles + 4) * 0.68e-9, {'end': 'when v(r0)=0.6 rise=%d' % cycles},
                   {'end': by_time}, largest)


def paced(cycles):
    return ring(cycles, 2e-12)


def loop(cycles):
    period = 1.5e-9
    cards = ['vref ref 0 pulse(0 %g 0 50p 50p %g %g)' % (VDD, period / 2 - 50e-12, period),
             'xpd ref s0 pd vdd xor', 'rf pd c 20k', 'cf c 0 0.2p',
             'xmb vp c 0 0 nmos w=1u l=0.2u', 'xmd vp vp vdd vdd pmos w=2u l=0.2u']
    cards += ['xs%d s%d s%d vdd vp c starved\ncs%d s%d 0 60f' % (k, k, (k + 1) % 5, k, k) for k in range(5)]
    cards.append('.ic v(s0)=0 v(s1)=%g v(c)=0.6' % VDD)
    stop = cycles * period
    return Circuit(cards, 20e-12, stop,
                   {'control': 'avg v(c) from=%.15g to=%.15g' % (stop - 10 * period, stop - period),
                    'period': 'trig v(s0) val=0.6 td=%.15g rise=1 targ v(s0) val=0.6 td=%.15g rise=%d'
                              % (stop / 2, stop / 2, 1 + int(0.45 * cycles))},
                   {'control': by_tolerance, 'period': by_time})


def tank(cycles):
    l, c, q = 10e-9, 1e-12, 1000
    period = 2 * 3.141592653589793 * (l * c) ** 0.5
    ohm = q * (l / c) ** 0.5
    cards = ['l1 a tap %g\nl2 b tap %g\nvt tap 0 0.6' % (l / 2, l / 2), 'ct a b %g' % c, 'rt a b %g' % ohm,
             'xm1 a b t 0 nmos w=2u l=0.2u', 'xm2 b a t 0 nmos w=2u l=0.2u', 'it t 0 20u', 'c0 t 0 10f',
             'ik a b pulse(0 100u 0 10p 10p 100p)']
    stop = (cycles + 4) * 1.1 * period
    late = cycles * period
    return Circuit(cards, period / 40, stop,
                   {'end': 'when v(a)=0.6 rise=%d' % cycles,
                    'high': 'max v(a) from=%.15g to=%.15g' % (late - 8 * period, late)},
                   {'end': by_time, 'high': by_tolerance})


def filter_(cycles):
    period = 40e-9
    stop = cycles * period
    cards = ['vc clk 0 pulse(0 %g 5n 0.2n 0.2n 15n %g)' % (VDD, period),
             'vs in 0 0.5', 'xm1 in clk x 0 nmos w=1u l=0.2u', 'xk clk clkn vdd inv', 'xm2 x clkn y 0 nmos w=1u l=0.2u',
             'c1 x 0 50f', 'c2 y 0 500f', '.ic v(x)=0 v(y)=0']
    return Circuit(cards, 1e-9, stop, {'held': 'find v(y) at=%.15g' % stop}, {'held': by_tolerance})


def charge(cycles):
    """Charges of the islands p and q: 1 pF to the clock, 2 pF between, 3 pF to ground."""
    period = 40e-9
    stop = cycles * period
    cards = ['vc clk 0 pulse(0 %g 5n 0.2n 0.2n 15n %g)' % (VDD, period), 'xk clk clkn vdd inv', 'ck clkn 0 10f',
             'ca clk p 1p', 'cb p q 2p', 'cc q 0 3p', '.ic v(p)=0.7 v(q)=0.2']
    return Circuit(cards, 1e-9, stop, {}, {})


CIRCUITS = {'ring': ring, 'paced': paced, 'loop': loop, 'tank': tank, 'filter': filter_, 'charge': charge}
IDLE = dict.fromkeys(CIRCUITS, 66)  # more than 128 transistors: small circuits have no latent parts


def deck(name, cycles, bypass):
    c = CIRCUITS[name](cycles)
    text = HEAD % (MODELS, VDD)
    text += ''.join('xi%d i%d i%d vdd inv\n' % (k, k, k + 1) for k in range(IDLE[name]))
    text += '\n'.join(c.cards) + '\n.option bypass=%d\n' % bypass
    text += ''.join('.meas tran %s_ %s\n' % m for m in c.measures.items())
    saved = sorted(set(re.findall(r'v\(\w+\)', ' '.join(c.measures.values())))) or ['v(p)', 'v(q)', 'v(clk)']
    steps = '%g %.15g' % (c.step, c.stop) + (' 0 %g\n.option trtol=1000' % c.largest if c.largest else '')
    return text + '.save %s\n.tran %s\n.end\n' % (' '.join(saved), steps), c


def last_point(path):
    """The last values of a binary result file, by their names; .meas has seven digits."""
    with open(path, 'rb') as f:
        head = f.read(4096)
        names = re.findall(rb'(?m)^\t\d+\t(\S+)\t', head[:head.index(b'Binary:')])
        f.seek(-8 * len(names), os.SEEK_END)
        return {n.decode(): v for n, v in zip(names, struct.unpack('<%dd' % len(names), f.read()))}


def run(vsim, name, cycles, bypass, folder):
    """Values of the measures and of the last point; share of unknowns that slept; points."""
    text, c = deck(name, cycles, bypass)
    with open(os.path.join(folder, 'deck.sp'), 'w') as f:
        f.write(text)
    done = subprocess.run([vsim, '--threads', '1', '--stats', 'stats.json', '-r', 'out.raw', 'deck.sp'], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError('%s, bypass=%d: %s' % (name, bypass, done.stdout[-2000:]))
    value = {k: float(v) for k, v in re.findall(r'(?m)^(\w+)_ += +(\S+)', done.stdout)}
    if set(value) != set(c.measures):
        raise RuntimeError('%s, bypass=%d: not measured: %s' % (name, bypass, done.stdout[-2000:]))
    with open(os.path.join(folder, 'stats.json')) as f:
        s = json.load(f)
    value.update(last_point(os.path.join(folder, 'out.raw')))
    return value, s['latent_unknowns'] / (s['newton_iterations'] * s['unknowns']), s['points_accepted']


def island_error(v, points):
    """Charge of both islands beside that of .ic, in 4 roundings of the largest charge a point: a row's charge, its
    difference from the last one, the history and the residual that is left have one each."""
    p, q, clk = v['v(p)'], v['v(q)'], v['v(clk)']
    start = (1e-12 * 0.7 + 2e-12 * (0.7 - 0.2), 3e-12 * 0.2 + 2e-12 * (0.2 - 0.7))
    end = (1e-12 * (p - clk) + 2e-12 * (p - q), 3e-12 * q + 2e-12 * (q - p))
    return max(abs(a - b) for a, b in zip(start, end)) / (points * 4 * 2.0 ** -52 * 3e-12 * VDD)


def compare(vsim, name, cycles):
    """Rows: what, with bypass=0, with bypass=1, difference in parts of what is allowed, share asleep."""
    with tempfile.TemporaryDirectory() as folder:
        off, _, points = run(vsim, name, cycles, 0, folder)
        on, asleep, points_on = run(vsim, name, cycles, 1, folder)
    if name == 'charge':
        a, b = island_error(off, points), island_error(on, points_on)
        return [('charge', a, b, max(a, b), asleep)]
    allowed = CIRCUITS[name](cycles).allowed
    return [(k, off[k], on[k], abs(on[k] - off[k]) / allowed[k](off[k]), asleep) for k in allowed]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('vsim')
    p.add_argument('--cycles', type=int, default=10000)
    p.add_argument('--only', nargs='+', choices=CIRCUITS, default=list(CIRCUITS))
    o = p.parse_args()
    bad = 0
    print('%-8s %-8s %7s %14s %14s %11s %7s' % ('circuit', 'value', 'cycles', 'bypass=0', 'bypass=1', 'of allowed', 'asleep'))
    for name in o.only:
        for what, off, on, part, asleep in compare(os.path.abspath(o.vsim), name, o.cycles):
            print('%-8s %-8s %7d %14.8g %14.8g %11.3g %6.0f%%' % (name, what, o.cycles, off, on, part, 100 * asleep),
                  flush=True)
            bad += part > 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
