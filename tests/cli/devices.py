#!/usr/bin/env python3
"""Lines, switches and transistors in decks, against exact solutions.

    devices.py VSIM [CASE...]"""
import bisect
import cmath
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

failures = []


def run(vsim, deck):
    """Columns by name; those of ac complex."""
    with tempfile.TemporaryDirectory() as tmp:
        path, out = os.path.join(tmp, 'deck.sp'), os.path.join(tmp, 'out.csv')
        with open(path, 'w') as f:
            f.write('%s\n.end\n' % deck)
        done = subprocess.run([vsim, '-q', '--csv', '-r', out, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit('exit code %d\n%s\n%s' % (done.returncode, deck, done.stdout))
        with open(out) as f:
            rows = list(csv.reader(line for line in f if not line.startswith('#')))
    rows = [r for r in rows if len(r) == len(rows[0])]  # of noise the densities, not the sums
    col = {n: [float(r[k]) for r in rows[1:]] for k, n in enumerate(rows[0])}
    for n in [n[:-3] for n in col if n.endswith('.re')]:
        col[n] = [complex(a, b) for a, b in zip(col[n + '.re'], col[n + '.im'])]
    return col


def check(what, value, bound):
    ok = value <= bound
    print('%-62s %10.3g  bound %8.2g  %s' % (what, value, bound, 'ok' if ok else 'FAILED'))
    if not ok:
        failures.append(what)


def ramp(t, start, width):
    return min(max((t - start) / width, 0), 1)


def case_line(vsim):
    """Bounces between a source of 25 ohm and 200 ohm at the end: reflections -1/3 and 3/5."""
    r = run(vsim, """line
V1 in 0 PULSE(0 1 1n 0.5n 0.5n 20n 60n)
R1 in a 25
T1 a 0 b 0 z0=50 td=4n
R2 b 0 200
.tran 0.2n 59n""")

    def pulse(t):
        return ramp(t, 1e-9, 0.5e-9) - ramp(t, 21.5e-9, 0.5e-9)

    def end(t):
        return sum(2 / 3 * 1.6 * (-1 / 3 * 0.6)**k * pulse(t - 4e-9 * (2 * k + 1)) for k in range(12))

    err = [abs(v - end(t)) for t, v in zip(r['time'], r['v(b)'])]
    check('ideal line: voltage at the end, V', max(err), 1e-4)
    check('ideal line: points', len(err), 500)


def chain_of_lines(lines, rs, rl, source, dt, n):
    """Voltages at both ends of ideal lines in a row (z, delay in units of dt): what the junctions scatter, exact at
    multiples of dt where the source has its corners."""
    right = [[0.0] * d for _, d in lines]
    left = [[0.0] * d for _, d in lines]
    near, far = [], []
    for k in range(n):
        to_right = [w[k % len(w)] for w in right]
        to_left = [w[k % len(w)] for w in left]
        for i in range(len(lines) + 1):
            g = [1 / rs if i == 0 else 1 / lines[i - 1][0], 1 / rl if i == len(lines) else 1 / lines[i][0]]
            e = [source(k * dt) if i == 0 else 2 * to_right[i - 1], 0 if i == len(lines) else 2 * to_left[i]]
            v = (e[0] * g[0] + e[1] * g[1]) / (g[0] + g[1])
            if i > 0:
                left[i - 1][k % lines[i - 1][1]] = v - to_right[i - 1]
            if i < len(lines):
                right[i][k % lines[i][1]] = v - to_left[i]
            (near if i == 0 else far if i == len(lines) else []).append(v)
    return near, far


def case_line_corners(vsim):
    """Three delays without a common measure to speak of and reflections that live long: corners without end, of
    which the small ones must not cost points."""
    deck = """corners
.options reltol=%s
V1 in 0 PWL(0 0 1n 0 1.2n 1 20n 1 20.2n 0)
R1 in a 5
T1 a 0 b 0 z0=50 td=0.37n
T2 b 0 c 0 z0=120 td=0.61n
T3 c 0 d 0 z0=30 td=0.23n
R2 d 0 5k
.tran 0.2n 60n 0 0.1n"""
    lines, dt = ((50, 37), (120, 61), (30, 23)), 10e-12
    want = chain_of_lines(lines, 5, 5e3, lambda t: ramp(t, 1e-9, 0.2e-9) - ramp(t, 20e-9, 0.2e-9), dt, 6002)
    for reltol, error, points in (('1e-3', 0.02, 9000), ('1e-5', 2e-4, 30000)):
        r = run(vsim, deck % reltol)
        for node, exact in zip('ad', want):
            miss = []
            for t, v in zip(r['time'], r['v(%s)' % node]):
                k = int(t / dt)
                miss.append(abs(v - exact[k] - (exact[k + 1] - exact[k]) * (t / dt - k)))
            check('chain of lines, reltol %s: voltage at %s, V' % (reltol, node), max(miss), error)
        check('chain of lines, reltol %s: points' % reltol, len(r['time']), points)


def case_line_ac(vsim):
    r = run(vsim, """line ac
V1 in 0 ac 1
R1 in a 25
T1 a 0 b 0 z0=50 td=4n
R2 b 0 200
.ac lin 50 1meg 500meg""")

    def end(w, z, gamma, rs, rl):
        ch, sh = cmath.cosh(gamma), cmath.sinh(gamma)
        return 1 / (ch + rs * sh / z + (z * sh + rs * ch) / rl)

    err = 0
    for f, v in zip(r['frequency'], r['v(b)']):
        w = 2 * math.pi * f
        err = max(err, abs(v - end(w, 50, 1j * w * 4e-9, 25, 200)))
    check('line, ac', err, 1e-9)


# Lossy lines: name, r l g c of the whole line, source and load resistance
LOSSY = (('rlc', 49.8, 35.888e-9, 0, 1.872e-12, 50, 100), ('rc', 2000, 0, 0, 20e-12, 1000, 10e3),
         ('rlgc', 20, 100e-9, 1e-3, 40e-12, 50, 100), ('more g', 5, 100e-9, 20e-3, 40e-12, 50, 100),
         ('lgc', 0, 100e-9, 4e-3, 40e-12, 30, 100), ('rlg', 50, 400e-9, 4e-3, 0, 50, 100), ('rgc', 500, 0, 1e-3, 20e-12, 50, 1e3),
         ('rg', 100, 0, 5e-3, 0, 50, 100), ('very lossy', 1e5, 10e-9, 0, 1e-13, 100, 1e6))


def lossy_deck(title, source, cards):
    text = [title, source]
    for k, (_, r, l, g, c, rs, rl) in enumerate(LOSSY):
        text.append('RS%d in a%d %g\nO%d a%d 0 b%d 0 m%d\nRL%d b%d 0 %g' % (k, k, rs, k, k, k, k, k, k, rl))
        text.append('.model m%d ltra r=%g l=%g g=%g c=%g len=4' % (k, r / 4, l / 4, g / 4, c / 4))
    return '\n'.join(text + cards)


def interpolate(x, y, at):
    k = min(max(bisect.bisect(x, at), 1), len(x) - 1)
    return y[k - 1] + (y[k] - y[k - 1]) * (at - x[k - 1]) / (x[k] - x[k - 1])


def lossy_ports(s, r, l, g, c, rs, rl):
    """Voltages at both ends for 1 V behind rs, from the line's equations with hyperbolic functions."""
    z, gamma = cmath.sqrt((r + s * l) / (g + s * c)), cmath.sqrt((r + s * l) * (g + s * c))
    e = cmath.exp(-2 * gamma)
    ch, sh = (1 + e) / 2, (1 - e) / 2 # both times exp(-gamma)
    den = ch + rs * sh / z + (z * sh + rs * ch) / rl
    return (ch + z * sh / rl) / den, cmath.exp(-gamma) / den


def case_lossy_ac_dc(vsim):
    r = run(vsim, lossy_deck('lossy lines, ac', 'V1 in 0 dc 1 ac 1', ['.ac dec 7 1k 30g']))
    for k, o in enumerate(LOSSY):
        for p, node in enumerate('ab'):
            err = max(abs(v - lossy_ports(2j * math.pi * f, *o[1:])[p]) for f, v in zip(r['frequency'], r['v(%s%d)' % (node, k)]))
            check('lossy line %s, ac, %s' % (o[0], node), err, 1e-9)
    r = run(vsim, lossy_deck('lossy lines, dc', 'V1 in 0 dc 1', ['.op']))
    for k, o in enumerate(LOSSY):
        for p, node in enumerate('ab'):
            check('lossy line %s, dc, %s' % (o[0], node), abs(r['v(%s%d)' % (node, k)][0] - lossy_ports(1e-3, *o[1:])[p].real), 1e-9)


def in_time(f, times, period, terms):
    """Values at some times of what has the Laplace transforms f(s), a pair: damped Fourier series (Dubner and Abate 1968)."""
    a = 8 / period
    sums = [[0, 0] for _ in times]
    for k in range(terms):
        s = a + 1j * k * math.pi / period
        v = [x * (0.5 if k == 0 else 1) for x in f(s)]
        for i, t in enumerate(times):
            turn = cmath.exp(1j * math.pi * t / period * k)
            for p in range(2):
                sums[i][p] += (v[p] * turn).real
    return [[math.exp(a * t) / period * x for x in v] for t, v in zip(times, sums)]


def case_lossy_tran(vsim):
    # smooth drive: (1 - cos)/2 of 4 ns up, a step then; its transform falls as 1/s^3
    w = math.pi / 4e-9
    drive = "B1 in 0 v={1.5 + (time < 1n ? 0 : time < 5n ? (1-cos(%.17g*(time-1n)))/2 : 1)}" % w
    r = run(vsim, lossy_deck('lossy lines, tran', drive, ['.tran 20p 40n 0 20p']))

    def source(s):
        return math.pi ** 2 / 16e-18 / 2 * (cmath.exp(-1e-9 * s) + cmath.exp(-5e-9 * s)) / (s * (s * s + w * w))

    times = [k * 1.3e-9 + 1.1e-9 for k in range(29)]
    for k, o in enumerate(LOSSY):
        want = in_time(lambda s: [source(s) * x for x in lossy_ports(s, *o[1:])], times, 80e-9, 6000)
        for p, node in enumerate('ab'):
            rest = 1.5 * lossy_ports(1e-3, *o[1:])[p].real
            got = [interpolate(r['time'], r['v(%s%d)' % (node, k)], t) - rest for t in times]
            check('lossy line %s, tran, %s' % (o[0], node), max(abs(x - y[p]) for x, y in zip(got, want)), 2e-4)


def case_line_dc(vsim):
    r = run(vsim, """lines in dc
V1 in 0 1
R1 in a 50
T1 a 0 b 0 z0=75 td=1n
R2 b 0 150
R3 in c 1k
U1 c d 0 mu l=2m
.model mu urc rperl=1meg cperl=1n
R4 d 0 1k
.op""")
    check('ideal line is a short', abs(r['v(b)'][0] - 0.75), 1e-9)
    check('RC line is its resistance', abs(r['v(d)'][0] - 0.25), 1e-9)


def case_switch(vsim):
    deck = """switch
V1 in 0 5
VC c 0 0
R1 in o 1k
S1 o 0 c 0 m
.model m sw vt=2.5 vh=0.5 ron=10 roff=1meg
.dc VC %s"""
    low, high = 5 * 10 / 1010, 5 * 1e6 / 1.001e6
    for sweep, closed in (('0 5 0.25', lambda v: v > 3), ('5 0 -0.25', lambda v: v >= 2)):
        r = run(vsim, deck % sweep)
        err = max(abs(o - (low if closed(c) else high)) for c, o in zip(r['v(c)'], r['v(o)']))
        check('switch with hysteresis, ' + sweep, err, 1e-6)


def case_switch_time(vsim):
    """A capacitor that its own switch empties at vt + vh and leaves alone at vt - vh."""
    r = run(vsim, """relaxation
I1 0 a 1m
C1 a 0 1n ic=0
S1 a 0 a 0 m
.model m sw vt=3 vh=1 ron=100 roff=1g
.tran 10n 40u uic""")
    late = [v for t, v in zip(r['time'], r['v(a)']) if t > 8e-6]
    check('relaxation oscillator: upper turn, V', abs(max(late) - 4), 0.03)
    check('relaxation oscillator: lower turn, V', abs(min(late) - 2), 0.03)


def case_vbic_heat(vsim):
    """The output conductance in ac below the thermal pole is the slope of the dc curve, above it is not."""
    deck = """vbic
VC c 0 dc %.9g ac 1
VB b 0 0.85
Q1 c b 0 0 t q
.model q npn level=9 is=1e-16 rci=20 rbi=20 re=5 ibei=1e-18 vef=100 rth=2000 cth=1n tnf=1e-4
%s"""
    h = 1e-4
    i = [run(vsim, deck % (1.5 + d, '.options reltol=1e-9\n.op'))['i(vc)'][0] for d in (-h, h)]
    slope = (i[1] - i[0]) / (2 * h)
    r = run(vsim, deck % (1.5, '.options reltol=1e-9\n.ac lin 2 0.001 1e9'))['i(vc)']
    check('self-heating: ac at 1 mHz against the slope in dc', abs(r[0].real / slope - 1), 1e-5)
    check('self-heating: gone at 1 GHz', 0 if abs(r[1].real / slope - 1) > 0.5 else 1, 0)


VBIC_VALUES = """  (ngspice 46+ at reltol 1e-9: a npn in the forward region, a pnp near saturation)
vbe 8.425746e-01 7.978992e-01   vbc -2.26550e-02 7.344923e-01
ib 1.411099e-04 -5.61647e-05    ie -3.42203e-03 2.165302e-03    p 3.400865e-03 2.560124e-04
gm 7.181142e-02 6.093824e-02    go -3.76144e-16 -7.71142e-03
gpi 4.887240e-03 1.737621e-03   gmu 1.000016e-12 1.663635e-04   gx 1.070230e-01 1.078683e-01
cbe 2.104810e-13 2.350783e-13   cbex 7.450906e-15 1.319349e-14  cbc 9.902274e-15 5.395216e-14
cbcx 1.783641e-28 0             cbep 4.760984e-15 2.467121e-14  cbcp 5.325718e-15 1.348915e-14
qbe 3.122954e-14 4.832898e-14   qbc 7.745640e-16 2.047837e-14"""


def case_vbic_values(vsim):
    """What a VBIC transistor tells of its operating point has ngspice's names, signs and values."""
    words = VBIC_VALUES.split('\n', 1)[1].split()
    card = ('level=4 is=1e-16 rcx=10 rci=30 rbx=20 rbi=40 re=1 cje=20f cjc=10f cjep=5f cjcp=7f isp=1e-18 ibeip=1e-19 '
            'ibcip=1e-19 rbp=20 rs=30 tf=2p wbe=0.9 vo=2 gamm=1e-12 hrcf=1 ibei=1e-18 ibci=1e-18 ikf=1m ')
    col = run(vsim, 'vbic\n.model vb npn %s qco=1f wsp=0.8\n.model vp pnp %s\nvc c 0 1\nvb b 0 0.85\nq1 c b 0 0 vb\n'
              'vc2 c2 0 -0.1\nvb2 b2 0 -0.8\nq2 c2 b2 0 0 vp area=2\n.options reltol=1e-9 abstol=1e-16\n.save all %s\n.op'
              % (card, card, ' '.join('@q%d[%s]' % (k, w) for w in words[::3] + ['ic', 'isub', 'beta'] for k in (1, 2))))
    for name, *want in zip(*(iter(words),) * 3):
        for k in (1, 2):
            got, ref = col['@q%d[%s]' % (k, name)][0], float(want[k - 1])
            check('vbic: %s of q%d' % (name, k), abs(got - ref), 2e-6 * abs(ref))
    for k in (1, 2):
        ic, ib, ie, isub, beta = (col['@q%d[%s]' % (k, i)][0] for i in ('ic', 'ib', 'ie', 'isub', 'beta'))
        check('vbic: the currents of q%d add up to nothing' % k, abs(ic + ib + ie + isub), 1e-12 * abs(ie))
        check('vbic: beta of q%d' % k, abs(beta - ic / ib), 1e-12 * beta)
        check('vbic: the base current of q%d is that of its source' % k,
              abs(ib / col['i(vb%s)' % ('' if k == 1 else '2')][0] + 1), 1e-8)


def case_vbic_without_thermal_node(vsim):
    """rth of a transistor whose line leaves the thermal node out does nothing, which is said once for each card."""
    card = 'level=4 is=1e-16 rci=20 rbi=20 re=5 ibei=1e-18 vef=50 ikf=10m tf=5p cth=1n'
    deck = """thermal node
VC c 0 dc %g
VB b 0 dc %g ac 1
%s
.model q %s %s %s
.op
.ac dec 1 1 1e9"""

    def of(line, rth, polarity=1):
        text = deck % (2 * polarity, 0.85 * polarity, line, 'npn' if polarity > 0 else 'pnp', card, rth)
        return run(vsim, text.replace('.ac', '*'))['i(vc)'] + run(vsim, text.replace('.op', '*'))['i(vc)']

    for polarity in (1, -1):
        cold, hot = of('Q1 c b 0 0 q', '', polarity), of('Q1 c b 0 0 t q', 'rth=300', polarity)
        check('thermal node: the current rises by more than 5 %', 1.05, abs(hot[0] / cold[0]))
        check('thermal node: joined with ground', abs(of('Q1 c b 0 0 0 q', 'rth=300', polarity)[0] / cold[0] - 1), 1e-9)
        for nodes in ('c b 0', 'c b 0 0'):
            got = of('Q1 %s q' % nodes, 'rth=300', polarity)
            check('no thermal node, %s: as without rth' % nodes, max(abs(a - b) for a, b in zip(got, cold)), 0)

    def told(nodes, given):
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, 'deck.sp')
            with open(path, 'w') as f:
                f.write(deck % (2, 0.85, 'Q1 %s q\nQ2 %s q\nQ3 c b 0 0 t3 q' % (nodes, nodes), 'npn', card, given) + '\n.end\n')
            done = subprocess.run([vsim, 'check', path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        return done.stdout.count('rth has no effect')

    for nodes, given, n in (('c b 0', 'rth=300', 1), ('c b 0 0', 'rth=300 selft=1', 1), ('c b 0 0', 'rth=300 selft=0', 0),
                            ('c b 0', 'rth=0', 0), ('c b 0 0 t', 'rth=300', 0)):
        check('no thermal node, %s, %s: warnings' % (nodes, given), abs(told(nodes, given) - n), 0)


def case_off(vsim):
    """The transistor that is off at first decides how a flip-flop stands."""
    for off1, off2, low in (('off', '', 'b'), ('', 'off', 'a')):
        r = run(vsim, """flip-flop
V1 vcc 0 5
R1 vcc a 1k
R2 vcc b 1k
R3 a gb 10k
R4 b ga 10k
Q1 a ga 0 q %s
Q2 b gb 0 q %s
.model q npn is=1e-16 bf=100
.op""" % (off1, off2))
        check('flip-flop, low at ' + low, r['v(%s)' % low][0], 0.5)


def case_vdmos_polarity(vsim):
    n = run(vsim, 'n\nVD d 0 5\nVG g 0 4\nM1 d g 0 m\n.model m vdmos nchan vto=2 kp=1\n.op')
    p = run(vsim, 'p\nVD d 0 -5\nVG g 0 -4\nM1 d g 0 m\n.model m vdmos pchan vto=-2 kp=1\n.op')
    check('p channel is the mirror of n channel', abs(n['i(vd)'][0] + p['i(vd)'][0]), 1e-12)
    check('0.5 kp (vgs - vto)^2', abs(n['i(vd)'][0] + 2), 1e-6)


def case_lossy_start(vsim):
    """With uic a line is empty, or as ic= says; nosteplimit lets steps be longer than the delay."""
    deck = """start
V1 in 0 1
R1 in a 50
O1 a 0 b 0 m %s
R2 b 0 100
.model m ltra %s r=2 l=100n c=40p len=1
.tran 0.02n 8n 0 0.02n uic"""
    r = run(vsim, deck % ('', ''))
    check('empty line: voltage divider with its impedance', abs(interpolate(r['time'], r['v(a)'], 0.5e-9) - 0.5), 5e-3)
    check('empty line: nothing arrives before its delay', abs(interpolate(r['time'], r['v(b)'], 1.9e-9)), 1e-4)
    check('empty line: it arrives then', abs(interpolate(r['time'], r['v(b)'], 2.1e-9) - 0.5 * math.exp(-0.02) * 4 / 3), 5e-3)
    i = 1 / 152
    r = run(vsim, deck % ('ic=%.17g,%.17g,%.17g,%.17g' % (102 * i, i, 100 * i, -i), ''))
    check('line that starts in balance stays there', max(abs(v - 100 * i) for t, v in zip(r['time'], r['v(b)']) if t > 1e-9), 1e-5)
    count = {}
    for word in ('', 'nosteplimit'):
        r = run(vsim, (deck % ('', word)).replace('V1 in 0 1', 'V1 in 0 PULSE(0 1 100n 50n 50n 1u 9u)').replace('.tran 0.02n 8n 0 0.02n uic', '.tran 10n 2u'))
        count[word] = len(r['time'])
        check('slow pulse, end: %s' % (word or 'steps within the delay'), abs(interpolate(r['time'], r['v(b)'], 0.9e-6) - 100 * i), 5e-4)
    check('points without the limit, part of those with it', count['nosteplimit'] / count[''], 0.25)


TIME_OPERATORS = """`include "disciplines.vams"
module comparator(in, out);
  inout in, out; electrical in, out;
  parameter real td = 0, tr = 2n, tf = 1n;
  real x;
  analog begin
    if (V(in) > 0.5) x = 1; else x = 0;
    if (td > 0) V(out) <+ transition(x, td, tr, tf);
    else V(out) <+ transition(x, 0, tr, tf);
  end
endmodule
module slewer(in, out);
  inout in, out; electrical in, out;
  analog V(out) <+ slew(V(in), 0.5e9, -0.25e9);
endmodule
module lowpass(in, out);
  inout in, out; electrical in, out;
  parameter real w0 = 1e9, q = 0.625;
  analog V(out) <+ laplace_nd(V(in), '{1, 0.2/w0}, '{1, 1/(q*w0), 1/(w0*w0)});
endmodule
module roots(in, out);
  inout in, out; electrical in, out;
  analog V(out) <+ laplace_zp(V(in), '{-5e9, 0}, '{-0.8e9, 0.6e9, -0.8e9, -0.6e9});
endmodule
module mixed(in, out);
  inout in, out; electrical in, out;
  analog V(out) <+ laplace_np(V(in), '{0, 1n}, '{-1e9, 0}) + laplace_zd(V(in), , '{1, 1n});
endmodule
"""


def case_time_operators(vsim):
    """transition, slew, laplace_* of Verilog-A against their definitions."""
    with tempfile.TemporaryDirectory() as tmp:
        with open(os.path.join(tmp, 'ops.va'), 'w') as f:
            f.write(TIME_OPERATORS)
        deck = """operators
.hdl "%s"
V1 in 0 dc 0 ac 1 PULSE(0 1 1n 1n 1n 8n 20n)
N1 in c comparator
N2 in late comparator td=3n
N3 in s slewer
N4 in n lowpass
N5 in z roots
N6 in m mixed
R1 c 0 1k
R2 late 0 1k
R3 s 0 1k
R4 n 0 1k
R5 z 0 1k
R6 m 0 1k
""" % os.path.join(tmp, 'ops.va')
        r = run(vsim, deck + '.ac dec 5 1meg 10g')
        t = run(vsim, deck + '.tran 0.01n 40n 0 0.01n')

    def h(f):
        s = 2j * math.pi * f / 1e9
        return (1 + 0.2 * s) / (1 + 1.6 * s + s * s)

    for node, want in (('n', h), ('z', h), ('m', lambda f: 1), ('s', lambda f: 1)):
        check('%s, ac' % node, max(abs(v - want(f)) for f, v in zip(r['frequency'], r['v(%s)' % node])), 1e-12)

    def step(x): # of h, from its poles -0.8 +- 0.6j; x in ns
        p = complex(-0.8, 0.6)
        residue = (1 + 0.2 * p) / (p * 2j * 0.6)
        return (1 + 2 * (residue * cmath.exp(p * x)).real) if x > 0 else 0

    def answer(t): # to the ramps of the pulse: integrals of the step response, by the midpoint rule
        def part(to):
            n = 400
            return sum(step(t - to - (k + 0.5) / n) for k in range(n)) / n
        return part(1) - part(10) + part(21) - part(30)

    times = [0.7 + 1.3 * k for k in range(30)]
    for node in 'nz':
        err = max(abs(interpolate(t['time'], t['v(%s)' % node], x * 1e-9) - answer(x)) for x in times)
        check('%s, tran' % node, err, 2e-4)
    check('low-pass and high-pass are all', max(abs(a - b) for a, b in zip(t['v(m)'], t['v(in)'])), 1e-6)

    def bounds(x, first, second): # piecewise linear, once per period of 20 ns
        x = x % 20
        return interpolate(first, second, x)

    for node, late in (('c', 0), ('late', 3)): # the change is seen up to a step after 1.5 and 10.5 ns
        err = max(abs(interpolate(t['time'], t['v(%s)' % node], x * 1e-9) -
                      bounds(x - late, [0, 1.5, 3.5, 10.5, 11.5, 20], [0, 0, 1, 1, 0, 0])) for x in times)
        check('transition, delay %g ns' % late, err, 0.015)
    err = max(abs(interpolate(t['time'], t['v(s)'], x * 1e-9) - bounds(x, [0, 1, 3, 10, 14, 20], [0, 0, 1, 1, 0, 0])) for x in times)
    check('slew', err, 1e-3)


EVENTS = """`include "disciplines.vams"
module vco(in, out, ph);
  inout in, out, ph; electrical in, out, ph;
  parameter real gain = 1e9;
  real phase;
  analog begin
    phase = idtmod(gain*V(in), 0.25, 1, -0.5);
    V(ph) <+ idtmod(gain*V(in), 7.5, 3);
    V(out) <+ sin(6.283185307179586*phase);
  end
endmodule
module comparator(in, out);
  inout in, out; electrical in, out;
  parameter real th = 0.3;
  real x, n, last;
  analog begin
    @(initial_step) begin x = V(in) > th; n = 0; end
    @(cross(V(in) - th, +1)) begin x = 1; $strobe("up %.15g", $abstime); end
    @(cross(V(in) - th, -1, 1p)) begin x = 0; $strobe("down %.15g", $abstime); end
    @(cross(V(in) - th, 0, 1, 1n) or above(th - V(in))) n = n + 1;
    last = last_crossing(V(in) - th, +1);
    @(final_step) $strobe("count %g last %.15g", n, last);
    V(out) <+ transition(x, 0, 10p, 10p);
  end
endmodule
module late(in, out);
  inout in, out; electrical in, out;
  parameter real td = 1n, swing = 0;
  analog if (swing > 0) V(out) <+ absdelay(V(in), td + swing*V(in), td + swing);
  else V(out) <+ absdelay(V(in), td);
endmodule
module tone(in, out);
  inout in, out; electrical in, out;
  analog V(out) <+ sin(6.283185307179586*idtmod(1e9*V(in), 0.25, 1, -0.5));
endmodule
module ticks(out);
  inout out; electrical out;
  real n, at;
  analog begin
    @(initial_step) at = 3.3n;
    @(timer(1n, 2n)) begin n = n + 1; $strobe("tick %.15g", $abstime); end
    @(timer(at)) begin at = at + 4.4n; $strobe("next %.15g", $abstime); end
    V(out) <+ transition(n, 0, 10p, 10p);
  end
endmodule
module steps(in, out);
  inout in, out; electrical in, out;
  real x;
  analog begin
    @(cross(V(in) - 0.25, 0)) begin x = V(in) > 0.25; $strobe("jump %.15g", $abstime); end
    V(out) <+ x;
  end
endmodule
"""


def case_events(vsim):
    """idtmod, absdelay, last_crossing, @(cross), @(above), @(timer) of Verilog-A against what they mean."""
    w = 2 * math.pi * 0.31e9
    with tempfile.TemporaryDirectory() as tmp:
        name = os.path.join(tmp, 'events.va')
        with open(name, 'w') as f:
            f.write(EVENTS)
        deck = """events
.hdl "%s"
V1 in 0 dc 0.25 ac 1 SIN(0 1 0.31g)
V2 p 0 dc 0 ac 1 PULSE(0 1 1n 0.1n 0.1n 3n 9n)
V3 one 0 1
""" % name
        parts = {'vco': 'N1 one o ph vco', 'comparator': 'N2 in c comparator', 'ticks': 'N3 t ticks',
                 'late': 'N4 in d late\nN5 p pd late td=0.37n\nN6 in close late td=1f\nN7 in moves late swing=0.2n\nN8 p none late td=0',
                 'steps': 'N9 in s steps\nN10 s sd late td=0.5n'}
        out = {}
        for part, cards in parts.items():
            path = os.path.join(tmp, 'deck.sp')
            with open(path, 'w') as f:
                f.write(deck + cards + '\n.tran 0.1n 20n\n.end\n')
            done = subprocess.run([vsim, '-q', '--csv', '-r', os.path.join(tmp, 'out.csv'), path], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            out[part] = [line.split() for line in done.stdout.splitlines()]
            with open(os.path.join(tmp, 'out.csv')) as f:
                rows = list(csv.reader(line for line in f if not line.startswith('#')))
            for k, column in enumerate(rows[0]):
                out[part, column] = [float(r[k]) for r in rows[1:]]
        ac = run(vsim, deck + parts['late'] + '\n' + parts['vco'].replace('one', 'in') + '\n.ac dec 3 1meg 10g')
        many = run(vsim, deck + parts['vco'] + '\n.tran 0.05n 3u 2.99u')

        path, stats = os.path.join(tmp, 'tone.sp'), os.path.join(tmp, 'stats.json')
        with open(path, 'w') as f:
            f.write('tone\n.hdl "%s"\nV1 one 0 1\nN1 one o tone\n.tran 10p 100n 0 10p\n.end\n' % name)
        subprocess.run([vsim, '-q', '--no-output', '--stats', stats, path], stdin=subprocess.DEVNULL, check=True)
        with open(stats) as f:
            figures = json.load(f)

    def times(part, word):
        return [float(line[1]) for line in out[part] if line[0] == word]

    def curve(part, column, want):
        return max(abs(v - want(t)) for t, v in zip(out[part, 'time'], out[part, column]))

    check('idtmod', curve('vco', 'v(o)', lambda t: math.cos(2e9 * math.pi * t)), 1e-6)
    check('idtmod, 3000 periods', max(abs(v - math.cos(2e9 * math.pi * t)) for t, v in zip(many['time'], many['v(o)'])), 1e-5)
    check('idtmod, its range', max(max(-v, v - 3) for v in out['vco', 'v(ph)']), 1e-9)
    check('idtmod, modulo', max(abs((v - 1.5 - 1e9 * t + 1.5) % 3 - 1.5) for t, v in zip(out['vco', 'time'], out['vco', 'v(ph)'])), 1e-6)
    # Newton starts from extrapolated charges too: had they not moved, each of 100 wraps would take three more iterations
    check('idtmod, iterations', (figures['newton_iterations'] - figures['points_accepted']) / 100, 1)
    check('idtmod, ac', max(abs(v * 2j * math.pi * f / 1e9 - 1) for f, v in zip(ac['frequency'], ac['v(ph)'])), 1e-9)

    up = [(math.asin(0.3) + 2 * math.pi * k) / w for k in range(7)]
    down = [(math.pi - math.asin(0.3) + 2 * math.pi * k) / w for k in range(6)]
    for word, want, bound in (('up', up, 2e-14), ('down', down, 1.2e-12)):
        got = times('comparator', word)
        check('cross, %s: so many' % word, abs(len(got) - len(want)), 0)
        check('cross, %s: when' % word, max(abs(a - b) for a, b in zip(got, want)), bound)
    count = [line for line in out['comparator'] if line[0] == 'count'][0]
    check('cross in both directions and above: so many', abs(float(count[1]) - 14), 0)
    check('last_crossing', abs(float(count[3]) - up[-1]), 2e-14)
    check('timer, periodic', max(abs(a - b) for a, b in zip(times('ticks', 'tick'), [1e-9 + 2e-9 * k for k in range(10)])), 1e-20)
    check('timer, periodic: so many', abs(len(times('ticks', 'tick')) - 10), 0)
    check('timer, set anew', max(abs(a - b) for a, b in zip(times('ticks', 'next'), [3.3e-9 + 4.4e-9 * k for k in range(4)])), 1e-20)
    check('timer, set anew: so many', abs(len(times('ticks', 'next')) - 4), 0)
    jump = sorted((s + 2 * math.pi * k) / w for k in range(7) for s in (math.asin(0.25), math.pi - math.asin(0.25)))
    jump = [t for t in jump if t < 20e-9]
    check('cross where the output jumps: when', max(abs(a - b) for a, b in zip(times('steps', 'jump'), jump)), 1e-12)
    check('and how often', abs(len(times('steps', 'jump')) - len(jump)), 0)
    check('a jump, delayed', max(abs(interpolate(out['steps', 'time'], out['steps', 'v(sd)'], x * 1e-10 + 0.5e-9) -
                                     (sum(t < x * 1e-10 for t in jump) % 2)) for x in range(1, 195)
                                 if min(abs(t - x * 1e-10) for t in jump) > 1.2e-10), 1e-3)

    def sine(late):
        return lambda t: math.sin(w * (t - late)) if t > late else 0

    def pulse(t):
        t = max(t, 0) % 9e-9
        return ramp(t, 1e-9, 0.1e-9) - ramp(t, 4.1e-9, 0.1e-9)

    check('absdelay of a sine', curve('late', 'v(d)', sine(1e-9)), 1e-3)
    check('absdelay, much less than the step', curve('late', 'v(close)', sine(1e-15)), 1e-5)
    check('absdelay of a pulse', curve('late', 'v(pd)', lambda t: pulse(t - 0.37e-9)), 1e-9)
    check('absdelay, 0', curve('late', 'v(none)', pulse), 1e-9)
    check('absdelay that moves', curve('late', 'v(moves)', lambda t: sine(1e-9 + 0.2e-9 * math.sin(w * t))(t)), 2e-3)
    for node, late in (('d', 1e-9), ('pd', 0.37e-9), ('none', 0), ('moves', 1.05e-9)):
        check('absdelay, ac, %s' % node, max(abs(v - cmath.exp(-2j * math.pi * f * late))
                                             for f, v in zip(ac['frequency'], ac['v(%s)' % node])), 1e-12)


def case_transfer(vsim):
    """E, G with LAPLACE and laplace() in expressions: exact in ac; the step response of a low-pass."""
    deck = """transfer functions
.param tau=1u w0=6.28meg q=0.7
.func lp(s,w,q) {1/(1+s/(w*q)+(s/w)**2)}
V1 in 0 dc 0.5 ac 1 PULSE(0 1 1u 10n 10n 5u 20u)
E1 a 0 laplace {v(in)} = {1/(1+s*tau)}
E2 b 0 LAPLACE {v(in)} {lp(s,w0,q)}
G1 0 c LAPLACE {2*v(in)} = {(1+2*s*tau)/(1+s*tau)*exp(-0.3u*s)} m=2
B1 d 0 v=laplace(v(in), s*tau/(1+s*tau) + 1/(1+s*tau))
B2 e 0 v={1+laplace(v(in), 1+s*1n)*2}
E3 f 0 LAPLACE {v(in)} {1/(1+sqrt(tau)*sqrt(tau)*s)^3}
E4 g 0 LAPLACE {v(in)} {s/(s+s^2*tau)}
E5 h 0 LAPLACE {v(in)} {3*exp(-1)}
"""
    deck += ''.join('R%s %s 0 1\n' % (n, n) for n in 'abcdefgh')
    r = run(vsim, deck + '.ac dec 5 1k 100meg')

    def second(s):
        return 1 / (1 + s / (6.28e6 * 0.7) + (s / 6.28e6)**2)

    for node, want in (('a', lambda s: 1 / (1 + s * 1e-6)), ('b', second),
                       ('c', lambda s: 4 * (1 + 2e-6 * s) / (1 + 1e-6 * s) * cmath.exp(-0.3e-6 * s)), ('d', lambda s: 1),
                       ('e', lambda s: 2 + 2e-9 * s), ('f', lambda s: 1 / (1 + 1e-6 * s)**3),
                       ('g', lambda s: 1 / (1 + s * 1e-6)), ('h', lambda s: 3 * math.exp(-1))):
        check('transfer function, ac, %s' % node, max(abs(v - want(2j * math.pi * f)) / max(1, abs(v))
                                                      for f, v in zip(r['frequency'], r['v(%s)' % node])), 1e-10)
    dc = run(vsim, deck + '.op')
    check('transfer function, dc', max(abs(dc['v(%s)' % n][0] - v) for n, v in
                                       (('a', 0.5), ('b', 0.5), ('c', 2), ('d', 0.5), ('e', 2), ('f', 0.5), ('g', 0.5))), 1e-9)
    t = run(vsim, deck + '.tran 10n 10u')

    def filtered(t): # of the pulse, by 1/(1 + s tau)
        def part(x): # of a ramp of slope 1 that begins at 0
            return x - 1e-6 * (1 - math.exp(-x / 1e-6)) if x > 0 else 0
        return (part(t - 1e-6) - part(t - 1.01e-6) - part(t - 6.01e-6) + part(t - 6.02e-6)) / 1e-8

    check('transfer function, tran', max(abs(v - filtered(x)) for x, v in zip(t['time'], t['v(a)'])), 1e-4)
    check('a pole and a zero, tran', max(abs(a - b) for a, b in zip(t['v(d)'], t['v(in)'])), 1e-4)


STATIC_LINES = """`include "disciplines.vams"
module talks(p, n);
  inout p, n; electrical p, n;
  parameter real r = 1k;
  real g;
  analog begin
    g = 1 / r;
    if (r > 100) $strobe("conductance of %m: %g", g);
    if (r < 5) $warning("r is small");
    I(p, n) <+ g * V(p, n);
  end
endmodule
"""


def case_static_lines(vsim):
    """$strobe of what depends on parameters only is a line of the run, once; $warning a warning of the card."""
    with tempfile.TemporaryDirectory() as tmp:
        with open(os.path.join(tmp, 'talks.va'), 'w') as f:
            f.write(STATIC_LINES)
        path = os.path.join(tmp, 'deck.sp')
        with open(path, 'w') as f:
            f.write('talks\n.hdl "talks.va"\nV1 a 0 1\nN1 a 0 talks r=200\nN2 a 0 talks r=2\n.op\n.ac dec 1 1 10\n.end\n')
        done = subprocess.run([vsim, '-r', os.path.join(tmp, 'out.raw'), path], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
    check('$strobe of parameters, lines', abs(done.stdout.count('conductance of n1: 0.005') - 1), 0)
    check('$strobe of parameters, warnings', done.stderr.count('conductance'), 0)
    check('$warning of parameters', abs(done.stderr.count('deck.sp:5:1: warning: n2: r is small') - 1), 0)


def exponential(a):
    """exp of a square matrix, by its series after scaling."""
    n = len(a)

    def product(x, y):
        return [[sum(x[i][k] * y[k][j] for k in range(n)) for j in range(n)] for i in range(n)]

    halvings = max(0, math.ceil(math.log2(max(sum(abs(v) for v in row) for row in a) + 1e-30)) + 4)
    a = [[v / 2**halvings for v in row] for row in a]
    total = [[complex(i == j) for j in range(n)] for i in range(n)]
    term = total
    for k in range(1, 20):
        term = [[v / k for v in row] for row in product(term, a)]
        total = [[u + v for u, v in zip(x, y)] for x, y in zip(total, term)]
    for _ in range(halvings):
        total = product(total, total)
    return total


def solved(a, b):
    """x of a x = b, by elimination."""
    n = len(b)
    a = [row[:] + [v] for row, v in zip(a, b)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[p] = a[p], a[k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            a[i] = [u - f * v for u, v in zip(a[i], a[k])]
    x = [0] * n
    for k in reversed(range(n)):
        x[k] = (a[k][n] - sum(a[k][j] * x[j] for j in range(k + 1, n))) / a[k][k]
    return x


def case_coupled(vsim):
    """P and Y: the ac answer of the line's equations, d/dz (v, i) = -((0, R + sL), (G + sC, 0)) (v, i)."""
    def full(n, upper):
        it, m = iter(upper), [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i, n):
                m[i][j] = m[j][i] = next(it)
        return m

    cases = {
        'three, without losses': (3, 0.2, [0] * 6, [300e-9, 60e-9, 10e-9, 310e-9, 70e-9, 320e-9], [0] * 6,
                                  [100e-12, -20e-12, -2e-12, 105e-12, -22e-12, 110e-12]),
        'two equal ones with losses': (2, 0.5, [5, 1, 5], [300e-9, 60e-9, 300e-9], [1e-3, -2e-4, 1e-3], [100e-12, -20e-12, 100e-12]),
        'three with r and c': (3, 1, [100, 0, 0, 100, 0, 100], [0] * 6, [0] * 6, [1e-12, -2e-13, 0, 1e-12, -2e-13, 1e-12]),
        'three with next to no losses': (3, 0.2, [1e-6, 0, 0, 1e-6, 0, 1e-6], [300e-9, 60e-9, 10e-9, 310e-9, 70e-9, 320e-9], [0] * 6,
                                         [100e-12, -20e-12, -2e-12, 105e-12, -22e-12, 110e-12]),
        'one': (1, 0.3, [10], [300e-9], [0], [100e-12]),
        'three whose losses couple the modes': (3, 0.2, [3, 0, 0, 4, 1, 5], [300e-9, 60e-9, 10e-9, 310e-9, 70e-9, 320e-9],
                                                [2e-5, -1e-6, 0, 3e-5, 0, 4e-5],
                                                [100e-12, -20e-12, -2e-12, 105e-12, -22e-12, 110e-12]),
    }
    # Sections with the losses at their ends. Impedances of l and c are 30 to 90 ohm; what the order of loss and line
    # changes is below the product of the line's phase and its loss, and below the loss; at dc below the losses' product.
    sections = {'three whose losses couple the modes'}
    for name, (n, length, r, l, g, c) in cases.items():
        near, far = ['a%d' % (k + 1) for k in range(n)], ['b%d' % (k + 1) for k in range(n)]
        text = ' '.join('%s=%s' % (key, ' '.join('%.9g' % v for v in m)) for key, m in (('r', r), ('l', l), ('g', g), ('c', c)))
        deck = 'coupled\nV1 in 0 dc 1 ac 1\nR1 in a1 50\n'
        deck += ''.join('RA%s %s 0 75\n' % (x, x) for x in near[1:]) + ''.join('RB%s %s 0 50\n' % (x, x) for x in far)
        deck += 'P1 %s 0 %s 0 pm len=%g\n.model pm cpl %s length=1\n' % (' '.join(near), ' '.join(far), length, text)
        if n == 1:
            deck += 'R2 in y 50\nY1 y 0 z 0 ym len=%g\nR3 z 0 50\n.model ym txl %s length=9\n' % (length, text)
        out = run(vsim, deck + '.ac lin 7 1meg 901meg')
        dc = run(vsim, deck + '.op')

        def answer(s):
            z = [[(a + s * b) * length for a, b in zip(x, y)] for x, y in zip(full(n, r), full(n, l))]
            y = [[(a + s * b) * length for a, b in zip(x, y)] for x, y in zip(full(n, g), full(n, c))]
            e = exponential([[0] * n + [-v for v in row] for row in z] + [[-v for v in row] + [0] * n for row in y])
            source = [1 / 50 if k == 0 else 0 for k in range(n)]       # i1 = source - v1 load
            load = [1 / 50 if k == 0 else 1 / 75 for k in range(n)]
            a, b = [], []
            for k in range(n):                                         # i2 - v2/50 = 0
                row = [e[n + k][j] - e[k][j] / 50 for j in range(2 * n)]
                a.append([row[j] - row[n + j] * load[j] for j in range(n)])
                b.append(-sum(row[n + j] * source[j] for j in range(n)))
            v = solved(a, b)
            i = [source[j] - load[j] * v[j] for j in range(n)]
            return v + [sum(e[k][j] * (v + i)[j] for j in range(2 * n)) for k in range(n)]

        want = [answer(2j * math.pi * f) for f in out['frequency']]
        got = list(zip(*(out['v(%s)' % x] for x in near + far)))
        in_r, in_g = ((max(r) * length / 30, max(g) * length * 90) if name in sections else (0, 0))
        delay = length * math.sqrt(2 * max(l) * max(c))
        for f, x, y in zip(out['frequency'], got, want):
            bound = 1e-9 + min(2 * math.pi * abs(f) * delay, 1) * (in_r + in_g)
            check('coupled lines, ac, %s, %g' % (name, abs(f)), max(abs(u - v) for u, v in zip(x, y)), bound)
        check('coupled lines, dc, ' + name, max(abs(dc['v(%s)' % x][0] - v) for x, v in zip(near + far, answer(0))),
              1e-8 + in_r * in_g)
        if n == 1:
            check('Y, ac', max(abs(u - v) for u, v in zip(out['v(z)'], out['v(b1)'])), 1e-12)


def case_noise_of_bsim1_and_bsim2(vsim):
    """Thermal noise 8/3 k T gm, flicker noise kf |id - ibd|^af / (f w l cox^2), w and l in metres, cox in F/cm^2."""
    for level, card in ((4, 'vfb=-0.9 phi=0.75 k1=0.9 muz=550 mus=620 u0=0.08 u1=0.1 n0=1.3 vdd=5'), (5, 'u10=0.1')):
        deck = 'noise\nVD d 0 2\nVG g 0 1.8 ac 1\nH1 o 0 VD 1\nR1 o 0 1\nM1 d g 0 0 mm w=10.2u l=2.1u ad=1n\n' \
               '.model mm nmos level=%d %s tox=0.025 dw=0.2 dl=0.1 js=1 kf=1e-40 af=1.2\n' % (level, card)
        at = run(vsim, deck + '.save @m1[gm] @m1[id] @m1[ibd]\n.op')
        noise = run(vsim, deck + '.noise v(o) VG dec 1 1 1meg')
        gm, drain = at['@m1[gm]'][0], at['@m1[id]'][0] - at['@m1[ibd]'][0]
        cox = 3.453e-13 / (0.025e-4)
        white, pink = 4 * 1.38064852e-23 * 300.15 * 2 / 3 * gm, 1e-40 * drain ** 1.2 / (10e-6 * 2e-6 * cox ** 2)
        error = max(abs(n * n / (white + pink / f) - 1) for f, n in zip(noise['frequency'], noise['onoise_spectrum']))
        check('noise of level %d' % level, error, 1e-9)
        check('noise of level %d: both parts show' % level, max(pink / white / 1e6, white / pink), 0.1)


def main():
    for name, case in list(globals().items()):
        if name.startswith('case_') and (len(sys.argv) < 3 or name[5:] in sys.argv[2:]):
            case(os.path.abspath(sys.argv[1]))
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
