#!/usr/bin/env python3
"""The library as it is installed.   install.py BUILD

It is installed into a folder that is then moved: examples are built there with pkg-config, with the
C and the C++ compiler, shared and static, and run; its names are those of tests/data/abi.txt."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from examples import OUTPUT, sources

os.environ.pop('LD_LIBRARY_PATH', None)  # meson names the build folder there
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
BUILD = os.path.abspath(sys.argv.pop(1))
ABI = os.path.join(ROOT, 'tests', 'data', 'abi.txt')
HEADERS = ['base', 'deck', 'linear', 'result', 'run', 'session', 'vsim']


def names(path, *options):
    """The names that a library defines for others."""
    out = subprocess.run(['nm', *options, '--defined-only', path], check=True, capture_output=True,
                         text=True).stdout
    return sorted(line.split()[2] for line in out.splitlines() if re.match(r'\S+ [A-Z] ', line))


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.mkdtemp(prefix='vsim-install-')
        subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet',
                        '--destdir', os.path.join(cls.tmp, 'stage')], check=True)
        pc = glob.glob(os.path.join(cls.tmp, 'stage', '**', 'vsim.pc'), recursive=True)[0]
        lib = os.path.dirname(os.path.dirname(pc))
        prefix = lib
        while not os.path.isdir(os.path.join(prefix, 'include')):
            prefix = os.path.dirname(prefix)
        cls.home = os.path.join(cls.tmp, 'moved here')
        os.rename(prefix, cls.home)
        cls.lib = os.path.join(cls.home, os.path.relpath(lib, prefix))
        cls.env = {k: v for k, v in os.environ.items() if not k.startswith('VSIM')}
        cls.env['PKG_CONFIG_PATH'] = os.path.join(cls.lib, 'pkgconfig')
        cls.env['XDG_CACHE_HOME'] = os.path.join(cls.tmp, 'cache')
        cls.sanitized = b'__asan' in subprocess.run(
            ['nm', '-D', os.path.join(cls.lib, 'libvsim.so')], capture_output=True).stdout

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tmp)

    def flags(self, *what):
        text = subprocess.run(['pkg-config', *what, 'vsim'], check=True, capture_output=True,
                              text=True, env=self.env).stdout
        # pkg-config writes blanks in names with a backslash
        return [w.replace('\\ ', ' ') for w in re.findall(r'(?:\\ |\S)+', text)]

    def build(self, source, *more, static=False):
        exe = os.path.join(self.tmp, 'program')
        cxx = source.endswith('.cc')
        std = ['c++', '-std=c++11'] if cxx else ['cc', '-std=c11']
        libs = self.flags('--libs', *(['--static'] if static else []))
        if static:
            libs = [os.path.join(self.lib, 'libvsim.a') if f == '-lvsim' else f for f in libs]
        san = ['-fsanitize=address,undefined'] if self.sanitized else []
        subprocess.run([*std, '-Wall', '-Wextra', '-Wno-format', *san, '-o', exe, source,
                        *self.flags('--cflags'), *libs, '-lm', '-lpthread',
                        '-Wl,-rpath,' + self.lib, *more], check=True)
        return exe

    def run_it(self, exe, *args):
        p = subprocess.run([exe, *args], capture_output=True, text=True, env=self.env, cwd='/')
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        return p.stdout

    def test_examples_run(self):
        for name, source in sources().items():
            with self.subTest(example=name):
                self.assertRegex(self.run_it(self.build(source)), '^' + OUTPUT[name] + '$')

    def test_a_static_program_runs(self):
        exe = self.build(os.path.join(ROOT, 'examples', 'op.c'), static=True)
        self.assertRegex(self.run_it(exe), OUTPUT['op'])

    def test_headers_stand_alone(self):
        for compiler in (['cc', '-std=c11', '-xc'], ['cc', '-std=gnu99', '-xc'],
                         ['c++', '-std=c++11', '-xc++']):
            for h in HEADERS:
                subprocess.run([*compiler, '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror',
                                '-fsyntax-only', *self.flags('--cflags'), '-'],
                               input='#include <vsim/%s.h>\n' % h, text=True, check=True)
        self.assertFalse(os.path.exists(os.path.join(self.home, 'include', 'vsim', 'inside.h')))

    def test_names_are_those_of_the_list(self):
        with open(ABI, encoding='utf-8') as f:
            want = f.read().split()
        have = names(os.path.join(self.lib, 'libvsim.so'), '-D')
        self.assertEqual(have, want, 'tests/data/abi.txt lists what programs may rely on')
        declared = set()
        for h in HEADERS:
            with open(os.path.join(ROOT, 'include', 'vsim', h + '.h'), encoding='utf-8') as f:
                text = re.sub(r'/\*.*?\*/', ' ', f.read(), flags=re.S)
            declared |= {m for m in re.findall(r'(?:VSIM_API|VSIM_MUST_USE)\s[^;]*?\b(vsim_\w+)\(', text)}
        self.assertEqual(sorted(declared), want)

    @unittest.skipIf('sanitize' in BUILD, 'a sanitizer has names of its own')
    def test_the_archive_shows_no_other_names(self):
        for name in names(os.path.join(self.lib, 'libvsim.a')):
            self.assertTrue(name.startswith('vsim_'), name)

    def test_no_compiler_is_linked(self):
        exe = self.build(os.path.join(ROOT, 'examples', 'op.c'))
        needed = subprocess.run(['ldd', exe], check=True, capture_output=True, text=True).stdout
        self.assertIn(os.path.join(self.home, ''), needed)
        self.assertNotRegex(needed, r'(?i)llvm|libmpi|openblas')

    def test_soname(self):
        out = subprocess.run(['readelf', '-d', os.path.join(self.lib, 'libvsim.so')], check=True,
                             capture_output=True, text=True).stdout
        self.assertRegex(out, r'SONAME.*\[libvsim\.so\.0\]')

    def test_models_are_those_of_the_installation(self):
        models = os.path.join(self.home, 'share', 'vsim', 'models')
        deck = os.path.join(self.tmp, 'd.sp')
        with open(deck, 'w', encoding='utf-8') as f:
            f.write('d\nv1 a 0 1\nd1 a b dm\nr1 b 0 1k\n.model dm d\n.op\n.end\n')
        vsim = os.path.join(self.home, 'bin', 'vsim')
        self.run_it(vsim, deck, '-r', os.path.join(self.tmp, 'd.raw'))
        with open(os.path.join(models, 'diode.va'), 'a', encoding='utf-8') as f:
            f.write('this is no module\n')
        p = subprocess.run([vsim, deck, '-r', os.path.join(self.tmp, 'd.raw')], cwd='/',
                           capture_output=True, text=True, env=self.env)
        self.assertNotEqual(p.returncode, 0)
        self.assertIn('moved here', p.stderr)
        exe = self.build(os.path.join(ROOT, 'examples', 'threads.c'))
        p = subprocess.run([exe], capture_output=True, env=self.env, cwd='/')
        self.assertNotEqual(p.returncode, 0)


if __name__ == '__main__':
    unittest.main()
