#!/usr/bin/env python3
"""Compares the result files of two programs, byte by byte and then value by value.

    bits.py OLD NEW [--card TEXT] [--kit FOLDER] [NAME...]

Decks: netlists/, tests/decks and, with --kit (ihp/models of ihp-gdsfactory), one corner and temperature of each deck
of tests/data/ihp. --card puts a line behind the title of each, such as '.option bypass=0'. NAME: part of a deck's
name. A line for each deck whose files differ: how, or by how much of the largest value in its column."""
import argparse
import csv
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path.insert(0, os.path.join(ROOT, 'tests', 'pdk'))
import ihp  # noqa: E402

PATIENCE = 300  # seconds for one run


def decks(kit):
    """(name, its folder, its text)"""
    for path in sorted(glob.glob(os.path.join(ROOT, 'netlists', '*.sp')) + glob.glob(os.path.join(ROOT, 'tests/decks/*.sp'))):
        with open(path, encoding='utf-8', errors='surrogateescape') as f:
            yield os.path.basename(path)[:-3], os.path.dirname(path), f.read()
    seen = set()
    for deck in ihp.load('.csv').values() if kit else ():
        if deck.group not in seen:
            seen.add(deck.group)
            title, body = deck.text().split('\n', 1)
            hdl = ''.join('.hdl "$PDK/ngspice/va/%s"\n' % va for va in ihp.VA)
            yield 'ihp/' + deck.name, None, title + '\n' + hdl + body


def files_of(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, 'rb') as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def native(vsim):
    """The option for libraries of native code, in programs that ask for one."""
    said = subprocess.run([vsim, '--help'], capture_output=True, text=True).stdout
    return ['--allow-native'] if '--allow-native' in said else []


def run(vsim, tag, name, home, text, kit, temp):
    """The files that it wrote."""
    folder = os.path.join(temp, tag, name.replace('/', '_'))
    inputs = os.path.join(temp, 'in', name.replace('/', '_'))
    os.makedirs(folder)
    if not os.path.isdir(inputs): # beside what it includes
        os.makedirs(inputs)
        for other in os.listdir(home) if home else ():
            os.symlink(os.path.join(os.path.abspath(home), other), os.path.join(inputs, other))
    path = os.path.join(inputs, 'deck.sp')
    with open(path, 'w', encoding='utf-8', errors='surrogateescape') as f:
        f.write(text)
    p = subprocess.run([os.path.abspath(vsim), *native(vsim), '--csv', '-r', 'result.csv', path], cwd=folder,
                       env=dict(os.environ, PDK=kit or ''), capture_output=True, timeout=PATIENCE)
    found = files_of(folder)
    found['exit code'] = str(p.returncode).encode()
    return found


def difference(a, b):
    """How two CSV texts differ; the largest in parts of its column's largest."""
    rows = [list(csv.reader(x.decode(errors='replace').splitlines())) for x in (a, b)]
    how, counts = '', [len(r) for r in rows]
    if counts[0] != counts[1]: # those at the same times
        common = {r[0] for r in rows[0] if r} & {r[0] for r in rows[1] if r}
        rows = [[r for r in x if r and r[0] in common] for x in rows]
        how = '%d lines for %d, %d in common; ' % (counts[1], counts[0], len(rows[0]))
    if len(rows[0]) != len(rows[1]) or any(len(x) != len(y) for x, y in zip(*rows)):
        return how + 'other columns'
    largest, n, differ, worst = {}, 0, 0, 0
    pairs = []
    for x, y in zip(*rows):
        for k, (u, v) in enumerate(zip(x, y)):
            try:
                u, v = float(u), float(v)
            except ValueError:
                if u != v:
                    return 'text: %s, was %s' % (v, u)
                continue
            n += 1
            largest[k] = max(largest.get(k, 0), abs(u))
            if u != v and not (u != u and v != v):
                differ += 1
                pairs.append((k, abs(u - v)))
    worst = max((d / largest[k] if largest[k] else d for k, d in pairs), default=0)
    return how + '%d of %d values differ, by at most %.1e' % (differ, n, worst)


def main():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument('old')
    arg.add_argument('new')
    arg.add_argument('--card')
    arg.add_argument('--kit')
    arg.add_argument('name', nargs='*')
    o = arg.parse_intermixed_args()
    same = 0
    for name, home, text in decks(o.kit):
        if o.name and not any(n in name for n in o.name):
            continue
        if o.card:
            title, body = text.split('\n', 1)
            text = '%s\n%s\n%s' % (title, o.card, body)
        with tempfile.TemporaryDirectory() as temp:
            try:
                old, new = (run(v, tag, name, home, text, o.kit, temp) for v, tag in ((o.old, 'old'), (o.new, 'new')))
            except subprocess.TimeoutExpired:
                print('| %s | not in %d s |' % (name, PATIENCE), flush=True)
                continue
        if old == new:
            same += 1
            continue
        for file in sorted(set(old) | set(new)):
            if old.get(file) == new.get(file):
                continue
            if file not in old or file not in new or file == 'exit code':
                how = '%s, was %s' % tuple(x.get(file, b'missing')[:12].decode(errors='replace') for x in (new, old))
            else:
                how = difference(old[file], new[file])
            print('| %s | %s | %s |' % (name, file, how), flush=True)
    print('%d decks: the same bytes' % same)


main()
