"""The error of a run of one of the five decks against its reference (tests/data, or the closed form of rc).

A simulator's waveform at a time between its points is the straight line between them: the reference is taken
at its own exact points, never interpolated."""
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'golden'))
import waves  # noqa: E402

PERIOD = 3.43922546e-9  # s, ring: limit of the reference runs, +- 2e-8 of it
NODES = {'graetz': ['inp', 'outp', 'outn'], 'mul': ['1', '2', '10', '20']}


def read(path):
    """A raw file with node voltages called v(node), whoever wrote it."""
    plot = waves.read_raw(path)
    plot.names = ['v(%s)' % n if re.fullmatch(r'\w+', n) and n != 'time' else n for n in plot.names]
    return plot


def rms(values):
    return math.sqrt(sum(v * v for v in values) / len(values))


def against_table(plot, case):
    header, rows = waves.read_table(case + '_golden.csv')
    times = [float(r[0]) for r in rows]
    worst, squares = 0.0, []
    for node in NODES[case]:
        ref = [float(r[header.index(node)]) for r in rows]
        most, mean = waves.error(plot['time'], plot['v(%s)' % node], times, ref)
        worst = max(worst, most)
        squares.append(mean)
    return worst, rms(squares), 'V'


def error(case, plot):
    """Maximum and RMS error and their unit; of ring the relative error of the period and None."""
    if case == 'rc':
        diff = [a - b for a, b in zip(plot['v(2)'], waves.rc_exact(plot['time']))]
        return max(abs(d) for d in diff), rms(diff), 'V'
    if case == 'ring':
        period, _ = waves.mean_period(plot['time'], plot['v(1)'], 0.6, 20e-9)
        return period / PERIOD - 1, None, 'period'
    if case == 'c6288':
        errors, wrong, word = waves.c6288_crossings(plot)
        if wrong or word != 0xfffe0001:
            raise RuntimeError('c6288: %d outputs with other edges, final word %#x' % (wrong, word))
        return max(errors), rms(errors), 's'
    return against_table(plot, case)


def text(most, mean, unit):
    """Two table cells."""
    if unit == 'period':
        return '%+.4f %% of the period' % (100 * most), ''
    if unit == 's':
        return '%.3g ps' % (1e12 * most), '%.3g ps' % (1e12 * mean)
    return '%.2g %s' % (most, unit), '%.2g %s' % (mean, unit)
