#!/usr/bin/env python3
"""Periodic states by shooting (.pss method=shooting) against closed forms, .ac, harmonic balance and
transients.

    shooting.py VSIM [test...]

Each bound says where it comes from."""
import cmath
import json
import math
import os
import subprocess
import sys
import unittest

import periodic

RECTIFIER = """rectifier
v1 in 0 sin(0.2 1 1meg)
r1 in a 200
d1 a out dd
c1 out 0 200p
r2 out 0 5k
.model dd d is=1e-14 n=2 cjo=2p rs=5 tt=1n
"""
TIGHT = '.options reltol=1e-6 vntol=1e-9 abstol=1e-13\n'
OSCILLATOR = """van der pol
l1 a 0 1u ic=0
c1 a 0 1n ic=1
r1 a 0 1k
b1 a 0 i=-2m*v(a)+0.4m*v(a)^3
"""


def seen(z, turn):
    """The admittance of a line of impedance z and this gamma times length, ended in 1 ohm, and 2 k."""
    t = cmath.tanh(turn)
    return (z + t) / (z * (1 + z * t)) + 5e-4


def rises(t, v):
    """Where v passes 0 upwards, on straight lines."""
    return [t[k - 1] - v[k - 1] / (v[k] - v[k - 1]) * (t[k] - t[k - 1])
            for k in range(1, len(t)) if v[k - 1] < 0 <= v[k]]


