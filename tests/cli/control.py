#!/usr/bin/env python3
"""What .control blocks and cards for results do to files, exit codes and memory.

    control.py VSIM [unittest arguments]"""
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.dom.minidom

import folder

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

VSIM = ''
RC = """RC low-pass
.param r=1k
V1 in 0 dc 1 ac 1 PULSE(0 1 0 1n 1n 1u 2u)
R1 in out {r}
C1 out 0 1n
"""


class Folder(folder.Folder):
    def start(self, deck, *args):
        self.write('deck.sp', deck + '.end\n')
        return subprocess.Popen([VSIM, *args, 'deck.sp'], cwd=self.tmp.name, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_deck(self, deck, *args, code=0):
        child = self.start(deck, *args)
        out, err = child.communicate(timeout=300)
        self.assertEqual(child.returncode, code, out + err)
        return out, err

    def control(self, *lines, args=(), code=0):
        return self.run_deck(RC + '.tran 10n 4u\n.control\n' + '\n'.join(lines) + '\n.endc\n', '-q', *args, code=code)


class Blocks(Folder):
    def test_a_semicolon_starts_a_comment_anywhere_and_endcontrol_ends(self):
        out, _ = self.run_deck('v1 a 0 1\nr1 a 0 1\n.control\nlet x = 3; let x = 4\necho "a;b" $&x\n.endcontrol\nr2 a 0 1\n.end\n')
        self.assertIn('a;b 3', out)

    def test_a_block_writes_what_it_says_and_no_more(self):
        self.control('run', 'write mine.raw v(out)')
        self.assertEqual(sorted(os.listdir(self.tmp.name)), ['deck.sp', 'mine.raw'])
        self.assertEqual(waves.read_raw(self.path('mine.raw')).names, ['time', 'v(out)'])

    def test_arrays(self):
        out, _ = self.control('let a = vector(12)', 'let b = a', 'reshape a b [2][3] [2]',
                              'let row = a[1]', 'let cell = a[1][2][0]', 'let both = length(a[0,1])',
                              'print row[2][1] cell both', 'let a[0][1] = 100 + vector(2)', 'let a[1, 0, 1] = 70',
                              'print a[0][1][0] a[0][1][1] a[1][0][1]', 'transpose b', 'print b[1][1][2] b[0][0][1]',
                              'let c = b', 'let c[0] = b[1]', 'print c[0][1][2]', 'let s = b + 0', 'print s[11]',
                              'cross x 4 b a row', 'print x[0] x[1] x[2] length(x)', 'cross y 9 a row', 'print y[0] y[1]')
        got = [float(v) for v in re.findall(r' = (\S+)', out)]
        # b[i][k][j] is a[i][j][k]: 6 i + 2 j + k
        self.assertEqual(got, [11, 10, 12, 100, 101, 70, 11, 2, 11, 11, 3, 4, 10, 3, 9, 0])

    def test_wrong_arrays(self):
        for line, said in (('reshape a [2][4]', "'a' has 12 values, not 8"), ('reshape a [3][0]', '0 is not a size'),
                           ('reshape a', 'reshape takes vectors and sizes'), ('transpose a', "'a' is a list"),
                           ('reshape a [12', "']' is expected at the end"), ('reshape no [12]', "there is no vector 'no'"),
                           ('let m[1] = 3', '6 values are needed, not 1'), ('let m[1][6] = 3', 'the index 6 is outside 0 .. 5'),
                           ('let m[1][1][1] = 3', "'m' has 2 indices, 3 given"), ('print m[2][0]', 'the index 2 is outside 0 .. 1'),
                           ('let a[1] = m[0]', 'a single value is needed, not 6'), ('cross x a', 'cross takes a name'),
                           ('reshape a [1][1][1][1][1][1][1][1][12]', 'at most 8 indices')):
            _, err = self.control('let a = vector(12)', 'let m = a', 'reshape m [2][6]', line, code=1)
            self.assertIn(said, err)

    def test_wrdata_leaves_room_where_a_shorter_vector_has_no_value(self):
        self.control('tran 10n 1u', 'tran 10n 4u', 'let three = unitvec(3)',
                     'wrdata two.txt tran1.v(out) tran2.v(out)', 'wrdata mixed.txt three v(out)')
        with open(self.path('two.txt'), encoding='ascii') as f:
            rows = f.read().splitlines()
        last = max(k for k, row in enumerate(rows) if row[:32].strip())
        self.assertAlmostEqual(float(rows[last].split()[0]), 1e-6, delta=1e-12)
        self.assertTrue(all(len(row.split()) == 4 for row in rows[:last + 1]))
        self.assertTrue(all(len(row.split()) == 2 and len(row) == 64 for row in rows[last + 1:]))
        self.assertAlmostEqual(float(rows[-1].split()[0]), 4e-6, delta=1e-12)
        with open(self.path('mixed.txt'), encoding='ascii') as f:
            rows = f.read().splitlines()
        self.assertEqual([len(row.split()) for row in rows[:4]], [4, 4, 4, 2])

    def test_wrdata_of_what_a_failed_run_left_writes_no_garbage(self):
        deck = 'failing\nV1 in 0 1\nB1 b 0 i={1e300*exp(v(b)*1e5)}\n.control\nop\ntran 1n 10n\n' \
               'let u = unitvec(3)\nwrdata z.txt u v(in)\nhardcopy z.svg u vs v(in)\n.endc\n'
        self.run_deck(deck, '-q', code=3)
        with open(self.path('z.txt'), encoding='ascii') as f:
            rows = f.read().splitlines()
        self.assertEqual([row.split()[0] for row in rows],
                         ['0.00000000e+00', '1.00000000e+00', '2.00000000e+00'])

    def test_pre_set_counts_before_its_block_and_inputdir_is_the_folder_of_the_deck(self):
        out, _ = self.control('echo first=$early dir=$inputdir', 'set early = 3', 'echo then=$early', 'pre_set early = 5')
        self.assertIn('first=5 dir=.\nthen=3\n', out)
        os.mkdir(self.path('below'))
        self.write('below/d.sp', 'd\nv1 a 0 1\n.control\necho dir=$inputdir\n.endc\n.end\n')
        self.assertIn('dir=below\n', subprocess.run([VSIM, '-q', 'below/d.sp'], cwd=self.tmp.name, capture_output=True,
                                                    text=True, timeout=300).stdout)

    def test_alterparam_changes_parameters_in_the_body_of_a_subcircuit(self):
        out, _ = self.run_deck('sub\nv1 a 0 1\nx1 a 0 part rs=1\n.subckt part p n rs=2\n.param rb={2*rs} rc=4\n'
                               'r1 p n {rb}\nr2 p n {rc}\n.ends\n.control\nop\nprint i(v1)\nalterparam part rc=1\nreset\nop\n'
                               'print i(v1)\nalterparam part rb=0.5\nreset\nop\nprint i(v1)\n.endc\n', '-q')
        self.assertEqual([float(x) for x in re.findall(r'i\(v1\) = (\S+)', out)], [-0.75, -1.5, -3])

    def test_alterparam_names_what_is_missing(self):
        deck = 'sub\nv1 a 0 1\nx1 a 0 part rs=1k\n.subckt part p n rs=2k\nr1 p n {rs}\n.ends\n.control\n'
        for words, want in (('parts rs=1', "no subcircuit 'parts'\n"), ('part rz=1', "no parameter 'rz'\n"),
                            ('a b c=1', 'a subcircuit and a parameter of it')):
            _, err = self.run_deck(deck + 'op\nalterparam ' + words + '\n.endc\n', '-q', code=1)
            self.assertIn(want, err)
            if 'sub' in want and want[0] == 'n':
                self.assertIn("did you mean 'part'?", err)

    def test_goto_leads_to_a_label_of_a_block_around(self):
        out, _ = self.control(
            'let k = 0', 'label again', 'let k = k + 1', 'if k < 3', 'if k < 3', 'goto again', 'end', 'end',
            'echo first $&k', 'repeat 5', 'let k = k + 1', 'if k > 4', 'goto OUT', 'end', 'end', 'echo never',
            'label out', 'echo second $&k')
        self.assertEqual(re.findall(r'(?m)^(?:first|second|never).*', out), ['first 3', 'second 5'])

    def test_a_goto_without_its_label_ends_the_block(self):
        out, err = self.control('while 1', 'label inside', 'break', 'end', 'goto inside', 'echo never', code=1)
        self.assertIn("deck.sp:12:1: error: there is no 'label inside' in this block or in one around it", err)
        self.assertNotIn('never', out)

    def test_jumps_end_as_loops_do(self):
        out, _ = self.control('label top', 'print nothing', 'goto top', 'echo done', code=1)
        self.assertIn('done', out)
        out, err = self.control('set maxturns=50', 'let k = 0', 'label top', 'let k = k + 1', 'goto top',
                                'echo k $&k', code=1)
        self.assertIn('loops end here, after 50 turns', err)
        self.assertIn('k 51', out)

    def test_a_quoted_name_is_the_vector_of_that_name(self):
        out, _ = self.control('dc temp 20 40 10', 'let warm = "temp-sweep" - 27', 'echo $&warm[2]', 'let three = "1 + 2"', 'echo $&three')
        self.assertEqual(out.split(), ['13', '3'])

    def test_a_named_result_file_takes_all_that_is_computed(self):
        self.control('op', 'tran 10n 1u', args=('-r', 'all.raw'))
        with open(self.path('all.raw'), 'rb') as f:
            self.assertEqual(re.findall(rb'Plotname: (.*)', f.read()), [b'Operating Point', b'Transient Analysis'])

    def test_a_transient_that_pauses_goes_on_as_if_it_had_not(self):
        out, _ = self.control('tran 10n 4u', 'write whole.raw v(out)', 'stop when v(out) > 0.5',
                              'tran 10n 4u', 'let n = length(time)', 'print n', 'status',
                              'delete all', 'resume', 'unlet n', 'write pieces.raw v(out)',
                              args=('-r', 'all.raw'))
        self.assertIn('1   stop when v(out) > 0.5', out)
        n = float(re.search(r'^n = (\S+)', out, re.M).group(1))
        whole, pieces = (waves.read_raw(self.path(f)) for f in ('whole.raw', 'pieces.raw'))
        self.assertEqual(whole.columns, pieces.columns)
        self.assertLess(n, len(whole))
        _, err = self.control('stop when v(out) > 0.5', 'run', 'option temp = 50', code=1)
        self.assertIn("a run is paused; 'resume' goes on", err)

    def test_a_deck_may_end_while_its_transient_rests(self):
        out, _ = self.control('stop when v(out) > 0.5', 'tran 10n 4u', 'print length(time)', args=('-r', 'all.raw'))
        n = float(re.search(r'length\(time\) = (\S+)', out).group(1))
        self.assertEqual(len(waves.read_raw(self.path('all.raw'))), n)

    def test_what_is_altered_in_a_pause_takes_effect_when_the_run_goes_on(self):
        """At 1 ms the resistor, which shared its values with another, at 2 ms the capacitor, whose
        charge stays, at 3 ms the source, with what was wrong in between. Charges of pieces are
        exact exponentials; the bound is 10 times reltol."""
        deck = ('pieces\nv1 in 0 1\nr1 in out {r}\nr2 other 0 1k\ni2 0 other 1m\nc1 out 0 1u ic=0\n.param r=1k\n'
                '.tran 2u 4m 0 2u uic\n.control\nstop when time = 1m\nstop when time = 2m\nstop when time = 3m\n')
        for first in ('alter r1 = 2k', 'alterparam r=2k'):
            out, err = self.run_deck(
                deck + 'run\nlet t1 = time[length(time)-1]\nlet v1 = out[length(out)-1]\n' + first + '\nresume\n'
                'let t2 = time[length(time)-1]\nlet v2 = out[length(out)-1]\nalter r99 = 1\nalter c1 = 2u\nresume\n'
                'let t3 = time[length(time)-1]\nlet v3 = out[length(out)-1]\nalter v1 = 5\nresume\n'
                'let v4 = out[length(out)-1]\nprint t1 v1 t2 v2 t3 v3 v4\n.endc\n', '-q', code=1)
            self.assertIn("there is no element 'r99' to alter", err)
            x = {k: float(v) for k, v in re.findall(r'^([tv]\d) = (\S+)', out, re.M)}
            tau, v, t, e = 1e-3, 0, 0, 1
            for end, value, tau_next, e_next, part in (('t1', 'v1', 2e-3, 1, 1), ('t2', 'v2', 4e-3, 1, 0.5),
                                                       ('t3', 'v3', 4e-3, 5, 1), (None, 'v4', 0, 0, 1)):
                until = x[end] if end else 4e-3
                v = e + (v - e) * math.exp(-(until - t) / tau)
                self.assertAlmostEqual(x[value], v, delta=1e-2, msg=value)
                v, t, tau, e = part * v, until, tau_next, e_next

    def test_alters_in_a_row_build_one_circuit(self):
        """Each line, in a loop, and with a let between; the values are those of a deck that has them."""
        n = 40
        ladder = 'ladder\nv1 n0 0 1\n' + ''.join(f'r{i} n{i} n{i + 1} %s\nx{i} n{i + 1} s\n' for i in range(n)) + \
            '.subckt s a\nr1 a 0 1k\n.ends\n'
        lines = {'each': ''.join(f'alter r{i} = {i + 1}k\n' for i in range(n)),
                 'in brackets': ''.join(f'alter @r{i}[resistance] = {i + 1}k\n' for i in range(n)),
                 'loop': 'let i = 0\nwhile i < %d\nalter r$&i = (i + 1) * 1k\nlet i = i + 1\nend\n' % n,
                 'foreach': 'foreach i ' + ' '.join(map(str, range(n))) + '\nalter r$i = ($i + 1) * 1k\nend\n'}
        want, _ = self.run_deck(ladder % tuple(f'{i + 1}k' for i in range(n)) + '.control\nop\nprint n3\n.endc\n', '-q')
        for name, text in lines.items():
            out, _ = self.run_deck(ladder % (('1k',) * n) + '.control\nop\n' + text + 'op\nprint n3\n.endc\n',
                                   '-q', '--stats', 'stats.json')
            self.assertEqual(out, want, name)
            self.assertLessEqual(json.loads(self.read('stats.json'))['generations']['patterns']['rebuilt'], 3, name)

    def test_an_alter_counts_for_who_looks_at_the_circuit(self):
        out, _ = self.control('alter r1 = 2k', 'print @r1[resistance]', 'alter r1 = 2 * @r1[resistance]',
                              'alter c1 = 1u', 'if @r1[resistance] > 3k', 'echo large', 'end', 'let x = @c1[capacitance]',
                              'print x', 'set y=@r1[resistance]', 'alter r1 = 1k', 'alter c1 = 1u * $y / 1k',
                              'print @c1[capacitance]', args=('-q',))
        self.assertEqual([line.split()[-1] for line in out.splitlines()],
                         ['2.000000e+03', 'large', '1.000000e-06', '1.000000e-06'])

    def test_wrong_alters_are_told_and_taken_back(self):
        """Each where it stands; those around it count. What a wrong one replaced is there again."""
        out, err = self.control('alter r1 = 2k', 'alter c1 nonsense = 3', 'alter r9 = 1', 'alter r1 = 0/0',
                                'alter c1 = 2n', 'print @r1[resistance] @c1[capacitance]', args=('-q',), code=1)
        self.assertRegex(err, r"(?s)deck.sp:9:1: error: c1: .*'nonsense'.*deck.sp:10:1: error: .*'r9' to alter.*"
                              "r1: parameter 'r' is not a number")
        self.assertEqual(err.count('error:'), 3, err)
        self.assertEqual([float(line.split()[-1]) for line in out.splitlines()], [2000, 2e-9])

    def test_words_of_a_variable(self):
        out, _ = self.control('set x = ( a b c d )', 'echo $x[2] $x[2-3] $x[3-] $x[-2] $x[4-2] $x[0] $x[9] $x[3-9] ${x}y{$x[1]}z')
        self.assertEqual(out.split('\n')[0], 'b b c c d a b d c b a c d a b c dyaz')

    def test_what_a_command_would_not_use_is_an_error(self):
        for line in ('echo $x[abc]', 'echo ${x', 'echo $x[2', 'set y = ( a b', 'compose y start=1 stop=5 lin=2.5',
                     'compose y start=1 stop=5 step=1 lin=3', 'compose 2y values 1 2', 'setplot const more',
                     'alter @v1[pulse] = [ 0 2 1u ] 5', 'alter r1 = [ 1k', 'repeat -1\nend',
                     'let z = sortorder(v(out) * i)', 'let x2[7] = 3'):
            _, err = self.control('set x = ( a b c )', 'let x2 = vector(3)', 'run', line, code=1)
            self.assertEqual(err.count('error:'), 1, line + err)
        out, err = self.run_deck(RC + '.tran 10n 4u\n.control\nrun\nlinearize\npsd 2.5 v(out)\nrepeat 2.5\necho turn\nend\n'
                                 '.endc\n')
        self.assertEqual(out.count('turn'), 2)
        self.assertRegex(err, r'(?s)warning: psd averages over whole lines: 2 of 2.5.*warning: repeat takes whole turns: 2 of 2.5')
        out, err = self.run_deck(RC + '.control\nalter r1 = [ 2k 3k ]\nprint @r1[resistance]\n'
                                 'stop when v(out) > 2 when v(nothing) < 1\ntran 10n 1u\n.endc\n')
        self.assertIn('2.000000e+03', out)
        self.assertRegex(err, r"warning: one value is taken, the first of these 2")
        self.assertRegex(err, r"(?s)warning: stop when .* never holds: there is no vector 'v\(nothing\)'")
        self.assertEqual(err.count('warning:'), 2, err)

    def test_what_save_does_not_find_is_told_once(self):
        out, err = self.run_deck(RC + '.control\nsave v(zz) v(out) @r1[nothing] all\ntran 10n 1u\nop\ndisplay v(zz) v(out)\n'
                                 '.endc\n')
        self.assertEqual(re.findall(r"warning: save: there is no '(\S+)'", err), ['v(zz)', '@r1[nothing]'])
        self.assertIn("there is no vector 'v(zz)' in the plot op1", err)
        self.assertRegex(out, r'v\(out\) +: voltage')

    def test_the_nearest_index_counts(self):
        """Computed indices seldom are whole numbers: 0.3 / 0.1 is less than 3."""
        out, _ = self.control('let x = vector(5) * 10', 'let y = x[0.3/0.1]', 'let z = sum(x[0.1/0.1,0.3/0.1])', 'let x[0.3/0.1] = 7',
                              'let o = sortorder(-x)', 'print y z x[3] o[0] o[3]', args=('-q',))
        self.assertEqual([float(line.split()[-1]) for line in out.splitlines()], [30, 60, 7, 4, 3])

    def test_what_a_measure_of_a_part_does_not_look_at_is_told(self):
        """Once, whether points are kept or measured as they come."""
        for block in '', '.control\nrun\n.endc\n':
            _, err = self.run_deck(RC + '.tran 10n 4u\n.meas tran a max v(out) at=1u\n.meas tran b avg v(out) from=1u to=2u rise=2\n'
                                   '.meas tran c pp v(out) td=1u from=2u\n' + block)
            self.assertEqual(re.findall(r"warning: '(\w+)' has no effect here", err), ['at', 'rise'], err)
        _, err = self.run_deck(RC + '.control\ntran 10n 1u\nmeas tran a max v(out) val=3\n.endc\n')
        self.assertEqual(re.findall(r"warning: '(\w+)' has no effect here", err), ['val'])

    def test_a_measure_that_failed_has_no_value(self):
        """Also if one of its name had a value before."""
        out, err = self.run_deck('fails\nv1 a 0 1\nr1 a b 1k\nr2 b 0 1k\n.control\nforeach r 1k 100k\nalter r1 = $r\n'
                                 'dc v1 0 1 0.25\nmeas dc x when v(b)=0.2\nprint x\nend\n.endc\n', '-q', code=1)
        self.assertEqual(re.findall(r'^x = .*', out, re.M), ['x = 4.000000e-01'])
        self.assertIn("there is no vector 'x'", err)

    def test_altermods_in_a_row_build_one_circuit(self):
        """By the model's name or an element's, in a loop, and between alters; the values are those of a deck that has
        them."""
        n = 40
        ladder = 'diodes\nv1 n0 0 1\n' + ''.join(f'd{i} n{i} n{i + 1} dm{i}\nr{i} n{i + 1} 0 1k\n'
                                                 f'.model dm{i} d is=%s\n' for i in range(n))
        lines = {'each': ''.join(f'altermod dm{i} is = {i + 1}e-9\n' for i in range(n)),
                 'element': ''.join(f'altermod d{i} is = {i + 1}e-9\n' for i in range(n)),
                 'in brackets': ''.join(f'altermod @dm{i}[is] = {i + 1}e-9\n' for i in range(n)),
                 'mixed': ''.join(f'altermod dm{i} is=1\nalter r{i} = 2k\naltermod dm{i} is={i + 1}e-9\nalter r{i} = 1k\n'
                                  for i in range(n)),
                 'loop': f'let i = 0\nwhile i < {n}\naltermod dm$&i is = (i + 1) * 1e-9\nlet i = i + 1\nend\n'}
        want, _ = self.run_deck(ladder % tuple(f'{i + 1}e-9' for i in range(n)) + '.control\nop\nprint n3\n.endc\n', '-q')
        for name, text in lines.items():
            out, _ = self.run_deck(ladder % (('1e-14',) * n) + '.control\nop\n' + text + 'op\nprint n3\n.endc\n',
                                   '-q', '--stats', 'stats.json')
            self.assertEqual(out, want, name)
            self.assertLessEqual(json.loads(self.read('stats.json'))['generations']['patterns']['rebuilt'], 3, name)

    def test_the_last_of_alters_counts(self):
        """Those of one element by several names, and in turns; alterparam and reset take what waits along, or away."""
        deck = 'last\n.param q=3k\n.model dm d is=1e-14\nv1 a 0 1\nr1 a b {q}\nd1 b 0 dm area=2\n.control\n'
        out, _ = self.run_deck(
            deck + 'alter r1 = 1k\nalter r1 resistance = 2k\nalter r1 = 4k\nalter d1 area = 3\naltermod dm is = 2e-14\n'
            'altermod d1 is = 3e-14\nalter d1 area = 5\nprint @r1[resistance] @dm[is] @d1[area]\n'
            'alter r1 r = 5k\naltermod dm is = 1e-13\nalterparam q = 7k\nprint @r1[resistance] @dm[is]\n'
            'altermod dm is = 2e-13\nreset\nprint @r1[resistance] @dm[is]\n.endc\n', '-q')
        self.assertEqual([float(line.split()[-1]) for line in out.splitlines()],
                         [4000, 3e-14, 5, 5000, 1e-13, 7000, 1e-14])

    def test_wrong_altermods_are_told_and_taken_back(self):
        deck = 'wrong\n.model dm d is=1e-14\nv1 a 0 1\nr1 a b 1k\nd1 b 0 dm\n.control\n'
        out, err = self.run_deck(
            deck + 'altermod dm is = 2e-14\naltermod dm nonsense = 3\naltermod nomodel is = 1\nalter r1 = 2k\n'
            'altermod dm is = 0/0\naltermod dm n = 1.5\nprint @dm[is] @dm[n] @r1[resistance]\n.endc\n', code=1)
        for message in (r"deck.sp:8:1: warning: .*'nonsense': no effect", r"deck.sp:9:1: error: no model 'nomodel'",
                        r"error: d1: parameter 'is' is not a number"):
            self.assertRegex(err, message)
        self.assertEqual((err.count('error:'), err.count('warning:')), (2, 1), err)
        self.assertEqual([float(line.split()[-1]) for line in out.splitlines() if '@' in line], [2e-14, 1.5, 2000])

    def test_a_sweep_gives_an_altered_value_back(self):
        """The sweep writes its own into the same place."""
        deck = 'sweep\nv1 a 0 1\nr1 a 0 1k\n.data t r1\n+ 1k 3k\n.enddata\n.data f hertz r1\n+ 1k 1k 1k 3k\n.enddata\n.control\nalter r1 = 5k\n'
        for sweep in ('dc r1 1k 3k 1k', 'dc data=t', 'ac data=f'):
            out, _ = self.run_deck(deck + sweep + '\nop\nprint i(v1)\n.endc\n', '-q')
            self.assertAlmostEqual(float(out.split()[-1]), -2e-4, delta=1e-9, msg=sweep)

    def test_a_loop_of_wrong_alters_ends(self):
        out, _ = self.control('let n = 0', 'repeat', 'let n = n + 1', 'alter c1 nonsense = 3', 'end', 'print n', code=1)
        self.assertLess(float(out.split()[-1]), 2000)

    def test_a_stop_at_a_time_has_a_point_there(self):
        """Also one that is set during a pause, within the step that is planned; nothing jumps there, so the others stay
        as good. Behind tstart, and before it, where no point is shown. An altered source moves a line of 1 V/ms from there."""
        deck = ('marks\nv1 in 0 pwl(0 0 1 1k)\nr1 in out 1k\ni1 0 sum {i}\nc1 sum 0 1u ic=0\n.param i=1m\n'
                '.tran 0.1m 4m %s 0.1m uic\n.control\nstop when time = 1.23m\nrun\nlet a = time[length(time)-1]\n'
                'stop when time = 1.2301m\nresume\nlet b = time[length(time)-1]\nalter i1 = -1m\nresume\n'
                'let c = sum[length(sum)-1]\nprint a b c\n.endc\n')
        for start in ('0', '0.7m'):
            out, _ = self.run_deck(deck % start, '-q')
            a, b, c = (float(v) for v in re.findall(r'^[abc] = (\S+)', out, re.M))
            self.assertEqual((a, b), (1.23e-3, 1.2301e-3))
            self.assertAlmostEqual(c, 1.2301 - (4 - 1.2301), delta=1e-6)  # lines, rounded charges

    def test_listing_has_the_forms_of_ngspice(self):
        deck = ('forms\n.param rv=1k\n.subckt s a b\nr1 a b {rv}\n.ends\nV1 in 0 DC 2\nx1 in out s\nR2 out 0\n+ 2k\n'
                '.op\n.control\n%s\n.endc\n')

        def listing(form):
            return self.run_deck(deck % ('listing ' + form), '-q')[0].splitlines()
        logical = listing('')
        self.assertEqual(logical, listing('logical'))
        self.assertIn('     8 : R2 out 0   2k', logical)
        self.assertIn('     4 : r1 a b {rv}', logical)
        physical = listing('physical')
        self.assertEqual(physical[7:9], ['     8 : R2 out 0', '     9 : + 2k'])
        self.assertEqual([line[9:] for line in physical][:10], listing('deck')[:10])
        self.assertIn('x1.r1 in out value=1000', listing('expand'))
        self.assertIn('       ---> rv = 1000', listing('param'))
        runs = listing('runnable')
        self.assertEqual(runs, [line[9:] for line in logical])
        out, _ = self.run_deck('\n'.join(runs[:-1]) + '\n')
        self.assertRegex(out, r'v\(out\) +1\.3333333')
        _, err = self.run_deck(deck % 'listing foo', '-q', code=1)
        self.assertIn('listing takes one of logical, physical', err)

    def test_a_block_may_remove_its_circuit(self):
        out, err = self.control('op', 'remcirc', 'print v(in)', 'tran 1n 1u', code=1)
        self.assertIn('v(in) = 1.000000e+00', out)
        self.assertIn('there is no circuit any more', err)
        out, _ = self.control('remcirc')
        self.assertNotIn('transient', out)

    def test_lines_stay_as_they_are_while_a_run_is_paused(self):
        deck = ('line\nv1 in 0 pulse(0 1 0 1n 1n 20n 50n)\nr1 in a 50\nt1 a 0 b 0 z0=50 td=5n\nr2 b 0 50\n'
                '.tran 0.1n 40n\n.control\nstop when time = 10n\nrun\n%sresume\nmeas tran late find v(b) at=14n\n'
                'meas tran low find v(b) at=35n\n.endc\n')
        for change, code, high in (('', 0, 0.5), ('alter t1 td = 3n\n', 1, 0.5), ('alter r2 = 150\n', 0, 0.75)):
            out, err = self.run_deck(deck % change, '-q', code=code)
            self.assertEqual('transmission lines' in err, code == 1, err)
            self.assertAlmostEqual(float(re.search(r'^late\s+= +(\S+)', out, re.M).group(1)), high, delta=1e-3)
            self.assertAlmostEqual(float(re.search(r'^low\s+= +(\S+)', out, re.M).group(1)), 0, delta=1e-3)

    def test_a_block_that_runs_nothing_leaves_the_deck_its_analyses(self):
        out, _ = self.run_deck(RC + '.tran 10n 4u\n.control\nset x = 1\n.endc\n')
        self.assertIn('transient: ', out)
        out, _ = self.run_deck(RC + '.tran 10n 4u\n.control\nquit\n.endc\n')
        self.assertNotIn('transient: ', out)

    def test_quit_gives_the_exit_code(self):
        self.control('quit 7', code=7)
        self.control('quit')

    def test_errors_are_told_and_the_next_command_runs(self):
        out, err = self.control('print nix', 'echo still here', code=1)
        self.assertIn('still here', out)
        self.assertIn("there is no vector 'nix'", err)

    def test_programs_start_only_if_allowed(self):
        self.control('shell touch made', code=1)
        self.assertFalse(os.path.exists(self.path('made')))
        self.control('shell touch made', '!touch made2', args=('--allow-shell',))
        self.assertTrue(os.path.exists(self.path('made')) and os.path.exists(self.path('made2')))

    def test_output_goes_to_files(self):
        self.control('echo one > log.txt', 'echo two >> log.txt', 'op', 'print v(out) >> log.txt')
        self.assertEqual(self.read('log.txt'), 'one\ntwo\nv(out) = 1.000000e+00\n')

    def test_raw_files_grow_if_asked(self):
        self.control('set appendwrite', 'op', 'write all.raw v(out)', 'ac dec 1 1k 1meg', 'write all.raw v(out)')
        with open(self.path('all.raw'), 'rb') as f:
            text = f.read()
        self.assertEqual(re.findall(rb'Plotname: (.*)', text), [b'Operating Point', b'AC Analysis'])
        self.assertEqual(re.findall(rb'Flags: (.*)', text), [b'real', b'complex'])
        self.assertEqual(sorted(os.listdir(self.tmp.name)), ['all.raw', 'deck.sp'])

    def test_a_file_takes_shorter_vectors_too(self):
        self.control('run', 'meas tran half when v(out)=0.5', 'let k = vector(3)', 'write all.raw', 'write part.raw k v(out) half')
        r = waves.read_raw(self.path('all.raw'))
        self.assertEqual((r.names[0], sorted(r.names[1:])), ('time', ['half', 'i(v1)', 'k', 'v(in)', 'v(out)']))
        time, out, k, half = (list(r[n]) for n in ('time', 'v(out)', 'k', 'half'))
        self.assertEqual(k[:4], [0, 1, 2, 2])
        self.assertEqual(set(half), {half[0]})
        at = next(i for i, y in enumerate(out) if y > 0.5)
        self.assertTrue(time[at - 1] < half[0] < time[at])
        self.assertEqual(waves.read_raw(self.path('part.raw')).names, ['time', 'k', 'v(out)', 'half'])

    def test_vectors_made_before_the_first_analysis_count_on(self):
        out, _ = self.control('let n = 0', 'let sum = vector(2)', 'while n < 3', '  let n = n + 1', '  op', '  let sum[1] = sum[1] + n', 'end',
                              'let own = 7', 'echo $&n $&sum[1] $curplot', 'setplot const', 'echo $&n', 'print own', code=1)
        self.assertIn('3 7 op3\n3\n', out)

    def test_a_block_behind_the_end_counts(self):
        out, err = self.run_deck(RC + '.end\nR2 out 0 1k\n.control\nop\nprint v(out)\n.endc\n')
        self.assertIn('v(out) = 1.0', out)
        self.assertEqual(err.count('text after .end is ignored'), 1)

    def test_a_warning_of_the_deck_is_given_once(self):
        deck = "lost line break\n.param x='-1*2' + y='3'\n.param y=5\nV1 a 0 {x}\nR1 a 0 {y}\n" \
               '.control\nop\nprint i(v1)\nreset\nop\nmc_source\nop\n.endc\n'
        out, err = self.run_deck(deck)
        self.assertIn('i(v1) = 4.000000e-01', out)
        self.assertEqual(re.findall(r'deck.sp:(\d+:\d+): warning: (.{20})', err),
                         [('2:17', 'a line break is miss'), ('3:8', "parameter 'y' is def")])

    def test_run_without_analyses_is_a_warning(self):
        out, err = self.run_deck(RC + '.control\nrun\nop\nremzerovec\nprint v(out)\n.endc\n')
        self.assertIn('warning: the deck has no analysis to run', err)
        self.assertIn('v(out) = 1.0', out)

    def test_an_ampere_is_no_suffix_without_a_word(self):
        deck = 'amps\nI1 0 a 2A\nR1 a 0 1\nI2 0 b 1.5Amp\nR2 b 0 1\nI3 0 c 3a\nR3 c 0 1\n.op\n.end\n'
        out, err = self.run_deck(deck)
        self.assertEqual(re.findall(r'deck.sp:(\d+:\d+): warning: this is 2 A', err), ['2:8'])
        self.assertEqual(err.count('suffix a'), 1)
        self.assertEqual([float(x) for x in re.findall(r'v\([abc]\) +(\S+)', out)], [2, 1.5, 3e-18])
        _, err = self.run_deck(deck.replace('I1 0', 'V1 0'))
        self.assertEqual(re.findall(r'deck.sp:(\d+:\d+): warning: this is 2e-18', err), ['2:8'])

    def test_show_tells_what_devices_computed(self):
        circuit = 'show\nV1 in 0 2\nR1 in a 1k\nR2 a 0 1k\nD1 a 0 dm\nI1 0 a 0\n.model dm d is=1e-14\n'
        out, err = self.run_deck(circuit + '.control\nop\nshow r1\nshow r : i resistance\nshow d1 r1 : id vd i\n'
                                 'show v1 : current\nshowmod dm : is\nshowmod dm : i\n.endc\n', '-q', code=1)
        first, second, third = out.split('device  r1')[1:4]
        self.assertRegex(first, r' i  0\.00\d+\n')
        self.assertRegex(first, r' value  1000\n')
        self.assertRegex(second, r'(?s)^\n +i  (\S+)\n +resistance  1000\n\n +device  r2\n +i  (\S+)\n')
        value = dict(re.findall(r' (id|vd|i)  (\S+)', out.split('device  d1')[1]))
        i2 = float(re.search(r'device  r2\n +i  (\S+)', second).group(1))
        self.assertAlmostEqual(float(value['i']), float(value['id']) + i2, delta=1e-3 * i2)
        self.assertAlmostEqual(float(value['vd']), i2 * 1000, delta=1e-6)
        self.assertRegex(third + out.split('device  d1')[1], r'model  dm\n +type  d\n +is  1e-14\n')
        self.assertIn("deck.sp:13:1: error: none of them has a value 'current'", err)
        self.assertIn("deck.sp:15:1: error: none of them has a value 'i'", err)

    def test_rusage_takes_words(self):
        out, err = self.control('op', 'rusage equations totiter', 'rusage tme', code=1)
        self.assertRegex(out, r'^Circuit equations = 3\nTotal iterations = \d+\n$')
        self.assertIn("did you mean 'time'", err)
        whole, _ = self.control('op', 'rusage everything')
        self.assertEqual(len(whole.splitlines()), 6)

    def test_status_set_and_esave(self):
        out, err = self.run_deck(RC + '.control\nop\nsave v(out)\nstop when v(out) > 2\nstatus\nset mine = 3\nset\n'
                                 'esave all\nesave none\nesave n1\n.endc\n', code=1)
        self.assertIn('1   stop when v(out) > 2\n    save v(out)\n', out)
        for line in ('* curplot\top1', '* plots\t( const op1 )', '  mine\t3'):
            self.assertIn(line + '\n', out)
        self.assertEqual(re.findall('error: (.*)', err), ['esave: the circuit has no digital nodes'])

    def test_devhelp_as_a_table_of_commas(self):
        out, _ = self.control('devhelp -csv resistor')
        self.assertIn('\nid#, Name, Dir, Description\n', out)
        self.assertRegex(out, r'(?m)^\d+, i, out, Current from p to n$')

    def test_an_endless_loop_ends_with_ctrl_c(self):
        for body in ('', 'let x = 1\n', 'op\n'):
            child = self.start(RC + '.control\nset maxturns=0\necho here > begun.txt\nrepeat\n' + body + 'end\n.endc\n', '-q')
            while not os.path.exists(self.path('begun.txt')):
                self.assertIsNone(child.poll())
                time.sleep(0.02)
            time.sleep(0.2)
            self.assertIsNone(child.poll())
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=300)
            self.assertEqual(child.returncode, 130)
            os.remove(self.path('begun.txt'))

    def test_loops_have_a_budget_of_turns(self):
        for loop in ('while 1', 'repeat', 'dowhile 1'):
            out, err = self.control('set maxturns=50', 'let k = 0', loop, 'repeat 4', 'let k = k + 1', 'end', 'end',
                                    'write k.raw k', code=1)
            # ten turns of the outer loop with four of the inner one each make 50
            self.assertEqual(waves.read_raw(self.path('k.raw')).columns[0][0], 40)
            self.assertEqual(err.count('loops end here, after 50 turns'), 1, err)
            self.assertRegex(err, r'deck.sp:\d+:\d+: error')
        self.control('set maxturns=0', 'let k = 0', 'repeat 200', 'let k = k + 1', 'end', 'if k <> 200', 'quit 5', 'end')

    def test_loops_need_no_more_memory_the_longer_they_run(self):
        self.needs_plain(VSIM)
        def peak(n):
            out, _ = self.run_deck(RC + '.control\nlet k = 0\nrepeat %d\nlet k = k + sin(k)\nif k > 1\nset a = $&k\nend\nend\n'
                                   'rusage\n.endc\n' % n, '-q')
            return float(re.search(r'Maximum program size = ([\d.]+)', out).group(1))
        self.assertLess(peak(20000), peak(200) + 4)

    def test_kernels_compile_once_for_all_changes(self):
        self.control('foreach r 1k 2k 3k 4k', 'alter r1 = $r', 'tran 10n 1u', 'end', 'alterparam r = 7k', 'reset', 'tran 10n 1u',
                     args=('--no-cache', '--stats', 's.json'))
        with open(self.path('s.json')) as f:
            changed = json.load(f)['kernels_compiled']
        self.control('tran 10n 1u', args=('--no-cache', '--stats', 's.json'))
        with open(self.path('s.json')) as f:
            self.assertEqual(changed, json.load(f)['kernels_compiled'])

    def test_reset_draws_the_samples_of_mc(self):
        deck = 'statistics\n.param r=agauss(1k,100,1)\nV1 1 0 1\nR1 1 0 {r}\n'
        card = '.op\n.print op i(v1)\n'
        commands = 'op\nprint i(v1)\n', 'alter R1 = 5\nmc_source\nop\nprint i(v1)\n', 'reset\nop\nprint i(v1)\n'

        def numbers(text, *args):
            out, err = self.run_deck(deck + text, '-q', *args)
            return re.findall(r'i\(v1\) = (\S+)', out), err
        block = '.control\n%s%s%s.endc\n' % commands
        samples, _ = numbers(card + '.mc 2 seed=3\n')
        self.assertEqual(len(set(samples)), 2)
        nominal, err = numbers('.control\nsetseed 3\n%s%s%s.endc\n' % commands)
        self.assertEqual(nominal, ['-1.00000e-03'] + samples)
        self.assertEqual(err.count('draw from here on, with seed 3'), 1)
        drawn, err = numbers('.option seed=3\n' + block)
        self.assertEqual(drawn[1:], samples)
        self.assertNotIn(drawn[0], samples + ['-1.00000e-03'])
        self.assertNotIn('draw', err)
        self.assertEqual(numbers('.mc 2 seed=3\n' + block)[0], nominal)

    def test_pictures_are_valid_svg(self):
        self.control('tran 10n 4u', 'plot v(in) v(out) title "in & out" xlimit 0 2u', 'hardcopy file.ps v(out) vs v(in)',
                     'ac dec 10 1k 100meg', 'gnuplot bode vdb(out) ylabel dB', 'plot mag(v(out)) loglog')
        for name, curves in (('deck_plot1.svg', 2), ('file.svg', 1), ('bode.svg', 1), ('deck_plot2.svg', 1)):
            doc = xml.dom.minidom.parse(self.path(name))
            drawn = [p for p in doc.getElementsByTagName('path') if p.getAttribute('stroke-width') == '1.5']
            self.assertEqual(len(drawn), curves, name)
            self.assertTrue(all(len(p.getAttribute('d')) > 50 for p in drawn), name)
        self.assertIn('in &amp; out', self.read('deck_plot1.svg'))

    def test_inputs_are_never_written_over(self):
        for line in ('write deck.sp v(out)', 'wrdata deck.sp v(out)', 'echo x > deck.sp', 'hardcopy deck.sp v(out)'):
            _, err = self.control('op', line, code=0 if line.startswith('hard') else 1)
            self.assertIn('RC low-pass', self.read('deck.sp'))
            self.assertTrue(line.startswith('hard') or 'overwritten' in err, err)


