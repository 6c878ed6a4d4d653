#!/usr/bin/env python3
"""Controlled sources by tables: gains over frequency (FREQ) against their definition, HSPICE's gates.

    gains.py VSIM

Without feedback a result is a product of a few numbers: the bound is rounding of some tens of operations."""
import cmath
import math
import os
import subprocess
import sys
import unittest

import folder
import periodic

VSIM = ''
ROUNDING = 1e-13
TABLE = [(1e3, 1, 0), (2e3, 0.5, -0.75), (4e3, -0.125, -0.25)]
DELAY = 10e-6
POINTS = [100, 1e3, 1.5e3, 2e3, 3.2e3, 4e3, 9e3]


def gain(f, delay=0.0):
    """Linear between the points in both parts, constant beyond them."""
    f_in = min(max(f, TABLE[0][0]), TABLE[-1][0])
    for (f0, a0, b0), (f1, a1, b1) in zip(TABLE, TABLE[1:]):
        if f_in <= f1:
            part = (f_in - f0) / (f1 - f0)
            h = complex(a0 + part * (a1 - a0), b0 + part * (b1 - b0))
            return h * cmath.exp(-2j * math.pi * f * delay)


def polar(scale_of_size, scale_of_angle):
    return ' '.join(f'({f:.17g},{scale_of_size(abs(complex(a, b))):.17g},'
                    f'{scale_of_angle(cmath.phase(complex(a, b))):.17g})' for f, a, b in TABLE)


def same(x):
    return x


def decibel(x):
    return 20 * math.log10(x)


PARTS = ' '.join(f'({f:.17g}, {a:.17g}, {b:.17g})' for f, a, b in TABLE)


