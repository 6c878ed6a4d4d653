"""Model cards: levels by modules that the deck loads, sizes in .option scale, bins, mismatch.
Run: cards.py VSIM"""
import json
import math
import os
import re
import subprocess
import sys
import unittest

from folder import Folder

VSIM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else 'vsim'

# A conductance of `g` w / l from d to s, of the sign of the type.
GATE = '''`include "disciplines.vams"
module %s(d, g, s, b);
    inout d, g, s, b;
    electrical d, g, s, b;
    parameter integer %s = 1;
    parameter real w = 1u, l = 1u, g0 = 1, version = 0;
    analog I(d, s) <+ (%s > 0 ? 1 : -2) * g0 * w / l * V(d, s) * (1 + version);
endmodule
'''


class Cards(Folder):
    def run_deck(self, deck, *args, code=0):
        self.write('t.sp', 't\n' + deck + '.end\n')
        p = subprocess.run([VSIM, *args, 't.sp'], cwd=self.tmp.name, capture_output=True,
                           text=True, timeout=300)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stderr

    def amps(self, deck, *args):
        """The current into v1, and what the program said."""
        said = self.run_deck(deck + '.control\nop\nwrdata c.txt -i(v1)\n.endc\n', *args)
        return float(self.read('c.txt').split()[-1]), said

    def test_levels_bind_to_modules_that_the_deck_loads(self):
        for level, module, kind, p_value in ((72, 'bsimcmg', 'DEVTYPE', 0), (77, 'BSIMBULK', 'TYPE', -1), (68, 'hisim2_va', 'TYPE', -1),
                                             (57, 'bsimsoi', 'TYPE', -1), (58, 'bsimsoi4', 'TYPE', -1), (54, 'bsim4va', 'TYPE', -1), (49, 'bsim3va', 'TYPE', -1)):
            self.write('m.va', GATE % (module, kind, kind))
            for type_, wanted in (('nmos', 4), ('pmos', -8)):
                got, said = self.amps('.hdl "m.va"\nv1 d 0 1\nm1 d 0 0 0 mm w=2u l=1u\n.model mm %s level=%d g0=2 xx=1\n' % (type_, level))
                self.assertAlmostEqual(got, wanted, 9, (level, type_))
                self.assertEqual(said.count("has no parameter 'xx': no effect"), 1)

    def test_levels_of_bipolar_transistors_bind_too(self):
        for level, module in ((6, 'bjt504va'), (504, 'bjt505va'), (505, 'bjt504tva'), (8, 'hicuml2va'), (13, 'hicuml0va')):
            self.write('m.va', GATE % (module, 'TYPE', 'TYPE'))
            for type_, wanted in (('npn', 3), ('pnp', -6)):
                got, _ = self.amps('.hdl "m.va"\nv1 c 0 1\nq1 c 0 0 0 mm\n.model mm %s level=%d g0=3\n' % (type_, level))
                self.assertAlmostEqual(got, wanted, 9, (level, type_))

    def test_voltages_that_sources_give_are_rounded(self):
        # Newton comes from far: what its long update cancels is gone from the operating point
        self.run_deck('v1 1 0 2.7\nb1 2 0 v=ln(v(1))\nb2 3 0 v=v(2)*v(2)+v(1)\nr1 3 4 1k\nd1 4 0 dd\n.model dd d\n'
                      '.control\nop\nlet a=v(2)-ln(2.7)\nlet b=v(3)-ln(2.7)*ln(2.7)-2.7\nwrdata c.txt a b\n.endc\n')
        values = [float(x) for x in self.read('c.txt').split()]
        self.assertLess(abs(values[1]), 2.3e-16)
        self.assertLess(abs(values[3]), 1e-15)

    def test_soi_transistors_take_their_nodes(self):
        # ideal contact, body node, temperature as the last node of five, heating: each has its own current
        for level in (57, 58):
            self.nodes_of_soi('.model mm nmos level=%d k1=0.5 k2=0.01 vth0=0.4 isrec=1e-3' % level + ' %s\n')

    def nodes_of_soi(self, card):
        lines = (('m1 d g 0 0 mm w=2u l=0.3u', ''), ('m1 d g 0 0 b mm w=2u l=0.3u', ''),
                 ('m1 d g 0 0 b c mm w=2u l=0.3u', 'rbody=1e6'), ('m1 d g 0 0 mm w=2u l=0.3u', 'shmod=1 rth0=0.05'),
                 ('m1 d g 0 0 t mm w=2u l=0.3u tnodeout', 'shmod=1 rth0=0.05'))
        got = [self.amps('v1 d 0 1.2\nv2 g 0 1.2\nv3 b 0 -0.5\n' + line + '\n' + card % more)[0] for line, more in lines]
        self.assertLess(got[1], 0.98 * got[0])
        self.assertAlmostEqual(got[2], got[1], delta=1e-4 * got[1])
        self.assertLess(got[3], 0.99 * got[0])
        self.assertAlmostEqual(got[4], got[3], delta=1e-9 * got[3])

    def test_level_55_is_bsim3soi_unless_ekv_is_loaded(self):
        amps, said = self.amps('v1 d 0 1\nm1 d d 0 0 mm w=2u l=1u\n.model mm nmos level=55 tsi=5e-8 k1=0.5 k2=0.01\n')
        self.assertGreater(amps, 1e-5)
        self.write('m.va', GATE % ('ekv', 'TYPE', 'TYPE'))
        amps, said = self.amps('.hdl "m.va"\nv1 d 0 1\nm1 d 0 0 0 mm w=2u l=1u\n.model mm nmos level=55 g0=2\n')
        self.assertAlmostEqual(amps, 4, 9)

    def test_a_second_value_on_a_model_card_has_no_effect(self):
        amps, said = self.amps('v1 d 0 1\nr1 d 0 mm\n.model mm r rsh 94 = .006 l=1u w=1u\n')
        self.assertAlmostEqual(amps, 1 / 94, 9)
        self.assertIn("'rsh' has a value already; this one has no effect", said)

    def test_hicum_heats_itself_without_a_thermal_node(self):
        card = '.model mm npn level=8 flcomp=2.4 re=1 rci0=10 flsh=2 rth=%d\n'
        rise = []
        for line, rth in (('q1 c b 0 mm', 900), ('q1 c b 0 0 mm', 900), ('q1 c b 0 0 t mm', 900), ('q1 c b 0 mm', 0)):
            self.run_deck('v1 c 0 2\nv2 b 0 0.85\n' + line + '\n' + card % rth
                          + '.control\nop\nprint @q1[dtsh] > r.txt\n.endc\n')
            rise.append(float(self.read('r.txt').split('=')[1]))
        self.assertGreater(rise[0], 1)
        self.assertAlmostEqual(rise[1] / rise[0], 1, 9)
        self.assertAlmostEqual(rise[2] / rise[0], 1, 9)
        self.assertEqual(rise[3], 0)

    def test_scale_multiplies_the_lengths_of_stress(self):
        form = 'v1 d 0 1\nm1 d d 0 0 n w=3{0} l=0.2{0} nf=2 sa=0.4{0} sb=0.6{0} sd=0.3{0} sc=0.7{0}\n' \
               '.model n nmos level=54 version=4.8 kvth0=3e-8 ku0=4e-8 wpemod=1 kvth0we=0.01 web=500\n'
        plain, _ = self.amps(form.format('u'))
        scaled, _ = self.amps('.option scale=1u\n' + form.format(''))
        none, _ = self.amps(form.format('u').replace('sa=0.4u', '').replace('sc=0.7u', ''))
        self.assertAlmostEqual(scaled / plain, 1, 9)
        self.assertGreater(abs(none / plain - 1), 1e-3)

    def test_version_in_any_form(self):
        self.write('m.va', GATE % ('bsim4va', 'TYPE', 'TYPE'))
        for text, wanted in (('4.82', 4.82), ('4.8.2', 4.82), ('"4.8.2"', 4.82), ('"4.5"', 4.5), ('4.5', 4.5), ('4.8', 4.8), ('3.2.4', 3.24)):
            got, _ = self.amps('.hdl "m.va"\nv1 d 0 1\nm1 d 0 0 0 mm w=1u l=1u\n.model mm nmos level=54 version=%s\n' % text)
            self.assertAlmostEqual(got, 1 + wanted, 9, text)

    def test_scale_multiplies_sizes_of_transistors(self):
        for level in (1, 2, 3, 4, 5, 6, 8, 9, 18, 54):
            form = 'v1 d 0 2\nm1 d d 0 0 n w=3%s l=2%s ad=4%s pd=5%s\n.model n nmos level={}\n'.format(level)
            plain, _ = self.amps(form % ('u', 'u', 'p', 'u'))
            self.assertAlmostEqual(self.amps('.option scale=1u\n' + form % ('', '', '', ''))[0] / plain, 1, 9, level)
        plain, _ = self.amps('v1 d 0 2\nm1 d d 0 0 n w=3u l=2u ad=4p pd=5u\n.model n nmos kp=1m vto=0.5 js=1 lmin=9\n')
        scaled, said = self.amps('.option parser scale=1u wnflag=1\nv1 d 0 2\nm1 d d 0 0 n w=3 l=2 ad=4 pd=5\n'
                                 '.model n nmos kp=1m vto=0.5 js=1 lmin=9\n')
        self.assertAlmostEqual(scaled / plain, 1, 9)
        self.assertNotIn('warning', said)

    def test_cards_of_pspice_give_temperatures(self):
        # macro models have resistors without noise: t_abs=-273.15. Nyquist: 4 k T / R into 1 / sum(1/R)
        self.run_deck('v1 a 0 1 ac 1\nr1 a b rq 1k\nr2 b 0 rn 1k\nr3 b 0 rw 1k\n.model rq r r=1 t_abs=-273.15\n'
                      '.model rn r r=1\n.model rw r r=1 tc1=1m t_rel_global=100\n.control\n'
                      'noise v(b) v1 dec 1 1k 10k 1\nsetplot noise1\nset numdgt=9\n'
                      'print onoise_r1[0] onoise_r2[0] onoise_r3[0] > n.txt\n.endc\n')
        got = [float(line.split('=')[1]) for line in self.read('n.txt').splitlines() if '=' in line]
        wanted = [math.sqrt(4 * 1.380649e-23 * t / r) / (2 / 1e3 + 1 / 1.1e3)
                  for t, r in ((0, 1e3), (300.15, 1e3), (400.15, 1.1e3))]
        self.assertEqual(got[0], 0)
        for a, b in zip(got[1:], wanted[1:]):
            self.assertAlmostEqual(a / b, 1, 6)

    def test_quotes_inside_braces_hold_an_expression(self):
        got, _ = self.amps('.param a=0.2\nv1 d 0 1\nr1 d 0 rm w=2 l=10\n'
                           '.model rm r rsh=100 dw={"-a-0.1/2"}\n')
        self.assertAlmostEqual(got * 100 * 10 / 2.5, 1, 12)

    def test_words_that_describe_a_part_have_no_effect(self):
        form = 'v1 d 0 5\nv2 g 0 4\nm1 d g 0 irf\n.model irf vdmos(vto=3 kp=5%s)\n'
        got, said = self.amps(form % ' vds=100 ron=20m qg=30n')
        self.assertEqual(got, self.amps(form % '')[0])
        self.assertIn("module 'vdmos' has no parameters 'vds', 'ron', 'qg': no effect", said)

    def test_the_choice_of_resistances_may_stand_on_the_card(self):
        form = 'v1 d 0 1\nm1 d d 0 0 n w=1u l=0.2u %s\n.model n nmos level=54 version=4.8 rsh=1k dmcg=1u %s\n'
        card, said = self.amps(form % ('', 'rgeomod=1'))
        self.assertEqual(said, '')
        self.assertEqual(card, self.amps(form % ('rgeomod=1', ''))[0])
        self.assertLess(card, 0.9 * self.amps(form % ('', ''))[0])  # 1 kohm in the source

    def test_a_diode_without_area_has_its_sidewall_only(self):
        form = '.option gmin=1e-21\nv1 a 0 0.3\nd1 a 0 dm area=0 pj=%s\n.model dm d level=3 js=1e-6 jsw=1e-9\n'
        none, some = (self.amps(form % pj)[0] for pj in ('0', '1u'))
        self.assertLess(abs(none), 1e-20)
        self.assertAlmostEqual(some / (1e-15 * math.expm1(0.3 / 0.0258649)), 1, 4)

    def test_one_warning_for_a_card_of_many_elements(self):
        deck = 'v1 d 0 1\n' + ''.join('m%d d d 0 0 n w=%du\n' % (i, i) for i in range(1, 30)) + '.model n nmos aa=1 bb=2\n'
        _, said = self.amps(deck)
        self.assertEqual(said.count("module 'mos1' has no parameters 'aa', 'bb': no effect"), 1)
        self.run_deck(deck + '.op\n', '--strict', code=1)

    CELL = ('.subckt cell d w=1u l=1u mult=1\nm1 d d 0 0 n w={w} l={l}\n'
            '.model n.0 nmos lmin=0.5u lmax=2u wmin=0.5u wmax=2u kp=100u vto={0.5+sw*agauss(0,1,1)*(0.01/sqrt(w*l*mult*1e12))}\n'
            '.model n.1 nmos lmin=0.5u lmax=2u wmin=2u wmax=20u kp=100u vto=0.6\n.ends\n')

    def test_a_warning_that_a_flag_makes_one_of_the_card_is_told(self):
        """With warm=0 nothing of t depends on a voltage; that is known of the card, not of the module."""
        self.write('m.va', '''`include "disciplines.vams"
module warmed(a, c);
    inout a, c;
    electrical a, c;
    parameter integer warm = 0;
    parameter real t0 = 300, most = 400;
    real t;
    analog begin
        t = t0;
        if (warm != 0)
            t = t0 + 10 * V(a, c);
        if (t > most)
            $warning("%g K are too warm", t);
        if (t > 2 * most)
            $fatal(0, "%g K", t);
        I(a, c) <+ V(a, c) * t * 1e-6;
    end
endmodule
''')
        deck = '.hdl "m.va"\nv1 a 0 1\nn1 a 0 mm\nn2 a 0 mm\n.model mm warmed t0={hot}\n.param hot=%d\n.tran 1n 3n\n'
        for args in (), ('--no-cache',), ():
            said = self.run_deck(deck % 500, *args)
            self.assertEqual(said.count('n1: 500 K are too warm'), 1, said)
            self.assertEqual(said.count('too warm'), 1, said)
        self.assertEqual(self.run_deck(deck % 350), '')
        self.assertIn('n1: fatal: 900 K', self.run_deck(deck % 900, code=1))

    def test_a_preset_of_errors_makes_steps_longer_or_shorter(self):
        def points(options):
            self.run_deck('v1 a 0 sin(0 1 1k)\nr1 a b 1k\nc1 b 0 100n\n.tran 500u 20m 0 500u\n' + options, '--no-output', '--stats', 's.json')
            return json.loads(self.read('s.json'))['points_accepted']
        liberal, moderate, conservative = [points('.option errpreset=%s\n' % w) for w in ('liberal', 'moderate', 'conservative')]
        self.assertTrue(liberal < moderate < conservative, (liberal, moderate, conservative))
        self.assertEqual(points(''), moderate)
        self.assertEqual(points('.option trtol=3.5 errpreset=liberal\n'), moderate)
        self.assertIn('liberal, moderate or conservative is needed', self.run_deck('.option errpreset=loose\n.op\n', code=1))

    def test_mismatch_of_a_switch_is_off_or_each_its_own(self):
        deck = self.CELL + 'v1 d 0 1\nxa d cell\nxb d cell mult=4\nxc d cell w=5u\n'
        off, said = self.amps('.param sw=0\n' + deck)
        self.assertAlmostEqual(off, 2 * 50e-6 * 0.25 + 5 * 50e-6 * 0.16, 9)
        self.assertNotIn('statistical', said)
        self.assertIn('statistical', self.amps('.param sw=1\n' + deck)[1])
        runs = [self.amps('.param sw=1\n.option seed=%d\n' % s + deck)[0] for s in (1, 1, 2)]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])
        self.assertNotEqual(runs[0], off)

    def test_equal_cards_of_many_instances_are_kept_once(self):
        self.needs_plain(VSIM)
        body = ' '.join('p%d={w*%d}' % (i, i) for i in range(300))
        lines = ['.subckt cell d w=1u', 'm1 d d 0 0 n w={w}', '.model n nmos ' + body, '.ends', 'v1 d 0 1']
        lines += ['x%d d cell w=%du' % (i, 1 + i % 3) for i in range(4000)]
        self.write('t.sp', 't\n' + '\n'.join(lines) + '\n.op\n.end\n')
        # a code generator would take more memory than the cards
        p = subprocess.run([VSIM, '--interpret', 't.sp'], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        said = p.stdout + p.stderr
        self.assertEqual(p.returncode, 0, said)
        self.assertEqual(said.count("module 'mos1' has no parameters"), 1)
        # each parameter of each card takes a name, a value, a string and a place: 32 bytes or more
        self.assertLess(float(re.search(r'peak memory ([0-9.]+) MB', said)[1]), 4000 * 300 * 32 / 1e6)

    def test_sweeps_cross_the_limits_of_bins(self):
        for how in ('.dc wx 1u 5u 1u', '.step param wx 1u 5u 1u\n.op'):
            self.run_deck('.param sw=0 wx=1u\n' + self.CELL + 'v1 d 0 1\nxa d cell w={wx}\n.save i(v1)\n' + how + '\n')
        deck = '.param sw=0 wx=1u\n' + self.CELL + 'v1 d 0 1\nxa d cell w={wx}\n'
        self.run_deck(deck + '.control\nforeach x 1u 1.9u 3u 5u\nalterparam wx=$x\nreset\nop\nwrdata c$x -i(v1)\nend\n.endc\n')
        for x, wanted in (('1u', 1 * .25), ('1.9u', 1.9 * .25), ('3u', 3 * .16), ('5u', 5 * .16)):
            name = next(n for n in os.listdir(self.tmp.name) if n.startswith('c' + x))
            self.assertAlmostEqual(float(self.read(name).split()[-1]), 50e-6 * wanted, 9)


if __name__ == '__main__':
    unittest.main()
