#!/usr/bin/env python3
"""Compares the result files of two programs, byte by byte and then value by value.

    bits.py OLD NEW [--card TEXT] [--kit FOLDER] [NAME...]

Decks: netlists/, tests/decks, sweeps and samples (SWEEPS below) and, with --kit (ihp/models of ihp-gdsfactory), one
corner and temperature of each deck of tests/data/ihp. --card puts a line behind the title of each, such as '.option bypass=0'. NAME: part of a deck's
name. A line for each deck whose files differ: how, or by how much of the largest value in its column and plot."""
import argparse
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path.insert(0, os.path.join(ROOT, 'tests', 'pdk'))
import ihp  # noqa: E402

PATIENCE = 300  # seconds for one run

# Sweeps and samples, a deck of each kind of analysis.
SWEEPS = {
    'ac_noise': """diode, small signals over a parameter
.param bias=0.6
.model d1 d(is=1e-14 rs=2 cjo=2p tt=1n kf=1e-14 af=1)
V1 in 0 dc {bias} ac 1
R1 in out 1k
D1 out 0 d1
.ac dec 10 1k 1g
.noise v(out) V1 dec 10 1k 1g
.step param bias list 0.5 0.6 0.7
.end
""",
    'temperatures': """diode at three temperatures
.model d1 d(is=1e-14 rs=2)
V1 in 0 0.8
R1 in out 1k
D1 out 0 d1
.op
.temp -40 27 125
.end
""",
    'linear_samples': """samples of a linear circuit in time
.param r={gauss(1k, 0.1, 3)} c={gauss(1n, 0.05, 3)}
V1 in 0 pulse(0 1 1u 10n 10n 5u 10u)
R1 in out {r}
C1 out 0 {c}
.tran 0.1u 20u
.mc 20 seed=3
.end
""",
    'mos_steps': """transistor over a parameter
.param vg=1
.model nm nmos(level=1 vto=0.7 kp=100u gamma=0.4 phi=0.7 lambda=0.02)
VD vdd 0 3
VG g 0 {vg}
RD vdd d 10k
M1 d g 0 0 nm w=10u l=1u
.op
.step param vg 0.4 2 0.2
.end
""",
    'bipolar_curves': """curves of a bipolar transistor
.param ib=1u
.model q1 npn(is=1e-16 bf=100 vaf=50 ikf=10m rb=100 re=1 rc=10)
IB 0 b {ib}
VC c 0 0
Q1 c b 0 q1
.dc VC 0 3 0.1
.step param ib list 1u 5u 10u
.end
""",
    'mos_samples': """samples of a transistor's operating point
.param vt={gauss(0.7, 0.05, 3)} w={gauss(10u, 0.02, 3)}
.model nm nmos(level=1 vto={vt} kp=100u gamma=0.4 phi=0.7 lambda=0.02)
VD vdd 0 3
VG g 0 1.5
RD vdd d 10k
M1 d g 0 0 nm w={w} l=1u
.op
.mc 200 seed=1
.end
""",
}


def decks(kit):
    """(name, its folder, its text)"""
    for name, text in SWEEPS.items():
        yield 'sweep/' + name, None, text
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


def plots(text):
    """Of a CSV text: the names and the rows of numbers of each plot."""
    found = []
    for part in re.split(r'\n\s*\n', text.decode(errors='replace').strip()):
        names, *rows = csv.reader(part.splitlines())
        found.append((names, [[float(x) for x in r] for r in rows]))
    return found


def at(rows, times):
    """Rows at these times, on straight lines between those that are there; of two at a time the last."""
    k, found = 0, []
    for t in times:
        while k + 1 < len(rows) and rows[k + 1][0] <= t:
            k += 1
        r, s = rows[k], rows[min(k + 1, len(rows) - 1)]
        w = (t - r[0]) / (s[0] - r[0]) if s[0] > r[0] else 0
        found.append([x + w * (y - x) if w else x for x, y in zip(r, s)])
    return found


def largest(old, new):
    """(values that differ, largest difference in parts of its column's largest)"""
    n, worst = 0, 0
    for u, v in zip(zip(*old), zip(*new)):
        scale = max((abs(x) for x in u), default=0) or 1
        apart = [abs(x - y) for x, y in zip(u, v) if x != y and not (x != x and y != y)]
        n += len(apart)
        worst = max([worst] + [d / scale for d in apart])
    return n, worst


def difference(a, b):
    """How two CSV texts differ. Where times do: at those in common, and on straight lines between points."""
    try:
        olds, news = plots(a), plots(b)
    except ValueError:
        return 'text'
    if [names for names, _ in olds] != [names for names, _ in news]:
        return 'other plots'
    how, n, differ, worst, between = [], 0, 0, 0, 0
    for (names, old), (_, new) in zip(olds, news):
        if names[0] == 'time' and [r[0] for r in old] != [r[0] for r in new]:
            common = {r[0] for r in old} & {r[0] for r in new}
            how.append('%d points for %d, %d times in common' % (len(new), len(old), len(common)))
            between = max(between, largest(old, at(new, [r[0] for r in old]))[1])
            times = sorted(common)
            old, new = at(old, times), at(new, times)
        if len(old) != len(new):
            return 'other rows'
        k, d = largest(old, new)
        n, differ, worst = n + len(old) * len(names), differ + k, max(worst, d)
    how.append('%d of %d values differ, by at most %.1e' % (differ, n, worst))
    if between:
        how.append('on straight lines between points %.1e' % between)
    return '; '.join(how)


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
