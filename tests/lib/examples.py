#!/usr/bin/env python3
"""The examples by the library in the build folder.   examples.py BUILD

Each is built with the sanitizers that the library was built with, and run; what a sanitizer finds ends it. How they
run with the installed library: install.py."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
# What each example prints; numbers that the last digits of a result decide are left open.
OUTPUT = {
    'op': r'v\(out\) = 7\.5 V\n',
    'tran': r'half way at 0\.\d\d ms \(RC ln 2 = 0\.69 ms\)\n'
            r'more than 100 points were seen and kept; at 5 ms v\(out\) = 0\.99\d V\n',
    'sweep': r'(r = .*, 1/\(2 pi r c\) = .* kHz\n){6}',
    'threads': r'v\(k\) = 0\.6\d\d V\nv\(b\) = 0\.6\d\d V\n',
    'cosim': r'many edges, period 14\.\d us\n',
    'cxx': r'(.* V -> .* V\n){5}caught: unknown card .*\n',
}


def sources():
    """Those of the library's examples, by their names."""
    folder = os.path.join(ROOT, 'examples')
    return {os.path.splitext(f)[0]: os.path.join(folder, f) for f in sorted(os.listdir(folder))
            if f.endswith(('.c', '.cc'))}


def compiler(source):
    return ['c++', '-std=c++11'] if source.endswith('.cc') else ['cc', '-std=c11']


def sanitizers(library):
    """Options for the compiler."""
    names = subprocess.run(['nm', '-D', library], capture_output=True, check=True).stdout
    found = [s for s, name in (('address,undefined', b'__asan'), ('thread', b'__tsan')) if name in names]
    return ['-g', '-fsanitize=' + ','.join(found), '-fno-sanitize-recover=all'] if found else []


class Built(unittest.TestCase):
    def test_examples_run(self):
        options = sanitizers(os.path.join(BUILD, 'libvsim.so'))
        self.assertEqual(sorted(sources()), sorted(OUTPUT))
        with tempfile.TemporaryDirectory() as tmp:
            env = {k: v for k, v in os.environ.items() if not k.startswith('VSIM')}
            env['XDG_CACHE_HOME'] = os.path.join(tmp, 'cache')
            for name, source in sources().items():
                with self.subTest(example=name):
                    exe = os.path.join(tmp, name)
                    subprocess.run([*compiler(source), *options, '-I', os.path.join(ROOT, 'include'), '-o', exe,
                                    source, '-L', BUILD, '-lvsim', '-Wl,-rpath,' + BUILD, '-lm', '-lpthread'],
                                   check=True)
                    p = subprocess.run([exe], capture_output=True, text=True, env=env, cwd='/')
                    self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
                    self.assertEqual(p.stderr, '')
                    self.assertRegex(p.stdout, '^' + OUTPUT[name] + '$')


if __name__ == '__main__':
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
