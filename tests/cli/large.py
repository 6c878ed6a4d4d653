#!/usr/bin/env python3
"""Size: methods of linear solution, threads, long and deep decks.   large.py VSIM [test...]"""
import json
import os
import random
import re
import subprocess
import sys
import unittest

import folder

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
sys.path.insert(0, os.path.join(HERE, '..', 'golden'))
import waves  # noqa: E402
sys.path.insert(0, os.path.join(ROOT, 'bench'))
import drift  # noqa: E402

VSIM = ''
BENCH = os.path.join(ROOT, 'bench')
MODELS = os.path.join(ROOT, 'netlists', 'psp103_models.inc')


def generated(script, *args):
    return subprocess.run([sys.executable, os.path.join(BENCH, script), *args], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


class Folder(folder.Folder):
    def vsim(self, text, *args, code=0, raw='out.raw', command=(), **environment):
        """Runs a deck; gives the text of its messages, the figures of the run, the path of its results."""
        self.write('deck.sp', text)
        done = subprocess.run([VSIM, *command, '-r', raw, '--stats', 'stats.json', *args, 'deck.sp'], cwd=self.tmp.name,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280,
                              env=dict(os.environ, **environment))
        self.assertEqual(done.returncode, code, done.stdout[-3000:])
        stats = None
        if os.path.exists(self.path('stats.json')):
            with open(self.path('stats.json')) as f:
                stats = json.load(f)
        return done.stdout, stats, self.path(raw)

    def bits(self, path):
        with open(path, 'rb') as f:
            return re.sub(rb'Date:[^\n]*', b'', f.read())


def multiplier(bits, analysis, form='--deck'):
    return re.sub(r'(?m)^\.tran.*', analysis, generated('mult.py', str(bits), form, '--models', MODELS))


class Threads(Folder):
    def test_results_are_the_same_bits_for_any_number(self):
        deck = multiplier(6, '.tran 2p 60p uic')
        _, one, ref = self.vsim(deck, '--threads', '1')
        for n in ('2', '3'):
            _, many, out = self.vsim(deck, '--threads', n, raw=n + '.raw', VSIM_PARALLEL_MIN='1')
            self.assertEqual(self.bits(out), self.bits(ref))
            self.assertEqual(many['newton_iterations'], one['newton_iterations'])
            self.assertEqual(many['device_evaluations'], one['device_evaluations'])

    def test_rows_of_wires_and_devices_are_summed_by_parts(self):
        """Several threads share the rows of a circuit: each row's sum has one order."""
        deck = generated('extracted.py', 'ring', '250', '--tran', '2p 40p', '--folder', os.path.dirname(MODELS))
        _, one, ref = self.vsim(deck, '--threads', '1')
        for n in ('2', '3', '5'):
            _, many, out = self.vsim(deck, '--threads', n, raw=n + '.raw', VSIM_PARALLEL_MIN='1')
            self.assertEqual(self.bits(out), self.bits(ref), n)
            self.assertEqual(many['newton_iterations'], one['newton_iterations'])

    def test_and_so_they_are_while_parts_are_latent(self):
        deck = generated('extracted.py', 'chain', '300', '--tran', '2p 0.2n', '--folder', os.path.dirname(MODELS))
        _, one, ref = self.vsim(deck, '--threads', '1')
        self.assertGreater(one['latent_unknowns'], 0)
        for n in ('2', '3'):
            _, many, out = self.vsim(deck, '--threads', n, raw=n + '.raw', VSIM_PARALLEL_MIN='1')
            self.assertEqual(self.bits(out), self.bits(ref), n)
            self.assertEqual(many['latent_unknowns'], one['latent_unknowns'])

    def test_the_option_says_the_same_as_the_argument(self):
        deck = multiplier(4, '.op\n.option threads=2')
        _, _, ref = self.vsim(multiplier(4, '.op'), '--threads', '1')
        _, _, out = self.vsim(deck, raw='two.raw', VSIM_PARALLEL_MIN='1')
        self.assertEqual(self.bits(out), self.bits(ref))
        text, _, _ = self.vsim(deck.replace('threads=2', 'threads=1.5'), code=1)
        self.assertIn('option threads=1.5: a whole number from 0 (automatic) to 1024 is needed', text)


def wires(first, n, comments=True):
    """n lines of wires in all ways of writing them: 30 bytes each and more."""
    line = []
    for i in range(first, first + n):
        line.append(('R%d N%d n%d %.3f', 'c%d n%d 0 %d.5fF', 'r%d n%d n%d {1+%d/7}', 'r%d n%d\n+ n%d %d',
                     'L%d n%d n%d %dp ; coil')[i % 5] % ((i, i, i / 3) if i % 5 == 1 else (i, i, i + 1, i + 1)))
        if comments and i % 11 == 0:
            line.append(('* r%d n%d 0 1', '', '$ r%d n%d 0 1', '  ')[i // 11 % 4].replace('%d', str(i)))
        if i % 97 == 0:
            line.append('xx%d n%d n%d cell r=%d' % (i, i, i + 1, i % 5 + 1))
    return '\n'.join(line) + '\n'


class Reading(Folder):
    """Another thread finds plain lines of texts of 256 kB and more."""
    HEAD = 'wires\n.subckt cell a b r=1\nr1 a b {r}\n.ends\nv1 n1 0 1\n'

    def said(self, deck, *args, code=0):
        text = [re.sub('(?m)^time by phase.*', '', self.vsim(deck, *args, '--threads', n, code=code, command=('check',))[0])
                for n in ('1', '2', '3')]
        self.assertEqual(text[0], text[1])
        self.assertEqual(text[0], text[2])
        return text[0]

    def test_cards_and_circuit_are_those_of_one_thread(self):
        self.write('more.inc', wires(20001, 12000))
        deck = (self.HEAD + wires(1, 9000) + '.include more.inc\n.subckt big n9001 n9002\n' + wires(1, 9000) +
                '.ends\nxbig n1 n2 big\n.control\n' + 'echo r1 n1 0 1\n' * 9000 + '.endc\n' +
                wires(9001, 3000) + 'r0 n1 0 1\n.op\n.end\n' + wires(1, 9000))
        cards = self.said(deck, '--dump=cards')
        self.assertGreater(cards.count('\n'), 33000)
        circuit = self.said(deck, '--dump=circuit')
        for name in ('r12000 ', 'c21001 ', 'l31999 ', 'xbig.r5000 ', 'xx97.r1 '):
            self.assertIn('\n' + name, circuit)

    def test_messages_are_those_of_one_thread(self):
        for bad in (('c7 n1 0 {1+\n', '&\n', 'r7 n1 "\n', '.foo\n'),  # when cards are made, when they are expanded
                    ('r7 n1 0 1\n', 'r70000 n1\n', 'r70002 n1 0 1A\n', 'q70003 1 2 3\n', 'r70004 n1 0 1k 2k 3k\n',
                     'xx1 n1 cell\n', 'C101 n1 0 1\n')):
            deck = self.HEAD + ''.join(wires(1 + 2000 * i, 2000) + b for i, b in enumerate(bad)) + '.op\n.end\n'
            text = self.said(deck, code=1)
            for b in bad:
                line = 1 + deck[:deck.index('\n' + b) + 1].count('\n')
                self.assertIn('deck.sp:%d:' % line, text, b)


class Bypass(Folder):
    """Instances that hardly move contribute what they were linearised to."""

    def deck(self, option, analysis='.tran 2p 300p uic'):
        return multiplier(4, '.options bypass=%s\n%s' % (option, analysis))

    def flat_deck(self):
        deck = multiplier(4, '.options bypass=1\n.tran 2p 60p uic', '--flat')
        return re.sub(r'(?m)^m(\w+ .*) ([np])mos ', r'n\1 psp103\2 ', deck)

    def test_it_saves_evaluations_and_changes_little(self):
        """Tolerances are below the default: there two runs differ by their steps' errors, up to 1 V in edges."""
        _, off, ref = self.vsim(self.deck('0 reltol=1e-4'), '--threads', '1')
        _, on, out = self.vsim(self.deck('auto reltol=1e-4'), '--threads', '1', raw='on.raw')
        self.assertLess(on['device_evaluations'], 0.5 * off['device_evaluations'])
        self.assertLess(abs(on['newton_iterations'] - off['newton_iterations']), 0.03 * off['newton_iterations'])
        a, b = waves.read_raw(ref), waves.read_raw(out)
        for name in a.names[1:]:
            if name.startswith('v('):
                worst, _ = waves.error(b['time'], b[name], a['time'], a[name])
                self.assertLess(worst, 5e-3, name)

    def check_bits(self, deck):
        _, one, ref = self.vsim(deck, '--threads', '1', VSIM_LANES='8')
        for lanes, threads in (('1', '1'), ('2', '1'), ('4', '2'), ('8', '2')):
            _, many, out = self.vsim(deck, '--threads', threads, raw='m.raw', VSIM_LANES=lanes, VSIM_PARALLEL_MIN='1')
            self.assertEqual(self.bits(out), self.bits(ref), (lanes, threads))
            self.assertEqual(many['device_evaluations'], one['device_evaluations'])
        self.assertLess(one['device_evaluations'], 0.9 * one['newton_iterations'] * deck.count('psp103'))

    def test_results_are_the_same_bits_for_any_lanes_and_threads(self):
        self.check_bits(self.flat_deck())

    def test_and_so_they_are_where_every_instance_has_parameters_of_its_own(self):
        count = iter(range(10**6))
        self.check_bits(re.sub(r'\bw=(\S+)u', lambda m: 'w=%gu' % (float(m[1]) * (1 + next(count) * 1e-3)),
                               self.flat_deck()))

    def test_values_of_the_option(self):
        text, _, _ = self.vsim(self.deck('2'), code=1)
        self.assertIn('option bypass=2: 0, 1 or auto is needed', text)


class Latency(Folder):
    """Parts in which nothing moves are not worked on, and nobody can tell from the results."""

    def deck(self, option, idle=2, tail=''):
        """A multiplier of 4 x 4 bits that works and some whose inputs do not move."""
        text = multiplier(4, '.options bypass=%s\n.tran 2p 300p' % option)
        head, end = text.rsplit('.end', 1)
        zeros = ' '.join(['0'] * 8)
        for k in range(idle):
            outs = ' '.join('idle%d_p%d' % (k, i) for i in range(8))
            head += 'xidle%d %s %s mult4\n' % (k, zeros, outs)
        return head + tail + '.end' + end

    def check_close(self, ref, out, most):
        a, b = waves.read_raw(ref), waves.read_raw(out)
        for name in a.names[1:]:
            if name.startswith('v('):
                worst, _ = waves.error(b['time'], b[name], a['time'], a[name])
                self.assertLess(worst, most, name)

    def test_idle_copies_are_left_alone(self):
        _, off, ref = self.vsim(self.deck('0'), '--threads', '1')
        _, on, out = self.vsim(self.deck('1'), '--threads', '1', raw='on.raw')
        self.assertEqual(off['latent_unknowns'], 0)
        # two of three parts never move, but for the first points
        self.assertGreater(on['latent_unknowns'], 0.5 * on['newton_iterations'] * on['unknowns'])
        self.assertLess(abs(on['newton_iterations'] - off['newton_iterations']), 0.05 * off['newton_iterations'])
        self.check_close(ref, out, 5e-3)

    def copies(self, option, inputs, tail=''):
        """Multipliers of 4 x 4 bits on one supply: inputs of each, what is different in it."""
        head, end = multiplier(4, '.options bypass=%s reltol=1e-4\n.tran 2p 300p' % option).rsplit('.end', 1)
        for k, wave in enumerate(inputs):
            head += 'vin%d s%d 0 %s\nrin%d s%d in%d 1\n' % (k, k, wave, k, k, k)
            head += 'xc%d %s %s mult4\n' % (k, ' '.join(['in%d' % k] * 8), ' '.join('c%d_%d' % (k, i) for i in range(8)))
        return head + tail + '.end' + end

    def test_a_wire_at_rest_is_not_moved_by_diodes_on_it(self):
        """Every load evaluates these few; the wire's neighbours of their nodes slept, and each solution moved the nodes
        alone by what it moved all. The wire has no source that moves: it stays within the tolerance of its voltage."""
        mos = 'level=8 version=3.3.0 tox=4.1n vsat=1e5 k1=0.5 cgso=0.3n cgdo=0.3n cj=1m'
        deck = ['inverters, and a wire at rest', 'vdd vdd 0 1.8', 'v1 n0 0 pulse(0 1.8 0.1n 20p 20p 2n 5n)',
                '.model nm nmos %s vth0=0.4 u0=270' % mos, '.model pm pmos %s vth0=-0.4 u0=110' % mos,
                '.model dm d is=1e-15 cjo=5f rs=20 tt=1p']
        for k in range(1000):
            deck += ['mp%d n%d n%d vdd vdd pm w=4u l=0.5u' % (k, k + 1, k), 'mn%d n%d n%d 0 0 nm w=2u l=0.5u' % (k, k + 1, k),
                     'c%d n%d 0 5f' % (k, k + 1)]
        deck += ['vw w 0 1.2', 'rw w t0 328', 'cx t1 n5 1e-18']
        draw = random.Random(1)
        for k in range(100):
            deck += ['rt%d t%d t%d %.3g' % (k, k + 1, draw.randrange(max(0, k - 10), k + 1), 10 ** draw.uniform(0, 3)),
                     'ct%d t%d 0 %.3g' % (k, k + 1, 10 ** draw.uniform(-16, -14.6))]
            deck += ['dt%d t%d 0 dm' % (k, k + 1)] * (k % 20 == 0)
        deck += ['.save v(t0) v(t100)', '.tran 5p 0.3n', '.end', '']
        for lu in 'klu', 'auto':
            _, stats, out = self.vsim('\n'.join(deck), '--lu', lu)
            self.assertGreater(stats['latent_unknowns'], 0)
            plot = waves.read_raw(out)
            for name in 'v(t0)', 'v(t100)':
                self.assertLess(max(plot[name]) - min(plot[name]), 1e-3 * max(plot[name]), (lu, name))

    def test_wires_at_sources_follow_them(self):
        """A slow source in the middle of a wire moved its own node alone: the wire slept. A current i through 5 kohm
        makes 1.8 - 5k i of all nodes of the wire; a voltage e between two wires half of it on each. Behind RC of
        0.21 ns, ramps of 3 mV/ns are 0.63 mV late; the tolerance is 1.8 mV."""
        mos = 'level=8 version=3.3.0 tox=4.1n vsat=1e5 k1=0.5 cgso=0.3n cgdo=0.3n cj=1m'
        deck = ['wires with sources', 'vdd vdd 0 1.8', '.model nm nmos %s vth0=0.4 u0=270' % mos,
                '.model pm pmos %s vth0=-0.4 u0=110' % mos]
        for j in range(60):  # of which one moves
            deck += ['v%d n%d_0 0 %s' % (j, j, '0' if j else 'pulse(0 1.8 1n 50p 50p 3n 8n)')]
            for k in range(20):
                deck += ['mp%d_%d n%d_%d n%d_%d vdd vdd pm w=1u l=0.18u' % (j, k, j, k + 1, j, k),
                         'mn%d_%d n%d_%d n%d_%d 0 0 nm w=0.5u l=0.18u' % (j, k, j, k + 1, j, k), 'c%d_%d n%d_%d 0 5f' % (j, k, j, k + 1)]
        for w in 'wab':
            deck += ['r%s %s0 vdd 5k' % (w, w)]
            for s in range(20):
                deck += ['r%s%d %s%d %s%d 1' % (w, s, w, s, w, s + 1), 'c%s%d %s%d 0 2f' % (w, s, w, s)]
        deck += ['iw w10 0 pwl(0 0 2n 0 12n 6u)', 'vx a10 b10 pwl(0 0 2n 0 12n 30m)', '.save ' + ' '.join(
            'v(%s%d)' % (w, s) for w in 'wab' for s in (0, 9, 20)), '.tran 50p 12n', '.end', '']
        _, stats, out = self.vsim('\n'.join(deck), '--threads', '1')
        self.assertGreater(stats['latent_unknowns'], 0)
        plot = waves.read_raw(out)
        for w, part in ('w', -1), ('a', 0.5), ('b', -0.5):
            for s in (0, 9, 20):
                for t, v in zip(plot['time'], plot['v(%s%d)' % (w, s)]):
                    self.assertAlmostEqual(v, 1.8 + part * 3e6 * max(t - 2e-9, 0), delta=2.5e-3, msg='%s%d at %g' % (w, s, t))

    def test_copies_that_sleep_wake_when_they_are_to(self):
        # one after the other, by their inputs or by a current into one; at last all are awake, and factors of parts
        # end with those of the whole; some are no equal copies: by a load, by a start
        inputs = ['0'] * 5 + ['pulse(0 1.2 80p 10p)', 'pulse(0 1.2 120p 10p)', 'pulse(0 0.3 140p 10p)',
                              '0', 'pulse(0 1.2 200p 10p)']
        inputs += ['pulse(0 1.2 %dp 10p)' % (210 + 5 * k) for k in range(4)]
        tail = 'i1 0 c1_3 pulse(0 40u 100p 5p 5p 30p)\nr2 c2_7 0 20k\nr3 0 c3_0 1meg\n'
        tail += '.ic v(c4_2)=0.2\n.nodeset v(c8_2)=0.1\n'
        tail += '.save ' + ' '.join('v(c%d_%d)' % (k, i) for k in range(len(inputs)) for i in (0, 3)) + '\n'
        deck = self.copies('0', inputs, tail)
        _, off, ref = self.vsim(deck, '--threads', '1', raw='off.raw')
        deck = self.copies('1', inputs, tail)
        _, on, out = self.vsim(deck, '--threads', '1', raw='on.raw')
        self.assertGreater(on['latent_unknowns'], 0)
        self.check_close(ref, out, 5e-3)
        for threads, lanes in (('2', '2'), ('3', '8')):
            _, _, many = self.vsim(deck, '--threads', threads, raw='m.raw', VSIM_LANES=lanes, VSIM_PARALLEL_MIN='1')
            self.assertEqual(self.bits(many), self.bits(out), (threads, lanes))

    def test_a_second_run_is_the_first_one_again(self):
        # what slept at the end of a run is not given its history back
        deck = self.deck('1')
        _, stats, once = self.vsim(deck, '--threads', '1', raw='once.raw')
        self.assertGreater(stats['latent_unknowns'], 0)
        _, _, twice = self.vsim(deck.replace('.tran', '.tran 2p 100p\n.tran'), '--threads', '1', raw='twice.raw')
        self.assertEqual(self.bits(twice).split(b'Binary:')[-1], self.bits(once).split(b'Binary:')[-1])

    def test_a_point_of_a_family_is_that_of_a_run_alone(self):
        """The second run's parts at rest know nothing of the tolerances that their rows had in the first one."""
        head = """blocks of which some work; inputs that float
.model nm nmos level=8 version=3.3.0 tox=4.1n vth0={0.4+vt} u0=270 vsat=1e5 k1=0.5 cgso=0.3n cgdo=0.3n cj=1m
.model pm pmos level=8 version=3.3.0 tox=4.1n vth0={-0.4-vt} u0=110 vsat=1e5 k1=0.5 cgso=0.3n cgdo=0.3n cj=1m
.subckt inv y a vdd vss w=1
mn y a vss vss nm w={0.5*w*1u} l=0.18u
.ends
.subckt nand y a b vdd vss w=1
mq y b vdd vdd pm w={1*w*1u} l=0.18u
mn y a m vss nm w={1*w*1u} l=0.18u
.ends
.subckt nor y a b vdd vss w=1
mq y b m vdd pm w={2*w*1u} l=0.18u
mn y a vss vss nm w={0.5*w*1u} l=0.18u
mo y b vss vss nm w={0.5*w*1u} l=0.18u
.ends
.subckt buf y a vdd vss w=1
x1 m a vdd vss inv w={w}
x2 y m vdd vss inv w={3*w}
.ends
.subckt blk1 a0 a1 a2 z vdd vss
x2 n0 a0 a2 vdd vss nand w=2
x3 n1 n0 a2 vdd vss nor
x4 n2 a0 a1 vdd vss nor
x15 n13 n11 a2 vdd vss nand
x16 n14 n6 vdd vss buf
x17 n15 a2 n9 vdd vss nand w=1.15
x18 n16 n4 a1 vdd vss nor w=1.08
rz n16 z 10
.ends
x1_0 i19 i20 j21 z1_0 vdd 0 blk1
x1_1 i19 i20 j21 z1_1 vdd 0 blk1
r24 i23 j23 151
x1_2 j23 i25 i26 z1_2 vdd 0 blk1
r28 i27 j27 679
v29 i29 0 pulse(0 1.8 2.99e-11 1.08e-11 2.16e-11 1.18e-10 2.792e-10)
r30 i29 j29 67.5
v31 i31 0 pwl(0 1.8 7.53e-11 1.8 1.024e-10 0)
x1_3 j27 j29 i31 z1_3 vdd 0 blk1
x1_4 i19 i20 j21 z1_4 vdd 0 blk1
x1_5 i19 i20 j21 z1_5 vdd 0 blk1
x1_6 i19 i20 j21 z1_6 vdd 0 blk1
"""
        tail = '.param unread=1\n.options bypass=1\n.tran 3.333e-12 2e-10\n'
        _, _, once = self.vsim(head + tail + '.end\n', '--threads', '1', raw='once.raw')
        _, _, twice = self.vsim(head + tail + '.step param unread list 2 1\n.end\n', '--threads', '1', raw='twice.raw')
        self.assertEqual(self.bits(twice).split(b'Binary:')[-1], self.bits(once).split(b'Binary:')[-1])

    def test_what_is_at_rest_at_the_operating_point_is_evaluated_once(self):
        # a transient needs each charge once; the operating point evaluates all in each iteration
        more = {}
        for analysis in ('.op', '.tran 2p 300p'):
            done = []
            for idle in (2, 6):
                deck = self.deck('1', idle).replace('.tran 2p 300p', analysis)
                done.append(self.vsim(deck, '--threads', '1')[1])
            more[analysis] = done[1]['device_evaluations'] - done[0]['device_evaluations']
            if analysis == '.op':
                once = more[analysis] / done[1]['newton_iterations']  # all transistors of four copies
        self.assertLess(more['.tran 2p 300p'] - more['.op'], 1.01 * once)

    def test_results_are_the_same_bits_for_any_lanes_and_threads(self):
        deck = self.deck('1')
        _, one, ref = self.vsim(deck, '--threads', '1', VSIM_LANES='8')
        for lanes, threads in (('1', '1'), ('4', '2'), ('8', '3')):
            _, many, out = self.vsim(deck, '--threads', threads, raw='m.raw', VSIM_LANES=lanes, VSIM_PARALLEL_MIN='1')
            self.assertEqual(self.bits(out), self.bits(ref), (lanes, threads))
            self.assertEqual(many['latent_unknowns'], one['latent_unknowns'])

    def test_a_constant_supply_does_not_move(self):
        # by an ulp would be enough to lead the solution to all that hangs at it; steps differ, so do weights
        deck = self.deck('1', tail='.save v(vdd)\n').replace('.tran 2p 300p', '.tran 20p 300p')
        _, stats, out = self.vsim(deck, '--threads', '1')
        self.assertGreater(stats['latent_unknowns'], 0)
        self.assertEqual(len(set(waves.read_raw(out)['v(vdd)'])), 1)

    def test_a_supply_gives_what_all_parts_take(self):
        """Wires join outputs that are far apart in the deck: cells have columns of all of the supply's row."""
        n = 200
        head = ['inverters and wires', 'vdd vdd 0 1.8', 'vin in 0 pwl(0 0 2n 0 2.1n 1.8)',
                '.model nm nmos level=8 version=3.3.0 tox=4.1n vth0=0.4', '.model pm pmos level=8 version=3.3.0 tox=4.1n vth0=-0.4']
        for k in range(n):
            head.append('mp%d o%d in vdd vdd pm w=2u l=0.2u\nmn%d o%d in 0 0 nm w=1u l=0.2u' % (k, k, k, k))
        head += ['r%d o%d o%d 100' % (k, k, (k + n // 2) % n) for k in range(n)]
        current, charge = {}, {}
        for option in '01':
            deck = '\n'.join(head + ['.options bypass=' + option, '.save i(vdd)', '.tran 10p 4n', '.end', ''])
            _, stats, out = self.vsim(deck, '--threads', '1', raw=option + '.raw')
            a = waves.read_raw(out)
            t, i = a['time'], a['i(vdd)']
            current[option] = [x for x, at in zip(i, t) if at < 2e-9]
            charge[option] = sum((t[k] - t[k - 1]) * (i[k] + i[k - 1]) / 2 for k in range(1, len(t)))
        self.assertGreater(stats['latent_unknowns'], 0)
        rest = current['0'][0]
        self.assertLess(max(abs(x - rest) for x in current['1']), 0.01 * abs(rest))  # rows rest within parts of reltol
        self.assertLess(abs(charge['1'] - charge['0']), 0.01 * abs(charge['0']))

    def test_newton_converges_where_wires_are_resistors(self):
        # a part of a tolerance of voltage is a large current through 0.8 ohm: wires sleep and wake as a whole
        # a row that is left unsolved takes all iterations that itl4 allows, then a shorter step, which does not
        # help; what wakes takes an iteration more, of which there may be any number below that: in the first step the
        # wires at the sources that start the rings, which are awake, wake one stage after the other
        itl4 = 20
        stats = {}
        for option in '01':
            text = generated('extracted.py', 'ring', '250', '--tran', '2p 40p', '--folder', os.path.dirname(MODELS))
            text = text.replace('.tran', '.option bypass=%s itl4=%d\n.tran' % (option, itl4))
            _, stats[option], out = self.vsim(text, '--threads', '1', '--steps', 'steps.raw', command=['profile'],
                                              raw=option + '.raw')
            steps = waves.read_raw(self.path('steps.raw'))
            self.assertEqual(sum(steps['not_converged']), 0, option)
            self.assertLessEqual(max(steps['iterations']), itl4, option)
        self.assertGreater(stats['1']['latent_unknowns'], 0)
        self.check_close(self.path('0.raw'), out, 5e-3)

    def test_factors_serve_for_several_points_where_they_are_dear(self):
        # an array on meshed supplies: 33 multiplications per entry of the factors
        factors = {}
        for option in '01':
            text = generated('extracted.py', 'sram', '900', '--tran', '2p 0.65n', '--folder', os.path.dirname(MODELS))
            text = text.replace('.tran', '.option bypass=%s\n.tran' % option)
            _, stats, out = self.vsim(text, '--threads', '1', raw=option + '.raw')
            factors[option] = stats['generations']['factors']['rebuilt']
        self.assertLess(factors['1'], 0.5 * factors['0'])
        self.check_close(self.path('0.raw'), out, 5e-3)
        _, _, many = self.vsim(text, '--threads', '2', raw='m.raw', VSIM_LANES='8', VSIM_PARALLEL_MIN='1')
        self.assertEqual(self.bits(many), self.bits(out))

    def inverters(self, option):
        """Three chains of 24 inverters of BSIM4, with limits and inner resistances; one works."""
        head = ['chains', '.options bypass=%s' % option, '.tran 5p 0.6n', 'vdd vdd 0 1.8']
        for kind, sign in (('n', ''), ('p', '-')):
            head.append('.model %sm %smos level=54 version=4.5 vth0=%s0.5 toxe=4n rsh=10 rbodymod=1 '
                        'rgatemod=1 acnqsmod=0 trnqsmod=0' % (kind, kind, sign))
        for chain in range(3):
            head.append('v%d n%d_0 0 %s' % (chain, chain, '0' if chain else 'pulse(0 1.8 50p 30p 30p 1n)'))
            for k in range(24):
                ends = 'n%d_%d n%d_%d' % (chain, k + 1, chain, k)
                for kind, w, rail in (('n', 1, '0'), ('p', 2, 'vdd')):
                    head.append('m%s%d_%d %s %s %s %sm w=%du l=0.15u nrd=1 nrs=1 ad=1p as=1p pd=4u ps=4u'
                                % (kind, chain, k, ends, rail, rail, kind, w))
        return '\n'.join(head + ['.save v(n0_6) v(n0_12) v(n0_24) v(n1_24)', '.end']) + '\n'

    def test_devices_with_limits_and_inner_resistances_sleep(self):
        # inner nodes stand behind ohms: with their terminals they sleep and wake as one wire
        stats = {}
        for option in '01':
            _, stats[option], out = self.vsim(self.inverters(option), '--threads', '1', raw=option + '.raw')
        on, off = stats['1'], stats['0']
        self.assertGreater(on['latent_unknowns'], 0.5 * on['newton_iterations'] * on['unknowns'])
        self.assertLess(on['points_rejected'], off['points_rejected'] + 4)
        self.check_close(self.path('0.raw'), out, 5e-3)

    def test_a_slow_discharge_is_not_stopped_by_sleep(self):
        # 1 fF through 1 Gohm, 1 us: in steps of 2 ps it moves by less than a part of its tolerance
        tail = 'c1 held 0 1f\nr1 held 0 1g\n.ic v(held)=1\n.save v(held)\n'
        worst = {}
        for option in '01':
            _, stats, out = self.vsim(self.deck(option, 1, tail), '--threads', '1', raw=option + '.raw')
            a = waves.read_raw(out)
            worst[option] = max(abs(v - 2.718281828459045 ** (-t / 1e-6)) for t, v in zip(a['time'], a['v(held)']))
        self.assertGreater(stats['latent_unknowns'], 0)
        self.assertLess(worst['0'], 1e-6)
        self.assertLess(worst['1'], 1e-4)  # 0.05 of a tolerance of 1 mV, twice


class Drift(unittest.TestCase):
    """A small version of bench/drift.py: what sleep and bypass change stays within tolerances."""

    def check(self, name, cycles, least):
        for what, off, on, part, asleep in drift.compare(VSIM, name, cycles):
            self.assertLessEqual(part, 1, (what, off, on))
            self.assertGreater(asleep, least)

    def test_a_ring_keeps_its_time(self):
        self.check('ring', 12, 0.2)

    def test_a_loop_keeps_its_voltage(self):
        self.check('loop', 20, 0.2)

    def test_a_tank_keeps_time_and_amplitude(self):
        self.check('tank', 20, 0.2)

    def test_capacitors_hold_their_voltage(self):
        self.check('filter', 20, 0.5)

    def test_islands_keep_their_charge_to_rounding(self):
        self.check('charge', 20, 0.5)


RESISTORS = 'resistors\nv1 a 0 1\n' + ''.join(
    'r%d_%d n%d n%d %g\n' % (i, j, i, j, 1 + (i * 7 + j) % 5) for i in range(30) for j in range(i)) + \
    'r1 a n0 1\nr2 n29 0 1\nd1 n7 0 dm\n.model dm d is=1e-12\n.op\n.end\n'


class Methods(Folder):
    def values(self, path):
        plot = waves.read_raw(path)
        return [v[0] for v in plot.data] if hasattr(plot, 'data') else [plot[n][0] for n in plot.names]

    def test_all_give_the_same_solution(self):
        _, _, ref = self.vsim(RESISTORS, '--lu', 'klu')
        ref = self.values(ref)
        for lu in ('tiny', 'umfpack', 'dense', 'auto'):
            for args, deck in ((('--lu', lu), RESISTORS), ((), RESISTORS + '.option lu=%s\n' % lu)):
                _, _, out = self.vsim(deck.replace('.end\n', '', 1), *args, raw=lu + '.raw')
                for a, b in zip(self.values(out), ref):
                    self.assertAlmostEqual(a, b, delta=1e-9)

    def test_libraries_are_loaded_only_when_asked_for(self):
        for lu, name in (('umfpack', 'libumfpack'), ('dense', 'libopenblas|liblapack'), ('auto', None)):
            text, _, _ = self.vsim(RESISTORS, '--lu', lu, LD_DEBUG='libs')
            self.assertEqual(bool(re.search(name or 'libumfpack|libopenblas|liblapack|libcholmod', text)),
                             name is not None, lu)

    def test_blocks_of_transistors_ask_for_none(self):
        deck = generated('extracted.py', 'chain', '10000', '--folder', os.path.dirname(MODELS))
        text, _, _ = self.vsim(re.sub(r'(?m)^\.tran.*', '.op', deck), '--threads', '1', LD_DEBUG='libs')
        self.assertIn('operating point by levels', text)
        self.assertEqual(re.findall('libumfpack|libopenblas|liblapack|libcholmod', text), [])

    @unittest.skipUnless(os.path.isdir('/proc/self/task'), 'threads are seen in /proc')
    @unittest.skipIf('OPENBLAS_NUM_THREADS' in os.environ, 'the user wants other threads')
    def test_the_blas_starts_no_threads(self):
        self.write('tasks.sh', 'p=$PPID\nuntil [ "$(cat /proc/$p/comm)" = %s ]; do p=$(cut -d " " -f 4 /proc/$p/stat); '
                   'done\nls /proc/$p/task >tasks\n' % os.path.basename(VSIM)[:15])
        deck = RESISTORS.replace('.op', '.option lu=dense\n.control\nop\nshell sh tasks.sh\n.endc')
        self.vsim(deck, '--threads', '1', '--allow-shell')
        with open(self.path('tasks')) as f:
            self.assertEqual(len(f.read().split()), 1)

    def test_a_wrong_name_is_an_error(self):
        text, _, _ = self.vsim(RESISTORS.replace('.op', '.op\n.option lu=sparse'), code=1)
        self.assertIn('option lu=sparse: auto, klu, tiny, umfpack, dense or cholesky is needed', text)
        self.vsim(RESISTORS, '--lu', 'sparse', code=2)

    def test_cholesky_says_which_matrices_it_cannot_solve(self):
        stage = '* one transistor\nv1 a 0 5\nr1 a c 1k\nq1 c b 0 m\nr2 a b 100k\n.model m npn\n%s.op\n.end\n'
        coil = '* a coil\nv1 a 0 pulse(0 1 0 1n)\nr1 a b 1k\nl1 b c 1u\nr2 c 0 1\n%s.tran 1n 20n\n.end\n'
        for deck, why in ((stage, 'not symmetric'), (coil, 'not positive definite')):
            self.vsim(deck % '')
            text, _, _ = self.vsim(deck % '.option lu=cholesky\n', code=1)
            self.assertRegex(text, r'error: option lu=cholesky cannot solve this matrix of \d unknowns: it is %s .*'
                             'resistors and capacitors.*lu=klu' % why)
            self.assertNotIn('no operating point', text)
            self.assertEqual(text.count('error:'), 1, text)

    def test_a_matrix_too_large_for_the_method_is_an_error(self):
        deck = generated('large.py', 'ladder', '25000').replace('.tran 1n 20n', '.op\n.option lu=dense')
        text, _, _ = self.vsim(deck, code=1)
        self.assertIn('option lu=dense cannot solve this matrix of 25', text)
        self.assertIn('too many unknowns', text)


def mesh(n, tran):
    """n x n nodes, 1 ohm between neighbours, 1 pF to ground, a ramp at one corner."""
    lines = ['mesh', 'v1 n0_0 0 pulse(0 1 0.1n 0.1n 0.1n 10n 20n)', 'rl n%d_%d 0 1' % (n - 1, n - 1)]
    for i in range(n):
        for j in range(n):
            lines.append('c%d_%d n%d_%d 0 1p' % (i, j, i, j))
            if j < n - 1:
                lines.append('rh%d_%d n%d_%d n%d_%d 1' % (i, j, i, j, i, j + 1))
            if i < n - 1:
                lines.append('rv%d_%d n%d_%d n%d_%d 1' % (i, j, i, j, i + 1, j))
    return '\n'.join(lines) + '\n.save v(n0_1) v(n%d_%d)\n%s\n.end\n' % (n // 2, n // 2, tran)


class Meshes(Folder):
    DECK = mesh(80, '.tran 5p 0.6n')
    CORNERS = (0, 0.1e-9, 0.2e-9)

    def test_steps_stay_equal_for_the_factors(self):
        _, stats, out = self.vsim(self.DECK)
        time = waves.read_raw(out)['time']
        begin = [min(range(len(time)), key=lambda k: abs(time[k] - c)) for c in self.CORNERS] + [len(time) - 1]
        changes = 0
        for a, b in zip(begin, begin[1:]):
            steps = [time[k + 1] - time[k] for k in range(a, b)]
            steps = [h for h in steps if h > 0.01 * steps[0]]  # rows behind corners are no steps
            same = [abs(h - g) <= 1e-5 * g for g, h in zip(steps[1:], steps[2:])]
            for g, h, s in zip(steps[1:], steps[2:], same):
                self.assertTrue(s or h < g or h > 1.5 * g, (g, h))
            changes += same.count(False)
        # each change makes one matrix, a corner those of its first step and of what comes next; so
        # does an attempt that was rejected, and the operating point
        most = changes + 2 * len(self.CORNERS) + 2 * stats['points_rejected'] + 1
        self.assertLessEqual(stats['generations']['factors']['rebuilt'], most)

    def test_they_do_not_change_the_curve(self):
        _, _, out = self.vsim(self.DECK)
        _, stats, ref = self.vsim(self.DECK.replace('.tran', '.option lu=klu reltol=1e-5\n.tran'), raw='ref.raw')
        a, b = waves.read_raw(ref), waves.read_raw(out)
        for name in ('v(n0_1)', 'v(n40_40)'):
            worst, _ = waves.error(b['time'], b[name], a['time'], a[name])
            self.assertLess(worst, 3.5e-3 * max(abs(v) for v in a[name]), name)  # trtol reltol


class Ground(Folder):
    """A ladder of 1,200 nodes on ground or on a supply of 1 V: 20 mV move, in curves that are the same but for it."""

    def points(self, base, more=''):
        cells = ''.join('r%d n%d n%d 10\nc%d n%d %s 1f\n' % (k, k, k + 1, k, k, base) for k in range(1200))
        deck = 'steps\nvdd vdd 0 1\n%si0 %s n0 sin(0 40u 1meg)\nrb n0 %s 500\n%s.tran 1u 30u 0 1u\n.save v(n0)\n.end\n'
        return self.vsim(deck % (more, base, base, cells), '--threads', '1')[1]['points_accepted']

    def test_a_voltage_near_ground_counts_as_a_tenth_of_the_supply(self):
        """Tolerances differ by 10, and steps of a rule of order 2 by its third root; relative to 20 mV by that of 50."""
        self.assertLess(self.points('0'), 1.25 * 10 ** (1 / 3) * self.points('vdd'))

    def test_not_where_a_source_has_millivolts_itself(self):
        """What 5 mV are may be signal: a tenth of it is less than the ladder has by itself, a fifth of a supply's."""
        self.assertGreater(self.points('0', 'vs vs 0 sin(0 5m 1k)\n'), 0.8 * 5 ** (1 / 3) * self.points('0'))


class Kinks(Folder):
    """Trapezoids of current into 1,000 capacitors, each with a diode that is off: they begin 1 ps after another, so
    that one of 10 to 130 ps is a corner, 121 of them."""

    def test_a_slope_of_a_current_needs_no_new_start(self):
        """A point at each corner, 15 steps of 2 ps beside them; with two steps in a piece 242. The rule is exact for
        straight lines: 50 uA, 60 ps, 10 fF are 0.3 V but for what gmin and the diode take, 1 pA/V and 1 aA."""
        cells = ''.join('i%d 0 n%d pulse(0 50u %dp 10p 10p 50p)\nc%d n%d 0 10f\nd%d 0 n%d d\n'
                        % (k, k, 10 + k % 50, k, k, k, k) for k in range(1000))
        _, stats, raw = self.vsim('kinks\nvdd s 0 1\nrs s 0 1k\n.model d d(is=1e-18)\n' + cells +
                                  '.tran 2p 150p\n.save v(n0) v(n49)\n.end\n', '--threads', '1')
        got = waves.read_raw(raw)
        self.assertLess(stats['points_accepted'], 121 * 1.5)
        for name in ('v(n0)', 'v(n49)'):
            self.assertAlmostEqual(got[name][-1], 0.3, delta=1e-6)


class Size(Folder):
    def figures(self, kind, n):
        return self.vsim(generated('large.py', kind, str(n)), '-q', '--threads', '1')[1]

    def test_memory_of_a_ladder_grows_with_its_length(self):
        self.needs_plain(VSIM)
        small, large = self.figures('ladder', 10000), self.figures('ladder', 80000)
        self.assertLess(large['peak_memory_bytes'], 9 * small['peak_memory_bytes'])
        self.assertLess(large['peak_memory_bytes'], 80000 * 3100)

    def test_an_element_takes_few_bytes_until_the_circuit_is_there(self):
        self.needs_plain(VSIM)
        # sizes of what an element and half a node have: 285, with a value of its own 28 more, and the words of
        # SPEF's names 35; a fifth for what vecs and maps keep free
        for kind, most in ('ladder', 342), ('wires', 375), ('dspf', 375), ('spef', 417):
            peak = []
            for n in 20000, 60000:
                more = [self.path('wires.spef')] if kind == 'spef' else []
                self.write('deck.sp', generated('large.py', kind, str(n), *more))
                subprocess.run([VSIM, 'check', '-q', '--stats', 'stats.json', 'deck.sp'], cwd=self.tmp.name, check=True)
                with open(self.path('stats.json')) as f:
                    peak.append(json.load(f)['peak_memory_bytes'])
            with self.subTest(kind):
                self.assertLess((peak[1] - peak[0]) / 80000, most)

    def test_a_deck_of_many_lines(self):
        s = self.figures('flat', 50000)
        self.assertEqual(s['unknowns'], 30002)
        self.assertLess(s['seconds']['parse'], 2)

    def test_depth_is_an_error_before_it_is_a_crash(self):
        self.vsim(generated('large.py', 'nested', '150'))
        text, _, _ = self.vsim(generated('large.py', 'nested', '3000'), code=1)
        self.assertIn('200', text)

    def test_long_lines(self):
        self.vsim(generated('large.py', 'words', '100000'))
        self.vsim(generated('large.py', 'pwl', '100000'))
        text, _, _ = self.vsim(generated('large.py', 'sum', '100000'), code=1)
        self.assertIn('nested too deep', text)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=1)