class Gains(folder.Folder):
    def run_deck(self, text, fails=False):
        self.write('deck.sp', 'gains\n' + text + '.end\n')
        done = subprocess.run([VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, timeout=300,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stdout + done.stderr if fails else periodic.plots(self.path('out.raw'))

    def ac(self, elements):
        """Vectors at POINTS, and those of the operating point."""
        cards = ''.join(f'ac lin 1 {f:.17g} {f:.17g}\nwrite f{i}.raw\n' for i, f in enumerate(POINTS))
        text = 'v1 a 0 dc 2 ac 1\n' + elements
        op = self.run_deck(text + '.op\n')[0][1]
        self.run_deck(text + '.control\n' + cards + '.endc\n')
        plots = [periodic.plots(self.path(f'f{i}.raw'))[0][1] for i in range(len(POINTS))]
        return op, {k: [p[k][0] for p in plots] for k in plots[0]}

    def close(self, got, want):
        self.assertLessEqual(abs(got - want), ROUNDING * (1 + abs(want)), f'{got} for {want}')

    def test_every_form_of_a_table_is_its_gain(self):
        forms = {'parts': 'r_i ' + PARTS, 'decibel': polar(decibel, math.degrees),
                 'size': 'mag rad ' + polar(same, same), 'words': 'db deg ' + polar(decibel, math.degrees)}
        elements = ''.join(f'e{n} {n} 0 freq {{v(a)}} = {t}\n' for n, t in forms.items())
        op, v = self.ac(elements)
        for name in forms:
            self.close(op[f'v({name})'][0], 2 * TABLE[0][1])
            for f, got in zip(POINTS, v[f'v({name})']):
                self.close(got, gain(f))

    def test_a_current_a_delay_and_one_point(self):
        _, v = self.ac(f'g1 0 b freq {{2*v(a)}} r_i {PARTS} delay={DELAY}\nr1 b 0 1\n'
                       'e1 c 0 freq {v(a)} = (1k,0,90)\n')
        for f, b, c in zip(POINTS, v['v(b)'], v['v(c)']):
            self.close(b, 2 * gain(f, DELAY))
            self.close(c, 1j)

    def test_feedback_closes_over_the_gain(self):
        """v(b) = H (v(a) - v(b)); |1 + H| is above 0.9 in this table."""
        _, v = self.ac(f'e1 b 0 freq {{v(a)-v(b)}} r_i {PARTS}\n')
        for f, b in zip(POINTS, v['v(b)']):
            self.close(b, gain(f) / (1 + gain(f)))

    def test_parameters_are_values_of_a_table(self):
        _, v = self.ac('.param k=-0.75 g={1/2}\n'
                       'e1 b 0 freq {v(a)} = r_i (1k,1,0) ({2k},{g},{k}) (4k,{-g/4},-0.25)\n')
        for f, b in zip(POINTS, v['v(b)']):
            self.close(b, gain(f))

    def test_time_is_refused(self):
        for card in ('.tran 1u 10u', '.hb 1k'):
            said = self.run_deck(f'v1 a 0 sin(0 1 1k)\ne1 b 0 freq {{v(a)}} r_i {PARTS}\n{card}\n', True)
            self.assertIn("deck.sp:3:1: error: instance 'e1' ended the analysis", said)
            self.assertIn('a table over frequency (FREQ) says nothing about time', said)

    def test_what_is_no_table_is_said(self):
        for text, why in (('(2k,0,0) (1k,0,0)', 'a frequency that is not above the one before'),
                          ('(-1,0,0)', 'a frequency below 0'), ('(1,0,0) delay=-1', 'a delay below 0'),
                          ('(1,0)', 'FREQ needs groups of three numbers'),
                          ('(1,0,{v(a)})', 'something else than a finite number')):
            said = self.run_deck(f'v1 a 0 1\ne1 b 0 freq {{v(a)}} {text}\n.op\n', True)
            self.assertIn(why, said)
            self.assertIn('deck.sp:3:', said)

    def test_gates_take_the_smallest_or_the_largest_input(self):
        gates = {'and': ('(1,0) (3,5)', min), 'nand': ('(1,5) (3,0)', min), 'or': ('(1,0) (3,5)', max),
                 'nor': ('(1,5) (3,0)', max)}
        text = '.param top=5\nv1 a 0 {x}\nv2 b 0 {y}\nv3 c 0 2.5\n.param x=0 y=0\n'
        for word, (table, _) in gates.items():
            table = table.replace('5', '{top}')
            text += f'e{word} {word} 0 {word}(3) a 0 b 0 c 0 {table}\nr{word} {word} 0 1k\n'
        for x, y in ((0, 0), (4, 2), (1.5, 5), (2.25, 2.75)):
            op = self.run_deck(text.replace('x=0 y=0', f'x={x} y={y}') + '.op\n')[0][1]
            for word, (_, choose) in gates.items():
                part = min(max((choose(x, y, 2.5) - 1) / 2, 0), 1)
                self.close(op[f'v({word})'][0], 5 * (1 - part if word[0] == 'n' else part))

    def test_gates_between_nodes_and_one_input(self):
        op = self.run_deck('v1 a 0 4\nv2 b 0 1\ne1 c 0 vcvs pwl(1) a b 0,0 4,8\ng1 0 d or(2) a b b a (0,0) (4,8)\n'
                           'r1 d 0 1\n.op\n')[0][1]
        self.close(op['v(c)'][0], 6)
        self.close(op['v(d)'][0], 6)

    def test_what_is_no_gate_is_said(self):
        for text, why in (('and(0) a 0 (1,1) (2,2)', 'a gate has 1 to 99 inputs'),
                          ('and(1.5) a 0 (1,1) (2,2)', 'a gate has 1 to 99 inputs'),
                          ('nor(2) a 0 b', 'a gate has a number of inputs, two nodes for each, and a table'),
                          ('or(1) a 0 (1,1) (2)', 'a gate has a number of inputs, two nodes for each')):
            self.assertIn(why, self.run_deck(f'v1 a 0 1\ne1 b 0 {text}\n.op\n', True))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
