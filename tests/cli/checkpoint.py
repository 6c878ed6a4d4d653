#!/usr/bin/env python3
"""Transients that are stopped or killed at any time and go on from their checkpoint give the same
bytes as those that ran on; checkpoints that do not fit are refused.

    checkpoint.py VSIM [unittest arguments]
    checkpoint.py VSIM --kills N [--seed S] [--kind K]    N random signals over all kinds of runs, or
                                                          of K alone; counts
    checkpoint.py VSIM --calls N [--seed S] [--kind K]    the same at system calls, by strace: at N of
                                                          them for each deck, evenly over its run; kind
                                                          `ranks`: of one rank of a job of MPI"""
import collections
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import folder

VSIM = ''
KILLS = 2     # random signals for each deck of the daily run
LAST_HOP = 8  # from so many signals in one run on, it runs to its end

EVENTS = """`include "disciplines.vams"
module vco(in, out, st);
  inout in, out, st; electrical in, out, st;
  real count, last; integer up;
  analog begin
    @(initial_step) begin count = 0; last = 0; up = 0; end
    @(cross(V(out) - 0.1, +1)) begin count = count + 1; last = $abstime; up = 1 - up; end
    @(timer(0, 7n)) count = count + 0.25;
    V(out) <+ sin(6.283185307179586*idtmod(1e8*V(in), 0.25, 1, -0.5));
    V(st) <+ transition(count*0.01 + up*0.2, 0, 1n) + 1e6*last;
  end
endmodule
module del(a, b);
  inout a, b; electrical a, b;
  analog V(b) <+ absdelay(V(a), 3n + 1n*V(a), 5n);
endmodule
"""

# What a transient may remember, deck by deck: events, delays, lines, random sources, limits;
# noise, Gear, interp, analyses before and behind; start from given values; linearisations that
# large circuits hold, supernodes, levels of logic.
LINES = """lines, delays, events
.hdl "events.va"
v1 in 0 dc 1 sin(1 0.3 13meg)
.model vco1 vco
.model del1 del
n1 in out st vco1
n2 out d del1
r1 d e 50
t1 e 0 f 0 z0=50 td=4.3n
r2 f 0 75
.model lm ltra r=12.45 g=0 l=8.972e-9 c=0.468e-12 len=16
o1 out 0 g 0 lm
r3 g 0 60
c3 g 0 3p
d1 f h dm
c4 h 0 20p
r4 h 0 1k
.model dm d is=1e-14 cjo=2p tt=1n
vt t 0 trnoise(0.1 0.7n 1.2 0.05)
r5 t h 10k
vp p 0 pulse(0 1 0 1n 1n 10n 33n)
r6 p h 1k
.meas tran mx max v(h)
.meas tran tcross when v(out)=0.5 rise=5
.meas tran av avg v(g) from=0.1u to=0.3u
.tran 0.5n 0.3u
.end
"""
NOISE = """noise, Gear, interp, other analyses
v1 in 0 pulse(0 1.8 1n 0.1n 0.1n 5n 12n) ac 1
.model nm nmos level=1 vto=0.5 kp=1e-4 cgso=1e-10 cgdo=1e-10 lambda=0.05 kf=1e-25
.model pm pmos level=1 vto=-0.5 kp=5e-5 cgso=1e-10 cgdo=1e-10 lambda=0.05
.subckt inv a y vdd
mp y a vdd vdd pm w=4u l=0.5u
mn y a 0 0 nm w=2u l=0.5u
c1 y 0 5f
.ends
vdd vdd 0 1.8
x1 in a vdd inv
x2 a b vdd inv
x3 b c vdd inv
q1 q c 0 qm
rq vdd q 5k
.model qm npn bf=80 cje=10f tf=20p
.options method=gear interp
.trannoise fmax=2g
.op
.tran 0.1n 0.1u
.ac dec 5 1k 1g
.meas tran mx max v(q)
.end
"""
MEASURES = """measures of more points than are kept
v1 in 0 sin(0 1 10meg)
r1 in out 1k
c1 out 0 10p
d1 out 0 dm
.model dm d is=1e-14 cjo=1p
.meas tran top max v(out)
.meas tran first when v(out)=0.1 rise=3
.meas tran last find v(in) when v(out)=0.1 cross=last
.meas tran dt trig v(in) val=0.5 rise=2 targ v(out) val=0.2 fall=90
.meas tran mean avg v(out) from=1u to=11u
.meas tran sum param='top+mean'
.tran 1n 12u 0 0.2n
.end
"""
ASTABLE = """given values, .csv
.model qm npn bf=80 cje=1p tf=2n cjc=1p rb=10
vcc vcc 0 5
q1 c1 b1 0 qm
q2 c2 b2 0 qm
r1 vcc c1 1k
r2 vcc c2 1k
r3 vcc b1 47k
r4 vcc b2 47k
ca c1 b2 1n ic=1
cb c2 b1 1n
.tran 100n 2m uic
.end
"""

DIGITAL = """a modulator, an oscillator, a memory, a filter of numbers
v1 in 0 sin(0.5 0.3 0.1meg)
r1 in x 10k
r2 fb x 10k
c1 x 0 20p
aadc [x] [cmp] adc
vc c 0 sin(0.5 0.3 20k)
aosc c clk osc
aff cmp clk null null q nq ff
adac [q] [fb] dac
abuf q qd buf
adiv clk div fdiv
aram [qd] [dout] [div clk] div [one] ram
aup one up
adac2 [div dout qd] [o2] dac2
ro o2 0 1k
anum q div num tonum
asum num sum gain
aback sum sum gain
asamp sum clk held sample
aout held o3 tov
ro3 o3 0 1k
ab [line] [dbus] null bi
atri q div dbus tri
rline line o2 300
cline line 0 5p
.model bi bidi_bridge(in_low=0.6 in_high=0.5 out_high=1 t_rise=4n t_fall=7n)
.model tri d_tristate(delay=3n)
.model tonum d_to_real(zero=-1)
.model gain real_gain(gain=0.4 delay=3n)
.model sample real_delay
.model tov real_to_v(gain=0.3 transition_time=5n)
.model adc adc_bridge(in_low=0.5 in_high=0.5 rise_delay=2n fall_delay=3n)
.model osc d_osc(cntl_array=[0 1] freq_array=[5meg 15meg] duty_cycle=0.4)
.model ff d_dff
.model dac dac_bridge(out_low=1 out_high=0 t_rise=1n t_fall=2n)
.model dac2 dac_bridge(t_rise=20n t_fall=30n)
.model buf d_buffer(rise_delay=150n fall_delay=90n inertial_delay=true)
.model fdiv d_fdiv(div_factor=3)
.model ram d_ram(read_delay=11n)
.model up d_pullup
.meas tran mean avg v(fb)
.meas tran last when v(qd)=0.5 rise=last
.tran 10n 150u
.end
"""


