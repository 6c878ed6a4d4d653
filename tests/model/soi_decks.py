#!/usr/bin/env python3
"""Six decks each of BSIM3SOI PD, DD, FD and BSIMSOI 4, of the kind that ngspice's tests have, against numbers of ngspice 39.

    soi_decks.py VSIM            against tests/data/soi_decks.csv
    soi_decks.py --write         tests/data/soi_decks.csv anew, by ngspice

out: a family of output curves, floating body; body: transfer curves at seven voltages of a body contact; back: transfer
curves at back gates of -4 to 4 V, floating; inverter: its transfer curve; ramp: the gate pulsed at 1.5 V on the drain,
drain current without charges (debug=-1); ring: 7 stages, time of each crossing of half the supply upwards, after the supply has risen and a source in the loop has started it.

Bounds, of the largest value of a curve: 1e-3 is `reltol`, at which ngspice accepts a point of its sweeps (the floating body
follows a current of 1e-12 A, whose tolerance is all of it, so that the sweeps are at 1e-6 and bounded by 1e-4); crossings
agree to 1 % of the time, what steps of 2 ps leave of the trapezoidal rule in both."""
import csv
import os
import subprocess
import sys
import tempfile

from mos_cards import column, read_raw

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'soi_decks.csv')
CARD = ('tox=4.5n tsi=%s tbox=80n nch=4.5e17 nsub=-1e15 k1=0.5 k2=0.05 %s dvt0=2 dvt1=0.5 vsat=1.2e5 ua=1e-10 '
        'ub=1.5e-18 uc=-2e-11 a0=1.1 ags=0.2 keta=%s voff=-0.13 nfactor=0.8 cdsc=1e-4 pclm=1.5 pdiblc1=0.18 pdiblc2=0.004 '
        'drout=0.3 eta0=0.05 etab=0 dsub=0.3 delta=0.01 lint=-1e-8 rdsw=150 isdif=1e-6 isrec=%s ndiode=1.1 ntun=14 '
        'cgso=1e-10 cgdo=1e-10 cjswg=2e-10 tt=3e-11 clc=1e-7 cle=0.6 capmod=2 ')
PD = 'isbjt=1e-5 istun=1e-6 nrecf0=2.2 nrecr0=5 vrec0=1.1 vtun0=0.9 alpha0=1e-8 beta1=0.05 beta2=0.07 vdsatii0=0.8 ketas=0.1'
DD = 'isbjt=1e-7 alpha1=0 dvbd0=6 dvbd1=1 kb1=0.9 kb3=1.2 delp=0.02 abp=0.9 mxc=0.8 adice0=0.9'
DD += ''.join(' %s%s=0' % (c, k) for c in 'lwp' for k in ('kb3', 'dvbd0', 'dvbd1'))
MODEL = {'PD': (57, CARD % ('100n', 'nlx=1e-7', '-0.1', '4e-3') + PD), 'DD': (56, CARD % ('50n', 'nlx=1e-7', '-0.3', '1e-5') + DD),
         'FD': (55, CARD % ('50n', 'nlx=1e-7', '-0.3', '1e-5') + DD),
         'BSIMSOI4': (58, CARD % ('80n', 'lpe0=1e-7', '-0.1', '4e-3') + PD + ' soimod=1 igbmod=1 igcmod=1 toxqm=2.5n')}
FLAT = '.options gmin=1e-20 reltol=1e-6 abstol=1e-16 vntol=1e-9 itl1=500 itl2=500'
BOUND = {'ring': 1e-2}


