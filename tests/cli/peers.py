#!/usr/bin/env python3
"""The same decks in vsim and ngspice: operating points, sweeps and transients agree to 0.1 %.

    peers.py VSIM [NAME...]        exit code 77 if ngspice is not installed

Each deck runs once for each of its analyses. Compared are all vectors that both write. The error is
measured against the largest value of a vector (sweeps, transients); ngspice's transients have tight
tolerances and short steps, so that what differs is the circuit, not the integration."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

TOLERANCE = 1e-3
FLOOR = {'v': 1e-6, 'i': 1e-9}  # below these the tolerances of both programs show
OPTIONS = '.options reltol=1e-5 abstol=1e-15 vntol=1e-9\n'

DECKS = {
    'rc_pulse': ("""
V1 in 0 dc 0.5 PULSE(0 1 1u 0.1u 0.2u 2u 5u)
R1 in out 1k tc1=1m
C1 out 0 1n
R2 out 0 1MEG
""", ['.op', '.tran 20n 12u 0 10n', '.dc V1 -1 1 0.1', '.dc temp -40 125 33']),
    'sources': ("""
V1 a 0 SIN(0.5 1 1MEG 0.3u 2e5 30)
V2 b 0 EXP(0 1 0.2u 0.1u 1u 0.3u)
V3 c 0 PWL(0 0 0.5u 1 0.7u 1 1.5u -1)
V4 d 0 SFFM(0 1 2MEG 3 300k)
I5 0 e PULSE(1m 2m 0.1u 10n 10n 0.3u 1u)
R1 a 0 1k
R2 b 0 1k
R3 c 0 1k
R4 d 0 1k
R5 e 0 1k
""", ['.op', '.tran 10n 3u 0 5n']),
    'rlc_coupled': ("""
V1 in 0 PULSE(0 1 10n 1n 1n 1 2)
R1 in a 5
L1 a b 1u
C1 b 0 1n
R2 b 0 1k
L2 c 0 4u
K1 L1 L2 0.7
R3 c 0 200
""", ['.op', '.tran 2n 1u 0 0.5n']),
    'controlled': ("""
V1 a 0 2
R1 a b 1k
R2 b 0 3k
E1 c 0 a b 4
R3 c d 1k
G1 d 0 b 0 1m
R4 d 0 2k
V5 e 0 0
F1 0 f V5 3
I6 0 x 1m
R6 x e 10
R7 f 0 100
H1 g 0 V5 500
R8 g 0 1k
E2 h 0 POLY(2) a 0 b 0 0.1 1 2 0.5 0.25 0.125
R9 h 0 1k
""", ['.op', '.dc V1 -2 2 0.5']),
    'behavioural': ("""
V1 a 0 SIN(0.2 1 1MEG)
B1 b 0 v=v(a)*v(a)+tanh(3*v(a))
R1 b 0 1k
B2 0 c i=1m*exp(v(a))
R2 c 0 1k
R3 c 0 2k
E1 d 0 value={sin(v(a))+0.5*abs(v(b))}
R4 d 0 1k
B4 e 0 v=min(v(a),0.5)+max(v(a),0)+tanh(5*(v(a)-0.11))
R5 e 0 1k
B3 f 0 v=v(a)>0.3 ? 2*v(a) : 0.6
R6 f 0 1k
""", ['.op', '.dc V1 -1 1 0.05', '.tran 5n 2u 0 2n']),
    'diode_rectifier': ("""
.model dm D is=2e-14 n=1.05 rs=2 cjo=4p vj=0.8 m=0.45 tt=5n bv=30 ibv=1u
V1 a 0 SIN(0 5 1MEG)
D1 a k dm
R1 k 0 1k
C1 k 0 200p
D2 0 z dm area=2
R2 z a 2k
""", ['.op', '.dc V1 -40 5 1', '.tran 5n 3u 0 1n', '.dc temp -40 125 33']),
    'mos_inverter': ("""
.model nm NMOS level=1 vto=0.7 kp=100u gamma=0.4 phi=0.65 lambda=0.02 tox=20n cgso=0.2n cgdo=0.2n
.model pm PMOS level=1 vto=-0.8 kp=40u gamma=0.5 phi=0.65 lambda=0.03 tox=20n cgso=0.2n cgdo=0.2n
.subckt inv in out vdd params: w=2u
MP out in vdd vdd pm w={2.5*w} l=1u
MN out in 0 0 nm w={w} l=1u
.ends
VDD vdd 0 3.3
VIN in 0 PULSE(0 3.3 1n 1n 1n 8n 20n)
X1 in a vdd inv
X2 a out vdd inv w=4u
CL out 0 100f
""", ['.op', '.dc VIN 0 3.3 0.1', '.tran 0.1n 25n 0 0.02n']),
    'bjt_amplifier': ("""
.model qn NPN is=1e-16 bf=120 br=2 vaf=60 ikf=20m ise=1e-14 ne=1.6 rb=80 re=1 rc=5 cje=1p cjc=0.5p tf=0.2n tr=5n
.model qp PNP is=2e-16 bf=60 vaf=40 cje=1p cjc=1p tf=1n
VCC vcc 0 10
VIN in 0 SIN(0 0.02 1MEG)
C1 in b 100n
R1 vcc b 47k
R2 b 0 10k
R3 vcc c 3.3k
R4 e 0 1k
Q1 c b e qn
Q2 0 c f qp
R5 vcc f 4.7k
""", ['.op', '.dc VCC 2 12 0.5', '.dc temp -40 125 33', '.tran 5n 2u 0 2n']),
    'jfet': ("""
