#!/usr/bin/env python3
"""The program under attack: mutants, damaged files, failing calls of the system, random circuits.

    attack.py VSIM [--target T]... [--seed N] [--runs N | --hours H] [--shim FILE] [--found DIR]

Each target makes inputs from a seed and checks what vsim makes of them (docs/fuzzing.md). What must
hold for every run of the program: it ends by itself, or soon after SIGTERM; not by a signal, not by
an assertion or a report of a sanitizer; its exit code is one of those of vsim.1, and if that is not
0 there is a message. Inputs that break this are made small and kept in the folder of --found,
tests/attack/found as a rule, from where each later run checks them first.
Exit code: 0 no finding, 1 findings, 77 nothing could be tested."""
import argparse
import collections
import glob
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import circuits
import large
import mutate

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CODES = {0, 1, 2, 3, 4, 5, 6, 7}
ENOUGH, PATIENCE = 10, 300      # s: until SIGTERM; until the end after it
REFERENCE = 500                 # s: until SIGTERM for a run that others are compared with
SMALLER = 150                   # runs to make a finding small
MEMORY, FILE = 6 << 30, 64 << 20


def texts(*patterns, most=6000):
    out = []
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            with open(path, encoding='latin-1') as f:
                s = f.read()
            if len(s) <= most:
                out.append(s)
    return out


def limits():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not os.environ.get('ASAN_OPTIONS'):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Bench:
    """A folder to work in, and runs of the program."""
    cut = False  # the last run was asked to end

    def __init__(self, vsim, shim):
        self.vsim, self.shim = vsim, shim
        self.tmp = tempfile.TemporaryDirectory(prefix='vsim-attack-')
        self.folder = os.path.join(self.tmp.name, 'work')
        self.cache = os.path.join(self.tmp.name, 'cache')
        os.mkdir(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, s):
        with open(self.path(name), 'wb') as f:
            f.write(s if isinstance(s, bytes) else s.encode('latin-1', 'replace'))
        return name

    def get(self, name):
        try:
            with open(self.path(name), 'rb') as f:
                return f.read()
        except OSError:
            return None

    def clear(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)

    def run(self, *args, env=None, cache=True, enough=ENOUGH):
        """(exit code or None, what it said). It is asked to end after so many seconds."""
        self.cut = False
        command = [self.vsim, '-n', *args] + (['--cache-dir', self.cache] if cache else [])
        p = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, preexec_fn=limits, env=dict(os.environ, **(env or {})))
        try:
            said = p.communicate(timeout=enough)[0].decode('latin-1')
            return p.returncode, said
        except subprocess.TimeoutExpired:
            self.cut = True
            p.terminate()
            try:
                said = p.communicate(timeout=PATIENCE)[0].decode('latin-1')
            except subprocess.TimeoutExpired:
                p.kill()
                p.communicate()
                return None, ''
            # asked to end: any way but a crash is right
            return (0 if p.returncode in (-signal.SIGTERM, 130) else p.returncode), said


def fault(code, said, own_code=False):
    """What is wrong with a run as such; None: nothing. The first words say which finding it is.
    own_code: the deck may have chosen its exit code (quit)."""
    for pattern in r'Assertion `.*', r'ERROR: AddressSanitizer: \S+', r'runtime error: .*', r'terminate called':
        m = re.search(pattern, said)
        if m:
            return m.group(0)[:200]
    if code is None:
        return 'it does not end when asked to'
    if code < 0:
        return 'signal %d' % -code
    if own_code:
        return None
    if code not in CODES:
        return 'exit code %d' % code
    if code and not re.search(r'error|warning|vsim:|failed', said):
        return 'exit code %d without a message' % code
    return None


# -- targets: make(draw) is an input, bytes; check(input) is what is wrong, or None --

