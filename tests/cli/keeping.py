#!/usr/bin/env python3
"""What a run reads it does not destroy, and what it computed it does not lose.

    keeping.py VSIM [unittest arguments]"""
import os
import signal
import stat
import subprocess
import sys
import time
import unittest

import folder

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

VSIM = ''
PART = '.param rr=1k\n'
PORT = """one port
.include m.inc
R1 in 0 {rr}
V1 in 0 dc 1 portnum 1 z0=50
.sp dec 2 1 10
.op
.meas sp a max s_1_1
.end
"""


class Folder(folder.Folder):
    def vsim(self, *args, code=0, **kw):
        done = subprocess.run([VSIM, *args], cwd=self.tmp.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300, **kw)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def block(self, *lines, args=(), code=0):
        self.write('deck.sp', 'block\nV1 in 0 1\nR1 in 0 1k\n.control\n%s\n.endc\n.end\n' % '\n'.join(lines))
        return self.vsim('-q', *args, 'deck.sp', code=code)

    def files(self):
        return sorted(os.listdir(self.tmp.name))


class Inputs(Folder):
    def setUp(self):
        super().setUp()
        self.write('m.inc', PART)
        self.write('s1.sp', PORT)

    def test_no_output_of_the_command_line_replaces_an_include(self):
        for args in (('-o', 'm.inc', 's1.sp'), ('-r', 'm.inc', 's1.sp'), ('--stats', 'm.inc', 's1.sp'),
                     ('--measures', './m.inc', 's1.sp'), ('profile', 's1.sp', '--trace', 'm.inc'),
                     ('analyze', 's1.sp', '--svg', 'm.inc'), ('analyze', 's1.sp', '--mtx', 'm.inc')):
            err = self.vsim('-q', *args, code=1).stderr
            self.assertIn("s1.sp:2:10: error: file 'm.inc' would be overwritten", err, args)
            self.assertEqual(self.read('m.inc'), PART, args)
        self.assertEqual(self.files(), ['m.inc', 's1.sp'])

    def test_a_model_that_is_kept_compiled_is_an_input_too(self):
        va = '`include "disciplines.vams"\nmodule one(a, b); inout a, b; electrical a, b;\n' \
             'analog I(a, b) <+ V(a, b) * 1m; endmodule\n'
        self.write('one.va', va)
        self.write('n.sp', 'n\n.hdl "one.va"\nV1 a 0 1\nN1 a 0 one\n.model one one\n.op\n.end\n')
        cache = ('--cache-dir', self.path('kept'))
        for _ in range(2):  # the second one reads it from the cache
            for option in ('-o', '-r', '--stats'):
                self.assertIn('overwrit', self.vsim('-q', *cache, option, 'one.va', 'n.sp', code=1).stderr)
            self.assertEqual(self.read('one.va'), va)
            self.vsim('-q', *cache, 'n.sp')

    def test_touchstone_does_not_replace_the_deck(self):
        self.write('deck.s1p', PORT)
        said = self.vsim('-q', 'deck.s1p', '--touchstone', 'deck', code=1).stderr
        self.assertIn("deck 'deck.s1p' would be overwritten by an output of this run", said)
        self.assertEqual(self.read('deck.s1p'), PORT)

    def test_two_outputs_to_one_file_are_refused_before_anything_is_written(self):
        for option in ('--measures', '--stats', '-o'):
            err = self.vsim('-q', 's1.sp', '-r', 'a.raw', option, './a.raw', code=1).stderr
            self.assertIn('another output', err)
        self.assertEqual(self.files(), ['m.inc', 's1.sp'])

    def test_a_report_that_exists_is_replaced_when_the_deck_was_read(self):
        self.write('log', 'old\n' * 1000)
        self.vsim('-o', 'log', 's1.sp')
        self.assertIn('one port', self.read('log'))
        self.assertNotIn('old', self.read('log'))
        self.write('bad.sp', 'bad\nR1 a 0 {nix}\n.op\n.end\n')
        self.vsim('-o', 'log', 'bad.sp', code=1)
        self.assertIn('nix', self.read('log'))