def chain(n):
    """Inverters, so many that they hold linearisations and have factors by supernodes."""
    lines = ['a chain of %d inverters' % n, 'vdd vdd 0 1.8',
             'v1 n0 0 pulse(0 1.8 1n 0.1n 0.1n 2n 5n)',
             '.model nm nmos level=1 vto=0.5 kp=1e-4 cgso=1e-10 cgdo=1e-10 lambda=0.05',
             '.model pm pmos level=1 vto=-0.5 kp=5e-5 cgso=1e-10 cgdo=1e-10 lambda=0.05',
             '.options bypass=1']
    for i in range(n):
        lines += ['mp%d n%d n%d vdd vdd pm w=4u l=0.5u' % (i, i + 1, i),
                  'mn%d n%d n%d 0 0 nm w=2u l=0.5u' % (i, i + 1, i), 'c%d n%d 0 5f' % (i, i + 1)]
    return '\n'.join(lines + ['.save v(n1) v(n%d)' % n, '.tran 50p 4n', '.end', ''])


DECKS = {'lines': (LINES, 'raw'), 'noise': (NOISE, 'raw'), 'astable': (ASTABLE, 'csv'),
         'chain': (chain(600), 'raw'), 'measures': (MEASURES, 'raw'), 'digital': (DIGITAL, 'raw')}


def without_date(b):
    """Two runs differ in the date of a header alone."""
    return re.sub(rb'(?m)^Date: .*$', b'Date:', b, count=3)