class Shooting(periodic.Deck):
    def same_lines(self, p, names):
        """The first lines of .hb and of .pss behind it, to 1e-6 of the largest."""
        hb, pss = self.plot(p, 'Harmonic'), self.plot(p, 'Harmonic', 1)
        for name in names:
            largest = max(abs(z) for z in hb[name])
            for k in range(20):
                self.assertLess(abs(hb[name][k] - pss[name][k]), 1e-6 * largest)

    def of_orbit(self, deck):
        return self.plot(self.run_deck(deck), 'Harmonic')

    def test_a_linear_circuit_answers_as_in_ac(self):
        # reltol=1e-8: halving the steps changes 1e-9 at most, and of order 4 a tenth is left. v1 is
        # across a capacitor, whose current is known by the slope of its charge alone.
        p = self.run_deck("""linear
v1 in 0 dc 2 sin(2 3 1meg) ac 3
c3 in 0 1n
r1 in a 50
l1 a b 3u
c1 b 0 1n
r2 b 0 60
l2 b c 100u
c2 c 0 250p
r3 c 0 10k
.options reltol=1e-8 vntol=1e-9
.pss 1meg 2u c 101 4 method=shooting
.ac lin 1 1meg 1meg
.op
.end
""")
        hb, ac, op = self.plot(p, 'Harmonic'), self.plot(p, 'AC'), self.plot(p, 'Operating')
        for name in ('v(a)', 'v(b)', 'v(c)', 'i(l1)', 'i(l2)', 'i(v1)'):
            # a sine is the phasor -i
            self.close(hb[name][1], -1j * ac[name][0], 1e-9)
            self.close(hb[name][0], op[name][0], 1e-9, abs(ac[name][0]))
            self.close(hb[name][2], 0, 1e-9, abs(ac[name][0]))

    def test_corners_against_exponentials(self):
        # a square wave of period T into RC: at the rise v = -tanh(T/4RC), whatever the steps. Edges
        # of 1 ps move that by 1e-12 / 2RC = 5e-6 at most; with the edge in the middle of the ramp
        # this is of second order.
        for rule in ('sdirk4', 'trap', 'gear'):
            p = self.run_deck("""square
v1 in 0 pulse(-1 1 0 1p 1p 499.999n 1u)
r1 in out 1k
c1 out 0 100p
.options reltol=1e-5
.pss 1meg 0 out 65 10 method=shooting integration=%s
.end
""" % rule)
            w = self.plot(p, 'Periodic Steady')
            tau, v = 1e-7, w['v(out)']
            for t, y in zip(w['time'], v):
                s = t % 0.5e-6
                exact = 1 - (1 + math.tanh(2.5)) * math.exp(-s / tau)
                exact = exact if t < 0.5e-6 else -exact
                if 1e-9 < s < 0.499e-6:
                    self.assertLess(abs(y - exact), 1e-5 + 0.6e-12 / tau)

    def test_the_methods_agree_within_what_they_promise(self):
        # each is refined until halving its steps changes less than a tolerance, or warns
        got = {}
        for rule in ('sdirk4', 'trap', 'gear'):
            got[rule] = self.of_orbit(
                RECTIFIER + '.pss 1meg 2u out 65 20 method=shooting integration=%s\n.end\n' % rule)
        for rule in ('trap', 'gear'):
            for k in range(5):
                self.close(got[rule]['v(out)'][k], got['sdirk4']['v(out)'][k], 1e-3,
                           abs(got['sdirk4']['v(out)'][0]))

    def test_a_rectifier_is_what_harmonic_balance_finds(self):
        # of the largest harmonic 1e-6: reltol, and what 60 harmonics leave out
        p = self.run_deck(RECTIFIER + TIGHT +
                          '.hb 1meg nharms=60\n.pss 1meg 2u out 65 60 method=shooting\n.end\n')
        self.same_lines(p, ('v(a)', 'v(out)'))

    def test_a_rectifier_is_what_a_transient_ends_in(self):
        # the transient's steps of 0.2 ns leave (2 pi f h)^2 / 12 = 1e-7 of each harmonic of order 1,
        # of order 10 1e-5 of what is 1e-2 there; its start has decayed by exp(-30 us / 1 us)
        p = self.run_deck(RECTIFIER + TIGHT + '.pss 1meg 2u out 1001 60 method=shooting\n'
                          '.tran 0.2n 31u 30u 0.2n\n.end\n')
        pss, tran = self.plot(p, 'Periodic Steady'), self.plot(p, 'Transient')
        t, v, k = tran['time'], tran['v(out)'], 0
        for x, y in zip(pss['time'], pss['v(out)']):
            while k + 2 < len(t) and t[k + 1] < 30e-6 + x:
                k += 1
            part = (30e-6 + x - t[k]) / (t[k + 1] - t[k])
            self.assertLess(abs(v[k] + part * (v[k + 1] - v[k]) - y), 1e-5 * max(v))

    def test_slow_states_need_no_long_transient(self):
        # the filter's time constant is 1000 periods; the mean of a cosine's rectified half is 1/pi
        p = self.run_deck("""slow
v0 x 0 sin(0 1 1meg 0 0 90)
b1 a 0 v=max(0, v(x))
r1 a out 1k
c1 out 0 1u
.pss 1meg 0 out 65 4 method=shooting
.end
""")
        self.close(self.plot(p, 'Harmonic')['v(out)'][0].real, 1 / math.pi, 1e-4)

    def test_an_oscillator_is_what_harmonic_balance_finds(self):
        p = self.run_deck(OSCILLATOR + '.hbosc tone=5meg nharms=15 probenode=a tstab=20u uic\n'
                          '.pss 5meg 20u a 65 15 uic method=shooting\n'
                          '.phasenoise v(a) dec 1 1k 100k\n'
                          '.hbosc tone=5meg nharms=15 probenode=a tstab=20u uic\n'
                          '.phasenoise v(a) dec 1 1k 100k\n.end\n')
        hb, pss = self.plot(p, 'Harmonic'), self.plot(p, 'Harmonic', 1)
        # grid_error * reltol of the period, and as much of amplitudes
        self.close(pss['frequency'][1], hb['frequency'][1], 1e-4)
        for k in range(4):
            self.close(abs(pss['v(a)'][k]), abs(hb['v(a)'][k]), 1e-4, abs(hb['v(a)'][1]))
        # harmonic balance goes on from the shooting's state to the same orbit
        a, b = self.plot(p, 'Phase Noise'), self.plot(p, 'Phase Noise', 1)
        for x, y in zip(a['phnoise'], b['phnoise']):
            self.assertLess(abs(x - y), 1e-4)
        v = self.plot(p, 'Periodic Steady', 1)['v(a)']
        self.close(v[0], v[-1], 1e-3, max(v))

    def test_many_states_are_solved_by_krylov_products(self):
        # 130 states are more than are made column by column; bound: GMRES' and grid_error * reltol
        rows = ''.join('r%d n%d n%d 10\nc%d n%d 0 10p\n' % (k, k, k + 1, k, k + 1)
                       for k in range(130))
        p = self.run_deck('ladder\nv1 n0 0 sin(0 2 1meg) ac 2\n' + rows + """rl n130 0 1k
.options reltol=1e-5
.pss 1meg 1u n5 33 3 method=shooting
.ac lin 1 1meg 1meg
.end
""")
        hb, ac = self.plot(p, 'Harmonic'), self.plot(p, 'AC')
        for name in ('v(n1)', 'v(n60)', 'v(n130)'):
            self.close(hb[name][1], -1j * ac[name][0], 1e-5, 2)

    def test_what_is_not_kept_is_made_again(self):
        # A stage takes 8 (4 nnz + 2 lu) bytes, some kB here: there is room for all stages, for some, for none. With a
        # line products are made in any case, without one of 110 states columns. The equations are the same; bound:
        # what Newton's method may leave.
        rows = lambda n: ''.join('r%d n%d n%d 10\nc%d n%d 0 10p\nd%d n%d 0 dm\n' % (k, k, k + 1, k, k + 1, k, k + 1)
                                 for k in range(n))
        for n, line in (20, 't1 n20 0 m 0 z0=50 td=100n\nrm m 0 70\n'), (110, ''):
            deck = 'ladder\nv1 n0 0 sin(0 2 1meg)\n' + rows(n) + line + """rl n%d 0 1k
.model dm d
.options reltol=1e-5 pssmem=%%s
.pss 1meg 1u n5 33 3 method=shooting
.end
""" % n
            kept, some, none = (self.of_orbit(deck % room) for room in ('1e9', '2e5', '0'))
            for name in 'v(n1)', 'v(n10)', 'v(n%d)' % n:
                largest = max(abs(z) for z in kept[name])
                for other in some, none:
                    for a, b in zip(kept[name], other[name]):
                        self.assertLess(abs(a - b), 1e-5 * largest)

    def test_many_fast_states_are_followed_period_by_period(self):
        # time constants of 1 to 12.5 ns are forgotten within 1 us: each answers a ramp of 1 ns as one
        # RC does; grid_error * reltol is what the grid leaves, and it is an estimate
        taus = [(k + 2) * 0.5e-9 for k in range(24)]
        rows = ''.join('r%d in n%d 100\nc%d n%d 0 %.6gp\n' % (k, k, k, k, tau * 1e10)
                       for k, tau in enumerate(taus))
        p = self.run_deck('many\nv1 in 0 pulse(0 1 0 1n 1n 499n 1u)\n' + rows +
                          '.options reltol=1e-4\n.pss 1meg 0 n5 201 20 method=shooting\n.end\n')
        w = self.plot(p, 'Periodic Steady')
        for k, tau in enumerate(taus):
            for t, y in zip(w['time'], w['v(n%d)' % k]):
                x = t % 500e-9
                lag = tau / 1e-9 * (math.exp(-max(x - 1e-9, 0) / tau) - math.exp(-x / tau))
                rise = min(x, 1e-9) / 1e-9 - lag
                self.assertLess(abs(y - (rise if t % 1e-6 < 500e-9 else 1 - rise)), 2e-5)

    # flip-flops of two latches: a latch follows its input, or decides for 0 or 1, in 1 ns; period 20 ns
    LATCHES = '''vc c 0 pulse(0 1 5n 1n 1n 9n 20n)
.subckt latch d q on=0
b1 q 0 i=1m*(on*v(c)+(1-on)*(1-v(c)))*(v(q)-v(d)) + \
+ 1m*(on*(1-v(c))+(1-on)*v(c))*(v(q)-0.5-0.5*tanh(8*(v(q)-0.5)))
c1 q 0 1p ic=0
.ends
.subckt flop d q
x1 d m latch on=0
x2 m q latch on=1
.ends
.global c
'''

    def test_a_state_that_comes_again_later_is_told(self):
        # a ring of n flip-flops, one of which gets what is not the last one's, repeats after 2n periods
        for n in (12, 13):
            head = 'ring\n' + self.LATCHES + '.for k = 1 to %d\nx{k} n{k-1} n{k} flop\n.endfor\n' % n
            head += 'e1 n0 0 vol=\'1-v(n%d)\'\n.pss %%s 0 n1 21 10 uic method=shooting\n.end\n' % n
            text = self.run_deck(head % '50meg', 1)
            self.assertIn('the state repeats after %d periods of 50000000 Hz, not after one' % (2 * n), text)
            self.assertIn('give %.9g Hz' % (50e6 / 2 / n), text)
        self.plot(self.run_deck(head % ('%.17g' % (50e6 / 26)), 0), 'Periodic Steady')

    def test_slow_states_among_many_fast_ones_are_not_left(self):
        # a period changes the filter by 1e-3 of what it is away from its mean, below any tolerance
        # in the end; it is one node, or thirty that share its charge
        fast = ''.join('r%d a n%d 100\nc%d n%d 0 10p\n' % (k, k, k, k) for k in range(30))
        net = ''.join('rs%d s%d s%d 1\ncs%d s%d 0 33.333333n\n' % (k, k, k + 1, k, k + 1)
                      for k in range(30))
        for slow in ('rs a out 1k\ncs out 0 1u\n', 'rs a s0 1k\n' + net):
            node = 'out' if ' out ' in slow else 's30'
            p = self.run_deck("""slow
v0 x 0 sin(0 1 1meg 0 0 90)
b1 a 0 v=max(0, v(x))
%s%s.pss 1meg 0 n1 65 4 method=shooting
.end
""" % (fast, slow))
            self.close(self.plot(p, 'Harmonic')['v(%s)' % node][0].real, 1 / math.pi, 1e-4)

    def test_steps_are_short_where_it_moves_only(self):
        # 4 edges of 1 ns in 1 us: Newton's iterations, 6,800; all steps halved took 16,800. What is
        # found are the exponentials of an RC that is driven by ramps
        self.write('deck.sp', """ramps
v1 in 0 pulse(0 1 0 1n 1n 249n 500n)
r1 in out 100
c1 out 0 5p
b2 two 0 v=1/(1+exp(-40*(v(out)-0.5)))
r2 two end 100
c2 end 0 5p
.options reltol=1e-5
.pss 1meg 0 out 65 20 method=shooting
.end
""")
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', '--stats', 'out.json', 'deck.sp'],
                              cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn('leave an error', done.stderr)
        with open(self.path('out.json')) as f:
            self.assertLess(json.load(f)['newton_iterations'], 10000)
        w = self.plot(periodic.plots(self.path('out.raw')), 'Periodic Steady')
        for t, y in zip(w['time'], w['v(out)']):
            s = t % 500e-9
            x = s if s < 250e-9 else s - 250e-9
            ramp = min(x, 1e-9) / 1e-9
            tau = 0.5e-9 / 1e-9
            lag = tau * (math.exp(-max(x - 1e-9, 0) / 0.5e-9) - math.exp(-x / 0.5e-9))
            exact = ramp - lag
            self.assertLess(abs(y - (exact if s < 250e-9 else 1 - exact)), 1e-5)

    def test_halvings_0_takes_the_steps_of_the_transient(self):
        # the trapezoidal rule of order 2 on steps of the transient's tolerance, 1e-3
        a = self.of_orbit(RECTIFIER + '.pss 1meg 2u out 65 20 method=shooting integration=trap '
                          'halvings=0\n.end\n')
        b = self.of_orbit(RECTIFIER + '.pss 1meg 2u out 65 20 method=shooting\n.end\n')
        for k in range(3):
            self.close(a['v(out)'][k], b['v(out)'][k], 1e-2, abs(b['v(out)'][0]))
        self.assertNotEqual(a['v(out)'], b['v(out)'])

    def test_the_orbit_of_harmonic_balance_is_a_start(self):
        # the same orbit: each is within 0.1 of reltol of every sample
        same = TIGHT + '.pss 1meg 2u out 65 40 method=shooting\n.pss 1meg 0 out 65 40 method=shooting start=hb\n.end\n'
        p = self.run_deck(RECTIFIER + same)
        a, b = self.plot(p, 'Harmonic'), self.plot(p, 'Harmonic', 1)
        for name in ('v(a)', 'v(out)'):
            for x, y in zip(a[name], b[name]):
                self.close(x, y, 1e-6, max(abs(z) for z in a[name]))
        card = '.pss 5meg 20u a 65 15 uic method=shooting'
        p = self.run_deck(OSCILLATOR + card + '\n' + card + ' start=hb\n.end\n')
        a, b = self.plot(p, 'Harmonic'), self.plot(p, 'Harmonic', 1)
        self.close(a['frequency'][1], b['frequency'][1], 1e-4)
        for k in range(4):
            self.close(a['v(a)'][k], b['v(a)'][k], 1e-3, abs(a['v(a)'][1]))  # the phase, too
        v, w = self.plot(p, 'Periodic Steady')['v(a)'], self.plot(p, 'Periodic Steady', 1)['v(a)']
        self.close(v[0], w[0], 1e-3, max(v))

    def test_it_saves_the_way_to_a_slow_orbit(self):
        # a peak detector that keeps its charge for 1,000 periods: Newton's method by shooting has far to go from rest
        iterations = {}
        for start in ('tran', 'hb'):
            self.write('deck.sp', RECTIFIER.replace('200p', '1u') + '.pss 1meg 0 out 65 20 method=shooting integration=trap '
                       'halvings=0 start=%s\n.end\n' % start)
            done = subprocess.run([periodic.VSIM, '-r', 'out.raw', '--stats', 'stats.json', 'deck.sp'], cwd=self.tmp.name,
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.tmp.name, 'stats.json')) as f:
                iterations[start] = json.load(f)['newton_iterations']
        self.assertLess(iterations['hb'], iterations['tran'])

    def test_what_a_start_by_harmonic_balance_cannot_be(self):
        err = self.run_deck('bad\nv1 a 0 sin(0 1 1meg)\nr1 a 0 1k\n.pss 1meg 0 a 65 4 start=hb\n', 1)
        self.assertIn('start=hb needs method=shooting', err)
        err = self.run_deck('bad\nv1 a 0 sin(0 1 1meg)\nr1 a 0 1k\n.pss 1meg 0 a 65 4 method=shooting start=ac\n', 1)
        self.assertIn('tran or hb is expected', err)
        err = self.run_deck('bad\nv1 a 0 pulse(0 1 0 10n 10n 0.4u 1u)\nr1 a b 50\nt1 b 0 c 0 z0=50 td=70n\nr2 c 0 1k\n'
                           '.pss 1meg 0 c 65 40 method=shooting start=hb\n', 1)
        self.assertIn('echoes of corners', err)

    def test_small_signals_go_on_from_its_state(self):
        deck = RECTIFIER.replace('v1 in 0', 'v1 in 0 ac 1') + TIGHT
        after = '.hbac dec 1 1k 100k\n.end\n'
        a = self.run_deck(deck + '.hb 1meg nharms=40\n' + after)
        b = self.run_deck(deck + '.pss 1meg 2u out 65 40 method=shooting\n' + after)
        a, b = self.plot(a, 'Periodic AC'), self.plot(b, 'Periodic AC')
        for x, y in zip(a['v(out)'], b['v(out)']):
            self.close(x, y, 1e-6)

    def test_samples_and_scattering_go_on_from_its_state(self):
        # with method=hb harmonic balance goes on from the spectrum to its own orbit, of as many
        # harmonics: the same to what its Newton iteration leaves, of second order below 1e-3 of
        # reltol=1e-6
        deck = RECTIFIER.replace('v1 in 0', 'v1 in 0 ac 1') + TIGHT
        after = ('.hbnoise v(out) v1 lin 5 1k 500k strobe=0.3u method=hb\n'
                 '.hbnoise v(a) v1 lin 5 1k 500k cross=0.1 fall=1 method=hb\n.end\n')
        self.same_after(deck, '.hb 1meg nharms=40\n', '.pss 1meg 2u out 65 40 method=shooting\n', after,
                        ('Periodic Noise, Samples', 'Sampled Noise'))
        deck = '''mixer
v1 a 0 dc 0 portnum 1 z0=50
v2 b 0 dc 0 portnum 2 z0=50
vl l 0 sin(0 1 1meg)
b1 a b i=v(a,b)*10m/(1+exp(-20*v(l)))
c1 b 0 100p
''' + TIGHT
        self.same_after(deck, '.hb 1meg nharms=20\n', '.pss 1meg 2u b 65 20 method=shooting\n',
                        '.hbsp lin 3 10k 400k method=hb\n.end\n', ('Periodic SP',))

    def same_after(self, deck, hb, pss, after, names):
        a, b = self.run_deck(deck + hb + after), self.run_deck(deck + pss + after)
        for name in names:
            for k in range(sum(n.startswith(name) for n, _ in a)):
                v, w = self.plot(a, name, k), self.plot(b, name, k)
                self.assertEqual(list(v), list(w))
                for x in v:
                    self.assertEqual(len(v[x]), len(w[x]))
                    for y, z in zip(v[x], w[x]):
                        self.close(y, z, 1e-6, max(abs(q) for q in v[x]))

    def test_kt_over_c_behind_edges(self):
        # A sample has kT/C at any instant, open or closed. The edges of 5 ns of a clock of 1 us turn the
        # switch on and off within a tenth of that. In time no harmonics are chosen and nothing is left
        # out: the steps miss reltol = 1e-3. By harmonic balance noise beyond 400 harmonics of the
        # 2.65 MHz of the closed switch is left out: 2/pi fc/f = 0.42 %; of 40, 4 %
        self.write('sw.va', periodic.CHOPPER)
        for harmonics, low, high, how in ((10, 0.999, 1.001, ''), (400, 0.99, 1.0001, 'method=hb'),
                                          (40, 0.94, 0.99, 'method=hb')):
            p = self.run_deck('''track and hold
.hdl sw.va
.model ch chopper
vc c 0 pulse(-1 1 0 5n 5n 495n 1u)
vin in 0 0
n1 in out c ch
c1 out 0 60p
.pss 1meg 2u out 65 %d method=shooting
.hbnoise v(out) vin lin 8 1k 500k strobe=0.25u %s
.hbnoise v(out) vin lin 8 1k 500k strobe=0.75u %s
.end
''' % (harmonics, how, how))
            for k in range(2):
                n = self.plot(p, 'Periodic Noise, Samples', k)
                f, square = (0, *n['frequency']), [x * x for x in n['onoise_spectrum']]
                square = [square[0]] + square
                total = sum(0.5 * (square[i] + square[i - 1]) * (f[i] - f[i - 1]) for i in range(1, len(f)))
                got = total / (periodic.K * periodic.T27 / 60e-12)
                self.assertGreater(got, low)
                self.assertLess(got, high)

    def test_steps_and_measures(self):
        self.write('deck.sp', """stepped
.param r=1k
v1 in 0 sin(1 2 1meg)
r1 in out {r}
r2 out 0 1k
.pss 1meg 0 out 65 3 method=shooting
.meas pss top max v(out)
.step param r list 1k 3k
.end
""")
        done = subprocess.run([periodic.VSIM, '-r', 'out.raw', 'deck.sp'], cwd=self.tmp.name,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        top = [line.split()[-1] for line in done.stdout.splitlines()
               if line.split()[:1] in (['1'], ['2'])]
        # (1 + 2) / 2 and (1 + 2) / 4: one of 64 steps hits the sine's top
        self.assertEqual(['%.6g' % float(y) for y in top], ['1.5', '0.75'], done.stdout)

    # -- lines and delays --

    def test_a_line_answers_as_in_ac(self):
        # reltol=1e-6: the last refinement changed 1e-7 at most. The delay is less than the period
        # here, and 2.37 periods in the second deck
        for td in ('1.7n', '23.7n'):
            p = self.run_deck('''line
v1 in 0 dc 1 sin(1 2 100meg) ac 2
r1 in a 30
t1 a 0 b 0 z0=50 td=%s
c1 b 0 3p
r2 b 0 120
.options reltol=1e-6 vntol=1e-9
.pss 100meg 20n b 101 5 method=shooting
.ac lin 1 100meg 100meg
.op
.end
''' % td)
            hb, ac, op = self.plot(p, 'Harmonic'), self.plot(p, 'AC'), self.plot(p, 'Operating')
            for name in ('v(a)', 'v(b)', 'i(v1)'):
                self.close(hb[name][1], -1j * ac[name][0], 1e-7)
                self.close(hb[name][0], op[name][0], 1e-7, abs(ac[name][0]))

    def test_a_square_wave_is_reflected(self):
        # The wave into the line is w(t) = s(t) + r1 r2 w(t - 2 td), s the divided source, and the
        # far end has (1 + r2) w(t - td): a sum over echoes, with corners where they arrive. Bound: ten
        # times reltol of the swing. td is 2.37 periods.
        p = self.run_deck('''square
v1 in 0 pulse(0 1 0 0.1n 0.1n 4.9n 10n)
r1 in a 25
t1 a 0 b 0 z0=50 td=23.7n
r2 b 0 100
.options reltol=1e-5
.pss 100meg 100n b 401 20 method=shooting
.end
''')
        w, r1, r2 = self.plot(p, 'Periodic Steady'), -1 / 3, 1 / 3

        def source(t):
            t %= 10e-9
            up, down = min(t, 0.1e-9) / 0.1e-9, min(max(t - 5e-9, 0), 0.1e-9) / 0.1e-9
            return 50 / 75 * (up - down)

        for t, y in zip(w['time'], w['v(b)']):
            exact = sum((1 + r2) * (r1 * r2)**k * source(t - (2 * k + 1) * 23.7e-9)
                        for k in range(12))
            self.assertLess(abs(y - exact), 1e-4)

    def test_lines_by_each_rule_beside_harmonic_balance(self):
        # rules of order 2 end where halving the steps changes 0.1 of reltol; an error of the last
        # grid is a third of a change; ten tolerances are far from that
        for rule in ('sdirk4', 'trap', 'gear'):
            p = self.run_deck('''coupled
v1 in 0 dc 0.2 sin(0.2 1 100meg)
r1 in a1 50
r2 a2 0 50
r3 b1 0 50
c3 b1 0 2p
r4 b2 0 50
p1 a1 a2 0 b1 b2 0 pl
.model pl cpl l=300n 50n 300n c=120p -20p 120p len=0.5
.options reltol=1e-4
.pss 100meg 20n b1 101 5 method=shooting integration=%s
.ac lin 1 100meg 100meg
.end
'''.replace('sin(0.2 1 100meg)', 'sin(0.2 1 100meg) ac 1') % rule)
            hb, ac = self.plot(p, 'Harmonic'), self.plot(p, 'AC')
            for name in ('v(a1)', 'v(b1)', 'v(b2)'):
                self.close(hb[name][1], -1j * ac[name][0], 1e-3, 0.1)

    # -- lines with losses --

    def test_a_lossy_line_answers_as_in_ac(self):
        # r, l, g, c: the filter on v or on i, y(0) = 0 or exp(-lambda(0)) = 1 or neither, a line that
        # diffuses, one without delay, one longer than the period. reltol=1e-6 and 0.1 of it by the
        # last refinement, of which order 4 leaves a tenth, and sums of exponentials that are exact
        # to 1e-9 of a line
        for line in ('r=2 l=250n c=100p', 'r=2 l=250n g=1m c=100p', 'r=0.1 l=250n g=5m c=100p',
                     'l=250n g=5m c=100p', 'r=2 l=2.5u c=1n', 'r=20 g=1m'):
            self.lossy_as_in_ac(line, 'sdirk4', 1e-6, 1e-7)
        # rules of order 2, and of a line that diffuses, end at 0.1 of reltol
        self.lossy_as_in_ac('r=50 c=20p', 'sdirk4', 1e-4, 1e-5)
        for rule in ('trap', 'gear', 'euler'):
            self.lossy_as_in_ac('r=2 l=250n g=1m c=100p', rule, 1e-3, 1e-3)

    def lossy_as_in_ac(self, line, rule, reltol, bound):
        p = self.run_deck('''lossy
v1 in 0 dc 1 sin(1 2 100meg) ac 2
r1 in a 30
o1 a 0 b 0 ll
.model ll ltra %s len=1
c1 b 0 3p
r2 b 0 120
.options reltol=%g vntol=1e-9
.pss 100meg 20n b 101 5 method=shooting integration=%s
.ac lin 1 100meg 100meg
.op
.end
''' % (line, reltol, rule))
        hb, ac, op = self.plot(p, 'Harmonic'), self.plot(p, 'AC'), self.plot(p, 'Operating')
        for name in ('v(a)', 'v(b)', 'i(v1)'):
            self.close(hb[name][1], -1j * ac[name][0], bound)
            self.close(hb[name][0], op[name][0], bound, abs(ac[name][0]))

    def test_diodes_behind_lossy_lines_are_what_harmonic_balance_finds(self):
        # of the largest harmonic 1e-6; its mean too, which is dc in the lines
        for line in ('o1 a 0 b 0 ll\n.model ll ltra r=12 l=9.13n c=3.65p len=24',
                     'y1 a 0 b 0 ll len=2\n.model ll txl r=1 l=250n c=100p',
                     'r3 x 0 50\nr4 y 0 50\np1 a x 0 b y 0 ll\n'
                     '.model ll cpl r=2 0 2 l=300n 50n 300n c=120p -20p 120p len=0.5'):
            p = self.run_deck('''diode
v1 in 0 dc 0.3 sin(0.3 1 20meg)
r1 in a 50
%s
d1 b out dd
c1 out 0 20p
r2 out 0 2k
.model dd d is=1e-14 n=2 cjo=2p rs=5 tt=1n
.options reltol=3e-6 vntol=1e-9 abstol=1e-13
.hb 20meg nharms=60
.pss 20meg 200n out 65 60 method=shooting
.end
''' % line)
            self.same_lines(p, ('v(b)', 'v(out)'))

    def test_edges_in_a_lossy_line_are_what_a_transient_ends_in(self):
        # the transient's tolerance of 1e-5 a step, and what it has not forgotten after 20 periods:
        # the line passes a quarter at 0 Hz, forth and back, in 10 ns each
        p = self.run_deck('''edges
v1 in 0 pulse(0 1 0 1n 1n 24n 50n)
r1 in a 50
o1 a 0 b 0 ll
.model ll ltra r=40 l=500n g=0.1m c=200p len=1
r2 b 0 50
c2 b 0 2p
.options reltol=1e-5
.pss 20meg 100n b 101 20 method=shooting
.tran 0.05n 1u 0.949u 0.05n
.end
''')
        pss, tran = self.plot(p, 'Periodic Steady'), self.plot(p, 'Transient')
        t, v, k = tran['time'], tran['v(b)'], 0
        for x, y in zip(pss['time'], pss['v(b)']):
            while k + 2 < len(t) and t[k + 1] < 950e-9 + x:
                k += 1
            part = (950e-9 + x - t[k]) / (t[k + 1] - t[k])
            self.assertLess(abs(v[k] + part * (v[k + 1] - v[k]) - y), 2e-4 * max(v))

    # -- oscillators with lines --

    def exact(self, line, admittance, tail, f0=160e6):
        """An oscillator whose state is a pure sine. The conductance -a + b (v^2 + v_p^2) sees v_p, v a
        quarter of a period later, so that it is constant. `line`, r1 and r2, of this admittance, and
        c1 are the resonator: c1 is what Im Y = 0 at f0 asks for, and the amplitude follows from
        Re Y = a - b A^2. Returns plots and A."""
        y = admittance(2j * math.pi * f0)
        a = y.real + 3e-3
        return self.run_deck("""sine
c1 a 0 %.17g ic=1
r1 a 0 2k
r2 b 0 1
e1 q 0 a 0 1
t2 q 0 p 0 z0=50 td=%.17g
rp p 0 50
b1 a 0 i=-%.17g*v(a)+0.5m*v(a)*(v(a)^2+v(p)^2)
%s
%s
%s.end
""" % (-y.imag / (2 * math.pi * f0), 0.25 / f0, a, line, TIGHT, tail)), math.sqrt(3e-3 / 0.5e-3)

    def test_an_oscillator_with_a_line_has_its_closed_form(self):
        # bounds: harmonic balance ends below 1e-3 of reltol, and is then of second order; shooting's
        # last refinement changed 0.1 of reltol = 1e-6 of the period, and of unknowns
        p, amplitude = self.exact(
            't1 a 0 b 0 z0=50 td=1n', lambda s: seen(50, 1e-9 * s),
            '.hbosc tone=150meg nharms=5 probenode=a tstab=400n uic\n'
            '.phasenoise v(a) dec 1 10 100\n'
            '.pss 150meg 400n a 65 5 uic method=shooting\n')
        for k, bound in enumerate((1e-9, 1e-7)):
            w = self.plot(p, 'Harmonic', k)
            self.close(w['frequency'][1], 160e6, bound)
            self.close(abs(w['v(a)'][1]), amplitude, 10 * bound)
            self.assertLess(abs(w['v(a)'][3]), 10 * bound)
        self.phase_is_that_of_the_projection(p)

    def phase_is_that_of_the_projection(self, p):
        # The projection takes slopes by frequency, the response at an offset f admittances there: far
        # below the 10 MHz in which the amplitude settles they differ by (f / 10 MHz)^2, and by what
        # rounding leaves of a carrier 1e6 times as large
        w = self.plot(p, 'Phase Noise')
        for x, y in zip(w['phnoise'], w['phnoise_ppv']):
            self.assertLess(abs(x - y), 1e-3)

    def test_lossy_lines_set_the_frequency_too(self):
        # waves (a line of 1 rad) and hyperbolic functions (0.28 rad), the filter on v or on i
        for r, l, g, c in ((2, 50e-9, 0, 20e-12), (1, 20e-9, 0, 4e-12), (0.1, 50e-9, 2e-4, 20e-12),
                           (0.1, 20e-9, 2e-4, 4e-12)):
            p, amplitude = self.exact(
                'o1 a 0 b 0 ll\n.model ll ltra r=%g l=%g g=%g c=%g len=1' % (r, l, g, c),
                lambda s: seen(cmath.sqrt((r + s * l) / (g + s * c)),
                               cmath.sqrt((r + s * l) * (g + s * c))),
                '.hbosc tone=157meg nharms=5 probenode=a tstab=400n uic\n'
                '.phasenoise v(a) dec 1 10 100\n'
                '.pss 157meg 400n a 65 5 uic method=shooting\n')
            for k, bound in enumerate((1e-9, 1e-7)):
                w = self.plot(p, 'Harmonic', k)
                self.close(w['frequency'][1], 160e6, bound)
                self.close(abs(w['v(a)'][1]), amplitude, 10 * bound)
            self.phase_is_that_of_the_projection(p)

    def test_a_delay_sets_the_frequency_too(self):
        # in place of the line l1, and a current g v of half a nanosecond ago: g exp(-s td)
        self.write('late.va', """`include "disciplines.vams"
module late(in, out);
  inout in, out; electrical in, out;
  parameter real td = 1n;
  analog V(out) <+ absdelay(V(in), td);
endmodule
""")
        p, amplitude = self.exact(
            '.hdl "late.va"\nn1 a h late td=0.5n\nl1 a 0 50n\ng1 a 0 h 0 5m\n',
            lambda s: 5e-3 * cmath.exp(-0.5e-9 * s) + 1 / (50e-9 * s) + 5e-4,
            '.hbosc tone=150meg nharms=5 probenode=a tstab=400n uic\n'
            '.phasenoise v(a) dec 1 10 100\n'
            '.pss 150meg 400n a 65 5 uic method=shooting\n')
        for k, bound in enumerate((1e-9, 1e-7)):
            w = self.plot(p, 'Harmonic', k)
            self.close(w['frequency'][1], 160e6, bound)
            self.close(abs(w['v(a)'][1]), amplitude, 10 * bound)
        self.phase_is_that_of_the_projection(p)

    def test_a_cubic_oscillator_with_a_line_in_three_ways(self):
        # Linear: Im Y = 0 at 171.3651 MHz. The cubic's third harmonic sees the line, which moves the
        # frequency by 4e-4 at an excess e = 3 mS of negative conductance, and by order e^2: with
        # half of it by a quarter, up to what is of order e^4. The transient's steps of 2 ps leave
        # (2 pi f h)^2 / 12 = 4e-7 of the frequency.
        found, linear = [], 171365106.388
        for a in (4e-3, 2.508e-3):
            p = self.run_deck("""cubic
c1 a 0 10p ic=1
t1 a 0 b 0 z0=50 td=1n
r2 b 0 1
r1 a 0 2k
b1 a 0 i=-%g*v(a)+0.5m*v(a)^3
%s.hbosc tone=150meg nharms=15 probenode=a tstab=400n uic
.pss 150meg 400n a 65 15 uic method=shooting
.tran 2p 500n 400n 2p uic
.end
""" % (a, TIGHT))
            hb, pss, tran = (self.plot(p, 'Harmonic'), self.plot(p, 'Harmonic', 1),
                             self.plot(p, 'Transient'))
            f = hb['frequency'][1].real
            self.close(pss['frequency'][1], f, 1e-7)
            for k in (1, 3, 5):
                self.close(pss['v(a)'][k] / pss['v(a)'][1]**k * abs(pss['v(a)'][1])**k,
                           hb['v(a)'][k] / hb['v(a)'][1]**k * abs(hb['v(a)'][1])**k, 1e-6,
                           abs(hb['v(a)'][1]))
            rise = rises(tran['time'], tran['v(a)'])
            self.close((len(rise) - 1) / (rise[-1] - rise[0]), f, 4e-7)
            found.append(f)
        self.close((found[0] - linear) / (found[1] - linear), (2.984 / 1.492)**2, 0.02)

    # -- what cannot be --

    def test_messages(self):
        pss = '.pss 1meg 10u b 17 3 method=shooting\n.end\n'
        for deck, code, words in (
                ('v1 b 0 sin(0 1 1.1meg)\nr1 b 0 1k\n', 1, "'v1' does not repeat"),
                ('v1 a 0 1\nr1 a b 1k\nc1 b 0 1n\n', 1, 'died away'),
                ('v1 a 0 sin(0 1 1meg)\nc1 a b 1n\nc2 b 0 1n\n', 3, "leaves node 'b' as it is"),
                ('l1 b 0 1u ic=0\nc1 b 0 1n ic=1\nr1 b 0 1k\n', 3, 'no periodic solution'),
        ):
            text = self.run_deck('bad\n' + deck + (pss if 'ic=1' not in deck else pss.replace(
                'method', 'uic method').replace('1meg', '5meg')), code)
            self.assertIn(words, text)
        for words in ('method=shoting', 'method=shooting integration=rk', 'method=shooting points',
                      'method=shooting halvings=11'):
            text = self.run_deck('bad\nv1 a 0 sin(0 1 1meg)\nr1 a 0 1k\n.pss 1meg 1u a 11 3 %s\n.end\n'
                                 % words, 1)
            self.assertIn('expected', text)


if __name__ == '__main__':
    periodic.VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
