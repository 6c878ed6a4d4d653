#!/usr/bin/env python3
"""Every analysis in every way that the table of docs/analyses.md says that it has.

    analyses.py VSIM LIBVSIM [test...]      LIBVSIM: libvsim.so, or - for none

The table and CASES have the same rows; a cell of the table that says `yes` (or names a word) is run
here. Bounds: what a file, a measure and a table show is the number that the run computed (all its
digits in files, those that are printed in tables); a point of a family, and a run by the library,
is the run of the deck alone, to 1e-9 of the largest value of a vector, what options of speed may
change in last digits."""
import csv
import ctypes
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import unittest

import folder
import rawfile
from periodic_families import LOOP, OSCILLATOR, PORTS

VSIM = LIBRARY = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
DOCS = os.path.join(ROOT, 'docs')

DIODE = """diode
v1 in 0 dc 1 ac 1 sin(1 0.5 1meg) distof1 0.1
r1 in out {r}
d1 out 0 dd
c1 out 0 100p
.model dd d is=1e-14 n=1.5 cjo=1p kf=1e-16
"""
TWO = """two tones
v1 in a sin(0.5 0.2 1meg)
v2 a 0 sin(0 0.1 1.3meg)
r1 in out {r}
b1 out 0 i=1m*v(out)+0.1m*v(out)^2
c1 out 0 100p
"""
PAIR = """mismatch
v1 in 0 1 ac 1
r1 in out {r*(1+agauss(0,0.01,1))}
r2 out 0 {1k*(1+agauss(0,0.01,1))}
c1 out 0 1n
"""
STEADY, SPECTRUM = 'Periodic Steady State', 'Harmonic Balance'
HB = '.hb 1meg nharms=8'
OSC = '.hbosc tone=5meg nharms=7 probenode=a tstab=10u uic'
GRID = {'grid': 0, 'n_freq': 2, 'f_from': 1e3, 'f_to': 1e5}
ONE_TONE = {'kind': 9, 'tone': (1e6,), 'harmonics': (8,), 'n_tone': 1}
OSC_TONE = {'kind': 9, 'tone': (5e6,), 'harmonics': (7,), 'n_tone': 1, 'tstab': 10e-6, 'uic': True,
            'oscillator': True, 'probe': (b'a',)}
NOISE = dict(GRID, kind=11, out=b'v(out)', source=b'v1')


class Case:
    """A row of the table, or one more form of it.
       cards   the last is the analysis; before, what it needs
       plots   that the last card makes
       look    a vector of them, and of the second plot if there is one
       api     fields of vsim_analysis: of the cards that make a run, in their order"""

    def __init__(self, row, circuit, cards, plots, look, api, circuit_vectors=False):
        self.row, self.circuit, self.cards, self.plots = row, circuit, cards, plots
        self.look, self.api, self.circuit_vectors = look, api, circuit_vectors

    @property
    def card(self):
        return self.cards[-1]

    def deck(self, more='', r='1k'):
        return self.circuit + '.param r=%s\n' % r + '\n'.join(self.cards) + '\n' + more + '.end\n'

    def __str__(self):
        return self.card


def case(row, circuit, cards, plots, look, *api, **more):
    return Case(row, circuit, cards if isinstance(cards, list) else [cards], plots.split('; '),
                look.split(), api, **more)


def gradient(of, run, form, look, plots, api):
    return case('.sens %s' % of, DIODE, [run, '.meas %s g %s' % (of, form), '.sens %s g param=r c1 temp' % of],
                plots + 'Gradient of g', look, *api, {'kind': 6, 'out': ('%s g param=r c1 temp' % of).encode()})