class Case(folder.Folder):
    def vsim(self, *args, **more):
        return subprocess.run([VSIM, '-n', *args], cwd=self.tmp.name, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=400, **more)

    def bytes_of(self, name):
        with open(self.path(name), 'rb') as f:
            return without_date(f.read())

    def begin(self, *args):
        """A run that a signal will meet; its reports do not fill a pipe."""
        with open(self.path('log'), 'w') as log:
            return subprocess.Popen([VSIM, '-n', *args], cwd=self.tmp.name,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def said(self):
        with open(self.path('log')) as f:
            return f.read()

    def no_error(self):
        """A signal makes none, and what goes on meets none: the decks have none."""
        self.assertNotIn('error: ', self.said())
        self.assertNotIn('no checkpoint could be written', self.said())

    @staticmethod
    def still_runs(p, seconds):
        try:
            p.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def run_through(self, deck, end, seconds, rng, budget):
        """The deck with signals at random times until it is done; how many there were."""
        out, hops = 'out.' + end, 0
        for name in (out, out + '.checkpoint', 'm.json'):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        while True:
            kept = out + '.checkpoint'
            go_on = ['--restart', kept] if os.path.exists(self.path(kept)) else []
            p = self.begin(deck, '-r', out, '--measures', 'm.json',
                           '--checkpoint', rng.choice(('0', '0.0005')),
                           '--threads', str(rng.choice((1, 2, 3))),
                           *(['--csv'] if end == 'csv' else []), *go_on)
            if hops < min(budget, LAST_HOP) and self.still_runs(p, rng.uniform(0.01, seconds)):
                if rng.random() < 0.5:
                    p.send_signal(signal.SIGTERM)
                else:  # kept, and killed some time later
                    p.send_signal(signal.SIGUSR1)
                    time.sleep(rng.uniform(0, seconds / 2))
                    p.kill()
            code = p.wait(400)
            self.no_error()
            if code == 0:
                return hops
            hops += 1
            # a signal may come before the program listens: it ends then, with nothing done
            self.assertIn(code, (130, -signal.SIGKILL, -signal.SIGUSR1, -signal.SIGTERM), self.said())

    def hunt(self, name, budget, rng):
        text, end = DECKS[name]
        self.write('events.va', EVENTS)
        self.write('deck.sp', text)
        begun = time.monotonic()
        ref = self.vsim('deck.sp', '-r', 'ref.' + end, '--measures', 'ref.json',
                        '--checkpoint', '1e6',  # a run that may be kept has no latent parts
                        *(['--csv'] if end == 'csv' else []))
        seconds = time.monotonic() - begun
        self.assertEqual(ref.returncode, 0, ref.stdout + ref.stderr)
        met = 0
        for _ in range(20 * budget):
            if met >= budget:
                break
            n = self.run_through('deck.sp', end, seconds, rng, budget - met)
            met += n
            seconds *= 1 if n else 0.7  # the reference ran on a busier machine
            self.assertEqual(self.bytes_of('out.' + end), self.bytes_of('ref.' + end))
            self.assertEqual(self.bytes_of('m.json'), self.bytes_of('ref.json'))
            self.assertFalse(os.path.exists(self.path('out.%s.checkpoint' % end)))
        return met


class Equal(Case):
    """The daily part of the hunt."""

    def test_lines_delays_and_events_go_on(self):
        self.hunt('lines', KILLS, random.Random(1))

    def test_noise_and_other_analyses_go_on(self):
        self.hunt('noise', KILLS, random.Random(2))

    def test_digital_parts_go_on(self):
        self.hunt('digital', KILLS, random.Random(6))

    def test_measures_go_on(self):
        self.hunt('measures', KILLS, random.Random(5))

    def test_a_run_that_was_kept_before_its_first_measures_is_kept_again(self):
        self.write('events.va', EVENTS)
        self.write('deck.sp', LINES)
        args = 'deck.sp', '-r', 'out.raw', '--checkpoint', '1e-9'
        p = self.begin(*args)
        while not os.path.exists(self.path('out.raw.checkpoint')) and p.poll() is None:
            time.sleep(0.001)
        p.kill()
        p.wait()
        done = self.vsim(*args, '--restart', 'out.raw.checkpoint')
        self.assertEqual(done.returncode, 0, done.stderr)  # the sanitizers' build also counts its memory

    def test_given_values_and_csv_go_on(self):
        self.hunt('astable', KILLS, random.Random(3))

    def test_held_linearisations_go_on(self):
        self.hunt('chain', KILLS, random.Random(4))


class Refused(Case):
    """What does not fit is refused with a message, and the results stay as they are."""

    LONG = ASTABLE.replace('2m', '20')  # not over before it is met, on any machine

    def comes(self, p, name):
        """Waits for a file of a run."""
        while not os.path.exists(self.path(name)):
            self.assertIsNone(p.poll(), self.said())
            time.sleep(0.02)

    def kept(self):
        """A run that was stopped, with a checkpoint."""
        self.write('deck.sp', self.LONG)
        p = self.begin('deck.sp', '-r', 'o.raw', '--checkpoint', '0.0001')
        self.comes(p, 'o.raw.checkpoint')
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(400), 130, self.said())
        self.assertIn('--restart o.raw.checkpoint', self.said())

    def refuse(self, why, *args):
        before = self.bytes_of('o.raw')
        done = self.vsim('deck.sp', '-r', 'o.raw', '--restart', 'o.raw.checkpoint', *args)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(why, done.stderr)
        self.assertEqual(self.bytes_of('o.raw'), before)

    def test_what_is_another(self):
        self.kept()
        deck, other = self.LONG, 'the deck, or a file that it includes'
        self.write('deck.sp', deck.replace('r1 vcc c1 1k', 'r1 vcc c1 1.1k'))
        self.refuse(other)
        self.write('deck.sp', deck)
        self.refuse('another format', '--csv')
        with open(self.path('o.raw.checkpoint'), 'rb') as f:
            whole = bytearray(f.read())
        rng = random.Random(5)
        for at in [rng.randrange(64, len(whole)) for _ in range(8)]:
            damaged = whole.copy()
            damaged[at] ^= 1 << rng.randrange(8)
            self.write_bytes('o.raw.checkpoint', damaged)
            self.refuse('it is damaged')
        self.write_bytes('o.raw.checkpoint', whole[:len(whole) // 2])
        self.refuse('its end is missing')
        self.write_bytes('o.raw.checkpoint', b'no checkpoint')
        self.refuse('it is no checkpoint')
        build = whole.copy()
        build[9] ^= 1
        self.write_bytes('o.raw.checkpoint', build)
        self.refuse('another build of vsim')
        self.write_bytes('o.raw.checkpoint', whole)
        with open(self.path('o.raw'), 'r+b') as f:
            f.seek(-4096, 2)
            byte = f.read(1)
            f.seek(-4096, 2)
            f.write(bytes([byte[0] ^ 1]))
        self.refuse('the results are not those that it goes on from')
        os.remove(self.path('o.raw.checkpoint'))
        done = self.vsim('deck.sp', '-r', 'o.raw', '--restart', 'o.raw.checkpoint')
        self.assertEqual(done.returncode, 4)

    def write_bytes(self, name, b):
        with open(self.path(name), 'wb') as f:
            f.write(b)

    def test_other_parameters(self):
        self.write('deck.sp', self.LONG.replace('r1 vcc c1 1k', '.param r=1k\nr1 vcc c1 {r}'))
        p = self.begin('deck.sp', '-r', 'o.raw', '--checkpoint', '0')
        self.comes(p, 'o.raw')
        p.send_signal(signal.SIGUSR1)
        self.comes(p, 'o.raw.checkpoint')
        p.kill()
        p.wait()
        self.refuse('other values of their parameters', '-D', 'r=2k')

    def test_what_cannot_be_kept(self):
        self.write('sweep.sp', 'sweep\nv1 a 0 1\nr1 a 0 {r}\n.param r=1\n.step param r 1 3 1\n'
                   '.tran 1n 1u\n.end\n')
        for args, why in ((['--restart', 'x'], '--resume goes on with'),
                          (['--checkpoint', '1', '-r', '-'], 'needs a result file')):
            done = self.vsim('sweep.sp', *args)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(why, done.stderr)
        for args, why in ((['--checkpoint', 'x'], 'takes minutes'),
                          (['check', '--restart', 'x'], 'only running a deck takes')):
            done = self.vsim(*args, 'sweep.sp')
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)


POINTS = """a sweep of long points: lines, an event, measures of more points than are kept
.hdl "tell.va"
v1 a 0 sin(0 1 1meg)
r1 a b {r}
c1 b 0 1n
d1 b 0 dm
.model dm d is=1e-14 cjo=1p
.model tell tell
n1 b c tell
r2 c 0 1k
.param r=1k
.step param r 1k 3k 1k
.op
.tran 1n 200u 0 2n
.meas tran top max v(b)
.meas tran late when v(b)=0.01 rise=150
.end
"""
TELL = """`include "disciplines.vams"
module tell(in, out);
  inout in, out; electrical in, out;
  integer n;
  analog begin
    @(initial_step) n = 0;
    @(timer(10u, 20u)) begin n = n + 1; $strobe("turn %d", n); end
    V(out) <+ V(in) + n;
  end
endmodule
"""


class Points(Case):
    """Points of sweeps that were under way go on from their checkpoints."""
    also = ()

    def ready(self, deck=POINTS, *args):
        self.write('tell.va', TELL)
        self.write('deck.sp', deck)
        ref = self.vsim('deck.sp', '-r', 'ref.raw', '--measures', 'ref.csv', '--jobs', '1', *args)
        self.assertEqual(ref.returncode, 0, ref.stderr)
        return re.findall('turn.*', ref.stdout)

    def start(self, jobs, *args):
        return self.begin('deck.sp', '-r', 'o.raw', '--measures', 'o.csv', '--jobs', jobs, *self.also, *args)

    def under_way(self, p):
        """Waits for results of a point, or the end."""
        while p.poll() is None:
            for name in os.listdir(self.tmp.name):
                try:
                    if re.fullmatch(r'o\.raw\.point-\d', name) and os.path.getsize(self.path(name)) > 1 << 16:
                        return
                except FileNotFoundError:
                    pass  # its point has ended
            time.sleep(0.005)

    def same(self):
        self.assertEqual(self.bytes_of('o.raw'), self.bytes_of('ref.raw'))
        self.assertEqual(self.bytes_of('o.csv'), self.bytes_of('ref.csv'))
        self.assertEqual([n for n in os.listdir(self.tmp.name) if n.startswith('o.raw.')], [])

    def stopped_once(self, jobs):
        """A run that a signal met within a point, whose results' name is returned, with the turns that were told;
        it may also have come between two of them."""
        for _ in range(40):
            p = self.start(jobs, '--checkpoint', '0')
            self.under_way(p)
            p.send_signal(signal.SIGTERM)
            if p.wait(400) == 130:
                self.assertIn('with --resume', self.said())
                for name in sorted(os.listdir(self.tmp.name)):
                    if re.fullmatch(r'o\.raw\.point-\d\.checkpoint', name):
                        return name[:-len('.checkpoint')], re.findall('turn.*', self.said())
            else:
                self.assertIn(p.returncode, (0, -signal.SIGTERM), self.said())
        self.fail('it is too fast to be stopped')

    def test_a_stopped_sweep_goes_on_within_its_points(self):
        turns = self.ready()
        self.assertEqual(len(turns), 30)
        for jobs in '1', '2':
            _, said = self.stopped_once(jobs)
            self.assertEqual(self.start('2', '--resume').wait(400), 0)
            self.assertIn('goes on from its checkpoint', self.said())
            self.assertEqual(said + re.findall('turn.*', self.said()), turns)
            self.same()

    def test_files_of_analyses_keep_their_numbers(self):
        port = 'vq q 0 portnum 1 z0 50\nrq q 0 {r}\n.sp lin 1 1meg 1meg\n'
        deck = POINTS.replace('.op\n', port).replace('.end\n', '.sp lin 1 2meg 2meg\n.end\n')
        self.ready(deck, '--touchstone', 'ref')
        self.also = ('--touchstone', 'o')
        self.stopped_once('1')
        self.assertEqual(self.start('1', '--resume').wait(400), 0)
        self.same()
        names = ['.point-%d%s.s1p' % (i, k) for i in (1, 2, 3) for k in ('', '.sp2')]
        self.assertEqual(sorted(n for n in os.listdir(self.tmp.name) if n.endswith('s1p')),
                         sorted(stem + n for n in names for stem in ('ref', 'o')))
        for n in names:
            self.assertEqual(self.bytes_of('o' + n), self.bytes_of('ref' + n))
            self.assertIn('\n%d000000 ' % (1 + ('sp2' in n)), self.read('o' + n))

    def test_what_does_not_fit_begins_anew(self):
        self.ready()
        for kind, why in (('', 'the results are not those'), ('.checkpoint', 'it is damaged')):
            point, _ = self.stopped_once('1')
            with open(self.path(point + kind), 'r+b') as f:
                f.seek(2000)
                byte = f.read(1)
                f.seek(2000)
                f.write(bytes([byte[0] ^ 1]))
            self.assertEqual(self.start('1', '--resume').wait(400), 0)
            self.assertIn(why, self.said())
            self.assertIn('anew', self.said())
            self.same()
        self.stopped_once('2')
        self.assertEqual(self.start('2').wait(400), 0)  # not gone on with: nothing of it stays
        self.assertNotIn('goes on', self.said())
        self.same()

    def killed_behind_a_point(self):
        """The files of a point under way whose results a killed run wrote; {}: it was too fast."""
        journal = self.path('o.raw.journal')
        self.stopped_once('1')
        files = {n: self.bytes_of(n) for n in os.listdir(self.tmp.name) if 'raw.point-' in n}
        size = os.path.getsize(journal)
        p = self.start('1', '--resume', '--checkpoint', '0')
        while p.poll() is None and os.path.exists(journal) and os.path.getsize(journal) == size:
            time.sleep(0.001)
        p.kill()
        p.wait(400)
        return files if len(files) == 2 and os.path.exists(journal) else {}

    def test_a_kill_behind_the_results_of_a_point(self):
        self.ready()
        files = {}
        for _ in range(20):
            files = files or self.killed_behind_a_point()
        self.assertTrue(files, 'it is too fast to be killed')
        for name, b in files.items():  # as if the kill had come before they were removed
            for new in name.replace('point-0', 'point-1'), name.replace('point-0', 'held-0'):
                with open(self.path(new), 'wb') as f:
                    f.write(b)
        self.assertEqual(self.start('1', '--resume').wait(400), 0)
        self.same()

    def points(self, budget, rng):
        """Signals at random times, also to runs that go on."""
        self.ready()
        met = 0
        while met < budget:
            for hops in range(LAST_HOP + 1):
                go_on = ['--resume'] if os.path.exists(self.path('o.raw.journal')) else []
                p = self.start(rng.choice('12'), '--checkpoint', rng.choice(('0', '0.001')), *go_on)
                if hops < LAST_HOP and self.still_runs(p, rng.uniform(0.05, 1)):
                    p.send_signal(rng.choice((signal.SIGTERM, signal.SIGINT, signal.SIGKILL)))
                    met += 1
                code = p.wait(400)
                self.no_error()
                while at_work(self.tmp.name):
                    time.sleep(0.05)  # workers of a killed run end with the point that they have
                if code == 0:
                    break
            self.same()
        return met

    def test_signals_at_any_time(self):
        self.points(KILLS, random.Random(6))


SWEEP = """a sweep that --resume goes on with
v1 a 0 sin(0 1 1meg)
r1 a b {r}
c1 b 0 1n
d1 b 0 dm
.model dm d is=1e-14
.param r=1k
.step param r 100 4000 100
.tran 10n 20u
.end
"""
BLOCK = """a block that writes its results
v1 a 0 sin(0 1 1meg)
r1 a b 1k
c1 b 0 1n
.control
repeat 5
tran 1n 200u
write o.raw v(b)
end
.endc
.end
"""


LOOPS = """changes, loops, variables, functions, files that grow
v1 a 0 sin(0 1 1meg)
r1 a b {rr}
.param rr=1k
c1 b 0 1n
d1 b 0 dm
.model dm d is=1e-14
.control
define twice(x) 2*x
let k = 0
save v(b) v(a)
op
foreach r 500 1k 2k
  alter r1 = $r
  repeat 2
    let const.k = const.k + 1
    set n = $r
    if const.k > 2
      option reltol=1e-4
      tran 2n 150u
    else
      tran 5n 200u
    end
    meas tran top max v(b)
    let y = twice(v(b))
    write o{$&const.k}.raw v(b) y
    echo $n $&const.k $&top >> log.txt
    set appendwrite
    write all.raw v(b)
    wrdata w.txt v(b)[100]
    unset appendwrite
  end
end
setplot tran2
print length(v(b)) tran4.y[100] > end.txt
.endc
.end
"""
CARDS = """the cards of a deck within a block, spectra, samples, loops with conditions
v1 a 0 sin(0 1 1meg)
r1 a b {agauss(1k, 100, 3)}
c1 b 0 1n
d1 b 0 dm
.model dm d is=1e-14
.option seed=7
.temp 30
.ac dec 5 1k 1meg
.tran 4n 200u
.meas tran top max v(b)
.meas tran mean avg v(b) from=10u to=90u
.control
let turn = 0
while const.turn < 3
  if const.turn = 1
    set temp = 50
  else
    echo $&const.turn
  end
  dowhile 0
    run
    linearize v(b)
    fft v(b)
    write s{$&const.turn}.raw
  end
  reset
  let const.turn = const.turn + 1
end
echo $&top $&mean > end.txt
.endc
.end
"""
BLOCKS = {'loops': LOOPS, 'cards': CARDS}


class Stopped(Case):
    """What nothing can interrupt does not keep a run from ending."""

    @staticmethod
    def processor_seconds(p):
        with open('/proc/%d/stat' % p.pid) as f:
            return int(f.read().rsplit(')', 1)[1].split()[11]) / os.sysconf('SC_CLK_TCK')

    def test_within_the_factors_of_a_large_matrix(self):
        # each node has resistors to two others, at random: no order avoids fill, and the factors
        # need some 2e10 multiplications, which no processor does in the seconds that this needs
        n, rng = 14000, random.Random(1)
        lines = ['random graph', 'v1 n0 0 1', 'd1 n5 0 dm', '.model dm d is=1e-14', 'e1 x 0 n3 0 1']
        for i in range(n):
            lines.append('r%d n%d 0 1k' % (3 * i, i))
            lines += ['r%d n%d n%d 1k' % (3 * i + k, i, rng.randrange(n)) for k in (1, 2)]
        self.write('deck.sp', '\n'.join(lines + ['.op', '.end', '']))
        p = self.begin('deck.sp', '-r', 'o.raw', '--lu', 'klu')
        while self.still_runs(p, 0.2) and 'unknowns' not in self.said():
            pass
        loaded = self.processor_seconds(p)
        while self.still_runs(p, 0.1) and self.processor_seconds(p) < loaded + 1:
            pass
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(400), 130, self.said())
        self.assertIn('stopped within a factorisation', self.said())


