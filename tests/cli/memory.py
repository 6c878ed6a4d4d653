#!/usr/bin/env python3
"""The code generator finds no memory while it compiles: a message and an exit code, or an exception, and never a
signal.   memory.py VSIM

tests/attack/shim.c makes the n-th allocation after libvsim-llvm was loaded fail, or while it is loaded."""
import os
import resource
import subprocess
import sys
import unittest

from folder import Folder

VSIM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else 'vsim'
BUILD = os.path.dirname(VSIM)
SHIM = os.path.join(BUILD, 'tests', 'libattack_shim.so')
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'python', 'src')
DECK = """two models
V1 in 0 dc 1
R1 in a 1k
D1 a 0 dm
M1 a in 0 0 nm w=1u l=1u
.model dm d is=1e-14 rs=1 cjo=1p
.model nm nmos level=1 vto=0.5 kp=1e-4
.op
.end
"""
# linear at its first point: no kernel
SECOND = """a sweep whose second point has a model
.param n=0
V1 in 0 sin(0 1 1meg)
R1 in a 1k
C1 a 0 1n
.if (n > 0)
D1 a 0 dm
.model dm d is=1e-14 rs=1 cjo=1p
.endif
.tran 10n 2u
.step param n 0 1 1
.end
"""
PROGRAM = """import vsim
for k in range(2):
    try:
        print('%.3f' % vsim.Circuit('d\\nv1 in 0 10\\nr1 in out 1k\\nd1 out 0 dm\\n.model dm d').op()['out'])
    except vsim.OutOfMemory:
        print('memory')
"""
# glibc ends the process itself where memory for a library's variables of a thread is missing
GLIBC = 'cannot allocate memory for thread-local data'


