"""Random circuits and what must hold for them: ngspice's results, or laws that need no other simulator.

A circuit is a deck; what it must obey stands in its first line:
  peer N       ngspice gives the same operating point, response and waveform
  NAME N       the law of that name (LAWS); the deck is made again from N, so the line is all there is"""
import array
import cmath
import math
import os
import random
import re
import subprocess

MODELS = """.model dm d is=1e-14 cjo=1p rs=1 tt=1n
.model qn npn bf=100 cje=1p cjc=0.5p tf=0.1n vaf=50
.model qp pnp bf=50 cje=1p cjc=0.5p tf=0.2n
.model mn nmos vto=0.7 kp=100u lambda=0.02 tox=20n
.model mp pmos vto=-0.7 kp=40u lambda=0.02 tox=20n
.model jn njf vto=-2 beta=1m lambda=0.01 cgs=1p cgd=1p
"""


def read_raw(path):
    """Plots of a binary raw file: [(name, {vector: [complex or float]})], the axis under ''."""
    with open(path, 'rb') as f:
        s = f.read()
    plots, at = [], 0
    while True:
        end = s.find(b'Binary:\n', at)
        if end < 0:
            return plots
        head = s[at:end].decode('latin-1').split('\n')
        field = {a.strip().lower(): b.strip() for a, _, b in (h.partition(':') for h in head)}
        n, m = int(field['no. variables']), int(field['no. points'])
        names = [h.split('\t')[2].lower() for h in head if h.startswith('\t')]
        wide = 2 if 'complex' in field['flags'] else 1
        a = array.array('d')
        at = end + 8
        a.frombytes(s[at:at + 8 * n * m * wide])
        at += 8 * n * m * wide
        if wide == 2:
            a = [complex(a[i], a[i + 1]) for i in range(0, len(a), 2)]
        columns = {names[i]: list(a[i::n]) for i in range(n)}
        if names and names[0] in ('time', 'frequency'):
            columns[''] = [abs(x) for x in columns.pop(names[0])]
        plots.append((field['plotname'], columns))


# -- circuits for a comparison with ngspice --

def value(draw, low, high):
    return '%.3g' % math.exp(draw.uniform(math.log(low), math.log(high)))


def element(draw, k, node):
    """A random element between random nodes."""
    a, b = draw.sample(node, 2)
    c = draw.choice([n for n in node if n not in (a, b)] or ['0'])
    kind = draw.choice('RRRRCCLDDQQMMJEGFIK')
    if kind == 'R':
        return 'R%d %s %s %s' % (k, a, b, value(draw, 10, 1e5))
    if kind == 'C':
        return 'C%d %s %s %s' % (k, a, b, value(draw, 1e-13, 1e-9))
    if kind == 'L':
        return 'L%d %s %s %s\nRl%d %s x%d 1' % (k, 'x%d' % k, b, value(draw, 1e-9, 1e-6), k, a, k)
    if kind == 'D':
        return 'D%d %s %s dm' % (k, a, b)
    if kind == 'Q':
        return 'Q%d %s %s %s %s' % (k, a, b, c, draw.choice(['qn', 'qp']))
    if kind == 'M':
        return 'M%d %s %s %s 0 %s w=10u l=1u' % (k, a, b, c, draw.choice(['mn', 'mp']))
    if kind == 'J':
        return 'J%d %s %s %s jn' % (k, a, b, c)
    if kind == 'E':
        return 'E%d y%d 0 %s %s %s\nRe%d y%d %s 1k' % (k, k, a, b, value(draw, 0.1, 5), k, k, c)
    if kind == 'G':
        return 'G%d %s 0 %s 0 %s' % (k, a, b, value(draw, 1e-6, 1e-3))
    if kind == 'F':
        return 'F%d %s 0 V1 %s' % (k, a, value(draw, 0.1, 2))
    if kind == 'K':
        return ('L%da u%d 0 %s\nL%db w%d 0 %s\nK%d L%da L%db 0.9\nRk%d u%d %s 50\nRm%d w%d %s 50' %
                (k, k, value(draw, 1e-8, 1e-6), k, k, value(draw, 1e-8, 1e-6), k, k, k, k, k, a, k, k, b))
    return 'I%d %s %s %s' % (k, a, b, value(draw, 1e-6, 1e-3))