def deck(model, kind):
    """Its cards, and the vector that counts."""
    level, card = MODEL[model]
    cards = ['.model n1 nmos level=%d vth0=0.42 u0=0.034 %s' % (level, card),
             '.model p1 pmos level=%d vth0=-0.4 u0=0.012 %s' % (level, card)]
    bias = ['VD d 0 %g', 'VS s 0 0', 'VE e 0 0', 'VG g 0 1']
    body = model in ('PD', 'BSIMSOI4')
    if kind == 'out':
        return cards + [FLAT, bias[0] % 1] + bias[1:] + ['M1 d g s e n1 w=10u l=0.25u', '.dc VD 0 1.8 0.05 VG 0.6 1.8 0.3'], 'i(vs)'
    if kind == 'body':
        # ngspice 39 connects PD's fifth node to nothing: there its terminal p is the seventh of seven
        nodes = {'PD': 'd g s e b t p' if NGSPICE else 'd g s e p b t'}.get(model, 'd g s e p')
        return cards + [FLAT, bias[0] % 0.05] + bias[1:] + ['VP p 0 0', 'M1 %s n1 w=10u l=0.25u' % nodes,
                                                            '.dc VG 0 1.5 0.1 VP %s' % ('-0.3 0.5 0.1' if body else '0.05 0.5 0.05')
                                                            ] + ['RT t 0 1'] * (model == 'PD'), 'i(vs)'
    if kind == 'back':
        return cards + [FLAT, bias[0] % 0.05] + bias[1:] + ['M1 d g s e n1 w=10u l=0.25u', '.dc VG 0 1.5 0.1 VE -4 4 1'], 'i(vs)'
    if kind == 'inverter':
        return cards + [FLAT, 'VI in 0 0', 'VDD dd 0 1.8', 'VE e 0 0.9', 'MP out in dd e p1 w=20u l=0.25u',
                        'MN out in 0 e n1 w=10u l=0.25u', '.dc VI 0 1.8 0.05'], 'v(out)'
    if kind == 'ramp':
        return cards + [FLAT, 'VD d 0 1.5', 'VG g 0 PULSE(0 1.8 20p 100p 100p 200p 1n)', 'VE e 0 0',
                        'M1 d g 0 e n1 w=10u l=0.25u debug=-1', '.tran 1p 500p 0 1p'], 'i(vd)'
    lines = ['VDD dd 0 PULSE(0 1.8 0 50p 10p 1 1)', 'VK s1 k PULSE(1.8 0 60p 10p 10p 1 1)', 'VE e 0 0']
    for i in range(1, 8):
        a, o = 's%d' % i if i > 1 else 'k', 's%d' % (i % 7 + 1)
        lines += ['MP%d %s %s dd e p1 w=20u l=0.25u ad=1e-11 as=1e-11' % (i, o, a),
                  'MN%d %s %s 0 e n1 w=10u l=0.25u ad=5e-12 as=5e-12' % (i, o, a), 'C%d %s 0 10f' % (i, o)]
    return cards + ['.options reltol=1e-4 gmin=1e-15 itl1=500'] + lines + ['.tran 2p 3n 0 2p'], 'v(s1)'


def crossings(t, v, level):
    return [t[i] + (t[i + 1] - t[i]) * (level - v[i]) / (v[i + 1] - v[i]) for i in range(len(t) - 1) if v[i] < level <= v[i + 1]]


def line(x, y, t):
    i = max(j for j in range(len(x) - 1) if x[j] <= t or j == 0)
    return y[i] + (y[i + 1] - y[i]) * (t - x[i]) / (x[i + 1] - x[i])


def solve(command, model, kind):
    """The numbers of a deck."""
    lines, vector = deck(model, kind)
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'deck')
        with open(name + '.sp', 'w') as f:
            f.write('\n'.join(['* %s %s' % (model, kind)] + lines + ['.save ' + vector, '.end', '']))
        done = subprocess.run(command + ['-r', name + '.raw', name + '.sp'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=folder)
        if not os.path.exists(name + '.raw') or done.returncode:
            return None, done.stdout[-1500:]
        plot = read_raw(name + '.raw')[0]
    y = column(plot, vector)
    if kind == 'ring':
        y = crossings(plot['time'], y, 0.9)[1:]
    elif kind == 'ramp':
        y = [line(plot['time'], y, 10e-12 * k) for k in range(1, 49)]
    return y, ''


def thinned(kind, y):
    """Every third number of a sweep: the file stays small."""
    return y if kind in ('ring', 'inverter', 'ramp') else y[::3]


def write():
    with open(DATA, 'w', newline='') as f:
        out = csv.writer(f, lineterminator='\n')
        f.write('# ngspice 39: tests/model/soi_decks.py --write\n')
        for model in MODEL:
            for kind in KINDS:
                y, why = solve(['ngspice', '-b'], model, kind)
                if not y:
                    print('%s %s: %s' % (model, kind, why))
                    continue
                out.writerow([model, kind] + ['%.8g' % v for v in thinned(kind, y)])


def main():
    if sys.argv[1] == '--write':
        return write()
    with open(DATA) as f:
        rows = list(csv.reader(r for r in f if not r.startswith('#')))
    bad = 0
    for model, kind, *values in rows:
        want = [float(v) for v in values]
        y, why = solve([os.path.abspath(sys.argv[1]), '-q'], model, kind)
        got = thinned(kind, y or [])
        if len(got) < len(want):
            print('%s %s: %d numbers, not %d: %s' % (model, kind, len(got), len(want), why))
            bad += 1
            continue
        top = max(map(abs, want))
        worst = max(abs(a - b) / (b if kind == 'ring' else top) for a, b in zip(got, want))
        good = worst <= BOUND.get(kind, 1e-4)
        print('%s %s: %d numbers, %.1e%s' % (model, kind, len(want), worst, '' if good else ' outside'))
        bad += not good
    print('%d decks, %d outside' % (len(rows), bad))
    return 1 if bad or not rows else 0


KINDS = ('out', 'body', 'back', 'inverter', 'ramp', 'ring')
NGSPICE = sys.argv[1:2] == ['--write']

if __name__ == '__main__':
    sys.exit(main())
