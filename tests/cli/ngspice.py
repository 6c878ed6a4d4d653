#!/usr/bin/env python3
"""The program under the name ngspice: options, names, log, messages, as programs that start one read them.

    ngspice.py VSIM [unittest arguments]"""
import fcntl
import math
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import unittest

import folder

VSIM = ''
RC = """RC low-pass
V1 in 0 dc 1 ac 1 PULSE(0 1 0 1n 1n 1u 2u)
R1 in out 1k
C1 out 0 1n
"""
TREE = """names
.model nm nmos level=1 vto=0.7 kp=1e-4
vd d 0 1
vg g 0 1
x1 d g sub
.subckt sub a b
m2 a b 0 0 nm w=1u l=1u
vmeas a m 0
l1 m k 1n
rr k 0 1k
.ends
"""


def header(raw):
    """Of each plot: lines before the values."""
    plots, at = [], raw.find(b'Title: ')
    while at >= 0:
        end = raw.index(b'Binary:\n', at) + 8
        lines = raw[at:end].decode().split('\n')
        n = int(next(x for x in lines if x.startswith('No. Variables')).split()[-1])
        rows = int(next(x for x in lines if x.startswith('No. Points')).split()[-1])
        width = 16 if 'Flags: complex' in lines else 8
        plots.append((lines, raw[end:end + n * rows * width]))
        at = end + n * rows * width if raw[end + n * rows * width:].startswith(b'Title: ') else -1
    return plots


def variables(lines):
    return [tuple(x.split('\t')[2:4]) for x in lines if re.match(r'\t\d+\t', x)]