def peer(seed):
    draw = random.Random('peer %d' % seed)
    n = draw.randint(2, 7)
    node = ['n%d' % i for i in range(1, n + 1)]
    high = draw.choice([1, 3, 5, -3])
    deck = ['peer %d' % seed, 'V1 n1 0 dc %g ac 1 pulse(%g %g 1n 1n 1n 20n 50n)' % (high, high, -high / 2)]
    for i, name in enumerate(node[1:], 2):
        deck.append('Rg%d %s %s %s' % (i, name, draw.choice(['0', node[draw.randrange(i - 1)]]),
                                       value(draw, 100, 1e5)))
        deck.append('Cg%d %s 0 %s' % (i, name, value(draw, 1e-13, 1e-11)))
    for k in range(draw.randint(1, 9)):
        deck.append(element(draw, k, node + ['0']))
    deck.append(MODELS + '.options reltol=1e-5 abstol=1e-14 vntol=1e-8\n.op\n.ac dec 2 1k 1g\n.tran 0.1n 60n\n.end\n')
    return '\n'.join(deck)


def limits(text, seconds=60):
    """Runs a command under a time limit; its exit code (None: it did not end) and what it said."""
    try:
        p = subprocess.run(text, capture_output=True, timeout=seconds, errors='replace')
    except subprocess.TimeoutExpired:
        return None, ''
    return p.returncode, p.stdout + p.stderr


def run_vsim(vsim, deck, folder, name='v', more=()):
    path = os.path.join(folder, name + '.sp')
    with open(path, 'w') as f:
        f.write(deck)
    raw = os.path.join(folder, name + '.raw')
    if os.path.exists(raw):
        os.unlink(raw)
    code, said = limits([vsim, '-q', '-n', '-r', raw, *more, path], 300)
    return code, said, read_raw(raw) if os.path.exists(raw) else []


def run_ngspice(deck, folder, name='g'):
    path, raw = os.path.join(folder, name + '.sp'), os.path.join(folder, name + '.raw')
    with open(path, 'w') as f:
        f.write(deck)
    if os.path.exists(raw):
        os.unlink(raw)
    code, said = limits(['ngspice', '-n', '-b', '-r', raw, path], 30)
    return code, said, read_raw(raw) if os.path.exists(raw) else []


def plot_of(plots, word):
    found = [p for name, p in plots if word in name.lower() and 'initial' not in name.lower()]
    return found[0] if found else None


def voltages(plot):
    """Node voltages of both simulators under the same names, no inner nodes."""
    out = {}
    for name, v in (plot or {}).items():
        if name.startswith('v(') and '#' not in name and v:
            out[name] = v
    return out


def apart(a, b, rel, floor):
    """The largest difference of two lists of numbers in parts of what is allowed."""
    scale = max([abs(x) for x in a] + [abs(x) for x in b] + [0])
    worst = max((abs(x - y) for x, y in zip(a, b)), default=0)
    return worst / (rel * scale + floor) if math.isfinite(worst) else math.inf


def on_grid(t, v, grid):
    """Linear interpolation; t rises."""
    out, k = [], 0
    for x in grid:
        while k + 2 < len(t) and t[k + 1] < x:
            k += 1
        w = (x - t[k]) / (t[k + 1] - t[k]) if len(t) > 1 and t[k + 1] > t[k] else 0
        out.append(v[k] + w * (v[min(k + 1, len(v) - 1)] - v[k]))
    return out


def operating_points_differ(vsim, deck, mine, theirs, folder):
    """Are both solutions? From ngspice's values as .nodeset vsim must come to them, else one is wrong.
    Then what follows from them (response, waveform) is that of two states."""
    sets = ' '.join('%s=%.12g' % (n, v[0]) for n, v in theirs.items())
    _, _, plots = run_vsim(vsim, deck.replace('.op\n', '.op\n.nodeset ' + sets + '\n'), folder, 'n')
    again = voltages(plot_of(plots, 'operating'))
    same = again and all(apart(again[n], theirs[n], 1e-3, 1e-4) <= 1 for n in theirs if n in again)
    return 'two states' if same else 'different operating point'