CIRCUIT = {'circuit_vectors': True}
CASES = [
    case('.op', DIODE, '.op', 'Operating Point', 'v(out)', {'kind': 0}, **CIRCUIT),
    case('.dc', DIODE, '.dc v1 0 2 0.5', 'DC transfer characteristic', 'v(out)', None, **CIRCUIT),
    case('.tran', DIODE, '.tran 20n 1u', 'Transient Analysis', 'v(out)',
         {'kind': 2, 'tstep': 20e-9, 'tstop': 1e-6}, **CIRCUIT),
    case('.trannoise', DIODE, ['.trannoise fmax=1g seed=3', '.tran 20n 1u'], 'Transient Analysis', 'v(out)',
         {'kind': 2, 'tstep': 20e-9, 'tstop': 1e-6, 'device_noise': True, 'noise_fmax': 1e9, 'noise_seed': 3},
         **CIRCUIT),
    case('.ac', DIODE, '.ac dec 2 1k 100k', 'AC Analysis', 'v(out)', dict(GRID, kind=3), **CIRCUIT),
    case('.noise', DIODE, '.noise v(out) v1 dec 2 1k 100k 1',
         'Noise Spectral Density Curves; Integrated Noise', 'onoise_spectrum onoise_total',
         dict(NOISE, kind=4, summary=1)),
    case('.tf', DIODE, '.tf v(out) v1', 'Transfer Function', 'Transfer_function',
         {'kind': 5, 'out': b'v(out)', 'source': b'v1'}),
    case('.sens', DIODE, '.sens v(out)', 'Sensitivity Analysis', 'r1', {'kind': 6, 'out': b'v(out)'}),
    case('.sens', DIODE, '.sens v(out) ac dec 2 1k 100k', 'Sensitivity Analysis', 'r1',
         dict(GRID, kind=6, out=b'v(out)')),
    gradient('tran', '.tran 20n 1u', 'max v(out)', 'c1', 'Transient Analysis; ', ()),
    gradient('ac', '.ac dec 2 1k 100k', 'max vm(out)', 'c1', 'AC Analysis; ', ()),
    gradient('noise', '.noise v(out) v1 dec 2 1k 100k', 'max onoise_spectrum', 'temp',
             'Noise Spectral Density Curves; Integrated Noise; ', ()),
    gradient('op', '.op', 'find v(out)', 'temp', 'Operating Point; ', ()),
    gradient('dc', '.dc v1 0 2 0.5', 'max v(out)', 'temp', 'DC transfer characteristic; ', ()),
    case('.pz', DIODE, '.pz in 0 out 0 vol pz', 'Pole-Zero Analysis', 'pole(1)',
         {'kind': 7, 'into': (b'in', b'0'), 'out': b'v(out,0)'}),
    case('.sp', PORTS, '.sp dec 2 1k 100k donoise', 'SP Analysis', 'S_2_1', dict(GRID, kind=8, noise=True)),
    case('.disto', DIODE, '.disto dec 2 1k 100k', 'DISTORTION - 2nd harmonic; DISTORTION - 3rd harmonic',
         'v(out)', dict(GRID, kind=15), **CIRCUIT),
    case('.hb', DIODE, HB, STEADY + '; ' + SPECTRUM, 'v(out)', ONE_TONE, **CIRCUIT),
    case('.hb', TWO, '.hb 1meg 1.3meg nharms=3 3 intmodmax=4', SPECTRUM, 'v(out)',
         {'kind': 9, 'tone': (1e6, 1.3e6), 'harmonics': (3, 3), 'n_tone': 2, 'intmodmax': 4}, **CIRCUIT),
    case('.hbosc', OSCILLATOR, OSC, STEADY + '; ' + SPECTRUM, 'v(a)', OSC_TONE, **CIRCUIT),
    case('.pss', DIODE, '.pss 1meg 0 out 261 8', STEADY + '; ' + SPECTRUM, 'v(out)', ONE_TONE, **CIRCUIT),
    case('.pss', DIODE, '.pss 1meg 1u out 33 8 method=shooting', STEADY + '; ' + SPECTRUM, 'v(out)',
         dict(ONE_TONE, tstab=1e-6, points=33, shooting=True), **CIRCUIT),
    case('.pss', OSCILLATOR, '.pss 5meg 10u a 33 7 uic method=shooting integration=trap halvings=4',
         STEADY + '; ' + SPECTRUM, 'v(a)',
         dict(OSC_TONE, points=33, shooting=True, integration=1, halvings=4), **CIRCUIT),
    case('.hbac', DIODE, [HB, '.hbac dec 2 1k 100k sidebands=1'], 'Periodic AC Analysis', 'v(out)[-1]', ONE_TONE,
         dict(GRID, kind=10, sideband=1), **CIRCUIT),
    case('.hbnoise', DIODE, [HB, '.hbnoise v(out) v1 dec 2 1k 100k 1'], 'Periodic Noise', 'onoise_spectrum', ONE_TONE,
         dict(NOISE, summary=1)),
    case('.hbnoise modulated', DIODE, [HB, '.hbnoise v(out) v1 dec 2 1k 100k 1 sideband=1 modulated'],
         'Periodic Noise, Modulation; Modulation', 'pmnoise pm_total', ONE_TONE,
         dict(NOISE, summary=1, sideband=1, noise_form=1)),
    case('.hbnoise strobe', DIODE, [HB, '.hbnoise v(out) v1 dec 2 1k 100k strobe=0.3u'],
         'Periodic Noise, Samples; Sampled Noise', 'onoise_spectrum onoise_total', ONE_TONE,
         dict(NOISE, noise_form=2, noise_at=0.3e-6)),
    case('.hbnoise cross', DIODE, [HB, '.hbnoise v(out) v1 dec 2 1k 100k cross=0.7 fall=1'],
         'Periodic Noise, Samples; Sampled Noise', 'jitter_spectrum jitter', ONE_TONE,
         dict(NOISE, noise_form=3, noise_at=0.7, noise_edge=-1)),
    case('.phasenoise', OSCILLATOR, [OSC, '.phasenoise v(a) dec 2 1k 100k 1 sideband=3'], 'Phase Noise; Oscillator',
         'phnoise linewidth', OSC_TONE, dict(GRID, kind=11, out=b'v(a)', phase=True, summary=1, sideband=3)),
    case('.hbsp', PORTS, ['.hb 1meg nharms=4', '.hbsp dec 2 1k 100k harms=1 0 donoise'], 'Periodic SP Analysis', 'S_2_1',
         dict(ONE_TONE, harmonics=(4,)), dict(GRID, kind=18, noise=True, port_harmonic=(1, 0))),
    case('.hbxf', DIODE, [HB, '.hbxf v(out) dec 2 1k 100k sidebands=2 sideband=1'], 'Periodic Transfer Functions', 'v1[-1]',
         ONE_TONE, dict(GRID, kind=19, out=b'v(out)', sideband=1, sidebands=2)),
    case('.lstb', LOOP, '.lstb vsource=vp dec 2 1k 1g', 'Loop Stability; Stability Margins',
         'loopgain phase_margin', dict(GRID, kind=12, probe=(b'vp',), f_to=1e9)),
    case('.acxf', DIODE, '.acxf v(out) dec 2 1k 100k', 'AC Transfer Functions', 'v1', dict(GRID, kind=13, out=b'v(out)')),
    case('.dcxf', DIODE, '.dcxf v(out)', 'DC Transfer Functions', 'v1', {'kind': 14, 'out': b'v(out)'}),
    case('.dcmatch', PAIR, '.dcmatch v(out)', 'DC Mismatch', 'sigma', {'kind': 16, 'out': b'v(out)', 'threshold': 0.01}),
    case('.acmatch', PAIR, '.acmatch v(out) dec 2 1k 100k', 'AC Mismatch', 'sigma',
         dict(GRID, kind=17, out=b'v(out)', threshold=0.01)),
]
COLUMNS = ['card', '.meas .print', '.save', '.step .mc', '--jobs', '.control', 'files', 'Touchstone', 'libvsim']


