"""Wires of a layout: .spef, and comments of DSPF.   Run: spef.py VSIM"""
import os
import subprocess
import sys
import unittest

from folder import Folder

VSIM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else 'vsim'

HEAD = '''*SPEF "IEEE 1481-2009"
*DESIGN "top"
*DIVIDER /
*DELIMITER :
*T_UNIT 1 PS
*C_UNIT 1 FF
*R_UNIT 1 OHM
*L_UNIT 1 HENRY
*NAME_MAP
*1 in
*2 u1
*3 n\\[1\\]
*4 u2
*5 out
*PORTS
*1 I
*5 O
'''
NETS = '''// the wires
*D_NET *1 2.0
*CONN
*P *1 I *C 0.0 0.0
*I *2:a I *C 1.0 2.0 *L 0.5 *D inv
*CAP
1 *1 1.0
2 *2:A 1.0
*RES
1 *1 *2:A 100
*END
*D_NET *3 12.0 *V 1
*CONN
*I *2:Y O *D inv
*I *4:A I *D inv
*N *3:1 *C 5 5
*CAP
1 *2:Y 2.0
2 *3:1 4.0
3 *4:A 0.1:2.0:7 /* middle */
4 *3:1 *5:1 3.0
*RES
1 *2:Y *3:1 1000
2 *3:1 *4:A 2000
*END
*D_NET *5 5
*CONN
*I *4:Y O
*P *5 O
*CAP
1 *5:1 *3:1 3.0
2 *5:1 2.0
*RES
1 *4:Y *5:1 10
2 *5:1 *5 20
*END
'''
DECK = '''t
.subckt inv a y
rin a 0 1k
e1 m 0 a 0 -1
ro m y 1k
.ends
.subckt top in out
xu1 in n[1] inv
xu2 n[1] out
+ inv
.ends
vin in 0 dc 1 ac 1
x1 in out top
rl out 0 1k
%s
.op
.end
'''
BY_HAND = '''x1.rspef1_0 in x1.u1:a value=100
x1.rspef1_1 x1.n[1] x1.n[1]:1 value=1000
x1.rspef1_2 x1.n[1]:1 x1.u2:a value=2000
x1.rspef1_3 x1.u2:y x1.out:1 value=10
x1.rspef1_4 x1.out:1 out value=20
x1.cspef1_0 in 0 value=1e-15
x1.cspef1_1 x1.u1:a 0 value=1e-15
x1.cspef1_2 x1.n[1] 0 value=2e-15
x1.cspef1_3 x1.n[1]:1 0 value=4e-15
x1.cspef1_4 x1.u2:a 0 value=2e-15
x1.cspef1_5 x1.n[1]:1 x1.out:1 value=3e-15
x1.cspef1_7 x1.out:1 0 value=2e-15'''