def junctions(deck):
    """Junctions without a resistance of their own: [(from, to, saturation current)], of p to n."""
    out = []
    for line in deck.split('\n'):
        w = line.split()
        if not w or w[0][0] not in 'QMJ':
            continue
        if w[0][0] == 'Q':
            c, b, e, kind = w[1:5]
            out += [(b, c, 1e-16), (b, e, 1e-16)] if kind == 'qn' else [(c, b, 1e-16), (e, b, 1e-16)]
        elif w[0][0] == 'M':
            d, s, kind = w[1], w[3], w[5]
            out += [('0', d, 1e-14), ('0', s, 1e-14)] if kind == 'mn' else [(d, '0', 1e-14), (s, '0', 1e-14)]
        else:
            out += [(w[2], w[1], 1e-14), (w[2], w[3], 1e-14)]
    return out


def kiloamperes(deck, *solutions):
    """Does a junction carry more than 1 kA in one of the solutions ({node: voltage})? Sources are
    ideal, and such a current drowns all others: what they do is rounding."""
    for v in solutions:
        at = lambda node: v.get('v(%s)' % node, 0) if node != '0' else 0
        for a, b, current in junctions(deck):
            if at(a) - at(b) > 0.02585 * math.log(1e3 / current):
                return True
    return False


def compare(vsim, seed, folder):
    """(verdict, detail): 'same', or the name of the difference."""
    deck = peer(seed)
    verdict, detail, solutions = difference(vsim, deck, folder)
    if verdict.startswith('different') or verdict in ('vsim fails', 'ngspice fails'):
        if kiloamperes(deck, *solutions): # the same with 10 ohm behind the source
            deck = deck.replace('V1 n1 0', 'Rv nv n1 10\nV1 nv 0')
            other, more, solutions = difference(vsim, deck, folder)
            if other.startswith('different') and kiloamperes(deck, *solutions):
                other = 'kiloamperes'
            if other.startswith('different') or other == 'vsim fails':
                return other, 'with 10 ohm behind V1: ' + more
            return 'kiloamperes in a junction', verdict + ' ' + detail
    return verdict, detail