class Folder(folder.Folder):
    def setUp(self):
        super().setUp()
        os.symlink(os.path.abspath(VSIM), self.path('ngspice'))

    def call(self, program, *args, code=0, text=True, **kw):
        done = subprocess.run([program, *args], cwd=self.tmp.name, text=text, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        return done

    def ngspice(self, *args, **kw):
        return self.call(self.path('ngspice'), *args, **kw)

    def deck(self, text):
        return self.write('d.cir', text + '.end\n')

    def raw(self, name='o.raw'):
        with open(self.path(name), 'rb') as f:
            return f.read()


class Options(Folder):
    def test_the_version_is_that_of_ngspice_and_ours(self):
        for args in (('-v',), ('--version',)):
            out = self.ngspice(*args).stdout
            self.assertRegex(out, r'(?m)^\*\* ngspice-\d+ ')
            self.assertRegex(out, r'vsim \d+\.\d+')
        out = self.call(VSIM, '-v').stdout
        self.assertRegex(out, r'^vsim \d+\.\d+')
        self.assertRegex(out, r'(?m)^\*\* ngspice-\d+ ')

    def test_all_of_spicelibs_options_are_taken(self):
        self.deck(RC + '.tran 10n 1u\n')
        self.ngspice('-n', '-a', '-q', '-t', 'xterm', '--soa-log', 'soa', '-D', 'ngbehavior=kiltpsa', '-b',
                     '-o', 'o.log', '-r', 'o.raw', 'd.cir')
        self.assertEqual(len(header(self.raw())), 1)
        self.assertIn('No. of Data Rows', self.read('o.log'))

    def test_a_variable_makes_the_file_text(self):
        self.deck(RC + '.op\n')
        for call in (self.ngspice, lambda *a: self.call(VSIM, *a)):
            call('-D', 'filetype=ascii', '-r', 'o.raw', '-b', 'd.cir')
            self.assertIn(b'\nValues:\n', self.raw())

    def test_variables_reach_the_block(self):
        self.deck(RC + '.control\necho [$mine]\n.endc\n')
        self.assertIn('[a text]', self.ngspice('-D', 'mine=a text', '-b', 'd.cir').stdout)

    def test_the_deck_may_come_by_c_or_standard_input(self):
        self.deck(RC + '.op\n')
        for args, kw in ((('-b', '-c', 'd.cir'), {}), (('-b',), {'input': RC + '.op\n.end\n'})):
            self.assertIn('Circuit: RC low-pass', self.ngspice(*args, **kw).stdout)

    def test_a_session_says_what_a_batch_run_says(self):
        """Points behind each run, notes with the word first, pictures named by the deck."""
        self.deck(RC.replace('1n\n', 'nothing\n') + '.op\n')
        self.assertRegex(self.ngspice('-p', 'd.cir', input='quit\n').stderr, r'(?m)^Error: d\.cir:4:')
        self.deck(RC + '.model m nmos level=8 version=3.1\nm1 in in 0 0 m w=1u l=1u\n.dc v1 0 1 0.5\n')
        done = self.ngspice('-i', 'd.cir', input='run\nplot v(out)\nquit\n')
        self.assertIn('\nNo. of Data Rows : 3\n', done.stdout)
        self.assertRegex(done.stderr, r'(?m)^Note: d\.cir:5:\d+: the model card is here$')
        self.assertNotIn(': note: ', done.stderr)
        self.assertTrue(os.path.exists(self.path('d_plot1.svg')), done.stdout)

    def test_currents_and_voltages_of_elements_are_phasors_in_ac(self):
        """(ngspice has no values there.) A current source's c is its dc value, also in transients."""
        self.deck('phasors\nv1 in 0 dc 2 ac 1\nr1 in a 1k\nc1 a 0 1u\nl1 a b 1m\nr2 b 0 1k\n'
                  'i1 0 a dc 1m ac 2 30 sin(1m 1m 1k)\nvm in q 0\nq1 q in 0 qn\n.model qn npn cje=1p rb=10\n.control\n'
                  'save all @r1[i] @c1[i] @c1[v] @l1[i] @v1[i] @i1[i] @i1[v] @q1[is] @q1[ic]\nac lin 1 1k 1k\n'
                  'let e = abs((v(in)-v(a))/1k - @r1[i]) + abs(v(a)*2*pi*1k*1u*(0,1) - @c1[i]) + abs(i(l1) - @l1[i])\n'
                  'let e = e + abs(@v1[i] - i(v1)) + abs(@i1[v] - v(a)) + abs(@c1[v] - v(a)) + abs(@q1[is])\n'
                  'let g = abs(@i1[i] - 2*(cos(pi/6),sin(pi/6)))\nprint e g\nlet k = abs(@c1[i])\nprint k\n'
                  'save all @i1[c]\ntran 2u 1m\nmeas tran c find @i1[c] at=0.3m\n.endc\n')
        out = self.ngspice('-b', 'd.cir').stdout
        value = {k: float(v) for k, v in re.findall(r'(?m)^(\w+) += +(\S+)$', out)}
        self.assertLess(value['e'], 1e-9 * value['k'], out)  # rounding of a few numbers of its size
        self.assertLess(value['g'], 1e-9)
        self.assertEqual(value['c'], 1e-3)

    def test_measures_read_currents_in_functions_of_nodes(self):
        """vdb(v1#branch), as in ngspice's examples/vbic; the current is (1 + jwRC)/R."""
        self.deck('functions\nv1 a 0 ac 1\nr1 a b 1k\nc1 a b 1n\nvm b 0 0\n.control\nac lin 3 100k 300k\n'
                  'meas ac size find vm(vm#branch) at=200k\nmeas ac db find vdb(vm#branch) at=200k\n.endc\n')
        out = self.ngspice('-b', 'd.cir').stdout
        value = {k: float(v) for k, v in re.findall(r'(?m)^(\w+) += +(\S+)$', out)}
        exact = abs(1 + 2j * math.pi * 200e3 * 1e-6) / 1e3
        self.assertAlmostEqual(value['size'] / exact, 1, delta=1e-5)  # seven digits are printed
        self.assertAlmostEqual(value['db'], 20 * math.log10(exact), delta=1e-4)

    def test_a_file_behind_let_is_a_file_unless_a_vector_has_its_name(self):
        self.deck('t\nv1 a 0 2\nr1 a 0 1\n.control\nop\nlet k = 1\nlet x = v(a) > k\nlet y = v(a) > said.txt\n'
                  'print x y\n.endc\n')
        done = self.ngspice('-b', 'd.cir')
        self.assertIn('x = 1.0', done.stdout)
        self.assertIn('y = 2.0', done.stdout)
        self.assertIn("no vector 'said.txt'", done.stderr + done.stdout)
        self.assertEqual(sorted(os.listdir(self.tmp.name)), ['d.cir', 'ngspice', 'said.txt'])
        self.assertIn("no vector 'said.txt'", self.call(VSIM, 'd.cir', code=1).stderr)

    def test_names_of_blocks_that_expressions_would_split(self):
        self.deck('t\n.csparam k=3\nv1 a 0 2\nr1 a +b 1\nr2 +b 0 1\n.save all @r2[i]\n.control\nset old = $curplot\n'
                  'dc v1 0 2 1\nlet v(/x) = 2 * v(a)\nsettype current v(/x)\nlet far = {$curplot}.@r2[i]\n'
                  'print v(/x)[2] far[1]\ndc v1 0 2 1\nsettype current dc1.far v(a)\nalter v1 = 1\n'
                  'plot v(+b) plainplot\nlet j = $&k + k\nprint j\n.endc\n')
        out = self.ngspice('-b', 'd.cir').stdout
        for want in ('v(/x)[2] = 4.0', 'far[1] = 5.0', 'j = 6.0'):
            self.assertIn(want, out)

    def test_remcirc_leaves_the_circuit_that_mc_source_stood_beside(self):
        self.deck('t\n.param r=1\nv1 a 0 6\nr1 a 0 {r}\n.control\nforeach k 1 2 3\nalterparam r = $k\nmc_source\nop\n'
                  'print i(v1)\nremcirc\nend\nop\nremcirc\nop\n.endc\n')
        done = self.ngspice('-b', 'd.cir')
        self.assertEqual([float(x) for x in re.findall(r'i\(v1\) = (\S+)', done.stdout)], [-6, -3, -2])
        self.assertEqual((done.stdout + done.stderr).count('there is no circuit any more'), 1)

    def test_no_result_file_unless_asked_for(self):
        self.deck(RC + '.op\n')
        self.ngspice('-b', 'd.cir')
        self.assertEqual(sorted(os.listdir(self.tmp.name)), ['d.cir', 'ngspice'])

    def test_our_own_name_keeps_our_habits(self):
        self.deck(RC + '.op\n')
        out = self.call(VSIM, '-v', 'd.cir').stdout
        self.assertIn('operating point: 1 points', out)
        self.assertIn(b'\nDate: ', self.raw('d.raw'))
        self.assertIn(b'\nCommand: ngspice-', self.raw('d.raw'))


class Files(Folder):
    def test_the_header_satisfies_spicelib_and_vlsirtools(self):
        self.deck(RC + '.tran 10n 1u\n.op\n.ac dec 2 1k 1meg\n')
        self.ngspice('-b', '-r', 'o.raw', 'd.cir')
        plots = header(self.raw())
        self.assertEqual(len(plots), 3)
        for lines, _ in plots:
            self.assertTrue(lines[0].startswith('Title: '))
            self.assertRegex(lines[1], r'^Command: ngspice-\d+, vsim \d')
            self.assertTrue(lines[2].startswith('Plotname: '))
            self.assertEqual(lines[6], 'Variables:')

    def test_names_and_types_are_ngspices(self):
        self.deck(TREE + '.save all @m.x1.m2[id] @m.x1.m2[gm] @m.x1.m2[von] i(v.x1.vmeas)\n'
                         '.dc vd 0 1 0.5\n.dc temp 0 20 10\n')
        self.ngspice('-b', '-r', 'o.raw', 'd.cir')
        (dc, _), (temp, _) = header(self.raw())
        names = variables(dc)
        self.assertEqual(names[0], ('v(v-sweep)', 'voltage'))
        self.assertEqual(variables(temp)[0], ('temp-sweep', 'temp-sweep'))
        for want in (('i(v.x1.vmeas)', 'current'), ('i(l.x1.l1)', 'current'), ('v(x1.m)', 'voltage'),
                     ('i(@m.x1.m2[id])', 'current'), ('@m.x1.m2[gm]', 'admittance'),
                     ('v(@m.x1.m2[von])', 'voltage')):
            self.assertIn(want, names)
        self.call(VSIM, '-r', 'p.raw', 'd.cir')
        ours = variables(header(self.raw('p.raw'))[0][0])
        self.assertIn(('i(x1.vmeas)', 'current'), ours)
        self.assertEqual(len(ours), len(names))

    def test_a_current_source_has_a_current(self):
        self.deck('i\ni0 0 a dc 2m\nr0 a 0 1k\n.save @i0[current] @i0[c] @i0[dc]\n.options savecurrents\n'
                  '.dc r0 1k 2k 1k\n')
        self.ngspice('-b', '-r', 'o.raw', 'd.cir')
        (lines, data), = header(self.raw())
        self.assertEqual(variables(lines), [
            ('res-sweep', 'res-sweep'), ('i(@i0[current])', 'current'), ('i(@i0[c])', 'current'),
            ('i(@i0[dc])', 'current'), ('i(@r0[i])', 'current')])
        self.assertEqual(struct.unpack('<5d', data[:40]), (1000, 2e-3, 2e-3, 2e-3, 2e-3))
        self.call(VSIM, '-r', 'p.raw', 'd.cir')
        self.assertEqual(variables(header(self.raw('p.raw'))[0][0])[1][0], '@i0[current]')

    def test_s_parameters_come_with_voltages_and_currents(self):
        # 1 V behind 75 Ohm at the last port, 50 Ohm at the other: a ladder of three resistors
        self.deck('sp\nv1 in 0 dc 0 ac 1 portnum 1 z0 50\nv2 out 0 dc 0 ac 0 portnum 2 z0 75\n'
                  'r1 in m 10\nr2 m out 20\nr3 m 0 100\n.sp lin 1 1meg 1meg 1\n')
        self.ngspice('-b', '-r', 'o.raw', 'd.cir')
        (lines, data), = header(self.raw())
        names = variables(lines)
        value = dict(zip((n for n, _ in names), struct.unpack('<%dd' % (2 * len(names)), data)[::2]))
        r3 = 1 / (1 / 100 + 1 / 60)
        out = (r3 + 20) / (r3 + 95)
        m = out * r3 / (r3 + 20)
        for name, want in (('v(out)', out), ('v(m)', m), ('v(in)', m * 50 / 60), ('i(v2)', (out - 1) / 75),
                           ('i(v1)', m / 60)):
            self.assertAlmostEqual(value[name], want, delta=1e-12)
        self.assertLessEqual({('S_1_1', 's-param'), ('Y_2_1', 'admittance'), ('Z_1_2', 'impedance'),
                              ('i(Cy_1_1)', 'current'), ('NF', 'decibel'), ('Rn', 'impedance')}, set(names))

    def test_types_of_what_blocks_compute(self):
        self.deck(RC + '.control\ntran 0.1u 2u\nlet p = v(in)*i(v1)\nlet z = v(in)/i(v1)\nlet y = i(v1)/v(in)\n'
                       'let d = v(in)-v(out)\nlet s = -i(v1)/2\nlet n = -v(in)\nwrite o.raw p z y d s n\n.endc\n')
        want = [('p', 'power'), ('z', 'impedance'), ('y', 'admittance'), ('d', 'notype'), ('s', 'notype'),
                ('v(n)', 'voltage')]
        self.ngspice('-b', 'd.cir')
        self.assertEqual(variables(header(self.raw())[0][0])[1:], want)
        self.call(VSIM, 'd.cir')  # ours: a difference of voltages is a voltage
        self.assertIn(('d', 'voltage'), variables(header(self.raw())[0][0]))

    def test_a_node_may_end_in_an_exclamation_mark(self):
        self.deck('sub\nv1 sub! 0 2\nr1 sub! 0 1k\n.control\nop\nprint sub! v(sub!)*2 sub!-1 sub!!=2\n.endc\n')
        out = self.ngspice('-b', 'd.cir').stdout
        for want in ('sub! = 2.0', 'v(sub!)*2 = 4.0', 'sub!-1 = 1.0', 'sub!!=2 = 0.0'):
            self.assertIn(want, out)

    def test_both_forms_of_names_are_understood(self):
        self.deck(TREE + '.control\nop\nprint v.x1.vmeas#branch-i(x1.vmeas) l.x1.l1#branch-i(l.x1.l1)\n.endc\n')
        for call in (self.ngspice, lambda *a: self.call(VSIM, *a)):
            out = call('-b', 'd.cir').stdout
            self.assertEqual(len(re.findall(r'\) = 0\.0+e\+00', out)), 2, out)

    def test_noise_of_a_node_that_vlsirtools_names(self):
        self.deck('* noise\nx1 0 t\n.subckt t s\nvv a s dc 1 ac 1\nra a b 1k\nca b s 1n\n.ends\n'
                  '.noise v(v.x1.b, v.x1.s) v.x1.vv dec 2 1k 1meg\n')
        err = self.ngspice('-b', '-r', 'o.raw', 'd.cir').stderr
        self.assertIn("Warning: d.cir:8:18: no node 'x1.s': ground is taken", err)
        self.assertEqual([p[0][2] for p in header(self.raw())],
                         ['Plotname: Noise Spectral Density Curves', 'Plotname: Integrated Noise'])

    def test_saves_of_cards_and_commands_add_up(self):
        self.deck(RC + '.save v(in)\n.save @r1[i]\n.control\nsave v(out)\nsave i(v1)\nop\nwrite o.raw\nsave all\nop\n'
                       'write p.raw\n.endc\n')
        self.ngspice('-b', 'd.cir')
        want = {'v(in)', 'v(out)', 'i(@r1[i])', 'i(v1)'}
        self.assertEqual({x[0] for x in variables(header(self.raw())[0][0])}, want)
        self.assertEqual({x[0] for x in variables(header(self.raw('p.raw'))[0][0])}, want)
        self.call(VSIM, 'd.cir')
        self.assertEqual({x[0] for x in variables(header(self.raw())[0][0])}, {'v(out)', 'i(v1)'})

    def test_currents_of_elements_without_a_branch_are_saved(self):
        """Spectre, HSPICE and Xyce write i(r1) where ngspice has @r1[i]."""
        deck = 'currents\nv1 a 0 sin(0 1 1k) ac 1\nr1 a b 1k\nc1 b 0 1u\nd1 b 0 dm\n.model dm d\nx1 b 0 sub\n' \
            '.subckt sub p q\nr2 p q 2k\n.ends\nm1 a b 0 0 nm\n.model nm nmos\n'
        names = 'i(r1) i(c1) i(d1) i(x1.r2) i(m1:d)'
        want = {'v(b)', 'i(r1)', 'i(c1)', 'i(d1)', 'i(x1.r2)', 'i(m1:d)', '@r1[i]'}
        show = ''.join('%s\ndisplay\n' % a for a in ('op', 'tran 10u 1m', 'dc v1 0 1 0.5', 'ac dec 1 1 10'))
        self.deck(deck + '.control\nsave v(b) @r1[i] %s v(x1:p) i(nope)\n' % names + show + 'tran 10u 1m\n'
                  'let off = vecmax(abs(i(r1)-@r1[i]))\nlet sum = vecmax(abs(i(r1)-i(c1)-i(d1)-i(x1.r2)))\nprint off sum\n.endc\n')
        done = self.call(VSIM, 'd.cir')
        plots = done.stdout.split('Here are the vectors')[1:]
        self.assertEqual(len(plots), 4)
        for plot in plots:
            got = set(re.findall(r'^    (\S+) +:', plot, re.M))
            self.assertLessEqual(want, got)
            self.assertLessEqual(got - want, {'time', 'frequency', 'v-sweep'})
        self.assertEqual(re.findall("there is no '(.*)'", done.stderr), ['v(x1:p)', 'i(nope)'])
        for name in ('off', 'sum'):
            self.assertLess(float(re.search(r'^%s = (\S+)' % name, done.stdout, re.M).group(1)), 1e-7)
        self.deck(deck + '.save v(b) i(r1) i(c1) i(d1) i(x1.r2)\n.tran 10u 1m\n')
        self.call(VSIM, '-q', '-r', 'o.raw', 'd.cir')
        self.assertEqual({x[0] for x in variables(header(self.raw())[0][0])}, want - {'@r1[i]', 'i(m1:d)'} | {'time'})

    def test_write_without_a_name_and_load(self):
        self.deck(RC + '.control\ntran 10n 1u\nlet last = v(out)[length(v(out))-1]\nwrite\nload\nsetplot\n'
                       'print v(out)[length(v(out))-1]-tran1.v(out)[length(tran1.v(out))-1]\n.endc\n')
        out = self.ngspice('-b', 'd.cir').stdout
        self.assertIn('tran2', out)
        self.assertRegex(out, r'= 0\.0+e\+00')
        self.assertEqual(header(self.raw('rawspice.raw'))[0][0][2], 'Plotname: Transient Analysis')

    def test_load_says_what_is_wrong_with_a_file(self):
        self.write('bad.raw', 'nonsense\n')
        self.deck(RC + '.control\nload bad.raw\nload none.raw\n.endc\n')
        err = self.call(VSIM, 'd.cir', code=1).stderr
        self.assertIn("d.cir:6:1: error: 'bad.raw' ", err)
        self.assertIn("d.cir:7:1: error: 'none.raw' cannot be opened", err)


class Server(Folder):
    def test_results_come_as_pyspice_reads_them(self):
        done = self.ngspice('-s', input=(RC + '.tran 10n 1u\n.end\n').encode(), text=False)
        head, data = done.stdout.split(b'Binary:\n')
        lines = [x for x in head.decode().split('\n') if x]
        self.assertEqual(lines[0], 'Circuit: RC low-pass')
        self.assertRegex(lines[1], r'^Doing analysis at TEMP = 27\.0+ and TNOM = 27\.0+$')
        self.assertEqual([x.split(':')[0] for x in lines[2:8]],
                         ['Title', 'Date', 'Plotname', 'Flags', 'No. Variables', 'No. Points'])
        self.assertEqual(lines[8], 'Variables:')
        self.assertRegex(lines[9], r'^No\. of Data Columns : 4 ')
        points = int(re.search(rb'(?m)^@@@ (\d+) (\d+)$', done.stderr).group(2))
        self.assertEqual(len(data), points * 4 * 8)
        self.assertAlmostEqual(struct.unpack('<d', data[-32:-24])[0], 1e-6, delta=1e-15)


class Log(Folder):
    MEAS = '.tran 10n 4u\n.meas tran vmax MAX v(out)\n.meas tran va AVG v(out) from=1u to=2u\n' \
           '.meas tran bad WHEN v(out)=25 RISE=1\n'

    def test_measures_stand_where_cicsim_looks(self):
        self.deck(RC + self.MEAS)
        out = self.ngspice('-b', 'd.cir').stdout
        at = out.index('  Measurements for Transient Analysis\n\n')
        found = re.findall(r'(?m)^(\S+)\s*=\s*(\S+)\s', out[at:])
        self.assertEqual([x[0] for x in found], ['vmax', 'va'])
        for _, value in found:
            float(value)

    def test_measures_stand_as_spicelib_reads_them(self):
        self.deck(RC + self.MEAS)
        self.ngspice('-D', 'ngbehavior=kiltpsa', '-b', '-o', 'o.log', '-r', 'o.raw', 'd.cir')
        log = self.read('o.log')
        self.assertRegex(log, r'^(.*\n)?Circuit:')
        self.assertRegex(log, r'(?m)^vmax: MAX v\(out\)=\S+ at \S+$')
        self.assertRegex(log, r'(?m)^va: AVG v\(out\) .*=\S+ FROM 1e-06 TO 2e-06$')
        self.assertIn('Measurement "bad" FAIL\'ed', log)

    def test_a_measure_that_cannot_be_read_is_left_out(self):
        """The others are there, also those that are computed as points come (no block, no -r); without ngspice's
        name the deck is refused."""
        bad = '.meas tran m1 RIG v(out) VAL=1\n.meas tra m2 MAX v(out)\n.meas tran m3 MAX v(out) fro=1u\n'
        for block in ('', '.control\nrun\n.endc\n'):
            self.deck(RC + bad + self.MEAS + block)
            for more in ((), ('-r', 'o.raw')):
                done = self.ngspice('-b', *more, 'd.cir')
                self.assertEqual(re.findall(r'(?m)^(\S+) +=', done.stdout), ['vmax', 'va'])
                self.assertEqual(done.stderr.count('the run goes on without this card'), 3)
                self.assertRegex(done.stderr, r"Warning: d\.cir:\d+:15: 'RIG' is no form of a measure")
                self.assertEqual(done.stderr.count("'RIG' is no form"), 1)
        self.assertIn("error: 'RIG' is no form of a measure", self.call(VSIM, 'd.cir', code=1).stderr)

    def test_a_print_card_of_what_is_not_there_is_left_out(self):
        """Another simulator's words (format=noindex), a name of none, a form of none; .four likewise."""
        self.deck(RC + '.print tran format=noindex v(out)\n.print tran v(nowhere)\n.print tran n(m1:gm)\n'
                  '.four 1meg v(elsewhere)\n' + self.MEAS + '.print tran v(in)\n')
        done = self.ngspice('-b', 'd.cir')
        self.assertEqual(re.findall(r'(?m)^(\S+) +=', done.stdout), ['vmax', 'va'])
        self.assertRegex(done.stdout, r'(?m)^Index +time +v\(in\)')
        self.assertEqual(done.stderr.count('the run goes on without this card'), 4)
        for word in ('format', 'nowhere', 'elsewhere', 'n(m1'):
            self.assertRegex(done.stderr, r'Warning: d\.cir:\d+:\d+: .*\n.*' + re.escape(word))
        said = self.call(VSIM, 'd.cir').stderr # where nothing else says whose the deck is, its words do
        self.assertIn("this card is Xyce's", said)
        self.assertIn('as with Xyce, the run goes on without this card', said)
        self.deck(RC + '.tran 10n 4u\n.print tran v(nowhere) v(in)\n')
        said = self.call(VSIM, 'd.cir')
        self.assertIn("'v(nowhere)' is not known here and left out", said.stderr)
        self.assertRegex(said.stdout, r'(?m)^Index +time +v\(in\)')

    def test_measures_without_their_analysis(self):
        """As LTspice has them; spicelib's worst-case analysis adds '.meas runm PARAM {run}'."""
        deck = RC + '.param run=-1\n.tran 10n 2u\n.meas vmax MAX v(out)\n.meas runm PARAM {run}\n' \
            ".meas twice PARAM='2*run'\n.end\n"
        self.deck(deck)
        out = self.ngspice('-b', 'd.cir').stdout
        for line in (r'vmax +=  \S+', r'runm +=  -1\.0+e\+00', r'twice +=  -2\.0+e\+00'):
            self.assertRegex(out, '(?m)^' + line)

    def test_an_operating_point_is_printed(self):
        self.deck(RC + '.op\n')
        out = self.ngspice('-b', 'd.cir').stdout
        self.assertRegex(out, r'(?m)^\tout +1\.0+e\+00$')
        self.assertRegex(out, r'(?m)^\tv1#branch +-?\d')

    def test_show_has_the_form_of_ngspice(self):
        """ngspice-json-cli goes by the title and the widths, PySpice takes the title for a description."""
        self.deck(RC + '.control\nop\nshow all\n.endc\n')
        out = self.ngspice('-b', 'd.cir').stdout
        for block in (' Resistor: Simple linear resistor\n     device                    r1\n'
                      '      model                     R\n resistance                  1000\n',
                      ' Capacitor: Fixed capacitor\n     device                    c1\n',
                      ' Vsource: Independent voltage source\n     device                    v1\n'
                      '         dc                     1\n'):
            self.assertIn(block, out)

    def test_the_axis_is_printed_once(self):
        self.deck(RC + '.control\ntran 1u 4u\nprint time v(out)\nprint time\n.endc\n')
        heads = re.findall(r'(?m)^Index +(.*?) *$', self.ngspice('-b', 'd.cir').stdout)
        self.assertEqual([h.split() for h in heads], [['time', 'v(out)'], ['time']])

    def test_print_writes_names_in_lower_case(self):
        self.deck(RC + '.control\nop\nprint V(OUT) all\n.endc\n')
        self.assertRegex(self.ngspice('-b', 'd.cir').stdout, r'v\(out\) = 1\.0+e\+00\nin = 1\.0+e')
        self.assertIn('v(out) = 1.0', self.call(VSIM, '-q', 'd.cir').stdout)


class Vendors(Folder):
    """What stands in the model files and decks of vendors."""

    def value(self, deck, name, program=None):
        self.deck(deck)
        done = self.call(program or VSIM, 'd.cir')
        return float(re.search(re.escape(name) + r' +(\S+)', done.stdout).group(1)), done.stderr

    def test_one_ampere(self):
        v, err = self.value('a\nI1 0 b 1A\nI2 0 b 2Amp\nR1 b 0 1\n.op\n', 'v(b)')
        self.assertEqual(v, 3)
        self.assertEqual(re.findall(r'd\.cir:(\d+:\d+): warning: this is (\S+) A', err), [('2:8', '1')])
        self.assertEqual(self.value('a\nV1 b 0 1A\nR2 b 0 1\n.op\n', 'v(b)')[0], 1e-18)

    def test_dc_before_a_waveform_without_a_value(self):
        self.assertEqual(self.value('a\nV1 a 0 DC PWL(0 2 1u 3)\nR1 a 0 1k\n.op\n', 'v(a)')[0], 2)

    def test_units_behind_a_blank(self):
        deck = 'a\nV1 a 0 3\nR1 a b 1k\nD1 b 0 dm\n.model dm d(is=1 pA n=1.5%s)\n.op\n'
        v, err = self.value(deck % ' cjo = 2 pF', 'v(b)')
        self.assertEqual(re.findall(r'd\.cir:(\d+:\d+): warning: a unit belongs to its number', err), ['5:18'])
        self.assertEqual(v, self.value(deck.replace('1 pA', '1e-12') % '', 'v(b)')[0])

    def test_unknown_parameters_of_a_card_are_one_warning(self):
        _, err = self.value('a\nV1 d 0 5\nJ1 d 0 0 jm\n.model jm njf(vto=-2 nr=2 isr=1p)\n.op\n', 'v(d)')
        self.assertEqual(err.count('warning:'), 1)
        self.assertIn("no parameters 'nr', 'isr'", err)


class Draws(Folder):
    DECK = 'draw\n.param r=gauss(1k, 0.1, 3)\nV1 a 0 1\nR1 a 0 {r}\n.control\nop\nprint i(v1) sgauss(0)\n.endc\n'

    def test_each_process_has_its_sample_and_says_the_seed(self):
        self.deck(self.DECK)
        said = [self.ngspice('-b', 'd.cir').stdout for _ in range(3)]
        seeds = [re.search(r'(?m)^Seed value .* is set to (\d+)$', x).group(1) for x in said]
        values = [re.findall(r'\) = (\S+)', x)[:2] for x in said]
        self.assertEqual(len(set(seeds)), 3)
        for k in range(2):
            self.assertEqual(len({v[k] for v in values}), 3, values)
        again = self.call(VSIM, '--seed', seeds[0], 'd.cir').stdout
        self.assertEqual(re.findall(r'\) = (\S+)', again)[:2], values[0])

    def test_a_seed_of_the_deck_wins_and_our_name_has_nominal_values(self):
        self.deck(self.DECK.replace('.control', '.option seed=7\n.control'))
        first, other = (re.search(r'i\(v1\) = (\S+)', self.ngspice('-b', 'd.cir').stdout).group(1) for _ in range(2))
        self.assertEqual(first, other)
        self.deck(self.DECK)
        self.assertIn('i(v1) = -1.00000e-03', self.call(VSIM, 'd.cir').stdout)
        done = self.call(VSIM, '--seed', '0', 'd.cir', code=2)
        self.assertIn('--seed takes a whole number from 1, or random', done.stderr)


class Messages(Folder):
    def test_an_error_begins_with_its_word_and_names_the_place(self):
        self.deck(RC + 'M1 a b c d none\n.op\n')
        done = self.ngspice('-b', '-o', 'o.log', 'd.cir', code=1)
        for text in (done.stderr, self.read('o.log')):
            self.assertRegex(text, r"(?m)^Error: d\.cir:5:12: .*'none'")
        self.assertRegex(self.read('o.log'), r'^(.*\n)?Circuit:')

    def test_refused_commands_are_warnings_and_the_script_goes_on(self):
        self.deck(RC + '.control\nshell rm x\nsource y\nedit\nprint 1+1\n.endc\n')
        done = self.ngspice('-b', 'd.cir')
        self.assertEqual(len(re.findall(r'(?m)^Warning: d\.cir:[678]:1: ', done.stderr)), 3)
        self.assertIn('1+1 = 2.0', done.stdout)
        self.call(VSIM, 'd.cir', code=1)

    def test_a_wrong_command_is_an_error_and_no_exit_code(self):
        self.deck(RC + '.control\nfoo\n.endc\n')
        self.assertIn("Error: d.cir:6:1: there is no command 'foo'", self.ngspice('-b', 'd.cir').stderr)

    def test_an_analysis_that_fails_is_an_exit_code(self):
        self.deck('failing\nV1 in 0 1\nB1 b 0 i={1e300*exp(v(b)*1e5)}\n.control\nop\n.endc\n')
        self.assertIn('Error: ', self.ngspice('-b', 'd.cir', code=3).stderr)


class Talking(Folder):
    """Commands one at a time."""

    def talk(self, lines, *args, **kw):
        self.deck(RC + '.tran 10n 4u\n')
        return self.ngspice(*args, 'd.cir', input=lines, **kw)

    def test_commands_come_by_a_pipe(self):
        done = self.talk('op\nprint all\nquit 3\nprint 1\n', '-p', code=3)
        self.assertIn('Circuit: RC low-pass', done.stdout)
        self.assertRegex(done.stdout, r'in = 1\.0+e\+00\nout = 1\.0+e\+00\nv1#branch = ')
        self.assertRegex(done.stdout, r'ngspice-\d+ done\n$')

    def test_a_wrong_command_is_told_and_the_next_one_runs(self):
        done = self.talk('foo\nprint 1+1\n', '-p')
        self.assertIn("Error: command:1:1: there is no command 'foo'", done.stderr)
        self.assertIn('1+1 = 2.0', done.stdout)

    def test_blocks_of_lines_run_when_they_end(self):
        self.assertIn('\n3\n2\n1\n', self.talk('let k = 3\nwhile k > 0\necho $&k\nlet k = k - 1\nend\n', '-p').stdout)

    def test_a_transient_stops_and_goes_on(self):
        out = self.talk('stop when time > 1u\nrun\nprint time[length(time)-1]\ndelete all\nresume\n'
                        'print time[length(time)-1]\n', '-p').stdout
        at = [float(x) for x in re.findall(r'time\[length\(time\)-1\] = (\S+)', out)]
        self.assertEqual(len(at), 2, out)
        self.assertTrue(1e-6 < at[0] < 2e-6)
        self.assertAlmostEqual(at[1], 4e-6, delta=1e-11)

    def test_a_transient_goes_on_by_points(self):
        out = self.talk('stop when time > 1u\nrun\nprint length(time)\ndelete all\nstep 3\nprint length(time)\n'
                        'step\nprint length(time)\nstep none\nresume\nprint time[length(time)-1]\n', '-p')
        at = [float(x) for x in re.findall(r'length\(time\) = (\S+)', out.stdout)]
        self.assertEqual([x - at[0] for x in at], [0, 3, 4], out.stdout)
        self.assertIn("step takes a number of points, not 'none'", out.stderr)
        self.assertIn('time[length(time)-1] = 4.0', out.stdout)

    def test_run_writes_the_file_of_r(self):
        self.talk('run\n', '-i', '-r', 'o.raw')
        self.assertEqual(header(self.raw())[0][0][2], 'Plotname: Transient Analysis')

    def test_without_a_deck_and_with_variables(self):
        self.assertIn('hi there', self.ngspice('-D', 'mine=there', input='echo hi $mine\n').stdout)

    def test_autorun(self):
        self.assertIn('time[0] = 0.0', self.talk('print time[0]\n', '-p', '-a').stdout)

    def test_a_deck_that_is_wrong_leaves_an_exit_code(self):
        self.write('d.cir', RC + 'M1 a b c d none\n.end\n')
        self.assertIn('Error: d.cir:5:12: ', self.ngspice('-p', 'd.cir', input='', code=1).stderr)
        self.assertIn('d.cir:5:12: error: ', self.call(VSIM, '-p', 'd.cir', input='', code=1).stderr)


def edits_lines():
    with open(VSIM, 'rb') as f:
        return b'libedit.so' in f.read()


class Typing(Folder):
    """Commands typed at a terminal: libedit completes words and remembers lines."""
    PROMPT = rb'ngspice \d+ -> '

    def start(self, *args, **more):
        if not edits_lines():
            self.skipTest('vsim was built without libedit')
        self.terminal, far = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        env = dict(os.environ, TERM='vt100', HOME=self.tmp.name, **more)
        self.program = subprocess.Popen([self.path('ngspice'), *args], cwd=self.tmp.name, env=env, stdin=far, stdout=far,
                                        stderr=far, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))  # ctrl-c is SIGINT
        os.close(far)
        self.addCleanup(self.program.wait)
        self.addCleanup(self.program.kill)
        return self.until(self.PROMPT)

    def until(self, pattern):
        """What the terminal shows until it shows the pattern."""
        seen = b''
        while not re.search(pattern, seen):
            ready, _, _ = select.select([self.terminal], [], [], 120)
            self.assertTrue(ready, seen)
            try:
                more = os.read(self.terminal, 4096)
            except OSError:  # the program has ended
                more = b''
            self.assertTrue(more, seen)
            seen += more
        return seen

    def press(self, keys, pattern):
        """Types keys; what is shown until a line of the answer, then a prompt, has come."""
        os.write(self.terminal, keys)
        return self.until(rb'(?s)\n' + pattern + rb'\r?\n.*' + self.PROMPT)

    def test_words_are_completed_and_lines_remembered(self):
        self.deck(RC)
        self.start('d.cir')
        self.press(b'ech\t[of a command]\r', rb'\[of a command\]')
        self.press(b'op\r', rb'No. of Data Rows : 1')
        self.press(b'print ou\t\r', rb'out = 1\.0+e\+00')
        self.press(b'print v(ou\t)\r', rb'v\(out\) = 1\.0+e\+00')
        self.press(b'print i(v\t)\r', rb'i\(v1\) = \S+')
        self.press(b'\x10\x10\x10\r', rb'out = 1\.0+e\+00')                # ctrl-p: three lines before
        self.press(b'\x10\x10\x10\x10\x10\x10\r', rb'\[of a command\]')  # six lines before
        os.write(self.terminal, b'quit 3\r')
        self.assertEqual(self.program.wait(300), 3)

    def test_ctrl_c_drops_a_line_and_ends_open_blocks(self):
        self.deck(RC)
        self.start('d.cir')
        for _ in range(50):  # the answer to a prompt may come before the program waits for it
            os.write(self.terminal, b'while 1\r')
            self.until(rb'\n> ')
            os.write(self.terminal, b'\x03')
            self.until(self.PROMPT)
        self.press(b'echo here\r', rb'here')

    def test_letters_of_the_locale_are_typed(self):
        self.deck(RC)
        self.start('d.cir', LC_ALL='C.UTF-8')
        self.press('echo 5 µm, é\r'.encode(), '5 µm, é'.encode())


