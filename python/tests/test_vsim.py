"""The package as its users see it. Run with an installed wheel:  python test_vsim.py

What numbers must be follows from closed forms; where a method has an error of its own, the bound is
that of its tolerances (reltol 1e-3 by default)."""
import ctypes
import doctest
import gc
import importlib
import math
import os
import pathlib
import pickle
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
import weakref
from xml.etree import ElementTree

import numpy as np

import vsim

DIVIDER = 'divider\nv1 in 0 10\nr1 in out 1k\nr2 out 0 3k'
RC = 'rc\nv1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n)\nr1 in out 1k\nc1 out 0 1n'
INVERTER = """inverter
vdd vdd 0 1.8
vin in 0 0.7
m1 out in 0 0 nch w=2u l=0.5u
m2 out in vdd vdd pch w=4u l=0.5u
.model nch nmos level=1 vto=0.5 kp=100u lambda=0.05
.model pch pmos level=1 vto=-0.5 kp=40u lambda=0.05
.end
"""


def _out_of(circuit):
    return circuit.op()['out']


def have(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def ctrl_c():
    """A function for `progress` of a run of 1e4 s in steps of 1e-7 s: behind some points Ctrl-C is
    pressed."""
    begun = threading.Event()

    def press():
        if begun.wait(300):
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press, daemon=True).start()
    return lambda fraction: begun.set() if fraction > 1e-9 else None


class Values(unittest.TestCase):
    def test_an_operating_point_is_numbers(self):
        op = vsim.Circuit(DIVIDER).op()
        self.assertEqual(op['v(out)'], 7.5)
        self.assertEqual((op['out'], op['V(OUT)'], op.v('out'), op.v('in', 'out')),
                         (7.5, 7.5, 7.5, 2.5))
        self.assertAlmostEqual(op['i(v1)'], -2.5e-3, delta=1e-15)
        self.assertEqual((op['v1#branch'], op.i('v1')), (op['i(v1)'],) * 2)
        self.assertEqual(list(op), ['v(in)', 'v(out)', 'i(v1)'])
        self.assertEqual(op.units, {'v(in)': 'V', 'v(out)': 'V', 'i(v1)': 'A'})
        self.assertIs(type(op['v(out)']), float)
        self.assertIsNone(op.axis)

    def test_parameters_are_attributes(self):
        ckt = vsim.Circuit(DIVIDER)
        self.assertEqual(ckt.r1.resistance, 1e3)
        ckt.r1.resistance = 9e3
        self.assertEqual((ckt.r1.resistance, ckt.R1.value, ckt['r1']['r']), (9e3,) * 3)
        self.assertEqual(ckt.op()['out'], 2.5)
        ckt.v1.voltage = 20
        self.assertEqual(ckt.op()['out'], 5)
        self.assertAlmostEqual(ckt.r2.i, 5 / 3e3, delta=1e-12)
        ckt.reset()
        self.assertEqual(ckt.op()['out'], 7.5)

    def test_models_params_options_and_temperature(self):
        ckt = vsim.Circuit(INVERTER + '\n')
        self.assertEqual((ckt.nch.vto, ckt.pch.type, ckt.m1.model, ckt.m1.type),
                         (0.5, 'pmos', 'nch', 'mos1'))
        self.assertEqual(ckt.m1.nodes, ('out', 'in', '0', '0'))
        high = ckt.op()['out']
        ckt.nch.vto = 0.69
        self.assertGreater(ckt.op()['out'], high)
        self.assertEqual(ckt.nch['vto'], 0.69)
        ckt.op()
        self.assertGreater(ckt.m1.gm, 0)
        units = {p.name: p.unit for p in ckt.m1.parameters}
        self.assertEqual((units['w'], units['vto']), ('m', 'V'))
        self.assertIn('w', dir(ckt.m1))
        self.assertIn('m1', dir(ckt))
        ckt = vsim.Circuit('p\n.param r=1k\nv1 a 0 1\nr1 a b {r}\nr2 b 0 1k tc1=1e-2\n')
        self.assertEqual(dict(ckt.params), {'r': 1e3})
        ckt.params.r = 3e3
        self.assertEqual((ckt.params['r'], ckt.op()['b']), (3e3, 0.25))
        ckt.temp = 127
        self.assertEqual(ckt.temp, 127)
        self.assertAlmostEqual(ckt.op()['b'], 0.4, delta=1e-12)  # r2 = 2k
        ckt.options.reltol = 1e-5
        ckt.options['method'] = 'gear'
        self.assertEqual((ckt.options.reltol, ckt.options.method), (1e-5, 1))
        self.assertEqual(vsim.Circuit('p\n.param r=1k\nv1 a 0 1\nr1 a b {r}\nr2 b 0 1k',
                                      params={'r': 3e3}).op()['b'], 0.25)

    def test_devices_of_subcircuits_by_path(self):
        ckt = vsim.Circuit('s\nv1 in 0 1\nx1 in out div\n.subckt div a b\nr1 a b 1k\nr2 b 0 1k\n'
                           '.ends\n')
        self.assertEqual(ckt['x1.r2'].resistance, 1e3)
        ckt.x1.r2.resistance = 3e3
        self.assertEqual(ckt.op()['out'], 0.75)
        self.assertEqual(dir(ckt.x1), ['r1', 'r2'])
        with self.assertRaisesRegex(AttributeError, 'x1 has no device'):
            ckt.x1.r3

    def test_what_is_misspelt_is_told(self):
        ckt = vsim.Circuit(DIVIDER)
        with self.assertRaisesRegex(AttributeError, "no device and no model 'r3'"):
            ckt.r3
        with self.assertRaisesRegex(KeyError, 'r3'):
            ckt['r3']
        with self.assertRaisesRegex(AttributeError, "no parameter 'resistanse'"):
            ckt.r1.resistanse
        with self.assertRaises(vsim.InputError):
            ckt.r1.resistanse = 3
        with self.assertRaisesRegex(AttributeError, 'PARAMETER'):
            ckt.r1 = 3
        with self.assertRaisesRegex(KeyError, "is it 'v\\(out\\)'"):
            ckt.op()['v(outt)']
        with self.assertRaisesRegex(ValueError, 'no analysis'):
            ckt.run('trans 1n 1u')
        self.assertEqual(ckt.op()['out'], 7.5)

    def test_a_value_that_cannot_be_is_taken_back(self):
        ckt = vsim.Circuit('d\nv1 a 0 1\nr1 a b 1k\nd1 b 0 dm\n.model dm d n=1.5 is=1f')
        before = ckt.op()['b']
        ckt.dm.n = -1
        with self.assertRaises(vsim.InputError):
            ckt.op()
        self.assertEqual(ckt.dm.n, 1.5)
        self.assertEqual((ckt.op()['b'], ckt.copy().op()['b']), (before, before))

    def test_set_by_name(self):
        ckt = vsim.Circuit('p\n.param r=1k\nv1 a 0 1\nr1 a b {r}\nr2 b 0 1k tc1=1e-2\n')
        ckt.set({'v1.voltage': 2, 'r2.resistance': 500, 'temp': 127, 'option.reltol': 1e-4}, r=3e3)
        self.assertAlmostEqual(ckt.op()['b'], 0.5, delta=1e-12)  # r2 = 1k
        self.assertEqual(ckt.options.reltol, 1e-4)
        with self.assertRaises(KeyError):
            ckt.set({'r7.resistance': 1})


