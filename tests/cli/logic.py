#!/usr/bin/env python3
"""PSpice's digital U elements: exact delays, messages; live against ngspice.

    logic.py VSIM [unittest arguments]

Against ngspice 39 (class Live; left out if it is not installed): each deck runs in both, with the events
of its nodes printed by eprint. The sequence of values must be equal, and times within LATE: ngspice 39
has an inverter of 1 ps in front where vsim, as later versions, inverts an input. No input changes within
a delay, since version 39 has no inertial ones; where inputs do, vsim has none either
(digital_delay_type=2)."""
import os
import re
import shutil
import sys
import unittest

import digital

LATE = 20e-12


def stimulus(columns, step=60):
    """Values of d_source: `columns` of texts of 0 and 1, one character for each step of so many ns."""
    rows = zip(*columns)
    return ''.join('%dn %s\n' % (step * i, ' '.join(v + 's' for v in row)) for i, row in enumerate(rows))


def binary(n):
    """n bits that count, the first fastest; the last one, an enable, half a step behind the others."""
    bits = [''.join(2 * str(k >> i & 1) for k in range(1 << n)) for i in range(n)]
    return bits[:-1] + ['0' + bits[-1][:-1]]


class Case(digital.Case):
    def events_of(self, name):
        """The same of one node."""
        return [(t, v[0]) for t, v in self.events(name)]

    def run_vsim(self, deck, nodes, end='400n', first=''):
        """{node: [(time, value)]}"""
        text = deck + '.control\n%stran 1n %s\n' % (first, end)
        text += ''.join('eprint %s > v_%d.txt\n' % (n, i) for i, n in enumerate(nodes)) + '.endc\n.end\n'
        self.said = self.vsim(text)
        return {n: self.events_of('v_%d.txt' % i) for i, n in enumerate(nodes)}