class Blocks(Case):
    """Blocks go on with the statement that was under way: every file is that of a run without an
    interruption, also those that grow."""

    def fresh(self, deck):
        for name in os.listdir(self.tmp.name):
            os.remove(self.path(name))
        self.write('deck.sp', deck)

    def files(self):
        # a run that was killed leaves its points in deck.tran1.part.raw
        sums = {}
        for name in os.listdir(self.tmp.name):
            if name != 'log' and '.part' not in name:
                with open(self.path(name), 'rb') as f:
                    sums[name] = hashlib.sha1(re.sub(rb'(?m)^Date: .*$', b'', f.read())).hexdigest()
        return sums

    def meet(self, p, seconds, rng):
        if not self.still_runs(p, rng.uniform(0.05, seconds)):
            return
        if rng.random() < 0.5:
            p.send_signal(signal.SIGTERM)
        else:
            p.send_signal(signal.SIGUSR1)
            time.sleep(rng.uniform(0, seconds / 2))
            p.kill()

    def kept(self):
        return [name for name in os.listdir(self.tmp.name) if name.endswith('.checkpoint')]

    def through(self, deck, args, rng, most):
        """The block with signals until it is done; how many went on from a checkpoint. The machine
        may be slower or faster than it was for the reference: a run that a signal met before its
        transients has the next one come later, a run that no signal met has it come earlier."""
        self.fresh(deck)
        hops = back = 0
        while True:
            kept = self.kept()
            if not kept:
                self.fresh(deck)  # a run from its beginning would make files longer again
            go_on = ['--restart', kept[0]] if kept else []
            back += len(kept)
            p = self.begin('deck.sp', *args, '--checkpoint', '0', *go_on,
                           '--threads', str(rng.choice((1, 2))))
            if hops < most:
                self.meet(p, self.seconds, rng)
            code = p.wait(400)
            self.no_error()
            if hops < most and (code == 0 or not self.kept()):
                self.seconds *= 0.7 if code == 0 else 1.4
            if code == 0:
                return back
            hops += 1
            self.assertIn(code, (130, -signal.SIGKILL, -signal.SIGUSR1, -signal.SIGTERM),
                          self.said())

    def hunt(self, name, args, budget, rng):
        self.fresh(BLOCKS[name])
        begun = time.monotonic()
        # a run that may be kept has no latent parts
        done = self.vsim('deck.sp', *args, '--checkpoint', '1e6')
        self.seconds = time.monotonic() - begun
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ref, met = self.files(), 0
        for _ in range(20 * budget):
            if met >= budget:
                break
            met += self.through(BLOCKS[name], args, rng, min(budget, LAST_HOP))
            self.assertEqual(self.files(), ref)
        return met

    def test_loops_and_files_that_grow(self):
        self.assertGreater(self.hunt('loops', [], KILLS, random.Random(6)), 0)

    def test_cards_in_a_block_with_results(self):
        self.assertGreater(self.hunt('cards', ['-r', 'r.raw'], KILLS, random.Random(7)), 0)

    def test_a_transient_that_may_pause_is_not_kept(self):
        self.fresh('may pause\nv1 a 0 sin(0 1 1meg)\nr1 a b 1k\nc1 b 0 1n\n.control\nsave v(b)\n'
                   'stop when time > 2\nprint 1 > begun.txt\ntran 5n 1\n.endc\n.end\n')
        for wait in (0.3, 1, 3, 10, 30):  # until the signal comes behind compiling, in the transient
            p = self.begin('deck.sp', '--checkpoint', '0')
            while not os.path.exists(self.path('begun.txt')) and p.poll() is None:
                time.sleep(0.05)
            time.sleep(wait)
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(400), 130)
            os.remove(self.path('begun.txt'))
            if 'the block may make its transient pause' in self.said():
                break
        else:
            self.fail(self.said())
        self.assertFalse(os.path.exists(self.path('deck.checkpoint')))


