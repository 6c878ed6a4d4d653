#!/usr/bin/env python3
"""What the author of a deck may do to whoever runs it: nothing outside of its folder.

    trust.py VSIM [unittest arguments]"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import folder

VSIM = ''
TOP = 'hostile\nV1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)\nR1 in 0 1k\n'
VICTIM = 'precious\n'


class Folder(folder.Folder):
    """home/.rc and home/victim/file are the user's, home/got/deck.sp is the stranger's."""
    def setUp(self):
        super().setUp()
        for d in ('home/got/sub', 'home/victim', 'home/desk', 'config/vsim'):
            os.makedirs(self.path(d))
        for f in ('home/.rc', 'home/victim/file', 'home/got/.hidden'):
            self.write(f, VICTIM)
        os.symlink('../victim', self.path('home/got/link'))
        os.symlink('../victim/file', self.path('home/got/filelink'))
        os.symlink('../victim/none', self.path('home/got/nolink'))
        self.before = self.tree()

    def tree(self):
        found = {}
        for d, _, files in os.walk(self.path('home')):
            for f in files:
                path = os.path.join(d, f)
                if os.path.exists(path) and '/got/' not in path:
                    with open(path, 'rb') as opened:
                        found[path] = opened.read()
        return found

    def vsim(self, text, *args, cwd='home/got', code=None, name='home/got/deck.sp', program=None):
        self.write(name, text)
        env = dict(os.environ, HOME=self.path('home'), XDG_CONFIG_HOME=self.path('config'),
                   XDG_CACHE_HOME=self.path('cache'))
        deck = os.path.relpath(self.path(name), self.path(cwd))
        done = subprocess.run([program or VSIM, *args, deck], cwd=self.path(cwd), capture_output=True, text=True,
                              env=env, stdin=subprocess.DEVNULL, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def block(self, *lines, **kw):
        return self.vsim(TOP + '.control\nop\n%s\n.endc\n.end\n' % '\n'.join(lines), '-q', *kw.pop('args', ()), **kw)


class Blocks(Folder):
    COMMANDS = ('write %s', 'wrdata %s v(in)', 'echo evil > %s', 'echo evil >> %s', 'print v(in) > %s',
                'set appendwrite\nwrite %s', 'set appendwrite\nwrdata %s v(in)', 'hardcopy %s v(in)', 'gnuplot %s v(in)',
                'display >> %s', 'setplot const\nwrite %s pi')
    OUTSIDE = ('../victim/file', '../victim/new', '../.rc', '../x.svg', 'link/file', 'link/new', 'filelink', 'nolink',
               'sub/../../victim/file', '/tmp/vsim-trust-test', '$HOME/victim/file')

    def test_nothing_is_written_outside(self):
        for command in self.COMMANDS:
            done = self.block(*[command % p for p in self.OUTSIDE], code=None)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertEqual(self.tree(), self.before, command)
            self.assertFalse(os.path.exists('/tmp/vsim-trust-test'))
        for command in self.COMMANDS:
            for p in self.OUTSIDE[:1] + self.OUTSIDE[4:5]:
                self.assertIn('--allow-write', self.block(command % p, code=1).stderr)

    def test_hidden_files_are_not_written(self):
        for p in ('.hidden', '.new', 'sub/.new', './.hidden'):
            self.assertIn('begin with a dot', self.block('echo x >> ' + p, code=1).stderr)
        self.assertEqual(self.read('home/got/.hidden'), VICTIM)
        self.block('echo x > ../victim/.rc', args=('--allow-write', '../victim'), code=1)

    def test_the_folder_of_the_deck_of_results_and_of_work_is_written(self):
        self.block('echo x > a', 'echo x > sub/b', 'write c.raw', 'echo x > /dev/null', code=0)
        self.assertEqual(self.read('home/got/sub/b'), 'x\n')
        self.block('write ../victim/r.raw', args=('-r', '../victim/a.raw'), code=0)
        self.block('echo x > here', 'echo x > ../got/there', cwd='home/desk', code=0)
        self.assertEqual(self.read('home/desk/here'), 'x\n')
        self.block('echo x > ../victim/more', args=('--allow-write', '../victim'), code=0)
        self.assertEqual(self.read('home/victim/more'), 'x\n')

    def test_home_is_no_folder_of_work(self):
        for cwd in ('home', '.'):
            self.assertIn('--allow-write', self.block('echo x > thesis', cwd=cwd, code=1).stderr)
        self.assertFalse(os.path.exists(self.path('home/thesis')))

    def test_devices_and_pipes_are_not_written(self):
        os.mkfifo(self.path('home/got/pipe'))
        for command in ('echo x > pipe', 'write pipe', 'wrdata pipe v(in)', 'set appendwrite\nwrite pipe'):
            self.assertIn('regular', self.block(command, code=1).stderr)

    def test_programs_are_not_started(self):
        for line in ('shell touch S', 'system touch S', '!touch S', 'set x = `touch S`', 'echo `touch S`', 'echo $(touch S)',
                     'write "|touch S"', 'source S.sp', 'codemodel ./S.cm', 'cd ..'):
            self.block(line)
            self.assertFalse(os.path.exists(self.path('home/got/S')), line)

    def test_under_the_name_of_ngspice_its_clients_may(self):
        os.symlink(VSIM, self.path('ngspice'))
        self.vsim(TOP + '.control\nop\nwrdata ../victim/new v(in)\n.endc\n.end\n', '-b', program=self.path('ngspice'), code=0)
        self.assertTrue(os.path.exists(self.path('home/victim/new')))


class Inputs(Folder):
    def test_pipes_and_devices_do_not_block(self):
        os.mkfifo(self.path('home/got/pipe'))
        for p in ('pipe', '/dev/zero', '/dev/tty', '/dev/stdin', 'sub'):
            for line in ('.include %s', '.lib %s x', '.hdl "%s"', 'V2 b 0 pwl file="%s"', '.step file %s a',
                         '.control\nload %s\n.endc', '.hdl "%s.osdi"', 'A1 [b] src\n.model src filesource (file="%s")'):
                done = self.vsim(TOP + line % p + '\n.op\n.end\n', '-q')
                self.assertNotEqual(done.returncode, 0, line % p)


class Library(Folder):
    """A library whose constructor runs as soon as it is opened: SOURCE of the class."""
    SOURCE = ('#include <stdio.h>\n__attribute__((constructor)) static void run(void)\n'
              '{ FILE *f = fopen("RAN", "w"); if (f) fclose(f); }\n')
    DECKS = (TOP + '.hdl "evil.osdi"\n.op\n.end\n', TOP + '.control\npre_osdi evil.osdi\nop\n.endc\n.end\n')

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp()
        source = os.path.join(cls.made, 'evil.c')
        with open(source, 'w') as f:
            f.write(cls.SOURCE)
        compiler = os.environ.get('CC', 'cc').split()
        subprocess.run([*compiler, '-shared', '-fPIC', '-o', os.path.join(cls.made, 'evil.osdi'), source], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made)

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(self.made, 'evil.osdi'), self.path('home/got/evil.osdi'))

    def ran(self):
        try:
            os.unlink(self.path('home/got/RAN'))
        except OSError:
            return False
        return True


class Native(Library):
    def test_native_code_needs_a_word_of_the_user(self):
        for deck in self.DECKS:
            for command in ((), ('check',), ('explain',), ('analyze',), ('profile',)):
                done = self.vsim(deck, *command, code=1)
                self.assertFalse(self.ran(), command)
                self.assertIn('native code', done.stderr)
            self.vsim(deck, '--allow-native')
            self.assertTrue(self.ran())

    def test_a_start_up_file_beside_the_deck_is_not_read(self):
        self.write('home/got/.spiceinit', 'osdi evil.osdi\n')
        for cwd in ('home/got', 'home/desk'):
            done = self.vsim(TOP + '.op\n.end\n', cwd=cwd, code=0)
            self.assertIn("'.spiceinit' is not read" if cwd == 'home/got' else 'is not read', done.stderr)
            self.assertFalse(self.ran())
        self.vsim(TOP + '.op\n.end\n', '--allow-native')
        self.assertTrue(self.ran())

    def test_folders_that_the_user_trusts(self):
        self.write('home/got/.spiceinit', 'osdi evil.osdi\n')
        self.write('config/vsim/trust', '# kits\n%s\n' % self.path('home/got'))
        os.chmod(self.path('config/vsim/trust'), 0o644)  # whatever this user's umask is
        self.vsim(TOP + '.op\n.end\n')
        self.assertTrue(self.ran())
        os.chmod(self.path('config/vsim/trust'), 0o666)  # anybody's list is not the user's
        self.vsim(TOP + '.op\n.end\n', code=0)
        self.assertFalse(self.ran())
        os.chmod(self.path('config/vsim/trust'), 0o644)
        self.write('config/vsim/trust', self.path('home/go') + '\n' + self.path('home/got/sub') + '\n')
        self.vsim(TOP + '.op\n.end\n', code=0)
        self.assertFalse(self.ran())

    def test_the_user_s_own_start_up_file_is_read_but_not_its_strangers(self):
        self.write('home/.spiceinit', 'nosuchcommand\n')
        self.assertIn('nosuchcommand', self.vsim(TOP + '.op\n.end\n', code=0).stderr)
        self.assertIn('nosuchcommand', self.vsim(TOP + '.op\n.end\n', cwd='home', code=0).stderr)


class Sandbox(Library):
    """The same stranger's code, with the user's word: it runs, and the kernel holds it. Where there is no sandbox
    nothing runs at all."""
    SOURCE = """#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void)
{
    const int fd = open("RAN", O_WRONLY | O_CREAT, 0666);
    const char *victim[] = {"../victim/file", "../.rc", "link/file", "filelink", "/proc/self/mem"};
    for (int i = 0; i < 5; i++)
        dprintf(fd, "%d", open(victim[i], O_WRONLY | O_TRUNC) >= 0);
    dprintf(fd, "%d", open("../victim/new", O_WRONLY | O_CREAT, 0666) >= 0);
    dprintf(fd, "%d", !unlink("../.rc"));
    dprintf(fd, "%d", !chmod("../.rc", 0777));
    dprintf(fd, "%d", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    dprintf(fd, "%d", system("echo x > SHELL") == 0);
    close(fd);
}
"""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory() as d:
            deck = os.path.join(d, 'd.sp')
            with open(deck, 'w') as f:
                f.write(TOP + '.op\n.end\n')
            done = subprocess.run([VSIM, '-q', '--no-cache', '--sandbox', deck], cwd=d, capture_output=True, text=True)
        cls.none = 'no sandbox' in done.stderr

    def setUp(self):
        super().setUp()
        if self.none:
            self.skipTest('this kernel has no sandbox')

    def test_native_code_does_nothing_outside(self):
        for deck in self.DECKS:
            self.vsim(deck, '--allow-native', '--sandbox')
            self.assertEqual(self.read('home/got/RAN'), '0' * 10)
            self.assertTrue(self.ran())
            self.assertEqual(self.tree(), self.before)
        self.vsim(self.DECKS[0], '--allow-native')  # without it the same code does what it wants
        self.assertIn('1', self.read('home/got/RAN'))

    def test_runs_are_those_without(self):
        deck = TOP + 'C1 in 0 1n\n.tran 1n 40n\n.op\n.ac dec 5 1 1k\n.end\n'
        self.vsim(deck, '-q', code=0)
        with open(self.path('home/got/deck.raw'), 'rb') as f:
            plain = f.read()
        os.unlink(self.path('home/got/deck.raw'))
        for more in ((), ('--no-cache',), ('--threads', '2'), ('--stats', 's.json', '-o', 'log', '--fsync')):
            self.vsim(deck, '-q', '--sandbox', *more, code=0)
            with open(self.path('home/got/deck.raw'), 'rb') as f:
                self.assertEqual(self.dateless(f.read()), self.dateless(plain), more)
        swept = TOP.replace('1k', '{r}') + '.param r=1\n.step param r 1 4 1\n.op\n.end\n'
        self.vsim(swept, '-q', '--sandbox', '--jobs', '2', code=0)
        self.block('write a.raw', 'echo x > sub/b', args=('--sandbox',), code=0)
        self.assertIn('sandbox: no programs', self.vsim(deck, '-v', '--sandbox', code=0).stdout)

    @staticmethod
    def dateless(raw):
        return b'\n'.join(line for line in raw.split(b'\n') if not line.startswith(b'Date'))

    def test_what_a_sandbox_cannot_hold_is_refused(self):
        deck = TOP + '.op\n.end\n'
        self.assertIn('home folder', self.vsim(deck, '--sandbox', cwd='home', code=1).stderr)
        self.assertIn('home folder', self.vsim(deck, '--sandbox', '-r', '../a.raw', code=1).stderr)
        self.assertIn('none', self.vsim(deck, '--sandbox', '--allow-write', 'none', code=4).stderr)
        for args in (('--allow-shell',), ('--mpi',), ('-i',)):
            self.assertIn('--sandbox', self.vsim(deck, '--sandbox', *args, code=2).stderr)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
