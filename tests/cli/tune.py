#!/usr/bin/env python3
"""`vsim tune` and its file; no threads where they are overhead.

    tune.py VSIM [unittest arguments]"""
import json
import os
import re
import subprocess
import sys
import unittest

from folder import Folder

VSIM = ''
DECK = 'x\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1n\n.tran 1u %s\n'


class Tune(Folder):
    def run_it(self, *args, code=0):
        p = subprocess.run([VSIM, *args], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p.stdout + p.stderr

    def note(self, text, *options):
        with open(self.path('c/tune'), 'w') as f:
            f.write(text)
        return self.run_it('-v', '--no-output', '--cache-dir', 'c', *options, 'd.sp')

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, 'one processor')
    def test_the_file(self):
        with open(self.path('d.sp'), 'w') as f:
            f.write(DECK % '1m')
        self.assertRegex(self.run_it('tune', '--cache-dir', 'c'), r'evaluation by threads +from \S+ operations on')
        with open(self.path('c/tune')) as f:
            good = f.read()
        least = float(re.fullmatch(r'vsim-tune 1\ncpu .+\nprocessors \d+\nparallel_min (\S+)\nworker \S+\n', good).group(1))
        self.assertTrue(1e5 <= least <= 1e9, least)
        self.assertRegex(self.note(good), r'note: threads from \S+ operations on')
        self.assertIn('measured on another machine', self.note(good.replace('cpu ', 'cpu x')))
        self.assertIn('measured on another machine', self.note(re.sub('processors', 'processors 9', good)))
        self.assertIn("not a file of this version's", self.note('vsim-tune 9\n' + good))
        self.assertIn("not a file of this version's", self.note(''))
        for wrong in 'nan', '-1', '1e30', '', 'many':
            self.assertIn('its numbers make no sense', self.note(re.sub('min .*', 'min ' + wrong, good)), wrong)
        self.assertIn('its numbers make no sense', self.note(re.sub('worker .*', 'worker 7', good)))
        self.assertNotIn('operations on', self.note(good, '--no-cache'))
        self.assertNotIn('operations on', self.note(good, '--threads', '1'))
        self.assertIn("tune takes no argument, not 'x'", self.run_it('tune', 'x', code=2))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, 'one processor')
    def test_few_small_points_start_no_further_worker(self):
        with open(self.path('d.sp'), 'w') as f:
            f.write(DECK % '{stop}' + '.param stop=1u p=1\n.step p list 1 2 3 4 5 6\nR2 b 0 {1k*p}\n')
        self.run_it('tune', '--cache-dir', 'c')

        # Clocks decide, and others may have the processor meanwhile: by the file a worker costs either so much that a
        # few small points never pay for it, or next to nothing. The time that the circuit took to build counts too, and
        # is long if this process had to wait just then.
        def workers(stop, jobs, start):
            with open(self.path('c/tune')) as f:
                text = re.sub('worker .*', 'worker ' + start, f.read())
            with open(self.path('c/tune'), 'w') as f:
                f.write(text)
            self.run_it('-q', '--no-output', '--cache-dir', 'c', '-D', 'stop=' + stop, '--jobs', str(jobs), '--stats', 's.json', 'd.sp')
            with open(self.path('s.json')) as f:
                return json.load(f)['workers']
        self.assertEqual(workers('20u', 1, '1'), 0)
        self.assertEqual(workers('5u', 4, '1'), 1)
        for jobs in 2, 4:
            # building the circuit may have had to wait for a processor: longer points, then
            self.assertTrue(any(workers('%dm' % (300 << k), jobs, '1e-5') == jobs for k in range(6)), jobs)

    def test_small_circuits_start_no_threads(self):
        with open(self.path('d.sp'), 'w') as f:
            f.write(DECK % '1000')
        p = subprocess.Popen([VSIM, '-q', '--no-output', '--threads', '2', 'd.sp'], cwd=self.tmp.name)
        try:
            seen = set()
            while p.poll() is None and len(seen) < 3:
                with open('/proc/%d/stat' % p.pid) as f:
                    ticks = int(f.read().rsplit(')', 1)[1].split()[11])
                if ticks > 5:  # 50 ms of work: it is in the transient
                    self.assertEqual(len(os.listdir('/proc/%d/task' % p.pid)), 1)
                    seen.add(ticks)
            self.assertEqual(len(seen), 3)
        finally:
            p.kill()
            p.wait()


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
