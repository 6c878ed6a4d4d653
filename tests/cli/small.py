#!/usr/bin/env python3
"""Small-signal analyses of the same decks in vsim and ngspice: ac, noise, tf, sens, pz, sp, disto.

    small.py VSIM [NAME...]        exit code 77 if ngspice is not installed

Each deck runs once for each of its cards. Compared are the vectors of the same name in every plot; the
error is measured against the largest value of a vector, poles and zeros against their own size. Cards
with names after '|' compare these vectors only (ngspice gives more parameters for sensitivities)."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

TOLERANCE = {'.ac': 1e-4, '.noise': 1e-3, '.tf': 1e-4, '.sens': 1e-3, '.pz': 1e-4, '.sp': 1e-4,
             '.disto': 1e-3}  # constants of physics differ by 1e-5
OPTIONS = '.options reltol=1e-6 abstol=1e-15 vntol=1e-9\n'

QN = '.model qn NPN is=1e-16 bf=120 br=2 vaf=60 rb=80 re=1 rc=5 cje=1p cjc=0.5p tf=0.2n kf=1e-14 af=1\n'
STAGE = QN + """
VCC vcc 0 10
VIN in 0 dc 0 ac 1 distof1 1m 20 distof2 2m
C1 in b 100n
R1 vcc b 47k
R2 b 0 10k
R3 vcc c 3.3k
R4 e 0 1k
CE e 0 10u
Q1 c b e qn
"""
DECKS = {
    'rc': ("""
V1 in 0 dc 1 ac 1
R1 in out 1k
C1 out 0 1n
R2 out 0 10k
""", ['.ac dec 5 1k 10meg', '.ac oct 3 1k 1meg', '.ac lin 11 1k 100k', '.noise v(out) V1 dec 100 1 10meg',
      '.noise v(out) V1 dec 100 1 1meg 1', '.tf v(out) V1', '.pz in 0 out 0 vol pz', '.sens v(out) | r1 r2 v1',
      '.sens v(out) ac dec 2 10k 1meg | c1 v1_acmag']),
    'rlc_coupled': ("""
V1 in 0 ac 2 30
R1 in a 5
L1 a b 1u
C1 b 0 1n
R2 b 0 1k
L2 c 0 4u
K1 L1 L2 0.7
R3 c 0 200
""", ['.ac dec 20 100k 100meg', '.noise v(c) V1 dec 50 1k 100meg', '.pz in 0 c 0 vol pz']),
    'controlled': ("""
V1 a 0 dc 2 ac 1
R1 a b 1k
R2 b 0 3k
E1 c 0 a b 4
R3 c d 1k
G1 d 0 b 0 1m
R4 d 0 2k
C4 d 0 10p
V5 e 0 0
F1 0 f V5 3
I6 0 x dc 1m ac 1
R6 x e 10
R7 f 0 100
H1 g 0 V5 500
R8 g 0 1k
""", ['.ac dec 5 1k 100meg', '.tf v(d) V1', '.tf v(f) I6', '.tf i(V5) I6', '.noise v(g) I6 dec 10 1 1k',
      '.noise v(d,b) V1 dec 20 1 1meg 1', '.pz a 0 d 0 vol pol', '.sens v(d) | r1 r2 r3 r4 v1']),
    'bjt_stage': (STAGE, ['.ac dec 10 1 10g', '.disto dec 2 100k 100meg', '.disto dec 2 100k 100meg 0.7', '.noise v(c) VIN dec 100 10 10meg', '.noise v(c) VIN dec 100 10 1meg 1',
                          '.tf v(c) VIN', '.pz in 0 c 0 vol pz']),
    'diode': ("""
.model dm D is=1e-14 rs=2 n=1.1 cjo=4p vj=0.8 m=0.45 tt=5n kf=1e-14 af=1
V1 in 0 dc 5 ac 1
R1 in out 1k
D1 out 0 dm
C2 out x 10n
R2 x 0 50
""", ['.ac dec 5 1k 10g', '.noise v(out) V1 dec 100 1 1meg 1', '.tf v(out) V1', '.pz in 0 x 0 vol pz',
      '.sens v(out) | r1 v1']),
    'mos_amplifier': ("""
