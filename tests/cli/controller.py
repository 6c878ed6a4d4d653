#!/usr/bin/env python3
"""A transient of some 300 gates: an interrupt controller of 27 channels with the function of ISCAS-85's c432.

    controller.py VSIM

Three buses of nine requests, A before B before C, and nine enables. Outputs: which bus is served, and the number of
the highest channel that asks on it. The oracle is that sentence in Python; the circuit is made of inverters, NANDs
and NORs of two inputs. Every pattern lasts several times longer than the longest path takes."""
import os
import random
import subprocess
import sys
import unittest

import folder
import levels
import periodic

VSIM = ''
VDD, WAIT, EDGE, CHANNELS = levels.VDD, 20e-9, 0.2e-9, 9


def served(a, b, c, e):
    """(pa, pb, pc, number of the channel + 1; 0: none)"""
    asks = [[x & y for x, y in zip(bus, e)] for bus in (a, b, c)]
    for k, bus in enumerate(asks):
        if any(bus):
            return [int(j == k) for j in range(3)], max(i + 1 for i in range(CHANNELS) if bus[i])
    return [0, 0, 0], 0


class Gates:
    """Lines of a netlist; every function returns the node of its output."""

    def __init__(self):
        self.lines = []

    def gate(self, kind, *pins):
        out = 'g%d' % len(self.lines)
        self.lines.append('x%d %s %s vdd %s\nc%d %s 0 2f' % (len(self.lines), ' '.join(pins), out, kind,
                                                            len(self.lines), out))
        return out

    def inv(self, a):
        return self.gate('inv', a)

    def and2(self, a, b):
        return self.inv(self.gate('nand', a, b))

    def or2(self, a, b):
        return self.inv(self.gate('nor', a, b))

    def any(self, nodes):
        while len(nodes) > 1:
            pairs = [self.or2(*nodes[i:i + 2]) for i in range(0, len(nodes) - 1, 2)]
            nodes = pairs + nodes[len(pairs) * 2:]
        return nodes[0]


def controller():
    """Lines, nodes of pa pb pc, nodes of the number's bits."""
    g = Gates()
    asks = [[g.and2('%s%d' % (bus, i), 'e%d' % i) for i in range(CHANNELS)] for bus in 'abc']
    some = [g.any(bus) for bus in asks]
    not_a = g.inv(some[0])
    pb = g.and2(not_a, some[1])
    neither = g.and2(not_a, g.inv(some[1]))
    pc = g.and2(neither, some[2])
    of_bus = [g.or2(g.or2(a, g.and2(not_a, b)), g.and2(neither, c)) for a, b, c in zip(*asks)]
    first, higher = [], None
    for ask in reversed(of_bus):  # from the highest channel down
        first.insert(0, g.and2(ask, g.inv(higher)) if higher else ask)
        higher = g.or2(higher, ask) if higher else ask
    bits = [g.any([first[i] for i in range(CHANNELS) if (i + 1) >> k & 1]) for k in range(4)]
    return g.lines, [some[0], pb, pc], bits


def source(name, values):
    points = ['0 %g' % (VDD * values[0])]
    for k, (old, new) in enumerate(zip(values, values[1:]), 1):
        if old != new:
            points += ['%g %g' % (k * WAIT, VDD * old), '%g %g' % (k * WAIT + EDGE, VDD * new)]
    return 'v%s %s 0 pwl(%s)' % (name, name, ' '.join(points))


class Controller(folder.Folder):
    def test_every_pattern_gives_what_the_function_says(self):
        draw = random.Random(432)
        lines, buses, bits = controller()
        patterns = [[[int(draw.random() < part) for _ in range(CHANNELS)] for part in parts]
                    for parts in ((0, 0, 0, 1), (0.3, 0.3, 0.3, 0.7), (0, 0.3, 0.5, 0.8), (0, 0, 0.3, 0.8),
                                  (1, 1, 1, 0), (0.1, 0.9, 0.9, 0.5))]
        want = [served(*p) for p in patterns]
        self.assertEqual({tuple(w[0]) for w in want}, {(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)})
        inputs = [source('%s%d' % (bus, i), [p[k][i] for p in patterns])
                  for k, bus in enumerate('abce') for i in range(CHANNELS)]
        saved = ' '.join('v(%s)' % n for n in buses + bits)
        self.write('deck.sp', '\n'.join(['controller', levels.LEVEL1, 'vdd vdd 0 %g' % VDD, *inputs, *lines,
                                         '.save ' + saved, '.tran 0.1n %g' % (WAIT * len(patterns)), '.end', '']))
        done = subprocess.run([VSIM, '-q', '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        v = periodic.plots(self.path('out.raw'))[0][1]
        for k, (bus, number) in enumerate(want):
            at = max(i for i, t in enumerate(v['time']) if t <= (k + 1) * WAIT)
            for node, level in zip(buses + bits, bus + [number >> j & 1 for j in range(4)]):
                self.assertLess(abs(v['v(%s)' % node][at] - VDD * level), 1e-3 * VDD, (k, node))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
