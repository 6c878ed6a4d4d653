#!/usr/bin/env python3
"""Makes the pictures of docs/gallery.md: vsim plot beside ngspice with gnuplot, for decks of tests/decks.

    tools/gallery.py [--vsim build/vsim] [NAME...]"""
import argparse
import cmath
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
OUT = os.path.join(ROOT, 'docs', 'gallery')
# name: (deck, plot, vectors, options of vsim plot, commands of gnuplot)
PICTURES = {
    'filter': ('03_sallen_key', 'ac', ['v(out)'], ['--bode'], ['set logscale x']),
    'ladder': ('05_lc_ladder', 'ac', ['v(3)'], ['--bode'], ['set logscale x']),
    'colpitts': ('06_colpitts', 'tran', ['v(c)'], ['--xlimit', '55u,57u'], ['set xrange [55e-6:57e-6]']),
    'ring': ('08_ring_cmos', 'tran', ['v(a)', 'v(b)'], ['--xlimit', '0,5n'], ['set xrange [0:5e-9]']),
    'bandgap': ('12_bandgap', 'dc', ['v(ref)'], ['--style', 'both'], []),
    'buck': ('19_buck', 'tran', ['v(out)', 'i(l1)'], [], []),
    'boost': ('20_boost', 'tran', ['v(out)', 'i(l1)'], [], []),
    'rectifier': ('21_rectifier', 'tran', ['v(out)', 'i(l2)'], [], []),
    'pump': ('22_cockcroft', 'tran', ['v(2)', 'v(6)'], [], []),
    'line': ('23_tline_pulse', 'tran', ['v(a)', 'v(b)'], [], []),
    'switch': ('32_vdmos_switch', 'tran', ['v(gd)', 'v(d)', 'i(l1)'], [], []),
    'schmitt': ('33_schmitt', 'tran', ['v(out)'], ['--vs', 'v(in)'], ['vs v(in)']),
}
POINTS = 1500


def run(*words, folder, **more):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
                          **more)
    if done.returncode:
        sys.exit('%s: %s%s' % (' '.join(words), done.stdout[-500:], done.stderr[-500:]))
    return done.stdout


def table(path):
    """Columns by name of a CSV file, complex ones joined."""
    with open(path) as f:
        names = f.readline().strip().split(',')
        rows = [[float(x) for x in line.split(',')] for line in f if line.strip()]
    columns = dict(zip(names, zip(*rows)))
    for n in [n for n in columns if n.endswith('.re')]:
        columns[n[:-3]] = [complex(a, b) for a, b in zip(columns[n], columns[n[:-3] + '.im'])]
    return columns


def gnuplot(name, vectors, settings, columns, folder):
    axis = next(iter(columns))
    over = [s[3:] for s in settings if s.startswith('vs ')]
    x = columns[over[0]] if over else columns[axis]
    curves = []
    for v in vectors:
        y = columns[v]
        if isinstance(y[0], complex):
            phase, last = [], 0
            for z in y:
                p = math.degrees(cmath.phase(z))
                last = p + 360 * round((last - p) / 360)
                phase.append(last)
            curves += [('dB ' + v, [20 * math.log10(abs(z)) for z in y]), ('phase ' + v, phase)]
        else:
            curves.append((v, y))
    every = max(1, len(x) // POINTS)
    with open(os.path.join(folder, 'd.dat'), 'w') as f:
        for k in range(0, len(x), every):
            f.write(' '.join('%.6g' % c[k] for c in [x] + [y for _, y in curves]) + '\n')
    lines = ['set terminal svg size 480,300 font "sans,10"', 'set output "d.svg"', 'set grid']
    lines += [s for s in settings if not s.startswith('vs ')] + ['set xlabel "%s"' % (over or [axis])[0]]
    lines.append('plot ' + ', '.join('"d.dat" using 1:%d with lines title "%s"' % (i + 2, n.replace('_', ' '))
                                     for i, (n, _) in enumerate(curves)))
    with open(os.path.join(folder, 'd.gp'), 'w') as f:
        f.write('\n'.join(lines) + '\n')
    run('gnuplot', 'd.gp', folder=folder)
    with open(os.path.join(folder, 'd.svg')) as f, open(os.path.join(OUT, name + '_gnuplot.svg'), 'w') as to:
        to.write('\n'.join(line.rstrip() for line in f.read().split('\n')))


def picture(vsim, name):
    deck, plot, vectors, options, settings = PICTURES[name]
    path = os.path.join(ROOT, 'tests', 'decks', deck + '.sp')
    with tempfile.TemporaryDirectory() as folder:
        run(vsim, '-q', '-r', 'a.raw', path, folder=folder)
        run(vsim, 'plot', 'a.raw', *vectors, '--plot', plot, *options, '--size', '480x300', '-o',
            os.path.join(OUT, name + '.svg'), folder=folder)
        run('ngspice', '-b', '-r', 'b.raw', path, folder=folder)
        run(vsim, 'convert', 'b.raw', 'b.csv', '--plot', plot, folder=folder)
        gnuplot(name, vectors, settings, table(os.path.join(folder, 'b.csv')), folder)
    print(name)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--vsim', default=os.path.join(ROOT, 'build', 'vsim'))
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    os.makedirs(OUT, exist_ok=True)
    for name in a.names or PICTURES:
        picture(os.path.abspath(a.vsim), name)


if __name__ == '__main__':
    main()