def states(plots):
    """Some points of the operating point and the transient, as {node: voltage}."""
    out = []
    for word in 'operating', 'transient':
        p = plot_of(plots, word) or {}
        n = min((len(v) for v in p.values()), default=0)
        out += [{name: v[k] for name, v in p.items() if name} for k in range(0, n, max(n // 50, 1))]
    return out


def difference(vsim, deck, folder):
    """The verdict, in detail, and the states that were seen."""
    code, said, mine = run_vsim(vsim, deck, folder)
    gcode, gsaid, theirs = run_ngspice(deck, folder)
    a, b = (voltages(plot_of(p, 'operating')) for p in (mine, theirs))
    seen = states(mine) + states(theirs)
    if code is None or (code is not None and code < 0):
        return 'vsim fails', 'exit %s %s' % (code, said[-300:]), seen
    if not a:
        return ('neither solves' if not b else 'vsim fails'), said[-300:], seen
    if not b:
        return 'ngspice fails', gsaid[-200:], seen
    worst = max((apart(a[n], b[n], 1e-3, 1e-4), n) for n in b if n in a)
    if worst[0] > 1:
        if max(abs(v[0]) for v in list(a.values()) + list(b.values())) > 1e4:
            return 'beyond the models', '%s: %g, %g' % (worst[1], a[worst[1]][0], b[worst[1]][0]), seen
        return operating_points_differ(vsim, deck, a, b, folder), '%s: %g, %g' % (
            worst[1], a[worst[1]][0], b[worst[1]][0]), seen
    a, b = (voltages(plot_of(p, 'ac')) for p in (mine, theirs))
    if a and b:
        worst = max((apart(a[n], b[n], 5e-3, 1e-6), n) for n in b if n in a)
        if worst[0] > 1:
            verdict = response_of(vsim, deck, a, b, folder)
            return verdict, '%s: %.3g times the bound' % (worst[1], worst[0]), seen
    pa, pb = (plot_of(p, 'transient') for p in (mine, theirs))
    if not pa or not pa.get(''):
        return ('neither solves' if not pb else 'vsim fails'), said[-300:], seen
    if not pb or not pb.get('') or pb[''][-1] < 59e-9:
        return 'ngspice fails', gsaid[-200:], seen
    if code:
        return 'vsim fails', said[-300:], seen
    verdict = compare_waves(pa, pb)
    fine = deck.replace('.tran 0.1n 60n', '.tran 0.1n 60n 0 10p')
    for change, why in ((fine, 'equal at smaller steps'),
                        (fine.replace(' tox=20n', ''), 'capacitances of level 1')):
        if verdict[0] != 'same':
            pa, pb = (plot_of(p, 'transient') for p in
                      (run_vsim(vsim, change, folder, 'f')[2], run_ngspice(change, folder, 'h')[2]))
            if pa and pb and pb.get('') and pb[''][-1] > 59e-9 and compare_waves(pa, pb)[0] == 'same':
                return why, verdict[1], seen
    return (*verdict, seen)


def response_of(vsim, deck, mine, theirs, folder):
    """At 1 kHz the response is the slope of the operating point over the source's voltage. If it is
    so here and not in ngspice, by ngspice's own operating points, theirs is wrong."""
    high = float(re.search(r' dc (\S+)', deck).group(1))
    text = re.sub(r' pulse\(.*?\)', '', deck).replace('.tran 0.1n 60n\n', '')
    text = text.replace('reltol=1e-5 abstol=1e-14 vntol=1e-8', 'reltol=1e-9 abstol=1e-16 vntol=1e-13')
    step, ops = 1e-3 * abs(high), []
    for v in high - step, high + step:
        ops.append(voltages(plot_of(run_ngspice(text.replace('dc %g' % high, 'dc %.12g' % v), folder)[2],
                                    'operating')))
    for n in theirs:
        if n in mine and all(n in o for o in ops):
            slope = (ops[1][n][0] - ops[0][n][0]) / (2 * step)
            bound = 0.03 * abs(slope) + 1e-4
            if abs(mine[n][0].real - slope) > bound:
                return 'different response'
    return 'ngspice contradicts its own slope'


def compare_waves(pa, pb):
    """Waveforms agree at most times: where edges stand a little apart the difference is large and
    short, so it is the mean that counts."""
    grid = [1e-9 * 0.1 * k for k in range(1, 590)]
    a, b = voltages(pa), voltages(pb)
    worst = (0, '')
    for n in b:
        if n in a:
            x, y = on_grid(pa[''], a[n], grid), on_grid(pb[''], b[n], grid)
            scale = max(max(map(abs, x)), max(map(abs, y)))
            mean = sum(abs(p - q) for p, q in zip(x, y)) / len(grid)
            worst = max(worst, (mean / (0.01 * scale + 1e-3), n))
    return ('different waveform', '%s: %.3g times the bound' % worst[::-1]) if worst[0] > 1 else ('same', '')


# -- laws --

def ladder(draw, n, kinds):
    """Random two-terminal elements over n nodes, connected: [(kind, a, b, value)]."""
    span = {'R': (10, 1e5), 'C': (1e-12, 1e-9), 'L': (1e-8, 1e-5)}
    out = [('R', i, draw.randrange(i), float(value(draw, 10, 1e5))) for i in range(1, n)]
    for _ in range(2 * n):
        a, b = draw.sample(range(n), 2)
        kind = draw.choice(kinds)
        out.append((kind, a, b, float(value(draw, *span[kind]))))
    return out


def cards(parts, factor=None):
    factor = factor or {}
    return ''.join('%s%d %d %d %.17g\n' % (k, i, a, b, v * factor.get(k, 1))
                   for i, (k, a, b, v) in enumerate(parts))


def solved(result, word):
    code, said, plots = result
    p = plot_of(plots, word)
    if code is None:
        raise Unjudged('over time')
    if code or not p:
        raise Broken('exit %s: %s' % (code, said[-300:]))
    return p


class Broken(Exception):
    """A law does not hold."""


class Unjudged(Exception):
    """Why nothing is known of a law."""


def near(a, b, rel, what):
    scale = max(abs(x) for x in list(a) + list(b))
    for x, y in zip(a, b):
        if not abs(x - y) <= rel * scale + 1e-300:
            raise Broken('%s: %r and %r' % (what, x, y))


TIGHT = '.options reltol=1e-6 abstol=1e-15 vntol=1e-10 gmin=0\n'


def reciprocity(run, draw):
    """RLC: a current into a gives at b the voltage that it gives at a if it goes into b."""
    n = draw.randint(3, 9)
    parts, (a, b) = ladder(draw, n, 'RRCL'), draw.sample(range(1, n), 2)
    z = []
    for port, other in (a, b), (b, a):
        deck = 'reciprocity\nI1 0 %d ac 1\n%s%s.ac dec 3 1k 1g\n.end\n' % (port, cards(parts), TIGHT)
        z.append(voltages(solved(run(deck), 'ac'))['v(%d)' % other])
    # the entries of an inverse, each to the condition of the matrix: in parts of the driving point's
    near(z[0], z[1], 1e-6, 'transfer impedances')


def passive(run, draw):
    """RLC: the driving point's resistance is positive at each frequency; with sources of direct
    voltage through resistors no node leaves their range."""
    n = draw.randint(3, 9)
    parts = ladder(draw, n, 'RRCL')
    p = voltages(solved(run('passive\nI1 0 1 ac 1\n%s%s.ac dec 3 1k 1g\n.end\n' % (cards(parts), TIGHT)), 'ac'))
    for z in p['v(1)']:
        if z.real < -1e-9 * abs(z):
            raise Broken('the driving point has the impedance %r' % z)
    parts = ladder(draw, n, 'R')
    top = draw.uniform(0.1, 100)
    p = voltages(solved(run('passive\nV1 1 0 %.17g\n%s%s.op\n.end\n' % (top, cards(parts), TIGHT)), 'operating'))
    for name, v in p.items():
        if not -1e-6 * top <= v[0] <= top * (1 + 1e-6):
            raise Broken('%s = %r between 0 and %r' % (name, v[0], top))


def scaling(run, draw):
    """Impedances k times as large, or frequencies, leave voltage ratios as they are."""
    n, k = draw.randint(3, 9), 10 ** draw.uniform(-3, 3)
    parts, got = ladder(draw, n, 'RRCL'), []
    for factor, hz in (({}, 1), ({'R': k, 'L': k, 'C': 1 / k}, 1), ({'L': 1 / k, 'C': 1 / k}, k)):
        deck = 'scaling\nV1 1 0 ac 1\n%s%s.ac dec 3 %.17g %.17g\n.end\n' % (
            cards(parts, factor), TIGHT, 1e3 * hz, 1e9 * hz)
        got.append(voltages(solved(run(deck), 'ac')))
    for name in got[0]:
        near(got[0][name], got[1][name], 1e-6, 'scaled impedances, ' + name)
        near(got[0][name], got[2][name], 1e-6, 'scaled frequencies, ' + name)


def multiplicity(run, draw):
    """m devices in one are m devices."""
    r, v, m = 10 ** draw.uniform(1, 5), draw.uniform(0.3, 10), draw.randint(2, 7)
    one = draw.choice(['D%d a 0 dm', 'Q%d a a 0 qn', 'M%d a a 0 0 mn w=10u l=1u', 'J%d a 0 0 jn'])
    got = []
    for text in one % 1 + ' m=%d\n' % m, ''.join(one % i + '\n' for i in range(m)):
        deck = 'm\nV1 in 0 %.17g\nR1 in a %.17g\n%s%s%s.op\n.end\n' % (v, r, text, MODELS, TIGHT)
        got.append(voltages(solved(run(deck), 'operating'))['v(a)'])
    near(*got, 1e-5, 'm=%d' % m)


def superposition(run, draw):
    """Linear: the response to two sources is the sum of the responses to each."""
    n = draw.randint(3, 9)
    parts, (a, b) = ladder(draw, n, 'RRCL'), draw.sample(range(1, n), 2)
    got = []
    for x, y in (1, 0), (0, 1), (2, -3):
        deck = 'sum\nI1 0 %d dc %d ac %d\nI2 0 %d dc %d ac %d\n%s%s.ac dec 3 1k 1g\n.end\n' % (
            a, x, x, b, y, y, cards(parts), TIGHT)
        got.append(voltages(solved(run(deck), 'ac')))
    for name in got[0]:
        near([2 * x - 3 * y for x, y in zip(got[0][name], got[1][name])], got[2][name], 1e-6, name)


def charge(run, draw):
    """A node between capacitors alone keeps its charge, whatever moves."""
    k = draw.randint(2, 4)
    c = [float(value(draw, 1e-13, 1e-11)) for _ in range(k)]
    deck = 'charge\nV0 s0 0 pulse(0 %g 1n 0.1n 0.1n 3n 9n)\n' % draw.uniform(0.5, 5)
    for i in range(1, k):
        deck += 'R%d s%d s%d %s\nC%d s%d 0 %s\n' % (i, i - 1, i, value(draw, 10, 1e4), i, i,
                                                   value(draw, 1e-14, 1e-12))
    deck += ''.join('Cf%d f s%d %.17g\n' % (i, i, c[i]) for i in range(k))
    # the node has no path for direct current but gmin, and that is 0 here
    deck += 'Cg f 0 1p\n.ic v(f)=0\n.options reltol=1e-5 gmin=0\n.tran 0.05n 20n uic\n.end\n'
    p = solved(run(deck), 'transient')
    q = [1e-12 * f + sum(c[i] * (f - p['v(s%d)' % i][j]) for i in range(k)) for j, f in enumerate(p['v(f)'])]
    moved = max(sum(c[i] * abs(p['v(s%d)' % i][j]) for i in range(k)) for j in range(len(q)))
    drift = max(q) - min(q)
    if not drift <= 1e-3 * moved + 1e-20:
        raise Broken('%g of %g coulomb were lost' % (drift, moved))


def energy(run, draw):
    """RLC: what sources gave is what resistors took and what is stored."""
    n = draw.randint(3, 6)
    parts = ladder(draw, n, 'RRC')
    deck = 'energy\nV1 s 0 pulse(0 1 1n 1n 1n 30n 80n)\nRs s 1 50\n%s' % cards(parts)
    p = solved(run(deck + '.options reltol=1e-6\n.tran 0.05n 100n 0 0.05n\n.end\n'), 'transient')
    volt = lambda k: p['v(%d)' % k] if k else [0.0] * len(p[''])
    t, given, taken, scale = p[''], 0.0, 0.0, 0.0
    branches = [(volt(a), volt(b), 1 / v) for k, a, b, v in parts if k == 'R'] + [(p['v(s)'], volt(1), 1 / 50)]
    power = [sum(g * (x[j] - y[j]) ** 2 for x, y, g in branches) for j in range(len(t))]
    source = [-p['v(s)'][j] * p['i(v1)'][j] for j in range(len(t))]
    for j in range(1, len(t)):
        h = t[j] - t[j - 1]
        given += h * (source[j] + source[j - 1]) / 2
        scale += h * (abs(source[j]) + abs(source[j - 1])) / 2
        taken += h * (power[j] + power[j - 1]) / 2
    for k, a, b, v in parts:
        if k == 'C':
            x, y = volt(a), volt(b)
            taken += v / 2 * ((x[-1] - y[-1]) ** 2 - (x[0] - y[0]) ** 2)
    if not abs(given - taken) <= 1e-2 * scale + 1e-18:
        raise Broken('%g J were given, %g J taken or stored' % (given, taken))


def names(run, draw):
    """Other names of nodes and another order of cards: the same circuit."""
    seed = draw.randrange(10**6)
    lines = [x for x in peer(seed).split('\n.model')[0].split('\n')[1:] if x]
    body = '\n' + MODELS + TIGHT.replace('gmin=0', '') + '.op\n.end\n'
    code, said, plots = run('names\n' + '\n'.join(lines) + body)
    code2, said2, plots2 = run('names\n' + '\n'.join(sorted(lines, reverse=True)) + body)
    a, b = (voltages(plot_of(p, 'operating')) for p in (plots, plots2))
    if code is None or code2 is None:
        raise Unjudged('over time')
    if code or code2 or not a or not b:
        if bool(a) == bool(b) and code == code2:
            raise Unjudged('neither solves')
        raise Broken('exit %s, in another order %s: %s%s' % (code, code2, said[-200:], said2[-200:]))
    for name in a:
        if apart(a[name], b[name], 1e-3, 1e-4) > 1 and apart(a[name], b[name], 0.2, 0.1) <= 1:
            raise Broken('%s: %r, in another order %r (circuit %d)' % (name, a[name], b[name], seed))
    if any(apart(a[name], b[name], 0.2, 0.1) > 1 for name in a):
        raise Unjudged('two states')


LAWS = {f.__name__: f for f in
        (reciprocity, passive, scaling, multiplicity, superposition, charge, energy, names)}


def obeys(vsim, line, folder):
    """(verdict, None or how it is broken) of the law of the line "NAME SEED"."""
    name, seed = line.split()
    decks = []

    def run(deck):
        decks.append(deck)
        return run_vsim(vsim, deck, folder, 'law')
    try:
        LAWS[name](run, random.Random(line))
    except Unjudged as why:
        return str(why), None
    except Broken as why:
        return 'broken', '%s\n%s' % (why, decks[-1])
    return 'holds', None
