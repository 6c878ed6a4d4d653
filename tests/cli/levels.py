#!/usr/bin/env python3
"""Operating points of large logic, found from the levels of its gates.   levels.py VSIM [test...]

The oracle is logic itself: what each gate's output must be by its inputs' levels, and, for chains,
the voltages of a short chain that plain Newton solves."""
import json
import os
import random
import subprocess
import sys
import unittest

import folder

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, '..', '..', 'netlists', 'psp103_models.inc')
VSIM = ''
VDD = 1.8

LEVEL1 = '''
.model nm nmos level=1 vto=0.5 kp=100u lambda=0.05 gamma=0.4 phi=0.7
.model pm pmos level=1 vto=-0.5 kp=40u lambda=0.05 gamma=0.4 phi=0.7
.subckt inv a y vdd
mp y a vdd vdd pm w=2u l=0.2u
mn y a 0 0 nm w=1u l=0.2u
.ends
.subckt nand a b y vdd
mp1 y a vdd vdd pm w=2u l=0.2u
mp2 y b vdd vdd pm w=2u l=0.2u
mn1 y a m 0 nm w=2u l=0.2u
mn2 m b 0 0 nm w=2u l=0.2u
.ends
.subckt nor a b y vdd
mp1 m a vdd vdd pm w=4u l=0.2u
mp2 y b m vdd pm w=4u l=0.2u
mn1 y a 0 0 nm w=1u l=0.2u
mn2 y b 0 0 nm w=1u l=0.2u
.ends
* a multiplexer of pass gates: y = s ? b : a
.subckt mux a b s y vdd
xi s sn vdd inv
mn1 y sn a 0 nm w=2u l=0.2u
mp1 y s a vdd pm w=4u l=0.2u
mn2 y s b 0 nm w=2u l=0.2u
mp2 y sn b vdd pm w=4u l=0.2u
.ends
* two inverters that hold what a strong one writes, and their second output
.subckt latch a y z vdd
x1 a y vdd inv
x2 y z vdd inv
mp y z vdd vdd pm w=0.4u l=1u
mn y z 0 0 nm w=0.2u l=1u
.ends
'''
GATE = {'inv': (1, lambda a: 1 - a), 'nand': (2, lambda a, b: 1 - (a & b)),
        'nor': (2, lambda a, b: 1 - (a | b)), 'mux': (3, lambda a, b, s: b if s else a)}


def random_logic(seed, inputs, gates):
    """A deck of random gates and the level of each node."""
    draw = random.Random(seed)
    level = {'i%d' % k: draw.randint(0, 1) for k in range(inputs)}
    lines = ['vi%d i%d 0 %g' % (k, k, VDD * level['i%d' % k]) for k in range(inputs)]
    nodes = list(level)
    for k in range(gates):
        kind = draw.choice(list(GATE) + ['latch'])
        if kind == 'latch':
            a = draw.choice(nodes)
            lines.append('x%d %s n%d z%d vdd latch' % (k, a, k, k))
            level['n%d' % k] = 1 - level[a]
            level['z%d' % k] = level[a]
            nodes.append('z%d' % k)
        else:
            n, of = GATE[kind]
            pins = [draw.choice(nodes[-200:]) for _ in range(n)]
            # what a pass gate drives is driven again: many in a row are no logic but a divider
            out = 'm%d' % k if kind == 'mux' else 'n%d' % k
            lines.append('x%d %s %s vdd %s' % (k, ' '.join(pins), out, kind))
            level['n%d' % k] = of(*(level[p] for p in pins))
            if kind == 'mux':
                lines.append('xb%d m%d n%d vdd inv' % (k, k, k))
                level['n%d' % k] = 1 - level['n%d' % k]
        nodes.append('n%d' % k)
    return lines, level


