#!/usr/bin/env python3
"""What vsim and ngspice tell of the inside of devices: @r1[i], @l1[flux], @q1[ie] ..., and the vectors
of noise analyses, names and values.

    peer_asked.py VSIM [unittest arguments]"""
import os
import re
import shutil
import subprocess
import sys
import unittest

import folder

VSIM = ''
DECK = """what devices tell
v1 in 0 dc 2 ac 1 sin(2 1 1k)
r1 in a 1k m=2
c1 a 0 1u m=2
l1 a b 1m
l2 x 0 1m
k1 l1 l2 0.5
rx x 0 50
r2 b 0 2k
i1 0 b dc 1m ac 1
e1 e 0 a in 2
re e 0 1k
g1 g 0 a in 1m m=2
rg g 0 1k
vs a2 0 dc 1
rs a2 0 1k
f1 f 0 vs 2
rf f 0 1k
h1 h 0 vs 100
rh h 0 1k
s1 in sw a2 0 sm on
rsw sw 0 1k
w1 in ww vs wm
rww ww 0 1k
b1 bb 0 v=v(a)*2
rb bb 0 1k
b2 b2 0 i=v(a)*1m
rb2 b2 0 1k
d1 in dd dm
rd dd 0 1k
q1 c1n b1n 0 qn
rc1 in c1n 1k
rb1 in b1n 100k
m1 md mg 0 0 mn w=10u l=1u
rmd in md 1k
rmg in mg 1k
cmg mg 0 1p
j1 jd 0 js jn
rjd in jd 1k
rjs js 0 300
x1 in xs sub
rxs xs 0 3k
.subckt sub p n
r1 p m 1k
d1 m n dm
.ends
.model sm sw vt=0.5 ron=1 roff=1meg
.model wm csw it=0.1m ron=1 roff=1meg
.model dm d is=1e-14 cjo=10p rs=10
.model qn npn bf=100 cje=1p cjc=1p tf=0.1n rb=10 kf=1e-16
.model mn nmos level=1 vto=0.7 kp=100u cgso=1n cgdo=1n rd=1 kf=1e-26
.model jn njf vto=-1 beta=1m cgs=1p
"""
ASKED = {
    'r1': 'resistance r i p w l temp dtemp m',
    'c1': 'capacitance cap c i p m',
    'l1': 'inductance flux v volt i current p',
    'v1': 'dc acmag acphase acreal acimag i p',
    'i1': 'dc acmag acphase acreal acimag v p current',
    'e1': 'gain i v p', 'g1': 'gain i v p m', 'f1': 'gain i v p', 'h1': 'gain i v p',
    'w1': 'i p', 'b1': 'i v', 'b2': 'i v', 'k1': 'k coefficient',
    'd1': 'vd id c gd cd charge p area',
    'q1': 'ic ib ie vbe vbc gm gpi gmu gx go p cpi cmu csub qbe area',
    'm1': 'id is ig ibd ibs vgs vds vbs vbd von vdsat gm gds gmbs gbd gbs p w l',
    'j1': 'vgs vgd ig id is igd gm gds ggs ggd p',
}
FAST = """edges of a nanosecond
v1 in 0 dc 0 pulse(0 5 10n 1n 1n 30n 100n)
vcc cc 0 5
q1 c b 0 0 qn
rc cc c 1k
rb in b 10k
d1 in d dm
rd d 0 1k
j1 cc g js jn
rg in g 1k
rjs js 0 300
.model dm d is=1e-14 cjo=10p rs=10 tt=1n
.model qn npn bf=100 cje=1p cjc=1p cjs=2p tf=0.1n rb=10
.model jn njf vto=-1 beta=1m cgs=1p cgd=1p
"""
CHARGES = """currents of charges
vg g 0 sin(0.3 0.6 100meg)
vp p 0 2
q1 c b 0 0 qn
rc p c 500
rb g b 500
j1 d jg 0 jn
rd p d 500
rj g jg 500
d1 g dd dm
rdd dd 0 500
m1 md mg 0 0 nm w=10u l=1u
rmd p md 500
rmg g mg 500
z1 zd zg zs zm
rzd p zd 500
rzg g zg 500
rzs zs 0 500
.model nm nmos level=2 vto=0.2 kp=1m cgso=1n cgdo=1n tox=20n cbd=1p cbs=1p
.model qn npn tf=10p cje=1p cjc=1p cjs=1p
.model jn njf vto=-2 beta=1m cgs=1p cgd=1p
.model dm d cjo=1p tt=1n
.model zm nmf vto=-2 beta=1m cgs=1p cgd=1p
"""
# of ngspice: what it is here (docs/ngspice-compatibility.md)
RATES = {'@q1[cqbe]': 'deriv(@q1[qbe])', '@q1[cqbc]': 'deriv(@q1[qbc])', '@j1[cqgs]': 'deriv(@j1[qgs])',
         '@j1[cqgd]': 'deriv(@j1[qgd])', '@d1[capcur]': 'deriv(@d1[qd])', '@m1[cqgs]': '@m1[cgs]*deriv(@m1[vgs])',
         '@m1[cqbd]': '@m1[capbd]*deriv(@m1[vbd])', '@z1[cg]': '@z1[cg]', '@z1[cd]': '@z1[cd]'}