class Elements(unittest.TestCase):
    def test_a_circuit_of_objects(self):
        ckt = vsim.Circuit(title='of objects')
        ckt.V('v1', 'in', 0, 10)
        r1 = ckt.R('r1', 'in', 'out', 1e3)
        ckt.R('r2', 'out', 0, '3k')
        self.assertEqual((ckt.op()['out'], r1.resistance, ckt.title), (7.5, 1e3, 'of objects'))
        r1.resistance = 9e3
        ckt.R('r3', 'out', 0, 3e3)  # values stay when cards are added
        self.assertAlmostEqual(ckt.op()['out'], 10 * 1.5 / 10.5, delta=1e-12)

    def test_every_kind_of_element(self):
        c = vsim.Circuit(title='all')
        c.param(r=1e3, half='{r/2}')
        c.V('vdd', 'vdd', 0, 3, ac=1, phase=90)
        c.I('i1', 0, 'a', 1e-3, wave=vsim.sin(0, 1, 1e3))
        c.R('r1', 'a', 0, '{half}')
        c.C('c1', 'a', 0, 1e-12, ic=0.1)
        c.L('l1', 'a', 'b', 1e-6)
        c.L('l2', 'b', 0, 1e-6)
        c.K('k1', 'l1', 'l2', 0.5)
        c.E('e1', 'e', 0, 'vdd', 0, 2)
        c.G('g1', 0, 'g', 'vdd', 0, 1e-3)
        c.R('rg', 'g', 0, 1e3)
        c.F('f1', 0, 'f', 'vdd', 2)
        c.R('rf', 'f', 0, 1e3)
        c.H('h1', 'h', 0, 'vdd', 5)
        c.B('b1', 'x', 0, v='v(vdd)**2')
        c.model('dm', 'd', **{'is': 1e-15})
        c.D('d1', 'vdd', 'dd', 'dm', area=2)
        c.R('rd', 'dd', 0, 1e3)
        c.model('npn', 'npn', bf=100)
        c.Q('q1', 'vdd', 'g', 'qe', 'npn')
        c.R('re', 'qe', 0, 1e3)
        c.model('nch', 'nmos', vto=0.5)
        c.M('m1', 'vdd', 'g', 'ms', 0, 'nch', w=1e-6, l=1e-6)
        c.R('rm', 'ms', 0, 1e3)
        c.model('jn', 'njf')
        c.J('j1', 'vdd', 0, 'js', 'jn')
        c.R('rj', 'js', 0, 1e3)
        c.T('t1', 'vdd', 0, 't', 0, z0=50, td=1e-9)
        c.R('rt', 't', 0, 50)
        c.add('.subckt pair p', 'r1 p 0 {v}', '.param v=1', '.ends')
        c.add('.subckt two p r=1k', 'r1 p 0 {r}', '.ends')
        c.X('x1', ['vdd'], 'two', r=300)
        op = c.op()
        self.assertEqual((op['x'], op['e']), (9, 6))
        self.assertAlmostEqual(op['g'], 3, delta=0.1)  # less the transistor's base current
        self.assertEqual(c['x1.r1'].resistance, 300)
        self.assertEqual(c.vdd.phase, 90)
        for name in ('d1', 'q1', 'm1', 'j1'):
            self.assertIn(name, c.devices)

    def test_words_that_are_no_words_are_refused(self):
        c = vsim.Circuit(title='t')
        for wrong in (lambda: c.R('x1', 'a', 'b', 1), lambda: c.R('r1', 'a b', 0, 1),
                      lambda: c.R('r1', 'a', 0, '1k\nr2 a 0 1'),
                      lambda: c.R('r1', 'a', 0, math.nan), lambda: c.R('r1', '', 0, 1),
                      lambda: vsim.pulse(0, 1, period=1),
                      lambda: vsim.pwl([0, 1], [0])):
            with self.assertRaises(ValueError):
                wrong()

    def test_waveforms(self):
        ckt = vsim.Circuit(RC)
        ckt.v1.wave = vsim.pwl([0, 1e-6, 2e-6], [0, 0, 2])
        r = ckt.tran(3e-6)
        self.assertEqual(r['in'][-1], 2)
        self.assertIn(1e-6, r.time)
        ckt.v1.wave = vsim.sin(1, 0.5, 1e6, phase=90)
        self.assertEqual(ckt.tran(1e-6)['in'][0], 1.5)

    def test_files_and_included_files(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'part.inc'), 'w') as f:
                f.write('r2 out 0 3k\n')
            with open(os.path.join(folder, 'top.sp'), 'w') as f:
                f.write('top\nv1 in 0 10\nr1 in out 1k\n.include part.inc\n.op\n.tran 1n 1u\n')
            ckt = vsim.Circuit.from_file(os.path.join(folder, 'top.sp'))
            op, tran = ckt.run()
            self.assertEqual((op.kind, tran.kind, op['out'], ckt.title), ('op', 'tran', 7.5, 'top'))
            c = vsim.Circuit('t\nv1 in 0 10\nr1 in out 1k', include=[folder])
            c.include('part.inc')
            self.assertEqual(c.op()['out'], 7.5)
            with self.assertRaises(vsim.FileError) as e:
                vsim.Circuit.from_file(os.path.join(folder, 'none.sp')).op()
            self.assertIsInstance(e.exception, OSError)


