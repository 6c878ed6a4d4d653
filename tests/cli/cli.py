#!/usr/bin/env python3
"""The command line as users and tools meet it.   cli.py VSIM [test...]"""
import glob
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

import folder

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

VSIM = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')

RC = """RC low-pass
V1 in 0 PULSE(0 1 0 1n 1n 1u 2u)
R1 in out 1k
C1 out 0 1n
.tran 10n 4u
.end
"""
LONG = RC.replace('.tran 10n 4u', '.tran 1n 1 0 1n')  # 1e9 points: is always interrupted


class Folder(folder.Folder):
    def deck(self, text, name='deck.sp'):
        return self.write(name, text)

    def vsim(self, *args, code=0, **kw):
        done = subprocess.run([VSIM, *args], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300, **kw)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


class Running(Folder):
    def test_results_go_to_a_raw_file_named_after_the_deck(self):
        done = self.vsim(self.deck(RC))
        p = waves.read_raw(self.path('deck.raw'))
        self.assertEqual(p.names[:3], ['time', 'v(in)', 'v(out)'])
        self.assertIn('i(v1)', p.names)
        self.assertGreater(len(p), 100)
        self.assertIn('RC low-pass', done.stdout)
        self.assertEqual(done.stderr, '')

    def test_ngspice_command_line_is_a_drop_in(self):
        done = self.vsim('-b', '-r', 'out.raw', '-o', 'log', self.deck(RC))
        self.assertEqual(done.stdout, '')
        self.assertGreater(len(waves.read_raw(self.path('out.raw'))), 100)
        with open(self.path('log')) as f:
            self.assertIn('transient', f.read())

    def test_formats_agree(self):
        self.deck(RC)
        self.vsim('-r', 'a.raw', 'deck.sp')
        self.vsim('--ascii', '-r', 'b.raw', 'deck.sp')
        self.vsim('--csv', '-r', 'c.csv', 'deck.sp')
        p = waves.read_raw(self.path('a.raw'))
        with open(self.path('c.csv')) as f:
            rows = f.read().strip().split('\n')
        self.assertEqual(rows[0].split(','), p.names)
        self.assertEqual(len(rows) - 1, len(p))
        self.assertEqual([float(x) for x in rows[-1].split(',')], [c[-1] for c in p.columns])
        with open(self.path('b.raw')) as f:
            text = f.read()
        self.assertEqual(int(re.search(r'No. Points: (\d+)', text).group(1)), len(p))

    def test_standard_output_takes_results(self):
        done = self.vsim('-q', '--csv', '-r', '-', self.deck(RC))
        self.assertTrue(done.stdout.startswith('time,v(in),v(out)'), done.stdout[:80])

    def test_statistics_have_the_promised_keys(self):
        self.vsim('--stats', 's.json', self.deck(RC))
        with open(self.path('s.json')) as f:
            s = json.load(f)
        for key in ('unknowns', 'points_accepted', 'points_rejected', 'newton_iterations',
                    'device_evaluations', 'peak_memory_bytes'):
            self.assertIn(key, s)
        self.assertEqual(set(s['seconds']) >= {'parse', 'elaborate', 'compile', 'op', 'tran', 'evaluate',
                                               'stamp', 'factor', 'solve', 'output', 'total'}, True)
        self.assertEqual(s['unknowns'], 3)
        self.assertGreater(s['peak_memory_bytes'], 1e6)

    def test_times_of_phases_add_up(self):
        deck = RC.replace('.end', '.op\n.dc v1 0 1 1m\n.ac dec 50 1 1meg\n.end')
        for text in (deck, RC):
            self.vsim('--stats', 's.json', self.deck(text))
            with open(self.path('s.json')) as f:
                s = json.load(f)['seconds']
            analyses = s['op'] + s['tran'] + s['other']
            digit = 1e-6  # each is printed to a microsecond
            self.assertAlmostEqual(s['parse'] + s['elaborate'] + s['compile'] + analyses + s['rest'],
                                   s['total'], delta=8 * digit)
            self.assertLessEqual(sum(s[k] for k in ('evaluate', 'stamp', 'factor', 'solve', 'output')),
                                 analyses + 8 * digit)
            if text != RC:
                self.assertGreater(s['other'], 0)

    def test_no_output_writes_nothing(self):
        self.vsim('--no-output', self.deck(RC))
        self.assertEqual(os.listdir(self.tmp.name), ['deck.sp'])

    def test_define_overrides_a_parameter(self):
        self.deck('d\n.param v=1\nV1 a 0 {v}\nR1 a 0 1k\n.op\n.end\n')
        self.vsim('-D', 'v=2.5', 'deck.sp')
        self.assertEqual(waves.read_raw(self.path('deck.raw'))['v(a)'][0], 2.5)

    def test_dc_sweeps_nest(self):
        self.deck('d\n.param r=1k\nV1 a 0 1\nR1 a b {r}\nR2 b 0 1k\n.dc V1 0 1 0.5 r 1k 3k 1k\n.end\n')
        self.vsim('deck.sp')
        p = waves.read_raw(self.path('deck.raw'))
        want = [v / (1 + r) for r in (1, 2, 3) for v in (0, 0.5, 1)]
        self.assertEqual(len(p), 9)
        for got, x in zip(p['v(b)'], want):
            self.assertAlmostEqual(got, x, 9)

    def test_temperature_is_swept(self):
        self.deck('d\nI1 0 a 1m\nR1 a 0 1k tc1=0.01\n.dc temp 27 127 50\n.end\n')
        self.vsim('deck.sp')
        p = waves.read_raw(self.path('deck.raw'))
        for got, x in zip(p['v(a)'], (1.0, 1.5, 2.0)):
            self.assertAlmostEqual(got, x, 9)
        self.assertEqual(list(p.columns[0]), [27.0, 77.0, 127.0])

    def test_threads_do_not_change_a_bit(self):
        self.deck(RC)
        self.vsim('--threads', '1', '-r', 'a.raw', 'deck.sp')
        self.vsim('--threads', '2', '-r', 'b.raw', 'deck.sp')
        a, b = waves.read_raw(self.path('a.raw')), waves.read_raw(self.path('b.raw'))
        self.assertEqual([c.tobytes() for c in a.columns], [c.tobytes() for c in b.columns])

    def test_interpreter_and_plain_kernels_agree_with_the_specialised_ones(self):
        self.deck('d\n.model dm d is=1e-14 rs=10 cjo=1p\nV1 a 0 SIN(0 2 1meg)\nR1 a b 100\nD1 b 0 dm\n'
                  '.tran 10n 2u\n.end\n')
        ref = None
        for flags in ((), ('--no-specialize',), ('--interpret',)):
            self.vsim(*flags, '-r', 'x.raw', 'deck.sp')
            p = waves.read_raw(self.path('x.raw'))
            if ref:
                got = waves.at_times(p['time'], p['v(b)'], ref['time'])
                self.assertLess(max(abs(x - y) for x, y in zip(got, ref['v(b)'])), 1e-5)
            ref = ref or p


