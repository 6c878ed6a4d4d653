#!/usr/bin/env python3
"""Periodic transfer functions (.hbxf) against .hbac of each source, .acxf on linear circuits, closed
forms, and harmonic balance against shooting.

    orbit_transfer.py VSIM [test...]

Each bound says where it comes from."""
import math
import os
import re
import subprocess
import sys
import unittest

import oscillators
import periodic
import shooting_small

KR, T27 = 1.38064852e-23, 300.15  # of resistors: CODATA 2014
# sources of both kinds, in subcircuits and with m; the diode and the switched conductance convert
STAGE = """stage
.subckt out a b
vs a m 0 AC3
r1 m b 200
.ends
vlo lo 0 sin(0 1 1meg) AC0
vin in 0 0.2 AC1
r1 in a 50
b1 a b i=2m*(1+0.7*v(lo))*v(a,b)
r2 b 0 300
c1 b 0 200p
d1 b d dm
rd d 0 1k
cd d 0 50p
ib 0 d 0.1m AC2 m=2
x1 d 0 out
.model dm d is=1e-12 n=2 cjo=5p
.options reltol=1e-6 vntol=1e-9 abstol=1e-13
"""
SOURCES = ['vlo', 'vin', 'ib', 'x1.vs']
ORBIT = {'hb': '.hb 1meg nharms=%d\n', 'shooting': '.pss 1meg 2u d 65 %d method=shooting\n'}


# what is common to both halves does not reach the output, but for rounding
BALANCED = """doubly balanced mixer
vlo lo 0 sin(0 1 1meg)
vcc cc 0 3
vr in 0 0
isum q 0 1m
r1 q s 130
r6 q t 130
e1 x 0 in 0 1.7
r7 x s 2k
e2 y 0 in 0 -1.7
r8 y t 2k
c1 s 0 20p
c4 t 0 20p
b1 p s i=(1+0.9*v(lo))*2m*(v(p,s)+0.1*v(p,s)^2)
b2 n s i=(1-0.9*v(lo))*2m*(v(n,s)+0.1*v(n,s)^2)
b3 n t i=(1+0.9*v(lo))*2m*(v(n,t)+0.1*v(n,t)^2)
b4 p t i=(1-0.9*v(lo))*2m*(v(p,t)+0.1*v(p,t)^2)
r2 cc p 700
r3 cc n 700
c2 p 0 30p
c3 n 0 30p
.pss 1meg 2u p 65 10 method=shooting
.hbxf v(p,n) lin 2 10k 300k
.end
"""


def deck(driven, cards, text=STAGE):
    for i in range(len(SOURCES)):
        text = text.replace('AC%d' % i, 'ac 1' if i == driven else '')
    return text + cards + '.end\n'


def side(name, k):
    return name + ('[%d]' % k if k else '')