class Analyses(unittest.TestCase):
    def test_dc_over_several_things(self):
        ckt = vsim.Circuit(DIVIDER)
        r = ckt.dc(v1=[0, 1, 2])
        np.testing.assert_allclose(r['out'], [0, 0.75, 1.5], rtol=1e-12)
        np.testing.assert_array_equal(r.axis, [0, 1, 2])
        r = ckt.dc({'v1': [1, 2], 'r2.resistance': [1e3, 3e3, 9e3]})
        np.testing.assert_allclose(r['out'], [0.5, 1, 0.75, 1.5, 0.9, 1.8], rtol=1e-12)

    def test_cards_of_oscillators(self):
        ckt = vsim.Circuit('van der pol\nl1 a 0 1u ic=0\nc1 a 0 1n ic=1\nr1 a 0 1k\n'
                           'b1 a 0 i=-3m*v(a)+0.4m*v(a)^3')
        for card in ('hbosc tone=5meg nharms=7 probenode=a tstab=10u uic',
                     '.pss 5meg 10u a 33 7 uic method=shooting'):
            f = ckt.run(card).plots[1]['frequency'][1]
            self.assertAlmostEqual(f * 2 * math.pi * math.sqrt(1e-15), 1, delta=1e-2)
            n = ckt.run('phasenoise v(a) dec 1 1k 10k')
            self.assertGreater(n['linewidth'], 0)
            # -20 dB a decade, where only white noise is
            self.assertAlmostEqual(n['phnoise_ppv'][0] - n['phnoise_ppv'][1], 20, delta=1e-3)

    def test_tran_against_the_closed_form(self):
        ckt = vsim.Circuit(RC)
        r = ckt.tran(5e-6, 1e-8)
        want = 1 - np.exp(-(r.time - 0.5e-9) / 1e-6)
        np.testing.assert_allclose(r['out'][5:], want[5:], atol=2e-3)
        self.assertEqual((r.time[0], r.time[-1]), (0, 5e-6))
        self.assertAlmostEqual(r.measure('d WHEN v(out)=0.5 RISE=1'), math.log(2) * 1e-6,
                               delta=5e-9)
        self.assertGreater(r.stats.accepted, 500)
        self.assertEqual(r.stats.accepted + 1, len(r.time))
        self.assertEqual(ckt.run('.tran 10n 5u').time[-1], 5e-6)
        late = ckt.tran(5e-6, start=2e-6)
        self.assertGreaterEqual(late.time[0], 2e-6 * (1 - 1e-9))

    def test_ac_against_the_closed_form(self):
        r = vsim.Circuit(RC).ac(1e3, 1e8, 10)
        self.assertEqual((r['out'].dtype, r.axis.dtype), (complex, float))
        want = 1 / (1 + 2j * np.pi * r.frequency * 1e-6)
        np.testing.assert_allclose(r['out'], want, rtol=1e-9)
        self.assertEqual(len(vsim.Circuit(RC).ac(1, 100, 7, 'lin').axis), 7)
        with self.assertRaisesRegex(ValueError, 'grid'):
            vsim.Circuit(RC).ac(1, 100, 7, 'log')

    def test_noise_of_a_resistor(self):
        r = vsim.Circuit(RC, cache=True).noise('v(out)', 'v1', 1, 1e10)
        density = math.sqrt(4 * 1.380649e-23 * 300.15 * 1e3)
        self.assertAlmostEqual(r['onoise_spectrum'][0] / density, 1, delta=1e-6)
        self.assertEqual(len(r.plots), 2)
        # kT/C, by the trapezoidal rule over 20 points a decade
        self.assertAlmostEqual(r['onoise_total'] / math.sqrt(1.380649e-23 * 300.15 / 1e-9), 1,
                               delta=0.01)

    def test_tf_sens_pz_sp(self):
        ckt = vsim.Circuit(DIVIDER)
        tf = ckt.tf('v(out)', 'v1')
        self.assertAlmostEqual(tf['transfer_function'], 0.75, delta=1e-12)
        self.assertAlmostEqual(tf['output_impedance_at_v(out)'], 750, delta=1e-6)
        sens = ckt.sens('v(out)')
        self.assertAlmostEqual(sens['r2'], 10 * 1e3 / 4e3**2, delta=1e-9)
        over = vsim.Circuit(RC).sens('v(out)', 1e3, 1e6, 5)
        self.assertEqual(over['c1'].dtype, complex)
        pz = vsim.Circuit(RC).pz(('in', 0), ('out', 0))
        self.assertIsInstance(pz['pole(1)'], complex)
        self.assertAlmostEqual(pz['pole(1)'].real / -1e6, 1, delta=1e-9)
        sp = vsim.Circuit('s\nv1 a 0 dc 0 ac 1 portnum 1 z0 50\nr1 a b 50\n'
                          'v2 b 0 dc 0 ac 0 portnum 2 z0 50').sp(1e6, 1e9, 2)
        np.testing.assert_allclose(sp['S_2_1'], 2 / 3, rtol=1e-9)

    def test_gradients_of_a_transient(self):
        """Half of the step is reached at RC ln 2, plus half of the rise of 1 ns."""
        rc = vsim.Circuit(RC + '\n.tran 2n 5u 0 2n\n.meas tran half when v(out)=0.5\n'
                          '.meas tran end find v(out) at=4u')
        both = rc.gradient(['half', 'end'], ['r1', 'c1'], memory=1 << 20)
        tau = 1e-6
        for g, value, slope in ((both['half'], tau * math.log(2), tau * math.log(2)),
                                (both['end'], 1 - math.exp(-4), -4 * math.exp(-4))):
            self.assertAlmostEqual(g.value / value, 1, delta=1e-2)
            self.assertAlmostEqual(g.by['r1'] * 1e3 / slope, 1, delta=1e-2)
            self.assertAlmostEqual(g.by['c1'] * 1e-9 / slope, 1, delta=1e-2)
        one = rc.gradient('half', 'r1')
        self.assertEqual((one.value, list(one.by)), (both['half'].value, ['r1']))
        with self.assertRaises(vsim.InputError):
            rc.gradient('half', 'r7')
        with self.assertRaises(vsim.InputError):
            rc.gradient('nothing', 'r1')

    def test_gradients_of_small_signals(self):
        """|H|^2 = 1/(1 + (2 pi f R C)^2) at the corner; noise there is that of 4kTR |H|^2."""
        rc = vsim.Circuit(RC + '\n.ac lin 1 159154.943 159154.943\n'
                          '.noise v(out) v1 lin 1 159154.943 159154.943\n'
                          '.meas ac m find vm(out) at=159154.943\n'
                          '.meas noise n find onoise_spectrum at=159154.943')
        g = rc.gradient('m', ['r1', 'c1'], of='ac')
        self.assertAlmostEqual(g.value, math.sqrt(0.5), delta=1e-8)
        for name, value in (('r1', 1e3), ('c1', 1e-9)):
            self.assertAlmostEqual(g.by[name] * value, -math.sqrt(0.5) / 2, delta=1e-8)
        n = rc.gradient(['n'], ['r1', 'c1'], of='noise')['n']
        self.assertAlmostEqual(n.by['r1'] * 1e3 / n.value, 0, delta=1e-8)
        self.assertAlmostEqual(n.by['c1'] * 1e-9 / n.value, -0.5, delta=1e-8)
        with self.assertRaises(ValueError):
            rc.gradient('m', 'r1', of='hb')

    def test_gradients_of_operating_points_and_sweeps(self):
        """v(b) = u r2/(r1 + r2)."""
        deck = vsim.Circuit('d\nv1 a 0 2\nr1 a b 1k\nr2 b 0 3k\n.op\n.dc v1 0 2 0.5\n'
                            '.meas op vb find v(b)\n.meas dc u when v(b)=1')
        vb = deck.gradient('vb', ['r1', 'v1'], of='op')
        self.assertAlmostEqual(vb.value, 1.5, delta=1e-9)
        self.assertAlmostEqual(vb.by['v1'], 0.75, delta=1e-9)
        self.assertAlmostEqual(vb.by['r1'] * 1e3, -2 * 3 / 16, delta=1e-8)
        u = deck.gradient('u', ['r1', 'v1'], of='dc')
        self.assertAlmostEqual(u.by['r1'] * 1e3, 1 / 3, delta=1e-8)
        self.assertEqual(u.by['v1'], 0)

    def test_what_is_kept(self):
        r = vsim.Circuit(RC).tran(1e-6, keep=['v(out)'])
        self.assertEqual(list(r), ['time', 'v(out)'])
        op = vsim.Circuit(INVERTER).op(keep=['@m1[gm]'])
        self.assertGreater(op['@m1[gm]'], 0)

    def test_measures_of_the_deck(self):
        r = vsim.Circuit(RC + '\n.meas tran half when v(out)=0.5 rise=1\n.tran 10n 5u').run()[0]
        self.assertAlmostEqual(r.measures['half'], math.log(2) * 1e-6, delta=5e-9)

    def test_a_transient_in_pieces_is_the_whole(self):
        whole = vsim.Circuit(RC).tran(5e-6)
        ckt = vsim.Circuit(RC)
        tran = ckt.begin_tran(5e-6)
        t = 0
        while tran.until(t):
            part = tran.result['out']
            self.assertTrue(part.flags.writeable)  # a copy: the run's own may move
            t += 0.7e-6
        tran.finish() if tran.time < 5e-6 else None
        for name in whole:
            self.assertEqual(whole[name].tobytes(), tran.result[name].tobytes())
        tran = ckt.begin_tran(5e-6)
        self.assertTrue(tran.until(1e-6))
        with self.assertRaisesRegex(vsim.InputError, 'under way'):
            ckt.op()
        tran.stop()
        self.assertTrue(tran.result.stopped)
        self.assertLess(tran.result.time[-1], 5e-6)
        ckt.op()

    def test_a_checkpoint_goes_on_in_another_circuit(self):
        whole = vsim.Circuit(RC).tran(5e-6)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'rc.checkpoint')
            first = vsim.Circuit(RC).begin_tran(5e-6)
            self.assertTrue(first.until(1e-6))
            first.checkpoint(path)
            other = vsim.Circuit(RC).begin_tran(5e-6, restart=path)
            self.assertEqual(other.time, first.time)
            for tran in (first, other):
                tran.finish()
                for name in whole:
                    self.assertEqual(whole[name].tobytes(), tran.result[name].tobytes())
            with self.assertRaises(vsim.Error):  # it has ended
                first.checkpoint(path)
            path.write_bytes(path.read_bytes()[:100])
            with self.assertRaises(vsim.InputError):
                vsim.Circuit(RC).begin_tran(5e-6, restart=path)

    def test_equations_are_derivatives(self):
        ckt = vsim.Circuit(INVERTER)
        e = ckt.equations()
        op = ckt.op()
        self.assertEqual(e.names[:2], ['vdd', 'in'])
        self.assertAlmostEqual(e.x[e.names.index('out')], op['out'], delta=1e-12)
        np.testing.assert_allclose(e.f, 0, atol=1e-9)
        if not have('scipy'):
            self.skipTest('no scipy')
        x, h = np.array(e.x), 1e-6
        full = e.G.toarray()
        for k in range(len(x)):
            up, down = x.copy(), x.copy()
            up[k] += h
            down[k] -= h
            slope = (ckt.equations(up).f - ckt.equations(down).f) / (2 * h)
            # a central difference: h^2 of the third derivative, and rounding by h
            np.testing.assert_allclose(full[:, k], slope, rtol=1e-5, atol=1e-9)
        self.assertEqual(vsim.Circuit(RC).equations().C[1, 1], 1e-9)
        with self.assertRaisesRegex(ValueError, 'unknowns'):
            ckt.equations([1, 2])