def whole_plots(b):
    """Points that the headers of a raw file promise are there; how many plots."""
    n = 0
    while b:
        head, _, rest = b.partition(b'Binary:\n')
        count = [int(re.search(key + rb'\s*(\d+)', head).group(1))
                 for key in (b'No. Variables:', b'No. Points:')]
        size = 8 * count[0] * count[1]
        if len(rest) < size:
            raise AssertionError('%d bytes of points are missing' % (size - len(rest)))
        b, n = rest[size:], n + 1
    return n


def family(pid):
    """A process and those that it started."""
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            return [pid] + [x for child in f.read().split() for x in family(int(child))]
    except OSError:
        return []


def at_work(place):
    """Processes of the program in a folder that have not ended."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        at = '/proc/%s/' % pid
        try:
            with open(at + 'stat') as f:
                ended = f.read().rsplit(')', 1)[1].split()[0] in 'ZX'
            if not ended and os.path.samefile(at + 'exe', VSIM) and os.path.samefile(at + 'cwd', place):
                found.append(int(pid))
        except OSError:
            pass
    return found


MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', VSIM_RANK_TIMEOUT='3',
           OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_mtl='^psm,psm2,ofi', OMPI_MCA_btl='self,vader')


class Others(Case):
    """Runs without checkpoints: sweeps go on, the files of blocks are always whole."""
    JOB_LIMIT = 120  # s in which a job ends when a process of it was hit, on a machine with much other work
    launcher_hung = 0

    def signal_at(self, seconds, rng, *args):
        for _ in range(100):
            p = self.begin('deck.sp', *args)
            if self.still_runs(p, rng.uniform(0.01, seconds)):
                p.send_signal(rng.choice((signal.SIGTERM, signal.SIGKILL)))
            code = p.wait(400)
            if code != 4 or 'another run writes there' not in self.said():
                break
            time.sleep(0.1)  # workers of a killed run end with the point that they have
        self.assertIn(code, (0, 130, -signal.SIGKILL, -signal.SIGTERM), self.said())
        return code

    def finish(self, *args):
        for _ in range(100):
            done = self.vsim('deck.sp', *args)
            if 'another run writes there' not in done.stderr:
                break
            time.sleep(0.1)
        self.assertEqual(done.returncode, 0, done.stderr)

    def sweep(self, budget, rng):
        self.write('deck.sp', SWEEP)
        begun = time.monotonic()
        self.assertEqual(self.vsim('deck.sp', '-r', 'ref.raw', '--jobs', '2').returncode, 0)
        seconds, met = time.monotonic() - begun, 0
        while met < budget:
            code = self.signal_at(seconds, rng, '-r', 'o.raw', '--jobs', '2')
            for _ in range(LAST_HOP):
                if code == 0:
                    break
                met += 1
                code = self.signal_at(seconds, rng, '-r', 'o.raw', '--jobs', '2', '--resume')
            if code:
                self.finish('-r', 'o.raw', '--jobs', '2', '--resume')
            self.assertEqual(re.sub(rb'Date: .*', b'', self.bytes_of('o.raw')),
                             re.sub(rb'Date: .*', b'', self.bytes_of('ref.raw')))
        return met

    def end_of_job(self, p):
        """The exit code of a job of MPI. Open MPI's mpirun sometimes waits for ever for processes that have ended: where
        none of vsim's is left after the limit, it is killed and counted. A process of vsim that is left fails the test."""
        try:
            return p.wait(self.JOB_LIMIT)
        except subprocess.TimeoutExpired:
            left = at_work(self.tmp.name)
            self.assertEqual(left, [], 'a job does not end: ' + self.said())
            Others.launcher_hung += 1
            p.kill()
            return p.wait()

    def ranks(self, budget, rng):
        """Any process of an MPI job is killed; the job ends by itself, and --resume goes on."""
        self.write('deck.sp', SWEEP)
        self.assertEqual(self.vsim('deck.sp', '-r', 'ref.raw').returncode, 0)
        command, seconds, met = ['mpirun', '-n', '3', VSIM, '-n', 'deck.sp', '-q', '-r', 'o.raw'], 4, 0
        while met < budget:
            for _ in range(LAST_HOP):
                with open(self.path('log'), 'w') as log:
                    p = subprocess.Popen(command + ['--resume'] * os.path.exists(self.path('o.raw.journal')), env=MPI,
                                         cwd=self.tmp.name, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                if self.still_runs(p, rng.uniform(0.1, seconds)):
                    victims = family(p.pid)
                    if victims:
                        met += self.hit(rng.choice(victims), rng.choice((signal.SIGTERM, signal.SIGKILL)))
                code = self.end_of_job(p)
                if code == 0:
                    break
            if code:
                time.sleep(4)  # ranks that lost their launcher end by VSIM_RANK_TIMEOUT
                self.finish('-r', 'o.raw', '--resume')
            else:
                seconds *= 0.7
            self.assertEqual(re.sub(rb'Date: .*', b'', self.bytes_of('o.raw')),
                             re.sub(rb'Date: .*', b'', self.bytes_of('ref.raw')))
        return met

    @staticmethod
    def hit(pid, sig):
        try:
            os.kill(pid, sig)
        except ProcessLookupError:
            return 0
        return 1

    def block(self, budget, rng):
        self.write('deck.sp', BLOCK)
        begun = time.monotonic()
        self.assertEqual(self.vsim('deck.sp').returncode, 0)
        seconds = time.monotonic() - begun
        for _ in range(budget):
            self.signal_at(seconds, rng)
            for name in os.listdir(self.tmp.name):
                if name == 'o.raw':
                    self.assertGreaterEqual(whole_plots(self.bytes_of(name)), 1)
        return budget


# Calls that change files, or between which the run has its own state.
CALLS = ('write', 'pwrite64', 'openat', 'close', 'rename', 'unlink', 'ftruncate', 'fsync', 'munmap')


@unittest.skipUnless(shutil.which('strace'), 'needs strace')
class Calls(Case):
    """Signals at the n-th system call of a sort, evenly over all calls of a run: places that random times seldom meet."""
    files, kept = Blocks.files, Blocks.kept

    def fresh(self, name):
        """The files of a run that begins, and its arguments."""
        for old in os.listdir(self.tmp.name):
            os.remove(self.path(old))
        self.write('events.va', EVENTS)
        self.write('tell.va', TELL)
        if name in DECKS:
            text, end = DECKS[name]
            args = ['-r', 'out.' + end, '--measures', 'm.json'] + ['--csv'] * (end == 'csv')
        else:
            text = BLOCKS.get(name) or {'points': POINTS, 'sweep': SWEEP, 'block': BLOCK}[name]
            args = ['-r', 'o.raw', '--measures', 'o.csv', '--jobs', '1'] if name in ('points', 'sweep') else []
        self.write('deck.sp', text)
        return args + ['--checkpoint', '0.0005']

    def go_on(self, name):
        """More arguments of a run that goes on with what is there; []: there is nothing."""
        if name in ('points', 'sweep'):
            return ['--resume'] * os.path.exists(self.path('o.raw.journal'))
        return [x for kept in self.kept() for x in ('--restart', kept)]

    def run_with(self, strace, *args):
        with open(self.path('log'), 'w') as log:
            code = subprocess.call([*strace, VSIM, '-n', 'deck.sp', '--threads', '1', *args], cwd=self.tmp.name,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=400)
        self.no_error()
        self.assertIn(code, (0, 130, -signal.SIGKILL, -signal.SIGTERM), [strace, args, self.said()])
        return code

    def meet(self, call, n, *args):
        sig = random.Random(n).choice(('SIGTERM', 'SIGKILL'))
        return self.run_with(['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=' + call, '-e',
                              'inject=%s:signal=%s:when=%d' % (call, sig, n)], *args)

    def walk(self, name, total, rng):
        """total of the places in a run; how many signals met one."""
        count = ['strace', '-f', '-qq', '-o', 'calls.part', '-e', 'trace=' + ','.join(CALLS)]
        self.assertEqual(self.run_with([], *self.fresh(name)), 0, self.said())  # compiles what there is
        args = self.fresh(name)
        # checkpoints by the clock make more of them, on a slow machine many
        self.assertEqual(self.run_with(count, *args[:-1], '1e6'), 0, self.said())
        names, ref, met = re.findall(r'(?m)^(?:\d+ +)?(\w+)\(', self.read('calls.part')), self.files(), 0
        places = [(call, 1 + n) for call in CALLS for n in range(names.count(call))]
        for place in places[rng.randrange(max(1, len(places) // total))::max(1, len(places) // total)]:
            code = self.meet(*place, *self.fresh(name))
            while code and self.go_on(name):
                met += 1
                more = args + self.go_on(name)
                code = self.meet(*rng.choice(places), *more) if rng.random() < 0.5 else self.run_with([], *more)
            if code:
                met += 1  # before there was anything to go on with
            elif name != 'block':
                self.assertEqual(self.files(), ref, place)
        return met

    def test_decks(self):
        for name in 'cards', 'lines', 'points':
            with self.subTest(name):
                self.assertGreaterEqual(self.walk(name, 2 * KILLS, random.Random(3)), KILLS)


def has_mpi():
    """Whether there is Open MPI, for this program and this machine."""
    return bool(shutil.which('mpirun')) and os.path.exists(os.path.join(os.path.dirname(VSIM), 'src/rank/libvsim-mpi.so'))


# Calls of processes that carry and take messages, too.
RANK_CALLS = CALLS + ('read', 'writev', 'poll', 'ppoll', 'epoll_wait', 'socketpair', 'fcntl', 'wait4', 'kill', 'exit_group')


class Twice(Exception):
    """The process that computed the point again met the signal, too: the point has failed, as it should."""


@unittest.skipUnless(shutil.which('strace'), 'needs strace')
class CallsOfRanks(Others):
    """Signals at the n-th system call of a sort in one rank of three: to its launched process, its simulator and its
    workers, each when it comes to its n-th. The job ends by itself; with exit code 0 its results are whole, with
    another one what goes on makes them so, and no process outlives it."""
    DECK = SWEEP.replace('20u', '100u')  # longer than MPI's beginning
    CODES = 0, 4, 130, 128 + signal.SIGKILL, 128 + signal.SIGTERM, \
        -signal.SIGKILL, -signal.SIGSEGV  # mpirun hung (end_of_job); it crashed when its job had ended (PMIx)
    files = Blocks.files

    def fresh(self):
        for old in os.listdir(self.tmp.name):
            os.remove(self.path(old))
        self.write('deck.sp', self.DECK)

    def job(self, rank=None, strace=()):
        """A job, one rank of it under strace, that goes on with what is there; its exit code."""
        one = [VSIM, '-n', 'deck.sp', '-q', '-r', 'o.raw', '--measures', 'o.csv', '--checkpoint', '0.0005', '--threads', '1']
        one += ['--resume'] * os.path.exists(self.path('o.raw.journal'))
        command = []
        for k in range(3):
            under = ['strace', '-D', '-f', '-qq', *strace] if k == rank else []  # -D: what is launched is the program
            command += [':'] * (k > 0) + ['-n', '1', *under, *one]
        with open(self.path('log'), 'w') as log:
            p = subprocess.Popen(['mpirun', *command], env=MPI, cwd=self.tmp.name, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        code = self.end_of_job(p)
        for _ in range(10 * self.JOB_LIMIT):
            if not at_work(self.tmp.name):
                break
            time.sleep(0.1)
        self.assertEqual(at_work(self.tmp.name), [], 'a process outlives its job: ' + self.said())
        if 'the process that computed it ended by' in self.said():
            raise Twice
        self.no_error()
        self.assertIn(code, self.CODES, [rank, strace, self.said()])
        return code

    def places(self):
        """[(rank, call, n)] of each process and thread of ranks 0 and 1."""
        found = []
        for rank in 0, 1:
            self.fresh()
            self.assertEqual(self.job(rank, ['-ff', '-o', 'calls.part', '-e', 'trace=' + ','.join(RANK_CALLS)]), 0, self.said())
            for name in sorted(os.listdir(self.tmp.name)):
                if name.startswith('calls.part'):
                    here, count = [], collections.Counter()
                    for call in re.findall(r'(?m)^(\w+)\(', self.read(name)):
                        count[call] += 1
                        here.append((rank, call, count[call]))
                    found += [here] * bool(here)
        return found

    def meet(self, place):
        """A job with a signal at this place: its exit code, and whether a process met the signal."""
        rank, call, n = place
        sig = random.Random(n).choice(('SIGTERM', 'SIGKILL'))
        code = self.job(rank, ['-o', 'met.part', '-e', 'trace=' + call, '-e', 'inject=%s:signal=%s:when=%d' % (call, sig, n)])
        return code, sig in self.read('met.part')

    def walk(self, _, total, rng):
        """So many places, as many of each process; how many signals met one."""
        self.fresh()
        self.assertEqual(self.vsim('deck.sp', '-q', '-r', 'o.raw', '--measures', 'o.csv').returncode, 0)
        ref, processes, met, ends = self.files(), self.places(), 0, collections.Counter()
        cuts = [(here, min(len(here), max(1, total // len(processes)))) for here in processes]
        places = [here[rng.randrange(k * len(here) // n, (k + 1) * len(here) // n)] for here, n in cuts for k in range(n)]
        places = places if len(places) <= total else rng.sample(places, total)
        for place in places:
            try:
                met += self.through(place, processes, rng, ends)
                self.assertEqual(self.files(), ref, [place, self.said()])
            except Twice:
                met += 2
                ends['a point failed twice'] += 1
        print('%d places; ends of the jobs: %s' % (len(places), ', '.join('%s: %d' % x for x in ends.items())))
        return met

    def through(self, place, processes, rng, ends):
        """A job with a signal at this place, and what goes on with it, until it is done; how many signals met a process."""
        self.fresh()
        met, hop = 0, 0
        while True:
            code, hit = self.meet(place) if place else (self.job(), False)
            met += hit
            ends['exit code %d' % code if hit else 'no signal'] += 1
            if code == 0:
                return met
            hop += 1
            self.assertLess(hop, 2 * LAST_HOP, self.said())
            place = rng.choice(rng.choice(processes)) if hop < LAST_HOP and rng.random() < 0.5 else None

    def test_a_few_places(self):
        if not has_mpi():
            self.skipTest('needs Open MPI')
        self.assertGreater(self.walk('ranks', 2 * KILLS, random.Random(4)), 0)


def walk_all(total, seed, only):
    """So many places of each deck."""
    for name in list(DECKS) + ['sweep', 'points', 'block'] + list(BLOCKS) + ['ranks'] * has_mpi():
        if only in (None, name):
            case = CallsOfRanks() if name == 'ranks' else Calls()
            case.setUp()
            try:
                print('%s: %d signals at system calls' % (name, case.walk(name, total, random.Random(seed))), flush=True)
            finally:
                case.doCleanups()


def long_hunt(total, seed, only):
    """Signals over all decks in turn, until there were so many."""
    rng, met, turn = random.Random(seed), 0, 0
    kinds = list(DECKS) + ['sweep', 'points', 'block'] + list(BLOCKS) + ['ranks'] * has_mpi()
    kinds = [kind for kind in kinds if only in (None, kind)]
    counts = dict.fromkeys(kinds, 0)
    while met < total:
        name = kinds[turn % len(kinds)]
        turn += 1
        case = (Equal() if name in DECKS else Blocks() if name in BLOCKS else
                Points() if name == 'points' else Others())
        case.setUp()
        try:
            most = min(20, total - met)
            if name in BLOCKS:
                n = case.hunt(name, [], most, rng)
            else:
                n = case.hunt(name, most, rng) if name in DECKS else getattr(case, name)(most, rng)
        finally:
            case.doCleanups()
        counts[name] += n
        met += n
        print('%d of %d signals: %s%s' % (met, total, counts, '; mpirun did not end %d times' % Others.launcher_hung
                                          if Others.launcher_hung else ''), flush=True)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    hunts = {'--kills': long_hunt, '--calls': walk_all}
    asked = [word for word in sys.argv if word in hunts]
    if asked:
        given = dict(zip(sys.argv, sys.argv[1:]))
        hunts[asked[0]](int(given[asked[0]]), int(given.get('--seed', 1)), given.get('--kind'))
    else:
        unittest.main()