class Target:
    lines = True     # an input may be made smaller by lines
    runs = 20        # of the short run
    verdict = None   # name of what the last check found, where there are several
    UNJUDGED = ()    # verdicts that say nothing of vsim
    CUT = 'ended when asked to'  # verdict where it was; of targets that compare results: those are not there

    def __init__(self, bench):
        self.bench = bench

    def ready(self):
        """None, or why it cannot be tested here."""
        return None

    def name(self):
        """The verdict of the last check."""
        return self.CUT if self.bench.cut else self.verdict

    def replay(self, s):
        self.bench.clear()
        return self.check(s)

    def strangers(self):
        """Files that a run left where none should be."""
        outside = set(os.listdir(self.bench.tmp.name)) - {'work', 'cache'}
        return 'wrote %s outside of its folder' % sorted(outside) if outside else None


class Deck(Target):
    """Decks, run with all that they ask for."""

    def __init__(self, bench):
        super().__init__(bench)
        self.seeds = texts('tests/fuzz/net/*', 'tests/decks/*.sp', 'netlists/*.sp', 'tests/diag/decks/*.sp')

    def make(self, draw):
        return mutate.tame(mutate.text(draw, self.seeds)).encode('latin-1', 'replace')

    def check(self, s):
        self.bench.put('d.sp', s)
        quits = re.search(rb'(?i)quit|exit', s) is not None
        return fault(*self.bench.run('-r', 'd.raw', 'd.sp'), quits) or self.strangers()


class Features(Deck):
    """Decks of analyses that few others have (tests/attack/seeds). What follows a line `*---` is the file `other`."""

    def __init__(self, bench):
        super().__init__(bench)
        self.seeds = texts('tests/attack/seeds/*.sp')

    def check(self, s):
        deck, _, other = s.partition(b'*---\n')
        self.bench.put('other', other)
        return super().check(deck)


class Control(Target):
    """Commands of a block, on a small circuit."""
    HEAD = ('block\n.param k=2\nV1 in 0 dc 1 ac 1 pulse(0 1 1u 1u 1u 5u 20u)\nR1 in out {k*1k}\nC1 out 0 1n\n'
            'D1 out 0 dm\n.model dm d\n.tran 1u 20u\n.control\n')

    def __init__(self, bench):
        super().__init__(bench)
        self.seeds = texts('tests/fuzz/control/*')
        for s in texts('tests/decks/*.sp'):
            self.seeds += re.findall(r'(?s)\.control\n(.*?)\.endc', s)

    def make(self, draw):
        return mutate.tame(mutate.text(draw, self.seeds)).encode('latin-1', 'replace')

    def check(self, s):
        self.bench.put('c.sp', self.HEAD.encode() + s + b'\n.endc\n.end\n')
        quits = re.search(rb'(?i)quit|exit', s) is not None
        return fault(*self.bench.run('c.sp'), quits) or self.strangers()


class Va(Target):
    """Verilog-A modules, compiled and simulated."""
    runs = 8

    def __init__(self, bench):
        super().__init__(bench)
        self.seeds = texts('tests/fuzz/va/*.va', 'models/*.va', 'tests/diag/va/*.va', most=5000)

    def make(self, draw):
        return mutate.tame(mutate.text(draw, self.seeds)).encode('latin-1', 'replace')

    def check(self, s):
        self.bench.put('m.va', s)
        deck = ['va', '.hdl "m.va"']
        for k, (name, ports) in enumerate(re.findall(rb'\bmodule\s+(\w+)\s*\(([^;]*)\)\s*;', s)[:3]):
            n = max(1, min(len(ports.split(b',')), 8))
            deck.append('.model mod%d %s' % (k, name.decode('latin-1')))
            deck.append('N%d %s mod%d' % (k, ' '.join('p%d_%d' % (k, i) for i in range(n)), k))
            deck += ['V%d_%d q%d_%d 0 dc %g ac 1 sin(0 1 1meg)\nR%d_%d q%d_%d p%d_%d 100' %
                     (k, i, k, i, 0.3 * i, k, i, k, i, k, i) for i in range(n)]
        self.bench.put('d.sp', '\n'.join(deck + ['.op', '.ac dec 1 1k 1meg', '.tran 10n 1u', '.end\n']))
        return fault(*self.bench.run('-r', 'd.raw', 'd.sp'))


