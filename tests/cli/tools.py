#!/usr/bin/env python3
"""vsim analyze and vsim profile as users and programs meet them.   tools.py VSIM [test...]"""
import csv
import json
import os
import re
import subprocess
import sys
import unittest
import xml.dom.minidom

import folder

VSIM = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')

DIODES = """rectifier
V1 in 0 SIN(0 5 10k)
R1 in a 10
D1 a out dm
X1 out load
C1 out 0 100n
.subckt load p
R1 p 0 1k
D2 p 0 dm
.ends
.model dm d(is=1e-14)
.tran 1u 300u
.end
"""
PULSE = """steps
V1 in 0 PULSE(0 1 1u 1n 1n 5u 10u)
R1 in out 1k
C1 out 0 1n
.tran 10n 40u
.end
"""
LADDER = 'ladder\nV1 n0 0 1\n' + ''.join('R%d n%d n%d 1k\nC%d n%d 0 1p\n' % (i, i, i + 1, i, i + 1)
                                         for i in range(300)) + '.tran 1n 20n\n.end\n'
HEAD = '%%MatrixMarket matrix coordinate '


class Tool(folder.Folder):
    def vsim(self, *args, code=0):
        done = subprocess.run([VSIM, *args], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


def grid(k):
    entries = []
    for v in range(k * k):
        entries.append((v + 1, v + 1))
        if v % k:
            entries.append((v + 1, v))
        if v >= k:
            entries.append((v + 1, v + 1 - k))
    return HEAD + 'pattern symmetric\n%d %d %d\n' % (k * k, k * k, len(entries)) + \
        ''.join('%d %d\n' % e for e in entries)


class Analyze(Tool):
    def test_a_grid_has_the_known_figures(self):
        self.write('grid.mtx', grid(20))
        r = json.loads(self.vsim('analyze', '--json', 'grid.mtx').stdout)
        self.assertEqual((r['unknowns'], r['entries'], r['structural_rank']), (400, 400 + 4 * 20 * 19, 400))
        self.assertEqual((r['bandwidth'], r['blocks']['number']), (20, 1))
        self.assertEqual(r['symmetry']['with_partner'], r['symmetry']['off_diagonal'])
        orders = {o['ordering']: o for o in r['orderings']}
        for name in ('amd', 'natural', 'rcm', 'nd'):  # diagonal pivots: KLU makes what was counted
            o = orders[name]
            self.assertEqual(o['klu']['lnz'], o['nnz_l'], name)
            self.assertEqual(o['klu']['unz'], o['nnz_l'], name)
            self.assertEqual(o['klu']['flops'], o['flops'], name)
        self.assertLess(orders['amd']['nnz_lu'], orders['natural']['nnz_lu'])
        levels = orders['amd']['level_sets']
        self.assertEqual(sum(s[0] for s in levels), 400)
        self.assertAlmostEqual(sum(s[1] for s in levels), orders['amd']['flops'])

    def test_level_sets_are_csv(self):
        self.write('grid.mtx', grid(8))
        rows = [line.split(',') for line in self.vsim('analyze', '--csv', '--order', 'natural', 'grid.mtx').stdout.split()]
        self.assertEqual(rows[0][:3], ['level', 'columns', 'flops'])
        self.assertEqual([r[1] for r in rows[1:]], ['1'] * 64)  # a band is a path
        self.assertEqual(rows[-1][4], '64')

    def test_a_deck_tells_of_stamps_and_stability(self):
        self.write('d.sp', DIODES)
        text = self.vsim('analyze', 'd.sp').stdout
        for part in ('Jacobian at 0.0003 s', 'structural rank', 'amd', 'colamd', 'elimination forest', 'devices per entry',
                     'colours', 'the pattern is fixed'):
            self.assertIn(part, text)
        r = json.loads(self.vsim('analyze', '--json', 'd.sp').stdout)
        s = r['stability']
        self.assertGreater(s['loads'], 300)
        self.assertEqual(s['looked_at'], s['loads'])
        self.assertGreater(s['constant'], 0)
        self.assertLess(s['constant'], r['entries'])  # diodes change
        self.assertEqual(r['stamps']['most_on_row'], 4)  # out: d1, x1.r1, x1.d2, c1
        self.assertEqual(r['stamps']['full_row'], 'out')
        self.assertGreaterEqual(r['stamps']['colors'], 4)
        self.assertEqual(sum(b['entries'] for b in r['stamps']['devices_per_entry']), r['stamps']['entries'])

    def test_the_matrix_is_that_of_the_point(self):
        self.write('p.sp', PULSE)
        self.vsim('analyze', 'p.sp', '--at', 'op', '--mtx', 'op.mtx')
        self.vsim('analyze', 'p.sp', '--at', '21u', '--mtx', 'at.mtx')
        names = dict(re.findall(r'^% (\d+) (\S+)$', self.read('op.mtx'), re.M))
        out = [k for k, v in names.items() if v == 'out'][0]

        def entry(name):
            return float(re.search(r'^%s %s (\S+)$' % (out, out), self.read(name), re.M).group(1))

        self.assertAlmostEqual(entry('op.mtx'), 1e-3)  # 1/R; no alpha C
        step = float(re.search(r'step (\S+) s', self.read('at.mtx')).group(1))
        self.assertIn('Jacobian at 2.1e-05 s', self.read('at.mtx'))
        ratio = (entry('at.mtx') - 1e-3) * step / 1e-9
        self.assertTrue(1 <= ratio < 4, ratio)  # alpha h: 2 of the trapezoidal rule, 1/0.29 of SDIRK2
        again = json.loads(self.vsim('analyze', '--json', 'at.mtx').stdout)
        deck = json.loads(self.vsim('analyze', '--json', '--at', '21u', 'p.sp').stdout)
        for key in ('unknowns', 'entries', 'blocks', 'bandwidth', 'orderings'):
            self.assertEqual(again[key], deck[key], key)

    def test_the_run_ends_where_at_says(self):
        self.write('d.sp', DIODES)
        short = json.loads(self.vsim('analyze', '--json', '--at', '10u', 'd.sp').stdout)
        full = json.loads(self.vsim('analyze', '--json', 'd.sp').stdout)
        self.assertLess(short['stability']['loads'], full['stability']['loads'] / 5)
        self.assertIn('ended before 1 s', self.vsim('analyze', '--at', '1', 'd.sp').stderr)

    def test_pictures_are_small_and_valid(self):
        self.write('grid.mtx', grid(120))
        self.vsim('analyze', '--svg', 'a.svg', 'grid.mtx')
        xml.dom.minidom.parse(self.path('a.svg'))
        self.assertLess(os.path.getsize(self.path('a.svg')), 300000)
        self.assertIn('one cell: 90 x 90 entries', self.read('a.svg'))

    def test_singular_and_complex_matrices(self):
        self.write('s.mtx', HEAD + 'real general\n3 3 2\n1 1 1\n2 2 1\n')
        r = json.loads(self.vsim('analyze', '--json', 's.mtx').stdout)
        self.assertEqual(r['structural_rank'], 2)
        self.assertEqual(r['orderings'][0]['klu']['state'], 'singular')
        self.write('c.mtx', HEAD + 'complex hermitian\n2 2 3\n1 1 2 0\n2 1 1 1\n2 2 2 0\n')
        self.assertEqual(json.loads(self.vsim('analyze', '--json', 'c.mtx').stdout)['entries'], 4)
        self.assertIn('complex', self.vsim('analyze', '--mtx', 'x.mtx', 'c.mtx', code=1).stderr)

    def test_wrong_files_and_options_are_told(self):
        self.write('bad.mtx', HEAD + 'real general\n2 2 2\n1 1 1\n5 1 1\n')
        err = self.vsim('analyze', 'bad.mtx', code=1).stderr
        self.assertIn('bad.mtx:4:1: error: a row must lie between 1 and 2', err)
        self.assertIn('4 | 5 1 1', err)
        self.write('g.mtx', grid(3))
        self.assertIn("did you mean 'colamd'", self.vsim('analyze', '--order', 'colamb', 'g.mtx', code=1).stderr)
        self.assertIn('--at', self.vsim('analyze', '--at', '1u', 'g.mtx', code=2).stderr)
        self.assertIn('overwrit', self.vsim('analyze', '--svg', 'g.mtx', 'g.mtx', code=1).stderr)
        self.assertIn('only analyze', self.vsim('--svg', 'x', 'g.mtx', code=2).stderr)
        self.assertIn('only profile', self.vsim('analyze', '--trace', 'x', 'g.mtx', code=2).stderr)
        self.write('d.sp', DIODES)
        self.assertIn("'op' or a time", self.vsim('analyze', '--at', 'noon', 'd.sp', code=1).stderr)
        self.vsim('analyze', 'none.mtx', code=4)


class Profile(Tool):
    def profile(self, deck, *args):
        return json.loads(self.vsim('profile', '--json', *args, deck).stdout)

    def test_phases_add_up(self):
        r = self.profile(self.write('l.sp', LADDER))
        phases = {p['phase']: p for p in r['phases']}
        self.assertEqual(set(phases), {'evaluate', 'stamp', 'load, rest', 'convergence test', 'factor', 'refactor', 'solve',
                                       'predict', 'truncation error', 'products', 'output', 'other'})
        self.assertAlmostEqual(sum(p['seconds'] for p in r['phases']), r['seconds'], delta=1e-6 + 1e-3 * r['seconds'])
        self.assertGreaterEqual(phases['evaluate']['calls'], r['iterations'])
        for name in ('evaluate', 'stamp', 'solve'):
            self.assertGreater(phases[name]['seconds'], 0, name)
        self.assertGreater(sum(g['instances'] for g in r['groups']), 599)

    def test_shooting_has_a_line_for_its_products(self):
        r = self.profile(self.write('p.sp', 'rectifier\nv1 in 0 sin(0 2 1meg)\nd1 in out dm\nr1 out 0 1k\nc1 out 0 10n\n'
                                            '.model dm d is=1e-14\n.pss 1meg 0 out 65 4 method=shooting\n.end\n'))
        calls = {p['phase']: p['calls'] for p in r['phases']}
        self.assertGreater(calls['products'], 100)  # one for each stage of each pass, two stages for each of some 100 steps
        self.assertGreaterEqual(calls['solve'], calls['products'])  # an update of each stage
        self.assertGreaterEqual(calls['load, rest'], calls['products'])

    def test_a_kernel_of_several_models_names_them(self):
        folder = os.path.join(ROOT, 'netlists')
        with open(os.path.join(folder, 'ring.sp')) as f:
            self.write('ring.sp', f.read().replace('.tran 0.05n 1u', '.tran 0.05n 2n'))
        ring, = [g for g in self.profile('ring.sp', '-I', folder)['groups'] if g['model'] == 'PSP103VA']
        self.assertEqual((ring['joined'], ring['models']), (2, ['psp103p', 'psp103n']))
        self.assertRegex(self.vsim('profile', '-I', folder, 'ring.sp').stdout,
                         r'PSP103VA +xu1.xmp.nm +18 .*\n +one kernel for the models psp103p, psp103n\n')

    def test_points_and_iterations_are_those_of_the_run(self):
        self.write('d.sp', DIODES)
        r = self.profile('d.sp')
        self.vsim('-q', '--no-output', '--stats', 's.json', 'd.sp')
        s = json.loads(self.read('s.json'))
        self.assertEqual(r['accepted'], s['points_accepted'])
        self.assertEqual(sum(r['rejected'].values()), s['points_rejected'])
        self.assertEqual(r['iterations'], s['newton_iterations'])
        self.assertEqual(sum(r['iterations_of_a_point'].values()), r['accepted'])
        self.assertEqual(sum(b['points'] for b in r['steps']), r['accepted'])
        self.assertEqual(sum(b['accepted'] for b in r['history']), r['accepted'])
        self.assertEqual(sum(b['rejected'] for b in r['history']), s['points_rejected'])
        self.assertEqual(r['static_points'], 1)
        known = {'in', 'a', 'out', 'v1#branch'}
        for what, top in r['decided'].items():
            self.assertLessEqual(len(top), 10)
            self.assertEqual(sorted((t['times'] for t in top), reverse=True), [t['times'] for t in top], what)
            for t in top:
                self.assertTrue(t['unknown'] in known or '#' in t['unknown'], t)
        self.assertGreater(r['steps_by_error'], 10)
        diodes = [g for g in r['groups'] if g['model'] == 'diode']
        self.assertEqual(sum(g['instances'] for g in diodes), 2)
        loads = [p for p in r['phases'] if p['phase'] == 'evaluate'][0]['calls']
        self.assertEqual(sum(g['evaluations'] for g in diodes), 2 * loads)

    def test_corners_and_rejections_are_counted(self):
        r = self.profile(self.write('p.sp', PULSE))
        self.assertGreaterEqual(r['at_corners'], 15)  # four in each of four periods, and the end
        self.assertLessEqual(r['at_corners'], 18)
        self.assertTrue(all(g['joined'] == 1 for g in r['groups']))
        text = self.vsim('profile', 'p.sp').stdout
        self.assertNotIn('one kernel for', text)
        for part in ('phase', 'evaluate', 'iterations of a point', 'rejected:', 'least step', 'decided'):
            self.assertIn(part, text)

    def test_an_analysis_behind_a_transient_leaves_what_is_of_it(self):
        alone = self.profile(self.write('p.sp', PULSE), '--svg', 'alone.svg')
        more = self.profile(self.write('more.sp', PULSE.replace('.end', '.ac dec 1 1k 1meg\n.op\n.end')), '--svg', 'more.svg')
        self.assertTrue(alone['history'])
        self.assertEqual(more['history'], alone['history'])
        self.assertEqual(more['activity']['over_time'], alone['activity']['over_time'])
        self.assertEqual(self.read('more.svg'), self.read('alone.svg'))
        self.write('op.sp', re.sub('\n.tran.*', '\n.op', PULSE))
        self.vsim('profile', '--svg', 'more.svg', 'op.sp', code=4) # has nothing to draw, and keeps what is there
        self.assertEqual(self.read('more.svg'), self.read('alone.svg'))

    def test_steps_of_each_transient_are_a_plot(self):
        """Also where the first step of the second one ends behind the first one, and without a point at rest between."""
        rc = 'two\nv1 a 0 sin(0 1 1k)\nr1 a b 1k\nc1 b 0 1u\n.tran 1p 1n%s\n.tran 10u 10m%s\n.end\n'
        for uic in '', ' uic':
            self.vsim('profile', '--steps', 's.raw', self.write('two.sp', rc % (uic, uic)))
            with open(self.path('s.raw'), 'rb') as f:
                points = [int(n) for n in re.findall(rb'No. Points: *(\d+)', f.read())]
            self.assertEqual(len(points), 2)
            self.assertGreater(min(points), 10)

    def test_families_are_not_looked_at(self):
        deck = self.write('f.sp', PULSE.replace('1k', '{r}').replace('.end', '.param r=1k\n.step param r 1k 2k 1k\n.end'))
        for tool in 'profile', 'analyze':
            self.assertIn('.step, .mc and .alter cards', self.vsim(tool, deck).stderr)
            self.assertNotIn('.step', self.vsim(tool, self.write('p.sp', PULSE)).stderr)

    def test_threads_tell_what_they_did(self):
        deck = self.write('l.sp', LADDER)
        one = self.profile(deck, '--threads', '1')['threads']
        self.assertEqual((one['n'], one['shared']), (1, 0))
        self.assertIn('no phase is large enough to be shared', self.vsim('profile', '--threads', '2', deck).stdout)
        env = dict(os.environ, VSIM_PARALLEL_MIN='1')
        many = subprocess.run([sys.executable, os.path.join(ROOT, 'bench', 'extracted.py'), 'chain', '200', '--tran', '2p 20p',
                               '--folder', os.path.join(ROOT, 'netlists')], check=True, capture_output=True, text=True).stdout
        run = [VSIM, 'profile', '--threads', '3', os.path.abspath(self.path(self.write('m.sp', many)))]
        r = json.loads(subprocess.run([*run, '--json'], env=env, check=True, capture_output=True, text=True).stdout)
        t = r['threads']
        self.assertEqual(t['n'], 3)
        self.assertAlmostEqual(t['shared'] + t['alone'], r['seconds'], delta=1e-3 * r['seconds'])
        self.assertAlmostEqual(sum(p['shared'] for p in t['phases']), t['shared'], delta=1e-6)
        phases = {p['phase']: p for p in t['phases']}
        for name in ('evaluate', 'stamp'):
            self.assertGreater(phases[name]['jobs'], 0, name)
            self.assertEqual(len(phases[name]['busy']), 3)
            self.assertGreater(sum(phases[name]['busy']), 0)
            self.assertLessEqual(phases[name]['busy'][0], phases[name]['shared'])
        text = subprocess.run(run, env=env, check=True, capture_output=True, text=True).stdout
        self.assertRegex(text, r'thread 3 .*s\n +shared jobs')
        self.assertRegex(text, r'without waiting 3 threads take .*s, [0-9.]+ times as fast as one')
        self.a_model_of_threads(run[2:], env, t)

    def a_model_of_threads(self, args, env, real):
        """--as-if: one thread works; each of the others has a clock."""
        run = [VSIM, 'profile', '--as-if', *args]
        r = json.loads(subprocess.run([*run, '--json'], env=env, check=True, capture_output=True, text=True).stdout)
        t = r['threads']
        self.assertTrue(t['as_if'] and not real['as_if'])
        self.assertEqual([p['jobs'] for p in t['phases']], [p['jobs'] for p in real['phases']])
        for p in t['phases']:  # no thread works longer than the jobs last, nor all longer than the one that does it
            self.assertLessEqual(max(p['busy']), p['shared'] * (1 + 1e-8))  # printed with nine digits
            self.assertLessEqual(sum(p['busy']), p['taken'] * (1 + 1e-8))
        self.assertLess(t['alone'], r['seconds'])
        text = subprocess.run(run, env=env, check=True, capture_output=True, text=True).stdout
        self.assertRegex(text, r'3 threads would take .*s, [0-9.]+ times as fast as one')
        self.assertIn('only profile', self.vsim('--as-if', args[-1], code=2).stderr)
        self.assertIn('--threads N', self.vsim('profile', '--as-if', args[-1], code=2).stderr)

    def test_newton_rejections_are_told_apart(self):
        deck = 'few iterations\nV1 in 0 SIN(0 5 1k)\nD1 in out dm\nR1 out 0 1k\nC1 out 0 1n\n.model dm d(is=1e-14)\n' \
            '.options itl4=2 reltol=1e-9 vntol=1e-12 abstol=1e-18 trtol=1e6\n.tran 10u 2m\n.end\n'
        self.assertGreater(self.profile(self.write('n.sp', deck))['rejected']['newton'], 0)

    def test_steps_over_time_add_up_to_the_totals(self):
        deck = self.write('d.sp', DIODES)
        self.vsim('profile', deck, '--steps', 's.raw', '-r', 'd.raw')
        self.vsim('convert', 's.raw', 's.csv')
        with open(self.path('s.csv'), newline='') as f:
            rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(f)]
        r = self.profile(deck)
        self.assertEqual(len(rows), r['accepted'])
        self.assertEqual(sum(p['rejected'] for p in rows), sum(r['rejected'].values()))
        self.assertEqual(sum(p['not_converged'] for p in rows), r['rejected']['newton'])
        for a, b in zip(rows, rows[1:]):
            self.assertAlmostEqual(b['time'] - a['time'], b['step'], delta=1e-9 * b['time'])
        self.assertIn("'s.raw' cannot be written", self.vsim('profile', deck, '--steps', 's.raw', '-r', 's.raw', code=4).stderr)
        self.assertIn('only profile', self.vsim('--steps', 's.raw', deck, code=2).stderr)
        self.assertIn('--steps', self.vsim('profile', '--view', deck, code=2).stderr)

    def idle_deck(self, still):
        """Chains of inverters behind one source each, of which all but one stand still."""
        out = ['chains', '.option bypass=1', '.model n nmos level=1 kp=100u vto=0.5 tox=10n',
               '.model p pmos level=1 kp=50u vto=-0.5 tox=10n', 'vdd vdd 0 2']
        for c in range(still + 1):
            out.append('v%d n%d_0 0 %s' % (c, c, 'pulse(0 2 1n 1n 1n 3n 10n)' if c == 0 else '0'))
            for k in range(30):
                a, b = 'n%d_%d' % (c, k), 'n%d_%d' % (c, k + 1)
                out += ['mn%d_%d %s %s 0 0 n w=2u l=1u' % (c, k, b, a), 'mp%d_%d %s %s vdd vdd p w=4u l=1u' % (c, k, b, a),
                        'c%d_%d %s 0 5f' % (c, k, b)]
        return '\n'.join(out + ['.tran 50p 40n', '.end', ''])

    def test_activity_is_that_of_what_moves(self):
        r = self.profile(self.write('i.sp', self.idle_deck(9)))
        a = r['activity']
        self.assertEqual(a['over_time'][-1]['to'], 4e-8)
        self.assertLess(len(a['over_time']), 513)
        for k in ('devices', 'unknowns', 'factor columns'):
            self.assertGreater(a[k], 0)
            self.assertLessEqual(max(s[k] for s in a['over_time']), 1)
        self.assertLess(a['devices'], 1)  # at rest nothing is evaluated
        text = self.vsim('profile', 'i.sp', '--svg', 'i.svg').stdout
        self.assertRegex(text, r'worked on, in the mean of all iterations: [\d.]+ % of the devices, [\d.]+ % of the unknowns, '
                               r'[\d.]+ % of the factor columns')
        svg = self.read('i.svg')
        for word in ('devices', 'unknowns', 'factor columns', 'worked on'):
            self.assertIn(word, svg)
        self.assertEqual(self.events('i.sp')[0]['ph'], 'X')

    def test_without_bypass_all_is_worked_on(self):
        a = self.profile(self.write('i.sp', self.idle_deck(1).replace('bypass=1', 'bypass=0')))['activity']
        self.assertEqual((a['devices'], a['unknowns']), (1, 1))
        self.assertIn('only analyze and profile', self.vsim('--svg', 'i.svg', 'i.sp', code=2).stderr)

    def events(self, deck):
        self.vsim('profile', '--trace', 't.json', deck)
        t = json.loads(self.read('t.json'))
        for e in t['traceEvents']:
            if e['ph'] == 'C':  # a counter
                self.assertEqual(set(e['args']), {'devices', 'unknowns', 'factor columns'})
                continue
            self.assertEqual(e['ph'], 'X')
            self.assertGreaterEqual(e['ts'], 0)
            self.assertGreaterEqual(e['dur'], 0)
        return [e for e in t['traceEvents'] if e['ph'] == 'X']

    def test_the_trace_nests(self):
        e = self.events(self.write('d.sp', DIODES))
        kind = {k: [x for x in e if x['cat'] == k] for k in ('point', 'iteration', 'phase')}
        r = self.profile('d.sp')
        self.assertEqual(len(kind['iteration']), r['iterations'])
        self.assertEqual(len(kind['point']), r['accepted'] + sum(r['rejected'].values()) + 1)
        self.assertEqual({x['name'] for x in kind['phase']} - {'factor', 'refactor'},
                         {'load', 'convergence test', 'solve', 'predict', 'truncation error'})  # nothing takes points
        points = [(x['ts'], x['ts'] + x['dur']) for x in kind['point']]
        for inner in kind['iteration'] + [x for x in kind['phase'] if x['name'] in ('load', 'solve', 'predict')]:
            mid = inner['ts'] + inner['dur'] / 2
            if mid <= points[-1][1]:
                self.assertTrue(any(a <= mid <= b for a, b in points), inner)

    def test_long_traces_stay_small(self):
        e = self.events(self.write('p.sp', PULSE.replace('.tran 10n 40u', '.tran 1n 60u 0 1n')))
        self.assertLess(os.path.getsize(self.path('t.json')), 10e6)
        chunks = [x for x in e if x['cat'] == 'points']
        self.assertGreater(len(chunks), 10)
        told = sum(1 for x in e if x['cat'] == 'point' and x['name'] != 'static point')
        r = self.profile('p.sp')
        self.assertEqual(told + sum(c['args']['points'] for c in chunks), r['accepted'] + sum(r['rejected'].values()))

    def test_results_are_written_on_request_only(self):
        self.write('p.sp', PULSE)
        self.vsim('profile', 'p.sp')
        self.assertFalse(os.path.exists(self.path('p.raw')))
        self.vsim('profile', '-r', 'p.raw', 'p.sp')
        self.assertGreater(os.path.getsize(self.path('p.raw')), 1000)
        self.assertIn('cannot be written', self.vsim('profile', '--trace', '/none/t', 'p.sp', code=4).stderr)
        self.assertIn('overwrit', self.vsim('profile', '--trace', 'p.sp', 'p.sp', code=1).stderr)

    def test_waveforms_do_not_depend_on_being_watched(self):
        self.write('d.sp', DIODES)
        self.vsim('-q', '--csv', '-r', 'a.csv', 'd.sp')
        self.vsim('profile', '--csv', '-r', 'b.csv', 'd.sp')
        self.assertEqual(self.read('a.csv'), self.read('b.csv'))


def main():
    global VSIM
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()


main()