class Blocks(Folder):
    def test_appending_leaves_other_files_alone(self):
        self.write('out.raw.part', '.param rr=1k\n')
        self.block('set appendwrite', 'op', 'write out.raw', 'write out.raw')
        self.assertEqual(self.read('out.raw.part'), '.param rr=1k\n')
        for k in range(2):
            self.assertEqual(len(waves.read_raw(self.path('out.raw'), k)), 1)
        self.assertEqual(self.files(), ['deck.sp', 'out.raw', 'out.raw.part'])

    def test_what_a_command_cannot_write_leaves_the_old_file(self):
        for line in ('write old v(nix)', 'wrdata old v(nix)', 'let z = v(in)[0,0]\nwrite old nix'):
            self.write('old', 'old\n')
            self.block('op', line, code=1)
            self.assertEqual(self.read('old'), 'old\n')
            self.assertEqual(self.files(), ['deck.sp', 'old'])

    def test_a_new_file_has_the_rights_of_the_one_it_replaces_and_goes_behind_links(self):
        self.write('far', 'old\n')
        os.chmod(self.path('far'), 0o640)
        os.symlink('far', self.path('near'))
        self.block('op', 'wrdata near v(in)')
        self.assertTrue(os.path.islink(self.path('near')))
        self.assertNotIn('old', self.read('far'))
        self.assertEqual(os.stat(self.path('far')).st_mode & 0o777, 0o640)

    @unittest.skipIf(os.geteuid() == 0, 'root may write to anything')
    def test_a_file_that_may_not_be_written_is_not_replaced(self):
        self.write('old', 'old\n')
        os.chmod(self.path('old'), 0o444)
        self.block('op', 'wrdata old v(in)', code=4)
        self.assertEqual(self.read('old'), 'old\n')

    def test_results_that_a_block_writes_itself_stand(self):
        self.block('op', 'write deck.raw', 'op', args=('-r', 'deck.raw'))
        self.assertEqual(len(waves.read_raw(self.path('deck.raw'))), 1)
        err = self.block('op', 'set appendwrite', 'write deck.raw', args=('-r', 'deck.raw'), code=1).stderr
        self.assertIn('another output', err)


class Names(Folder):
    def test_names_of_any_length(self):
        one, two = 'n' * 1500 + '1', 'n' * 1500 + '2'
        self.write('deck.sp', 'long\nV1 %s 0 1\nR1 %s %s 1k\nR2 %s 0 1k\n.op\n.print op v(%s)\n.end\n' %
                   (one, one, two, two, two))
        out = self.vsim('-r', 'a.raw', 'deck.sp').stdout
        p = waves.read_raw(self.path('a.raw'))
        self.assertEqual(p['v(%s)' % one][0], 1)
        self.assertEqual(p['v(%s)' % two][0], 0.5)
        self.assertIn('v(%s)' % two, out)

    def test_labels_of_any_length(self):
        names = ['p%d' % i for i in range(150)]
        self.write('deck.sp', 'long\n' + ''.join('.param %s=1\n' % n for n in names) + 'V1 a 0 {p0}\nR1 a 0 {p1}\n.op\n'
                   '.meas op m find v(a) at=0\n' +
                   ''.join('.step param %s list 1.234567890%02d\n' % (n, i % 90 + 10) for i, n in enumerate(names)) + '.end\n')
        self.vsim('-q', '--csv', '-r', 'a.csv', '--measures', 'm.csv', 'deck.sp')
        for name in ('a.csv', 'm.csv'):
            head, row = self.read(name).split('\n')[:2]
            self.assertEqual(len(head.split(',')), len(row.split(',')), name)
            self.assertIn('1.23456789069', row)


class Locks(Folder):
    def test_two_runs_do_not_share_a_result_file(self):
        import fcntl
        for deck in ('.op\n', '.op\n.step param r 1 3 1\n'):
            self.write('deck.sp', 'locked\n.param r=1\nV1 in 0 1\nR1 in 0 {r}\n' + deck + '.end\n')
            self.write('a.raw', 'of another run')
            with open(self.path('a.raw'), 'r+') as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                self.assertIn('another run', self.vsim('-q', '-r', 'a.raw', 'deck.sp', code=4).stderr)
                self.assertEqual(self.read('a.raw'), 'of another run')
            self.vsim('-q', '-r', 'a.raw', 'deck.sp')
            self.assertEqual(len(waves.read_raw(self.path('a.raw'))), 1)
            with open('/dev/null', 'w') as f:  # takes any number of runs, and stays what it is
                fcntl.flock(f, fcntl.LOCK_EX)
                self.vsim('-q', '-r', '/dev/null', '--measures', '/dev/null', '-o', '/dev/null', 'deck.sp')
            self.assertTrue(stat.S_ISCHR(os.stat('/dev/null').st_mode))