class Memory(unittest.TestCase):
    def test_arrays_are_the_runs_own_and_outlive_everything(self):
        ckt = vsim.Circuit(RC)
        r = ckt.tran(5e-6)
        a, again = r['out'], r['v(out)']
        self.assertTrue(np.shares_memory(a, again))
        self.assertFalse(a.flags.writeable)
        with self.assertRaises(ValueError):
            a[0] = 1
        kept, last = a.copy(), weakref.ref(r._run)
        del ckt, r, again
        gc.collect()
        self.assertIsNotNone(last())  # by the array alone
        for _ in range(20):           # memory that was free would be used again
            vsim.Circuit(RC).tran(5e-6)
        self.assertEqual(a.tobytes(), kept.tobytes())
        part = a[3:]
        del a
        gc.collect()
        self.assertIsNotNone(last())
        del part
        gc.collect()
        self.assertIsNone(last())

    def test_cycles_are_collected_in_any_order(self):
        seen = []
        for _ in range(20):
            ckt = vsim.Circuit(RC)
            r = ckt.tran(1e-6)
            r.point['me'] = [r, ckt, r['out']]
            object.__setattr__(ckt, '_me', [ckt, r])
            seen.append(weakref.ref(ckt))
        del ckt, r
        gc.collect()
        self.assertEqual([s() for s in seen], [None] * 20)

    def test_dropped_inside_a_callback(self):
        ckt = vsim.Circuit(RC)
        old = [ckt.tran(1e-6) for _ in range(5)]

        def value(t):
            if old:
                old.pop()
                gc.collect()
            return 1.0
        ckt.v1.function = value
        self.assertEqual(ckt.tran(1e-6)['in'][-1], 1)
        self.assertEqual(old, [])
        self.assertEqual(ckt._sim.trash, [])

    def test_runs_are_freed(self):
        ckt = vsim.Circuit(DIVIDER)
        runs = [weakref.ref(ckt.op()._run) for _ in range(50)]
        gc.collect()
        self.assertEqual(sum(r() is not None for r in runs), 1)  # ckt.result

    def test_copies_and_pickles_have_the_values(self):
        ckt = vsim.Circuit(DIVIDER)
        ckt.r1.resistance = 9e3
        for other in (ckt.copy(), pickle.loads(pickle.dumps(ckt))):
            self.assertEqual(other.op()['out'], 2.5)
            other.r1.resistance = 1e3
            self.assertEqual((other.op()['out'], ckt.op()['out']), (7.5, 2.5))