def table():
    """{row: {column: cell}} of docs/analyses.md."""
    rows = {}
    with open(os.path.join(DOCS, 'analyses.md'), encoding='utf-8') as f:
        for line in f:
            cells = [c.strip().replace('`', '') for c in line.strip().strip('|').split('|')]
            if cells[0] == 'card' and cells == COLUMNS:
                for line in f:
                    cells = [c.strip().replace('`', '') for c in line.strip().strip('|').split('|')]
                    if len(cells) != len(COLUMNS):
                        return rows
                    if not cells[0].startswith('-'):
                        rows[cells[0]] = dict(zip(COLUMNS, cells))
    return rows


TABLE = table()


def real(v):
    return v.real if isinstance(v, complex) else v


class Cases(folder.Folder):
    def vsim(self, *args, code=0):
        done = subprocess.run([VSIM, *args], cwd=self.tmp.name, timeout=300, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_deck(self, text, *args, code=0):
        self.write('deck.sp', text)
        done = self.vsim('-r', 'out.raw', *args, 'deck.sp', code=code)
        left = [line for line in done.stderr.split('\n') if re.search('(error|warning):', line)]
        self.assertEqual(left, [])
        return done.stdout

    def raw(self, name='out.raw'):
        return rawfile.read_raw(self.path(name))

    def bytes(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def each(self, column, check):
        """check(case, cell) of the cases whose cell in the table is not '-'."""
        n = 0
        for c in CASES:
            cell = TABLE.get(c.row, {}).get(column, '-')
            if cell != '-':
                n += 1
                with self.subTest(card=c.card, circuit=c.circuit.split('\n')[0]):
                    check(c, cell)
        self.assertGreater(n, 0)

    def same(self, a, b):
        """Two lists of plots: names, vectors, values."""
        self.assertEqual([n for n, _ in a], [n for n, _ in b])
        for (name, x), (_, y) in zip(a, b):
            self.assertEqual(list(x), list(y), name)
            for v in y:
                self.assertEqual(len(x[v]), len(y[v]), v)
                most = max([abs(t) for t in y[v] if t == t], default=0)
                for s, t in zip(x[v], y[v]):
                    self.assertTrue(abs(s - t) <= 1e-9 * most or s == t or (s != s and t != t),
                                    '%s, %s: %r for %r' % (name, v, s, t))

    def looked_at(self, c, plots, command=False):
        """[(vector, its values)] as a card that looks at them finds them, or a command."""
        for v in c.look:
            having = [p for _, p in plots[-len(c.plots):] if v.lower() in [w.lower() for w in p]]
            plot = having[0 if c.row == '.pss' and not command else -1] # its waveform
            yield v, [x for w, x in plot.items() if w.lower() == v.lower()][0]


class Analyses(Cases):
    # -- the table --

    def test_the_table_has_all_rows_and_no_other(self):
        self.assertEqual(sorted(TABLE), sorted({c.row for c in CASES}))

    def test_every_card_and_kind_has_a_row(self):
        with open(os.path.join(ROOT, 'include', 'vsim', 'run.h'), encoding='utf-8') as f:
            enum = re.search(r'typedef enum vsim_kind \{(.*?)\}', f.read(), re.S).group(1)
        kinds = re.findall(r'VSIM_\w+', re.sub(r'/\*.*?\*/', '', enum, flags=re.S))
        told = {w for row in TABLE.values() for w in re.findall(r'VSIM_\w+', row['libvsim'])}
        self.assertEqual(told, set(kinds))
        used = {a['kind'] for c in CASES for a in c.api if a}
        self.assertEqual(used | {kinds.index('VSIM_DC')}, set(range(len(kinds))))
        with open(os.path.join(DOCS, 'analyses.md'), encoding='utf-8') as f:
            chapters = [line for line in f if line.startswith('#')]
        with open(os.path.join(DOCS, 'netlist.md'), encoding='utf-8') as f:
            netlist = f.read()
        for c in CASES:
            word = c.row.split()[0]
            self.assertTrue([h for h in chapters if re.search(re.escape(word) + r'\b', h)] or word in ('.op', '.dc', '.tran', '.ac'),
                            'no chapter about ' + word)
            self.assertTrue(re.search(re.escape(word) + r'\b', netlist), 'docs/netlist.md has no ' + word)

    # -- cells --

    def test_plots(self):
        for c in CASES:
            with self.subTest(card=c.card, circuit=c.circuit.split('\n')[0]):
                self.run_deck(c.deck())
                plots = self.raw()
                self.assertEqual([n for n, _ in plots][-len(c.plots):], c.plots)
                for v, x in self.looked_at(c, plots):
                    self.assertTrue(all(math.isfinite(abs(y)) for y in x) and any(x), v)

    def test_measures_and_tables(self):
        def check(c, word):
            cards = ''
            for k, v in enumerate(c.look):
                real_part = '%s' if '(' in v and v[1] == '(' else 're(%s)'
                cards += '.meas %s m%d %s %s\n' % (word, k, '%s', real_part % v)
                cards += '.print %s %s\n.plot %s %s\n' % (word, v, word, v)
            self.run_deck(c.deck())
            looked = list(self.looked_at(c, self.raw()))
            forms = tuple('max' if len(x) > 1 else 'find' for _, x in looked)
            said = self.run_deck(c.deck(cards % forms), '--measures', 'm.csv')
            with open(self.path('m.csv'), newline='', encoding='utf-8') as f:
                got = {line['name']: line for line in csv.DictReader(f)}
            self.run_deck(c.deck(cards % forms), '--measures', 'm.json')
            told = {m['name']: m['value'] for m in json.loads(self.read('m.json'))}
            for k, (v, x) in enumerate(looked):
                self.assertEqual(got['m%d' % k]['analysis'], word)
                value = float(got['m%d' % k]['value'])
                self.assertEqual(told['m%d' % k], value)
                self.assertLessEqual(abs(value - max(real(y) for y in x)), 1e-14 * abs(value), v)
                # both cards print the first value; in six digits of which one may be rounded
                first = [float(w) for w in re.findall(r'[-+]?\d\.\d+e[-+]\d+', said)]
                near = [w for w in first if abs(w - real(x[0])) <= 1e-5 * abs(real(x[0]))]
                self.assertGreaterEqual(len(near), 2, said)
        self.each('.meas .print', check)

    def test_choice_of_vectors(self):
        def check(c, _):
            v = re.sub(r'\[.*', '', c.look[0])
            self.run_deck(c.deck('.save %s\n' % v))
            for _, p in self.raw():
                vectors = [w for w in p if w.startswith(('v(', 'i('))]
                self.assertEqual({re.sub(r'\[.*', '', w) for w in vectors}, {v})
            self.run_deck(c.deck('.probe i(r1)\n'))
            for n, p in self.raw():
                self.assertTrue([w for w in p if w.startswith('i(r1)')] and [w for w in p if w.startswith(v)], (n, list(p)))
        self.each('.save', check)

    def test_families(self):
        def check(c, _):
            self.run_deck(c.deck())
            alone, n = self.raw(), len(self.raw())
            self.run_deck(c.deck('.temp 27 50\n', r='1.1k'))
            hot = [(re.sub(', .*= *', '', name), p) for name, p in self.raw()]
            self.run_deck(c.deck('.step param r 1k 1.1k 0.1k\n.step temp list 27 50\n'))
            steps = self.raw()
            self.assertEqual(len(steps), 4 * n)
            plain = [(re.sub(r', r=.*', '', name), p) for name, p in steps]
            self.same(plain[:n], alone)
            for part, other in ((plain[n:2 * n], hot[:n]), (plain[3 * n:], hot[n:])):
                self.same([('', p) for _, p in part], [('', p) for _, p in other])
            self.run_deck(c.deck('.alter more\n.param r=1.1k\n'))
            both = [('', p) for _, p in self.raw()]
            self.same(both, [('', p) for _, p in plain[:2 * n]])
            # samples: each is another r, and each runs
            self.run_deck(c.deck('.mc 2 seed=4\n', r='gauss(1k,0.1,3)'))
            a, b = self.raw()[:n], self.raw()[n:]
            self.assertEqual([re.sub('=1$', '=2', name) for name, _ in a], [name for name, _ in b])
            self.assertNotEqual([list(x) for _, x in self.looked_at(c, [(0, p) for _, p in a])],
                                [list(x) for _, x in self.looked_at(c, [(0, p) for _, p in b])])
        self.each('.step .mc', check)

    def test_workers_journals_and_shards(self):
        """--jobs, a kill (its journal ends in the middle of a line, its files behind), --resume, merge."""
        def check(c, _):
            deck = c.deck('.step param r list 1k 1.1k 1.2k 1.3k\n')
            self.run_deck(deck)
            whole = self.bytes('out.raw')
            self.vsim('-r', 'two.raw', '--jobs', '2', 'deck.sp')
            self.assertEqual(self.bytes('two.raw'), whole)
            for k in (1, 2):
                self.vsim('-r', 'part.%d' % k, '--shard', '%d/2' % k, 'deck.sp')
            part, journal = self.bytes('part.1'), self.bytes('part.1.journal')
            with open(self.path('part.1.journal'), 'wb') as f:
                f.write(journal[:-7])
            with open(self.path('part.1'), 'ab') as f:
                f.write(b'the point under way')
            self.vsim('-r', 'part.1', '--shard', '1/2', '--resume', 'deck.sp')
            self.assertEqual(self.bytes('part.1'), part)
            self.vsim('merge', 'all.raw', 'part.1', 'part.2')
            self.assertEqual(self.bytes('all.raw'), whole)
        self.each('--jobs', check)

    def test_commands(self):
        def check(c, _):
            self.run_deck(c.deck())
            plots = self.raw()
            names = c.look if len(c.look) < 2 else ['%s' % c.look[0], c.look[1]]
            deck = c.circuit + '.param r=1k\n'
            deck += ''.join(t + '\n' for t in c.cards[:-1] if t.startswith(('.meas', '.trannoise')))
            runs = [t for t in c.cards if not t.startswith(('.meas', '.trannoise'))]
            if c.card.startswith('.sens ') and c.row != '.sens':
                deck, runs = deck + runs[0] + '\n', runs[1:]  # gradients are of a run of the deck
            deck += '.control\n' + ''.join(t[1:] + '\n' for t in runs)
            for k, v in enumerate(names):
                deck += 'setplot previous\n' if len(names) > 1 and not k else ''
                deck += 'print %s\nlet y%d = %s\nwrite w%d.raw y%d\nplot %s\n' % (v, k, v, k, k, v)
                deck += 'setplot next\n' if len(names) > 1 and not k else ''
            self.write('deck.sp', deck + '.endc\n.end\n')
            done = self.vsim('--no-output', 'deck.sp')
            self.assertNotRegex(done.stderr, 'error|warning')
            for k, (v, x) in enumerate(self.looked_at(c, plots, True)):
                self.assertIn(v.lower(), done.stdout.lower())
                got = self.raw('w%d.raw' % k)[0][1]
                self.assertEqual([abs(a - b) <= 1e-9 * abs(b) for a, b in zip(got['y%d' % k], x)], [True] * len(x))
                self.assertIn('</svg>', self.read('deck_plot%d.svg' % (k + 1)))
        self.each('.control', check)

    def test_files_and_pictures(self):
        def check(c, _):
            self.run_deck(c.deck())
            plots = self.raw()
            self.write('deck.sp', c.deck())
            self.vsim('--ascii', '-r', 'text.raw', 'deck.sp')
            self.vsim('convert', 'text.raw', 'again.raw')
            self.same([('', p) for _, p in self.raw('again.raw')], [('', p) for _, p in plots])
            self.vsim('--csv', '-r', 'out.csv', 'deck.sp')
            with open(self.path('out.csv'), newline='', encoding='utf-8') as f:
                blocks = f.read().strip().split('\n\n')
            self.assertEqual(len(blocks), len(plots))
            for block, (_, p) in zip(blocks, plots):
                lines = list(csv.reader(block.split('\n')))
                complex_ones = {n[:-3] for n in lines[0] if n.endswith('.re')}
                self.assertEqual([n[:-3] if n[:-3] in complex_ones else n for n in lines[0] if not n.endswith('.im')],
                                 list(p))
                for n, column in zip(lines[0], zip(*lines[1:])):
                    x = p[n[:-3]] if n[:-3] in complex_ones else p[n]
                    part = [(y.imag if n.endswith('.im') else y.real) if isinstance(y, complex) else y for y in x]
                    self.assertEqual([str(float(t)) for t in column], [str(y) for y in part])
            v, number = c.look[-1], len(plots) # the last plot has it
            self.vsim('plot', 'out.raw', v, '--plot', str(number), '-o', 'x.svg')
            self.assertIn('</svg>', self.read('x.svg'))
            self.vsim('report', 'deck.sp', '-o', 'x.html', '-r', 'x.raw')
            self.same(self.raw('x.raw'), plots)
        self.each('files', check)

    def test_touchstone(self):
        def check(c, _):
            self.run_deck(c.deck(), '--touchstone', 's')
            name = 's%s.s2p' % ('' if c.row == '.sp' else c.row)
            lines = [t for t in self.read(name).split('\n') if t and t[0] not in '!#']
            s21 = [complex(*map(float, t.split()[3:5])) for t in lines]
            plot = self.raw()[-1][1]
            self.assertEqual([abs(a - b) <= 1e-9 * abs(b) for a, b in zip(s21, plot['S_2_1'])], [True] * len(lines))
            self.vsim('convert', name, 'back.raw') # by the program's own reader
            back = self.raw('back.raw')[0][1]
            self.assertEqual([x.real for x in back['frequency']], [x.real for x in plot['frequency']])
            for i, k in ((1, 1), (1, 2), (2, 1), (2, 2)):
                v = 'S_%d_%d' % (i, k)
                most = max(map(abs, plot[v]))
                self.assertEqual([abs(a - b) <= 1e-9 * most for a, b in zip(back[v], plot[v])], [True] * len(plot[v]))
        self.each('Touchstone', check)
        self.assertTrue([r for r in TABLE if TABLE[r]['Touchstone'] != '-'])

    # -- what is not in the table --

    def test_sidebands_have_their_names_in_expressions(self):
        c = [c for c in CASES if c.row == '.hbac'][0]
        self.run_deck(c.deck())
        p = self.raw()[-1][1]
        names = ['v(out)[-1]', 'v(out)[1]', 'v(in,out)[1]', 'vm(out)[-1]', '(v(out))[1]', 'v(out)[0]']
        want = [p['v(out)[-1]'][0], p['v(out)[1]'][0], p['v(in)[1]'][0] - p['v(out)[1]'][0], abs(p['v(out)[-1]'][0]),
                p['v(out)'][1], p['v(out)'][0]]
        meas = ''.join('.meas hbac m%d param="mag((%s)[0])"\n' % (k, n) for k, n in enumerate(names))
        self.run_deck(c.deck(meas), '--measures', 'm.json')
        for m, w in zip(json.loads(self.read('m.json')), want):
            self.assertLessEqual(abs(m['value'] - abs(w)), 1e-14 * abs(w), m)

    def test_gradients_have_the_names_of_their_measures(self):
        # a vector of each plot by the prefix, whichever was made last; over a family that of its point
        by = ['r1', 'dd(is)', '@d1[area]', 'temp']
        meas = ''.join('.meas sens %s%d find %s.%s\n' % (m, k, m, v) for m in ('top', 'mean') for k, v in enumerate(by))
        deck = (DIODE + '.param r=1k\n.tran 20n 1u\n.meas tran top max v(out)\n.meas tran mean avg v(out)\n'
                '.sens tran top mean param=%s\n' % ' '.join(by) + meas +
                '.meas sens ratio param="top.r1/mean.r1"\n.print sens TOP.r1 mean.r1\n')
        for more, n in (('', 1), ('.step param r list 1k 1.2k\n', 2)):
            said = self.run_deck(deck + more + '.end\n', '--measures', 'm.csv')
            with open(self.path('m.csv'), newline='', encoding='utf-8') as f:
                got = list(csv.DictReader(f)) # of a family a line for each point
            got = got if more else [{line['name']: line['value'] for line in got}]
            plots = [(name, p) for name, p in self.raw() if name.startswith('Gradient')]
            self.assertEqual((len(got), len(plots)), (n, 2 * n))
            for i in range(n):
                mine = {name: float(got[i][name]) for name in got[i] if name[-1].isdigit() or name == 'ratio'}
                for m, (name, p) in zip(('top', 'mean'), plots[2 * i:2 * i + 2]):
                    self.assertTrue(name.startswith('Gradient of ' + m))
                    for k, v in enumerate(by):
                        self.assertLessEqual(abs(mine[m + str(k)] - p[v][0]), 1e-14 * abs(p[v][0]))
                self.assertLessEqual(abs(mine['ratio'] * mine['mean0'] / mine['top0'] - 1), 1e-14)
            self.assertEqual(len(re.findall(r'(?im)^(top|mean)\.r1 = ', said)), 2 * n)

    def test_each_spectrum_is_measured(self):
        deck = ''.join('v%d %s 0 sin(0 %d 1meg)\nr%d %s 0 1k\n' % (k, n, k + 1, k, n) for k, n in enumerate('abcde'))
        deck += ''.join('.fft v(%s) np=256\n.meas fft m%s find vm(%s) at=1meg\n' % (n, n[0], n)
                        for n in ('a', 'b', 'c', 'e,a'))
        self.run_deck('spectra\n' + deck + '.tran 1n 8u 0 1n\n.end\n', '--measures', 'm.json')
        # samples come from cubics through steps of a thousandth of the period
        for k, m in enumerate(json.loads(self.read('m.json'))):
            self.assertLessEqual(abs(m['value'] / (k + 1) - 1), 1e-6)

    def test_wrong_cards(self):
        circuits = {n: globals()[n] for n in ('DIODE', 'PORTS', 'OSCILLATOR', 'LOOP', 'PAIR')}
        with open(os.path.join(ROOT, 'tests', 'data', 'bad_analyses.txt'), encoding='utf-8') as f:
            rows = [line.rstrip('\n') for line in f if line[0] != '#']
        for row in rows:
            circuit, place, rest = row.split(None, 2)
            cards, message = rest.split(' -> ')
            cards = cards.split(' / ')
            line, column = map(int, place.split(':'))
            with self.subTest(cards=cards):
                r = '' if any(t.startswith('.param') for t in cards) else '.param r=1k\n'
                head = circuits[circuit] + r
                self.write('deck.sp', head + '\n'.join(cards) + '\n.end\n')
                said = subprocess.run([VSIM, '--no-output', 'deck.sp'], cwd=self.tmp.name, timeout=300,
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL)
                kind = 'warning' if message.startswith('warning: ') else 'error'
                code = 0 if kind == 'warning' else 3 if 'no periodic' in message else 1
                self.assertEqual(said.returncode, code, said.stderr)
                first = re.search(r'deck\.sp:(\d+):(\d+): %s: .*\n.*\n +\| ( *)\^' % kind, said.stderr)
                self.assertTrue(first, said.stderr)
                at = int(first.group(1)) - head.count('\n')
                self.assertEqual((max(at, 0), int(first.group(2))), (line, column), said.stderr)
                self.assertEqual(len(first.group(3)), column - 1)
                for part in message.split(' | '):
                    self.assertIn(part, said.stderr)


# -- the library --

def load():
    path = os.path.join(ROOT, 'python', 'src', 'vsim', '_lib.py')
    spec = importlib.util.spec_from_file_location('_lib', path)
    lib = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lib)
    return lib, lib.Library(LIBRARY)


class Library(Cases):
    def setUp(self):
        super().setUp()
        if LIBRARY in ('', '-'):
            self.skipTest('no library')
        self.lib, self.dll = load()
        s = self.lib.Settings()
        self.dll.settings_init_size(ctypes.byref(s), ctypes.sizeof(s))
        s.models = os.environ.get('VSIM_MODELS', os.path.join(ROOT, 'models')).encode()
        cache = ctypes.create_string_buffer(4096)
        if self.dll.cache_folder(os.environ.get('XDG_CACHE_HOME', '').encode() or None,
                                 os.environ.get('HOME', '').encode(), cache, len(cache)):
            s.cache = cache.value
        self.sim = ctypes.c_void_p()
        self.ok(self.dll.new(ctypes.byref(self.sim), ctypes.byref(s)))
        self.addCleanup(self.dll.free, ctypes.byref(self.sim))

    def ok(self, status, wanted=0):
        n, text = ctypes.c_size_t(), ''
        if status != wanted and self.sim:
            p = ctypes.cast(self.dll.messages(self.sim, ctypes.byref(n)), ctypes.POINTER(self.lib.Message))
            text = '\n'.join(p[i].text.decode() for i in range(n.value))
        self.assertEqual(status, wanted, text)

    def struct(self, fields):
        a = self.lib.Analysis()
        a.size = ctypes.sizeof(a)
        for key, value in fields.items():
            if key == 'port_harmonic':
                a.port_harmonic = (ctypes.c_int64 * len(value))(*value)
                a.n_port_harmonic = len(value)
            elif isinstance(value, tuple):
                for i, v in enumerate(value):
                    getattr(a, key)[i] = v
            else:
                self.assertTrue(hasattr(a, key), key)
                setattr(a, key, value)
        return a

    def plots_of(self, run):
        plots = []
        for i in range(self.dll.run_plot_count(run)):
            p, vectors, v = self.dll.run_plot(run, i), {}, self.lib.Vector()
            for k in range(self.dll.plot_vector_count(p)):
                self.assertTrue(self.dll.plot_vector(p, k, ctypes.byref(v)))
                width = 2 if v.complex_values else 1
                x = ctypes.cast(v.v, ctypes.POINTER(ctypes.c_double))[:v.n * width]
                vectors[v.name.decode()] = [complex(*x[2 * j:2 * j + 2]) for j in range(v.n)] if width == 2 else x
            plots.append((self.dll.plot_name(p).decode(), vectors))
        return plots

    def one(self, deck, make):
        """The plots of a run, its measures of the deck."""
        run = ctypes.c_void_p()
        self.ok(make(ctypes.byref(run)))
        self.ok(self.dll.run_go(run))
        plots = self.plots_of(run)
        m, measures, v = self.lib.Measured(), {}, self.lib.Vector()
        for i in range(self.dll.run_measured_count(run)):
            self.dll.run_measured(run, i, ctypes.byref(m))
            measures[m.name.decode()] = m.value
        for _, p in plots:
            for name in p:
                self.ok(self.dll.run_vector(run, name.encode(), ctypes.byref(v)))
        self.dll.run_free(ctypes.byref(run))
        return plots, measures

    def deck(self, text):
        d, raw = ctypes.c_void_p(), text.encode()
        self.ok(self.dll.deck_text(self.sim, b'deck.sp', raw, len(raw), None, ctypes.byref(d)))
        return d

    @staticmethod
    def real_axis(plots):
        """Files keep the axis of a complex plot as complex numbers."""
        return [(n, {v: [real(y) for y in x] if k == 0 else x for k, (v, x) in enumerate(p.items())}) for n, p in plots]

    def compare(self, got, plots):
        self.same(self.real_axis(got), self.real_axis(plots))

    def test_structs_cards_and_cards_of_the_deck(self):
        def check(c, _):
            word = TABLE[c.row]['.meas .print']
            v = c.look[-1]
            self.run_deck(c.deck())
            plots = self.raw()
            looked = list(self.looked_at(c, plots))[-1]
            form = '%s re(%s)' % ('max' if len(looked[1]) > 1 else 'find', v)
            text = c.deck('.meas %s wanted %s\n' % (word, form))
            by_card, by_struct, by_deck = [], [], []
            d = self.deck(text)
            for i in range(self.dll.deck_card_count(d)):
                p, m = self.one(d, lambda r: self.dll.run_deck_card(d, i, None, r))
                by_deck += p
            self.assertLessEqual(abs(m['wanted'] - max(map(real, looked[1]))), 1e-9 * abs(m['wanted']))
            self.compare(by_deck, plots)
            cards = [t for t in c.cards if not t.startswith(('.meas', '.trannoise'))]
            d = self.deck(text)
            for t in cards:
                by_card += self.one(d, lambda r: self.dll.run_card(d, t[1:].encode(), None, r))[0]
            self.compare(by_card, plots)
            if None in c.api:
                return # arrays of values: tests/lib/test_structs.c
            d = self.deck(text.replace(c.cards[0], '') if c.row == '.trannoise' else text)
            for a in c.api:
                by_struct += self.one(d, lambda r: self.dll.run_analysis(d, ctypes.byref(self.struct(a)), None, r))[0]
            self.compare(by_struct, plots[-len(by_struct):])
            self.assertGreaterEqual(len(by_struct), len(c.plots) - 2 * (c.row.startswith('.sens ')))
        self.each('libvsim', check)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    LIBRARY = sys.argv.pop(1)
    LIBRARY = LIBRARY if LIBRARY == '-' else os.path.abspath(LIBRARY)
    unittest.main()
