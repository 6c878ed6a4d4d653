#!/usr/bin/env python3
"""vsim doctor: each thing that makes a deck hard is found at its card, and nothing in decks that are not.

    doctor.py VSIM [unittest arguments]"""
import json
import os
import subprocess
import sys
import unittest

import folder

VSIM = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
NMOS = '.model nm nmos level=1 vto=0.5\n'

# What the deck has, the line of the card (0: none), the warning, the advice.
BAD = (
    ('V1 a 0 5\nR1 a b 1k\nR2 b 0 1e-10\n', 4, 'r2 has 1e-10 ohm', 'voltage source of 0 V'),
    ('V1 a 0 5\nR1 a b 1k\nR2 b 0 -300\n', 4, 'r2 is negative', '.nodeset'),
    ('V1 a 0 5\nR1 a b 1k\nR2 b 0 1e18\n', 4, 'r2 has 1e+18 ohm, which gmin', 'leave it out'),
    ('V1 a 0 5\nR1 a b 1\nR2 b 0 1m\nR3 b 0 1e14\n', 5, 'is lost in the rounding', 'a larger r2'),
    ('V1 a 0 5\nR1 a b 1k\nC1 b 0 100000\n', 4, 'c1 has 1e+05 F', 'unit'),
    ('V1 a 0 5\nR1 a b 1k\nC1 b 0 -1p\n', 4, 'c1 is negative', 'unit'),
    ('V1 a 0 5\nR1 a b 1k\nL1 b 0 1e-20\n', 4, 'l1 has 1e-20 H', 'unit'),
    ('V1 a 0 5\nR1 a b 1k\nL1 b 0 1u\nL2 c 0 1u\nK1 L1 L2 1\nR2 c 0 1\n', 6, 'k1 couples completely', 'k=0.9999'),
    ('V1 a 0 1m\nE1 b 0 a 0 1e12\nR1 b 0 1k\n', 3, 'e1 has a gain of 1e+12', '1e6'),
    ('V1 a 0 1e9\nR1 a 0 1\n', 2, 'v1 has 1e+09 V', 'MEG'),
    ('V1 a 0 pulse(0 1 0 1e-15 1n 1m 2m)\nR1 a 0 1\n.tran 1u 10m\n', 2, 'v1 rises within 1e-15 s', 'slope'),
    ('V1 a 0 pwl(0 0 1m 0 1.000000000001m 5)\nR1 a 0 1\n.tran 1u 10m\n', 2, 'v1 jumps within', 'slope'),
    ('V1 a 0 5\nB1 b 0 v = v(a) > 2 ? 5 : 0\nR1 b 0 1\n', 3, 'b1 jumps where voltages cross a border (?:)', 'tanh'),
    ('V1 a 0 5\nB1 b 0 v = 3*u(v(a)-2)\nR1 b 0 1\n', 3, 'b1 jumps where voltages cross a border (u)', 'tanh'),
    ('V1 a 0 5\nR1 a d 1k\nM1 d g 0 0 nm\nC1 a g 1p\n' + NMOS, 4, "gate 'g' hangs on capacitors alone", '.ic v(g)'),
    ('V1 a 0 5\nR1 a 0 1\nI1 0 b 1p\nC1 b 0 1p\n', 0, "node 'b' has current sources and nothing that conducts", 'resistor'),
    ('V1 a 0 5\nR1 a 0 1\n.options reltol=1e-14\n', 0, 'below what sums of doubles have', '1e-9'),
    ('V1 a 0 5\nR1 a 0 1\n.options reltol=0.2\n', 0, 'errors of this size', '1e-3'),
    ('V1 a 0 5\nR1 a 0 1\n.options vntol=1e-17\n', 0, 'below the rounding of 5 V', 'at least'),
    # 1.1 uohm and 1 ohm at b: 1e6 S; 40 nF / 1e6 S
    ('V1 a 0 1\nR1 a b 1\nC1 a b -40n\nR2 b 0 1u\n', 4, "grows by e each 4e-14 s", 'in series'),
    # |G| |x| of the three sources: 0.3 + 0.4 + 0.1 V, by 2^-53, by both gains, over 1 kohm
    ('V1 a 0 0.3\nV2 b a -0.2\nV3 c b -0.1\nE1 d 0 c 0 1e6\nE2 e 0 d 0 1e6\nR1 e 0 1k\n', 0,
     "may move 'e2#branch' by 8.9e-08 A", 'less gain'),
    # told where the circuit is built
    ('V1 a 0 5\nR1 a 0 1\nR2 b c 1k\nC1 c 0 1p\n', 4, 'no dc path to ground from node', ''),
    ('V1 a 0 5\nL1 a b 1u\nL2 a b 1u\nR1 b 0 1\n', 4, 'closes a loop of inductors', "'l1' is part of the loop"),
)
GOOD = (
    'V1 a 0 5\nR1 a b 1m\nR2 b 0 1G\nC1 b 0 1f\nL1 b c 1n\nR3 c 0 1\n',
    'V1 a 0 pulse(0 5 0 1n 1n 1u 2u)\nR1 a b 1k\nC1 b 0 1\n.tran 1n 20u\n',
    'V1 a 0 5\nB1 b 0 v = v(a) > 2 ? v(a) - 2 : 0\nR1 b 0 1\nB2 c 0 v = 5*tanh(v(a)/10m)\nR2 c 0 1\n',
    'V1 a 0 5\nR1 a d 1k\nM1 d g 0 0 nm\nC1 a g 1p\nR2 g 0 1G\n' + NMOS,
    'V1 a 0 pwl(0 0 1m 0 1.01m 5)\nE1 b 0 a 0 1e6\nR1 b 0 1k\n.tran 1u 10m\n',
    'V1 a 0 0.3\nV2 b a -0.2\nV3 c b -0.1\nE1 d 0 c 0 1e3\nE2 e 0 d 0 1e3\nR1 e 0 1k\n',
    'V1 a 0 5\nR1 a 0 1\n.options reltol=1e-6 vntol=1e-9 abstol=1e-15\n',
    'C1 a 0 1n ic=1\nR1 a 0 1k\nB1 b 0 v=u(time-1u)\nR2 b 0 1\n.tran 1n 5u uic\n',
)