class Levels(folder.Folder):
    def op(self, body, save, code=0, tail=''):
        """Node voltages and figures of an operating point."""
        self.write('deck.sp', '* logic\n%s\n.control\nop\n%s\n.endc\n.end\n' % (
            body, '\n'.join('print ' + s for s in save) + tail))
        done = subprocess.run([VSIM, '--stats', 'stats.json', 'deck.sp'], cwd=self.tmp.name, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=280)
        self.assertEqual(done.returncode, code, done.stdout[-2000:])
        with open(self.path('stats.json')) as f:
            stats = json.load(f)
        values = {}
        for line in done.stdout.splitlines():
            name, eq, value = line.partition(' = ')
            if eq:
                values[name.strip()] = float(value.split()[0])
        return values, stats

    def chain(self, n, head, gate):
        gates = [gate % dict(i=i, o=i + 1) for i in range(n)]
        return '\n'.join([head, 'vdd vdd 0 %g' % VDD, 'vin n0 0 0'] + gates)

    def check_chain(self, n, head, gate):
        ends = ['v(n%d)' % (n - 1), 'v(n%d)' % n]
        short, _ = self.op(self.chain(6, head, gate), ['v(n5)', 'v(n6)'])
        found, stats = self.op(self.chain(n, head, gate), ends)
        self.assertEqual(stats['op_method'], 'levels')
        self.assertLessEqual(stats['newton_iterations'], 40)
        for name, like in zip(ends, ('v(n5)', 'v(n6)')):
            self.assertLess(abs(found[name] - short[like]), 1e-3 * VDD + 1e-6)

    def test_a_chain_of_inverters_needs_no_homotopy(self):
        self.check_chain(3000, LEVEL1, 'x%(i)d n%(i)d n%(o)d vdd inv')

    def test_models_with_currents_into_gates(self):
        head = '''.include "%s"
.subckt inv a y vdd
xp y a vdd vdd pmos w=2u l=0.2u
xn y a 0 0 nmos w=1u l=0.2u
.ends''' % MODELS
        self.check_chain(600, head, 'x%(i)d n%(i)d n%(o)d vdd inv')

    def test_wires_and_a_supply_with_resistance(self):
        gate = 'x%(i)d w%(i)d n%(o)d v%(i)d inv\nrw%(i)d n%(i)d w%(i)d 100\nrs%(i)d vdd v%(i)d 1'
        self.check_chain(1000, LEVEL1, gate)

    def test_wires_of_a_layout_and_meshed_supplies(self):
        """Wires conduct better than the gates that drive them, meshes better than the gates that they feed."""
        # of 10,000: nodes between transistors that are off, which Newton would throw far away
        for size in ('1000', '10000'):
            _, stats = self.op(self.extracted('logic', size), [])
            self.assertEqual(stats['op_method'], 'levels')
            self.assertLessEqual(stats['newton_iterations'], 40)

    def extracted(self, family, size, more=''):
        """An extracted deck without its analysis, and more cards."""
        script = os.path.join(HERE, '..', '..', 'bench', 'extracted.py')
        deck = subprocess.run([sys.executable, script, family, size, '--folder', os.path.dirname(MODELS)], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        lines = [line for line in deck.splitlines()[1:] if not line.startswith(('.tran', '.save', '.end'))]
        return '\n'.join(lines) + more

    def test_newton_is_left_before_its_pivots_fill_the_factors(self):
        """200 chains of 50 inverters on meshes of supplies.

        With a latch that nothing drives the circuit has several states, and Newton goes on as ever: it begins again
        (2 iterations more), and fails in its third."""
        latch = ''.join('\nxl%d %s %s %s %s %s w=1u l=0.2u' % (k, d, g, s, s, m) for k, (d, g, s, m) in enumerate(
            (('q', 'qn', 'vdd', 'pmos'), ('q', 'qn', 'vss', 'nmos'), ('qn', 'q', 'vdd', 'pmos'), ('qn', 'q', 'vss', 'nmos'))))
        ends = ['v(c0s50_0)', 'v(c99s49_0)']
        found, stats = self.op(self.extracted('chain', '10000'), ends)
        other, looped = self.op(self.extracted('chain', '10000', latch), ends + ['v(q)', 'v(qn)'])
        for figures in (stats, looped):
            self.assertEqual(figures['op_method'], 'levels')
        self.assertEqual(looped['newton_iterations'], stats['newton_iterations'] + 3)
        for name, level in zip(ends, (0, 1.2)):
            self.assertLess(abs(found[name] - level), 1e-3)
            self.assertLess(abs(found[name] - other[name]), 1e-6)
        self.assertLess(abs(other['v(q)'] + other['v(qn)'] - 1.2), 2e-3)

    def test_arrays_of_cells_keep_their_states(self):
        """Newton finds them, and its pivots fill nothing."""
        _, stats = self.op(self.extracted('sram', '10000'), [])
        self.assertEqual(stats['op_method'], 'Newton')
        _, stats = self.op(self.extracted('ring', '10000'), [])
        self.assertEqual(stats['op_method'], 'Newton')

    def test_random_gates_have_the_levels_of_their_logic(self):
        for seed in range(6):
            lines, level = random_logic(seed, 12, 500)
            names = sorted(level)
            body = LEVEL1 + '\nvdd vdd 0 %g\n' % VDD + '\n'.join(lines)
            found, stats = self.op(body, ['v(%s)' % s for s in names])
            self.assertIn(stats['op_method'], ('levels', 'Newton'))
            self.assertLessEqual(stats['newton_iterations'], 120)
            wrong = [s for s in names if abs(found['v(%s)' % s] - VDD * level[s]) > 0.1 * VDD]
            self.assertEqual(wrong, [], 'seed %d' % seed)

    def test_nodes_of_nodeset_decide_a_latch(self):
        """A chain long enough for this way, and a latch that nothing drives."""
        body = self.chain(400, LEVEL1, 'x%(i)d n%(i)d n%(o)d vdd inv')
        latch = '\nxl1 q qn vdd inv\nxl2 qn q vdd inv\n'
        for q in (0, VDD):
            values = self.op(body + latch + '.nodeset v(q)=%g v(qn)=%g' % (q, VDD - q), ['v(q)', 'v(qn)'])[0]
            self.assertLess(abs(values['v(q)'] - q), 1e-3)
            self.assertLess(abs(values['v(qn)'] - (VDD - q)), 1e-3)

    def test_a_ring_that_has_no_levels_still_has_its_point(self):
        """An odd ring never settles by blocks; the fall back finds the threshold that all share."""
        gates = '\n'.join('xr%d r%d r%d vdd inv' % (i, i, (i + 1) % 301) for i in range(301))
        values, _ = self.op('%s\nvdd vdd 0 %g\n%s' % (LEVEL1, VDD, gates), ['v(r0)', 'v(r7)'])
        self.assertLess(abs(values['v(r0)'] - values['v(r7)']), 1e-4)
        self.assertTrue(0.3 * VDD < values['v(r0)'] < 0.7 * VDD)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