class Transfer(periodic.Deck):
    def orbit_answer(self, cards, driven, f, k, out):
        """out at f + k f0 by .hbac with the source's value at f; a negative frequency is the conjugate."""
        p = self.plot(self.run_deck(deck(driven, cards + '.hbac lin 1 %.17g %.17g sidebands=%d\n' %
                                         (abs(f), abs(f), max(abs(k), 1)))), 'Periodic AC')
        z = [p[side(v, k if f > 0 else -k)][0] for v in out]
        z = z[0] - z[1] if len(z) > 1 else z[0]
        return z if f > 0 else z.conjugate()

    def check_answers(self, cards, out, k, tol):
        """Each column of .hbxf against .hbac of the source alone."""
        f = 300e3
        nodes = out[2:-1].split(',')
        vectors = [out] if out[0] == 'i' else ['v(%s)' % n for n in nodes]
        p = self.run_deck(deck(-1, cards + '.hbxf %s lin 1 %g %g sideband=%d sidebands=2\n' % (out, f, f, k)))
        xf = self.plot(p, 'Periodic Transfer')
        self.assertEqual(list(xf), ['frequency'] + [side(s, m) for s in SOURCES for m in range(-2, 3)])
        for i, name in enumerate(SOURCES):
            want = [self.orbit_answer(cards, i, f + m * 1e6, k - m, vectors) for m in range(-2, 3)]
            for m, w in zip(range(-2, 3), want):
                self.close(xf[side(name, m)][0], w, tol, max(map(abs, want)))
        return xf

    def test_each_column_is_what_hbac_gives_in_harmonics(self):
        # the matrix and its transpose. At sideband m both keep other harmonics, 60 around f or around
        # f + m f0, beyond which the response has less than 1e-10
        for out, k in (('v(d)', 0), ('v(a,b)', 1), ('i(vin)', -2)):
            with self.subTest(out=out, k=k):
                self.check_answers(ORBIT['hb'] % 60, out, k, 1e-9)

    def test_each_column_is_what_hbac_gives_in_time(self):
        # the answer and the adjoint miss reltol = 1e-6 of their largest value each
        self.check_answers(ORBIT['shooting'] % 20, 'v(d)', 1, 2e-6)

    def test_harmonics_and_time_give_the_same(self):
        # steps miss no more than reltol of a source's largest gain
        card = '.hbxf v(b,d) lin 3 10k 400k sideband=-1 sidebands=3\n'
        a = self.plot(self.run_deck(deck(-1, ORBIT['hb'] % 60 + card)), 'Periodic Transfer')
        b = self.plot(self.run_deck(deck(-1, ORBIT['shooting'] % 20 + card)), 'Periodic Transfer')
        c = self.plot(self.run_deck(deck(-1, ORBIT['shooting'] % 60 + card.replace('\n', ' method=hb\n'))),
                      'Periodic Transfer')
        for name in SOURCES:
            most = max(abs(x) for m in range(-3, 4) for x in a[side(name, m)])
            for m in range(-3, 4):
                for x, y, z in zip(a[side(name, m)], b[side(name, m)], c[side(name, m)]):
                    self.close(y, x, 2e-6, most)
                    self.close(z, x, 1e-6, most) # the orbits' difference

    def test_a_linear_circuit_is_that_of_acxf(self):
        # exact in both: a constant envelope, and a matrix without coupling
        linear = 'linear\n' + shooting_small.PULSES + """v1 in 0 dc 2
r1 in a 50
l1 a b 3u
c1 b 0 1n
i1 b 0 1m m=3
r2 b 0 60
.pss 1meg 2u e 65 10 method=shooting
"""
        for out in ('v(b)', 'v(a,b)', 'i(v1)'):
            for method in ('hb', 'shooting'):
                p = self.run_deck(linear + f""".hbxf {out} lin 3 0.1meg 0.9meg method={method}
.hbxf {out} lin 3 0.1meg 0.9meg sideband=2 sidebands=3 method={method}
.acxf {out} lin 3 0.1meg 0.9meg
.acxf {out} lin 3 2.1meg 2.9meg
.end
""")
                for i, k in ((0, 0), (1, 2)):
                    xf, ac = self.plot(p, 'Periodic Transfer', i), self.plot(p, 'AC Transfer', i)
                    for name in ('v1', 'i1'):
                        for j in range(3):
                            self.close(xf[side(name, k)][j], ac[name][j], 1e-9)
                            self.close(xf[side(name, k - 1)][j], 0, 1e-9, abs(ac[name][j]))

    def test_an_ideal_mixer_and_an_ideal_sampler(self):
        # the output's sideband k has the Fourier coefficient k - m of what multiplies the input:
        # 2 cos has 1 at both sides, e^(3 sin - 3) has e^-3 I_n(3) (-j)^n
        for orbit, tol in (('.hb 1meg nharms=30\n', 1e-9), ('.pss 1meg 0 c 65 30 method=shooting\n', 1e-6)):
            p = self.run_deck("""multipliers
vc c 0 sin(0 1 1meg)
vl l 0 sin(0 1 1meg 0 0 90)
v1 in 0 0
b1 out 0 v=v(in)*2*v(l)
r1 out 0 1k
b2 samples 0 v=v(in)*exp(3*v(c)-3)
r2 samples 0 1k
.options reltol=1e-7
""" + orbit + """.hbxf v(out) lin 2 10k 400k sideband=1 sidebands=3
.hbxf v(samples) lin 2 10k 400k sideband=1 sidebands=3
.end
""")
            mixer, sampler = (self.plot(p, 'Periodic Transfer', i) for i in range(2))
            for m in range(-3, 4):
                n = 1 - m
                bessel = sum(1.5**(2 * i + abs(n)) / math.factorial(i) / math.factorial(i + abs(n)) for i in range(40))
                for x, y in zip(mixer[side('v1', m)], sampler[side('v1', m)]):
                    self.close(x, abs(n) == 1, tol, 1)
                    self.close(y, math.exp(-3) * bessel * (-1j)**n, tol, 1)

    def test_a_modulated_conductance(self):
        # into v(a) at f from 1 A at f + m f0: the chain's sideband -m of a drive there
        body = shooting_small.MODULATED % 1e-7
        for orbit, tol in (('.hb 1meg nharms=40\n', 1e-9), ('.pss 1meg 0 lo 65 10 method=shooting\n', 1e-6)):
            xf = self.plot(self.run_deck(body + orbit + '.hbxf v(a) lin 2 370k 820k\n.end\n'), 'Periodic Transfer')
            for i, f in enumerate((370e3, 820e3)):
                most = abs(xf['i1'][i])
                for m in (-1, 0, 1):
                    z = shooting_small.sidebands(abs(f + m * 1e6))
                    want = z[1 - m] if f + m * 1e6 > 0 else z[1 + m].conjugate()
                    self.close(xf[side('i1', m)][i], want, tol, most)

    def test_an_oscillator(self):
        # Near the carrier X e^jwt a current of 1 A into the tank at f + m f0 moves its phase alone, the
        # more the nearer: 1/(4 C w) at f + f0 from both sidebands. The cubic's harmonics, of 1/Q^2, and
        # what the amplitude follows are below 1 %. Thermal noise of the resistor is that current too.
        tank = 'LC with a cubic conductance\n' + oscillators.TANK % ('2.3', '0.1') + """iin 0 a 0
.ic v(a)=0.1
.hbosc tone=5.03g nharms=15 probenode=a tstab=80n uic
"""
        p = self.run_deck(tank + """.hbxf v(a) dec 1 1k 100k sideband=1 sidebands=15
.hbnoise v(a) iin dec 1 1k 100k 1 sideband=1
.end
""")
        xf, noise = self.plot(p, 'Periodic Transfer'), self.plot(p, 'Periodic Noise')
        for i, f in enumerate((1e3, 1e4, 1e5)):
            for m in (-1, 1):
                self.close(abs(xf[side('iin', m)][i]), 1 / (4 * 1e-12 * 2 * math.pi * f), 0.01)
            power = sum(abs(xf[side('iin', m)][i])**2 for m in range(-15, 16)) * 4 * KR * T27 / 500
            self.close(noise['onoise_r1'][i], math.sqrt(power), 1e-9)

    def test_the_response_of_an_oscillator_is_its_transfer(self):
        # from f to f + k f0 both keep the same harmonics: the matrix and its transpose. Without the
        # correction by the shift in time the response would end to grow below 1 kHz: few harmonics
        # follow this oscillator badly
        tank = """oscillator that is not symmetric
l1 a x 1m
c1 a 0 100n
b1 a 0 i=5m*v(a)-30m*tanh(1.5*v(a)-0.3)
r1 a b 1k
c2 b 0 10n
vin x 0 0 ac 1
.ic v(a)=0.5
.options reltol=1e-6
.hbosc tone=15k nharms=6 probenode=a tstab=5m uic
"""
        cards = ''.join('.hbxf v(a) dec 1 1 10k sideband=%d sidebands=0\n' % k for k in (-1, 0, 1))
        p = self.run_deck(tank + '.hbac dec 1 1 10k sidebands=1\n' + cards + '.end\n')
        ac = self.plot(p, 'Periodic AC')
        xf = [v for n, v in p if n == 'Periodic Transfer Functions']
        self.assertEqual(len(xf), 3)
        for k, v in zip((-1, 0, 1), xf):
            got = ac[side('v(a)', k)]
            self.assertEqual(len(got), 5)
            for x, y in zip(got, v['vin']):
                self.close(x, y, 1e-9, abs(y))
        up = ac['v(a)[1]'] # it grows; without the correction it is 0.026 at all of them
        self.assertGreater(abs(up[0]), 10 * abs(up[2]))

    def test_gains_of_rounding_ask_for_no_steps(self):
        # the orbit has 128 steps, which are enough for the others; gains of vcc and isum are rounding
        self.write('deck.sp', BALANCED)
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name, capture_output=True,
                              text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertLessEqual(int(re.search(r'solved in time, (\d+) steps', done.stdout).group(1)), 512)
        xf = periodic.plots(self.path('out.raw'))[-1][1]
        for name, kind in (('vcc', 1), ('isum', 1e3)):
            for m in (-1, 0, 1):
                self.close(xf[side(name, m)][0], 0, 1e-9, kind)

    def test_two_tones(self):
        # sidebands are those of the first tone, as .hbac names them; both tones convert. Sidebands m
        # keep other combinations: the response has 1e-7 beyond
        body = STAGE.replace('vin in 0 0.2', 'vin in 0 0.2 sin(0.2 0.05 1.3meg)')
        orbit = '.hb 1meg 1.3meg nharms=14 8\n'
        xf = self.plot(self.run_deck(deck(-1, orbit + '.hbxf v(d) lin 1 300k 300k sideband=1 sidebands=1\n', body)),
                       'Periodic Transfer')
        for i, name in enumerate(SOURCES):
            for m, tol in ((0, 1e-9), (1, 1e-6)):
                f = 300e3 + m * 1e6
                p = self.run_deck(deck(i, orbit + '.hbac lin 1 %g %g\n' % (f, f), body))
                ac = self.plot(p, 'Periodic AC')
                self.close(xf[side(name, m)][0], ac[side('v(d)', 1 - m)][0], tol, abs(xf[name][0]))

    def test_the_second_run_has_the_bits_of_the_first(self):
        for orbit in (ORBIT['hb'] % 8, ORBIT['shooting'] % 8):
            card = '.hbxf v(d) dec 2 1k 1meg\n'
            p = [v for n, v in self.run_deck(deck(-1, orbit + card + '.hbac dec 1 1k 100k\n' + card))
                 if n == 'Periodic Transfer Functions']
            self.assertEqual(len(p), 2)
            self.assertEqual(p[0], p[1])


if __name__ == '__main__':
    periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
