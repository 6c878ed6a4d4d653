#!/usr/bin/env python3
"""Gradients of measures (.sens tran, ac, noise, op, dc) against differences of runs and closed forms.

    gradients.py VSIM [test...]

With trtol=1e9 truncation error never shortens a step: two runs whose parameters differ by little
have the same times, and their difference is that of the very function whose gradient is computed.
Central differences of a relative step d are wrong by d^2 times the third derivative, and by what
Newton leaves open over d: with d = 1e-4 and reltol = 1e-9 both are far below the bound of 1e-5."""
import csv
import json
import math
import os
import re
import subprocess
import sys
import unittest

import folder

VSIM = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
D = 1e-4
HELD = '.option reltol=1e-9 abstol=1e-15 vntol=1e-10 trtol=1e9\n'


class Gradients(folder.Folder):
    def run_deck(self, text, code=False, *args):
        self.write('deck.sp', text)
        done = subprocess.run([VSIM, '-r', 'out.raw', '--ascii', *args, 'deck.sp'],
                              cwd=self.tmp.name, timeout=300, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode != 0, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def gradients(self, text):
        """{measure: {parameter: derivative}}, with the measure itself under its name."""
        self.run_deck(text)
        out = {}
        with open(self.path('out.raw')) as f:
            parts = f.read().split('Title:')[1:]
        for p in parts:
            name = re.search(r'Plotname: (.*)', p).group(1).strip()
            if not name.startswith('Gradient of '):
                continue
            names = re.findall(r'^\t\d+\t(\S+)\t\S+$', p, re.M)
            values = [float(v) for v in p.split('Values:')[1].split()[1:]]
            out[name[12:]] = dict(zip(names, values))
        return out

    def measures(self, text, param, value):
        """[{measure: number}] of runs with these values of a parameter."""
        step = f'.step {param} list ' + ' '.join(f'{v:.17g}' for v in value)
        self.write('deck.sp', re.sub(r'(?m)^\.sens.*\n', '', text).replace('.end', step + '\n.end'))
        done = subprocess.run([VSIM, '--no-output', '--measures', 'm.csv', 'deck.sp'],
                              cwd=self.tmp.name, timeout=300, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path('m.csv')) as f:
            rows = list(csv.DictReader(f))
        return [{k: float(v) for k, v in r.items() if k not in ('status', 'state')} for r in rows]

    def against_differences(self, deck, values, tol=1e-5, tran=None):
        """tran: another bound for measures of a transient by the first parameters"""
        text = deck
        for kind in ('tran', 'ac', 'noise', 'op', 'dc'):
            names = re.findall(r'(?m)^\.meas %s (\S+)' % kind, deck)
            if names:
                text += '.sens %s %s param=%s\n' % (kind, ' '.join(names), ' '.join(values))
        text += '.end\n'
        got = self.gradients(text)
        of_tran = re.findall(r'(?m)^\.meas tran (\S+)', deck)
        for p, v in values.items():
            d = 0.02 if p == 'temp' else D * abs(v)
            lo, hi = self.measures(text, p, [v - d, v + d])
            for m, g in got.items():
                want = (hi[m] - lo[m]) / (2 * d)
                # what a change of the parameter by all of its value would do, or 1e-3 of the
                # measure: rounding of the difference is 1e-12 / D of that
                loose = tran and p in tran[0] and m in of_tran
                bound = tran[1] if loose else tol
                scale = max(abs(want) * abs(v), (1e-2 if loose else 1e-3) * abs(g[m]))
                self.assertLessEqual(abs(g[p] - want) * abs(v), bound * scale,
                                     f'd {m} / d {p}: {g[p]} for {want}')
        return got

    # -- against differences --

    DIODE = """rectifier with a filter
.param rl=1k cl=10n vs=5 is0=1e-14 l1=10u fr=1meg
.model d1 d is={is0} cjo=2p rs=10 tt=1n
v1 a 0 sin(0 {vs} {fr})
d1 a b d1
r1 b 0 {rl}
c1 b 0 {cl}
l1 b e {l1}
r2 e 0 500
.option method=METHOD
.tran 1n 3u 0 2n
.meas tran vb avg v(b) from=1u to=2.5u
.meas tran vr rms v(e) from=0.5u
.meas tran pk pp v(e) from=2u to=3u
.meas tran at find v(b) at=1.63u
.meas tran pw integ par('-v(a)*i(v1)') from=0.2u to=2u
.meas tran ef param='vb*vb/rl/pw'
""" + HELD
    DIODE_BY = {'rl': 1e3, 'cl': 10e-9, 'vs': 5, 'is0': 1e-14, 'l1': 10e-6, 'r2': 500, 'temp': 27,
                'd1(rs)': 10}

    def test_a_rectifier_by_trapezoidal_steps(self):
        self.against_differences(self.DIODE.replace('METHOD', 'trap'), self.DIODE_BY)

    def test_a_rectifier_by_gear_steps(self):
        self.against_differences(self.DIODE.replace('METHOD', 'gear'), self.DIODE_BY)

    def test_transistors(self):
        self.against_differences("""gates and an amplifier
.param vt=0.7 kp=100u w=10u ll=1u bf=100 rb=100k sup=3.3
.model n1 nmos level=1 vto={vt} kp={kp} lambda=0.02 cgso=1n cgdo=1n tox=10n gamma=0.4 phi=0.7
.model p1 pmos level=1 vto=-0.7 kp=40u lambda=0.03 cgso=1n cgdo=1n tox=10n
.model q1 npn bf={bf} is=1e-16 cje=1p cjc=0.5p tf=50p vaf=80 rb=50 re=1 rc=10
v2 dd 0 {sup}
v3 g 0 pulse(0 3.3 0.1u 50n 50n 0.4u 1u)
m1 o g 0 0 n1 w={w} l={ll}
m2 o g dd dd p1 w={2*w} l={ll}
co o 0 50f
m3 o2 o 0 0 n1 w={w} l={ll}
m4 o2 o dd dd p1 w={2*w} l={ll}
co2 o2 0 100f
rb dd bb {rb}
cb g bb 1p
q1 cc bb 0 q1
rc dd cc 1k
.tran 1n 1.2u 0 2n
.meas tran p1 avg i(v2) from=0.05u to=1u
.meas tran o2 find v(o2) at=0.132u
.meas tran vc rms v(cc)
.meas tran v0 find v(cc) at=0
""" + HELD, {'vt': 0.7, 'kp': 100e-6, 'w': 10e-6, 'll': 1e-6, 'bf': 100, 'rb': 100e3, 'sup': 3.3,
             'temp': 27, '@m3[w]': 10e-6, 'q1(cjc)': 0.5e-12, 'co2': 100e-15})

    # A sum by a loop; a slope that is 0 below p = 1 and 1 above, where it is the mean of both.
    MODELS = """`include "disciplines.vams"
module looped(a, b); inout a, b; electrical a, b;
parameter real k = 1m;
real y; integer i;
analog begin
  y = 0; i = 0;
  while (i < 3 + (V(a, b) > 0.5)) begin y = k*V(a, b) + 0.3*y*(1 + 100*k); i = i + 1; end
  I(a, b) <+ y;
end
endmodule
module bent(a, b); inout a, b; electrical a, b;
parameter real p = 1; parameter real c = 1p;
analog I(a, b) <+ 1m*max(p, 1.0)*tanh(V(a, b)) + ddt(c*p*V(a, b)*V(a, b));
endmodule
"""

    def test_models_with_loops_and_kinks(self):
        self.write('m.va', self.MODELS)
        deck = """models whose sweep cannot be reversed
.hdl "m.va"
.param kk=2m pp=1 cc=3p
.model l1 looped
.model b1 bent
v1 a 0 sin(0.4 0.4 10meg)
r1 a b 300
n1 b 0 l1 k={kk}
n2 b 0 b1 p={pp} c={cc}
.tran 0.5n 0.2u 0 0.5n
.meas tran vb avg v(b)
.meas tran pk max v(b)
""" + HELD
        self.against_differences(deck, {'kk': 2e-3, 'cc': 3e-12})
        # at a kink differences of runs are right to first order of their step
        got = self.against_differences(deck, {'pp': 1}, 10*D)
        self.assertLess(got['vb']['pp'], 0)

    def test_corners_that_move_have_their_closed_forms(self):
        # v(a) ramps from 0 to u within r after d, and -i(v1) = v(a)/1k: the integral of v over
        # [0, 10u] is u (10u - d - r/2), that of -v i u^2/1k (10u - d - 2/3 r). Steps are 1/100
        # of r: (1/100)^2
        g = self.gradients("""a ramp
.param u=2 d=1u r=0.5u
v1 a 0 pulse(0 {u} {d} {r} 1u 20u 40u)
r1 a 0 1k
.option trtol=1e9
.tran 5n 10u 0 5n
.meas tran area integ v(a) from=0 to=10u
.meas tran work integ par('-v(a)*i(v1)') from=0 to=10u
.sens tran area work param=u d r
.end
""")
        u, d, r = 2, 1e-6, 0.5e-6
        exact = {'area': {'u': 1e-5 - d - r/2, 'd': -u, 'r': -u/2},
                 'work': {'u': 2*u*(1e-5 - d - 2/3*r)/1e3, 'd': -u*u/1e3, 'r': -2/3*u*u/1e3}}
        for m, by in exact.items():
            for p, want in by.items():
                self.assertLessEqual(abs(g[m][p]/want - 1), 1e-4, f'd {m} / d {p}: {g[m][p]}')

    def test_what_lies_beside_a_corner_belongs_to_its_piece(self):
        # The ramp from 1n on is (t - 1n)/tr, a line's delay later too; then 1, which tr does not move.
        # Interpolation between points is exact, and so are derivatives, up to and from the corner
        at = {'a': 1.3e-9, 'b': 1.97e-9, 'c': 2e-9, 'd': 2.01e-9, 'e': 5.1e-9, 'f': 5.29e-9, 'g': 5.35e-9}
        deck = '''beside a corner
.param tr=1n td=3.3n
v1 in 0 pulse(0 1 1n {tr} 1n 8n 40n)
r1 in x 50
r2 x 0 50
r3 in y 50
t1 y 0 z 0 z0=50 td={td}
r4 z 0 50
.tran 1n 10n
.meas tran w when v(x)=0.4925 rise=1
.meas tran u when v(z)=0.4925 rise=1
%s.sens tran w u %s param=tr
.end
''' % (''.join('.meas tran %s find v(%s) at=%g\n' % (k, 'x' if t < 3e-9 else 'z', t)
               for k, t in at.items()), ' '.join(at))
        g = self.gradients(deck)
        for k, t in at.items():
            part = (t - (1e-9 if t < 3e-9 else 4.3e-9)) / 1e-9
            self.assertAlmostEqual(g[k]['tr'] * 1e-9, -0.5 * part if part < 1 else 0, delta=1e-8, msg=k)
        for k in 'wu':
            self.assertAlmostEqual(g[k]['tr'], 0.985, delta=1e-8, msg=k)

    def test_a_current_that_jumps_at_a_corner_that_moves(self):
        # A ramp of 2 V into 1 pF and 1k: i rises from i0 = 2 C/tr to i1 = i0 + 2 mA, which is also
        # what flows behind the ramp: all pieces are straight, as the measures take them.
        # The charge and the mean square move with the corner; the pulse that i has in its
        # derivative there stays there. It has 1e-4 of a step of 1/21.9 of the ramp: 5e-6 of what
        # flows in the ramp.
        # At t = 0 a corner has nothing before it. With given values the first step is backward Euler
        # and no row shows the current just behind t = 0, so that only the charge by td is exact.
        for td, uic in ((3e-9, ''), (0, ''), (0, 'uic')):
            self.current_that_jumps(td, uic)

    def current_that_jumps(self, td, uic):
        vs, tr, c, r, end = 2, 21.9e-9, 1e-12, 1e3, 55e-9
        g = self.gradients(f"""ramp
.param tr={tr} td={td}
v1 a 0 pulse(0 {vs} {{td}} {{tr}} 10n 50n 200n)
c1 a 0 {c}
r1 a 0 {r}
{HELD}.tran 1n 60n 0 1n {uic}
.meas tran q integ i(v1) from=0 to={end}
.meas tran sq rms i(v1) from=0 to={end}
.meas tran late find i(v1) at=33.2n
.sens tran q sq late param=tr td
.end
""")
        i0, i2 = vs / tr * c, vs / r
        i1 = i0 + i2
        # tr (i0^2 + i0 i1 + i1^2)/3 of the ramp, where d i0 = d i1 = -i0/tr dtr; less i2^2 behind it
        by_tr = (i0 * i0 + i0 * i1 + i1 * i1) / 3 - i0 * (i0 + i1) - i2 * i2
        self.assertLess(abs(g['q']['td'] / i2 - 1), 1e-5)
        if uic:
            return
        self.assertLess(abs(g['q']['tr'] / (0.5 * i2) - 1), 1e-5)
        self.assertLess(abs(g['sq']['tr'] * 2 * end * g['sq']['sq'] / by_tr - 1), 1e-5)
        self.assertLess(abs(g['sq']['td'] * 2 * end * g['sq']['sq'] / -(i2 * i2) - 1), 1e-5)
        self.assertLess(abs(g['late']['tr']), 1e-5 * i2 / tr)
        self.assertLess(abs(g['late']['td']), 1e-5 * i2 / tr)

    def test_a_corner_that_travels_along_a_lossy_line(self):
        # A ramp through a capacitor into a lossy line, a capacitor at its other end. Where the corner
        # moves the wave that enters jumps in its derivative, and so does the one that arrives.
        # Differences are of runs whose corners move by one step, all of which end at corners of a
        # clock. Bound: the square of a step in the time constant of 0.3 ns.
        step, tau = 5e-12, 0.3e-9
        values = {'td': 2.118e-9, 'tr': 3.318e-9}
        deck = f"""lossy
.param td=2.118n tr=3.318n
v1 a 0 pulse(0 2 {{td}} {{tr}} {{tr}} 21.018n 200n)
c1 a c 3p
r1 c 0 100
o1 c 0 d 0 lo
.model lo ltra r=100 l=250n c=100p len=0.5
c2 d e 2p
r2 e 0 60
vclock clock 0 pulse(0 1 0 5p 5p 5p 20p)
{HELD}.option trtol=1e15
.tran 5p 20n 0 5p
.meas tran v1 find v(d) at=8.3n
.meas tran v2 find v(d) at=11.7n
.meas tran area integ v(d) from=0 to=15n
.meas tran top rms v(d) from=1n to=15n
"""
        names = re.findall(r'(?m)^\.meas tran (\S+)', deck)
        got = self.gradients(f'{deck}.sens tran {" ".join(names)} param=td tr\n.end\n')
        for p, v in values.items():
            lo, hi = self.measures(deck + '.end\n', p, [v - step, v + step])
            for m in names:
                want = (hi[m] - lo[m]) / (2 * step)
                scale = max(abs(want), abs(lo[m]) / v)
                self.assertLess(abs(got[m][p] - want), (step / tau)**2 * scale, f'd {m} / d {p}')

    def test_a_corner_that_arrives_through_a_delay(self):
        # A ramp, delayed, right into a capacitor: i = C v/tr from td + t0 on, so that the charge at
        # `end` is C v (end - td - t0)/tr. By the delay the signal's slope has a corner too. The pulse
        # has 1e-4 of a step of 1/21.9 of the ramp: 5e-6.
        self.write('delay.va', """`include "disciplines.vams"
module delay(p, n, o); inout p, n, o; electrical p, n, o;
parameter real td = 1n;
analog V(o) <+ absdelay(V(p, n), td);
endmodule
""")
        vs, tr, t0, td, c, end, last = 2, 21.9e-9, 3e-9, 10e-9, 1e-12, 30e-9, 55e-9
        g = self.gradients(f"""delayed ramp
.hdl 'delay.va'
.param tr={tr} t0={t0} td={td}
v1 a 0 pulse(0 {vs} {{t0}} {{tr}} 10n 50n 200n)
n1 a 0 o x1
.model x1 delay td={{td}}
vi o b 0
c1 b 0 {c}
{HELD}.tran 1n 60n 0 1n
.meas tran q integ i(vi) from=0 to={end}
.meas tran av avg v(b) from=0 to={last}
.meas tran at find i(vi) at=29.2n
.sens tran q av at param=tr t0 td
.end
""")
        slope = c * vs / tr
        for m, by in (('q', {'tr': -slope * (end - td - t0) / tr, 't0': -slope, 'td': -slope}),
                      ('av', {'tr': -vs / 2 / last, 't0': -vs / last, 'td': -vs / last}),
                      ('at', {'tr': -slope / tr})):
            for p, want in by.items():
                self.assertLess(abs(g[m][p] / want - 1), 1e-5, f'd {m} / d {p}')
        self.assertLess(abs(g['at']['t0']), 1e-5 * slope / tr)
        self.assertLess(abs(g['at']['td']), 1e-5 * slope / tr)

    def test_numbers_that_are_one(self):
        # the module of an expression leaves out factors of 1, unless they may move
        self.against_differences("""expressions
.param one=1 two=2
v1 a 0 sin(0.5 0.4 1meg) ac 1
b1 b 0 v={one}*tanh(v(a))+{one+1}*v(a)*{two-1}
r1 b c 1k
c1 c 0 100p
.tran 10n 1u 0 10n
.op
.ac lin 3 0.9meg 1.1meg
.meas tran vc rms v(c)
.meas op vb find v(b)
.meas ac gain find vm(c) at=1meg
""" + HELD, {'one': 1, 'two': 2})

    def test_coupled_inductors(self):
        # inductances stand before the couplings that follow them: each is put back behind its turn
        deck = """two windings and a third
v1 a 0 sin(0 1 10meg) ac 1
rs a b 50
l1 b 0 1u
l2 c 0 2u
l3 d 0 4u
k1 l1 l2 0.31
k2 l1 l2 l3 k=0.2
rl c 0 70
rm d 0 90
.tran 1n 0.3u 0 1n
.ac lin 1 10meg 10meg
.noise v(c) v1 lin 1 10meg 10meg
.meas tran at find v(c) at=0.21u
.meas ac gain find vm(c) at=10meg
.meas noise dens find onoise_spectrum at=10meg
""" + HELD
        self.against_differences(deck, {'l1': 1e-6, 'l2': 2e-6, 'l3': 4e-6, 'k1': 0.31,
                                        '@k2[coupling]': 0.2, '@k1[k]': 0.31})
        self.assertIn('follows from its coupling', self.run_deck(
            deck + '.step @k1[m] list 1u 2u\n.end\n', True))

    STARTS = """start values
.param v0=1.5 i0=1m rr=1k cc=1n nl=1m
c1 a 0 {cc} IC
r1 a b {rr}
l1 b 0 10u IL
b1 a 0 i={nl}*v(a)*v(a)
EXTRA
.tran 1n 1u 0 2n UIC
.meas tran va find v(a) at=0.4u
.meas tran il avg i(l1)
""" + HELD

    def test_given_start_values(self):
        self.against_differences(
            self.STARTS.replace('IC\n', 'ic={v0}\n', 1).replace('IL', 'ic={i0}')
            .replace('UIC', 'uic').replace('EXTRA\n', ''),
            {'v0': 1.5, 'i0': 1e-3, 'rr': 1e3, 'cc': 1e-9, 'nl': 1e-3})

    def test_nodes_that_are_held_at_the_start(self):
        self.against_differences(
            self.STARTS.replace('IC\n', '\n', 1).replace('IL', '').replace(' UIC', '')
            .replace('EXTRA', '.ic v(a)={v0}'), {'v0': 1.5, 'rr': 1e3, 'cc': 1e-9, 'nl': 1e-3})

    # -- against a closed form --

    def test_a_delay_has_the_slope_of_the_curve(self):
        # a ramp of length T into RC: v crosses 1/2 at tau ln(2 (tau/T) (exp(T/tau) - 1)) after its
        # start; the derivative by tau is that over tau, plus 1 - T/tau e/(e - 1), e = exp(T/tau).
        # Lines of 1/400 tau and parabolas are exact to (1/400)^2/8 and better.
        g = self.gradients("""rc
.param rr=1k
v1 in 0 pulse(0 1 1u 0.1u 0.1u 30u 100u)
r1 in out {rr}
c1 out 0 1n
.option reltol=1e-7
.tran 2.5n 4u 0 2.5n
.meas tran t1 trig at=1u targ v(out) val=0.5 rise=1
.sens tran t1 param=rr c1
.end
""")['t1']
        e, part = math.exp(0.1), 0.1
        value = math.log(2 / part * (e - 1))
        slope = value + 1 - part * e / (e - 1)
        self.assertLessEqual(abs(g['t1'] / (1e-6 * value) - 1), 1e-5)
        self.assertLessEqual(abs(g['rr'] / (1e-9 * slope) - 1), 1e-5)
        self.assertLessEqual(abs(g['c1'] / (1e3 * slope) - 1), 1e-5)

    # -- lines and delays --

    # What left at the start arrives as a corner, at which steps end: a delay moves these points. So
    # differences of runs and the derivative with times held differ by what the steps are wrong by,
    # (w h)^2 = 2.5e-4 of a wave, a few times that at each reflection.
    LINE = """CARD
.param rs=30 rl=200 cl=2p PARAMS
v1 in 0 sin(0.7 1 100meg 0 0 90) ac 1
r1 in a {rs}
r2 b 0 {rl}
c2 b 0 {cl}
d1 b 0 d1
.model d1 d is=1e-14 cjo=1p rs=5
CARDS
.option method=METHOD
.tran STEP 33n 0 STEP
.meas tran av avg v(b) from=10n to=27n
.meas tran ef rms v(b) from=10n
.ac lin 20 10meg 400meg
.meas ac db find vdb(b) at=330meg
.meas ac ph avg vp(b)
.noise v(b) v1 lin 10 10meg 400meg
.meas noise on integ onoise_spectrum
.op
.meas op vo find v(b)
""" + HELD

    def line(self, cards, values, method='trap', by=(), step='25p'):
        deck = self.LINE.replace('PARAMS', ' '.join(f'{k}={v}' for k, v in values.items()))
        return self.against_differences(deck.replace('CARDS', cards).replace('METHOD', method)
                                        .replace('STEP', step),
                                        {**values, 'rs': 30, 'rl': 200, 'cl': 2e-12, **dict(by)},
                                        tran=([*values, *dict(by)], 4e-3))

    def test_lines_without_losses(self):
        for method in ('trap', 'gear'):
            self.line('t1 a 0 b 0 z0={z0} td={td}', {'z0': 50, 'td': 3.319e-9}, method)
        self.line('t1 a 0 b 0 z0=50 f={f} nl=0.4 m={mm}', {'f': 120e6, 'mm': 1.5})

    def test_lines_with_losses(self):
        card = 'o1 a 0 b 0 lo\n.model lo ltra r={r} l={l} g={g} c={c} len={len}'
        for r, g in ((10, 1e-3), (1, 5e-3)):  # filters on voltages, and on currents
            self.line(card, {'r': r, 'l': 167e-9, 'g': g, 'c': 66e-12, 'len': 1})
        self.line('o1 a 0 b 0 lo\n.model lo ltra r={r} c={c} len={len}',
                  {'r': 100, 'c': 30e-12, 'len': 1})
        self.line('y1 a 0 b 0 lo len={len}\n.model lo txl r=20 l=167n c=66p length=1', {'len': 1},
                  by={'lo(r)': 20, 'lo(c)': 66e-12})

    def test_coupled_lines(self):
        self.line("""p1 a x 0 b y 0 cp
rx x 0 60
ry y 0 80
.model cp cpl r=0 0 0 l={l} {lm} {l} g=0 0 0 c={c} {cm} {cd} length={len}""",
                  {'l': 250e-9, 'lm': 60e-9, 'c': 100e-12, 'cm': -15e-12, 'cd': 110e-12, 'len': 1}, step='10p')

    def test_delays(self):
        # of a constant, and of one that a voltage moves
        for d in ('td', 'td*(1+0.2*V(p, n)), 1.5*td'):
            self.write('delay.va', f"""`include "disciplines.vams"
module delay(p, n, o); inout p, n, o; electrical p, n, o;
parameter real td = 1n; parameter real g = 1; parameter real r = 10;
analog V(o) <+ g*absdelay(V(p, n), {d}) + r*I(o);
endmodule
""")
            self.line(".hdl 'delay.va'\nn1 a 0 b x1\nr3 a 0 50\n.model x1 delay td={td} g={g} r=20",
                      {'td': 3.319e-9, 'g': 0.8})

    def test_corners_that_travel_have_their_closed_forms(self):
        # A source that is 0 until t = 0 drives a line with resistors at both ends: v(b) is a sum of
        # sines that begin at 1, 3, 5 ... delays, times powers of the reflections. Between points that
        # are h apart parabolas and lines are wrong by less than (w h)^2.
        w, td, h = 2e8*math.pi, 3.3e-9, 50e-12
        gs, gl = (30 - 50)/80, 150/250

        def echoes(t, of):
            return 50/80*(1 + gl)*sum((gs*gl)**k*of(k, t - (2*k + 1)*td)
                                      for k in range(20) if t > (2*k + 1)*td)

        def slope(k, t):  # of sin w t by the delay
            return -(2*k + 1)*w*math.cos(w*t)

        def area(k, t):  # of its integral
            return -(2*k + 1)*math.sin(w*t)
        g = self.gradients("""echoes
.param td=3.3n
v1 in 0 sin(0 1 100meg)
r1 in a 30
t1 a 0 b 0 z0=50 td={td}
r2 b 0 200
.option reltol=1e-7
.tran 50p 40n 0 50p
.meas tran one find v(b) at=33.37n
.meas tran few avg v(b) from=2n to=6n
.meas tran all avg v(b) from=10n to=33n
.sens tran one few all param=td
.end
""")
        for m, want in (('one', echoes(33.37e-9, slope)), ('few', echoes(6e-9, area)/4e-9),
                        ('all', (echoes(33e-9, area) - echoes(10e-9, area))/23e-9)):
            self.assertLess(abs(g[m]['td']/want - 1), (w*h)**2, m)

    def test_two_transients_of_a_lossy_line(self):
        # what the first one left is no past of the second
        self.run_deck("""twice
v1 in 0 sin(0 1 100meg 0 0 90)
r1 in a 50
o1 a 0 b 0 lo
.model lo ltra r=100 c=30p len=1
r2 b 0 200
.tran 0.1n 10n
.tran 0.1n 10n
.end
""")
        with open(self.path('out.raw')) as f:
            one, two = (p.split('Values:')[1] for p in f.read().split('Title:')[1:])
        self.assertEqual(one, two)

    # -- what memory and cost may be --

    # With memory=1 parts have 256 steps and there are 16 states; "every" is without a budget in effect.
    def parts_change_no_bit(self, deck, steps):
        seen = []
        for memory in ('', 'memory=1', 'memory=200k'):
            said = self.run_deck(deck % memory)
            with open(self.path('out.raw')) as f:
                text = f.read()
            seen.append(re.sub('Date:.*', '', text[text.index('Plotname: Gradient'):]))
            done = int(re.search(r'sensitivities: (\d+) points', said).group(1))
            self.assertGreater(done, steps)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])

    def test_parts_that_are_computed_again_change_no_bit(self):
        for method in ('trap', 'gear'):
            self.parts_change_no_bit(self.DIODE.replace('METHOD', method) +
                                     '.sens tran vb ef pk at %s param=rl is0 fr temp\n.end\n', 4 * 256)

    LONG = """rc, more parts than states
.param rr=1k
v1 in 0 sin(0.5 0.5 1meg)
r1 in out {rr}
c1 out 0 1n
.option trtol=1e9
.tran 1n 30u TSTART
.ic v(out)={rr/2k}
.meas tran va rms v(out)
.meas tran t1 when v(out)=0.5 rise=last
.meas tran mx max v(out) from=2u
.meas tran p integ par('v(in)*i(v1)') from=1.23u to=27.2u
.meas tran f find v(out) when v(in)=0.3 fall=7
.meas tran fs find par('sqrt(v(out))') at='20u+rr*1n'
.meas tran w param='p*va+rr'
.sens tran va t1 mx f fs w %s param=rr c1 v1 temp
.end
"""

    def test_more_parts_than_states_change_no_bit(self):
        for start in ('0 1n', '1.1u 1n', '0 1n uic'):
            self.parts_change_no_bit(self.LONG.replace('TSTART', start), 28000)

    def test_parts_of_lines_and_delays_change_no_bit(self):
        # a delay of more steps than a part has, losses, and absdelay: their past is of other parts
        self.write('delay.va', """`include "disciplines.vams"
module delay(p, n, o); inout p, n, o; electrical p, n, o;
parameter real td = 1n;
analog V(o) <+ absdelay(V(p, n), td*(1 + 0.2*V(p, n)), 1.5*td) + 20*I(o);
endmodule
""")
        line = self.LINE.replace('PARAMS', 'len=1 td=8n ta=0.7n').replace('STEP', '25p').replace(
            'CARDS', ".hdl 'delay.va'\n.model x1 delay td={ta}\nt1 a 0 x 0 z0=50 td={td}\n"
            'o1 x 0 y 0 lo\n.model lo ltra r=10 l=165n g=1m c=66p len={len}\nr3 y 0 50\nn1 y 0 b x1')
        line += '.sens tran av ef %s param=len td ta rs\n.end\n'
        for method in ('trap', 'gear'):
            self.parts_change_no_bit(line.replace('METHOD', method), 4 * 256)

    def test_parts_with_corners_change_no_bit(self):
        self.parts_change_no_bit("""corners, at which currents jump
.param rr=1k tr=0.1u
v1 in 0 pulse(0 1 0.3u {tr} {tr} 0.5u 1.3u)
i1 0 out pulse(0 0.1m 0.2u {tr} {tr} 0.5u 1.1u)
r1 in out {rr}
c1 out 0 1n
c2 in 0 1n
.tran 5n 20u
.meas tran va avg v(out)
.meas tran q integ i(v1)
.meas tran td trig v(in) val=0.5 rise=11 targ v(out) val=0.5 rise=11
.sens tran va q td %s param=rr c1 tr
.end
""", 8 * 256)

    def test_parts_that_end_at_corners_that_move_change_no_bit(self):
        # Of some 90 parts a few end just at one of 1,300 corners, where charges jump in derivatives:
        # the step behind is of the next part.
        self.parts_change_no_bit("""corners, a line
.param rr=1k tr=23n
v1 in 0 pulse(0 1 13n {tr} {tr} 30n 87n)
r1 in out {rr}
c1 out 0 0.1n
c2 in 0 1n
t1 in 0 far 0 z0=50 td=31n
r2 far 0 70
c3 far 0 1p
.tran 5n 30u
.meas tran va rms v(out)
.meas tran q integ i(v1)
.meas tran b avg v(far)
.meas tran w param='q*va'
.sens tran va q b w %s param=rr c1 tr @t1[td]
.end
""", 80 * 256)

    def test_parts_of_transistors_change_no_bit(self):
        # held linearisations, $limit, noise of Newton: all of it is in a state
        for option in ('method=trap', 'method=gear bypass=0'):
            self.parts_change_no_bit(f"""ring
.include {os.path.join(ROOT, 'netlists', 'psp103_models.inc')}
.option {option}
i0 0 1 dc 0 pulse(0 10u 1n 1n 1n 1n)
""" + ''.join(f'xp{k} {k % 5 + 1} {k} dd dd pmos w=20u l=1u\nxn{k} {k % 5 + 1} {k} 0 0 nmos w=10u l=1u\n'
              for k in range(1, 6)) + """vdd dd 0 1.2
.tran 0.05n 60n 0 0.05n
.meas tran tr trig v(1) val=0.6 rise=5 targ v(1) val=0.6 rise=8
.meas tran p avg i(vdd) from=20n to=50n
.sens tran tr p %s param=@xp1.nm[w] @xn3.nm[l] psp103n(vfbo) temp
.end
""", 4 * 256)

    OTHERS = """a discharge: v = exp(-t / rc)
.param rr=1k
c1 out 0 1n ic=1
r1 out 0 {rr}
.tran 1n 4u 0 1n uic
.meas tran t1 when v(out)=0.5
.meas tran av avg v(out) from=t1 to=3u
.meas tran area integ v(out) from=t1 to='2*t1'
.meas tran rm rms v(out) from=0 to=t1
.meas tran late find v(out) at='2*t1'
.meas tran dt trig at=t1 targ v(out) val=0.25
.meas tran top max v(out) from=t1 to=3u
.meas tran ef param='av+area/1u'
.ac dec 100 1k 10meg
.meas ac corner when vr(in)=0.5
.meas ac half find vr(in) at=corner
.meas ac low find vr(in) at='corner/2'
vin s 0 0 ac 1
r2 s in {rr}
c2 in 0 1n
.sens tran t1 av area rm late dt top ef param=rr MEMORY
.sens ac corner half low param=rr
.end
"""

    def check_others(self, got):
        # The derivatives of closed forms; trapezoidal steps and lines between points are of order 2,
        # (h / rc)^2 = 1e-6. Steps along a maximum at FROM have the slope of their line: h / (2 rc) = 5e-4.
        # Between 100 points a decade lines miss 7e-5.
        r, c, log2 = 1e3, 1e-9, math.log(2)

        def avg(rr):
            return rr * c * (0.5 - math.exp(-3e-6 / (rr * c))) / (3e-6 - rr * c * log2)
        d_avg = (avg(r * 1.0001) - avg(r / 1.0001)) / (r * 1.0001 - r / 1.0001)
        for name, want, scale, tol in (('t1', c * log2, c, 1e-5), ('av', d_avg, 1e-3, 1e-5), ('area', c / 4, c, 1e-5),
                                       ('rm', 0, 1e-3, 1e-5), ('late', 0, 1e-3, 1e-5), ('dt', c * log2, c, 1e-5),
                                       ('top', 0, 1e-3, 1e-3), ('ef', d_avg + c / 4 / 1e-6, 1e-3, 1e-5)):
            self.assertLessEqual(abs(got[name]['rr'] - want), tol * scale, (name, got[name]['rr'], want))

    def test_measures_that_name_others(self):
        got = self.gradients(self.OTHERS.replace('MEMORY', ''))
        self.check_others(got)
        # vr = 1 / (1 + (f/fc)^2): 1/2 at fc, 4/5 at fc/2 whatever r is
        fc = 1 / (2 * math.pi * 1e-6)
        self.assertLessEqual(abs(got['corner']['rr'] / -(fc / 1e3) - 1), 2e-4)
        for name in ('half', 'low'):
            self.assertLessEqual(abs(got[name]['rr']), 2e-4 * 1e-3)

    def test_gradients_need_no_memory_for_steps(self):
        self.needs_plain(VSIM)
        def peak(end):
            deck = self.LONG.replace('30u TSTART', end + ' 0 1n').replace('sqrt(v(out))', 'v(out)')
            self.run_deck(deck % 'memory=1', False, '--no-output', '--stats', 's.json')
            with open(self.path('s.json')) as f:
                return json.load(f)['peak_memory_bytes']
        self.assertLess(peak('300u') - peak('30u'), 1e6)    # a double of a step: 2.2e6

    def test_a_measure_that_needs_all_points_is_said(self):
        deck = self.LONG.replace('sqrt(v(out))', 'sqrt(v(out)-0.5)').replace('TSTART', '0 1n')
        said = self.run_deck(deck % 'memory=1meg', True)
        self.assertIn('not all fit into memory', said)
        memory = re.search(r'memory=(\S+) or so', said).group(1)
        self.run_deck(deck % f'memory={memory}')
        deck = self.LONG.replace("'20u+rr*1n'", "'t1/2+rr*1n'").replace('TSTART', '0 1n')
        said = self.run_deck(deck % 'memory=1meg', True)
        self.assertIn("the measure 'fs' needs another one", said)
        memory = re.search(r'memory=(\S+) or so', said).group(1)
        self.run_deck(deck % f'memory={memory}')

    def test_lanes_and_threads_change_no_bit(self):
        deck = self.DIODE.replace('METHOD', 'trap') + '.sens tran vb ef param=rl is0 temp\n.end\n'
        self.write('deck.sp', deck)
        seen = set()
        for args in (['--threads', '1'], ['--threads', '3']):
            self.run_deck(deck, False, *args)
            with open(self.path('out.raw')) as f:
                seen.add(re.sub('Date:.*', '', f.read()))
        self.assertEqual(len(seen), 1)

    def test_each_point_of_a_sweep_has_its_gradients(self):
        deck = self.DIODE.replace('METHOD', 'trap') + '.sens tran vb param=cl rl\n'
        self.run_deck(deck + '.step rl list 1k 2k\n.end\n')
        with open(self.path('out.raw')) as f:
            swept = re.findall(r'Plotname: Gradient of vb.*?Values:\n(.*?)(?=Title|\Z)', f.read(),
                               re.S)
        alone = []
        for rl in ('1k', '2k'):
            self.run_deck(deck.replace('rl=1k', 'rl=' + rl) + '.end\n')
            with open(self.path('out.raw')) as f:
                alone += re.findall(r'Plotname: Gradient of vb.*?Values:\n(.*?)(?=Title|\Z)',
                                    f.read(), re.S)
        self.assertEqual([s.split() for s in swept], [a.split() for a in alone])

    def test_the_example_finds_a_ring(self):
        # 100 log(f / wanted)^2 against log(power), which grows by about 2 log(f): the frequency
        # ends 2/200 below what is wanted, and less than 5 % in any case
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples',
                               'ring_size.py')
        done = subprocess.run([sys.executable, example, '--vsim', VSIM], timeout=300,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        f, power = (float(v) for v in re.search(r'f=(\S+) p=(\S+)', done.stdout).groups())
        self.assertLess(abs(f / 8e9 - 1), 0.05)
        self.assertLess(power, 5e-4)  # it starts at 7.3e-4 W and 9.3e9 Hz

    # -- small signals and their noise --

    STAGE = """two stages, whose operating points follow all parameters
.param vcc=5 rb=470k rc=4.7k re=330 bf=120 cf=2p af=1
.model q1 npn bf={bf} is=1e-15 cje=1p cjc=0.6p tf=80p vaf=70 rb=60 re=1 rc=15 kf=1e-14 af={af}
.model d1 d is=1e-14 cjo=1p rs=5 kf=1e-15
v2 dd 0 {vcc}
vin in 0 dc 0 ac {ain} 20
.param ain=1
rs in a 600
ca a b 1u
rb c b {rb}
cf c b {cf}
rc dd c {rc}
q1 c b e q1
re e 0 {re}
q2 dd c o q1
d1 o o2 d1
ro o2 0 2.2k
co o2 0 20p
l1 o2 o3 10u
rl o3 0 10k
.ac lin 21 0.9meg 1.1meg
.noise v(o3) vin dec 10 10 10meg
.meas ac gain find vm(o3) at=1meg
.meas ac db find vdb(o3) at=0.9meg
.meas ac ph find vp(o3) at=1meg
.meas ac re avg vr(o3,c)
.meas ac cur find par('imag(i(v2))') at=1meg
.meas ac all integ par('vm(o3)*vm(c)') from=0.93meg to=1.02meg
.meas ac most max vm(c)
.meas ac ratio param='gain/most/vcc'
.meas noise low find onoise_spectrum at=10
.meas noise in find inoise_spectrum at=1meg
.meas noise sum integ par('onoise_spectrum*onoise_spectrum') from=100 to=5meg
.meas noise two find par('inoise_spectrum*onoise_spectrum') at=1k
""" + HELD
    STAGE_BY = {'vcc': 5, 'rb': 470e3, 'rc': 4.7e3, 're': 330, 'bf': 120, 'cf': 2e-12, 'ain': 1,
                'temp': 27, 'q1(is)': 1e-15, 'q1(tf)': 80e-12, 'q1(kf)': 1e-14, 'q1(vaf)': 70,
                'af': 1, 'd1(is)': 1e-14, 'd1(cjo)': 1e-12, 'l1': 10e-6, 'vin[acphase]': 20,
                'q1(re)': 1}

    def test_small_signals_and_noise_of_bipolar_stages(self):
        self.against_differences(self.STAGE, self.STAGE_BY)

    def test_small_signals_and_noise_of_surface_potential_transistors(self):
        models = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'netlists',
                              'psp103_models.inc')
        self.against_differences("""cascode
.include "%s"
.param w=4u l=0.3u wp=6u vb=0.62 rd=8k
v2 dd 0 1.5
vin g 0 {vb} ac 1
vc gc 0 1.1
x1 s g 0 0 nmos w={w} l={l}
x2 d gc s 0 nmos w={w} l=0.2u
x3 d b dd dd pmos w={wp} l={l}
rb b 0 40k
x4 b b dd dd pmos w={wp} l={l}
rd d 0 {rd}
cl d 0 50f
.ac lin 5 0.9g 1.1g
.noise v(d) vin dec 3 1k 1g
.meas ac gain find vm(d) at=1g
.meas ac ph find vp(d) at=1g
.meas noise low find onoise_spectrum at=1k
.meas noise high find inoise_spectrum at=1g
""" % models + HELD, {'w': 4e-6, 'l': 0.3e-6, 'wp': 6e-6, 'vb': 0.62, 'rd': 8e3, 'temp': 27,
                      'cl': 50e-15, 'v2': 1.5})

    def test_an_rc_filter_has_its_closed_forms(self):
        # f3 = 1/(2 pi R C), between points of 1e-4 of it; kT/C over f3 times 1e-5 .. 1e5, by
        # trapezia: error of n points a decade is (ln 10/n)^2/12, and of the ends 2e-5/pi
        g = self.gradients("""rc
.param rr=1k
v1 in 0 ac 2
r1 in out {rr}
c1 out 0 1n
.ac lin 201 157.6k 160.8k
.noise v(out) v1 dec 200 1.6 16g
.meas ac f3 when vm(out)='2/sqrt(2)'
.meas noise kt integ par('onoise_spectrum*onoise_spectrum')
.sens ac f3 param=rr c1 v1[acmag] temp
.sens noise kt param=rr c1 temp
.end
""")
        f3 = 1 / (2 * math.pi * 1e-6)
        self.assertLess(abs(g['f3']['f3'] / f3 - 1), 1e-7)
        self.assertLess(abs(g['f3']['rr'] / (-f3 / 1e3) - 1), 1e-6)
        self.assertLess(abs(g['f3']['c1'] / (-f3 / 1e-9) - 1), 1e-6)
        # |H|^2 = 1/(1 + u^2) is held at 2/A^2: u = sqrt(A^2/2 - 1), du/dA = A/2 / u
        self.assertLess(abs(g['f3']['v1[acmag]'] / f3 - 1), 1e-6)
        self.assertLess(abs(g['f3']['temp']), 1e-9 * f3)
        kt = 1.380649e-23 * 300.15 / 1e-9
        bound = (math.log(10) / 200) ** 2 / 12 + 2e-5 / math.pi + 1e-9
        self.assertLess(abs(g['kt']['kt'] / kt - 1), bound)
        self.assertLess(abs(g['kt']['c1'] * 1e-9 / kt + 1), 3 * bound)
        self.assertLess(abs(g['kt']['rr'] * 1e3 / kt), 3 * bound)
        self.assertLess(abs(g['kt']['temp'] * 300.15 / kt - 1), bound)

    def test_a_kink_beside_the_point_does_not_count(self):
        # i = 2m v^2 + 1m |v - 0.601|^3/|v - 0.601| behind 0.601: at 0.6 the gain of 1k is 4 v, so
        # that d gain / d v is 4; on the other side of the kink, at 0.602, it is 4 + 2
        for v, bend, noise in ((0.6, 4, 0), (0.602, 6, 2)):
            g = self.gradients(f"""kinks
.param va={v}
v1 a 0 {{va}} ac 1
b1 0 o i=2m*v(a)*v(a)+(v(a)>0.601?1m*(v(a)-0.601)*(v(a)-0.601):0)
r1 o 0 1k
c1 o 0 1f
.ac lin 1 1k 1k
.noise v(o) v1 lin 1 1k 1k
.meas ac gain find vm(o) at=1k
.meas noise in find inoise_spectrum at=1k
.sens ac gain param=va
.sens noise in param=va
.end
""")
            self.assertLess(abs(g['gain']['va'] / bend - 1), 1e-9)
            # the noise of 1k over the gain: its derivative is that of 1/gain
            self.assertLess(abs(g['in']['va'] / (-g['in']['in'] * bend / g['gain']['gain']) - 1), 1e-9)

    def test_a_transistor_beside_its_kinks(self):
        # source and drain 1 mV from the body and from each other: BSIM4 has other expressions
        # behind both zeros
        self.against_differences("""near zero
.param vd=1m vg=0.7 vs=1m
.model n1 nmos level=14 version=4.8 toxe=1.9n vth0=0.36 u0=0.03 vsat=9e4 k1=0.42 ndep=2.3e17
+ xj=0.11u rdsw=160 cgso=2e-10 cgdo=2.1e-10 cjs=1.1m pclm=1.1
v1 g 0 {vg} ac 1
v2 c 0 {vd+vs}
v3 s 0 {vs}
r1 c d 10
m1 d g s 0 n1 w=1u l=0.13u ad=0.3p as=0.3p pd=2u ps=2u
.op
.ac lin 1 1g 1g
.noise v(d) v1 lin 1 1k 1k
.meas ac gain find vm(d) at=1g
.meas ac turn find vp(d) at=1g
.meas noise dens find onoise_spectrum at=1k
""" + HELD, {'vd': 1e-3, 'vg': 0.7, 'vs': 1e-3, 'n1(vth0)': 0.36, 'n1(k1)': 0.42,
             '@m1[w]': 1e-6, 'temp': 27})

    def test_tables_of_currents(self):
        # bilinear between its points: i = 1m + 0.1m va + 0.2m vb + 0.3m va vb; gain of 1k from a
        self.write('t.2d', '2\n2\n0 1\n0 1\n1m 1.1m\n1.2m 1.6m\n')
        g = self.gradients("""table
.param vb=0.4
v1 a 0 0.3 ac 1
v2 b 0 {vb}
a1 a b %i(o) t
r1 o 0 1k
.model t table2d(file="t.2d" offset=0 gain=1 order=2)
.ac lin 1 1k 1k
.meas ac gain find vm(o) at=1k
.sens ac gain param=vb
.end
""")
        self.assertLess(abs(g['gain']['gain'] / (0.1 + 0.3 * 0.4) - 1), 1e-9)
        self.assertLess(abs(g['gain']['vb'] / 0.3 - 1), 1e-9)

    def test_the_example_sizes_an_amplifier(self):
        # where power grows like a power p of an aim, what lacks of it is p/60 at the end: with p
        # up to 6, 0.1 neper or radian; eight steps come near
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples',
                               'opamp_size.py')
        done = subprocess.run([sys.executable, example, '--vsim', VSIM, '--steps', '8'],
                              timeout=400, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        gain, gbw, margin, power = (float(v) for v in re.search(
            r'gain=(\S+) gbw=(\S+) margin=(\S+) power=(\S+)', done.stdout).groups())
        self.assertGreater(gain, 57 - 2)
        self.assertGreater(gbw, 100e6 * math.exp(-0.2))
        self.assertGreater(margin, 60 - math.degrees(0.2))
        self.assertLess(power, 2e-4)  # it starts at 2.9e-4 W

    def test_each_point_of_a_sweep_has_spectral_gradients(self):
        deck = self.STAGE + '.sens ac gain param=rc re\n.sens noise low param=rc\n'
        self.run_deck(deck + '.step rc list 4k 5k\n.end\n')
        with open(self.path('out.raw')) as f:
            swept = re.findall(r'Plotname: Gradient of \w+.*?Values:\n(.*?)(?=Title|\Z)', f.read(),
                               re.S)
        self.assertEqual(len(swept), 4)
        self.assertEqual(len({s.split()[1] for s in swept}), 4)

    def test_what_has_no_spectral_gradient_is_said(self):
        def refuses(card, text, extra=''):
            self.assertIn(text, self.run_deck("""deck
v1 a 0 ac 1
r1 a b 1k
c1 b 0 1n
.ac dec 3 1k 1meg
.noise v(b) v1 dec 3 1k 1meg 1
.meas ac mb find vm(b) at=1k
.meas ac in find @r1[i] at=1k
.meas ac nix when vm(b)=7
.meas noise n1 find onoise_r1 at=1k
.meas noise n2 find onoise_spectrum at=1k
""" + extra + card + '\n.end\n', True))
        refuses('.sens ac mc param=r1', "did you mean 'mb'")
        refuses('.sens ac mb param=r7', "no source, element or parameter 'r7'")
        refuses('.sens ac mb memory=1k param=r1', 'param= is expected')
        refuses('.sens ac mb', 'param= and parameters are expected')
        refuses('.sens ac in param=r1', 'a value inside a device')
        refuses('.sens ac nix param=r1', "'nix' failed")
        refuses('.sens noise n1 param=r1', 'the part of a device')
        refuses('.sens noise mb param=r1', "'.meas noise mb ...'")
        refuses('.option rcreduce=0.5\n.sens noise n2 param=r1', 'option rcreduce joins')
        refuses('.sens ac mb param=r1', 'expressions of hertz',
                'b1 c 0 i=v(b)*hertz*1e-9\nr3 c 0 1\n')
        self.assertIn('needs a .noise card', self.run_deck(
            'deck\nv1 a 0 1\nr1 a 0 1k\n.op\n.sens noise x param=r1\n.end\n', True))

    # -- operating points and sweeps --

    AMPLIFIER = """two stages, whose operating points follow all parameters
.param vcc=5 rb=470k rc=4.7k re=330 bf=120 gm=1m
.model q1 npn bf={bf} is=1e-15 vaf=70 rb=60 re=1 rc=15
.model n1 nmos level=1 vto=0.7 kp=100u lambda=0.02 gamma=0.4 phi=0.7
.model d1 d is=1e-14 rs=5
v2 dd 0 {vcc}
vin in 0 0.6
i1 in 0 10u m=2
rs in a 600
rb c a {rb}
rc dd c {rc}
q1 c a e q1
re e 0 {re}
q2 dd c o q1
d1 o o2 d1
ro o2 0 2.2k
m1 x o2 0 0 n1 w=20u l=1u
rx dd x 10k
b1 y 0 i={gm}*tanh(v(x))
ry y 0 1k
"""
    AMPLIFIER_BY = {'vcc': 5, 'rb': 470e3, 'rc': 4.7e3, 're': 330, 'bf': 120, 'gm': 1e-3,
                    'temp': 27, 'q1(is)': 1e-15, 'q1(vaf)': 70, 'd1(is)': 1e-14, 'd1(rs)': 5,
                    'n1(vto)': 0.7, '@m1[w]': 20e-6, 'i1': 10e-6, 'rx': 10e3, 'ro': 2200}

    def test_operating_points(self):
        got = self.against_differences(self.AMPLIFIER + """.op
.meas op vo find v(o2)
.meas op dif find v(x,o)
.meas op cur find i(v2)
.meas op pw find par('-v(dd)*i(v2)')
.meas op ef param='vo/pw*vcc'
""" + HELD, {**self.AMPLIFIER_BY, 'vin': 0.6})
        self.assertGreater(abs(got['vo']['vin']), 0.1)

    def test_sweeps_of_sources(self):
        self.sweep('.dc vin 0.55 0.75 0.01')

    def test_sweeps_downwards(self):
        self.sweep('.dc vin 0.75 0.55 -0.01')

    def test_sweeps_of_a_list(self):
        self.sweep('.dc vin list 0.76 0.74 0.71 0.68 0.66 0.64 0.63 0.62 0.605 0.59 0.57 0.55')

    def test_nested_sweeps_of_sources(self):
        # extremes are those of all loops
        self.against_differences(self.AMPLIFIER + """.dc vin 0.55 0.75 0.01 v2 4.6 5.2 0.2 i1 8u 12u 2u
.meas dc all rms v(o2)
.meas dc most max v(x)
.meas dc pp pp v(y)
""" + HELD, self.AMPLIFIER_BY)

    def test_sweeps_that_go_up_and_down(self):
        self.against_differences(self.AMPLIFIER +
                                 '.dc vin list 0.56 0.6 0.64 0.7 0.74 0.69 0.66 0.62 0.58' + """
.meas dc all integ v(o2)
.meas dc pp pp v(y)
""" + HELD, self.AMPLIFIER_BY)

    def test_sweeps_of_temperature_and_parameters(self):
        for card, own in (('.dc temp -20 80 20', 'temp'), ('.dc rc lin 6 4k 5.5k', 'rc'),
                          ('.dc ro dec 8 1.5k 4k', 'ro'), ('.dc bf 80 160 20', 'bf'), ('.dc m1[w] 15u 25u 5u', '@m1[w]'),
                          ('.dc rc oct 3 3.9k 8k', 'rc'), ('.dc temp list 70 20 -10', 'temp')):
            with self.subTest(card=card):
                by = {**self.AMPLIFIER_BY, 'vin': 0.6}
                self.against_differences(self.AMPLIFIER + card + """
.meas dc mean avg v(o2)
.meas dc area rms v(x)
.meas dc most max i(v2)
""" + HELD, {k: v for k, v in by.items() if k != own})

    def test_nested_sweeps_of_all_kinds(self):
        by = {k: v for k, v in self.AMPLIFIER_BY.items() if k not in ('temp', 'rc', 'v2')}
        for card in ('.dc vin 0.56 0.72 0.02 temp 0 60 30 rc 4k 5k 500',
                     '.dc temp 0 60 20 vin 0.58 0.64 0.02', '.dc rc 4k 5k 250 i1 8u 12u 2u'):
            with self.subTest(card=card):
                self.against_differences(self.AMPLIFIER + card + """
.meas dc most max v(o2)
.meas dc pp pp v(y)
.meas dc sum integ v(x)
""" + HELD, by)

    def test_what_a_sweep_sets_has_the_derivative_0(self):
        # v(b) = r2/(r1 + r2) at each r1; by r2 the mean of trapezia of r1/(r1 + r2)^2
        deck = """divider
.param p=3k
v1 a 0 1
r1 a b 1k
r2 b 0 {p}
.dc r1 1k 3k 1k
.meas dc m avg v(b)
.meas dc n param='m*p'
.sens dc m n param=r1 p
.end
"""
        g = self.gradients(deck)
        want = (1e3/16e6/2 + 2e3/25e6 + 3e3/36e6/2)/2
        self.assertEqual(g['m']['r1'], 0)
        self.assertLess(abs(g['m']['p']/want - 1), 1e-8)
        self.assertLess(abs(g['n']['p']/(3e3*want + g['m']['m']) - 1), 1e-8)

    def test_each_point_of_a_sweep_has_static_gradients(self):
        # v(b) = u r2/(r1 + r2), from 0 to 1 V; by r2 its mean u r1/(r1 + r2)^2
        for card in ('.dc v1 0 1 0.25', '.dc temp 0 50 25 v1 0 1 1'):
            deck = f'''steps
v1 a 0 0
r1 a b 1k
r2 b 0 3k
{card}
.meas dc m max v(b)
.sens dc m param=r2
.step r2 list 1k 2k
.end
'''
            self.run_deck(deck)
            with open(self.path('out.raw')) as f:
                parts = [p for p in f.read().split('Title:') if 'Gradient of m' in p]
            self.assertEqual(len(parts), 2)
            for r, p in zip((1e3, 2e3), parts):
                got = float(p.split('Values:')[1].split()[2])
                self.assertLess(abs(got/(1e3/(1e3 + r)**2) - 1), 1e-8)

    def sweep(self, card):
        got = self.against_differences(self.AMPLIFIER + card + """
.meas dc at find v(o2) at=0.607
.meas dc mean rms v(o) from=0.561 to=0.7
.meas dc area integ v(x) from=0.56 to=0.73
.meas dc most max i(v2)
.meas dc pp pp v(y)
""" + HELD, {**self.AMPLIFIER_BY, 'vin': 0.6})
        self.assertEqual(got['at']['vin'], 0)  # the sweep sets it

    def test_where_a_sweep_crosses_has_its_closed_form(self):
        # v(b) = u r2/(r1 + r2) crosses 1 at u = 1 + r1/r2; straight lines are exact
        g = self.gradients("""divider
v1 a 0 0
r1 a b 1k
r2 b 0 3k
.dc v1 0 2 0.3
.meas dc u when v(b)=1
.sens dc u param=r1 r2 v1
.end
""")['u']
        for name, want in (('u', 4/3), ('r1', 1/3e3), ('r2', -1e3/9e6)):
            self.assertLess(abs(g[name]/want - 1), 1e-8)
        self.assertEqual(g['v1'], 0)
        # u + e, e from an outer loop; and on the way back; crossings are counted from the first row
        for card, n, e in (('.dc v1 0 2 0.3 v2 -0.2 0.4 0.2', 'rise=3', 0.2),
                           ('.dc v1 list 0 0.9 1.8 1.5 0.6 0.1', 'rise=1', 0),
                           ('.dc v1 list 0 0.9 1.8 1.5 0.6 0.1', 'fall=1', 0)):
            g = self.gradients(f"""divider
v1 a c 0
v2 c 0 0
r1 a b 1k
r2 b 0 3k
{card}
.meas dc u when v(b)=1 {n}
.sens dc u param=r1 r2 v1 v2
.end
""")['u']
            for name, want in (('u', 4/3 - e), ('r1', 1/3e3), ('r2', -1e3/9e6)):
                self.assertLess(abs(g[name]/want - 1), 1e-8)
            self.assertEqual(g['v1'], 0)
            self.assertLess(abs(g['v2'] + (e == 0)), 1e-8)  # 0 where a loop sets it

    def test_what_has_no_static_gradient_is_said(self):
        def refuses(cards, text):
            self.assertIn(text, self.run_deck('deck\nv1 a 0 1\nr1 a b 1k\nr2 b 0 1k\n' + cards +
                                              '\n.end\n', True))
        refuses('.op\n.meas op m find v(b)\n.sens dc m param=r2', 'needs a .dc card')
        refuses('.op\n.meas op m find v(b)\n.sens op n param=r2', "'.meas op n ...'")
        refuses('.op\n.meas op m find @r1[i]\n.sens op m param=r2', 'a value inside a device')
        refuses('.op\n.meas op m find v(b)\n.sens op m memory=1k param=r2',
                'param= is expected')

    # -- how parameters are moved --

    def test_many_parameters_are_moved_without_expanding_the_netlist(self):
        # 70 of the deck, of which a plan tells 60 apart, and 140 of elements and models: the
        # netlist is expanded once for the run, and once to know what depends on which
        n = 70
        deck = 'ladder\n' + ''.join(f'.param p{i}={1 + i/100}k\n' for i in range(n))
        deck += '.model d1 d is=1e-14 rs=2\nv1 n0 0 sin(1 1 1meg)\n'
        deck += ''.join(f'r{i} n{i} n{i + 1} {{p{i}}}\nc{i} n{i + 1} 0 {1 + i}p\n'
                        f'd{i} n{i + 1} 0 d1\n' for i in range(n))
        deck += '.tran 10n 2u\n.meas tran va avg v(n1)\n.sens tran va param='
        deck += ' '.join(f'p{i} c{i} @d{i}[area]' for i in range(n)) + ' d1(is) d1(rs)\n.end\n'
        self.write('deck.sp', deck)
        done = subprocess.run([VSIM, '--no-output', '--stats', 'stats.json', 'deck.sp'],
                              cwd=self.tmp.name, timeout=300, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path('stats.json')) as f:
            made = json.load(f)['generations']
        self.assertEqual(made['netlists']['rebuilt'], 2)
        self.assertEqual(made['patterns']['rebuilt'], 2)

    def test_parameters_that_share_a_knob_have_the_gradients_of_each(self):
        # of 130 parameters two or three share each knob of a plan; p5 decides on an element
        # besides, p70 shares its knob with others, p90 counts only beside a larger number, and
        # the model's resistance follows p100
        n = 130
        deck = 'ladder\n' + ''.join(f'.param p{i}={1 + i/100}k\n' for i in range(n))
        deck += '.model d1 d is=1e-14 rs={p100/50}\nv1 n0 0 sin(1 1 1meg)\n'
        deck += '.if (p5>500)\nrx n7 0 {3*p5}\n.endif\nry n9 0 {max(p90, 5k)}\n'
        deck += ''.join(f'r{i} n{i} n{i + 1} {{p{i}}}\nc{i} n{i + 1} 0 {1 + i % 9}p\n'
                        for i in range(n)) + 'd1 n30 0 d1\n.ic v(n40)={p110/1k}\n'
        deck += '.tran 20n 1u\n.meas tran va avg v(n20)\n.meas tran vb find v(n40) at=0.7u\n'
        card = '.sens tran va vb param='
        every = self.gradients(deck + card + ' '.join(f'p{i}' for i in range(n)) + '\n.end\n')
        each = {'va': {}, 'vb': {}}
        for first in range(0, n, 26):
            some = ' '.join(f'p{i}' for i in range(first, first + 26))
            for m, of in self.gradients(deck + card + some + '\n.end\n').items():
                each[m].update(of)
        self.assertEqual(every, each)
        self.assertNotEqual(every['va']['p5'], 0)
        self.assertNotEqual(every['vb']['p110'], 0)

    def test_a_parameter_that_others_follow_moves_them(self):
        # b = 2 a: in the order of the card a parameter that was moved is put back, and follows
        # again; and a width that was moved does not count as given afterwards
        deck = """followers
.param a=1k b={2*a} c={a+b}
v1 x 0 pulse(0 1 0 10n 10n 1u 2u)
r1 x y {b}
c1 y 0 1n
r2 y 0 {c}
.tran 10n 1u 0 10n
.meas tran va avg v(y)
.sens tran va param=PARAM
.end
"""
        one = self.gradients(deck.replace('PARAM', 'a b c'))['va']
        two = self.gradients(deck.replace('PARAM', 'c b a'))['va']
        self.assertEqual(one, two)
        # R = b, c = a + b: dM/da = 2 (dM/db) + dM/dc, where dM/db has c follow: c = a + b
        own = self.gradients(deck.replace('PARAM', 'r1 r2'))['va']
        self.assertLess(abs(one['c'] - own['r2']), 1e-8*abs(own['r1']))
        self.assertLess(abs(one['b'] - own['r1'] - own['r2']), 1e-8*abs(own['r1']))
        self.assertLess(abs(one['a'] - 2*own['r1'] - 3*own['r2']), 1e-7*abs(own['r1']))

    def test_scaled_lengths_are_moved_as_the_netlist_has_them(self):
        deck = """lengths
.model n1 nmos level=1 vto=0.7 kp=100u cgso=1n cgdo=1n tox=10n
v1 d 0 2
v2 g 0 pulse(0 2 0 10n 10n 50n 100n)
m1 e g 0 0 n1 w=W l=L
rd d e 10k
.tran 1n 0.1u 0 1n
.meas tran va avg v(e)
.sens tran va param=@m1[w]
"""
        one = self.gradients(deck.replace('W', '10u').replace('L', '1u') + '.end\n')['va']
        two = self.gradients(deck.replace('W', '10').replace('L', '1') +
                             '.option scale=1u\n.end\n')['va']
        self.assertLess(abs(two['@m1[w]'] / (1e-6 * one['@m1[w]']) - 1), 1e-6)

    # -- what has no gradient --

    def refuses(self, card, text, extra=''):
        said = self.run_deck("""deck
.param rr=1k
v1 a 0 sin(0 1 1meg)
r1 a b {rr}
c1 b 0 1n
""" + extra + """.tran 1n 1u
.meas tran va avg v(b)
.meas tran tm max_at v(b)
.meas tran no when v(b)=7
.meas tran de param='deriv(v(b))'
.meas tran pa avg par('deriv(v(b))')
.meas tran de2 avg @r1[i]
""" + card + '\n.end\n', True)
        self.assertIn(text, said)

    def test_what_cannot_be_is_said(self):
        self.refuses('.sens tran vb param=rr', "did you mean 'va'")
        self.refuses('.sens tran va param=rx', "no source, element or parameter 'rx'")
        self.refuses('.sens tran va', 'param= and parameters are expected')
        self.refuses('.sens tran param=rr', 'names of measures are expected')
        self.refuses('.sens tran va param=rr rr', 'stands here twice')
        self.refuses('.sens tran va param=option reltol', 'no derivative by option')
        self.refuses('.sens tran va memory=-1 param=rr', 'bytes are expected')
        self.refuses('.sens tran tm param=rr', 'the time of an extreme')
        self.refuses('.sens tran no param=rr', "'no' failed")
        self.refuses('.sens tran pa param=rr', 'several points at once')
        self.refuses('.option rcreduce=0.5\n.sens tran va param=rr', 'option rcreduce joins')
        self.refuses('.sens tran de2 param=rr', 'a value inside a device')
        self.refuses('.sens tran va param=rr', 'of a run with uic',
                     't1 b 0 d 0 z0=50 td=1n\nr9 d 0 50\n.tran 1n 1u uic\n')
        self.refuses('.sens tran va param=lo(r)', "no derivative of the line 'o1'",
                     'o1 b 0 d 0 lo\nr9 d 0 50\n.model lo ltra r=0 l=250n c=100p len=1\n')
        self.refuses('.sens tran va param=rr', 'runs with noise', '.trannoise\n')
        self.refuses('.sens tran va param=@r1[nix]', "nix")
        self.refuses('.sens tran va param=tj', "'tj' moves the time of a jump of 'v7'",
                     '.param tj=0.3u\nv7 e 0 pwl(0 0 {tj} 0 {tj} 1)\nr7 e 0 1k\n')

    def test_a_deck_without_a_transient(self):
        said = self.run_deck('deck\nv1 a 0 1\nr1 a 0 1k\n.op\n.meas tran x avg v(a)\n'
                             '.sens tran x param=r1\n.end\n', True)
        self.assertIn('needs a .tran card', said)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
