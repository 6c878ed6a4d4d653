#!/usr/bin/env python3
"""Sweeps by the processes of mpirun: the same bytes for any number of ranks, ranks that die, interrupted jobs.

    ranks.py VSIM [unittest arguments]     exit code 77 where there is no mpirun, or vsim was built without MPI
    ranks.py VSIM --kills N [--seed S]     N signals at random times to runs that keep their points; counts"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import deadly
from folder import Folder

VSIM = ''
SWEEP = """RC
.param r=1k c=1n
V1 in 0 dc 1 PULSE(0 1 0 1n 1n 10u 20u)
R1 in out {r}
C1 out 0 {c}
.tran 10n 60u
.meas tran d trig v(in) val=0.5 rise=1 targ v(out) val=0.5 rise=1
.meas tran top max v(out)
.step param r 1k 5k %s
.step param c list 1n 2n
"""
PATIENCE = 400  # s, for whatever ends
KILLS = 4  # random signals of the daily run
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', VSIM_RANK_TIMEOUT=str(PATIENCE),
           OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_mtl='^psm,psm2,ofi', OMPI_MCA_btl='self,vader',
           # as between machines, long messages come in parts, and a sender may end between two of them
           OMPI_MCA_btl_vader_single_copy_mechanism='none')


def children(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


def all_ended(pid):
    """Whether all children of the process are zombies."""
    states = []
    for child in children(pid):
        try:
            with open('/proc/%d/stat' % child) as f:
                states.append(f.read().rpartition(') ')[2][0])
        except OSError:
            pass
    return bool(states) and set(states) == {'Z'}


def hit(pid, sig):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        return False
    return True


class Base(Folder):
    def write(self, text, name='d.sp'):
        with open(self.path(name), 'w') as f:
            f.write(text)
        os.utime(self.path(name), (10**9, 10**9))

    def data(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def start(self, command, **env):
        return subprocess.Popen(command, cwd=self.tmp.name, env=dict(ENV, **env), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def run_it(self, *args, ranks=1, code=0):
        p = self.start(['mpirun', '-n', str(ranks), VSIM, *args] if ranks > 1 else [VSIM, *args])
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, code, out + err)
        return out, err

    def results(self, tag, *args, ranks=1, code=0):
        self.run_it('-q', '-r', tag + '.raw', '--measures', tag + '.csv', *args, 'd.sp', ranks=ranks, code=code)
        return self.data(tag + '.raw'), self.data(tag + '.csv')

    @staticmethod
    def rank_0_of(starters):
        found = []
        for vsim in [b for a in starters for b in children(a)]:
            try:
                with open('/proc/%d/environ' % vsim) as f:
                    found += [vsim] * ('OMPI_COMM_WORLD_RANK=0\0' in f.read())
            except OSError:
                pass  # it has ended
        return found


class Ranks(Base):
    def points(self, name):
        try:
            return self.data(name).count(b'\np ')
        except OSError:
            return 0

    def kill_early(self, pids, most=200):
        """Kills processes if no more than `most` points are there when all of them stand; whether it did."""
        there = [pid for pid in pids if hit(pid, signal.SIGSTOP)]
        early = there == pids != [] and 10 < self.points('b.raw.journal') < most
        for pid in there:
            hit(pid, signal.SIGKILL if early else signal.SIGCONT)
        return early

    def kill(self, victims, *options, **env):
        """mpirun with three ranks, of whose processes some are killed when all ranks compute. victims: which, of the process of
        mpirun and (launched process, simulator, worker) of each rank. mpirun's process, and the ranks."""
        for _ in range(20):  # it may be over before this process has the processor
            p = self.start(['mpirun', *options, '-n', '3', VSIM, '-q', '-r', 'b.raw', '--measures', 'b.csv', 'd.sp'], **env)
            while p.poll() is None:
                rank = [(a, b, c) for a in children(p.pid) for b in children(a) for c in children(b)[:1]]
                if len(rank) == 3 and self.points('b.raw.journal') > 10 and self.kill_early(victims(p.pid, rank)):
                    return p, rank
                time.sleep(0.005)
            p.communicate(timeout=PATIENCE)
        self.fail('the ranks end too early')

    def end(self, p, code=0):
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, code, out + err)
        return err

    def test_same_bytes_for_any_number_of_ranks(self):
        self.write(SWEEP % '100')
        one = self.results('a')
        for ranks in 2, 3, 4:
            self.assertEqual(self.results('b', ranks=ranks), one)
        self.assertEqual(self.results('b', '--jobs', '2', ranks=2), one)
        self.run_it('--csv', '-r', 'c1.csv', 'd.sp')
        self.run_it('--csv', '-r', 'c2.csv', 'd.sp', ranks=3)
        self.assertEqual(self.data('c1.csv'), self.data('c2.csv'))
        self.assertFalse([f for f in os.listdir(self.tmp.name) if 'journal' in f or 'part' in f])

    def test_the_report_is_told_once(self):
        self.write(SWEEP % '1k' + '.print tran v(out)\n')
        out, err = self.run_it('-r', 'a.raw', 'd.sp', ranks=3)
        alone, _ = self.run_it('-r', 'b.raw', 'd.sp')
        cut = lambda text: [line for line in text.split('\n') if not re.match('time by phase| +Transient Analysis', line)]
        self.assertEqual(cut(out), cut(alone))
        self.assertEqual(err, '')

    def test_long_results_come_in_pieces(self):
        self.write('x\n.param r=1k\nV1 a 0 SIN(0 1 1k)\nR1 a b {r}\nC1 b 0 1n\n.tran 1n 60u 0 1n\n.step param r list 1k 2k 3k 4k\n')
        one = self.results_of_raw('a')
        self.assertGreater(len(one), 4 << 20)
        self.assertEqual(self.results_of_raw('b', ranks=2), one)

    def results_of_raw(self, tag, ranks=1):
        self.run_it('-q', '-r', tag + '.raw', 'd.sp', ranks=ranks)
        return self.data(tag + '.raw')

    def test_a_rank_that_rank_0_does_not_hear_is_not_lost(self):
        """The simulator of rank 0 stands still for longer than VSIM_RANK_TIMEOUT, with more results before it than are held."""
        self.write('x\n.param r=1k\nV1 a 0 SIN(0 1 1k)\nR1 a b {r}\nC1 b 0 1n\n.tran 1n 600u 0 1n\n.step param r list 1k 2k 3k 4k\n')
        one = self.results_of_raw('a')
        for _ in range(20):  # it may be over before this process has the processor
            p = self.start(['mpirun', '-n', '2', VSIM, '-q', '-r', 'b.raw', 'd.sp'], VSIM_RANK_TIMEOUT='8')
            while p.poll() is None and not self.stop_rank_0(p.pid):
                time.sleep(0.005)
            if p.poll() is None:
                break
            p.communicate(timeout=PATIENCE)
        else:
            self.fail('the ranks end too early')
        time.sleep(20)  # its results come meanwhile; where they come later, nothing is tested
        for pid in self.simulator_of_rank_0(p.pid):
            hit(pid, signal.SIGCONT)
        self.assertEqual(self.end(p), '')
        self.assertEqual(self.data('b.raw'), one)

    def simulator_of_rank_0(self, mpirun):
        return [b for a in self.rank_0_of([mpirun]) for b in children(a)]

    def stop_rank_0(self, mpirun):
        """Stops the simulator of rank 0 where each of two ranks computes a point; whether it did."""
        ticks = [self.ticks(c) for a in children(mpirun) for b in children(a) for c in children(b)]
        if len(ticks) < 2 or min(ticks) < 5:
            return False
        return any([hit(pid, signal.SIGSTOP) for pid in self.simulator_of_rank_0(mpirun)])

    @staticmethod
    def ticks(pid):
        """Of a processor that a process had."""
        try:
            with open('/proc/%d/stat' % pid) as f:
                return int(f.read().rsplit(')', 1)[1].split()[11])
        except OSError:
            return 0

    def figures(self, *args, ranks=1):
        self.run_it('-q', '--no-output', '--stats', 's.json', *args, 'd.sp', ranks=ranks)
        with open(self.path('s.json')) as f:
            return json.load(f)

    def test_figures_are_those_of_all(self):
        self.write(SWEEP % '100' + '.op\n')
        alone = self.figures()
        for got in self.figures('--jobs', '2'), self.figures(ranks=2), self.figures('--jobs', '2', ranks=2):
            for key in 'unknowns', 'points_accepted', 'points_rejected', 'newton_iterations', 'device_evaluations', 'op_method':
                self.assertEqual(got[key], alone[key], key)
            for kind in 'points', 'factors':
                self.assertEqual(got['generations'][kind]['rebuilt'], alone['generations'][kind]['rebuilt'], kind)

    def test_a_cold_cache_is_filled_once(self):
        self.write('x\n.param r=1k\n.model nm nmos (level=1)\n.model dm d (is=1e-14)\nV1 a 0 1\nR1 a b {r}\nM1 b b 0 0 nm w=1u l=1u\n'
                   'D1 b 0 dm\n.op\n.step param r 1k 50k 1k\n')
        n = self.figures('--cache-dir', 'cold')['kernels_compiled']
        self.assertGreater(n, 1)
        self.assertEqual(self.figures('--cache-dir', 'cold3', ranks=3)['kernels_compiled'], n)
        self.assertEqual(self.figures('--cache-dir', 'cold3', ranks=3)['kernels_compiled'], 0)

    def test_a_rank_that_never_starts(self):
        """MPI_Init of the others waits for it: rank 0 does all, and ends VSIM_RANK_TIMEOUT after its simulator."""
        self.write(SWEEP % '500')
        one = self.results('a')
        t0 = time.monotonic()
        p = self.start(['mpirun', '--enable-recovery', '-n', '1', 'sh', '-c', self.TOLD, VSIM, '-q', '-r', 'b.raw', '--measures', 'b.csv',
                        'd.sp', ':', '-n', '1', 'sleep', '10000'], VSIM_RANK_TIMEOUT='3')
        self.assertEqual(self.code_of(0), 0)
        self.assertGreater(time.monotonic() - t0, 3)
        p.terminate()
        p.communicate(timeout=PATIENCE)
        self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)

    # each rank's exit code in a file, since mpirun keeps them to itself
    TOLD = '"$0" "$@"; echo $? >code.$OMPI_COMM_WORLD_RANK'

    def code_of(self, rank):
        """Of a rank, when it has ended."""
        name = 'code.%d' % rank
        for _ in range(PATIENCE * 50):
            if os.path.exists(self.path(name)) and self.data(name):
                return int(self.data(name))
            time.sleep(0.02)
        self.fail('rank %d does not end' % rank)

    def test_ranks_that_wait_for_a_beginning(self):
        """One never comes: rank 0 does all, and the other does not wait for ever."""
        self.write(SWEEP % '100')
        one = self.results('a')
        p = self.start(['mpirun', '--enable-recovery', '-n', '2', 'sh', '-c', self.TOLD, VSIM, '-q', '-r', 'b.raw', '--measures', 'b.csv',
                        'd.sp', ':', '-n', '1', 'sleep', '10000'], VSIM_RANK_TIMEOUT='1')
        self.assertEqual((self.code_of(0), self.code_of(1)), (0, 4))
        p.terminate()
        _, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(err.count('vsim: MPI did not begin: a rank ended, or never came; this one ends'), 1, err)
        self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)

    def test_rank_0_dies(self):
        """When all ranks compute: one whose MPI has not begun has no worker, and would not lose rank 0."""
        self.write(SWEEP.replace('60u', '150u') % '5')
        one = self.results('a', '--jobs', '2')
        for _ in range(20):  # it may be over before this process has the processor
            for rank in range(3):  # of a run that was over too early
                if os.path.exists(self.path('code.%d' % rank)):
                    os.remove(self.path('code.%d' % rank))
            p = self.start(['mpirun', '--enable-recovery', '-n', '3', 'sh', '-c', self.TOLD, VSIM, '-q', '-r', 'b.raw',
                            '--measures', 'b.csv', 'd.sp'], VSIM_RANK_TIMEOUT='10')
            killed = False
            while not killed and p.poll() is None:
                time.sleep(0.005)
                workers = [d for a in children(p.pid) for b in children(a) for c in children(b) for d in children(c)]
                killed = (len(workers) == 3 and self.points('b.raw.journal') > 10 and
                          self.kill_early(self.rank_0_of(children(p.pid)), 1000))
            if killed:
                break
            p.communicate(timeout=PATIENCE)
        else:
            self.fail('the ranks end too early')
        self.assertEqual((self.code_of(1), self.code_of(2)), (4, 4))
        _, err = p.communicate(timeout=PATIENCE)
        for rank in 1, 2:
            self.assertIn('vsim: rank %d of 3 lost rank 0, which writes: the results are not complete (--resume goes on)' % rank, err)
        self.resume(one)

    def test_points_that_fail_are_told(self):
        self.write(SWEEP % '500' + 'R9 out 0 {1/(r-2k)+1k}\n')
        one = self.results('a', code=1)
        self.assertEqual(self.results('b', ranks=3, code=1), one)
        self.assertEqual(self.data('b.csv').count(b'failed'), 2)
        _, err = self.run_it('-q', '-r', 'b.raw', 'd.sp', ranks=3, code=1)
        self.assertEqual(len(re.findall(r'point \d+ \(r=2000 c=\S+\) failed', err)), 2, err)

    def test_points_whose_process_died_twice_are_computed_again(self):
        """On any ranks, by any number of them; the files are those of one run in the end."""
        self.write(deadly.DECK)
        deadly.put(self.tmp.name)
        lost = 2 * sum(deadly.BAD)
        one = self.results('a', '--allow-native', '--stats', 's.json')
        with open(self.path('s.json')) as f:
            alone = json.load(f)['points_accepted']
        for first, then in (3, 2), (2, 0), (0, 3):
            with open(self.path('deadly'), 'w'):
                pass
            for ranks, resume in (first, ()), (then, ('--resume',)):
                args = ('--allow-native', *resume, *(() if ranks else ('--jobs', '2')))
                _, err = self.run_it('-q', '-r', 'b.raw', '--measures', 'b.csv', *args, 'd.sp', ranks=ranks, code=10)
                self.assertEqual(len(re.findall('the process that computed it ended by signal 9, twice', err)), lost, err)
                self.assertEqual(deadly.deaths(self.tmp.name), 2 * lost)
                self.assertEqual(self.data('b.csv').count(b',failed'), lost)
                self.assertEqual(self.points('b.raw.journal'), 2 * len(deadly.BAD))
            os.unlink(self.path('deadly'))
            self.assertEqual(self.results('b', '--allow-native', '--resume', '--stats', 's.json', ranks=first), one)
            with open(self.path('s.json')) as f:
                computed = json.load(f)['points_accepted']
            self.assertLess(computed, 0.6 * alone)  # 4 of 12: the others are copied
            self.assertGreater(computed, 0)
            self.assertEqual([f for f in os.listdir(self.tmp.name) if 'journal' in f or 'before' in f], [])

    def test_no_sweep(self):
        self.write('x\nV1 a 0 1\nR1 a 0 1k\n.op\n')
        out, err = self.run_it('d.sp', ranks=3)
        self.assertIn('3 processes were started by MPI, but the deck has no points to share (.step, .mc): one computes it', err)
        self.assertEqual(len(re.findall(r'v\(a\)', out)), 1)
        out, err = self.run_it('--no-mpi', '--no-output', 'd.sp', ranks=3)
        self.assertEqual(len(re.findall(r'v\(a\)', out)), 3)
        self.assertEqual(err, '')

    def test_bad_decks_are_told_once(self):
        self.write('x\nV1 a 0 1\nR1 a\n.step param r 1 2 1\n')
        _, err = self.run_it('d.sp', ranks=3, code=1)
        self.assertEqual(err.count('a resistor has two nodes'), 1)
        p = self.start(['mpirun', '-n', '2', VSIM, '-'])
        _, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 2)
        self.assertEqual(err.count('a deck from standard input reaches one rank only'), 1)

    def test_a_plug_in_that_is_missing(self):
        self.write(SWEEP % '1k')
        p = subprocess.run(['mpirun', '-n', '2', VSIM, 'd.sp'], cwd=self.tmp.name, env=dict(ENV, VSIM_LIBDIR=self.tmp.name),
                           capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(p.returncode, 2)
        self.assertEqual(p.stderr.count('libvsim-mpi.so cannot be loaded'), 1, p.stderr)

    LONG = SWEEP.replace('60u', '150u') % '20'

    def test_processes_that_die(self):
        self.write(self.LONG)
        one = self.results('a', '--jobs', '2')
        for victim in 'worker', 'simulator':
            p, _ = self.kill(lambda _, rank: [rank[1]['launched simulator worker'.split().index(victim)]])
            err = self.end(p)
            self.assertEqual('rank 1 of 3 is lost, others compute its points' in err, victim == 'simulator', err)
            self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)
        # a rank as a whole: Open MPI ends the job, or lets the others go on
        p, _ = self.kill(lambda _, rank: [rank[2][0]])
        p.communicate(timeout=PATIENCE)
        self.assertNotEqual(p.returncode, 0)
        self.resume(one)
        p, _ = self.kill(lambda _, rank: [rank[2][0]], '--enable-recovery', VSIM_RANK_TIMEOUT='15')
        self.assertIn('rank 2 of 3 is lost', self.end(p))
        self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)
        # and the whole job
        p, rank = self.kill(lambda mpirun, rank: [mpirun] + [r[0] for r in rank])
        p.communicate(timeout=PATIENCE)
        self.resume(one)
        for pid in [pid for pids in rank for pid in pids[1:]]:
            self.ends(pid)

    def ends(self, pid):
        """Waits for the end of a process that lost those that started it."""
        for _ in range(PATIENCE * 50):
            if not os.path.exists('/proc/%d/exe' % pid):
                return
            time.sleep(0.02)
        self.fail('a process outlives its rank')

    def resume(self, one):
        done = self.points('b.raw.journal')
        self.assertGreater(done, 10)
        self.assertLess(done, 402)
        for _ in range(PATIENCE * 10):  # what is left of a killed rank ends with the point that it has
            p = self.start(['mpirun', '-n', '2', VSIM, '-q', '--resume', '-r', 'b.raw', '--measures', 'b.csv', 'd.sp'])
            out, err = p.communicate(timeout=PATIENCE)
            if 'another run writes there' not in err:
                break
            time.sleep(0.1)
        self.assertEqual(p.returncode, 0, out + err)
        self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)


