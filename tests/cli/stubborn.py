#!/usr/bin/env python3
"""Transients that stopped where they should not, or followed what no step can resolve.
stubborn.py VSIM [test...]"""
import math
import os
import re
import subprocess
import sys
import unittest

import folder

VSIM = ''
# The end of a block: v(n) and the time of the last point.
LAST_POINT = 'let end = v(n)[length(time)-1]\nlet last = time[length(time)-1]\nprint end last\n.endc\n.end\n'


class Stubborn(folder.Folder):
    def run_deck(self, deck, code=0):
        self.write('deck.sp', deck)
        done = subprocess.run([VSIM, 'deck.sp'], cwd=self.tmp.name, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout[-3000:])
        return done.stdout, {m[1]: float(m[2]) for m in re.finditer(r'(?m)^(\S+) = (\S+)', done.stdout)}

    def test_a_fold_that_lies_a_little_later_each_time_is_one_jump(self):
        """The charge below a transistor's source ends where it turns off: the node falls by 0.5 V at
        once. Each search for that time found it behind the end of the search before."""
        text, v = self.run_deck('''* pMOS below an inductive kick
V1 n1 0 dc -3 pulse(0 -3 1n 1n 1n 20n 50n)
Rg1 n1 0 2.12e+03
Rg2 n2 0 1.38e+04
Rg3 n3 0 28
Rg4 n4 0 9.28e+04
Rg6 n6 n2 1.91e+04
Rg7 n7 n2 2.62e+03
R0 n3 n7 2.49e+03
Q1 n1 n3 n6 qn
M2 n1 n3 n4 0 mp w=10u l=1u
L3 0 n7 1.68e-09
D4 n7 n3 dm
R5 n2 n3 246
.model dm d is=1e-14 cjo=1p rs=1 tt=1n
.model qn npn bf=100 cje=1p cjc=0.5p tf=0.1n vaf=50
.model mp pmos vto=-0.7 kp=40u lambda=0.02 tox=20n
.options reltol=1e-6 abstol=1e-15 vntol=1e-9
.control
tran 0.2n 100n
let last = time[length(time)-1]
print last
.endc
.end
''')
        self.assertNotIn('too small', text)
        self.assertAlmostEqual(v['last'] * 1e9, 100, places=6)

    def test_a_voltage_without_memory_does_not_draw_steps_down(self):
        """The current of 10 A changes sides between two diodes; no node has a capacitance. The stage
        beside it has a negative one, whose mode would grow with 40 fs: v(z) is v(x) - 1e-6 V, and stays it."""
        for frequency in ('200meg', '1g', '5g'):
            text, v = self.run_deck('''* a current through zero between diodes
i1 0 n sin(0 10 %s)
d1 n 0 d
d2 0 n d
v1 x 0 1
e3 y 0 x 0 1e6
r9 y z 1
c9 y z -40n
r10 z 0 1u
.model d d
.options method=gear
.control
tran 0.05n 40n
let off = vecmax(abs(v(z)-v(x)))
print off
.endc
.end
''' % frequency)
            self.assertNotIn('too small', text)
            self.assertLess(v['off'], 1.1e-6)  # 1 / (1 + 1e6), and 10 % for steps near that of the mode

    def test_a_node_that_grows_is_damped(self):
        """1 ohm and -39.75 nF lead to 1 mohm: v(b) grows by e each 40 ps. A cosine that has rested at its crest
        has a solution without growth, v(b) = H v(a), H = (1 + s c)/(1 + 1000 + s c)."""
        deck = '''* a negative capacitance beside a conductance
v1 a 0 sin(0 1 1meg 0 0 90)
r1 a b 1
c1 a b -39.75n
r2 b 0 1m
%s.tran 1n 3u
.control
run
run
let s = i * 2e6 * pi * -39.75n
let far = vecmax(abs(v(b) - real((1 + s) / (1001 + s) * exp(i * 2e6 * pi * time))))
let last = time[length(time)-1]
print far last
.endc
.end
'''
        for chosen in ('', '.options method=trap\n', '.options method=gear\n'):
            text, v = self.run_deck(deck % chosen)
            self.assertEqual(text.count('c1 has -0.002 ohm in series'), 1, text)
            self.assertAlmostEqual(v['last'] * 1e6, 3, places=6)
            # of 1.03 mV: trtol times reltol and vntol is what a step may add, of which damping leaves one
            self.assertLess(v['far'], 3.5 * (1e-3 * 1.03e-3 + 1e-6))

    def test_what_is_fast_beside_a_node_that_grows_does_not_let_it_grow(self):
        """v(b) would grow by e each T = 40 fs, and 10 THz beside it need steps of some fs for 10 ps. The solution
        without growth is that of the test before; with the resistor it differs by 2 (2 pi f T)^2 of 1 V, and the
        differences of the rule by trtol times reltol and vntol. One capacitor is two of half of it, another one
        is positive."""
        deck = '''* signals that are faster than a growth
v1 a 0 sin(0 1 1g 0 0 90)
r1 a b 1
c1 a b -22n m=2
c2 b a 4n
r2 b 0 1u
vf f 0 sin(0 1 10t 1.25n 1t)
rf f g 1
cf g 0 10f
.options %s
.control
tran 2p 3n
let s = i * 2e9 * pi * -40n
let far = vecmax(abs(v(b) - real((1 + s) / (1e6 + 1 + s) * exp(i * 2e9 * pi * time))) * (time > 1n))
let last = time[length(time)-1]
print far last
.endc
.end
'''
        for method in ('trap', 'gear'):
            for reltol in (1e-3, 1e-5):
                text, v = self.run_deck(deck % f'method={method} reltol={reltol} vntol={1e-3 * reltol}')
                self.assertIn('c1 has -1.82e-06 ohm in series', text)  # 2 T / C of both: 80 fs / 44 nF
                self.assertAlmostEqual(v['last'] * 1e9, 3, places=6)
                self.assertLess(v['far'], 2 * (2e9 * math.pi * 40e-15) ** 2 + 3.5 * reltol * (2.5e-4 + 1e-3))

    def test_only_transients_that_growth_would_fill_are_damped(self):
        """T = 40 fs: at 36 T what rounding left has grown to the voltage itself. The run before that follows
        v(b) = 1 uV exp(t/T); ac has its own equations, before and after a damped transient."""
        text, v = self.run_deck('''* the growth itself, and an ac analysis
v1 a 0 dc 0 ac 1
r1 a b 1
c1 a b -40n ic=-1u
r2 b 0 1u
.options reltol=1e-6 vntol=1e-12
.control
tran 1p 10n
ac lin 1 1t 1t
let s = i * 2e12 * pi * -40n
let far = mag(v(b) - (1 + s) / (1e6 + 1 + s)) / mag(v(b))
print far
tran 1f 0.4p uic
let grown = v(b)[length(time)-1] / 1u
print grown
.endc
.end
''')
        self.assertEqual(text.count('ohm in series'), 1)
        self.assertLess(v['far'], 1e-12)
        growth = math.exp(0.4e-12 * (1 + 1e-6) / 40e-15)
        # exp(10) in 400 steps or more of a rule of order 2: 10 (h/T)^2 / 3 of it, and backward Euler's first two
        self.assertLess(abs(v['grown'] / growth - 1), 10 * (1 / 40) ** 2 / 3 + 2 * (1 / 40) ** 2)

    def test_given_values_jump_to_a_charge_with_two_pieces(self):
        """From 0 V the supply rises at once. Updates swing between two pieces of the level 1 charge, however short the
        step; and steps that failed at the first instant let the current of the jump swing for the whole run."""
        text, v = self.run_deck('''* three transistors, given 0 V
.model nm nmos level=1 vto=0.45 kp=170u lambda=0.08 tox=4n gamma=0.4 cgso=0.3n cgdo=0.3n cj=1m mj=0.5
.model pm pmos level=1 vto=-0.45 kp=60u lambda=0.1 tox=4n gamma=0.4 cgso=0.3n cgdo=0.3n cj=1m mj=0.5
vdd vdd 0 1.8
mq1 y b s vdd pm w=4u l=0.18u
mo1 y b 0 0 nm w=1u l=0.18u
mn1 z b m 0 nm w=1u l=0.18u
cm m 0 0.3f
.control
tran 16.67p 1n uic
let last = time[length(time)-1]
let first = abs(i(vdd)[1])
let second = abs(i(vdd)[2])
let rest = abs(i(vdd)[length(time)-1])
print last first second rest
.endc
.end
''')
        self.assertNotIn('too small', text)
        self.assertAlmostEqual(v['last'] * 1e9, 1, places=6)
        self.assertGreater(v['first'], 0.01)   # fF that were charged within 16 fs
        self.assertLess(v['second'], 0.1 * v['first'])
        self.assertLess(v['rest'], 1e-5)

    def test_a_largest_step_beyond_the_end_changes_nothing(self):
        """The least step was a part of it, and so longer than the edges of the input."""
        deck = '''* two inverters of level 1, the first with a fast edge
.model nm nmos level=1 vto=0.4 kp=200u tox=2n cgso=0.3n cgdo=0.3n
.model pm pmos level=1 vto=-0.4 kp=80u tox=2n cgso=0.3n cgdo=0.3n
vdd vdd 0 1.2
vin a 0 pulse(0 1.2 1n 20p 20p 1n 2n)
m1 b a vdd vdd pm w=2u l=0.13u
m2 b a 0 0 nm w=1u l=0.13u
m3 c b vdd vdd pm w=2u l=0.13u
m4 c b 0 0 nm w=1u l=0.13u
c1 c 0 1f
.control
tran 10p 4n 0 %s
let points = length(time)
let last = v(c)[length(time)-1]
print points last
.endc
.end
'''
        ends = [self.run_deck(deck % tmax)[1] for tmax in ('4n', '1', '1e9')]
        self.assertEqual(ends[0], ends[1])
        self.assertEqual(ends[0], ends[2])
        self.assertLess(abs(ends[0]['last'] - 1.2), 1e-3)  # the input is high

    def test_a_soft_breakdown_that_begins_at_zero_bias_is_passed(self):
        """nbv = 50 lets the breakdown's exponential stand at 4e-11 A where the reverse law ends with
        8e-14 A, at -3 n kT/q. The charge, tt times the current, jumps with it: no step has a
        solution there. Outside of -3 to -4 n kT/q the current is that of the formulas."""
        nvt = 1.380649e-23 * 300.15 / 1.602176634e-19
        text, v = self.run_deck('''* from forward to reverse through 1 kohm
v1 in 0 pulse(-0.8 1.2 1n 0.2n 0.2n 5n 10n)
r1 in b 1k
d1 0 b da
d2 0 e da
d3 0 f da
ve e 0 %.12g
vf f 0 %.12g
.model da d is=2.3e-19 rs=2.2e5 cjo=1f tt=0.7u bv=11.6 ibv=0.35u nbv=50
.control
tran 10p 40n
let last = time[length(time)-1]
let near = -i(ve)[0]
let far = -i(vf)[0]
print last near far
.endc
.end
''' % (2.9 * nvt, 4.1 * nvt))
        self.assertNotIn('too small', text)
        self.assertIn('breakdown begins before -3 n kT/q', text)
        self.assertAlmostEqual(v['last'] * 1e9, 40, places=6)
        self.assertLess(v['near'], 2e-13)  # is, gmin: 2.3e-19 A, 7.5e-14 A
        self.assertGreater(v['far'], 1e-11)

    def test_a_breakdown_is_limited_like_a_junction(self):
        """10 mA turn round at a node without capacitance, so that Newton asks for 1e10 V. A diode that
        lets 1e9 A flow at the next iterate needs one iteration for each factor of e down from
        there, and a shorter step meets the same edge. v = bv + n kT/q ln(i / ibv) in breakdown."""
        vt = 1.380649e-23 * 300.15 / 1.602176634e-19
        for device, kind in (('d1 0 k', 'd'), ('m1 k 0 0', 'vdmos vto=3 cgdmin=0 cgdmax=0 cgs=0 cjo=0')):
            text, v = self.run_deck('''* a node without capacitance that breaks down
i1 0 k pulse(-10m 10m 1n 1p 1p 2n 5n)
%s db
.model db %s is=1e-15 bv=50 ibv=1m
.control
tran 0.05n 6n
let before = v(k)[0]
meas tran behind find v(k) at=2n
let last = time[length(time)-1]
print before behind last
.endc
.end
''' % (device, kind))
            self.assertNotIn('too small', text)
            self.assertAlmostEqual(v['last'] * 1e9, 6, places=6)
            # 1e-3: reltol of the update test, of voltages up to 50 V and 0.8 V
            self.assertLess(abs(v['behind'] - (50 + vt * math.log(10))), 1e-3 * 50)
            self.assertLess(abs(v['before'] + vt * math.log(10e-3 / 1e-15)), 1e-3 * 0.8)

    def test_newton_comes_down_an_exponential_in_one_attempt(self):
        """1 uA falls on 0.1 Tohm beside a diode that is off: the first iterates ask for 1e5 V and
        leave it more than 1e4 times the current, the next ones 1/e of it each. That is more
        iterations than itl4 = 10, but 30 are allowed while residuals fall. They are compared with
        tolerances that do not fall with them; those of the two diodes with 5 micro-ohm never fall,
        and do not count: they are rounding of 2 V."""
        self.write('deck.sp', '''* a node without capacitance comes down an exponential
i1 0 k pulse(-20n 1u 1n 1p 1p 2n 5n)
r1 k 0 1e11
d1 k 0 da
vn 1 0 2
d2 1 2 dn
d3 2 0 dn
.model da d is=1e-8
.model dn d is=1e-12 rs=5e-6
.tran 0.05n 6n
.end
''')
        done = subprocess.run([VSIM, 'profile', 'deck.sp'], cwd=self.tmp.name, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assertRegex(done.stdout, ' 0 because Newton did not converge')

    def test_rounding_of_a_charge_is_no_residual(self):
        """A junction at 0 V has its charge, of 10 fC that the model subtracts, to 2e-30 C. In steps of 1e-18 s that is
        2e-12 A, more than current and tolerance; the voltage is known to 32 roundings of a volt, the current of v1,
        C dv/dt, to its own rounding."""
        text, v = self.run_deck('''* a junction near 0 V in steps of 1e-18 s
i1 0 n pulse(0 5e-13 0 1e-17 1e-17 1 2)
d1 n 0 d
d2 0 n d
v1 a 0 pulse(1.8 1.9 0 1u 1u 1 2)
c1 a b 1p
c2 b 0 0.3p
r1 b 0 1k
.model d d is=1e-15 cjo=5f
.options reltol=1e-5 vntol=1e-8 abstol=1e-14
.control
tran 1e-18 1e-16
''' + LAST_POINT)
        self.assertNotIn('too small', text)
        self.assertAlmostEqual(v['last'] * 1e16, 1, places=6)
        self.assertLess(abs(v['end'] - 4.75e-15), 32 * 2.2e-16)  # 5e-13 A for 95 of 100 as, on 10 fF

    def test_the_first_step_from_given_values_has_a_tolerance(self):
        """Predator and prey, whose d x - g ln x + b y - a ln y stays: y is largest where x = g/d. The first two steps, of
        backward Euler and 0.25 s, left an error of 4 % for good, whatever reltol. Points lie 0.05 s apart there."""
        _, v = self.run_deck('''* predator and prey
b1 0 1 i={1.1*v(1) - 0.4*v(1)*v(2)}
c1 0 1 1
b2 0 2 i={0.1*v(1)*v(2) - 0.4*v(2)}
c2 0 2 1
.ic v(1)=10 v(2)=1
.options reltol=1e-6
.control
tran 1 100 uic
let most = vecmax(v(2))
print most
.endc
.end
''')
        stays = 0.1 * 10 - 0.4 * math.log(10) + 0.4
        low, high = 1.1 / 0.4, 20
        for _ in range(60):
            y = (low + high) / 2
            above = 0.4 - 0.4 * math.log(4) + 0.4 * y - 1.1 * math.log(y) > stays
            low, high = (low, y) if above else (y, high)
        self.assertLess(abs(v['most'] / low - 1), 1e-3)

    def test_what_is_fast_may_have_steps_far_below_the_largest(self):
        """A trigger of 0.1 pF at 1 A turns over within 0.1 ps, in a run whose largest step is 0.32 ms: its edge needs
        steps of 1e-15 s and less, 1e-12 of that."""
        text, v = self.run_deck('''* a fast trigger at a slow sine
v1 in 0 sin(0 1 100)
b1 0 n i={tanh(20*(v(in)+0.5*v(n)))}
r1 n 0 1
c1 n 0 1e-13
.options reltol=1e-6
.control
tran 0.32m 16m
''' + LAST_POINT)
        self.assertNotIn('too small', text)
        self.assertAlmostEqual(v['last'] * 1e3, 16, places=6)
        self.assertAlmostEqual(v['end'], -1, places=3)  # tanh(20 (-0.588 - 0.5)), the sine's last value

    def test_ringing_ends_before_steps_are_gone(self):
        """Where the comparator turns over, a node of 1 fF rings by the trapezoidal rule. Each step was by 1.8 shorter
        than the one before, twelve times: too short by then for what the new piece begins with. 3 ms later it is at
        rest again, as the operating point says; bound: trtol reltol of the 10 V that it has had."""
        text, v = self.run_deck('''* a comparator whose output stage takes the current of its own base
vin in 0 pulse(2 5 2m 1u 1u 3m 8m)
vref ref 0 4.893
vcc vcc 0 10
itail vcc t 100u
q1 a in t qp
q2 m ref t qp
q3 a m 0 qn
q4 m m 0 qn
b1 a 0 i={i(vb)}
e1 b 0 a 0 1
vb b bb 0
q5 n bb 0 qo
rl vcc n 1k
.model qp pnp is=1e-15 bf=500
.model qn npn is=1e-15 bf=1000 cjc=1f tr=100n
.model qo npn is=1e-15 bf=1e5 cjc=1f tf=30p tr=50n
.options reltol=6e-5
.control
op
let rest = v(n)
print rest
tran 1u 16m
''' + LAST_POINT)
        self.assertNotIn('too small', text)
        self.assertAlmostEqual(v['last'] * 1e3, 16, places=6)
        self.assertAlmostEqual(v['end'], v['rest'], delta=3.5 * 6e-5 * 10)

    def test_a_tolerance_below_rounding_is_named(self):
        """What rounding leaves of the current of a winding that is off, 2e-16 of 45 mWb over a leakage of 20 uH or 5e-13
        A, is a hundred times its tolerance: steps came down to nothing."""
        tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with open(os.path.join(tests, 'decks', '21_rectifier.sp')) as f:
            deck = f.read()
        deck = deck.replace('100m 0 20u', '1m 0 20u')
        text, _ = self.run_deck(deck.replace('.end', '.options reltol=1e-8 abstol=1e-15\n.end'))
        told = re.search(r"warning: transient: rounding leaves about (\S+) of current 'l3#branch' open at t", text)
        self.assertTrue(told, text[-2000:])
        self.assertLess(abs(math.log10(float(told[1]) / 5e-13)), 1, 'several times the rounding above')
        self.assertNotIn('too small', text)

    GATES = '''* eight gates of transistors without any charge
vdd vdd 0 5
%s
x1 a b o1 nand
x2 a o1 o2 nand
x3 a o2 o3 nand
x4 a o3 o4 nand
x5 a o4 o5 nand
x6 a o5 o6 nand
x7 a o6 o7 nand
x8 a o7 o8 nand
.subckt nand p q out
rb vdd vb 4k
q1 s vb p n1
q2 s vb q n1
rc vdd vc 1.6k
q3 vc s e n1
ro vdd out 4k
q4 out e 0 n1
re e 0 1k
.ends
.global vdd
.model n1 npn is=4e-14 bf=195 br=1.1 nf=1 vaf=53 ikf=1 ise=1.6e-14 ne=1.48 nr=0.99 var=11 ikr=2.5 isc=1.9e-12
+ nc=1.18 rb=57 irb=1.5e-4 rbm=5.3 re=0.04 rc=0.42
.control
%s
.endc
.end
'''

    def test_what_no_charge_holds_jumps_over_the_end_of_its_solution(self):
        """A gate's solution ends while its input rises, and Newton does not find the next one however short the step. At
        rest the gates have one state, which is that of the operating point."""
        places = ['o%d' % i for i in range(1, 9)]
        text, v = self.run_deck(self.GATES % (
            'va a 0 5 pulse(5 0 3u 0.5n 0.5n 4u)\nvb b 0 0 pulse(0 5 2u 0.5n 0.5n 4u)',
            'tran 20n 10u\n' + '\n'.join('meas tran m%s find v(%s) at=2.5u\nmeas tran n%s find v(%s) at=5u\nprint m%s n%s'
                                         % (o, o, o, o, o, o) for o in places)))
        self.assertIn('a part without charge jumps', text)
        for a, letter in ((5, 'm'), (0, 'n')):
            _, op = self.run_deck(self.GATES % ('va a 0 %d\nvb b 0 5' % a,
                                                'op\nprint ' + ' '.join('v(%s)' % o for o in places)))
            for o in places:
                self.assertAlmostEqual(v[letter + o], op['v(%s)' % o], delta=2 * 1e-3 * 5)  # reltol of each


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