class Faults(Folder):
    """Writes that fail: SIGXFSZ and EFBIG stand for a full disk."""
    def limited(self, size, *args, code):
        def limit():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return self.vsim(*args, code=code, preexec_fn=limit)

    def test_the_header_counts_what_is_in_the_file(self):
        self.write('deck.sp', 'rc\nV1 in 0 PULSE(0 1 0 1n 1n 1u 2u)\nR1 in out 1k\nC1 out 0 1n\n'
                              '.tran 10n 400u\n.end\n')
        whole = {}
        for form in ('-q', '--ascii', '--csv'):
            self.vsim('-q', form, '-r', 'all', 'deck.sp')
            with open(self.path('all'), 'rb') as f:
                whole[form] = f.read()
        n_vec = 4
        for form, text in whole.items():
            for size in (70001, 100000, 140003, 150000):
                err = self.limited(size, '-q', form, '-r', 'a', 'deck.sp', code=4).stderr
                self.assertIn('File too large', err)
                with open(self.path('a'), 'rb') as f:
                    got = f.read()
                self.assertLessEqual(len(got), size)
                if form == '--csv':
                    self.assertEqual(got, text[:len(got)])
                    self.assertTrue(got.endswith(b'\n'))
                    continue
                mark = b'Binary:\n' if form == '-q' else b'Values:\n'
                count = int(got.split(b'No. Points: ')[1].split()[0])
                at = got.index(mark) + len(mark)
                self.assertEqual(got[at:], text[text.index(mark) + len(mark):][:len(got) - at])
                if form == '-q':
                    self.assertEqual(len(got) - at, count * n_vec * 8)
                    self.assertEqual(len(waves.read_raw(self.path('a'))), count)
                else:
                    self.assertEqual(got[at:].count(b'\n\n'), count)
                    self.assertTrue(got.endswith(b'\n\n'))
                self.assertGreater(size - len(got), -1)
                self.assertLess(size - len(got), 200)  # less than a point is given up

    def test_a_block_says_that_a_file_could_not_be_written(self):
        self.write('f.raw', 'old')
        self.write('deck.sp', 'rc\nV1 in 0 PULSE(0 1 0 1n 1n 1u 2u)\nR1 in out 1k\nC1 out 0 1n\n'
                              '.control\ntran 10n 400u\nwrite f.raw\nwrdata f.raw v(out)\necho after\n.endc\n.end\n')
        done = self.limited(50000, '-q', 'deck.sp', code=4)
        self.assertEqual(done.stderr.count("'f.raw' could not be written: File too large"), 2, done.stderr)
        self.assertIn('after', done.stdout)
        self.assertEqual(self.read('f.raw'), 'old')
        self.assertEqual(self.files(), ['deck.sp', 'f.raw'])


class Synced(Folder):
    """A disk that is asked, and one that fails then."""
    SHIM = """#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int fdatasync(int fd)
{
    FILE *f = fopen(getenv("ASKED"), "a");
    (void)fd;
    fputc('x', f);
    fclose(f);
    errno = EIO;
    return getenv("BROKEN") ? -1 : 0;
}
"""

    def test_the_disk_is_waited_for_on_request(self):
        self.needs_plain(VSIM)
        self.write('shim.c', self.SHIM)
        compiler = os.environ.get('CC', 'cc').split()
        subprocess.run([*compiler, '-shared', '-fPIC', '-o', self.path('shim.so'), self.path('shim.c')], check=True)
        env = dict(os.environ, LD_PRELOAD='./shim.so', ASKED=self.path('asked'))
        for family in ('', '.step param r 1 3 1\n'):
            self.write('deck.sp', 'rc\n.param r=1\nV1 in 0 1\nR1 in 0 {r}\n.op\n' + family + '.end\n')
            self.vsim('-q', '-r', 'a.raw', 'deck.sp', env=env)
            self.assertFalse(os.path.exists(self.path('asked')))
            self.vsim('-q', '--fsync', '-r', 'b.raw', 'deck.sp', env=env)
            self.assertGreaterEqual(len(self.read('asked')), 6 if family else 2)
            with open(self.path('a.raw'), 'rb') as a, open(self.path('b.raw'), 'rb') as b:
                self.assertEqual(a.read().split(b'Binary')[1:], b.read().split(b'Binary')[1:])
            done = self.vsim('-q', '--fsync', '-r', 'b.raw', 'deck.sp', env=dict(env, BROKEN='1'), code=4)
            self.assertIn('Input/output error', done.stderr)
            os.unlink(self.path('asked'))