.model nm NMOS level=1 vto=0.7 kp=100u gamma=0.4 phi=0.65 lambda=0.02 tox=20n cgso=0.2n cgdo=0.2n rd=10 rs=10
.model pm PMOS level=1 vto=-0.8 kp=40u gamma=0.5 phi=0.65 lambda=0.03 tox=20n cgso=0.2n cgdo=0.2n
VDD vdd 0 3.3
VIN g 0 dc 1.1 ac 1
IB n 0 50u
MP1 n n vdd vdd pm w=20u l=1u
MP2 out n vdd vdd pm w=20u l=1u
MN1 out g 0 0 nm w=5u l=1u
CL out 0 100f
""", ['.ac dec 5 1k 10g', '.noise v(out) VIN dec 100 10 100meg', '.tf v(out) VIN',
      '.pz g 0 out 0 vol pz']),
    'jfet': ("""
.model jn NJF vto=-2 beta=1m lambda=0.01 rd=10 rs=10 cgs=2p cgd=1p kf=1e-17 af=1
VD d 0 10
VG g 0 dc -0.5 ac 1
RD d x 1k
J1 x g s jn
RS s 0 100
CS s 0 1u
""", ['.ac dec 5 10 10g', '.noise v(x) VG dec 100 10 10meg', '.tf v(x) VG', '.pz g 0 x 0 vol pz']),
    'active_filter': ("""
I1 0 in ac 1
RS in 0 1k
R1 in a 10k
R2 a b 10k
C1 a out 2n
C2 b 0 1n
E1 out 0 b out 1e5
RO out 0 10k
""", ['.ac dec 10 10 1meg', '.noise v(out) I1 dec 50 1 100k', '.pz in 0 out 0 cur pz', '.tf v(out) I1']),
    'twin_t': ("""
I1 0 in ac 1
RS in 0 50
R1 in a 10k
R2 a out 10k
C3 a 0 2n
C1 in b 1n
C2 b out 1n
R3 b 0 5k
RL out 0 1meg
""", ['.ac dec 40 1k 100k', '.pz in 0 out 0 cur pol', '.noise v(out) I1 dec 50 10 1meg 1']),
    'ladder': ("""
I1 0 in ac 1
RS in 0 50
C1 in 0 636.6p
L2 in 2 5.15u
C3 2 0 2.06n
L4 2 out 5.15u
C5 out 0 636.6p
RL out 0 50
""", ['.ac dec 50 100k 100meg', '.pz in 0 out 0 cur pol']),
    'ports': ("""
V1 in 0 dc 0 ac 1 portnum 1 z0 50
V2 out 0 dc 0 ac 0 portnum 2 z0 75
R1 in m 30
R2 m out 40
C1 m 0 10p
L1 m x 10n
R3 x 0 20
""", ['.sp dec 5 1meg 10g', '.ac dec 3 1meg 1g']),
    'port_stage': (QN + """
VCC vcc 0 5
V1 p1 0 dc 0 ac 1 portnum 1 z0 50
V2 p2 0 dc 0 ac 0 portnum 2 z0 50
C1 p1 b 1n
C2 c p2 1n
RB c b 47k
RC vcc c 1k
Q1 c b 0 qn
""", ['.sp dec 5 10meg 10g']),
    'subcircuit': (QN + """
