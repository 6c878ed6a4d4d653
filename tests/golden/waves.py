"""Reading of raw files and the measures that golden tests and the benchmark share (stdlib only)."""
import array
import csv
import math
import os
import sys


class Plot:
    """One plot of a binary SPICE raw file: names, and columns by name as array('d')."""

    def __init__(self, names, columns):
        self.names = names
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[self.names.index(name)]

    def __len__(self):
        return len(self.columns[0])


def read_raw(path, index=0):
    """The index-th plot of a binary raw file; only as many points as the header states."""
    with open(path, 'rb') as f:
        data = f.read()
    at = 0
    while True:
        end = data.index(b'Binary:\n', at)
        header = data[at:end].decode('utf-8', 'replace').split('\n')
        field = {}
        for line in header:
            key, _, value = line.partition(':')
            field[key.strip().lower()] = value.strip()
        n_vec, n_point = int(field['no. variables']), int(field['no. points'])
        names = [line.split('\t')[2].lower() for line in header if line.startswith('\t')]
        start = end + len(b'Binary:\n')
        if index == 0:
            a = array.array('d')
            a.frombytes(data[start:start + 8 * n_vec * n_point])
            if sys.byteorder != 'little':
                a.byteswap()
            return Plot(names, [a[i::n_vec] for i in range(n_vec)])
        at = start + 8 * n_vec * n_point
        index -= 1


def read_table(name):
    """tests/data/<name>: header and rows of strings."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', name)
    with open(path) as f:
        rows = list(csv.reader(line for line in f if not line.startswith('#')))
    return rows[0], rows[1:]


def crossings(t, v, level):
    """(time, 'rise'|'fall') of every crossing of a level, by linear interpolation."""
    out = []
    last = None
    for x, y in zip(t, v):
        if y == level:
            continue
        if last is not None and (last[1] - level) * (y - level) < 0:
            out.append((last[0] + (level - last[1]) / (y - last[1]) * (x - last[0]),
                        'rise' if y > last[1] else 'fall'))
        last = (x, y)
    return out


def at_times(t, v, times):
    """v at the given ascending times, by linear interpolation between accepted points."""
    out = []
    i = 0
    n = len(t)
    for x in times:
        while i + 2 < n and t[i + 1] < x:
            i += 1
        h = t[i + 1] - t[i]
        out.append(v[i] + (v[i + 1] - v[i]) * (x - t[i]) / h if h > 0 else v[i])
    return out


def error(t, v, ref_t, ref_v):
    """Maximum and RMS difference at the reference's times within [t0, t_end]."""
    pairs = [(a, b) for a, b in zip(ref_t, ref_v) if t[0] <= a <= t[-1]]
    got = at_times(t, v, [p[0] for p in pairs])
    diff = [abs(g - p[1]) for g, p in zip(got, pairs)]
    return max(diff), math.sqrt(sum(d * d for d in diff) / len(diff))


def rc_exact(times, tau=1e-3, rise=1e-6, width=1e-3, period=2e-3):
    """Node 2 of netlists/rc.sp: RC low-pass driven by a train of trapezoids from 0 to 1 V. Exact: on
    each linear piece u = u0 + s (t - t0) of the source, v = u - s tau + (v0 - u0 + s tau) e^(-(t-t0)/tau)."""
    piece = [(0.0, 0.0, 1 / rise), (rise, 1.0, 0.0), (rise + width, 1.0, -1 / rise),
             (2 * rise + width, 0.0, 0.0)]
    out = []
    base, k, v0 = 0.0, 0, 0.0

    def value(t):
        start, u0, slope = piece[k]
        x = t - base - start
        return u0 + slope * x - slope * tau + (v0 - u0 + slope * tau) * math.exp(-x / tau)

    for t in times:
        while True:
            end = base + (piece[k + 1][0] if k < 3 else period)
            if t <= end:
                break
            v0 = value(end)
            k += 1
            if k == 4:
                k, base = 0, base + period
        out.append(value(t))
    return out


def mean_period(t, v, level, after):
    """Mean distance of rising crossings after a time, and their number."""
    c = [x for x, edge in crossings(t, v, level) if edge == 'rise' and x > after]
    return (c[-1] - c[0]) / (len(c) - 1), len(c) - 1


C6288_BITS = ['p%d' % i for i in range(32)]


def c6288_crossings(plot):
    """Errors (s) of all crossings against the golden ones, bits with other edges, and final word."""
    _, rows = read_table('c6288_crossings.csv')
    golden = {}
    for node, edge, _, time in rows:
        if edge != 'final':
            golden.setdefault(node, []).append((float(time), edge))
    errors, wrong, word = [], 0, 0
    t = plot['time']
    for bit, node in enumerate(C6288_BITS):
        v = plot['v(%s)' % node]
        got = crossings(t, v, 0.6)
        want = golden.get(node, [])
        if [e for _, e in got] != [e for _, e in want]:
            wrong += 1
        errors += [abs(a[0] - b[0]) for a, b in zip(got, want)]
        word |= (v[-1] > 0.6) << bit
    return errors, wrong, word


def c6288_errors(plot):
    """Crossing errors (s): maximum and mean; count mismatch, and final word."""
    errors, wrong, word = c6288_crossings(plot)
    return max(errors), sum(errors) / len(errors), wrong, word
