#!/usr/bin/env python3
"""Counts the decks of a folder that ngspice runs and vsim does not, by reason.

    examples.py VSIM FOLDER [--only TEXT] [--limit SECONDS] [--list]
                                exit code 77 without ngspice, 1 if a deck has a new reason

FOLDER: a folder with decks at any depth, such as `examples` or `tests` of ngspice's source tree.
Each deck runs in batch in a copy of the folder, vsim under the name `ngspice`, at most `--limit`
seconds of processor time. A deck counts as run if the exit code is 0 and there is no message of an
error (ngspice: nor of something that it gave up). ngspice runs those that vsim did not, but for
those with a reason that is decided. `--only`: decks with TEXT in their path. `--list`: a line for
each deck that vsim did not run, as they come."""

import argparse
import collections
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

DECK = ('.cir', '.sp', '.spice', '.net', '.ckt', '.deck')
ERROR = re.compile(r'(?m)^Error: (?:\S+:\d+(?::\d+)?: )?(.*)$')
GIVEN_UP = re.compile(
    r'(?im)^\s*(fatal )?error\b|simulation\(s\) aborted|simulation interrupted|no circuits? loaded'
    r'|timestep too small|singular matrix|aborting|no such |unknown '
)
# What a deck's `plot` in batch says, and its exit code when only its block ran the analyses.
NO_SCREEN = re.compile(r'(?m)^ERROR: \(internal\)  This operation is not defined for display.*$')
NO_CARDS = re.compile(r'(?m)^Note: No "\.plot", "\.print", or "\.fourier" lines')
# What is refused for good (docs/ngspice-compatibility.md), by the deck's text or the message;
# ngspice is not asked.
DECIDED = [
    (
        'finite elements (CIDER)',
        re.compile(r'(?im)^[.+ ]*(x\.mesh|title .*\n\+.*mesh)|\b(numd|nbjt2?|numos)\b'),
    ),
    (
        'programs as digital parts',
        re.compile(r'(?i)would run another program|another simulator|\bnco\b'),
    ),
]
EXTRA = 10  # seconds of clock beyond the limit, for a program that waits


def limits(seconds):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))

    return set_limits


def run(command, folder, seconds):
    """Exit code (None: out of time) and what was said."""
    try:
        p = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=8 * seconds + EXTRA, preexec_fn=limits(seconds),
            errors='replace', text=True,
        )
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b'').decode(errors='replace')
    return (None if p.returncode in (-24, -9) else p.returncode), p.stdout


def ngspice_ran(code, said):
    done = code == 0 or code == 1 and NO_CARDS.search(said)
    return bool(done) and not GIVEN_UP.search(NO_SCREEN.sub('', said))


def reason(code, said, text):
    """Why vsim stopped: what is decided, or its first error."""
    if code is None:
        return 'out of time', False
    for name, words in DECIDED:
        if words.search(said) or words.search(text):
            return name, True
    found = ERROR.search(said)
    return (found.group(1) if found else 'exit code %d' % code), False


def decks(folder, only):
    for at, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            path = os.path.relpath(os.path.join(at, name), folder)
            if name.lower().endswith(DECK) and only in path:
                yield path


def count(args, work):
    link = os.path.join(work, 'bin', 'ngspice')
    os.makedirs(os.path.dirname(link))
    os.symlink(os.path.abspath(args.vsim), link)
    trees = {}
    for name in ('vsim', 'ngspice'):
        trees[name] = os.path.join(work, name)
        shutil.copytree(args.folder, trees[name], symlinks=True)
    table, n = collections.defaultdict(list), collections.Counter()
    for path in decks(args.folder, args.only):
        at, deck = os.path.split(path)
        code, said = run([link, '-b', deck], os.path.join(trees['vsim'], at), args.limit)
        n['decks'] += 1
        if code == 0 and not ERROR.search(said):
            n['vsim'] += 1
            continue
        with open(os.path.join(args.folder, path), errors='replace') as f:
            why, decided = reason(code, said, f.read())
        alone = decided or ngspice_ran(
            *run(['ngspice', '-b', deck], os.path.join(trees['ngspice'], at), args.limit)
        )
        n['decided' if decided else 'alone' if alone else 'neither'] += 1
        if alone:
            table[why].append(path)
        if args.list:
            print('%-7s %s: %s' % ('ngspice' if alone else 'neither', path, why), flush=True)
    return table, n


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument('vsim')
    p.add_argument('folder')
    p.add_argument('--only', default='')
    p.add_argument('--limit', type=int, default=60)
    p.add_argument('--list', action='store_true')
    args = p.parse_args()
    if not shutil.which('ngspice'):
        return 77
    with tempfile.TemporaryDirectory() as work:
        table, n = count(args, work)
    print(
        '%(decks)d decks: vsim runs %(vsim)d, ngspice alone %(alone)d, %(decided)d for which vsim '
        'is not made, neither %(neither)d' % collections.defaultdict(int, n)
    )
    for why, paths in sorted(table.items(), key=lambda x: -len(x[1])):
        print('%4d %s: %s' % (len(paths), why, ' '.join(paths)))
    return 1 if n['alone'] else 0


if __name__ == '__main__':
    sys.exit(main())