class Errors(unittest.TestCase):
    def test_a_wrong_card_has_its_place(self):
        with self.assertRaises(vsim.InputError) as e:
            vsim.Circuit('t\nv1 a 0 1\nm1 a a 0 0 nmos1x w=1u\n.model nmos1 nmos\n').op()
        x = e.exception
        self.assertIsInstance(x, ValueError)
        self.assertEqual((x.file, x.line, x.column), ('circuit', 3, 12))
        self.assertEqual(x.source, 'm1 a a 0 0 nmos1x w=1u')
        text = str(x).splitlines()
        line = next(k for k, part in enumerate(text) if part.endswith(x.source))
        self.assertEqual(text[line + 1].index('^'), text[line].index('nmos1x'))
        m = x.messages[0]
        self.assertEqual((m.severity, m.length, m.source[m.column - 1:][:m.length]),
                         ('error', 6, 'nmos1x'))

    def test_each_kind_of_failure_has_its_class(self):
        with self.assertRaises(vsim.ConvergenceError):  # no voltage solves it
            vsim.Circuit('t\nb1 a 0 i=1+exp(v(a))\nr1 a b 1k\nc1 b 0 1n').op()
        with self.assertRaises(vsim.InputError):
            vsim.Circuit('t\nr1 a 0 1k\n.tran 1n').run()
        self.assertTrue(issubclass(vsim.OutOfMemory, MemoryError))
        with self.assertRaises(vsim.OutOfMemory):
            vsim.Circuit(RC, memory=1 << 16).op()

    def test_warnings_are_pythons(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter('always')
            r = vsim.Circuit(RC).tran(1e-6)
            self.assertTrue(math.isnan(r.measure('d WHEN v(out)=7 RISE=1')))
        self.assertEqual([w.category for w in seen], [vsim.Warning])
        self.assertIn('never rises through 7', str(seen[0].message))
        self.assertEqual(seen[0].filename, __file__)
        self.assertEqual(seen[0].message.message.severity, 'warning')

    def test_a_run_that_fails_keeps_its_points(self):
        ckt = vsim.Circuit('t\nb1 a 0 v={1/max(1e-300, 1u-time)}\nr1 a 0 1k\nc1 a 0 1n\n'
                           'b2 x 0 v={sqrt(1u-time)*log(1u-time)}\nrx x 0 1')
        with self.assertRaises(vsim.Error) as e:
            ckt.tran(2e-6)
        self.assertGreater(len(e.exception.result.time), 3)
        self.assertIs(e.exception.result, ckt.result)


class Callbacks(unittest.TestCase):
    def test_a_source_that_is_a_function(self):
        ckt = vsim.Circuit(RC)
        ckt.v1.set_function(lambda t: 1.0 if t > 1e-6 else 0.0, events=[1e-6])
        r = ckt.tran(5e-6)
        self.assertIn(1e-6, r.time)
        self.assertAlmostEqual(r['out'][-1], 1 - math.exp(-4), delta=1e-3)
        asked = []

        def after(t):
            asked.append(t)
            return 1e-6 if t < 1e-6 else math.inf
        ckt.v1.set_function(lambda t: 1.0 if t > 1e-6 else 0.0, events=after)
        self.assertEqual(ckt.tran(5e-6)['out'].tobytes(), r['out'].tobytes())
        self.assertTrue(asked)
        ckt.v1.function = None
        self.assertGreater(ckt.tran(5e-6)['out'][-2], 0.99)  # at its end the pulse begins anew

    def test_what_a_function_raises_comes_out(self):
        ckt = vsim.Circuit(RC)
        ckt.v1.function = lambda t: 1 / 0 if t > 1e-6 else 0
        with self.assertRaises(ZeroDivisionError):
            ckt.tran(5e-6)
        self.assertLess(ckt.result.time[-1], 5e-6)
        self.assertGreater(len(ckt.result.time), 2)
        ckt.v1.function = lambda t: 'a text'
        with self.assertRaises(ValueError):
            ckt.op()
        ckt.v1.function = lambda t: 2.0
        self.assertEqual(ckt.op()['out'], 2)

    def test_ctrl_c_stops_and_keeps_points(self):
        ckt, press = vsim.Circuit(RC), ctrl_c()
        with self.assertRaises(vsim.Interrupted) as e:  # it would take hours
            ckt.tran(1e4, 1e-6, max_step=1e-7, progress=press)
        self.assertIsInstance(e.exception, KeyboardInterrupt)
        self.assertGreater(len(e.exception.result.time), 10)
        self.assertTrue(e.exception.result.stopped)
        self.assertEqual(ckt.op()['out'], 1)

    def test_ctrl_c_inside_a_function_of_a_source(self):
        ckt = vsim.Circuit(RC)

        def value(t):
            if t > 1e-6:
                signal.raise_signal(signal.SIGINT)
            return 0.0
        ckt.v1.function = value
        with self.assertRaises(vsim.Interrupted) as e:
            ckt.tran(5e-6)
        self.assertLess(e.exception.result.time[-1], 5e-6)

    def test_signals_stay_pythons(self):
        before = signal.getsignal(signal.SIGINT)
        vsim.Circuit(RC).tran(1e-6)
        self.assertIs(signal.getsignal(signal.SIGINT), before)

        class Late(Exception):
            pass

        def late(number, frame):
            raise Late
        signal.signal(signal.SIGALRM, late)
        with self.assertRaises(Late):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            vsim.Circuit(RC).tran(1e4, 1e-6, max_step=1e-7)

    def test_progress_is_told(self):
        seen = []
        ckt = vsim.Circuit(RC)

        def stop(fraction):
            seen.append(fraction)
            raise StopIteration
        with self.assertRaises(StopIteration):
            ckt.tran(1e4, 1e-6, max_step=1e-7, progress=stop)
        self.assertEqual(len(seen), 1)
        self.assertTrue(0 < seen[0] < 1)
        if have('tqdm'):
            err, sys.stderr = sys.stderr, tempfile.TemporaryFile('w+')
            try:
                ckt.tran(1e-6, progress=True)
                sys.stderr.seek(0)
                self.assertIn('100%', sys.stderr.read())
            finally:
                sys.stderr.close()
                sys.stderr = err

    def test_lines_that_models_print(self):
        said = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'talk.va')
            with open(path, 'w') as f:
                f.write('`include "disciplines.vams"\nmodule talk(p, n); inout p, n; '
                        'electrical p, n;\nanalog begin I(p, n) <+ V(p, n) / 1k;\n'
                        '@(initial_step) $strobe("hello"); end\nendmodule\n')
            c = vsim.Circuit('t\nv1 a 0 1\nn1 a 0 tm\n.model tm talk', say=said.append)
            c.hdl(path)
            c.op()
        self.assertIn('hello', said[0])