GATES = """gates
.subckt gates a b c d e %s
+ optional: dpwr=$g_dpwr dgnd=$g_dgnd
+ params: mntymxdly=0 io_level=0
uinv inv dpwr dgnd a y1 dly io
ubuf buf dpwr dgnd b y2 dly io mntymxdly={mntymxdly} io_level={io_level}
uand and(3) dpwr dgnd a b c y3 dly io
unand nand(2) dpwr dgnd a ~0b y4 dly io
uor or(2) dpwr dgnd a c y5 mean io
unor nor(4) dpwr dgnd a b c d y6 mean io
uxor xor dpwr dgnd a b y7 most io
unxor nxor dpwr dgnd b c y8 least io
uinva inva(2) dpwr dgnd a d y9 y10 dly io
unanda nanda(2,2) dpwr dgnd a b c d y11 y12 dly io
uxora xora(2) dpwr dgnd a b c d y13 y14 d0_gate io
uao ao(2,2) dpwr dgnd a b c d y15 dly io
uaoi aoi(3,2) dpwr dgnd a b $d_hi c $d_hi $d_hi y16 dly io
uoa oa(2,2) dpwr dgnd a b c d y17 dly io
uoai oai(2,3) dpwr dgnd a b c c d e y18 dly io
ubuf3 buf3 dpwr dgnd a e y19 tri io
uinv3 inv3 dpwr dgnd a e y20 tri io
unand3 nand3(2) dpwr dgnd a b e y21 tri io
ubuf3a buf3a(2) dpwr dgnd a b e y22 y23 tri io
uxor3a xor3a(2) dpwr dgnd a b c d e y24 y25 tri io
unor3a nor3a(2,2) dpwr dgnd a b c d e y26 y27 tri io
uup pullup(2) dpwr dgnd y19 y22 io
udn pulldn(1) dpwr dgnd y20 io
.model dly ugate (tplhmn=2ns tplhty=7.4ns tplhmx=14.5ns tphlty=6ns tphlmx=14.5ns)
.model mean ugate (tplhmn=2ns tplhmx=5ns tphlmn=4ns tphlmx=8ns)
.model most ugate (tplhmn=-1 tplhty=-1 tplhmx=12ns tphlmx=11ns)
.model least ugate (tplhmn=3ns tphlmn=5ns)
.model tri utgate (tplhty=8ns tphlty=9ns tplzty=5ns tphzty=6ns tpzlty=11ns tpzhty=10ns)
.ends gates
x1 a b c d e %s gates
asrc [a b c d e] src
.model src d_source(input_file="in.stim")
""".replace('~0b', 'b')
FLIPS = """flip-flops and latches
.subckt flips clk d j k s r pre clr %s
uff dff(2) $g_dpwr $g_dgnd pre clr clk
+ d j q1 q2 q3 $d_nc ff io
ujk jkff(1) $g_dpwr $g_dgnd
+ $d_hi clr clk j k q4 q5 ff io
udl dltch(1) $g_dpwr $g_dgnd pre clr clk d q6 q7 la io
usr srff(1) $g_dpwr $g_dgnd $d_hi clr clk s r q8 q9 la io
.model ff ueff (tpclkqlhty=8ns tpclkqhlty=9ns tppcqlhty=5ns tppcqhlty=6ns twclklmn=5ns)
.model la ugff (tpdqlhty=4ns tpdqhlmx=5ns tpgqlhty=6ns tpgqhlty=3ns tppcqhlty=7ns)
.ends flips
x1 clk d j k s r pre clr %s flips
asrc [clk d j k s r pre clr] src
.model src d_source(input_file="in.stim")
"""
LOGIC = """expressions and pins
.subckt adder a b c oe %s
+ optional: dpwr=$g_dpwr dgnd=$g_dgnd
+ params: mntymxdly=0 io_level=0
ulog logicexp(3,4) dpwr dgnd a b c
+ s_o c_o n_o x_o d0_gate io mntymxdly=0 io_level=0
+ logic:
+   both = {a & b}
+   one = {a ^ b}
+   s_o = {one ^ c}
+   c_o = {both | (one & c)}
+   n_o = {~(a | b | ~(c & one))}
+   x_o = {~a}
utim logicexp(2,1) dpwr dgnd a b y5 slow io
+ logic:
+   y5 = {~(~a & (b | ~a))}
upin pindly(4,1,3) dpwr dgnd
+ s_o c_o n_o x_o
+ oe
+ a b c
+ y1 y2 y3 y4
+ io mntymxdly=0 io_level=0
+ boolean:
+   any = {changed(a,0) | changed(b,0)}
+ pindly:
+   y1 y2 = {case(any & trn_lh, delay(4ns,-1,10ns), c == '1, delay(-1,3ns,30ns), delay(-1,-1,6ns))}
+ tristate:
+ enable lo=oe
+   y3 = {case(trn_zh, delay(2ns,5ns,9ns), delay(-1,8ns,10ns))}
+   y4 = {delay(-1,5ns,-1)}
ucon constraint(2) dpwr dgnd a b io
+ width:
+   node=a
+   min_hi=5ns
+   when={b!='0}
+ setup_hold:
+   clock lh=a
+   data(1)=b
+   message="a < 25ns"
.model slow ugate (tplhty=12ns tphlty=11ns)
.ends adder
x1 a b c oe %s adder
asrc [a b c oe] src
.model src d_source(input_file="in.stim")
"""


def ports(letter, n):
    return ['%s%d' % (letter, i + 1) for i in range(n)]


def with_ports(deck, names):
    return deck % (' '.join(names), ' '.join(names))