JUMPS = """`include "disciplines.vams"
module above(inp, out); inout inp, out; electrical inp, out;
    analog if (V(inp) > 2.5) V(out) <+ 5; else V(out) <+ 0;
endmodule
module gate(p, n, c); inout p, n, c; electrical p, n, c;
    analog I(p, n) <+ (V(p, n) + 1) * (V(c) > 2 ? 1e-3 : 1e-9);
endmodule
module held(p); inout p; electrical p;
    analog I(p) <+ ddt(V(p) > -1.5 ? 1e-12 : 0);
endmodule
module meets(p, n); inout p, n; electrical p, n;
    analog I(p, n) <+ V(p, n) > 1 ? 1e-3 * (V(p, n) - 1) : 0;
endmodule
module steep(p, n); inout p, n; electrical p, n;
    analog I(p, n) <+ 1e-3 * tanh(V(p, n) / 1e-6);
endmodule
"""


class Doctor(folder.Folder):
    def ask(self, deck, code=0):
        self.write('deck.sp', 'deck\n' + deck + '.end\n')
        done = subprocess.run([VSIM, 'doctor', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_each_finding_is_told_at_its_card_with_advice(self):
        for deck, line, warning, advice in BAD:
            out, err = self.ask(deck)
            self.assertIn('finding', out, deck)
            at = 'deck.sp:%d:' % line if line else 'warning: '
            told = [text for text in err.splitlines() if 'warning' in text and warning in text]
            self.assertEqual(len(told), 1, (deck, err))
            self.assertIn(at, told[0])
            self.assertIn(advice, err)

    def test_models_that_jump_are_told_with_the_voltage(self):
        """By the models' own values: 5 V at 2.5 V; 1 mS times -0.5 V where v(c) crosses 1 V."""
        self.write('jumps.va', JUMPS)
        head = 'V1 a 0 3\n.hdl "jumps.va"\n'
        for card, told in (('N1 a b above\nR1 b 0 1k\n', "'n1#branch' jumps from 5 to 0 V where v(a) crosses 2.5 V"),
                           ('V2 c 0 0.5\nN1 a c a gate\n', "'a' jumps from 2.5e-09 to 0.0025 A where v(a) crosses 2 V"),
                           ('N1 a held\n', "charge of 'a' jumps from 0 to 1e-12 C where v(a) crosses -1.5 V"),
                           ('B1 b 0 v = v(a) > 2 ? v(a) : 1\nR1 b 0 1k\n', "where v(a) crosses 2 V")):
            _, err = self.ask(head + card)
            told_here = [line for line in err.splitlines() if 'warning' in line]
            self.assertEqual(len(told_here), 1, err)
            self.assertIn(told, told_here[0])
            self.assertIn('tanh', err)
        for card in ('N1 a b meets\nR1 b 0 1k\n', 'N1 a b steep\nR1 b 0 1k\n', 'D1 a b dm\nR1 b 0 1k\n.model dm d rs=1 bv=2\n'):
            out, err = self.ask(head + card)
            self.assertIn('nothing found', out, err)

    def test_models_that_jump_are_told_without_an_operating_point(self):
        """A comparator that drives its own input away has none."""
        self.write('jumps.va', JUMPS)
        _, err = self.ask('.hdl "jumps.va"\nN1 a b above\nE1 a 0 c b 1\nV1 c 0 5\nR1 b 0 1k\n', code=3)
        self.assertIn("where v(a) crosses 2.5 V", err)

    def test_json_of_a_deck_with_notes_in_front_of_findings(self):
        self.write('deck.sp', 'deck\n.options timeint reltol=1e-3\nV1 a 0 1\nR1 a b {agauss(1k,10,3)}\nR2 b 0 -3k\n.op\n.end\n')
        done = subprocess.run([VSIM, 'doctor', '--json', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.stderr.count(': note: '), 3, done.stderr)
        finding, = json.loads(done.stdout)['findings']
        self.assertIn('negative', finding['message'])
        self.assertEqual(len(finding['notes']), 1)

    def test_json_has_each_finding_with_its_place_and_notes(self):
        self.write('deck.sp', 'deck\n' + BAD[0][0] + '.options reltol=0.2\n.end\n')
        for args in ([], ['-q']):
            done = subprocess.run([VSIM, 'doctor', '--json', 'deck.sp', *args], cwd=self.tmp.name, capture_output=True,
                                  text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout)
            self.assertEqual(told['operating_point'], 'Newton')
            small, loose = told['findings']
            self.assertEqual((small['level'], small['file'], small['line'], small['column']), ('warning', 'deck.sp', 4, 1))
            self.assertIn(BAD[0][2], small['message'])
            self.assertIn(BAD[0][3], small['notes'][0])
            self.assertNotIn('file', loose)
        self.write('deck.sp', 'deck\n' + GOOD[0] + '.end\n')
        done = subprocess.run([VSIM, 'doctor', '--json', 'deck.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(json.loads(done.stdout), {'findings': [], 'operating_point': 'Newton'})

    def test_good_decks_have_none(self):
        for deck in GOOD:
            out, err = self.ask(deck)
            self.assertIn('nothing found', out, err)
            self.assertNotIn('warning', err)
        for path in ('netlists/rc.sp', 'netlists/graetz.sp', 'tests/decks/01_ce_amplifier.sp',
                     'tests/decks/16_nmos_inverter.sp', 'tests/decks/23_tline_pulse.sp'):
            done = subprocess.run([VSIM, 'doctor', os.path.join(ROOT, path)], cwd=self.tmp.name, capture_output=True,
                                  text=True, timeout=300)
            self.assertIn('nothing found', done.stdout, path + done.stderr)

    def test_what_has_no_solution_is_an_error(self):
        out, err = self.ask('V1 a 0 5\nV2 a 0 4\nR1 a 0 1\n', code=1)
        self.assertIn('loop', err)
        out, err = self.ask('V1 a 0 1\nR1 a b 1\nI1 0 c 1\nC1 c 0 1\n', code=3)
        self.assertIn('gmin alone carries', err)
        self.assertIn('nothing that conducts', err)

    def test_nothing_is_written(self):
        self.ask('V1 a 0 5\nR1 a 0 1\n.tran 1n 10n\n')
        self.assertEqual(os.listdir(self.tmp.name), ['deck.sp'])


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