class Sweeps(unittest.TestCase):
    def test_a_grid_has_its_dimensions(self):
        ckt = vsim.Circuit(DIVIDER)
        s = ckt.sweep({'r1.resistance': [1e3, 9e3], 'v1.voltage': [1, 10, 20]}, get={'o': 'v(out)'})
        np.testing.assert_allclose(s['o'], [[0.75, 7.5, 15], [0.25, 2.5, 5]], rtol=1e-12)
        self.assertEqual((s.shape, s.done, s.errors), ((2, 3), 6, {}))
        self.assertEqual(ckt.op()['out'], 7.5)
        if have('xarray'):
            self.assertEqual(s.to_xarray()['o'].sel({'r1.resistance': 9e3, 'v1.voltage': 20}), 5)
        if have('pandas'):
            self.assertEqual(list(s.to_pandas().columns), ['r1.resistance', 'v1.voltage', 'o'])

    def test_jobs_do_not_change_a_bit(self):
        ckt = vsim.Circuit(INVERTER)
        points = [{'vin.voltage': v, 'm1.w': w} for v in np.linspace(0.3, 1.2, 9)
                  for w in (1e-6, 3e-6)]
        alone = []
        for p in points:
            c = vsim.Circuit(INVERTER)
            c.set(p)
            alone.append(c.op()['out'])
        for jobs in (1, 3):
            self.assertEqual(list(ckt.sweep(points, 'op', {'o': 'out'}, jobs=jobs)['o']), alone)

    def test_what_do_and_get_may_be(self):
        ckt = vsim.Circuit(RC)
        values = {'r1.resistance': [1e3, 2e3]}
        s = ckt.sweep(values, 'tran 10n 5u', {
            'd': 'd WHEN v(out)=0.5 RISE=1', 'n': lambda r: len(r), 'end': 'v(out)'},
            keep_results=True)
        np.testing.assert_allclose(s['d'], np.log(2) * np.array([1e-6, 2e-6]), rtol=0.01)
        self.assertEqual(s.results[1].point, {'r1.resistance': 2e3})
        s = ckt.sweep(values, lambda c: c.r1.resistance * 2)
        np.testing.assert_array_equal(s['value'], [2e3, 4e3])
        s = ckt.sweep(values, lambda c: {'a': 1, 'b': c.op()['out']})
        np.testing.assert_array_equal(s['b'], [1, 1])
        with self.assertRaisesRegex(KeyError, 'a, b'):
            s['c']

    def test_points_that_fail_are_told_and_others_go_on(self):
        ckt = vsim.Circuit('d\nv1 a 0 1\nr1 a b 1k\nd1 b 0 dm\n.model dm d n=1.5 is=1f')
        s = ckt.sweep({'dm.n': [1, -1, 2]}, get={'b': 'b'}, jobs=2)
        self.assertEqual(list(s.errors), [1])
        self.assertIsInstance(s.errors[1], vsim.InputError)
        np.testing.assert_array_equal(np.isnan(s['b']), [False, True, False])
        with self.assertRaises(ZeroDivisionError):
            ckt.sweep({'dm.n': [1, 2]}, lambda c: 1 / 0, jobs=2)

    def test_samples_do_not_depend_on_their_number(self):
        ckt = vsim.Circuit('mc\nv1 in 0 1\nr1 in out {gauss(1k,0.1,1)}\nr2 out 0 1k')
        few = ckt.monte_carlo(5, get={'o': 'out'})
        many = ckt.monte_carlo(300, get={'o': 'out'}, jobs=2)
        np.testing.assert_array_equal(few['o'], many['o'][:5])
        self.assertEqual(ckt.monte_carlo([3], get={'o': 'out'})['o'][0], few['o'][3])
        self.assertNotEqual(list(ckt.monte_carlo(5, get={'o': 'out'}, seed=2)['o']),
                            list(few['o']))
        # sigma of out is 0.1 / 4; of 300 samples within 5 standard errors
        self.assertAlmostEqual(many['o'].std() / 0.025, 1, delta=5 / math.sqrt(600) + 0.01)

    def test_families_of_the_deck(self):
        ckt = vsim.Circuit('f\n.param r=1k\nv1 in 0 1\nr1 in out {r}\nr2 out 0 1k\n'
                           '.step param r list 1k 3k\n.op\n')
        for jobs in (1, 2):
            s = ckt.family(get={'o': 'out'}, jobs=jobs)
            self.assertEqual(s.points, [{'r': 1e3}, {'r': 3e3}])
            np.testing.assert_allclose(s['o'], [0.5, 0.25], rtol=1e-12)
        with self.assertRaisesRegex(ValueError, 'no .step'):
            vsim.Circuit(DIVIDER).family()

    def test_ctrl_c_ends_all_threads(self):
        ckt, press = vsim.Circuit(RC), ctrl_c()

        def last(c):
            return c.tran(1e4, 1e-6, max_step=1e-7, progress=press)['out'][-1]
        with self.assertRaises(vsim.Interrupted) as e:
            ckt.sweep({'r1.resistance': [1e3, 2e3, 3e3]}, last, jobs=2)
        self.assertEqual(e.exception.result.done, 0)
        self.assertEqual(len(e.exception.result.points), 3)

    def test_threads_of_ones_own(self):
        out = {}

        def work(k):
            c = vsim.Circuit(INVERTER)
            c.vin.voltage = 0.5 + 0.05 * k
            out[k] = [c.op()['out'] for _ in range(20)]
        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for k in range(6):
            c = vsim.Circuit(INVERTER)
            c.vin.voltage = 0.5 + 0.05 * k
            self.assertEqual(out[k], [c.op()['out']] * 20)