class Raw(Target):
    """Raw files that a block loads, tells and writes again."""
    lines = False

    def __init__(self, bench):
        super().__init__(bench)
        self.seeds = []

    def make(self, draw):
        if not self.seeds:
            self.bench.put('d.sp', 'raw\nV1 in 0 dc 1 ac 1 sin(0 1 1meg)\nR1 in out 1k\nC1 out 0 1n\n.op\n'
                           '.ac dec 3 1k 1meg\n.tran 10n 1u\n.end\n')
            for form in [], ['--ascii']:
                self.bench.run('-r', 'seed.raw', *form, 'd.sp', enough=REFERENCE)
                self.seeds.append(self.bench.get('seed.raw'))
            self.seeds += [s.encode('latin-1') for s in texts('tests/fuzz/raw/*')]
        return mutate.data(draw, draw.choice(self.seeds))

    def check(self, s):
        self.bench.put('m.raw', s)
        self.bench.put('d.sp', 'load\nV1 a 0 1\n.control\nload m.raw\ndisplay\nprint all\nwrite n.raw all\n'
                       'wrdata n.txt all\n.endc\n.end\n')
        return fault(*self.bench.run('d.sp'))


class Journal(Target):
    """A sweep that goes on from a damaged journal or result: the same bytes, or a refusal."""
    lines = False
    runs = 10
    CUT, UNJUDGED = 'over time', {'over time'}
    DECK = ('sweep\n.param r=1k\nV1 in 0 dc 1 pulse(0 1 0 1n 1n 10n 20n)\nR1 in out {r}\nC1 out 0 1p\n'
            '.tran 1n 40n\n.meas tran m max v(out)\n.step param r 1k 12k 1k\n.end\n')

    def __init__(self, bench):
        super().__init__(bench)
        self.whole = None

    def replay(self, s):
        self.bench.clear()
        self.whole = None
        return self.check(s)

    def sweep(self, *more, enough=ENOUGH):
        self.bench.put('d.sp', self.DECK)
        os.utime(self.bench.path('d.sp'), (10**9, 10**9))
        return self.bench.run('-q', '-r', 's', '--shard', '1/2', *more, 'd.sp', enough=enough)

    def prepare(self):
        if not self.whole:
            self.sweep(enough=REFERENCE)
            self.whole = {name: self.bench.get(name) for name in ('s', 's.journal')}

    def make(self, draw):
        """Which file, then its bytes."""
        self.prepare()
        if draw.randrange(3):
            return b'j' + mutate.journal(draw, self.whole['s.journal'])
        return b'r' + mutate.data(draw, self.whole['s'])

    def check(self, s):
        self.prepare()
        for name in 's', 's.journal':
            self.bench.put(name, self.whole[name])
        self.bench.put('s.journal' if s[:1] == b'j' else 's', s[1:])
        code, said = self.sweep('--resume')
        # a forged sum is no accident: what it says of points is believed
        forged = s[:1] == b'j' and self.sealed(s[1:])
        wrong = fault(code, said, forged)
        if wrong or forged or code or self.bench.cut or self.bench.get('s') == self.whole['s']:
            return wrong
        return 'resumed with exit code 0 to other results'

    @staticmethod
    def sealed(s):
        lines = [re.sub(rb'\t#[0-9a-f]{16}$', b'', line) for line in s.split(b'\n')[:-1]]
        return mutate.seal(lines) == s


