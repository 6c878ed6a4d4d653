#!/usr/bin/env python3
"""Python's package as it is installed.   python.py BUILD

A wheel is built from the build folder and installed into an empty environment; its tests, the
notebooks of examples/ and the code of docs/python.md run there, from another folder and with
nothing of the build in reach. NumPy and the like are those of the peers (tests/peers.txt)."""
import ast
import ctypes
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
BUILD = os.path.abspath(sys.argv.pop(1))
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))
PATCHELF = shutil.which('patchelf', path=os.path.join(PEERS, 'bin') + ':' + os.environ['PATH'])
NUMBERS = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'numpy'))
NOTEBOOKS = sorted(glob.glob(os.path.join(ROOT, 'examples', '*.ipynb')))
SMOKE = """
import sys, vsim
ckt = vsim.Circuit('d\\nv1 in 0 10\\nr1 in out 1k\\nr2 out 0 3k\\nd1 0 out dm\\n.model dm d')
assert abs(ckt.op()['out'] - 7.5) < 1e-6
ckt.r1.resistance = 9e3
assert abs(ckt.op()['out'] - 2.5) < 1e-6
try:
    vsim.Circuit('t\\nr1 a 0 1k\\nq1 a b').op()
except vsim.InputError as e:
    assert (e.line, e.column) == (3, 7), e
else:
    sys.exit('no error')
def value(t):
    if t > 1e-6:
        raise KeyError(t)
    return 0.0
ckt.v1.function = value
try:
    ckt.tran(5e-6)
except KeyError:
    pass
else:
    sys.exit('no exception')
ckt.v1.function = None
assert ckt.sweep({'r1.r': [1e3, 9e3]}, get={'o': 'out'}, jobs=2).done == 2
"""


def notebooks():
    """Path and cells of code of each."""
    books = []
    for path in NOTEBOOKS:
        with open(path, encoding='utf-8') as f:
            cells = json.load(f)['cells']
        books.append((path, [''.join(c['source']) for c in cells if c['cell_type'] == 'code']))
    return books


def documentation():
    """The path of docs/python.md, its blocks of code."""
    path = os.path.join(ROOT, 'docs', 'python.md')
    with open(path, encoding='utf-8') as f:
        return path, re.findall(r'^```python\n(.*?)^```$', f.read(), re.M | re.S)


# of all warnings only the one of what newer NumPy refuses
WARNINGS = ('-W', 'ignore', '-W', 'error:Conversion of an array:DeprecationWarning')