MODULE = """`include "disciplines.vams"
`include "gain.inc"
module lin(p, n);
inout p, n; electrical p, n;
analog I(p, n) <+ `GAIN * V(p, n);
endmodule
"""


class StartFile(Folder):
    """A kit whose models were never compiled: ngspice/osdi is missing, verilog-a/lin/lin.va is there."""
    DECK = 'kit\nV1 a 0 2\n.model m lin\nN1 a 0 m\n.control\nop\nprint i(v1)\n.endc\n'

    def kit(self):
        os.makedirs(self.path('kit/ngspice'))
        os.makedirs(self.path('kit/verilog-a/lin'))
        self.write('kit/verilog-a/lin/lin.va', MODULE)
        self.write('kit/verilog-a/lin/gain.inc', '`define GAIN 3\n')

    def test_the_source_of_a_model_is_found_in_the_kit(self):
        self.kit()
        self.write('.spiceinit', "osdi '%s'\n" % self.path('kit/ngspice/osdi/lin.osdi'))
        self.deck(self.DECK)
        self.assertIn('i(v1) = -6.0', self.ngspice('-b', 'd.cir').stdout)

    def test_variables_are_those_of_blocks(self):
        self.write('.spiceinit', "set mine=4 flag\nset list = ( a 'b' )\nset gone=1 mine = 5\nunset gone\n"
                   'set given=file\nset numdgt=3\nset reltol=1\n')
        self.deck(RC + '.control\necho mine $mine given $given flag $?flag gone $?gone\n'
                  'foreach x $list\necho item $x.\nend\n.endc\n')
        done = self.ngspice('-b', '-D', 'given=word', 'd.cir')
        self.assertIn('mine 5 given word flag 1 gone 0\n', done.stdout)
        self.assertIn('item a.\nitem b.\n', done.stdout)
        self.assertRegex(done.stderr, r"\.spiceinit:7:5: the variable 'reltol' has no effect in a start-up file")
        self.assertEqual(done.stderr.count('.spiceinit'), 1)

    def test_wrong_values_are_told_with_their_line(self):
        self.deck(RC + '.control\nop\necho here\n.endc\n')
        self.write('.spiceinit', '* mine\nset rndseed = abc\n')
        done = self.ngspice('-b', 'd.cir')
        self.assertRegex(done.stderr, r"Warning: \S*\.spiceinit:2:5: rndseed is a number, not 'abc'")
        self.assertIn('here\n', done.stdout)
        self.write('.spiceinit', '* mine\nset x=1 filetype=asci\n')
        done = self.call(self.path('ngspice'), '-b', 'd.cir', code=1)
        self.assertRegex(done.stderr, r"Error: \S*\.spiceinit:2:9: filetype is ascii or binary, not 'asci'")

    def test_the_type_of_result_files_is_that_of_the_start_file(self):
        for name in 'one', 'several':
            self.write(name + '.cir', RC + '.param p=1\n.step param p 1 2 1\n' * (name == 'several') + '.op\n.end\n')
            for start, args, kind in (('set filetype=ascii\n', [], 'Values'), ('set filetype=binary\n', [], 'Binary'),
                                      ('set filetype=ascii\n', ['-D', 'filetype=binary'], 'Binary'), ('', [], 'Binary')):
                self.write('.spiceinit', start)
                self.ngspice('-b', *args, '-r', 'r.raw', name + '.cir')
                with open(self.path('r.raw'), 'rb') as f:
                    self.assertIn(kind.encode() + b':\n', f.read(), (name, start, args))

    def test_one_that_is_nowhere_is_a_warning(self):
        self.write('.spiceinit', 'osdi nowhere/lin.osdi\n')
        self.deck(RC + '.control\nop\nprint v(out)\n.endc\n')
        done = self.ngspice('-b', 'd.cir')
        self.assertIn('v(out) = 1.0', done.stdout)
        self.assertRegex(done.stderr, r"(?m)^Warning: .*\.spiceinit:1:6: 'nowhere/lin\.osdi' does not exist")

    def test_a_link_to_a_source_finds_its_includes(self):
        self.kit()
        os.symlink(self.path('kit/verilog-a/lin/lin.va'), self.path('other.va'))
        self.deck('link\n.hdl "other.va"\n' + self.DECK.split('\n', 1)[1])
        self.assertIn('i(v1) = -6.0', self.ngspice('-b', 'd.cir').stdout)


