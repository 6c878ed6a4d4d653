#!/usr/bin/env python3
"""What the documents say is there: options of the command, files, links, names.   docs.py VSIM

Every --option that a document shows is the command's or a script's, or stands in the line of another
program. The manual page and `vsim --help` have options that the command knows, the page each of
those of the help. Files of this
tree that are named exist, links lead somewhere, and source comments name files that exist."""
import glob
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
VSIM = os.path.abspath(sys.argv.pop(1))
# Options and files of other programs that documents and comments speak of.
FOREIGN = {'--ntasks', '--array', '--cpus-per-task', '--tool', '--suite'}
ELSEWHERE = {'disciplines.h', 'constants.h', 'discipline.h', 'e_log.c', 'sunlinsol_klu.c',
             'models/newcomer.va', 'docs/performance_analysis.md', 'tests/fuzz_net',
             'lphi.c'}  # the third operand of an lphi
OTHERS = re.compile(r'\b(meson|ninja|python3|valgrind|bootstrap|configure|git|mpirun|mpiexec|srun|sbatch|#SBATCH|'
                    r'pkg-config|cmake|openvaf\S*|ngspice|Xyce|fuzz\w*|apt|pip)\b')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def documents():
    found = glob.glob(os.path.join(ROOT, 'docs', '**', '*.md'), recursive=True)
    found += [os.path.join(ROOT, f) for f in ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md')]
    return sorted(os.path.relpath(f, ROOT) for f in found)


def all_files():
    skip = ('build', '.git')
    found = set()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [d for d in folders if not d.startswith(skip) and d != '__pycache__']
        found.update(os.path.relpath(os.path.join(folder, f), ROOT) for f in files)
        found.update(os.path.relpath(os.path.join(folder, d), ROOT) for d in folders)
    return found


def options_of_command():
    return {'--' + o for o in re.findall(r'\{"([a-z-]+)", (?:no|required|optional)_argument', read('src/cli/cli_opt.c'))}


def options_of_help():
    done = subprocess.run([VSIM, '--help'], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    return set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', done.stdout))


def options_of_scripts():
    """Of our own scripts and of tests, whose lines documents show too."""
    found = set()
    for folder in ('bench', 'tools', 'tests/*'):
        for f in glob.glob(os.path.join(ROOT, folder, '*.py')):
            found.update(re.findall(r"'(--[a-z-]+)'", read(f)))
    return found | set(re.findall(r'\[ "\$\{1:-\}" !?= (--[a-z-]+)', read('tests/run')))


class Documents(unittest.TestCase):
    maxDiff = None

    def test_options_that_are_shown_exist(self):
        known = options_of_command() | options_of_scripts() | FOREIGN
        self.assertGreater(len(known), 30)
        wrong = []
        for f in documents():
            for n, line in enumerate(read(f).splitlines(), 1):
                if OTHERS.search(line):
                    continue
                wrong += ['%s:%d: %s' % (f, n, o) for o in re.findall(r'(?<![\w-])--[a-z][a-z-]+', line)
                          if o not in known]
        self.assertEqual(wrong, [])

    def test_the_manual_page_has_the_options_of_help(self):
        page = set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', read('vsim.1').replace('\\-', '-')))
        known = options_of_help()
        self.assertGreater(len(known), 30)
        self.assertEqual(sorted(known - options_of_command()), [], 'of --help, and not known')
        self.assertEqual(sorted(known - page), [], 'not in vsim.1')
        self.assertEqual(sorted(page - options_of_command()), [], 'of vsim.1, and not known')

    def test_variables_of_the_environment(self):
        known = set(re.findall(r'"(VSIM_[A-Z_]+)"', read('src/cli/cli_env.c')))
        self.assertGreater(len(known), 4)
        page = set(re.findall(r'\bVSIM_[A-Z_]+', read('vsim.1').replace('\\-', '-')))
        self.assertEqual(sorted(known - page), [], 'not in vsim.1')
        of_header = set(re.findall(r'\bVSIM_[A-Z_]+', ''.join(
            read(os.path.relpath(f, ROOT)) for f in glob.glob(os.path.join(ROOT, 'include', 'vsim', '*.h')))))
        shown = {v for f in documents() for v in re.findall(r'\bVSIM_[A-Z]+(?:_[A-Z]+)*\b', read(f))}
        of_tests = {v for kind in ('c', 'h', 'py')
                    for f in glob.glob(os.path.join(ROOT, 'tests', '**', '*.' + kind), recursive=True)
                    for v in re.findall(r'(?:getenv|environ\.get)\([\'"](VSIM_\w+)', read(os.path.relpath(f, ROOT)))}
        self.assertEqual(sorted(shown - known - of_header - of_tests), [])

    def test_files_that_are_named_exist(self):
        there = all_files()
        names = {os.path.basename(f) for f in there}
        wrong = []
        for f in documents():
            for n, line in enumerate(read(f).splitlines(), 1):
                for name in re.findall(r'`((?:src|docs|tests|models|netlists|bench|include|examples|tools)/[\w./-]+)`', line):
                    if name.rstrip('/') not in there and not re.search(r'NAME|TARGET', name) \
                            and name not in ELSEWHERE:
                        wrong.append('%s:%d: %s' % (f, n, name))
                for name in re.findall(r'`([a-z]\w*\.(?:c|h|py))`', line):
                    if name not in names | ELSEWHERE:
                        wrong.append('%s:%d: %s' % (f, n, name))
        self.assertEqual(wrong, [])

    def test_links_lead_somewhere(self):
        wrong = []
        for f in documents():
            for n, line in enumerate(read(f).splitlines(), 1):
                for to in re.findall(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)', line):
                    if not os.path.exists(os.path.join(ROOT, os.path.dirname(f), to)):
                        wrong.append('%s:%d: %s' % (f, n, to))
        self.assertEqual(wrong, [])

    def test_comments_name_files_that_exist(self):
        names = {os.path.basename(f) for f in all_files()}
        wrong = []
        for path in sorted(glob.glob(os.path.join(ROOT, 'src', '*', '*.[ch]')) +
                           glob.glob(os.path.join(ROOT, 'include', '*', '*.h'))):
            f = os.path.relpath(path, ROOT)
            for comment in re.finditer(r'/\*.*?\*/', read(f), re.S):
                for name in re.findall(r'(?<![\w/.<])([a-z]\w{2,}\.[ch])\b(?![\w.])', comment.group(0)):
                    if name not in names | ELSEWHERE:
                        wrong.append('%s: %s' % (f, name))
                for name in re.findall(r'docs/[\w/-]+\.md', comment.group(0)):
                    if not os.path.exists(os.path.join(ROOT, name)):
                        wrong.append('%s: %s' % (f, name))
        self.assertEqual(wrong, [])

    def test_functions_of_the_library_are_taught_tested_and_wrapped(self):
        exported = read('tests/data/abi.txt').split()
        self.assertGreater(len(exported), 80)
        names = lambda *paths: set(re.findall(r'\bvsim_\w+', ''.join(map(read, paths))))
        taught = names('docs/library.md')
        self.assertEqual([f for f in exported if f not in taught], [], 'not in docs/library.md')
        self.assertEqual(sorted(f for f in taught if f.startswith('vsim_session_') and f not in exported
                                and f + '_size' not in exported and f != 'vsim_session_options'), [], 'not exported')
        tested = names(*(os.path.relpath(f, ROOT) for folder in ('lib', 'unit/api', 'ng')
                         for f in glob.glob(os.path.join(ROOT, 'tests', folder, '*.[ch]'))))
        tested |= {f + '_size' for f in tested if f.endswith('_init')} # inline, and calls the other
        self.assertEqual([f for f in exported if f not in tested], [], 'no test calls it')
        page = read('docs/python.md')
        reasons = names('docs/python.md') | {f for f in exported if f.endswith('_init_size') or
                                             f.startswith('vsim_session_') and 'vsim_session_...' in page}
        package = set(re.findall(r'\bvsim_\w+', ''.join(
            read(os.path.relpath(f, ROOT)) for f in glob.glob(os.path.join(ROOT, 'python', 'src', 'vsim', '*.py')))))
        self.assertEqual([f for f in exported if f not in package | reasons], [],
                         'neither in the package nor in docs/python.md')


if __name__ == '__main__':
    unittest.main()