class Stops(Folder):
    """A transient of a block lives in memory; signals end it."""
    LONG = 'tran 10p 1'
    # so that there are not too many points to write as text if this process has no processor for a while
    SLOW = ''.join('RL%d n%d n%d 1k\nCL%d n%d 0 1f\n' % (k, k, k + 1, k, k) for k in range(50)) + 'RL out n0 1k\n'

    def start(self, *lines, more=''):
        self.write('deck.sp', 'rc\nV1 in 0 PULSE(0 1 0 1n 1n 10n 20n)\nR1 in out 1k\nC1 out 0 1p\n' + more +
                              '.control\n%s\n.endc\n.end\n' % '\n'.join(lines))
        return subprocess.Popen([VSIM, 'deck.sp'], cwd=self.tmp.name, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for(self, name, size):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if os.path.exists(self.path(name)) and os.path.getsize(self.path(name)) >= size:
                return
            time.sleep(0.02)
        self.fail('no ' + name)

    def stop(self, child, sig, code):
        child.send_signal(sig)
        out, err = child.communicate(timeout=300)
        self.assertEqual(child.returncode, code, out + err)
        return out, err

    def test_a_stopped_block_writes_what_it_has_and_computes_nothing_more(self):
        for sig in (signal.SIGINT, signal.SIGTERM):
            child = self.start('save v(in) v(out)', 'foreach k 1 2', self.LONG, 'write a$k.raw', 'wrdata a$k.txt v(out)', 'end',
                               'foreach k 5 6', 'wrdata b$k.txt v(in)', 'end', 'echo done', 'op', 'write late.raw', more=self.SLOW)
            self.wait_for('deck.tran1.part.raw', 1 << 20)
            out, _ = self.stop(child, sig, 130)
            self.assertIn('done', out)
            points = len(waves.read_raw(self.path('a1.raw')))
            self.assertGreater(points, 10000)
            for name in ('a1.txt', 'b5.txt', 'b6.txt'):
                self.assertEqual(self.read(name).count('\n'), points)
            self.assertEqual(self.files(), ['a1.raw', 'a1.txt', 'b5.txt', 'b6.txt', 'deck.sp'])

    def test_a_signal_ends_what_has_no_results_yet(self):
        """The deck is a pipe: when it is open, the program is there and reads."""
        os.mkfifo(self.path('pipe'))
        for sig in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen([VSIM, '--no-cache', '-v', '-r', 'a.raw', 'pipe'], cwd=self.tmp.name, text=True,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with open(self.path('pipe'), 'w') as deck:
                child.send_signal(sig)
                deck.write('rc\nV1 in 0 PULSE(0 1 0 1n 1n 10n 20n)\nR1 in out 1k\nC1 out 0 1p\n.tran 1n 1\n.end\n')
            out, err = child.communicate(timeout=300)
            self.assertEqual(child.returncode, 130, out + err)
            self.assertIn('stopped before anything was computed', err)
            self.assertNotIn('compiled', out)
            self.assertEqual(self.files(), ['pipe'])

    def test_points_that_nobody_writes_stay(self):
        child = self.start(self.LONG, 'echo done')
        self.wait_for('deck.tran1.part.raw', 1 << 20)
        _, err = self.stop(child, signal.SIGTERM, 130)
        self.assertIn("'deck.tran1.part.raw'", err)
        self.assertGreater(len(waves.read_raw(self.path('deck.tran1.part.raw'))), 10000)

    def test_a_kill_leaves_the_points_and_the_next_run_other_files(self):
        for name in ('deck.tran2.part.raw', 'deck.tran2.part-2.raw'):
            child = self.start('tran 10p 100n', self.LONG, 'write a.raw')
            self.wait_for(name, 1 << 20)
            self.stop(child, signal.SIGKILL, -9)
            p = waves.read_raw(self.path(name))
            self.assertGreater(len(p), 10000)
            t = p['time']
            self.assertTrue(all(a < b for a, b in zip(t, t[1:])))

    def test_a_run_that_ends_leaves_nothing(self):
        child = self.start('tran 10p 30u', 'op')  # some seconds
        out, err = child.communicate(timeout=300)
        self.assertEqual(child.returncode, 0, out + err)
        self.assertEqual(self.files(), ['deck.sp'])

    def test_endless_loops_of_other_commands_end(self):
        child = self.start('wrdata go 1', 'let k = 0', 'while 1', 'let k = k + 1', 'end', 'print k', 'repeat',
                           'let k = 7', 'end', 'echo over')
        self.wait_for('go', 1)
        out, _ = self.stop(child, signal.SIGTERM, 130)
        self.assertIn('k = ', out)
        self.assertIn('over', out)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