class Tables(unittest.TestCase):
    @unittest.skipUnless(have('pandas'), 'no pandas')
    def test_pandas(self):
        t = vsim.Circuit(RC).tran(1e-6).to_pandas()
        self.assertEqual((t.index.name, list(t.columns)), ('time', ['v(in)', 'v(out)', 'i(v1)']))
        self.assertEqual(t.attrs['units']['v(out)'], 'V')
        self.assertEqual(vsim.Circuit(DIVIDER).op().to_pandas()['v(out)'], 7.5)

    @unittest.skipUnless(have('xarray'), 'no xarray')
    def test_xarray(self):
        r = vsim.Circuit(DIVIDER).dc({'v1': [1, 2], 'r2.resistance': [1e3, 3e3, 9e3]})
        d = r.to_xarray()
        self.assertEqual(d['v(out)'].dims, ('r2.resistance', 'v1'))
        self.assertAlmostEqual(float(d['v(out)'].sel({'v1': 2, 'r2.resistance': 9e3})), 1.8)
        self.assertEqual(d['v(out)'].attrs['units'], 'V')

    def test_pictures_are_svg_with_the_curves(self):
        ckt = vsim.Circuit(RC)
        for r in (ckt.tran(5e-6, 1e-10), ckt.ac(1, 1e9), ckt.dc(v1=[0, 1]),
                  ckt.noise('v(out)', 'v1', 1, 1e6)):
            root = ElementTree.fromstring(r._repr_html_())
            lines = root.findall('{http://www.w3.org/2000/svg}polyline')
            self.assertEqual(len(lines), 2)
            for line in lines:
                points = [tuple(map(float, p.split(','))) for p in line.get('points').split()]
                self.assertTrue(1 < len(points) <= 4 * 640)
                self.assertTrue(all(0 <= x <= 640 and 0 <= y <= 320 for x, y in points))
        one = ElementTree.fromstring(ckt.tran(5e-6).svg('v(out)', width=300))
        self.assertEqual(len(one.findall('{http://www.w3.org/2000/svg}polyline')), 1)

    def test_an_operating_point_is_a_table(self):
        html = vsim.Circuit(DIVIDER).op()._repr_html_()
        self.assertIn('<td>7.5 V</td>', html)
        ElementTree.fromstring(html)
        self.assertEqual(repr(vsim.Circuit(DIVIDER).op()),
                         '<Operating Point: v(in) = 10 V, v(out) = 7.5 V, i(v1) = -2.5 mA>')