class Explaining(Folder):
    KEYS = {'module', 'form', 'instances', 'rows', 'variant', 'blocks_before', 'blocks_after', 'branches_total',
            'branches_decided', 'branches_left', 'constants_propagated', 'setup_values', 'unknowns_before',
            'unknowns_after', 'code_bytes', 'compile_seconds', 'from_cache'}

    def netlist(self, name):
        return os.path.join(ROOT, 'netlists', name)

    def explain(self, *args):
        done = self.vsim('explain', '--json', *args)
        self.assertEqual(done.stderr, '')
        return json.loads(done.stdout)

    def test_text_names_groups_and_figures(self):
        text = self.vsim('explain', self.netlist('ring.sp')).stdout
        for word in ('PSP103VA: 18 instances of 2 parameter rows', '2 variants as one, of what is known in all of them: models psp103p, psp103n', 'blocks before', 'by model parameters',
                     'by voltages', 'selects', 'constants propagated', 'setup values', 'divisions left',
                     'unknowns per instance', 'code, bytes', 'compiled in'):
            self.assertIn(word, text)
        self.assertEqual(os.listdir(self.tmp.name), [])

    def test_json_has_the_promised_keys(self):
        e = self.explain('--no-cache', self.netlist('ring.sp'))
        self.assertEqual(e['unknowns'], 11)
        self.assertEqual([(g['module'], g['form'], g['instances'], g['rows'], g['joined']) for g in e['groups']],
                         [('PSP103VA', 'tran', 18, 2, 2)])  # its operating point uses the same kernel
        for g in e['groups']:
            self.assertLessEqual(self.KEYS, set(g))
            self.assertIs(g['from_cache'], False)
            self.assertEqual(g['branches_total'], g['branches_decided'] + g['branches_select'] + g['branches_left'])
            self.assertEqual(g['branches_total'], g['branches_model'] + g['branches_instance'] +
                             g['branches_temperature'] + g['branches_voltage'])
            self.assertGreater(g['branches_model'], 500)
            self.assertGreater(g['branches_decided'], 0.9 * g['branches_total'])
            self.assertLess(g['values_after'], 0.25 * g['values_before'])
            self.assertGreater(g['constants_propagated'], 300)
            self.assertLess(g['unknowns_after'], g['unknowns_before'])
            self.assertEqual(g['unknowns_after'], 4)
            self.assertGreater(g['code_bytes'], 1000)
            self.assertGreater(g['compile_seconds'], 0)

    def test_small_groups_share_a_variant_if_that_saves_packs(self):
        def groups(*counts, n='nmos (level=1 gamma=0.4', p='nmos (level=1 lambda=0.02', more=''):
            d = self.deck(f'a\n.model n1 {n} kp=1e-4)\n.model p1 {p} kp=4e-5)\nV1 d 0 1.8\nV2 g 0 1\n' +
                          ''.join(f'M{k}{i} d g 0 0 {k}1 w=1u l=1u\n' for k, c in zip('np', counts) for i in range(c)) + more + '.op\n')
            return [(g['instances'], g['joined']) for g in self.explain(d)['groups']]
        self.assertEqual(groups(2, 2), [(4, 2)])
        self.assertEqual(groups(9, 7), [(16, 2)])    # two packs of eight for three
        self.assertEqual(groups(8, 8), [(8, 1), (8, 1)])
        self.assertEqual(groups(60, 60), [(60, 1), (60, 1)])
        self.assertEqual(groups(2, 2, p='nmos (level=1 rd=10'), [(2, 1), (2, 1)])  # other nodes
        self.assertEqual(groups(2, 2, p='pmos (level=1'), [(2, 1), (2, 1)])  # too little in common
        self.assertEqual(groups(2, 2, more='R1 d 0 1k\nR2 d 0 2k tc1=1m\n')[0], (4, 2))

    def test_kernels_come_from_the_cache_the_second_time(self):
        for warm in (False, True):
            for g in self.explain('--cache-dir', self.path('c'), self.netlist('ring.sp'))['groups']:
                self.assertIs(g['from_cache'], warm)
                self.assertEqual(g['compile_seconds'] == 0, warm)

    def test_a_static_form_has_no_charges(self):
        with open(self.netlist('ring.sp')) as f:
            static = re.sub(r'(?m)^\.tran.*$', '.op', f.read())
        deck = self.deck(static)
        g = {g['form']: g for g in self.explain(self.netlist('ring.sp'))['groups'] +
             self.explain('-I', os.path.join(ROOT, 'netlists'), self.path(deck))['groups']}
        self.assertLess(g['dc']['values_after'], g['tran']['values_after'])
        self.assertLess(g['dc']['derivatives_after'], g['tran']['derivatives_after'])

    def test_without_specialisation_branches_stay(self):
        g = self.explain('--no-specialize', '--interpret', self.netlist('ring.sp'))['groups'][-1]
        self.assertLess(g['branches_decided'], 0.9 * g['branches_total'])
        self.assertGreater(g['values_after'], 10000)

    def test_a_multiplier_needs_two_transistors(self):
        e = self.explain(self.netlist('c6288.sp'))
        psp = [g for g in e['groups'] if g['module'] == 'PSP103VA' and g['form'] in ('tran', 'apart')]  # apart: with bypass
        self.assertEqual(sorted(g['variant'] for g in psp), [1, 2])
        self.assertEqual(sum(g['instances'] for g in psp), 10112)
        self.assertEqual([g['rows'] for g in psp], [1, 1])
        self.assertEqual([g['branches_left'] for g in psp], [0, 0])
        self.assertEqual([g['blocks_after'] for g in psp], [1, 1])
        self.assertTrue(all(g['selects'] > 100 for g in psp))
        self.assertLessEqual(e['unknowns'], 5300)

    def test_sweeps_of_numbers_compile_once_and_a_flag_once_more(self):
        with open(self.netlist('psp103_models.inc')) as f:
            models = f.read().replace('vfbo=-1.1', 'vfbo={vf} swigate={sw}')
        self.assertIn('{vf}', models)
        self.deck(models, 'models.inc')
        for sweep, want in (('vf -1.1 -0.9 0.01', 1), ('w 0.8u 1.2u 0.02u', 1), ('l 0.8u 1.2u 0.02u', 1),
                            ('temp 17 37 1', 1), ('sw 0 1 1', 2)):
            self.deck('d\n.param vf=-1.1 sw=0 w=10u l=1u\n.include "models.inc"\nn1 d g 0 0 psp103n w={w} l={l}\n'
                      'vd d 0 1\nvg g 0 1\n.dc %s\n.end\n' % sweep)
            self.vsim('--no-cache', '--stats', 's.json', 'deck.sp')
            with open(self.path('s.json')) as f:
                self.assertEqual(json.load(f)['kernels_compiled'], want, sweep)
            self.assertEqual(len(waves.read_raw(self.path('deck.raw'))), 2 if want == 2 else 21, sweep)

    def test_models_show_what_their_branches_depend_on(self):
        text = self.vsim('models', '--branches').stdout
        self.assertRegex(text, r'PSP103VA +\d+')
        rows = json.loads(self.vsim('models', '--branches', '--json').stdout)['modules']
        by = {r['module'].lower(): r for r in rows}
        for r in rows:
            self.assertEqual(r['branches_total'], r['branches_model'] + r['branches_instance'] +
                             r['branches_temperature'] + r['branches_voltage'], r)
        self.assertGreater(by['psp103va']['branches_model'], 400)
        self.assertEqual(by['psp103va']['loops'], 1)
        self.assertEqual(by['vccs']['branches_total'], 0)


