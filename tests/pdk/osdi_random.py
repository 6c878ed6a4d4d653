#!/usr/bin/env python3
"""Random circuits of the IHP kit's transistors, resistors and varicaps, by .va and by OSDI.

    osdi_random.py VSIM [--count N] [--first SEED]     exit code 77 without the kit or OpenVAF

Each circuit has a few nodes, sources of up to 10 kV, currents of 1 pA to 0.1 A, and devices whose
terminals are drawn; some of its nodes may hang on leakage. Its operating point is found by the
kit's Verilog-A as vsim compiles it, and by the same compiled by OpenVAF. Where both find one, all
voltages and currents agree, but for those that gmin or leakage below abstol decide: with 1 GOhm
from each node to ground there are none. Where one refuses, so does the other; as each takes its own
way, one circuit in fifty may be found by one of them only."""
import math
import os
import random
import sys
import tempfile

import benches
import kit

LIBRARIES = (('cornerMOSlv', 'mos_tt'), ('cornerMOShv', 'mos_tt'), ('cornerRES', 'res_typ'))
CAPACITIVE = 'sg13_hv_svaricap'


def circuit(seed):
    """The lines of a circuit without its models."""
    r = random.Random(seed)
    nodes = ['0'] + ['n%d' % i for i in range(1, r.randint(4, 9))]
    lines = []

    def pick(n):
        return ' '.join(r.choice(nodes) for _ in range(n))

    for k in range(r.randint(1, 2)):
        v = r.choice([1.2, 3.3, -2, 10, 100, 1e4]) if r.random() < 0.3 else r.uniform(-1.5, 3.3)
        lines.append('v%d n%d 0 %g' % (k, k + 1, v))
    if r.random() < 0.5:
        lines.append('i1 %s %g' % (pick(2), r.choice([1, -1]) * 10 ** r.uniform(-12, -1)))
    for k in range(r.randint(1, 6)):
        kind = r.choice(['lv_nmos', 'lv_pmos', 'hv_nmos', 'hv_pmos', 'rsil', 'rppd', 'rhigh', 'c'])
        if kind == 'c':
            lines.append('xc%d %s %s w=3.74u l=0.3u nx=2' % (k, pick(4), CAPACITIVE))
        elif kind[0] == 'r':
            size = r.uniform(0.5, 5), r.uniform(0.96, 20)
            lines.append('xr%d %s %s w=%gu l=%gu' % (k, pick(3), kind, *size))
        else:
            size = r.uniform(0.3, 10), r.uniform(0.45, 5)
            lines.append('xm%d %s sg13_%s w=%gu l=%gu' % (k, pick(4), kind, *size))
    for k in range(r.randint(0, 4)):
        lines.append('r%d %s %g' % (k, pick(2), 10 ** r.uniform(0, 9)))
    return lines + ['rg%s %s 0 1g' % (n, n) for n in nodes[1:]]


class Way:
    """How the kit's models come: .va or .osdi."""
    def __init__(self, vsim, models, library, suffix, folder):
        self.bench, self.head = kit.Bench(vsim, folder), ''
        for source in benches.SOURCES:
            self.head += '.hdl "%s%s"\n' % (os.path.join(library, source), suffix)
        for name, section in LIBRARIES:
            self.head += '.lib "%s/%s.lib" %s\n' % (models, name, section)

    def solve(self, seed, lines):
        """Vectors at the operating point, None: there is none."""
        name = 'c%d' % seed
        text = '* %s\n%s%s\n.options reltol=1e-6\n.op\n.end\n' % (name, self.head, '\n'.join(lines))
        option = ('--allow-native', '-q')
        p = self.bench.run_vsim(name, text, option, None)
        if p.returncode == 3:
            return None
        if p.returncode:
            raise kit.Failed('seed %d: exit code %d: %s' % (seed, p.returncode, p.stderr[-400:]))
        return {k: v[0] for k, v in self.bench.read(name)[0][1].items()}


def difference(a, b):
    """The worst of |a - b| over what tolerances allow, and its vector."""
    worst = (0.0, '')
    for name in a:
        if name not in b or not (math.isfinite(a[name]) and math.isfinite(b[name])):
            return math.inf, name
        allowed = 1e-4 * max(abs(a[name]), abs(b[name])) + (1e-6 if name[0] == 'v' else 1e-11)
        worst = max(worst, (abs(a[name] - b[name]) / allowed, name))
    return worst


def option(name, absent):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else absent


def main():
    models = kit.package('ihp', 'models', 'ngspice', 'models')
    va = kit.package('ihp', 'models', 'ngspice', 'va')
    count, first = option('--count', 100), option('--first', 0)
    with tempfile.TemporaryDirectory(prefix='vsim-osdi') as folder:
        library = benches.compile_osdi(va, os.path.join(folder, 'osdi')) if va else None
        if not library:
            print('the IHP kit or OpenVAF is not in', kit.PEERS)
            return 77
        ways = []
        for suffix, where in (('.va', va), ('.osdi', library)):
            own = os.path.join(folder, suffix[1:] + '_runs')
            os.makedirs(own)
            ways.append(Way(sys.argv[1], models, where, suffix, own))
        agree = refuse = failed = apart = 0
        for seed in range(first, first + count):
            lines = circuit(seed)
            got = [w.solve(seed, lines) for w in ways]
            if got[0] is None or got[1] is None:
                apart += got[0] is not got[1]
                refuse += got[0] is got[1]
                if got[0] is not got[1]:
                    print('seed %d: only by %s' % (seed, '.va' if got[1] is None else '.osdi'))
                continue
            worst, name = difference(*got)
            agree += worst <= 1
            failed += worst > 1
            if worst > 1:
                print('seed %d: %s: %s by .va, %s by .osdi'
                      % (seed, name, got[0].get(name), got[1].get(name)), flush=True)
    print('%d agree, %d refused by both, %d found by one, %d differ' % (agree, refuse, apart, failed))
    return 1 if failed or apart > count / 50 else 0


if __name__ == '__main__':
    sys.exit(main())