class Cache(Target):
    """Damaged files in the cache: the results of the undamaged one. An input is a seed."""
    lines = False
    runs = 10
    CUT, UNJUDGED = 'over time', {'over time'}
    DECK = ('cache\nV1 in 0 dc 2 sin(1 1 100meg)\nR1 in a 1k\nD1 a 0 dm\nM1 b a 0 0 nm w=10u l=1u\nR2 in b 2k\n'
            '.model dm d is=1e-14 cjo=1p\n.model nm nmos level=1 vto=0.6 kp=1e-4\n.op\n.tran 0.1n 20n\n.end\n')

    def make(self, draw):
        return b'%d\n' % draw.randrange(10**9)

    def results(self, enough=ENOUGH):
        code, said = self.bench.run('-r', 'd.raw', '--cache-dir', 'c', 'd.sp', cache=False, enough=enough)
        return fault(code, said) or (None if code == 0 else said[-200:]), None if self.bench.cut else self.plots()

    def plots(self):
        return re.sub(rb'Date:[^\n]*\n', b'', self.bench.get('d.raw') or b'')

    def check(self, s):
        draw = random.Random(s)
        if not os.path.isdir(self.bench.path('good')):
            self.bench.clear()
            self.bench.put('d.sp', self.DECK)
            wrong, self.good = self.results(REFERENCE)
            if wrong:
                return 'undamaged: ' + wrong
            shutil.copytree(self.bench.path('c'), self.bench.path('good'))
        shutil.rmtree(self.bench.path('c'))
        shutil.copytree(self.bench.path('good'), self.bench.path('c'))
        names = sorted(os.listdir(self.bench.path('c')))
        for name in draw.sample(names, draw.randint(1, len(names))):
            kind = draw.randrange(8)
            data = self.bench.get('c/' + name)
            if kind == 0:
                os.unlink(self.bench.path('c/' + name))
            elif kind == 1:
                self.bench.put('c/' + name, self.bench.get('good/' + draw.choice(names)))
            else:
                self.bench.put('c/' + name, mutate.data(draw, data))
        wrong, got = self.results()
        if wrong or not got or not self.good:
            return wrong
        return 'other results with a damaged cache' if got != self.good else None


class Faults(Target):
    """Calls of the system that fail: an input is the settings of shim.c for a run. It ends with a
    message and the right code; files have a prefix of the right results; what only disturbs
    (EINTR, short writes, clocks) changes nothing."""
    runs = 24
    CUT, UNJUDGED = 'over time', {'over time'}
    DECK = ('faults\nV1 in 0 dc 1 ac 1 pulse(0 1 1n 1n 1n 10n 25n)\nR1 in out 1k\nC1 out 0 1p\nD1 out 0 dm\n'
            '.model dm d is=1e-14 cjo=1p\n.op\n.ac dec 3 1k 1g\n.tran 0.1n 200n\n.meas tran m max v(out)\n.end\n')

    def __init__(self, bench):
        super().__init__(bench)
        self.good = None

    def ready(self):
        return None if self.bench.shim else 'no --shim'

    def replay(self, s):
        self.bench.clear()
        self.good = None
        return self.check(s)

    def run(self, env, enough=ENOUGH):
        if self.bench.get('d.raw') is not None:
            os.unlink(self.bench.path('d.raw'))
        self.bench.put('d.sp', self.DECK)
        env = dict(env, LD_PRELOAD=self.bench.shim) if env else None
        return self.bench.run('-r', 'd.raw', 'd.sp', env=env, enough=enough)

    def prepare(self):
        if self.good:
            return
        self.run(None, REFERENCE)            # fills the cache
        self.run({'SHIM_COUNT': self.bench.path('count')}, REFERENCE)
        self.count = [int(x) for x in self.bench.get('count').split()]
        self.good = circuits.read_raw(self.bench.path('d.raw'))

    def make(self, draw):
        self.prepare()
        kind = draw.choice(['MALLOC', 'MALLOC', 'MALLOC', 'WRITE', 'WRITE', 'READ', 'EINTR', 'SHORT', 'CLOCK', 'SIGNAL'])
        env = {}
        if kind in ('MALLOC', 'WRITE', 'READ'):
            most = self.count[('MALLOC', 'WRITE', 'READ').index(kind)]
            env['SHIM_' + kind] = draw.randint(1, most + 1)
            env['SHIM_PERSIST'] = draw.randrange(2)
            env['SHIM_ERRNO'] = draw.choice([5, 28, 122])      # EIO, ENOSPC, EDQUOT
        elif kind == 'SIGNAL':
            env = {'SHIM_SIGNAL': draw.choice([2, 15]), 'SHIM_SIGNAL_AT': draw.randint(1, self.count[1])}
        else:
            env['SHIM_' + kind] = draw.randint(1, 3) if kind == 'CLOCK' else 1
        return ''.join('%s=%s\n' % x for x in env.items()).encode()

    def check(self, s):
        self.prepare()
        env = dict(line.split('=') for line in s.decode().split())
        code, said = self.run(env)
        asked = int(env.get('SHIM_SIGNAL', 0))
        if asked and code in (-asked, 130):      # interrupted
            code = 0
        wrong = fault(code, said)
        if wrong or self.bench.cut:
            return wrong
        try:
            got = circuits.read_raw(self.bench.path('d.raw'))
        except (OSError, ValueError, KeyError, IndexError):
            got = []
        whole = self.equal(got, self.good)
        if not whole and not self.equal(got, self.good, prefix=True):
            return 'the results are no part of the right ones'
        if not whole and code == 0 and not asked:
            return 'exit code 0 with incomplete results'
        harmless = set(env) & {'SHIM_EINTR', 'SHIM_SHORT', 'SHIM_CLOCK'}
        if harmless and code:
            return 'exit code %d by a disturbance: %s' % (code, said[-300:])
        return None

    @staticmethod
    def equal(got, good, prefix=False):
        if not prefix and len(got) != len(good):
            return False
        for (name, a), (_, b) in zip(got, good):
            for key, column in a.items():
                whole = b.get(key, [])
                if column != whole[:len(column)] or (not prefix and len(column) != len(whole)):
                    return False
        return len(got) <= len(good)