class Package(unittest.TestCase):
    def test_the_import_loads_neither_library_nor_numpy(self):
        code = 'import sys, vsim; print([m for m in ("numpy", "pandas", "scipy") if m in ' \
               'sys.modules], vsim._circuit._lib._loaded)'
        out = subprocess.run([sys.executable, '-c', code], check=True, capture_output=True,
                             text=True, cwd='/').stdout
        self.assertEqual(out, '[] None\n')

    def test_a_process_ends_with_everything_alive(self):
        code = ('import vsim, threading, time\n'
                'c = vsim.Circuit(%r)\nr = c.tran(1e-6)\na = r["out"]\n'
                'c.v1.function = lambda t: 1.0\n'
                'object.__setattr__(c, "_me", [c, r, a])\n'
                't = c.begin_tran(1e-6)\nt.until(1e-7)\n'
                'long = vsim.Circuit(%r)\n'
                'threading.Thread(target=lambda: long.tran(1e4, 1e-6, max_step=1e-7),\n'
                '                 daemon=True).start()\ntime.sleep(0.2)\n' % (RC, RC))
        p = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True,
                           text=True)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, '', ''))

    def test_a_process_ends_while_a_thread_compiles(self):
        deck = ('t\nv1 in 0 1\nd1 in out dm\nq1 out out 0 qm\nm1 out out 0 0 mm\nr1 out 0 1k\n'
                '.model dm d is=1e-14\n.model qm npn\n.model mm nmos level=54\n.end\n')
        code = ('import vsim, threading, time\n'
                'run = lambda: vsim.Circuit(%r, cache=False).tran(1e4, 1e-6, max_step=1e-7)\n'
                'threading.Thread(target=run, daemon=True).start()\ntime.sleep(%g)\n')
        for wait in (0.15, 0.2, 0.3, 0.6):
            p = subprocess.run([sys.executable, '-W', 'ignore', '-c', code % (deck, wait)],
                               capture_output=True, text=True)
            self.assertEqual((p.returncode, p.stdout, p.stderr), (0, '', ''))

    def test_a_forked_process_computes(self):
        import multiprocessing
        ckt = vsim.Circuit(DIVIDER)
        ckt.op()
        with multiprocessing.get_context('fork').Pool(2) as pool:
            self.assertEqual(pool.map(_out_of, [vsim.Circuit(DIVIDER), ckt]), [7.5, 7.5])

    def test_docstrings_are_true(self):
        tests = 0
        for m in pkgutil.iter_modules(vsim.__path__):
            if m.name in ('__main__', '_dist'):
                continue
            failed, tried = doctest.testmod(importlib.import_module('vsim.' + m.name))
            self.assertEqual(failed, 0, m.name)
            tests += tried
        self.assertGreater(tests, 15)

    def test_everything_public_is_described(self):
        for name in vsim.__all__:
            thing = getattr(vsim, name)
            self.assertTrue(thing.__doc__, name)
            for part, value in vars(thing).items() if isinstance(thing, type) else ():
                if not part.startswith('_') and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, '%s.%s' % (name, part))

    def test_structs_are_those_of_the_library(self):
        from vsim import _lib
        lib = _lib.load()
        s = _lib.Settings()
        lib.settings_init_size(ctypes.byref(s), ctypes.sizeof(s))
        self.assertEqual(s.size, ctypes.sizeof(s))
        self.assertRegex(vsim.__version__, r'^\d+\.\d+\.\d+$')


if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
    unittest.main()
