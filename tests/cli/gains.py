#!/usr/bin/env python3
"""Controlled sources by tables: gains over frequency (FREQ) against their definition, HSPICE's gates and transfer
functions; voltages that depend on their own current.

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

    # name: what stands on the card, and the transfer function
    TRANSFER = {
        'lists': ('laplace a 0 1 2m / 1,3m,1u', lambda s: (1 + 2e-3 * s) / (1 + 3e-3 * s + 1e-6 * s * s)),
        'half': ('laplace a 0 1 / {k}', lambda s: 0.5),
        'pole': ('pole a 0 2 / 4 1k,0', lambda s: 0.5 / (s + 1e3)),
        'zero': ('pole a 0 3 0,0 500,2k / 1.0 1k,0 2k,1k 5k,0',
                 lambda s: 3 * s * ((s + 500) ** 2 + (4e3 * math.pi) ** 2)
                 / ((s + 1e3) * ((s + 2e3) ** 2 + (2e3 * math.pi) ** 2) * (s + 5e3))),
        'foster': ('foster a 0 0.25 1u (0.5,0)/(-1k,0) (10, -6)/(-1k,18k)',
                   lambda s: 0.25 + 1e-6 * s + 1 / (s + 1e3) + (10 - 6j) / (s + 1e3 - 18e3j)
                   + (10 + 6j) / (s + 1e3 + 18e3j)),
        'delay': ('delay a 0 td={t} scale={-k}', lambda s: -2 * cmath.exp(-10e-6 * s)),
    }

    def test_transfer_functions_of_hspice(self):
        text = '.param k=2 t=10u\n' + ''.join(f'e{n} {n} 0 {t}\ng{n} 0 g{n} vccs {t}\nr{n} g{n} 0 1\n'
                                             for n, (t, _) in self.TRANSFER.items())
        op, v = self.ac(text)
        for name, (_, h) in self.TRANSFER.items():
            for node in (name, 'g' + name):
                self.close(op[f'v({node})'][0], 2 * h(0))
                for f, got in zip(POINTS, v[f'v({node})']):
                    # sums of terms of s, s^2 and s^3, which partly cancel
                    self.assertLessEqual(abs(got - h(2j * math.pi * f)), 100 * ROUNDING * (1 + abs(got)), name)

    def test_transfer_functions_of_hspice_over_time(self):
        """Each equals the laplace() that it stands for: the same states, the same steps."""
        pairs = {'pole a 0 2k / 1 1k,0': '{v(a)} {2k/(s+1k)}',
                 'pole a 0 1k 0,0 / 1 500,159.15494309189535': '{v(a)} {1k*s/((s+500)*(s+500)+1meg)}',
                 'laplace a 0 0 1m / 1 2m 1u': '{v(a)} {1m*s/(1+2m*s+1u*s*s)}',
                 'foster a 0 0 0 (1k,0)/(-2k,0)': '{v(a)} {2k/(s+2k)}',
                 'delay a 0 td=20u': '{v(a)} {exp(-s*20u)}'}
        text = 'v1 a 0 pulse(0 1 0.1m 10u 10u 0.5m 2m)\n'
        for i, (form, plain) in enumerate(pairs.items()):
            text += f'e{i} x{i} 0 {form}\nep{i} y{i} 0 laplace {plain}\n'
        v = self.run_deck(text + '.tran 1u 1.5m\n')[0][1]
        for i, form in enumerate(pairs):
            self.assertGreater(max(map(abs, v[f'v(x{i})'])), 0.1, form)
            for x, y in zip(v[f'v(x{i})'], v[f'v(y{i})']):
                # 2 pi 159.15... is 1000 but for rounding
                self.assertLessEqual(abs(x - y), 1e-9, form)

    def test_an_ideal_amplifier_makes_its_inputs_equal(self):
        """Inverting by 2; a follower; an integrator of 1/(s 1k 1n)."""
        op, v = self.ac('e1 b 0 opamp 0 m\nr1 a m 1k\nr2 m b 2k\ne2 c 0 opamp a c\n'
                        'e3 d 0 opamp 0 n\nr3 a n 1k\nc3 n d 1n\nr4 n d 1meg\n')
        self.close(op['v(b)'][0], -4)
        self.close(op['v(m)'][0], 0)
        self.close(op['v(c)'][0], 2)
        for f, b, c, d in zip(POINTS, v['v(b)'], v['v(c)'], v['v(d)']):
            self.close(b, -2)
            self.close(c, 1)
            want = -1 / (1e-3 + 2j * math.pi * f * 1e-6)
            self.assertLessEqual(abs(d - want), 1e-9 * abs(want))  # gmin at the nodes: 1e-12 of 1e-6 S at most

    def test_a_voltage_may_depend_on_its_own_current(self):
        """v = 3 + 10 i with i = -v/20; v = 2 - 5 v^2 at 1 ohm."""
        v = self.run_deck('v1 a 0 1\ne1 o 0 value={3*v(a)+10*i(e1)}\nr1 o 0 20\nb2 p 0 v=2-5*i(b2)*i(b2)\nr2 p 0 1\n'
                          '.options reltol=1e-9\n.op\n')[0][1]
        self.assertAlmostEqual(v['v(o)'][0], 2, delta=1e-8)
        self.assertAlmostEqual(v['v(p)'][0], (math.sqrt(41) - 1) / 10, delta=1e-8)

    def test_nodes_may_have_the_names_of_forms(self):
        op = self.run_deck('v1 pole 0 2\nv2 delay 0 3\ne1 b 0 pole delay 5\ne2 c 0 delay 0 2\ng1 0 foster pole 0 1\n'
                           'rf foster 0 1\n.op\n')[0][1]
        self.close(op['v(b)'][0], -5)
        self.close(op['v(c)'][0], 6)
        self.close(op['v(foster)'][0], 2)

    def test_what_is_no_transfer_function_is_said(self):
        for text, why in (('laplace a 0 1 2', 'LAPLACE needs coefficients'), ('laplace a 0 / 1', 'LAPLACE needs coefficients'),
                          ('laplace a 0 1 / 0', 'division of 1 by zero'), ('pole a 0 1 / 1 2', 'POLE needs a factor and pairs'),
                          ('pole a 0 1 2 / 1', 'POLE needs a factor and pairs'),
                          ('pole a 0 1 / 1 {k},0', 'a root is written as two numbers'),
                          ('foster a 0 1 / 2', 'FOSTER needs k0, k1'), ('foster a 0 1 0 (1,2)/(3)', 'FOSTER needs k0, k1'),
                          ('foster a 0 1 0 (1,{k})/(3,4)', 'a root is written as two numbers'),
                          ('delay a 0 td=-1n', 'a delay below 0'),
                          ('laplace a 0 ' + '1 ' * 70 + '/ 1', 'more than 64 numbers'),
                          ('laplace a 0 1 / ' + '1 ' * 40, 'more than 30 powers of s'),
                          ('transformer a 0 2', "the form 'transformer' of a controlled source is not supported")):
            said = self.run_deck(f'.param k=1\nv1 a 0 1\ne1 b 0 {text}\n.op\n', True)
            self.assertIn(why, said, text)
            self.assertIn('deck.sp:4:', said)

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

    def test_the_ends_of_tables_and_of_pwl(self):
        """pwl() goes on beyond its points, as in ngspice; tables do not. Points may come from the right."""
        text = 'v1 a 0 {at}\n'
        for name, form in (('p', 'pwl(v(a), {up})'), ('q', 'pwl(v(a), {down})'), ('t', 'table(v(a), {up})'), ('s', 'table(v(a), {down})')):
            text += 'b%s %s 0 v=%s\nr%s %s 0 1k\n' % (name, name, form.format(up='-10,-8, 2,4, 12,24', down='12,24, 2,4, -10,-8'), name, name)
        for at, line, table in ((-100, -98, -8), (-10, -8, -8), (0.5, 2.5, 2.5), (2, 4, 4), (7, 14, 14), (100, 200, 24)):
            op = self.run_deck(text.replace('{at}', str(at)) + '.op\n')[0][1]
            for name, value in (('p', line), ('q', line), ('t', table), ('s', table)):
                self.assertAlmostEqual(op['v(%s)' % name][0], value, delta=1e-9 * abs(value), msg='%s at %g' % (name, at))

    def test_resistors_by_tables_are_switches_of_both_directions(self):
        """HSPICE's: of an n-channel switch the gate's voltage above the lower node counts, of a p-channel
        one that below the higher node."""
        text = ('vg g 0 {vg}\nvd d 0 {vd}\nvs s 0 1\ngn d s vcr npwl(1) g s 0,11k (10,1k)\ngm s d vcr npwl(1) g s 0,11k 10,1k\n'
                'gp d s vcr ppwl(1) g d (-10,1k) (0,11k)\ngr d s vcr pwl(1) g s (-10,5k) (10,9k)\n'
                'vn d n 0\ngo n s vcr npwl(1) g n 0,11k 10,1k\n')
        for vg, vd in ((5, 3), (5, -2), (-3, 3), (-3, -2)):
            at = self.run_deck(text.format(vg=vg, vd=vd) + '.save @gn[i] @gm[i] @gp[i] @gr[i] i(vn)\n.op\n')[0][1]
            low, high = min(vd, 1), max(vd, 1)
            ohm = {'n': 11e3 - 1e3 * min(max(vg - low, 0), 10), 'p': 1e3 + 1e3 * min(max(vg - high + 10, 0), 10)}
            self.close(at['@gn[i]'][0] * ohm['n'], vd - 1)
            self.close(at['@gm[i]'][0] * ohm['n'], 1 - vd)
            self.close(at['i(vn)'][0] * ohm['n'], vd - 1)
            self.close(at['@gp[i]'][0] * ohm['p'], vd - 1)
            self.close(at['@gr[i]'][0] * (7e3 + 200 * (vg - 1)), vd - 1)

    def test_what_is_no_gate_is_said(self):
        for text, why in (('vcr npwl(1) a c 0,1 1,2', "one of the element's own nodes"),
                          ('vcr npwl(2) a 0 0,1 1,2', 'NPWL and PPWL have one input'),
                          ('ppwl(1) a 0 0,1 1,2', 'NPWL and PPWL make a resistor of G')):
            self.assertIn(why, self.run_deck(f'v1 a 0 1\ng1 b 0 {text}\n.op\n', True))
        for text, why in (('and(0) a 0 (1,1) (2,2)', 'a gate has 1 to 99 inputs'),
                          ('and(1.5) a 0 (1,1) (2,2)', 'a gate has 1 to 99 inputs'),
                          ('nor(2) a 0 b', 'a gate has a number of inputs, two nodes for each, and a table'),
                          ('or(1) a 0 (1,1) (2)', 'a gate has a number of inputs, two nodes for each')):
            self.assertIn(why, self.run_deck(f'v1 a 0 1\ne1 b 0 {text}\n.op\n', True))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