class Laws(Target):
    """Random circuits that must obey a law of physics (circuits.py)."""
    runs = 24
    lines = False
    UNJUDGED = {'over time', 'neither solves', 'two states'}

    def make(self, draw):
        return ('%s %d' % (draw.choice(sorted(circuits.LAWS)), draw.randrange(10**6))).encode()

    def check(self, s):
        self.verdict, wrong = circuits.obeys(self.bench.vsim, s.decode(), self.bench.folder)
        return wrong


class Peer(Target):
    """Random circuits beside ngspice."""
    lines = False
    runs = 6
    EXPLAINED = {'same', 'two states', 'beyond the models', 'kiloamperes in a junction', 'equal at smaller steps',
                 'capacitances of level 1', 'ngspice contradicts its own slope'}
    UNJUDGED = {'ngspice fails', 'neither solves'}

    def ready(self):
        return None if shutil.which('ngspice') else 'no ngspice'

    def make(self, draw):
        return b'%d' % draw.randrange(10**6)

    def check(self, s):
        self.verdict, detail = circuits.compare(self.bench.vsim, int(s), self.bench.folder)
        return None if self.verdict in self.EXPLAINED | self.UNJUDGED else '%s: %s' % (self.verdict, detail)


class Large(Target):
    """Random circuits of hundreds to thousands of unknowns beside other ways to their results (large.py)."""
    lines = False
    runs = 0         # an input takes up to a minute of the processor: kept findings alone
    UNJUDGED = {'over time', 'nothing to compare'}

    def make(self, draw):
        return ('%d %s' % (draw.randrange(10**6), ' '.join(draw.sample(sorted(large.CHECKS), 2)))).encode()

    def check(self, s):
        try:
            wrong = large.holds(self.bench.vsim, s.decode(), self.bench.folder)
        except large.Slow:
            self.verdict = 'over time'
            return None
        except large.Nothing:
            self.verdict = 'nothing to compare'
            return None
        self.verdict = 'wrong' if wrong else 'holds'
        return wrong


TARGETS = {c.__name__.lower(): c for c in (Deck, Features, Control, Va, Raw, Journal, Cache, Faults, Laws, Peer, Large)}


# -- findings --