.subckt half i o e vcc
Q1 o i e qn
RC vcc o 5k
.ends
VCC vcc 0 10
VEE vee 0 -10
VIN in 0 dc 0 ac 1
X1 in o1 e vcc half
X2 0 o2 e vcc half
IE e vee 1m
""", ['.ac dec 5 1k 10g', '.tf v(o2) VIN', '.noise v(o1,o2) VIN dec 100 1k 10meg', '.pz in 0 o2 0 vol pz']),
}


def plots(path):
    """[{name: [complex, ...]}] of a binary raw file."""
    data, out, at = open(path, 'rb').read(), [], 0
    while True:
        mark = data.find(b'Binary:\n', at)
        if mark < 0:
            return out
        head = data[at:mark].decode(errors='replace').split('\n')
        value = {k.strip(): v.strip() for k, v in (line.split(':', 1) for line in head if ':' in line and line[0] != '\t')}
        names = [line.split('\t')[2].lower() for line in head if line.startswith('\t')]
        points, is_complex = int(value['No. Points']), 'complex' in value['Flags']
        width = len(names) * (2 if is_complex else 1)
        v = struct.unpack_from('<%dd' % (points * width), data, mark + 8)
        at = mark + 8 + 8 * points * width
        cols = {}
        for k, n in enumerate(names):
            n = n[2:-1] if n.startswith('v(') and plain(n[2:-1]) else n
            cols[n] = [complex(v[p * width + 2 * k], v[p * width + 2 * k + 1]) if is_complex else v[p * width + k]
                       for p in range(points)]
        out.append(cols)


def plain(n):
    """ngspice writes what is no voltage as v(name) too."""
    return n.startswith(('onoise', 'inoise', 'pole', 'zero', 's_', 'y_', 'z_', 'transfer_', 'output_')) or '#' in n or \
        n in SENS


SENS = {'r1', 'r2', 'r3', 'r4', 'c1', 'v1', 'v1_acmag'}


def run(command, folder, name):
    raw = os.path.join(folder, name + '.raw')
    done = subprocess.run(command + ['-b', '-r', raw, os.path.join(folder, 'deck.sp')], cwd=folder, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or not os.path.exists(raw):
        return None, '%s: exit code %d\n%s' % (command[0], done.returncode, done.stdout)
    return plots(raw), ''


def roots(plot, kind):
    return [v[0] for n, v in plot.items() if n.startswith(kind)]


def compare_roots(ours, theirs, tolerance):
    trouble = []
    for kind in ('pole', 'zero'):
        a, b = roots(ours, kind), roots(theirs, kind)
        if len(a) != len(b):
            trouble.append('%d %ss, ngspice %d: %s against %s' % (len(a), kind, len(b), a, b))
            continue
        for r in b:
            best = min(a, key=lambda s: abs(s - r))
            if abs(best - r) > tolerance * abs(r):
                trouble.append('%s %s, ngspice %s' % (kind, best, r))
    return trouble


def compare(ours, theirs, kind, only):
    if len(ours) != len(theirs):
        return ['%d plots, ngspice %d' % (len(ours), len(theirs))]
    trouble, n_both = [], 0
    for mine, other in zip(ours, theirs):
        if kind == '.pz':
            return compare_roots(mine, other, TOLERANCE[kind])
        both = [n for n in mine if n in other and (not only or n in only)]
        n_both += len(both)
        missing = [n for n in only if n not in both]
        if missing:
            trouble.append('not in both: %s; %s; %s' % (missing, sorted(mine), sorted(other)))
        for n in both:
            a, b, tolerance = mine[n], other[n], TOLERANCE[kind]
            if len(a) != len(b):
                trouble.append('%s: %d points, ngspice %d' % (n, len(a), len(b)))
                continue
            if n == 'frequency':  # its imaginary part in ngspice is what stood there in memory
                a, b = [x.real for x in a], [x.real for x in b]
            if any(x != x for x in b):  # ngspice integrates some spectra to NaN
                continue
            scale = max(abs(x) for x in b)
            worst = max(range(len(a)), key=lambda k: abs(a[k] - b[k]))
            # what is nothing but rounding in one is so in the other
            floor = 1e-9 * max(max(abs(x) for x in other[m]) for m in other if m != 'frequency')
            if n.startswith('inoise_total'):  # ngspice takes the gain at one end of a step for the whole of it
                tolerance = 0.03
            if not abs(a[worst] - b[worst]) <= tolerance * scale + (floor if kind in ('.ac', '.noise', '.disto') else 0):
                trouble.append('%s: %s, ngspice %s at point %d (%.2g)' % (n, a[worst], b[worst], worst,
                                                                         abs(a[worst] - b[worst]) / (scale or 1)))
    return trouble if n_both > 1 or trouble else ['no vectors in common: %s and %s' % (
        [sorted(p) for p in ours], [sorted(p) for p in theirs])]


def main():
    vsim, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    ngspice = shutil.which('ngspice')
    if not ngspice:
        print('ngspice is not installed')
        return 77
    failed = n = 0
    for name, (body, cards) in DECKS.items():
        if chosen and name not in chosen:
            continue
        for card in cards:
            card, _, only = card.partition('|')
            with tempfile.TemporaryDirectory() as tmp:
                with open(os.path.join(tmp, 'deck.sp'), 'w') as f:
                    f.write('%s\n%s%s%s\n.end\n' % (name, body.lstrip(), OPTIONS, card))
                ours, trouble = run([vsim, '-q'], tmp, 'ours')
                theirs, more = run([ngspice], tmp, 'theirs')
            found = [trouble + more] if ours is None or theirs is None else compare(ours, theirs, card.split()[0],
                                                                                    only.split())
            n += 1
            failed += bool(found)
            for line in found:
                print('%s, %s: %s' % (name, card, line))
    print('%d of %d comparisons agree' % (n - failed, n))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