@unittest.skipIf('sanitize' in BUILD or 'asan' in BUILD, 'not for sanitizers')
@unittest.skipUnless(PATCHELF and NUMBERS, 'patchelf and numpy come with the peers')
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.mkdtemp(prefix='vsim-python-')
        cls.env = {k: v for k, v in os.environ.items()
                   if not k.startswith(('VSIM', 'PYTHON', 'LD_', 'PIP_'))}
        cls.env['PATH'] = os.path.dirname(PATCHELF) + ':' + cls.env['PATH']
        cls.env['XDG_CACHE_HOME'] = os.path.join(cls.tmp, 'cache')
        out = subprocess.run([sys.executable, os.path.join(ROOT, 'python', 'build_wheel.py'),
                              '--no-rebuild', cls.tmp, BUILD], check=True, env=cls.env,
                             stdout=subprocess.PIPE, text=True, cwd='/').stdout
        cls.wheel = out.strip().splitlines()[-1]
        cls.venv = os.path.join(cls.tmp, 'venv')
        # that of the peers, whose NumPy is for one version of Python
        python = os.path.join(PEERS, 'bin', 'python')
        subprocess.run([python, '-m', 'venv', cls.venv], check=True, env=cls.env)
        cls.python = os.path.join(cls.venv, 'bin', 'python')
        subprocess.run([cls.python, '-m', 'pip', 'install', '-q', '--no-deps', '--no-index',
                        '--disable-pip-version-check', cls.wheel], check=True, env=cls.env)
        cls.site = glob.glob(os.path.join(cls.venv, 'lib', 'python3*', 'site-packages'))[0]
        with open(os.path.join(cls.site, 'peers.pth'), 'w', encoding='utf-8') as f:
            f.write(os.path.dirname(NUMBERS[0]) + '\n')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tmp)

    def run_it(self, *command, **more):
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           cwd=more.pop('cwd', '/'), env={**self.env, **more})
        self.assertEqual(p.returncode, 0, p.stdout)
        return p.stdout

    def test_the_packages_own_tests(self):
        tests = shutil.copy(os.path.join(ROOT, 'python', 'tests', 'test_vsim.py'), self.tmp)
        out = self.run_it(self.python, *WARNINGS, tests)
        self.assertRegex(out, r'Ran \d\d tests')
        self.assertNotIn('skipped', out)

    def test_other_pythons(self):
        """VSIM_PYTHONS: interpreters (with venv and a way to get NumPy) that are to be tried too."""
        pythons = os.environ.get('VSIM_PYTHONS', '').split()
        if not pythons:
            self.skipTest('VSIM_PYTHONS names no interpreters')
        tests = shutil.copy(os.path.join(ROOT, 'python', 'tests', 'test_vsim.py'), self.tmp)
        for k, python in enumerate(pythons):
            with self.subTest(python=python):
                venv = os.path.join(self.tmp, 'other%d' % k)
                own = os.path.join(venv, 'bin', 'python')
                self.run_it(python, '-m', 'venv', venv)
                self.run_it(own, '-m', 'pip', 'install', '-q', '--disable-pip-version-check',
                            self.wheel + '[all]')
                self.assertRegex(self.run_it(own, *WARNINGS, tests), r'Ran \d\d tests')
                for path, cells in [*notebooks(), documentation()]:
                    self.run_cells(cells, path, own)

    def test_notebooks(self):
        books = notebooks()
        self.assertEqual(len(books), 3)
        for path, cells in books:
            with self.subTest(notebook=os.path.basename(path)):
                self.run_cells(cells, path)

    def run_cells(self, cells, path, python=None):
        """As a notebook does: what the last line of a cell gives is shown."""
        lines = ['def show(x):', '    f = getattr(x, "_repr_html_", None)',
                 '    print(f()[:100] if f else repr(x))']
        for cell in cells:
            tree = ast.parse(cell)
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                last = tree.body[-1]
                last.value = ast.Call(ast.Name('show', ast.Load()), [last.value], [])
                ast.fix_missing_locations(tree)
            lines.append(ast.unparse(tree))
        script = os.path.join(self.tmp, os.path.basename(path) + '.py')
        with open(script, 'w', encoding='utf-8') as f:
            f.write('\n'.join(lines) + '\n')
        return self.run_it(python or self.python, '-W', 'error::RuntimeWarning', script)

    def test_the_code_of_the_documentation(self):
        path, blocks = documentation()
        self.assertGreater(len(blocks), 8)
        self.run_cells(blocks, path)

    def test_notebooks_keep_no_outputs(self):
        for path in NOTEBOOKS:
            with open(path, encoding='utf-8') as f:
                self.assertTrue(all(not c.get('outputs') for c in json.load(f)['cells']), path)

    def test_moved_it_uses_its_own_parts_alone(self):
        moved = os.path.join(self.tmp, 'moved here')
        shutil.copytree(os.path.join(self.site, 'vsim'), os.path.join(moved, 'vsim'))
        code = ('import vsim\n'
                'c = vsim.Circuit("d\\nv1 a 0 1\\nr1 a b 1k\\nd1 b 0 dm\\n.model dm d")\n'
                'c.op()\n'
                'print({l.split(None, 5)[5].strip() for l in open("/proc/self/maps")\n'
                '       if ".so" in l})')
        out = self.run_it(sys.executable, '-c', code, PYTHONPATH=moved,
                          XDG_CACHE_HOME=os.path.join(self.tmp, 'other cache'))
        files = ast.literal_eval(out.splitlines()[-1])
        ours = {os.path.basename(f) for f in files if f.startswith(moved)}
        self.assertLessEqual({'libvsim.so.0', 'libvsim-llvm.so'}, ours)
        self.assertTrue(any(f.startswith('libklu-') for f in ours), ours)
        for f in files:
            if not f.startswith(moved):
                self.assertNotRegex(f, r'(?i)vsim|llvm|klu|amd\.|btf|zstd')
        for f in glob.glob(os.path.join(moved, 'vsim', '_dist', 'share', 'vsim', 'models',
                                        'diode.va')):
            with open(f, 'a', encoding='utf-8') as model:
                model.write('this is no module\n')
        p = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                           env={**self.env, 'PYTHONPATH': moved}, cwd='/')
        self.assertNotEqual(p.returncode, 0)
        self.assertIn('moved here', p.stderr)

    def test_nothing_else_is_needed(self):
        from_system = re.compile(r'linux-vdso|/lib64/ld-linux|/lib\S*/(libc|libm|libdl|libz|'
                                 r'libpthread|librt|libgcc_s|ld-linux\S*)\.so')
        seen = 0
        for path in glob.glob(os.path.join(self.site, 'vsim', '_dist', '**'), recursive=True):
            if os.path.isfile(path) and ('.so' in path or os.path.basename(path) == 'vsim'):
                seen += 1
                for line in self.run_it('ldd', path).splitlines():
                    self.assertTrue(self.site in line or from_system.search(line), line)
                    if 'libvsim.so' in line:
                        self.assertIn(os.path.join(self.site, ''), os.path.realpath(
                            line.split('=>')[1].split('(')[0].strip()))
        self.assertGreater(seen, 6)
        copies = [f for f in glob.glob(os.path.join(self.site, 'vsim', '_dist', '**', 'libvsim*'),
                                       recursive=True) if os.path.isfile(f)]
        self.assertEqual(len(copies), 2)  # the library, the code generator

    def test_structs_are_those_of_the_headers(self):
        """The package says their layout again: it is compared with the compiler's."""
        sys.path.insert(0, os.path.join(ROOT, 'python', 'src'))
        self.addCleanup(sys.path.pop, 0)
        from vsim import _lib
        structs = {'message': _lib.Message, 'settings': _lib.Settings, 'define': _lib.Define,
                   'read': _lib.Read, 'unknown': _lib.Unknown, 'device': _lib.Device,
                   'model': _lib.Model, 'parameter': _lib.Parameter,
                   'host_source': _lib.HostSource, 'family': _lib.Family,
                   'progress': _lib.Progress, 'dc_sweep': _lib.DcSweep,
                   'analysis': _lib.Analysis, 'run_options': _lib.RunOptions,
                   'run_stat': _lib.RunStat, 'vector': _lib.Vector, 'measured': _lib.Measured,
                   'equations': _lib.Equations}
        rename = {'into': 'in'}
        want, code = [], ['#include <stdio.h>', '#include <vsim/vsim.h>', 'int main(void) {']
        for name, struct in structs.items():
            code.append('printf("%%zu\\n", sizeof(vsim_%s));' % name)
            want.append(ctypes.sizeof(struct))
            for field, *_ in struct._fields_:
                member = rename.get(field, field)
                code.append('printf("%%zu %%zu\\n", offsetof(vsim_%s, %s), '
                            'sizeof(((vsim_%s *)0)->%s));' % (name, member, name, member))
                want.append((getattr(struct, field).offset, getattr(struct, field).size))
        for k, kind in enumerate(_lib.KINDS):
            code.append('printf("%%d\\n", VSIM_%s);' % kind.upper())
            want.append(k)
        with open(os.path.join(ROOT, 'include', 'vsim', 'run.h'), encoding='utf-8') as f:
            kinds = re.search(r'enum vsim_kind \{(.*?)\}', f.read(), re.S)[1]
        self.assertEqual(len(re.findall(r'VSIM_\w+', kinds)), len(_lib.KINDS))
        exe = os.path.join(self.tmp, 'layout')
        subprocess.run(['cc', '-I', os.path.join(ROOT, 'include'), '-xc', '-', '-o', exe],
                       input='\n'.join([*code, '}']), check=True, text=True)
        have = [tuple(map(int, line.split())) for line in self.run_it(exe).splitlines()]
        self.assertEqual(have, [w if isinstance(w, tuple) else (w,) for w in want])

    @unittest.skipUnless(glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'mypy')),
                         'mypy comes with the peers')
    def test_type_hints(self):
        """They are consistent, and reach who installs the package."""
        mypy = [os.path.join(PEERS, 'bin', 'python'), '-m', 'mypy', '--ignore-missing-imports',
                '--cache-dir', os.path.join(self.tmp, 'mypy'), '--python-executable', self.python]
        self.run_it(*mypy, '-p', 'vsim', cwd=os.path.join(ROOT, 'python', 'src'))
        user = os.path.join(self.tmp, 'user.py')
        with open(user, 'w', encoding='utf-8') as f:
            f.write('import vsim\nc = vsim.Circuit("t")\ngm: float = c.m1.gm\n'
                    't = c.tran(1e-6, keep=["v(a)"]).time.max()\n'
                    'c.tran("1u")\nvsim.Circuit(3)\nc.op().no_such\n')
        p = subprocess.run([*mypy, user], capture_output=True, text=True, cwd=self.tmp,
                           env=self.env)
        self.assertEqual(re.findall(r'user.py:(\d+): error', p.stdout), ['5', '6', '7'], p.stdout)

    def test_the_command(self):
        deck = os.path.join(self.tmp, 'd.sp')
        with open(deck, 'w', encoding='utf-8') as f:
            f.write('d\nv1 a 0 1\nd1 a b dm\nr1 b 0 1k\n.model dm d\n.op\n.end\n')
        for command in ([os.path.join(self.venv, 'bin', 'vsim')], [self.python, '-m', 'vsim']):
            raw = os.path.join(self.tmp, 'd.raw')
            self.run_it(*command, deck, '-o', os.path.join(self.tmp, 'd.log'), '-r', raw)
            os.remove(raw)

    def test_the_interface_of_ngspice(self):
        code = ('import ctypes, vsim\n'
                'said = []\n'
                'fn = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, '
                'ctypes.c_void_p)\n'
                'say = fn(lambda text, id, user: said.append(text.decode()) or 0)\n'
                'ng = ctypes.CDLL(vsim.libngspice())\n'
                'assert ng.ngSpice_Init(say, None, None, None, None, None, None) == 0\n'
                'deck = [b"d", b"v1 a 0 10", b"r1 a b 1k", b"d1 b 0 dm", b".model dm d", b".end"]\n'
                'assert ng.ngSpice_Circ((ctypes.c_char_p * 7)(*deck, None)) == 0\n'
                'assert ng.ngSpice_Command(b"op") == 0\n'
                'assert ng.ngSpice_Command(b"print v(a)") == 0\n'
                'assert any("v(a) = 1.000000e+01" in s for s in said), said\n')
        self.run_it(self.python, '-c', code)

    def test_other_versions_of_python(self):
        """What needs no NumPy, which each of them would need its own of."""
        for minor in range(9, 20):
            found = [shutil.which('python3.%d' % minor)] + glob.glob(os.path.expanduser(
                '~/.pyenv/versions/3.%d.*/bin/python' % minor))
            for python in filter(None, found):
                if subprocess.run([python, '-c', ''], capture_output=True).returncode:
                    continue
                with self.subTest(python=python):
                    self.run_it(python, '-W', 'error', '-c', SMOKE, PYTHONPATH=self.site)
                break

    def test_the_wheel_is_one(self):
        self.assertRegex(os.path.basename(self.wheel),
                         r'^vsim-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_\w+\.whl$')
        with zipfile.ZipFile(self.wheel) as z:
            names = z.namelist()
            self.assertIsNone(z.testzip())
        for part in ('vsim/py.typed', 'vsim/_where.py', 'vsim/_dist/share/vsim/models/psp103.va'):
            self.assertIn(part, names)
        licences = [n for n in names if '/licenses/' in n]
        for part in ('LICENSE', 'llvm', 'libklu', 'libzstd'):
            self.assertTrue(any(part in n for n in licences), part)


if __name__ == '__main__':
    unittest.main()
