#!/usr/bin/env python3
"""Which decks vsim, ngspice and VACASK solve, at the tolerances that they ask for and at ten times tighter ones.

    tolerances.py VSIM FOLDER... [--only TEXT] [--limit SECONDS] [--list] [--ngspice PROGRAM] [--modules FOLDER]
                                exit code 77 without ngspice, 1 if ngspice solves a deck that vsim does not

FOLDER: with decks at any depth. Each deck runs in batch in a copy of the folder, vsim under the name `ngspice`, at most
`--limit` seconds of processor time. VACASK (of $VSIM_PEERS or build/peers, if it is there) gets what bench/vacask.py
can tell it: the flat circuit with numbers, in its language, without parameters that its models do not know, the
analyses of its blocks as cards; `not read` counts what it is not told. A deck is solved if the exit code is 0; also by
ngspice if there are points of an analysis and no message says that it gave up. What stops for other reasons (cards that
one of them does not have) is not read. --modules: a folder with the IHP kit's psp103.osdi and r3_cmc.osdi, which VACASK
then has. Tighter: reltol, vntol and abstol are a tenth of what the deck's last .options say, or of the defaults.
`--list`: a line for each deck that one of them solves and the other does not, or that is solved at one tolerance alone."""
import argparse
import collections
import os
import re
import shutil
import sys
import tempfile

import examples
import vacask

DEFAULT = {'reltol': 1e-3, 'vntol': 1e-6, 'abstol': 1e-12}
MOST_NAMES = 20  # parameters that VACASK's models do not know, in one deck
UNIT = {'t': 1e12, 'g': 1e9, 'meg': 1e6, 'k': 1e3, 'm': 1e-3, 'u': 1e-6, 'n': 1e-9, 'p': 1e-12, 'f': 1e-15}
FAILED = re.compile(r'(?i)simulation\(s\) aborted|time ?step too small|no convergence in'
                    r'|failed to converge|analysis aborted|convergence not reached')
NO_PARAMETER = re.compile(r"Parameter '(\w+)' not found")
BLOCK = re.compile(r'(?ims)^[ \t]*\.control\b.*?^[ \t]*\.endc\b[^\n]*\n?')
RUN = re.compile(r'(?im)^[ \t]*((?:op|tran|ac|dc)\b[^$\n]*)$')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build', 'peers'))
WHO = ('vsim', 'ngspice', 'vacask')
MODULES = {'psp103.osdi': ('psp103va', ('level',)), 'r3_cmc.osdi': ('r3_cmc', ())}
RUNS = [(who, tight) for who in WHO for tight in (False, True)]


def asked(text, name):
    """The last value of an option; a .control block may say it by `option` or `set`."""
    found = re.findall(r'(?im)^[.+ \t]*(?:options?|opts?|\+|set)\b[^*\n]*?\b%s\s*=\s*([0-9.e+-]+)(meg|[tgkmunpf])?' % name,
                       text)
    try:
        return float(found[-1][0]) * UNIT.get(found[-1][1].lower(), 1) if found else DEFAULT[name]
    except ValueError:
        return DEFAULT[name]


def tightened(text):
    """The deck with tolerances of a tenth, as its last card."""
    card = '.options ' + ' '.join('%s=%.6g' % (name, asked(text, name) / 10) for name in DEFAULT) + '\n'
    ends = list(re.finditer(r'(?im)^[ \t]*\.end[ \t\r]*$', text))
    at = ends[-1].start() if ends else len(text)
    return text[:at] + ('' if text[:at].endswith('\n') else '\n') + card + text[at:]


def points(path):
    """Has a raw file, if there is one, a point?"""
    try:
        with open(path, 'rb') as f:
            return re.search(rb'No\. Points:\s*0*[1-9]', f.read(1 << 16)) is not None
    except OSError:
        return False


def with_cards(text):
    """The deck with the analyses of its .control blocks as cards."""
    return BLOCK.sub(lambda block: ''.join('.%s\n' % run for run in RUN.findall(block.group())), text)