class Libraries(Folder):
    """OSDI libraries that do not behave (tests/unit/osdi/mock.c)."""

    def setUp(self):
        super().setUp()
        self.mock = os.path.join(os.path.dirname(VSIM), 'tests', 'unit', 'osdi', 'mock4.osdi')
        if not os.path.exists(self.mock):
            self.skipTest('the mocks were not built')

    def test_no_voltage_that_rounding_drowns_is_accepted(self):
        self.deck(f'wild\n.hdl "{self.mock}"\n.model w mock_diode(kind="wild")\nI1 0 a 2m\nN1 a 0 w\n.op\n')
        err = self.call(VSIM, '--allow-native', 'd.cir', code=3).stderr
        self.assertIn('error: no operating point found', err)

    def test_no_voltage_that_a_gmin_of_the_device_carries_is_accepted(self):
        deck = 'leaky\n.hdl "%s"\n.model k mock_diode(kind="leaky")\nI1 0 a %s\nN1 a 0 k\n%s.op\n'
        for options in ('', '.options gmin=1e-15\n'):
            self.deck(deck % (self.mock, '3u', options))  # 2 uA beyond what it can: 2e6 V at 1e-12 S
            err = self.call(VSIM, '--allow-native', 'd.cir', code=3).stderr
            self.assertRegex(err, r"error: no operating point found: node 'a' would be at 2e\+06 V, where gmin alone")
            self.deck(deck % (self.mock, '0.5u', options))  # v / (1 + v) = 0.5
            out = self.call(VSIM, '--allow-native', 'd.cir').stdout
            self.assertAlmostEqual(float(re.search(r'v\(a\) +(\S+)', out).group(1)), 1, delta=2e-3)
        self.deck(deck % (self.mock, '3u', 'R1 a 0 1g\n'))  # with a resistor the voltage is the circuit's
        out = self.call(VSIM, '--allow-native', 'd.cir').stdout
        self.assertAlmostEqual(float(re.search(r'v\(a\) +(\S+)', out).group(1)), 2e-6 / (1e-9 + 1e-12), delta=4)

    def test_the_same_device_within_its_range_is_solved(self):
        self.deck(f'wild\n.hdl "{self.mock}"\n.model w mock_diode(kind="wild")\nI1 0 a 0.5m\nN1 a 0 w\nR1 a 0 1k\n'
                  '.op\n')
        # 0.5 = v / (1 + v) + v: v = (-1.5 + sqrt(1.5^2 + 4 * 0.5)) / 2
        v = float(re.search(r'v\(a\) +(\S+)', self.call(VSIM, '--allow-native', 'd.cir').stdout).group(1))
        self.assertAlmostEqual(v, (-1.5 + 4.25 ** 0.5) / 2, delta=1e-3 * v + 1e-6)

    def test_a_node_without_a_dc_path_gets_gmin_and_a_warning(self):
        self.deck(f'open\n.hdl "{self.mock}"\n.model o mock_diode(kind="open")\nV1 in 0 1\nR1 in 0 1k\nN1 in f o\n'
                  '.op\n')
        done = self.call(VSIM, '--allow-native', 'd.cir')
        self.assertIn("warning: no dc path to ground from node 'f'", done.stderr)
        self.assertRegex(done.stdout, r'v\(f\) +0\n')


class Blocks(Folder):
    def test_a_deck_may_be_a_block_alone(self):
        self.write('d.cir', 'no circuit\n.control\nlet x = 2\nprint x*3\n.endc\n.end\n')
        for call in (self.ngspice, lambda *a: self.call(VSIM, *a)):
            self.assertIn('x*3 = 6.0', call('d.cir', '-b').stdout)

    def test_an_empty_circuit_is_a_warning(self):
        self.write('d.cir', 'no circuit\n.op\n.end\n')
        self.assertIn('Warning: there is nothing to compute', self.ngspice('-b', 'd.cir').stderr)
        self.call(VSIM, 'd.cir', code=1)

    def test_an_analysis_without_a_circuit_is_told(self):
        self.write('d.cir', 'no circuit\n.control\nop\n.endc\n.end\n')
        self.assertIn('d.cir:3:1: error: there is nothing to compute', self.call(VSIM, 'd.cir', code=1).stderr)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