def kind_of(wrong):
    """Equal for one finding in two sizes."""
    return re.sub(r'[0-9.e+-]+', '#', wrong.split('\n')[0])[:60]


def smaller(target, s, wrong):
    """The input without what the finding does not need: blocks of lines, halved until single."""
    parts = s.split(b'\n')
    n, left = max(len(parts) // 2, 1), SMALLER
    while target.lines and left > 0:
        for i in range(0, len(parts), n):
            less = parts[:i] + parts[i + n:]
            left -= 1
            again = target.replay(b'\n'.join(less)) if less and left > 0 else None
            if again and kind_of(again) == kind_of(wrong):
                parts = less
                break
        else:
            if n == 1:
                break
            n //= 2
    return b'\n'.join(parts)


def keep(folder, name, target, s, wrong):
    small = smaller(target, s, wrong)
    path = os.path.join(folder, '%s-%s' % (name, hashlib.sha256(small).hexdigest()[:10]))
    os.makedirs(folder, exist_ok=True)
    with open(path, 'wb') as f:
        f.write(small)
    return path


def known(folder, name):
    return sorted(glob.glob(os.path.join(folder, name + '-*')))


def tell_unjudged(name, target, what):
    """A line for an input of which nothing is known."""
    if target.name() in target.UNJUDGED:
        print('%s: %s: %s, not judged' % (name, what, target.name()), flush=True)


def summary(target, table):
    """Each verdict's number, behind a semicolon those that judge nothing."""
    part = [', '.join('%s %d' % (v, n) for v, n in sorted(table.items()) if (v in target.UNJUDGED) == unjudged)
            for unjudged in (False, True)]
    return (', ' + part[0] if part[0] else '') + ('; not judged: ' + part[1] if part[1] else '')


def attack(name, target, o):
    """Kept findings first, then inputs until there are enough. Number of findings."""
    found, done, t0, table = 0, 0, time.monotonic(), collections.Counter()
    for path in known(o.found, name):
        with open(path, 'rb') as f:
            wrong = target.replay(f.read())
        tell_unjudged(name, target, path)
        if wrong:
            found += 1
            print('%s: %s\n    %s' % (name, path, wrong), flush=True)
    target.bench.clear()
    target.__init__(target.bench)
    runs = o.runs if o.runs is not None else target.runs
    while time.monotonic() - t0 < o.hours * 3600 / len(o.target) if o.hours else done < runs:
        draw = random.Random('%s %d %d' % (name, o.seed, done))
        s = target.make(draw)
        wrong = target.check(s)
        done += 1
        verdict = target.verdict if wrong else target.name()
        if verdict:
            table[verdict] += 1
            tell_unjudged(name, target, s.decode() if target.verdict else 'input %d of seed %d' % (done, o.seed))
        if wrong:
            found += 1
            print('%s: %s\n    %s' % (name, keep(o.new or o.found, name, target, s, wrong), wrong), flush=True)
            target.bench.clear()
            target.__init__(target.bench)
    print('%s: %d inputs, %d kept, %d findings%s' % (
        name, done, len(known(o.found, name)), found, summary(target, table)), flush=True)
    return found


def main():
    p = argparse.ArgumentParser()
    p.add_argument('vsim')
    p.add_argument('--target', action='append', choices=sorted(TARGETS))
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--runs', type=int)
    p.add_argument('--hours', type=float)
    p.add_argument('--shim')
    p.add_argument('--found', default=os.path.join(HERE, 'found'))
    p.add_argument('--new', help='folder for new findings, where not that of --found')
    o = p.parse_args()
    os.umask(0o022)  # files that others may write are not trusted
    o.target = o.target or list(TARGETS)
    found = tested = 0
    for name in o.target:
        target = TARGETS[name](Bench(os.path.abspath(o.vsim), o.shim and os.path.abspath(o.shim)))
        why = target.ready()
        if why:
            print('%s: skipped, %s' % (name, why))
            continue
        tested += 1
        found += attack(name, target, o)
    sys.exit(1 if found else 0 if tested else 77)


if __name__ == '__main__':
    main()