class Caching(Folder):
    DECK = ('d\n.model dm d is=1e-14 rs=10 cjo=1p\nV1 a 0 SIN(0 2 1meg)\nR1 a b 100\nD1 b 0 dm\n'
            '.tran 10n 1u\n.end\n')

    def setUp(self):
        super().setUp()
        self.deck(self.DECK)
        self.first = self.run_deck()
        self.assertGreater(self.first[0]['kernels_compiled'], 0)

    def run_deck(self, *args, **kw):
        """Figures of the run, everything printed, every number of the results."""
        done = self.vsim('-v', '--cache-dir', 'c', '--stats', 's.json', '-r', 'x.raw', *args, 'deck.sp', **kw)
        with open(self.path('s.json')) as f:
            return json.load(f), done.stdout, [c.tobytes() for c in waves.read_raw(self.path('x.raw')).columns]

    def files(self, ends=('.vso', '.vsm')):
        return sorted(os.path.join(self.path('c'), f) for f in os.listdir(self.path('c')) if f.endswith(ends))

    def change(self, how):
        for name in self.files():
            with open(name, 'rb') as f:
                data = bytearray(f.read())
            with open(name, 'wb') as f:
                f.write(how(data))

    def recompiles(self, *notes, read=True):
        """read: what is wrong is in parts of the files that every run reads."""
        n = self.first[0]['kernels_compiled']
        stats, text, results = self.run_deck()
        self.assertEqual((stats['kernels_compiled'], stats['kernels_from_cache']), (n, 0))
        for note in notes:
            self.assertIn(note, text)
        if read:
            self.assertNotRegex(text, 'model file .* from the cache')
        self.assertEqual(results, self.first[2])

    def hits(self):
        stats, text, results = self.run_deck()
        self.assertEqual((stats['kernels_compiled'], stats['kernels_from_cache']),
                         (0, self.first[0]['kernels_compiled']))
        self.assertNotIn('not used', text)
        self.assertEqual(len(re.findall('model file .* from the cache', text)), 2)
        self.assertEqual(results, self.first[2])

    def test_what_is_kept_is_used(self):
        self.hits()

    def test_flipped_bits_anywhere_are_seen(self):
        for place in (0.0, 0.005, 0.1, 0.5, 0.9, 1.0):
            def flip(data, at=place):
                data[int(at * (len(data) - 1))] ^= 0x10
                return data
            self.change(flip)
            if place:  # of a model's file perhaps a function that this run has no need of
                self.recompiles('compiling again', read=False)
            else:
                self.recompiles('compiling again', 'preparing the model again')
            self.hits()

    def test_truncated_and_empty_files_are_seen(self):
        for keep in (0.99, 0.5, 0.001, 0):
            self.change(lambda data, k=keep: data[:int(k * len(data))])
            self.recompiles('compiling again', 'preparing the model again')
            self.hits()

    def test_files_under_foreign_names_are_seen(self):
        names = self.files()
        self.assertGreater(len(names), 1)
        data = []
        for name in names:
            with open(name, 'rb') as f:
                data.append(f.read())
        for name, other in zip(names, data[1:] + data[:1]):
            with open(name, 'wb') as f:
                f.write(other)
        self.recompiles('compiling again', 'preparing the model again')
        self.hits()
        names = self.files('.vso')
        os.rename(names[0], names[1])
        self.assertIn('holds something else', self.run_deck()[1])
        self.hits()

    def test_files_that_others_can_write_are_not_run(self):
        for name in self.files():
            os.chmod(name, 0o666)
        self.recompiles('can be written by, other users')
        self.hits()
        os.chmod(self.path('c'), 0o777)
        self.recompiles('can be written by, other users')

    def test_a_folder_that_cannot_be_made_or_written_is_noted(self):
        n = self.first[0]['kernels_compiled']
        with open(self.path('file'), 'w'):
            pass
        stats, text, results = self.run_deck('--cache-dir', 'file')
        self.assertEqual(stats['kernels_compiled'], n)
        self.assertIn('kernels are not kept on disk', text)
        self.assertEqual(results, self.first[2])
        for name in self.files():
            os.remove(name)
        for name in ('/proc', '/sys/kernel'):  # not even root writes there
            if os.path.isdir(name):
                stats, text, results = self.run_deck('--cache-dir', name)
                self.assertEqual(stats['kernels_compiled'], n)
                self.assertIn('not kept on disk', text)
                self.assertEqual(results, self.first[2])
        if os.geteuid():
            os.chmod(self.path('c'), 0o500)
            self.recompiles('not kept on disk')
            os.chmod(self.path('c'), 0o700)

    def test_list_path_clear(self):
        cache = ('cache', '--cache-dir', 'c')
        n = len(self.files())
        with open(self.path('c/mine.txt'), 'w') as f:
            f.write('not a kernel')
        text, same = (self.vsim(*cache, *word).stdout for word in ((), ('list',)))
        ago = r'(?m) \d+ \w+ ago$'  # the clock goes on between them
        self.assertEqual(re.sub(ago, '', text), re.sub(ago, '', same))
        self.assertEqual(len(re.findall(r'(?m)^ +[0-9a-f]{32}\.vs[om] +\d+ +\d+ \w+ ago$', text)), n)
        self.assertIn('%d files' % n, text)
        self.assertIn('of at most', text)
        self.assertEqual(self.vsim(*cache, 'path').stdout, 'c\n')
        self.assertIn('%d files removed' % n, self.vsim(*cache, 'clear').stdout)
        self.assertEqual(os.listdir(self.path('c')), ['mine.txt'])
        self.assertIn('0 files', self.vsim(*cache).stdout)
        self.assertEqual(self.run_deck()[2], self.first[2])
        self.hits()

    def model(self, name, body, extra=''):
        self.deck('`include "disciplines.vams"\n%smodule t(a, c); inout a, c; electrical a, c;\n%s\nendmodule\n'
                  % (extra, body), name)

    def test_an_edited_include_is_noticed(self):
        self.deck('`define G 1e-3\n', 'g.inc')
        self.model('t.va', 'analog I(a, c) <+ `G * V(a, c);', '`include "g.inc"\n')
        self.deck('t\n.hdl t.va\nV1 a 0 1\nN1 a 0 tm\n.model tm t\n.op\n.end\n')
        current = lambda: self.vsim('-v', '--cache-dir', 'c', 'deck.sp').stdout
        cold = current()
        self.assertNotRegex(cold, 't.va.* from the cache')
        warm = current()
        self.assertRegex(warm, 't.va.* from the cache')
        value = lambda text: re.search(r'(?mi)^.*i\(v1\).*$', text).group(0)
        self.assertEqual(value(cold), value(warm))
        self.deck('`define G 2e-3\n', 'g.inc')
        edited = current()
        self.assertNotRegex(edited, 't.va.* from the cache')
        self.assertNotEqual(value(edited), value(cold))
        self.assertEqual(value(current()), value(edited))

    def test_a_file_that_appears_where_one_was_looked_for_is_noticed(self):
        os.mkdir(self.path('lib'))
        self.deck('`define G 1e-3\n', 'lib/g.inc')
        self.model('t.va', 'parameter real g = `G; analog I(a, c) <+ g * V(a, c);', '`include "g.inc"\n')
        show = lambda: self.vsim('--cache-dir', 'c', '-v', '-I', 'lib', 'compile', 't.va').stdout
        show()
        self.assertIn('from the cache', show())
        self.deck('`define G 2e-3 + 0\n', 'g.inc')
        self.assertNotIn('from the cache', show())
        self.assertIn('from the cache', show())
        os.remove(self.path('g.inc'))
        self.assertNotIn('from the cache', show())

    def test_warnings_of_a_kept_model_are_given_again(self):
        self.model('t.va', 'parameter real g = `G from (0:2);\nanalog I(a, c) <+ g * V(a, c);', '`define G 5\n')
        out = [self.vsim('--cache-dir', 'c', 'compile', 't.va') for _ in range(2)]
        text = [re.sub('compiled in .*', '', o.stdout) + o.stderr for o in out]
        self.assertIn('t.va:4:20: warning', text[0])
        self.assertIn('^', text[0])
        self.assertEqual(text[0], text[1])

    def test_errors_point_into_the_source_of_a_kept_model(self):
        self.model('t.va', 'parameter real g = 1 from (0:2);\nanalog I(a, c) <+ g * V(a, c);')
        self.deck('t\n.hdl t.va\nV1 a 0 1\nN1 a 0 tm\n.model tm t g=3\n.op\n.end\n')
        first, second = (self.vsim('--cache-dir', 'c', 'deck.sp', code=1) for _ in range(2))
        self.assertIn('t.va:3:16', first.stdout + first.stderr)
        self.assertEqual((first.stdout, first.stderr), (second.stdout, second.stderr))

    def test_texts_as_values_survive(self):
        self.model('t.va', 'parameter string kind = "low" from \'{"low", "high"};\n'
                   'analog I(a, c) <+ (kind == "high" ? 2e-3 : 1e-3) * V(a, c);')
        for kind, other in (('low', 'high'), ('high', 'low'), ('low', 'high')):
            self.deck('t\n.hdl t.va\nV1 a 0 1\nN1 a 0 tm\nN2 a 0 tn\n.model tm t kind="%s"\n'
                      '.model tn t kind="%s"\n.op\n.end\n' % (kind, other))
            self.assertRegex(self.vsim('--cache-dir', 'c', 'deck.sp').stdout, r'(?i)i\(v1\) +-0\.003\n')

    def test_every_view_of_a_model_is_the_same_from_the_cache(self):
        deck = os.path.join(ROOT, 'netlists', 'ring.sp')
        views = [('models', 'psp103va'), ('models', '--branches', '--json'), ('check', '--dump=ir', deck),
                 ('check', '--dump=groups', deck), ('check', '--dump=ir', '--interpret', deck),
                 ('check', '--dump=ir', '--no-specialize', deck)]
        figures = r'(?m)^time by phase.*$|\d+ kernels? compiled, \d+ from the cache'
        for view in views:
            plain = re.sub(figures, '', self.vsim('--no-cache', *view).stdout)
            for _ in range(2):
                self.assertEqual(plain, re.sub(figures, '', self.vsim('--cache-dir', 'c', *view).stdout), view)

    def test_every_model_file_compiles_to_the_same_from_the_cache(self):
        kit = 'lib/python3*/site-packages/ihp/models/ngspice/va/*/*.va'  # as tests/model/test_originals.c
        files = glob.glob(os.path.join(ROOT, 'models', '*.va'))
        files += glob.glob(os.path.join(os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers')), kit))
        for name in files:
            out = [self.vsim(*option, 'compile', name, code=None)
                   for option in (('--no-cache',), ('--cache-dir', 'c'), ('--cache-dir', 'c'), ('--cache-dir', 'c', '-v'))]
            text = [re.sub('compiled in .*', '', o.stdout) + o.stderr for o in out]
            self.assertEqual(text[0], text[1])
            self.assertEqual(text[0], text[2])
            self.assertEqual('from the cache' in text[3], out[0].returncode == 0, name)

    def test_path_follows_the_environment(self):
        env = dict(os.environ, XDG_CACHE_HOME='/x')
        self.assertEqual(self.vsim('cache', 'path', env=env).stdout, '/x/vsim\n')
        self.assertIn('0 files', self.vsim('cache', env=env).stdout)
        env = {'HOME': '/y'}
        self.assertEqual(self.vsim('cache', 'path', env=env).stdout, '/y/.cache/vsim\n')
        self.assertIn('neither', self.vsim('cache', 'list', code=4, env={}).stderr)


class CheckingKernels(Folder):
    VA = ('`include "disciplines.vams"\nmodule mm(a, c); inout a, c; electrical a, c;\n'
          'parameter real g = 1m;\nanalog begin\n  I(a,c) <+ g*V(a,c)*V(a,c)*exp(%s*V(a,c));\n'
          '  I(a,c) <+ ddt(1p*V(a,c)); I(a,c) <+ white_noise(1e-20*g, "n");\nend\nendmodule\n')
    DECK = ('t\n.hdl "m.va"\n.model m mm\nv1 1 0 1 ac 1\nr1 1 2 1k\nn1 2 0 m\nn2 2 0 m\n'
            '%s\n.end\n')
    TRAN, AC = '.tran 1n 20n', '.ac dec 3 1 1meg\n.noise v(2) v1 dec 3 1 1meg'

    def run_it(self, cards, factor='1.5', *args, **kw):
        self.write('m.va', self.VA % factor)
        return self.vsim('--cache-dir', 'c', '--no-output', *args, self.deck(self.DECK % cards), **kw)

    def kernels(self):
        return {f for f in os.listdir(self.path('c')) if f.endswith('.vso')}

    def exchange(self, cards):
        """The deck's kernels on disk become those of a model that is wrong by 1e-9."""
        self.run_it(cards, '1.500000001')
        wrong = self.kernels()
        self.run_it(cards)
        right = self.kernels() - wrong
        wrong = {f for f in wrong if f not in right}
        n = 0
        for name in right:
            with open(self.path('c/' + name), 'rb') as f:
                data = f.read()
            for other in wrong:
                with open(self.path('c/' + other), 'rb') as f:
                    bad = f.read()
                # the same code but for one constant; the head of the file holds the key, 16 bytes
                if len(bad) == len(data) and bad[24:] != data[24:]:
                    os.remove(self.path('c/' + name))
                    with open(self.path('c/' + name), 'wb') as f:
                        f.write(data[:24] + bad[24:])
                    n += 1
                    break
        self.assertEqual(n, len(right))
        self.assertGreater(n, 0)

    def test_right_kernels_pass_in_each_analysis(self):
        for cards in ('.op', self.TRAN, self.AC, '.dc v1 0 1 0.1'):
            done = self.run_it(cards, '1.5', '--check-kernels')
            calls, numbers, loose, beyond = map(int, re.search(
                r'interpreter: (\d+) calls, (\d+) numbers compared, (\d+) of them without a bound, '
                r'(\d+) beyond', done.stdout).groups())
            self.assertGreater(calls, 2)
            self.assertGreater(numbers, 10 * calls)
            self.assertEqual((loose, beyond), (0, 0))
            self.assertNotIn('BEYOND', done.stdout)
            self.assertRegex(done.stdout, r'(?m)^  mm  .* n[12] ')

    def test_kernels_of_large_models_pass_too(self):
        deck = self.deck('bsim\n.model n4 nmos level=14 rgatemod=1 rbodymod=1 igcmod=1 igbmod=1\n'
                         '.model p4 pmos level=14 igcmod=1\n.model n3 nmos level=8\n'
                         'vdd vdd 0 1.2\nvin in 0 dc 0.6 ac 1 pulse(0 1.2 0 50p 50p 400p 1n)\n'
                         'mp out in vdd vdd p4 w=2u l=0.1u\nmn out in 0 0 n4 w=1u l=0.1u\n'
                         'm3 o3 in 0 0 n3 w=1u l=0.35u\nr3 vdd o3 5k\nc1 out 0 5f\n'
                         'q1 vdd in e qn\nre e 0 1k\n.model qn npn bf=80 cje=1p tf=50p rb=50\n'
                         '.tran 10p 2n\n.ac dec 3 1meg 10g\n.end\n')
        done = self.vsim('--check-kernels=2', '--no-output', deck)
        numbers, loose, beyond = map(int, re.search(
            r'(\d+) numbers compared, (\d+) of them without a bound, (\d+) beyond', done.stdout).groups())
        self.assertGreater(numbers, 50000)
        self.assertEqual(beyond, 0)
        self.assertLess(loose, numbers / 20)

    def test_a_wrong_kernel_is_named_and_the_exit_code_says_so(self):
        for cards, outputs in ((self.TRAN, ('residual(a)', 'jacobian(a,a)')), (self.AC, ('G(a,a)',))):
            self.exchange(cards)
            done = self.run_it(cards, '1.5', code=0)  # nobody sees it without the check
            done = self.run_it(cards, '1.5', '--check-kernels', code=6)
            self.assertIn('error: kernels differ from the interpreter by more than rounding', done.stderr)
            for out in outputs:
                row = re.search(r'(?m)^  mm .*%s.*BEYOND$' % re.escape(out), done.stdout)
                self.assertTrue(row, done.stdout)
                self.assertRegex(row.group(), r' \d[.\d]*e-(09|10) .* n[12] ')

    SWEEP = '.param f=1\n.step param f list 1 2 3 4\nrf 2 0 {1k*f}\n' + TRAN

    def test_workers_of_a_sweep_tell_what_they_found(self):
        tables, calls = [], []
        for jobs in '1', '2':
            done = self.run_it(self.SWEEP, '1.5', '--check-kernels', '--jobs', jobs)
            calls.append(int(re.search(r'interpreter: (\d+) calls', done.stdout).group(1)))
            tables.append(re.findall(r'(?m)^  (?:mm|resistor) .*$', done.stdout))
        self.assertEqual(*tables)
        self.assertGreater(len(tables[0]), 3)
        self.assertLess(abs(calls[0] - calls[1]), 20)  # each worker looks once for linear groups

    def test_a_wrong_kernel_of_a_worker_is_named(self):
        self.exchange(self.SWEEP)
        done = self.run_it(self.SWEEP, '1.5', '--check-kernels', '--jobs', '2', code=6)
        self.assertRegex(done.stdout, r'(?m)^  mm .*BEYOND$')

    def test_quiet_shows_the_error_only(self):
        self.exchange(self.TRAN)
        done = self.run_it(self.TRAN, '1.5', '-q', '--check-kernels', code=6)
        self.assertEqual(done.stdout, '')
        self.assertIn('kernels differ', done.stderr)

    def test_each_k_th_call(self):
        calls = [int(re.search(r'interpreter: (\d+) calls', self.run_it(
            self.TRAN, '1.5', '--check-kernels=%d' % k).stdout).group(1)) for k in (1, 5)]
        self.assertLess(abs(calls[0] / 5 - calls[1]), 5)  # each variant begins anew

    def test_what_it_cannot_do_is_refused(self):
        deck = self.deck(RC)
        for args in (('--check-kernels=0',), ('--check-kernels=x',),
                     ('--check-kernels', '--interpret')):
            self.assertIn('--check-kernels', self.vsim(deck, *args, code=2).stderr)
        self.vsim('models', '--check-kernels', code=2)
        self.vsim('check', deck, '--check-kernels', code=2)
        none = self.vsim(self.deck('t\nv1 1 0 1\nv2 2 1 1\n.op\n.end\n'), '--check-kernels')
        self.assertIn('warning: no kernel ran', none.stderr)


class DefiningMacros(Folder):
    VA = ('`include "disciplines.va"\nmodule mm(a, c); inout a, c; electrical a, c;\n'
          'analog begin\n`ifdef HALF\n  I(a,c) <+ V(a,c) * `HALF / 2;\n`else\n  I(a,c) <+ V(a,c);\n'
          '`endif\n`ifdef OTHER\n  I(a,c) <+ 10*V(a,c);\n`endif\nend\nendmodule\n')
    DECK = 't\n.hdl "m.va"\n.model m mm\nv1 1 0 1\nn1 1 0 m\n.op\n.print op i(v1)\n.end\n'

    def current(self, *args, **kw):
        self.write('m.va', self.VA)
        done = self.vsim('--cache-dir', 'c', '-r', 'o.raw', *args, self.deck(self.DECK), **kw)
        return -waves.read_raw(self.path('o.raw'))['i(v1)'][-1] if not kw else done

    def test_a_deck_s_models_see_them_and_the_cache_keeps_them_apart(self):
        for _ in range(2):  # the second time from the cache
            self.assertEqual(self.current(), 1)
            self.assertEqual(self.current('--define', 'HALF'), 0.5)
            self.assertEqual(self.current('--define', 'OTHER'), 11)
            self.assertEqual(self.current('--define=HALF=(3+4)'), 3.5)
            self.assertEqual(self.current('--define', 'HALF=3', '--define', 'OTHER'), 11.5)

    def test_compile_takes_them_as_other_compilers_do(self):
        self.write('m.va', '`include "disciplines.h"\nmodule mm(a); inout a; electrical a;\n'
                   '`ifdef MORE\nparameter real p = `MORE;\n`endif\nanalog I(a) <+ V(a);\nendmodule\n')
        self.assertRegex(self.vsim('compile', 'm.va').stdout, r'parameters +0')
        for how in (('-D', 'MORE'), ('-DMORE=2.5',), ('--define', 'MORE=1')):
            self.assertRegex(self.vsim('compile', 'm.va', *how).stdout, r'parameters +1')

    def test_wrong_ones_are_refused(self):
        self.write('m.va', self.VA)
        deck = self.deck(self.DECK)
        self.assertIn('--define NAME[=TEXT]', self.vsim('-D', 'HALF', deck, code=2).stderr)
        self.vsim('--define', '=1', deck, code=2)
        self.vsim('--define', '', deck, code=2)
        self.assertIn("'1x', set from outside, is not the name of a macro",
                      self.vsim('--define', '1x', deck, code=1).stderr)
        self.assertIn("'include', set from outside, has the name of a directive",
                      self.vsim('--define', 'include', deck, code=1).stderr)
        self.vsim('--define', 'HALF="open', deck, code=1)


class Interrupting(Folder):
    def start(self):
        self.deck(LONG)
        return subprocess.Popen([VSIM, '-q', 'deck.sp'], cwd=self.tmp.name, stderr=subprocess.PIPE)

    def wait_for_points(self, least=1000):
        for _ in range(6000):
            time.sleep(0.05)
            try:
                if len(waves.read_raw(self.path('deck.raw'))) > least:
                    return
            except (OSError, ValueError, KeyError):
                pass
        self.fail('no points were written')

    def test_kill_leaves_a_readable_file(self):
        child = self.start()
        self.wait_for_points()
        child.kill()
        child.wait()
        child.stderr.close()
        p = waves.read_raw(self.path('deck.raw'))
        t = p['time']
        self.assertGreater(len(p), 1000)
        self.assertTrue(all(a < b for a, b in zip(t, t[1:])))

    def test_interrupt_keeps_results_and_has_its_exit_code(self):
        child = self.start()
        self.wait_for_points()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=300)
        self.assertEqual(child.returncode, 130)
        self.assertGreater(len(waves.read_raw(self.path('deck.raw'))), 1000)

    def test_progress_is_shown_on_a_terminal_only(self):
        self.deck(LONG)
        master, slave = pty.openpty()
        child = subprocess.Popen([VSIM, 'deck.sp'], cwd=self.tmp.name, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen, asked = b'', False
        try:
            while True:
                piece = os.read(master, 4096)
                if not piece:
                    break
                seen += piece
                if not asked and re.search(rb'%.*ETA', seen):
                    child.send_signal(signal.SIGINT)
                    asked = True
        except OSError:
            pass
        child.wait()
        os.close(master)
        self.assertTrue(asked, seen)
        self.assertEqual(child.returncode, 130)


class Refusing(Folder):
    """What careless and hostile users do: nothing is lost, nothing passes in silence."""
    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def test_no_output_replaces_an_input(self):
        text = self.deck(RC) and self.read('deck.sp')
        self.deck(RC, 'x.raw')
        self.deck('* part\nR9 in 0 1k\n', 'part.inc')
        self.deck(RC.replace('.tran', '.include part.inc\n.tran'), 'top.sp')
        os.symlink('deck.sp', self.path('soft.sp'))
        os.link(self.path('deck.sp'), self.path('hard.sp'))
        for out in ('deck.sp', './deck.sp', self.path('deck.sp'), 'soft.sp', 'hard.sp'):
            self.assertIn('overwrit', self.vsim('-r', out, 'deck.sp', code=1).stderr)
            self.assertIn('overwrit', self.vsim('-o', out, 'deck.sp', code=1).stderr)
            self.assertIn('overwrit', self.vsim('-r', 'y', '--stats', out, 'deck.sp', code=1).stderr)
        self.assertIn('overwrit', self.vsim('x.raw', code=1).stderr)
        self.assertIn('overwrit', self.vsim('-r', 'part.inc', 'top.sp', code=1).stderr)
        self.assertEqual(self.read('deck.sp'), text)
        self.assertEqual(self.read('x.raw'), text)
        self.assertIn(b'R9', self.read('part.inc'))

    def test_outputs_do_not_share_a_file(self):
        self.deck(RC)
        self.assertIn('another output', self.vsim('-o', 'z', '-r', 'z', 'deck.sp', code=1).stderr)
        self.assertIn('another output', self.vsim('--stats', 'z', '-r', 'z', 'deck.sp', code=1).stderr)

    @unittest.skipUnless(os.path.exists('/dev/full'), 'needs /dev/full')
    def test_a_full_disk_is_named(self):
        self.deck(RC)
        for args in (('-q', '-r', '/dev/full'), ('-q', '--csv', '-r', '/dev/full'), ('-r', 'x', '-o', '/dev/full'),
                     ('-q', '-r', 'x', '--stats', '/dev/full')):
            self.assertIn('No space left', self.vsim(*args, 'deck.sp', code=4).stderr)
        for args in (('-r', 'x', 'deck.sp'), ('-q', '--csv', '-r', '-', 'deck.sp'), ('models',), ('--help',)):
            with open('/dev/full', 'w') as full:
                done = subprocess.run([VSIM, *args], cwd=self.tmp.name, stdout=full, stderr=subprocess.PIPE, timeout=300)
            self.assertEqual(done.returncode, 4, args)
            self.assertIn(b'No space left' if '-r' in args else b'vsim: ', done.stderr)

    def test_reports_stay_out_of_results_on_standard_output(self):
        done = self.vsim('--csv', '-r', '-', self.deck(RC))
        self.assertTrue(done.stdout.startswith('time,v(in),v(out)'), done.stdout[:80])
        self.assertNotIn('points', done.stdout)
        self.assertIn('transient', done.stderr)

    def test_a_reader_may_leave(self):
        self.deck(RC.replace('4u', '400u'))  # more than a pipe holds
        for args, code in ((('-r', 'x.raw'), 0), (('--csv', '-r', '-'), 4)):
            p = subprocess.Popen([VSIM, *args, 'deck.sp'], cwd=self.tmp.name, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            p.stdout.close()
            p.stderr.read()
            p.stderr.close()
            self.assertEqual(p.wait(300), code)
        self.assertGreater(len(waves.read_raw(self.path('x.raw'))), 100)

    def test_closed_streams_do_not_become_results(self):
        self.deck(RC)
        done = subprocess.run(['sh', '-c', '"$0" -r x.raw deck.sp <&- >&- 2>&-', VSIM], cwd=self.tmp.name, timeout=300)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(b'devices', self.read('x.raw'))
        self.assertGreater(len(waves.read_raw(self.path('x.raw'))), 100)

    def test_quiet_means_errors_only(self):
        self.deck(RC.replace('.tran', '.options nosuch=1\n.tran'))
        self.assertIn('nosuch', self.vsim('-r', 'x', 'deck.sp').stderr)
        self.assertEqual(self.vsim('-q', '-r', 'x', 'deck.sp').stderr, '')

    def test_a_deck_may_come_from_a_pipe(self):
        done = subprocess.run([VSIM, '-q', '--csv', '-r', '-', '-'], cwd=self.tmp.name, input=RC.encode(),
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(b'time,v(in)'))

    def test_names_with_blanks_quotes_and_other_letters(self):
        name = 'an \u00e4 "deck" \'x\'.sp'
        self.vsim('-q', self.deck(RC, name))
        self.assertGreater(len(waves.read_raw(self.path(name[:-3] + '.raw'))), 100)

    def test_a_chosen_model_folder_must_exist(self):
        env = dict(os.environ, VSIM_MODELS='/nowhere')
        self.assertIn('/nowhere', self.vsim(self.deck(RC), code=4, env=env).stderr)

    def test_define_of_a_parameter_that_the_deck_lacks_is_a_warning(self):
        deck = self.deck('x\n.param rload=1k\nV1 a 0 1\nR1 a 0 {rload}\nR2 a 0 {extra}\n.op\n')
        out = self.vsim('-D', 'rlaod=2', '-D', 'extra=1', deck)
        self.assertIn("no parameter 'rlaod'", out.stderr)
        self.assertIn("did you mean 'rload'?", out.stderr)
        self.assertNotIn('extra', out.stderr)
        self.vsim('--strict', '-D', 'rlaod=2', '-D', 'extra=1', deck, code=1)

    def test_definitions_need_a_name(self):
        self.vsim('-D', '=1', self.deck(RC), code=2)

    def test_a_corner_that_rounds_to_the_end_is_the_end(self):
        self.deck('d\nV1 a 0 PULSE(0 1 0 0 0 0 1u)\nR1 a b 1k\nC1 b 0 1p\n.tran 1n 5u\n.end\n')
        self.vsim('deck.sp')
        self.assertLess(len(waves.read_raw(self.path('deck.raw'))), 10000)

    def test_jumps_of_behavioural_sources_are_passed(self):
        self.deck('d\nV1 a 0 SIN(0.2 1 1MEG)\nB1 b 0 v=v(a)*v(a)+tanh(3*v(a))\nR1 b 0 1k\n'
                  'B4 e 0 v=min(v(a),0.5)+max(v(a),0)+sgn(v(a)-0.11)\nR5 e 0 1k\n'
                  'B3 f 0 v=v(a)>0.3 ? 2*v(a) : 0.6\nR6 f 0 1k\n'
                  '.options reltol=1e-5 abstol=1e-15 vntol=1e-9\n.tran 5n 4u 0 2n\n.end\n')
        self.vsim('deck.sp')
        p = waves.read_raw(self.path('deck.raw'))
        for a, e in zip(p['v(a)'], p['v(e)']):
            self.assertAlmostEqual(e, min(a, 0.5) + max(a, 0) + (1 if a > 0.11 else -1), 6)

    def test_a_multivibrator_without_junction_capacitances_switches_in_few_points(self):
        self.deck('m\nVCC 6 0 5\nRC1 6 1 1k\nRC2 6 2 1k\nR1 6 3 30k\nR2 6 4 30k\nC1 1 4 150p\nC2 2 3 150p\n'
                  'Q1 1 3 0 qm\nQ2 2 4 0 qm\n.model qm npn(is=2e-16 bf=50 br=1 rb=5 rc=1 tf=0.2n tr=5n)\n'
                  '.nodeset v(1)=0 v(3)=0\n.tran 0.1u 10u\n.end\n')
        self.vsim('deck.sp')
        p = waves.read_raw(self.path('deck.raw'))
        self.assertEqual(p['time'][-1], 10e-6)
        self.assertLess(len(p), 1500)
        self.assertTrue(all(b > a for a, b in zip(p['time'], p['time'][1:])))
        self.assertGreaterEqual(len(waves.crossings(p['time'], p['v(1)'], 2.5)), 3)

    def test_a_latch_takes_the_state_that_nodeset_gives(self):
        gate = ('.subckt nand a b y vcc\nr1 vcc b1 2.8k\nq1a c1 b1 a n\nq1b c1 b1 b n\nr2 vcc c2 900\nq2 c2 c1 e2 n\nd2 c1 c2 s\n'
                'r3 e2 n3 500\nr4 e2 k3 250\nq3 k3 n3 0 n\nr5 vcc c4 50\nq4 c4 c2 m4 n\nq5 c4 m4 y n\nr6 m4 0 3.5k\nq6 y e2 0 n\n'
                'd6 e2 y s\n.ends\n.model n npn(is=1e-17 bf=100 br=1 rb=70 rc=40 vaf=50)\n.model s d(is=3e-13 rs=25)\n')
        for q, p in ((5, 0), (0, 5), (0.1, 4), (4.5, 0.2), (6, 0.1)):  # no output reaches 3.5 V
            self.deck('latch\n' + gate + 'vcc c 0 5\nrh c h 400\nx1 h p q c nand\nx2 h q p c nand\n'
                      '.nodeset v(q)=%g v(p)=%g\n.op\n.end\n' % (q, p))
            self.vsim('deck.sp')
            r = waves.read_raw(self.path('deck.raw'))
            self.assertEqual(r['v(q)'][0] > r['v(p)'][0], q > p, (q, p))

    def test_sweeps_of_parameters_need_memory_for_one_circuit(self):
        self.needs_plain(VSIM)
        self.deck('d\n.param a=1\nV1 1 0 {a}\nR1 1 2 1k\nR2 2 0 {a*1k+1}\n.dc a 1 2 1e-3\n.end\n')
        self.vsim('--interpret', '--stats', 's.json', 'deck.sp')
        with open(self.path('s.json')) as f:
            self.assertLess(json.load(f)['peak_memory_bytes'], 30e6)  # 65 kB a point before
        self.assertEqual(len(waves.read_raw(self.path('deck.raw'))), 1001)

    def test_a_sweep_that_changes_the_circuit_is_refused(self):
        self.deck('d\n.param a=1\n.if (a==1)\nR1 1 0 1k\n.else\nR1 1 x 1k\nR2 x 0 1k\nR3 x y 1k\nR4 y 0 1\n.endif\n'
                  'V1 1 0 1\n.dc a 1 3 1\n.end\n')
        self.assertIn('changes which nodes', self.vsim('deck.sp', code=1).stderr)
        self.deck(re.sub(r'\.dc', '.save v(1) i(V1)\n.dc', self.read('deck.sp').decode()))
        self.vsim('deck.sp')
        p = waves.read_raw(self.path('deck.raw'))
        for got, want in zip(p['i(v1)'], (-1e-3, -1 / (1000 + 1 / (1e-3 + 1 / 1001)), -1 / (1000 + 1 / (1e-3 + 1 / 1001)))):
            self.assertAlmostEqual(got, want, 12)

    def test_eight_runs_share_a_cold_cache(self):
        self.deck(Caching.DECK)
        runs = [subprocess.Popen([VSIM, '-q', '--cache-dir', 'cold', '-r', '%d.raw' % k, 'deck.sp'], cwd=self.tmp.name)
                for k in range(8)]
        self.assertEqual([r.wait(300) for r in runs], [0] * 8)
        results = [[c.tobytes() for c in waves.read_raw(self.path('%d.raw' % k)).columns] for k in range(8)]
        self.assertEqual(results, results[:1] * 8)


class Asking(Folder):
    def test_help_teaches(self):
        text = self.vsim('--help').stdout
        for word in ('vsim DECK.sp', 'check', 'explain', 'models', 'compile', 'cache', '--stats'):
            self.assertIn(word, text)
        self.assertIn('130', self.vsim('help', 'exit').stdout)
        self.assertRegex(self.vsim('--version').stdout, r'^vsim \d+\.\d+')

    def test_models_are_listed_with_parameters(self):
        self.assertIn('resistor', self.vsim('models').stdout)
        text = self.vsim('models', 'psp103').stdout
        for word in ('VFBO', 'm', 'default', 'TOXO'):
            self.assertIn(word, text)
        text = self.vsim('models', 'resistr', code=1).stderr
        self.assertIn("did you mean 'resistor'?", text)

    def test_check_does_not_simulate(self):
        self.vsim('check', self.deck(LONG))
        self.assertEqual(os.listdir(self.tmp.name), ['deck.sp'])

    def test_compile_reports(self):
        self.deck('`include "disciplines.vams"\nmodule g(a,b); inout a,b; electrical a,b;\n'
                  'parameter real g=1 from [0:inf);\nanalog I(a,b) <+ g*V(a,b);\nendmodule\n', 'g.va')
        text = self.vsim('compile', 'g.va').stdout
        for word in ('module g', 'ports', 'a b', 'parameters  1', 'unknowns    2: a b',
                     'derivatives 4 entries'):
            self.assertIn(word, text)
        self.assertRegex(text, r'setup +[1-9]')

    def test_wrong_command_lines(self):
        for args in ((), ('a.sp', 'b.sp'), ('--nonsense', 'a.sp'), ('--threads', 'x', 'a.sp'), ('-r',),
                     ('--dump=foo', 'a.sp'), ('compile',), ('explain',), ('cache', 'foo'), ('cache', 'list', 'clear'),
                     ('--json', 'a.sp'), ('models', '--json')):
            done = self.vsim(*args, code=2)
            self.assertIn('vsim', done.stderr)
        self.assertIn("did you mean '--stats'?", self.vsim('--stat=x=y', '--stast', 'x', code=2).stderr)

    def test_files_that_cannot_be_written_are_named(self):
        self.deck(RC)
        self.assertIn('nowhere/x.raw', self.vsim('-r', 'nowhere/x.raw', 'deck.sp', code=4).stderr)
        self.assertIn('nowhere/log', self.vsim('-o', 'nowhere/log', 'deck.sp', code=4).stderr)
        self.assertIn('missing.sp', self.vsim('missing.sp', code=4).stderr)

    def passes(self):
        """The names in the answer to a pass that there is not."""
        done = self.vsim('compile', 'd.va', '--dump-ir=scpc', code=2)
        self.assertIn("no pass 'scpc'; did you mean 'sccp'?", done.stderr)
        names = re.search('Passes in their order: (.*); all', done.stderr).group(1).split()
        self.assertGreater(len(names), 10)
        return names

    def test_a_pass_is_shown_of_a_file_and_of_a_deck(self):
        self.write('d.va', '`include "disciplines.vams"\nmodule dd(a, c); inout a, c;\n'
                   'electrical a, c;\nparameter real g = 1; parameter integer sq = 0;\n'
                   'analog if (sq) I(a,c) <+ g*V(a,c)*V(a,c); else I(a,c) <+ g*V(a,c);\n'
                   'endmodule\n')
        deck = self.deck('t\nv1 1 0 1\n.hdl "d.va"\n.model m dd sq=1\nn1 1 0 m\n.tran 1n 2n\n.end\n')
        of_file = self.vsim('compile', 'd.va', '--dump-ir=sccp').stdout
        of_deck = self.vsim('check', deck, '--dump-ir=sccp').stdout
        # before it both have the branch; after it the file's default has g V and the deck's g V^2
        for text, n_square in (of_file, 0), (of_deck, 1):
            part = {w: next(p for p in re.split('(?m)^# pass ', text)
                            if 'form tran, %s,' % w in p) for w in ('before', 'after')}
            choices = {w: len(re.findall(r'= select|^  if ', p, re.M)) for w, p in part.items()}
            squares = len(re.findall(r'= mul (v\d+), \1$', part['after'], re.M))
            self.assertGreater(choices['before'], 0)
            self.assertEqual((choices['after'], squares), (0, n_square))

    def test_the_words_on_passes_name_all_of_them(self):
        names = self.passes()
        with open(os.path.join(ROOT, 'docs', 'ir.md')) as f:
            table = re.findall(r'(?m)^\| `(\w+)` \| `src/', f.read())
        self.assertEqual(table, names)
        with open(os.path.join(ROOT, 'vsim.1')) as f:
            text = f.read()
        for name in names:
            self.assertRegex(text, r'\b%s\b' % name)

    def test_a_dump_without_a_pass_is_the_code_of_kernels(self):
        deck = self.deck(RC)
        text = self.vsim('check', deck, '--dump-ir').stdout
        self.assertIn('# pass ifconv (', text)
        self.assertEqual(set(re.findall('(?m)^# pass (\\w+)', text)), {'ifconv'})
        some = set(re.findall('(?m)^# pass (\\w+)', self.vsim('check', deck, '--dump-ir=all').stdout))
        self.assertEqual(some, set(self.passes()))
        self.vsim('models', '--dump-ir', code=2)

    def test_dumps_show_the_stages(self):
        self.deck(RC)
        self.assertIn('%%MatrixMarket', self.vsim('check', '--dump=pattern', 'deck.sp').stdout)
        self.assertIn('c1', self.vsim('check', '--dump=circuit', 'deck.sp').stdout)
        self.assertIn('tran', self.vsim('check', '--dump=cards', 'deck.sp').stdout)
        self.assertIn('resistor', self.vsim('check', '--dump=groups', 'deck.sp').stdout)
        self.assertIn('probe', self.vsim('check', '--dump=ir', 'deck.sp').stdout)

    def test_strict_makes_warnings_errors(self):
        self.deck(RC.replace('.end', '.option nonsense=3\n.end'))
        self.assertIn('nonsense', self.vsim('check', 'deck.sp').stderr)
        self.vsim('check', '--strict', 'deck.sp', code=1)


class Memory(Folder):
    """Where the system gives no more memory: a message, exit code 7, results so far."""
    LADDER = 'ladder\nV1 n0 0 sin(0 1 1meg)\n' + ''.join(
        'R%d n%d n%d 1k\nC%d n%d 0 1p\n' % (i, i, i + 1, i, i + 1) for i in range(200))

    def setUp(self):
        super().setUp()
        self.needs_plain(VSIM)

    def limited(self, text):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))
        return self.vsim(self.deck(self.LADDER + text), '--interpret', '--threads', '1', code=7,
                         preexec_fn=limit)

    def test_a_transient_with_measures_keeps_its_points(self):
        done = self.limited('.tran 1n 10m\n.meas tran m deriv v(n9) at=1m\n' + ''.join(
            '.meas tran m%d max v(n%d)\n' % (i, i) for i in range(1, 200)) + '.end\n')
        self.assertIn('error: out of memory', done.stderr)
        self.assertNotIn('m1 ', done.stdout)
        self.assertGreater(len(waves.read_raw(self.path('deck.raw'))), 10000)

    def test_a_block_ends_without_a_cut_waveform(self):
        done = self.limited('.control\ntran 1n 10m\nwrite all.raw\n.endc\n.end\n')
        self.assertIn('error: out of memory', done.stderr)
        self.assertFalse(os.path.exists(self.path('all.raw')))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