.model jn NJF vto=-2 beta=1m lambda=0.01 rd=10 rs=10 cgs=2p cgd=1p
VD d 0 10
VG g 0 -0.5
RD d x 1k
J1 x g s jn
RS s 0 100
""", ['.op', '.dc VG -2.5 0 0.1']),
    'parameters': ("""
.param a=2 b={a*3} k='b-1'
.func par(x,y) {x*y/(x+y)}
.param rr={par(1k,2k)} q={max(a,b)+min(k,1)+sqrt(b+3)+abs(-2)+a**2}
.subckt cell in out r=1k n=2
R1 in m {r}
R2 m out {r*n}
R3 m 0 {r*10}
.ends
V1 in 0 {k}
X1 in o1 cell
X2 o1 o2 cell r={rr} n={q}
R9 o2 0 1MEG
R10 o1 o2 10meg
R11 o1 0 2.2kOhm m=2
""", ['.op', '.dc V1 0 5 1']),
    'nested_sweep': ("""
.model nm NMOS level=1 vto=0.7 kp=100u lambda=0.02
VD d 0 1
VG g 0 1
M1 d g 0 0 nm w=10u l=2u
""", ['.dc VD 0 3 0.25 VG 0.5 2 0.5']),
    'initial_values': ("""
C1 a 0 1n ic=2
R1 a b 1k
C2 b 0 2n ic=-1
L1 b c 10u ic=1m
R2 c 0 100
""", ['.tran 10n 5u 0 5n uic']),
    'bridge': ("""
.model dm D is=1e-14 cjo=2p tt=1n
V1 p n SIN(0 10 1MEG)
D1 p out dm
D2 n out dm
D3 0 p dm
D4 0 n dm
R1 out 0 1k
C1 out 0 100p
RB n 0 10MEG
""", ['.op', '.tran 5n 2u 0 1n']),
}


def run(command, folder, name):
    """The plot that the program writes; None and its messages if it fails."""
    raw = os.path.join(folder, name + '.raw')
    done = subprocess.run(command + ['-b', '-r', raw, os.path.join(folder, 'deck.sp')], cwd=folder, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or not os.path.exists(raw):
        return None, '%s: exit code %d\n%s' % (command[0], done.returncode, done.stdout)
    return waves.read_raw(raw), ''


def interpolate(axis, y, at):
    out, k = [], 0
    for t in at:
        while k < len(axis) - 2 and axis[k + 1] < t:
            k += 1
        span = axis[k + 1] - axis[k]
        out.append(y[k] + (y[k + 1] - y[k]) * ((t - axis[k]) / span if span else 0))
    return out


def compare(ours, theirs, kind):
    theirs_names = {n.lower(): n for n in theirs.names}
    axis = ours.columns[0]
    both = [n for n in ours.names[kind != '.op':] if n in theirs_names and n[0] in FLOOR]
    trouble = [] if len(both) > 1 else ['no vectors in common: %s and %s' % (ours.names, theirs.names)]
    if kind == '.dc' and len(ours) != len(theirs):
        return ['%d points against %d' % (len(ours), len(theirs))]
    for n in both:
        a, b = list(ours[n]), list(theirs[theirs_names[n]])
        if kind == '.tran':
            b = interpolate(list(theirs.columns[0]), b, axis)
        if kind == '.tran':
            a, b = a[1:], b[1:]  # at 0 nothing but the given values is defined under uic
        scale = max(max(abs(x) for x in b), FLOOR[n[0]])
        worst = max(range(len(a)), key=lambda k: abs(a[k] - b[k]))
        error = abs(a[worst] - b[worst]) / scale
        if kind == '.tran':  # corners, and currents that jump there, lie a step apart: the mean is what counts
            gap = [t1 - t0 for t0, t1 in zip(axis, axis[1:])]
            mean = sum(abs(x - y) * h for x, y, h in zip(a, b, gap)) / sum(gap) / scale
            error = min(error, mean * (10 if n[0] == 'v' else 0.3))
        if not error <= TOLERANCE:
            trouble.append('%s: %.9g, ngspice %.9g at %.6g (%.2g)' % (n, a[worst], b[worst], axis[worst], error))
    return trouble


def main():
    vsim, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    ngspice = shutil.which('ngspice')
    if not ngspice:
        print('ngspice is not installed')
        return 77
    failed = n = 0
    for name, (body, analyses) in DECKS.items():
        if chosen and name not in chosen:
            continue
        for card in analyses:
            with tempfile.TemporaryDirectory() as tmp:
                with open(os.path.join(tmp, 'deck.sp'), 'w') as f:
                    f.write('%s\n%s%s%s\n.end\n' % (name, body.lstrip(), OPTIONS, card))
                ours, trouble = run([vsim, '-q'], tmp, 'ours')
                theirs, more = run([ngspice], tmp, 'theirs')
            found = [trouble + more] if ours is None or theirs is None else compare(ours, theirs, card.split()[0])
            n += 1
            failed += bool(found)
            for line in found:
                print('%s, %s: %s' % (name, card, line))
    print('%d of %d comparisons agree' % (n - failed, n))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