# Saved in a transient: with a source in series where a current charges something
SAVED = '@r1[i] @r1[p] @c1[i] @c1[p] @l1[i] @l1[v] @l1[flux] @l1[p] @e1[i] @f1[v] @b1[i] @i1[v] @d1[id] ' \
    '@q1[ie] @m1[id] @w1[i] @d.x1.d1[id]'.split()


def run(program, *args, cwd):
    return subprocess.run([*program, *args], cwd=cwd, capture_output=True, text=True, timeout=300).stdout


@unittest.skipUnless(shutil.which('ngspice'), 'ngspice is not installed')
class Asked(folder.Folder):
    maxDiff = None

    def both(self, *lines):
        self.write('deck.sp', DECK + '.control\n' + '\n'.join(lines) + '\n.endc\n.end\n')
        for program in ([shutil.which('ngspice'), '-b'], [VSIM, '--ngspice', '-b']):
            yield run(program, 'deck.sp', cwd=self.tmp.name)

    def agree(self, want, have, rel=2e-3, least=1e-15):
        self.assertEqual(sorted(want), sorted(have))
        for name, x in want.items():
            self.assertLessEqual(abs(have[name] - x), rel * abs(x) + least, name)

    def numbers(self, out):
        return {k: float(v) for k, v in re.findall(r'^(@\S+) = (\S+)', out, re.M)}

    def test_operating_point(self):
        names = ['@%s[%s]' % (k, n) for k, v in ASKED.items() for n in v.split()]
        want, have = (self.numbers(out) for out in self.both('op', *('print ' + n for n in names)))
        self.assertEqual(len(want), len(names))
        self.agree(want, have, least=2e-12)

    def test_saved_in_a_transient(self):
        """Both within the truncation error of their own steps: what one period moves a value by is
        met to 0.5 %."""
        lines = ['save all ' + ' '.join(SAVED), 'tran 2u 2m 0 2u']
        for i, name in enumerate(SAVED):
            lines += ['meas tran a%d find %s at=1.3m' % (i, name), 'meas tran s%d pp %s' % (i, name)]
        want, have = ({k: float(v) for k, v in re.findall(r'^([as]\d+) +=\s+(\S+)', out, re.M)}
                      for out in self.both(*lines))
        self.assertEqual(len(want), 2 * len(SAVED))
        for i, name in enumerate(SAVED):
            self.assertAlmostEqual(want['a%d' % i], have['a%d' % i], delta=5e-3 * want['s%d' % i], msg=name)

    def test_fast_edges_charge_devices(self):
        """ngspice's ic does not charge the substrate, and its is has the other sign."""
        names = ['@q1[ib]', '@d1[id]', '@j1[id]', '@j1[ig]', '@q1[ic]', '@q1[is]']
        lines = ['save ' + ' '.join(names), 'tran 0.05n 60n']
        for i, name in enumerate(names):
            lines += ['meas tran %s%d find %s at=%s' % (k, i, name, at) for k, at in zip('abc', ('10.8n', '25n', '42n'))]
            lines.append('meas tran s%d pp %s' % (i, name))
        self.write('fast.sp', FAST + '.control\n' + '\n'.join(lines) + '\n.endc\n.end\n')
        want, have = ({k: float(v) for k, v in re.findall(r'^([abcs]\d) +=\s+(\S+)', run(*p, 'fast.sp', cwd=self.tmp.name), re.M)}
                      for p in ([[shutil.which('ngspice')], '-b'], [[VSIM], '--ngspice', '-b']))
        self.assertEqual(len(want), 4 * len(names))
        for k in 'abc':
            have[k + '4'] += have[k + '5']
            want[k + '5'] *= -1
            for i, name in enumerate(names):
                self.assertAlmostEqual(want[k + str(i)], have[k + str(i)], delta=5e-3 * want['s%d' % i], msg=name)

    def test_currents_of_charges(self):
        def told(program, value):
            lines = ['save ' + ' '.join(sorted(set(re.findall(r'@\w+\[\w+\]', ' '.join(value))))), 'tran 20p 30n']
            for i, name in enumerate(value):
                lines += ['let y%d = %s' % (i, name), 'meas tran a%d find y%d at=21.3n' % (i, i),
                          'meas tran b%d find y%d at=27.1n' % (i, i), 'meas tran s%d pp y%d from=10n' % (i, i)]
            self.write('charges.sp', CHARGES + '.control\n' + '\n'.join(lines) + '\n.endc\n.end\n')
            out = run(program, 'charges.sp', cwd=self.tmp.name)
            return {k: float(v) for k, v in re.findall(r'^([abs]\d) +=\s+(\S+)', out, re.M)}
        want = told([shutil.which('ngspice'), '-b'], RATES.keys())
        have = told([VSIM, '--ngspice', '-b'], RATES.values())
        self.assertEqual(len(want), 3 * len(RATES))
        for i, name in enumerate(RATES):
            for k in 'ab':
                self.assertAlmostEqual(want[k + str(i)], have[k + str(i)], delta=5e-3 * want['s%d' % i], msg=name)

    def test_words_for_currents(self):
        """cd of MOS, cg cd cs of MESFETs: id ig is."""
        names = ['@m1[cd]', '@z1[cd]', '@z1[cg]']
        self.write('charges.sp', CHARGES + '.control\nop\n' + '\n'.join('print ' + n for n in names) + '\n.endc\n.end\n')
        want, have = (self.numbers(run(p, 'charges.sp', cwd=self.tmp.name))
                      for p in ([shutil.which('ngspice'), '-b'], [VSIM, '--ngspice', '-b']))
        self.assertEqual(len(want), len(names))
        self.agree(want, have, least=2e-12)

    def test_where_a_transient_has_ended(self):
        """What the deck did not save is that of the last point; the current of a capacitor is not
        known there."""
        names = ['@r1[i]', '@l1[i]', '@m1[id]', '@q1[ic]', '@e1[p]', '@d1[vd]']
        want, have = (self.numbers(out) for out in self.both(
            'tran 2u 1.37m 0 2u', *('print ' + n for n in names), 'print @c1[i]'))
        want.pop('@c1[i]', None)
        self.assertEqual(len(want), len(names))
        self.agree(want, have)

    def test_noise(self):
        """onoise_q1_ib, inoise_total_d.x1.d1, ...; ngspice also has vectors of series resistances of 0
        ohm, vsim one of the only source of a switch."""
        none = re.compile('_(j1_r[ds]|m1_rs|q1_r[ce]|[sw]1_thermal)$')

        def vectors(out):
            found = {k: float(v) for k, v in re.findall(r'^([io]noise\S*) = (\S+)', out, re.M)}
            return {k: v for k, v in found.items() if not none.search(k)}
        want, have = (vectors(out) for out in self.both('noise v(c1n) v1 dec 1 1 10 1', 'setplot noise2', 'print all'))
        self.assertGreater(len(want), 80)
        self.agree(want, have, rel=5e-3, least=1e-25)

        def names(out):
            found = set(re.findall(r'^\s*([io]noise\S*)\s*: ', out, re.M))
            return {k for k in found if not none.search(k)}
        want, have = (names(out) for out in self.both('noise v(c1n) v1 dec 1 1 10 1', 'setplot noise1', 'display'))
        self.assertGreater(len(want), 40)
        self.assertEqual(want, have)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