class Spef(Folder):
    def check(self, card='.spef "top.spef"', nets=NETS, head=HEAD, code=0, deck=DECK):
        """The flat circuit's lines, and the messages."""
        self.write('top.spef', head + nets)
        self.write('t.sp', deck % card)
        p = subprocess.run([VSIM, 'check', '--dump=circuit', 't.sp'], cwd=self.tmp.name, capture_output=True,
                           text=True, timeout=300)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return [x for x in p.stdout.split('\n') if not x.startswith('time by')], p.stderr

    def test_wires_are_those_of_the_file(self):
        lines, said = self.check()
        for line in BY_HAND.split('\n'):
            self.assertIn(line, lines)
        self.assertIn('x1.xu1.rin x1.u1:a 0 value=1000', lines)
        self.assertIn('x1.xu2.ro x1.xu2.m x1.u2:y value=1000', lines)
        self.assertEqual(sum('spef1_' in x for x in lines), len(BY_HAND.split('\n')))
        self.assertNotIn('warning', said)

    def test_the_subcircuit_is_named_or_surrounds_the_card(self):
        there, _ = self.check()
        named, _ = self.check('.spef "top.spef" top', head=HEAD.replace('"top"', '"other"'))
        self.assertEqual(named, there)
        inside, _ = self.check('', deck=DECK.replace('+ inv\n', '+ inv\n.spef top.spef\n'))
        self.assertEqual(inside, there)
        _, said = self.check('.spef top.spef tip', code=1)
        self.assertIn("t.sp:15:16: error: there is no subcircuit 'tip'", said)
        self.assertIn("'top'", said)

    def test_every_instance_has_the_wires(self):
        lines, _ = self.check('x2 in o2 top\nr2 o2 0 1k\n.spef top.spef')
        self.assertIn('x2.rspef1_2 x2.n[1]:1 x2.u2:a value=2000', lines)

    def test_a_net_without_resistors_is_its_capacitors(self):
        nets = NETS[:NETS.index('*RES\n1 *2:Y')] + NETS[NETS.index('*END\n*D_NET *5'):]
        lines, _ = self.check(nets=nets)
        self.assertIn('x1.xu2.rin x1.n[1] 0 value=1000', lines)
        self.assertIn('x1.cspef1_3 x1.n[1] 0 value=4e-15', lines)
        self.assertIn('x1.cspef1_5 x1.n[1] x1.out:1 value=3e-15', lines)

    def test_transistors_have_pins_too(self):
        self.write('m.spef', HEAD.replace('"top"', '"none"') + '''*D_NET g 1
*CONN
*P g I
*I m1:GATE I
*RES
1 g m1:gate 7
*END
''')
        lines, _ = self.check('.spef m.spef', deck=DECK.replace('x1 in out top', 'x1 in out top\nvg g 0 1\nm1 in g 0 0 n w=1u\n.model n nmos'))
        self.assertIn('rspef1_0 g m1:gate value=7', lines)
        self.assertTrue(any(x.startswith('m1 in m1:gate 0 0 ') for x in lines), lines)

    def test_what_is_wrong_is_shown_at_its_place(self):
        for old, new, text in (
                ('*2:a I', '*2:q I', "'xu1' has no pin 'q'"),
                ('*2:a I', '*4:a I', "node 'u2:a' is of two nets, 'in' and 'n[1]'"),
                ('1 *1 1.0', '1 *9 1.0', '*NAME_MAP has no name for this index'),
                ('4 *3:1 *5:1 3.0', '4 *3:1 zz:1 3.0', "node 'zz:1' is of no net of this file"),
                ('*D_NET *5 5', '*D_NET *3 5', 'there is already a *D_NET of this net'),
                ('2000\n*END', '2000', '*CONN, *CAP, *RES or *END is expected here'),
                ('2 *5:1 *5 20\n*END', '2 *5:1 *5 20', '*D_NET without *END'),
                ('*RES\n1 *1 *2:A 100', '*RES\n1 *1 *2:A 1x0', 'a number is expected here')):
            self.assertIn(old, NETS)
            _, said = self.check(nets=NETS.replace(old, new), code=1)
            self.assertIn('error: ' + text, said)
            self.assertRegex(said, r'top\.spef:\d+:\d+: error')
        _, said = self.check(deck=DECK.replace('xu2 n[1]', 'xu2 n[2]'), code=1)
        self.assertIn("error: this pin is on net 'n[1]' in the file, and on 'n[2]' in the deck", said)
        _, said = self.check('.spef none.spef', code=1)
        self.assertIn("error: file 'none.spef'", said)
        _, said = self.check('.spef', code=1)
        self.assertIn('.spef needs a file name', said)
        _, said = self.check(head=HEAD.replace('*C_UNIT 1 FF', '*C_UNIT 1 XF'), code=1)
        self.assertIn('PF or FF is expected here', said)

    def test_what_is_left_out_is_said(self):
        _, said = self.check(nets=NETS.replace('*RES\n1 *1', '*INDUC\n1 *1 *2:A 1\n*RES\n1 *1'))
        self.assertIn('inductances of wires are not taken', said)
        _, said = self.check(nets=NETS.replace('*I *4:A I', '*I u7:A I\n*I *4:A I'))
        self.assertIn("'u7' is the first", said)

    def test_no_cut_of_a_file_does_harm(self):
        for n in range(0, len(NETS), 29):
            self.write('top.spef', HEAD + NETS[:n])
            self.write('t.sp', DECK % '.spef top.spef')
            p = subprocess.run([VSIM, 'check', 't.sp'], cwd=self.tmp.name, capture_output=True, timeout=300)
            self.assertIn(p.returncode, (0, 1), (n, p.stderr))

    def test_comments_of_dspf_are_comments(self):
        lines, _ = self.check('''*|DSPF 1.5
*|NET n1 0.1PF
*|I (xu9|a xu9 a i 0.0 1 2)
*|S (n1:1 0 0)
r1 in n1:1 5
r2 n1:1 xu9|a 6
r3 xu9|a 0 7
.spef top.spef''')
        self.assertIn('r2 n1:1 xu9|a value=6', lines)


if __name__ == '__main__':
    unittest.main()