class Compiling(Folder):
    def run_short(self, command, limit=None, counted='SHIM_FROM', **shims):
        """A cache of its own, so that everything is compiled."""
        def bound():
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        env = dict(os.environ, LD_PRELOAD=SHIM, SHIM_COUNT=self.path('count'), **{counted: 'libvsim-llvm'},
                   VSIM_LIBRARY=os.path.join(BUILD, 'libvsim.so'), PYTHONPATH=PACKAGE)
        env.update(XDG_CACHE_HOME=self.path('cache%d' % len(os.listdir(self.tmp.name))), **shims)
        return subprocess.run(command, cwd=self.tmp.name, env=env, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, preexec_fn=bound)

    def calls(self, command, counted='SHIM_FROM', least=5000):
        """How many allocations there are from the loading of the code generator on, or within it."""
        if not os.path.exists(SHIM):
            self.skipTest('tests/attack/shim.c was not built')
        done = self.run_short(command, counted=counted)
        if done.returncode:
            self.skipTest('nothing can be preloaded, as with sanitizers')
        n = int(self.read('count').split()[0])
        if n < least:
            self.skipTest('no code generator')
        return n

    def test_the_command_ends_with_a_message_at_any_allocation(self):
        self.write('deck.sp', DECK)
        command = [VSIM, '--no-cache', '--threads', '2', '-r', 'a.raw', 'deck.sp']
        n = self.calls(command)
        ends = []
        for k in [1, 10, 100, 1000, *range(2500, n, n // 8)]:
            for persist in '01':
                done = self.run_short(command, SHIM_MALLOC=str(k), SHIM_PERSIST=persist)
                if persist == '1' and GLIBC in done.stderr:
                    continue
                self.assertIn(done.returncode, (0, 7), (k, persist, done.stderr))
                self.assertEqual('out of memory' in done.stderr, done.returncode == 7, (k, persist, done.stderr))
                ends.append(done.returncode)
        self.assertGreaterEqual(ends.count(7), 8)

    def test_what_llvm_makes_once_is_made_before_others_call_it(self):
        """A thread that left LLVM in the midst of it would let all others wait for it."""
        self.write('deck.sp', DECK)
        for lanes in '248':
            made = []
            for once in '12':
                done = self.run_short([VSIM, '--no-cache', '--threads', '2', '-r', 'a.raw', 'deck.sp'],
                                      SHIM_ONCE=once, VSIM_LANES=lanes)
                if done.returncode:
                    self.skipTest('nothing can be preloaded, as with sanitizers')
                made.append(int(self.read('count').split()[0]))
            self.assertEqual(made[0], 0, lanes)
            self.assertGreater(made[1], 10, lanes)

    # address space that is more than enough: with a limit the loading is tried in a child
    PLENTY = 1 << 40

    def check_loading(self, limit, places):
        self.write('deck.sp', DECK)
        command = [VSIM, '--no-cache', '--threads', '1', '-r', 'a.raw', 'deck.sp']
        n = self.calls(command, 'SHIM_WHILE', 500)
        ends = []
        for k in places(n):
            for persist in '01':
                done = self.run_short(command, limit, 'SHIM_WHILE', SHIM_MALLOC=str(k), SHIM_PERSIST=persist)
                self.assertIn(done.returncode, (0, 7), (k, persist, done.stderr))
                self.assertEqual('out of memory' in done.stderr, done.returncode == 7, (k, persist, done.stderr))
                self.assertNotIn('interpreter', done.stderr, (k, persist))
                ends.append(done.returncode)
        self.assertGreaterEqual(ends.count(7), len(ends) // 2)

    def test_the_loading_ends_with_a_message_at_any_allocation(self):
        self.check_loading(self.PLENTY, lambda n: [1, 2, 3, 5, 30, 60, 70, 80, 90, 100, *range(200, n, n // 6), n - 2])

    def test_and_so_it_does_where_memory_has_no_limit(self):
        """Constructors of LLVM are left by handlers of this process."""
        self.check_loading(None, lambda n: [*range(100, n, n // 6), n - 2])

    def test_results_are_kept_where_the_loading_fails(self):
        """A block whose first analysis needs no kernel, and its second one does."""
        self.write('deck.sp', SECOND)
        command = [VSIM, '--no-cache', '--threads', '1', '-r', 'a.raw', 'deck.sp']
        n = self.calls(command, 'SHIM_WHILE', 500)
        done = self.run_short(command, None, 'SHIM_WHILE', SHIM_MALLOC=str(n // 2), SHIM_PERSIST='1')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn('out of memory; what was computed before is kept', done.stderr)
        with open(self.path('a.raw'), 'rb') as f:
            self.assertIn(b'Plotname: Transient Analysis', f.read())

    def test_any_limit_ends_a_run_with_a_message_or_lets_it_be(self):
        self.write('deck.sp', DECK)
        self.calls([VSIM, '--no-cache', '-r', 'a.raw', 'deck.sp'], 'SHIM_WHILE', 500)
        ends = []
        for megabytes in range(90, 330, 30):
            done = self.run_short([VSIM, '--no-cache', '--threads', '1', '-r', 'a.raw', 'deck.sp'], megabytes * 10**6)
            self.assertIn(done.returncode, (0, 7), (megabytes, done.stderr))
            self.assertEqual('out of memory' in done.stderr, done.returncode == 7, (megabytes, done.stderr))
            self.assertNotIn('interpreter', done.stderr, megabytes)
            ends.append(done.returncode)
        self.assertIn(7, ends)

    def test_a_process_goes_on_and_compiles_later(self):
        self.write('two.py', PROGRAM)
        n = self.calls([sys.executable, 'two.py'])
        failed = 0
        for k in range(n // 2, n, n // 6):  # LLVM is got ready before
            done = self.run_short([sys.executable, 'two.py'], SHIM_MALLOC=str(k))
            self.assertEqual(done.returncode, 0, (k, done.stderr))
            self.assertIn(sorted(done.stdout.split()), (['0.713', '0.713'], ['0.713', 'memory']), k)
            failed += 'memory' in done.stdout
        self.assertGreater(failed, 0)


if __name__ == '__main__':
    unittest.main()