def vacask_verdict(here, deck, limit, program):
    """As verdict, by VACASK."""
    with open(os.path.join(here, deck), encoding='latin-1') as f:
        text = f.read()
    options = ' '.join('%s=%.6g' % (name, asked(text, name)) for name in DEFAULT)
    cards, sim = deck + '.cards', deck + '.sim'
    with open(os.path.join(here, cards), 'w', encoding='latin-1') as f:
        f.write(with_cards(text))
    _, flat = examples.run([program['flat'], 'check', '-q', '-n', '--dump=circuit', cards], here, limit)
    try:
        text = vacask.text(flat, options, program['modules'])
    except vacask.Untold:
        return 'unread'
    for _ in range(MOST_NAMES):
        with open(os.path.join(here, sim), 'w', encoding='latin-1') as f:
            f.write(text)
        code, said = examples.run([program['vacask'], sim], here, limit)
        unknown = NO_PARAMETER.search(said)
        if not unknown:
            break
        text = re.sub(r'\b%s=\S+?(?=[ )\n])' % unknown.group(1), '', text)
    if code == 0:
        return 'yes'
    return 'NO' if code is None or FAILED.search(said) else 'unread'


def verdict(who, here, deck, limit, program):
    """'yes'; 'NO': no solution, or no end; 'unread': it stopped for other reasons."""
    if who == 'vacask':
        return vacask_verdict(here, deck, limit, program) if program[who] else 'unread'
    raw = os.path.join(here, deck + '.raw-of-' + who)
    code, said = examples.run([program[who], '-b', '-r', raw, deck], here, limit)
    if code is None or code == 3 or FAILED.search(said):
        return 'NO'
    return 'yes' if code == 0 or (who == 'ngspice' and points(raw)) else 'unread'


def look(folder, work, args, count):
    """Adds each deck's runs to count; lines about those that differ."""
    program = {'vsim': os.path.join(work, 'bin', 'ngspice'), 'ngspice': args.ngspice, 'flat': os.path.abspath(args.vsim),
               'vacask': shutil.which(os.path.join(os.path.abspath(PEERS), 'bin', 'vacask'))}
    program['modules'] = {module: (os.path.join(os.path.abspath(args.modules), name), module, unknown)
                          for name, (module, unknown) in MODULES.items()} if args.modules else None
    lost = 0
    tree = {}
    for who, tight in RUNS:
        tree[who, tight] = os.path.join(work, 'tight' if tight else 'asked', who)
        shutil.rmtree(tree[who, tight], ignore_errors=True)
        shutil.copytree(folder, tree[who, tight], symlinks=True)
    for path in examples.decks(folder, args.only):
        at, deck = os.path.split(path)
        with open(os.path.join(folder, path), encoding='latin-1') as f:
            text = f.read()
        result = {}
        for who, tight in RUNS:
            here = os.path.join(tree[who, tight], at)
            if tight:
                with open(os.path.join(here, deck), 'w', encoding='latin-1') as f:
                    f.write(tightened(text))
            result[who, tight] = verdict(who, here, deck, args.limit, program)
        if 'yes' not in result.values():
            count['none'] += 1
            continue
        count['decks'] += 1
        for key in RUNS:
            count[key] += result[key] == 'yes'
            count['unread', key[0]] += result[key] == 'unread' and not key[1]
        lost += any(result['ngspice', tight] == 'yes' != result['vsim', tight] for tight in (False, True))
        if args.list and len(set(result.values())) > 1:
            print('%-40s %s' % (path, '  '.join('%s%s %s' % (who, ' tight' * tight, result[who, tight])
                                                for who, tight in RUNS)), flush=True)
    return lost


def main():
    arg = argparse.ArgumentParser(usage=__doc__)
    arg.add_argument('vsim')
    arg.add_argument('folder', nargs='+')
    arg.add_argument('--only', default='')
    arg.add_argument('--limit', type=int, default=20)
    arg.add_argument('--list', action='store_true')
    arg.add_argument('--ngspice', default='ngspice')
    arg.add_argument('--modules')
    args = arg.parse_args()
    args.ngspice = shutil.which(args.ngspice)
    if not args.ngspice:
        return 77
    lost = 0
    print('| decks | that one of them solves | vsim | vsim, tight | ngspice | ngspice, tight | VACASK | VACASK, tight | '
          'not read by vsim, ngspice, VACASK | none solves |' + '\n' + '|---' * 10 + '|')
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, 'bin'))
        os.symlink(os.path.abspath(args.vsim), os.path.join(work, 'bin', 'ngspice'))
        for folder in args.folder:
            count = collections.Counter()
            lost += look(folder, work, args, count)
            print('| %s | %d | %s | %s | %d |' %
                  (os.path.basename(folder.rstrip('/')), count['decks'], ' | '.join(str(count[key]) for key in RUNS),
                   ', '.join(str(count['unread', who]) for who in WHO), count['none']), flush=True)
    return 1 if lost else 0


if __name__ == '__main__':
    sys.exit(main())