KEPT = """long points: delays, measures, results that grow
V1 a 0 sin(0 1 1meg)
R1 a b {r}
C1 b 0 1n
D1 b 0 dm
.model dm d is=1e-14 cjo=1p
T1 b 0 c 0 z0=50 td=3n
R2 c 0 1k
.param r=1k
.save v(b) v(c)
.tran 1n 700u 0 2n
.meas tran top max v(b)
.meas tran late when v(b)=0.01 rise=150
.step param r 1k 5k 1k
"""


class Kept(Base):
    """Each rank keeps the points that it computes; whoever goes on computes what is left."""

    def ready(self):
        self.write(KEPT)
        return self.results('a', '--jobs', '1')

    def go(self, ranks, *args, options=(), **env):
        return self.start([*(['mpirun', *options, '-n', str(ranks)] if ranks else []), VSIM, '-r', 'b.raw', '--measures', 'b.csv', *args,
                           'd.sp'], **env)

    def left(self, ending=''):
        return [f for f in os.listdir(self.tmp.name) if re.fullmatch(r'b\.raw\.point-[\d.]*\d' + re.escape(ending), f)]

    def same(self, one):
        self.assertEqual((self.data('b.raw'), self.data('b.csv')), one)
        self.assertEqual([f for f in os.listdir(self.tmp.name) if f.startswith(('b.raw.', 'b.csv.'))], [])

    def goes_on(self, ranks, *args, **env):
        """A run that goes on. What is left of a killed rank 0's others ends with VSIM_RANK_TIMEOUT."""
        for _ in range(PATIENCE * 10):
            p = self.go(ranks, *(['--resume'] if os.path.exists(self.path('b.raw.journal')) else []), *args, **env)
            time.sleep(0.05)
            if p.poll() is None:
                return p
            out, err = p.communicate()
            if 'another run writes there' not in err:
                self.fail(out + err)
        self.fail('processes of the run before do not end')

    def done(self, p):
        """Open MPI's mpirun with --enable-recovery now and then waits for ever when all its processes have ended: it is killed
        then, as its user would."""
        over = False
        for _ in range(PATIENCE // 5):
            try:
                out, err = p.communicate(timeout=5)
                return p.returncode, out, err
            except subprocess.TimeoutExpired:
                if over and all_ended(p.pid):
                    p.kill()
                over = all_ended(p.pid)
        self.fail('no end within %d s' % PATIENCE)

    def finished(self, ranks, one):
        """Lets runs go on until one comes to the end; what the last one said."""
        for _ in range(PATIENCE * 10):
            code, out, err = self.done(self.go(ranks, *(['--resume'] if os.path.exists(self.path('b.raw.journal')) else [])))
            if 'another run writes there' not in err:
                break
            time.sleep(0.1)
        self.assertEqual(code, 0, out + err)
        self.same(one)
        return err

    def stopped(self, ranks):
        """A run of which every rank computed a point when rank 0 was stopped."""
        for _ in range(40):
            p = self.go(ranks, '--checkpoint', '0')
            while p.poll() is None and len([f for f in self.left() if self.size(f) > 1 << 16]) < ranks:
                time.sleep(0.005)
            for pid in self.rank_0_of([p.pid]):  # it ends the others
                hit(pid, signal.SIGTERM)
            self.done(p)
            if len(self.left('.checkpoint')) == ranks:
                return
        self.fail('the ranks end too early')

    def size(self, name):
        try:
            return os.path.getsize(self.path(name))
        except OSError:
            return 0

    def test_each_rank_keeps_its_points(self):
        one = self.ready()
        for then in 3, 2, 0:  # the same number, another one, no MPI
            self.stopped(3)
            self.assertIn('b.raw.point-2.0.checkpoint', self.left('.checkpoint'))
            said = self.finished(then, one)
            self.assertEqual(len(re.findall(r'point \d (?:goes|went) on from its checkpoint', said)), 3, said)

    def test_a_checkpoint_that_is_damaged_begins_its_point_anew(self):
        one = self.ready()
        self.stopped(2)
        with open(self.path('b.raw.point-1.0.checkpoint'), 'r+b') as f:
            f.seek(2000)
            byte = f.read(1)
            f.seek(2000)
            f.write(bytes([byte[0] ^ 1]))
        said = self.finished(2, one)
        self.assertEqual(said.count('on from its checkpoint'), 1, said)
        self.assertEqual(said.count("'b.raw.point-1.0.checkpoint' is not used: it is damaged"), 1, said)

    def test_a_rank_that_does_not_see_the_results_is_told(self):
        one = self.ready()
        os.mkdir(self.path('other'))
        shutil.copy2(self.path('d.sp'), self.path('other/d.sp'))
        with open(self.path('other/b.raw'), 'w'):
            pass  # another file of the same name
        run = [VSIM, '-r', 'b.raw', '--measures', 'b.csv', '--checkpoint', '0', 'd.sp']
        code, out, err = self.done(self.start(['mpirun', '-n', '1', *run, ':', '--wdir', self.path('other'), '-n', '1', *run]))
        self.assertEqual(code, 0, out + err)
        self.assertEqual(err.count("rank 1 of 2 does not see 'b.raw': no checkpoints of its points are written or read"), 1, err)
        self.same(one)
        self.assertEqual(sorted(os.listdir(self.path('other'))), ['b.raw', 'd.sp'])

    def test_a_rank_that_outlives_rank_0_is_waited_for(self):
        one = self.ready()
        for _ in range(20):
            p = self.go(2, '--checkpoint', '0', options=('--enable-recovery',), VSIM_RANK_TIMEOUT='6')
            while p.poll() is None and len([f for f in self.left() if self.size(f) > 1 << 12]) < 2:
                time.sleep(0.005)
            first = [pid for pid in self.rank_0_of([p.pid]) if hit(pid, signal.SIGKILL)]
            if first and p.poll() is None:
                break
            self.done(p)
        else:
            self.fail('the ranks end too early')
        said = self.done(self.go(0, '--resume'))[2]
        if self.left():  # it still computes, or rests with its point
            self.assertIn('another run writes there', said)
        self.done(p)
        self.finished(2, one)

    def victims(self, p):
        """Of a run: what can be killed, by name."""
        tree = [(a, b, c) for a in children(p.pid) for b in children(a) or [0] for c in children(b)[:1] or [0]]
        return [('mpirun', p.pid)] + [(name, pid) for rank in tree for name, pid in zip(('launched', 'simulator', 'worker'), rank) if pid]

    def kills(self, budget, rng):
        """Signals at random times to random processes, also of runs that go on; how many met one, by process and signal."""
        one = self.ready()
        met = {}
        while sum(met.values()) < budget:
            for hops in range(9):
                options = ('--enable-recovery',) if rng.random() < 0.3 else ()
                p = self.goes_on(rng.choice((2, 3)), '--checkpoint', rng.choice(('0', '0.001')), options=options, VSIM_RANK_TIMEOUT='4')
                time.sleep(rng.uniform(0.2, 3))
                if hops == 8 or sum(met.values()) >= budget or p.poll() is not None:
                    break
                name, pid = rng.choice(self.victims(p))
                sig = rng.choice((signal.SIGTERM, signal.SIGKILL))
                if hit(pid, sig):
                    met[name, sig.name] = met.get((name, sig.name), 0) + 1
                self.done(p)
                if not os.path.exists(self.path('b.raw.journal')) and self.points_written(one):
                    break
            self.done(p)
            self.finished(rng.choice((0, 2)), one)
        return met

    def points_written(self, one):
        return os.path.exists(self.path('b.raw')) and self.size('b.raw') == len(one[0])

    def test_kills_at_any_time(self):
        self.assertGreater(sum(self.kills(KILLS, random.Random(8)).values()), 0)


def count(arguments):
    case = Kept('kills')
    case.setUp()
    n, seed = int(arguments[1]), int(arguments[3]) if len(arguments) > 3 else 1
    met = case.kills(n, random.Random(seed))
    case.doCleanups()
    print('%d kills, seed %d, all files equal; by process and signal: %s'
          % (sum(met.values()), seed, ', '.join('%s %s %d' % (*k, met[k]) for k in sorted(met))))


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    if not shutil.which('mpirun') or 'Open MPI' not in subprocess.run(['mpirun', '--version'], capture_output=True, text=True).stdout \
            or not os.path.exists(os.path.join(os.path.dirname(VSIM), 'src/rank/libvsim-mpi.so')):
        print('no mpirun of Open MPI, or no libvsim-mpi.so')
        sys.exit(77)
    if '--kills' in sys.argv:
        count(sys.argv[1:])
        sys.exit(0)
    unittest.main()