class Cards(Folder):
    def test_measures_are_written_as_a_table(self):
        deck = RC + '.tran 10n 4u\n.meas tran top max v(out)\n.meas tran never when v(out)=9\n.meas tran late trig at=1u targ at=3u\n'
        self.run_deck(deck, '-q', '--no-output', '--measures', 'm.json')
        with open(self.path('m.json')) as f:
            m = {x['name']: x for x in json.load(f)}
        self.assertGreater(m['top']['value'], 0.5)
        self.assertIn('at', m['top'])
        self.assertIsNone(m['never']['value'])
        self.assertIn('never crosses', m['never']['failed'])
        self.assertAlmostEqual(m['late']['value'], 2e-6)
        self.run_deck(deck, '-q', '--no-output', '--measures', 'm.csv')
        self.assertEqual(len(self.read('m.csv').split('\n')), 5)

    def test_a_measure_needs_memory_for_its_vectors_only(self):
        nodes = ''.join('Ra%d in n%d 1k\nCa%d n%d 0 1n\n' % (k, k, k, k) for k in range(100))
        def peak(card):
            self.run_deck(RC + nodes + '.tran 1n 20u 0 1n\n' + card, '-q', '--no-output', '--stats', 's.json')
            with open(self.path('s.json')) as f:
                return json.load(f)['peak_memory_bytes']
        without, one, all_of_them = peak(''), peak('.meas tran top max v(out)\n'), peak('.control\nrun\n.endc\n')
        self.assertLess(one - without, 2e6)
        self.assertGreater(all_of_them - without, 8e6)

    FLOW = ('.meas tran top max v(out)\n.meas tran d trig v(in) val=0.5 rise=1 targ v(out) val=0.3 cross=last\n'
            '.meas tran mean avg v(out) from=1u\n.meas tran f find v(out) at=3u\n.meas tran sum param=\'top+mean\'\n')

    def test_measures_need_no_memory_for_points(self):
        self.needs_plain(VSIM)
        def peak(end):
            self.run_deck(RC + '.tran 1n %s 0 1n\n' % end + self.FLOW, '-q', '--no-output', '--stats', 's.json')
            with open(self.path('s.json')) as f:
                s = json.load(f)
            return s['points_accepted'], s['peak_memory_bytes']
        (few, small), (many, large) = peak('50u'), peak('1m')
        self.assertGreater(many - few, 900e3)
        self.assertLess(large - small, 1e6)     # a double of a point: 7.2e6

    def test_measures_of_pieces_are_those_of_the_whole(self):
        def results(more):
            self.run_deck(RC + '.tran 1n 20u 0 1n\n' + self.FLOW + more, '-q', '--no-output', '--measures', 'm.json')
            return json.loads(self.read('m.json'))[:5]
        flow = results('')
        self.assertTrue(all(m['value'] is not None for m in flow))
        for whole in '.meas tran x deriv v(out) at=1u\n', '.meas tran x max v(out) to=top*1u\n', '.print tran v(out)\n':
            self.assertEqual(results(whole), flow)

    def test_errors_of_form_are_told_before_the_run(self):
        for card in ('.meas tran x maxx v(out)', '.print tran v(out', '.four 1meg foo(v(out))'):
            _, err = self.run_deck(RC + '.tran 1n 1 0 1n\n' + card + '\n', code=1)
            self.assertIn('deck.sp:7:', err)
        _, err = self.run_deck(RC + '.control\nprnt x\nif 1\nech y\nend\n$cmd z\n.endc\n', 'check', code=1)
        self.assertEqual(re.findall(r"did you mean '(\w+)'", err), ['print', 'echo'])

    def test_print_shows_a_table_and_does_not_choose_what_is_saved(self):
        out, _ = self.run_deck(RC + '.tran 10n 4u\n.print tran v(out)*2 i(v1)\n')
        self.assertIn('Index   time            v(out)*2        i(v1)', out)
        self.assertIn('v(in)', waves.read_raw(self.path('deck.raw')).names)

    def test_cards_see_what_save_left_out(self):
        out, _ = self.run_deck(RC + '.tran 10n 4u\n.save v(in)\n.meas tran top max v(out)\n')
        self.assertRegex(out, r'top +=  7\.')
        self.assertEqual(waves.read_raw(self.path('deck.raw')).names, ['time', 'v(in)'])

    def test_a_wrong_card_does_not_stop_the_others(self):
        out, err = self.run_deck(RC + '.four 1meg v(nix)\n.op\n.tran 10n 4u\n.meas tran top max v(out)\n', code=1)
        self.assertIn('top ', out)
        self.assertIn("'v(nix)'", err)

    def test_csparam_is_a_name_of_commands_only(self):
        deck = RC + '.param k=2\n.csparam k={k+5} only=1\n.subckt s a\n.csparam z=1\nR1 a 0 1\n.ends\nX1 in s\n.op\n'
        out, err = self.run_deck(deck + '.control\nop\nprint k only\n.endc\n')
        self.assertRegex(out, r'k = 7\.0+e\+00\nonly = 1\.0')
        self.assertIn("'.csparam' has no effect inside a subcircuit", err)
        _, err = self.run_deck(deck + 'R9 in 0 {only}\n', code=1)
        self.assertIn('only', err)

    def test_fourier_of_a_square_wave(self):
        out, _ = self.run_deck(RC.replace('2u)', '2.002u)') + '.tran 1n 20.02u 0 1n\n.four 499500.4995 v(in)\n')
        rows = [line.split() for line in out.split('\n') if re.match(r' [13] ', line)]
        self.assertAlmostEqual(float(rows[0][2]), 0.6366, places=2)
        self.assertAlmostEqual(float(rows[1][2]), 0.2122, places=2)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