@unittest.skipUnless(shutil.which('ngspice'), 'ngspice is not installed')
class Live(Case):
    def compare(self, deck, names, columns, late=LATE, step=60, first=''):
        self.write('in.stim', stimulus(columns, step))
        nodes, end = names, '%dn' % (step * len(columns[0]) + 60)
        deck = with_ports(deck, names)
        ours = self.run_vsim(deck, nodes, end, first)
        self.write('.spiceinit', 'set ngbehavior=ltpsa\n')
        self.write('ng.sp', deck + '.control\ntran 1n %s\n' % end +
                   ''.join('eprint %s > n_%d.txt\n' % (n, i) for i, n in enumerate(nodes)) +
                   '.endc\n.end\n')
        self.call('ngspice', '-b', 'ng.sp')
        for i, node in enumerate(nodes):
            a, b = ours[node], self.events_of('n_%d.txt' % i)
            self.assertEqual([v for _, v in a], [v for _, v in b], node)
            self.assertGreater(len(a), 1, node)
            for (t, v), (u, _) in zip(a, b):
                self.assertLessEqual(abs(u - t), late, '%s: %s at %g and %g' % (node, v, t, u))

    def test_gates(self):
        self.compare(GATES, ports('y', 27), binary(5))

    def test_pulses_shorter_than_delays(self):
        self.compare(GATES, ports('y', 27), binary(5), step=5, first='set digital_delay_type=2\n')
        with self.assertRaises(AssertionError):  # so inertial delays make a difference here
            self.compare(GATES, ports('y', 27), binary(5), step=5)

    def test_flip_flops(self):
        self.compare(FLIPS, ports('q', 9), [
            '0101010101010101010101010101010101010101',  # clk
            '0011001111000011110011001100001111001100',  # d
            '0000111100001111000011001111000011110000',  # j
            '0000001111001100111100001111001111000011',  # k
            '0011000000110000001100000000001100000011',  # s
            '0000001100000011000000110011000000110000',  # r
            '1111111111111111111111111111000011111111',  # preset
            '0000111111111111110000111111111111111111'])  # clear

    def test_expressions_and_pins(self):
        self.compare(LOGIC, ports('y', 5), binary(4))


class Exact(Case):
    DECK = """own
asrc [a] src
.model src d_source(input_file="in.stim")
"""

    def test_delays_and_short_pulses(self):
        self.write('in.stim', '0n 0s\n100n 1s\n200n 0s\n300n 1s\n303n 0s\n')
        e = self.run_vsim(self.DECK + """
u1 buf p g a ty ty
u2 buf p g a mean mean
u3 buf p g a most most
u4 buf p g a zero d0_gate
u5 dlyline p g a line line
.model ty ugate (tplhmn=1n tplhty=7n tplhmx=9n tphlty=5n)
.model mean ugate (tplhmn=2n tplhmx=5.01n tphlmn=1n tphlmx=8n)
.model most ugate (tplhmx=4n tphlmn=6n)
.model line udly (dlymn=10n dlymx=11n)
""", ['ty', 'mean', 'most', 'zero', 'line'])
        edges = {n: [t * 1e9 for t, _ in rows[1:]] for n, rows in e.items()}
        expected = {'ty': [107, 205], 'mean': [103.505, 204.5], 'most': [104, 206],
                    'zero': [100.001, 200.001, 300.001, 303.001], 'line': [110.5, 210.5, 310.5, 313.5]}
        for n, at in expected.items():
            self.assertEqual(len(edges[n]), len(at), n)
            for x, y in zip(edges[n], at):
                self.assertAlmostEqual(x, y, delta=1e-4, msg=n)  # digits of eprint

    def test_constants_and_open_pins(self):
        self.write('in.stim', '0n 0s\n100n 1s\n200n 0s\n')
        e = self.run_vsim(self.DECK + """
u1 nand(2) p g a
+ $d_hi y d0_gate io
u2 or(2) p g a $d_lo z d0_gate
u3 dff(1) p g $d_hi $d_lo a $d_hi $d_nc
+ $d_nc d0_eff
u4 dff(1) p g $d_hi $d_hi a $d_hi q $d_nc d0_eff
""", ['y', 'z', 'q'])
        self.assertEqual([v for _, v in e['y']], ['1s', '0s', '1s'])
        self.assertEqual([v for _, v in e['z']], ['0s', '1s', '0s'])
        self.assertEqual([v for _, v in e['q']], ['0s', '1s'])
        self.assertAlmostEqual(e['q'][1][0], 100.002e-9, delta=1e-15 * 100)

    def test_an_rc_line_stays_one(self):
        said = self.vsim("""line whose node has the name of a gate
v1 buf 0 1
u1 buf out 0 line l=1
u2 (out inv 0) line l=1
r1 inv 0 1k
.model line urc(rperl=1k cperl=1p fmax=1g)
.op
.print op v(out)
.end
""")
        v = re.search(r'(?m)v\(out\)\s*=?\s*(\S+)', said)
        self.assertIn('6.66', said, v and v[0])

    def test_optional_ports(self):
        self.write('in.stim', '0n 0s\n100n 1s\n')
        e = self.run_vsim(self.DECK + """
.subckt inverter in out optional: vdd=supply gnd=0 params: r=1k
u1 inv vdd gnd in out d0_gate
r1 vdd 0 {r}
.ends
v1 supply 0 3
v2 other 0 2
x1 a y inverter
x2 a z other inverter params: r=2k
.meas tran i1 find i(v1) at=50n
.meas tran i2 find i(v2) at=50n
""", ['y', 'z'])
        self.assertEqual([v for _, v in e['y']], ['1s', '0s'])
        self.assertEqual([v for _, v in e['z']], ['1s', '0s'])

    def test_messages(self):
        for card, said in (
                ('u1 stim(1,1) p g a io', "digital devices of type 'stim' are not supported"),
                ('u1 ram(4,4) p g a io', "digital devices of type 'ram' are not supported"),
                ('u1 nnad(2) p g a b y d0_gate', "there is no digital device 'nnad'"),
                ('u1 nand p g a b y d0_gate', "'nand' needs its number of inputs"),
                ('u1 nand(2) p g a b', "'nand' needs more connections"),
                ('u1 nand(2) p g a b y', "'nand' needs a timing model"),
                ('u1 nand(2) p g a b y d0_eff', 'd0_eff'),
                ('u1 nand(2) p g a b y ff', "the timing model of 'nand' is of type 'ugate'"),
                ('u1 nand(2) p g a b y d0_gate io more', 'the end of the card'),
                ('u1 nand(2) p g a b $d_hi d0_gate', "the constant '$d_hi' cannot be an output"),
                ('u1 logicexp(2,1) p g a b y d0_gate io logic: y={a & }', "a name, '~' or '(' is expected"),
                ('u1 logicexp(2,1) p g a b y d0_gate io logic: y={a & q}', "'q' is no connection"),
                ('u1 logicexp(2,1) p g a b y d0_gate io logic: y={(a & b}', "')' is expected"),
                ('u1 logicexp(2,1) p g a b y d0_gate io logic: a={b}', "'a' is an input"),
                ('u1 logicexp(2,1) p g a b y d0_gate io logic: y={a} y={b}', 'has an expression already'),
                ('u1 logicexp(2,1) p g a b y d0_gate io', 'LOGIC: and expressions'),
                ('u1 logicexp(2,1) p g a b y d0_gate io logic: y={%sa}' % ('(' * 300), 'deep'),
                ('u1 pindly(1,0,0) p g a y io pindly: y={delay(-1,-1,-1)}', 'of which one is given'),
                ('u1 pindly(1,0,0) p g a y io pindly: z={delay(-1,-1,1n)}', 'an output of the card'),
                ('u1 pindly(1,1,0) p g a b y io tristate: y={delay(-1,-1,1n)}', 'ENABLE HI'),
                ('u1 and(99999999) p g a', 'whole numbers up to')):
            text = self.vsim('bad\n%s\nv1 v 0 1\nr1 v 0 1\n.model ff ueff()\n.op\n.end\n' % card, fails=True)
            self.assertIn(said, text, card)
            self.assertRegex(text, r'deck\.sp:2:\d+: error', card)


if __name__ == '__main__':
    digital.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
