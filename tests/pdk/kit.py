"""What the tests of SKY130 and GF180MCU share: a deck is run by vsim and by Debian's ngspice, and
all vectors that both have are compared.

A bench is a deck with many devices. Every device is driven from the node `s`, which goes from 0 to
1, by a source of its own (gain, offset); so one dc sweep, one ac analysis and a few noise analyses
measure all devices of a corner at a temperature, and ngspice, which needs seconds for the library,
reads it once."""

import array
import concurrent.futures
import glob
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))
EXACT = 1e-6  # what is compared at this or less is the same equation in both programs
TIGHT = '.options reltol=1e-8 abstol=1e-16 vntol=1e-10 gmin=1e-15\n'


class Failed(Exception):
    pass


def package(*parts):
    """A file of a kit's package, or None."""
    found = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', *parts))
    return found[0] if found else None


def read_plots(path):
    """All plots of a binary raw file: [(name of the plot, {vector: values})], complex ones as
    complex numbers."""
    with open(path, 'rb') as f:
        data = f.read()
    plots, at = [], 0
    while True:
        end = data.find(b'Binary:\n', at)
        if end < 0:
            return plots
        lines = data[at:end].decode('utf-8', 'replace').split('\n')
        field = {k.strip().lower(): v.strip() for k, _, v in (x.partition(':') for x in lines)}
        names = [x.split('\t')[2].lower() for x in lines if x.startswith('\t')]
        n, wide = int(field['no. points']), 2 if 'complex' in field['flags'].lower() else 1
        start, size = end + 8, 8 * wide * len(names) * int(field['no. points'])
        a = array.array('d')
        a.frombytes(data[start : start + size])
        if sys.byteorder != 'little':
            a.byteswap()
        if wide == 2:
            a = [complex(x, y) for x, y in zip(a[::2], a[1::2])]
        plots.append(
            (field.get('plotname', ''), {v: list(a[i :: len(names)]) for i, v in enumerate(names)})
        )
        assert all(len(v) == n for v in plots[-1][1].values())
        at = start + size


class Bench:
    """Runs decks in a folder of its own. `said` keeps what vsim wrote for each."""

    def __init__(self, vsim, folder):
        self.vsim, self.folder, self.said = os.path.abspath(vsim), folder, {}
        with open(os.path.join(folder, '.spiceinit'), 'w') as f:
            f.write('set ngbehavior=hsa\nset skywaterpdk\nset ng_nomodcheck\nset num_threads=1\n')
        self.env = dict(os.environ, HOME=folder, VSIM_CACHE_DIR='')

    def write(self, name, text):
        path = os.path.join(self.folder, name + '.sp')
        with open(path, 'w') as f:
            f.write(text)
        return path

    def call(self, name, command, code=0, timeout=500):
        p = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors='replace',
            env=self.env,
            cwd=self.folder,
            timeout=timeout,
        )
        if code is not None and p.returncode != code:
            said = (p.stderr or p.stdout).split('\n')
            first = next(
                (i for i, line in enumerate(said) if 'error' in line), max(len(said) - 8, 0)
            )
            raise Failed(
                '%s: exit code %d: %s' % (name, p.returncode, '\n'.join(said[first : first + 8]))
            )
        return p

    def run_vsim(self, name, text, option=(), code=0):
        """The process; its plots are in read(name)."""
        p = self.call(
            'vsim ' + name,
            [
                self.vsim,
                '--no-init',
                '--cache-dir',
                os.path.join(self.folder, 'cache'),
                '-r',
                os.path.join(self.folder, name + '.raw'),
                *option,
                self.write(name, text),
            ],
            code,
        )
        self.said[name] = p.stdout + p.stderr
        return p

    def read(self, name):
        return read_plots(os.path.join(self.folder, name + '.raw'))

    def run_ngspice(self, name, text):
        raw = os.path.join(self.folder, name + '.ng.raw')
        p = self.call(
            'ngspice ' + name, ['ngspice', '-b', '-r', raw, self.write(name + '.ng', text)]
        )
        if not os.path.exists(raw):
            raise Failed('ngspice %s: %s' % (name, (p.stdout + p.stderr)[-800:]))
        return p

    def both(self, name, text):
        """Plots of vsim and of ngspice."""
        self.run_vsim(name, text)
        self.run_ngspice(name, text)
        return self.read(name), read_plots(os.path.join(self.folder, name + '.ng.raw'))


class Bin:
    """A card of a set of cards by geometry: its name, sign of the type, limits of length and width
    in metres."""

    def __init__(self, name, kind, limits):
        self.name, self.sign = name, 1 if kind.lower() == 'nmos' else -1
        self.lmin, self.lmax, self.wmin, self.wmax = (limits[k] for k in LIMITS)

    def size(self):
        """Inside of all limits."""
        return math.sqrt(self.lmin * self.lmax), math.sqrt(self.wmin * self.wmax)


LIMITS = ('lmin', 'lmax', 'wmin', 'wmax')


def plots_of(vsim, folder, text):
    """All plots that a deck gives, run by one thread in this folder."""
    path = os.path.join(folder, 'deck')
    with open(path + '.sp', 'w') as f:
        f.write(text)
    p = subprocess.run([vsim, '--no-init', '--threads', '1', '-r', path + '.raw', path + '.sp'],
                       capture_output=True, text=True, cwd=folder)
    if p.returncode:
        raise SystemExit(p.stderr[-2000:])
    return read_plots(path + '.raw')


def bins(path, pattern):
    """The bins in a file whose names match."""
    with open(path) as f:
        return bins_of(f, pattern)


def bins_of(lines, pattern=''):
    found, name, limits = [], None, {}
    for line in lines:
        m = re.match(r'\.model\s+(\S+)\s+(nmos|pmos)\b', line, re.I)
        if m:
            name, kind, limits = m.group(1), m.group(2), {}
        elif name and line[:1] == '+':
            limits.update((k.lower(), float(v)) for k, v in LIMIT.findall(line))
            if len(limits) == 4:
                if re.match(pattern, name):
                    found.append(Bin(name, kind, limits))
                name = None
    return found


LIMIT = re.compile(r'\b([lw](?:min|max))\s*=\s*([-+.\deE]+)', re.I)


class Deck:
    """The text of a bench of devices. place() adds one; its currents are those of sources that are
    named after it."""

    def __init__(self, title, head, tight=TIGHT):
        self.lines, self.where = [
            '* ' + title,
            head.rstrip(),
            tight.rstrip(),
            'vs s 0 dc 1 ac 1',
        ], {}
        self.analyses = []

    def place(self, label, element, drive, series=None):
        """element: 'LETTER NODES MODEL PARAMETERS' with the driven nodes in braces; drive: {node:
        (gain, offset)} for gain * v(s) + offset; series: (node, ohm) of a resistor between a node
        and its source. The device's number.
        """
        k = len(self.where) + 1
        self.where[k] = label
        names = {}
        for node, (gain, offset) in drive.items():
            names[node] = at = '%s%d' % (node, k)
            if series and series[0] == node:
                names[node] = 'r' + at
                self.lines.append('r%s %s %s %g' % (at, names[node], at, series[1]))
            if not gain:
                self.lines.append('vz%s %s 0 %g' % (at, at, offset))
            elif offset:
                self.lines += ['vo%s o%s 0 %g' % (at, at, offset)]
                self.lines += ['e%s %s o%s s 0 %g' % (at, at, at, gain)]
            else:
                self.lines.append('e%s %s 0 s 0 %g' % (at, at, gain))
        kind, rest = element.split(' ', 1)
        self.lines.append('%s%d %s' % (kind, k, rest.format(**names)))
        return k

    def transistor(self, label, element, volt, kinds='gdbs'):
        """Four sweeps of one transistor up to `volt`: g and d of the gate with much and little on
        the drain, the latter with body bias, and of the drain. element has {d} {g} {s} {b}."""
        sweeps = {
            'g': ((0, volt), (volt, 0), (0, 0)),
            'b': ((0, volt / 20), (volt, 0), (0, -volt / 3)),
            'd': ((volt, 0), (0, volt * 0.6), (0, 0)),
            's': ((-volt / 6, 0), (0, volt), (0, -volt / 4)),
        }
        for kind in kinds:
            d, g, b = sweeps[kind]
            drive = {'d': d, 'g': g, 's': (0, 0), 'b': b}
            self.place('%s, sweep %s' % (label, kind), element, drive)

    def noisy(self, label, element, volt, sign):
        """The same transistor three times with the noise of its drain current at the node o*: in
        the linear region, in saturation with body bias, near threshold."""
        for region, d, g, b in (
            ('linear', 0.05, 1, 0),
            ('saturated', 1, 0.6, -0.25),
            ('weak', 0.5, 0.25, 0),
        ):
            drive = {'d': d, 'g': g, 's': 0, 'b': b}
            drive = {k: (0, sign * volt * v) for k, v in drive.items()}
            k = self.place('%s, %s' % (label, region), element, drive)
            self.lines += ['h%d o%d 0 vzd%d 1' % (k, k, k), 'r%d o%d 0 1k' % (k, k)]
            self.analyses.append('.noise v(o%d) vs dec 1 100 100k' % k)

    def label(self, vector):
        """Of a current i(eb12): what the device is."""
        digits = ''.join(c for c in vector if c.isdigit())
        return '%s of %s' % (vector, self.where.get(int(digits or 0), '?'))

    def text(self):
        return '\n'.join(self.lines + self.analyses + ['.end', ''])


def is_current(name):
    """Of a deck's own sources, not of what ngspice makes of a capacitor inside a device."""
    return name.startswith(('i(e', 'i(vz')) and '.' not in name


def kind_of(plot):
    """ngspice runs a deck's analyses by their kinds, those of a kind from the last to the first."""
    return next(
        k
        for k, word in enumerate(('Operating', 'DC', 'AC', 'Noise Spectral', 'Integrated', ''))
        if word in plot[0]
    )


def compare(deck, mine, theirs, limit, floor, wanted=is_current, least=None):
    """The largest difference of two sets of plots over the largest value of its vector, and a note,
    for vectors compared at EXACT; the others, whose deviations the kit's page explains, are in the
    note. limit(plot name, vector): relative; floor(plot name, vector): absolute, below it neither
    program has digits.
    """
    worst, bad, count = {}, [], 0
    if len(mine) != len(theirs):
        raise Failed('%d plots, ngspice has %d' % (len(mine), len(theirs)))
    for (_, a), (plot, b) in zip(sorted(mine, key=kind_of), sorted(theirs[::-1], key=kind_of)):
        for name, values in b.items():
            if not wanted(name):
                continue
            if name not in a:
                bad.append('no vector ' + name)
                continue
            count += 1
            scale, tol = max(map(abs, values)), limit(plot, deck.label(name))
            if len(a[name]) != len(values):
                bad.append('%s: %d points, ngspice has %d' % (name, len(a[name]), len(values)))
                continue
            for i, (x, y) in enumerate(zip(a[name], values)):
                error = abs(x - y)
                scale = scale if least is None else max(abs(y), least)
                if not error <= max(tol * scale, floor(plot, name)):  # NaN is none
                    bad.append(
                        '%s, %s[%d]: %s, ngspice %s'
                        % (plot, deck.label(name), i, short(x), short(y))
                    )
                    break
                if error > floor(plot, name):
                    worst[tol > EXACT] = max(
                        worst.get(tol > EXACT, (0, '')), (error / scale, deck.label(name))
                    )
    expect('nothing was compared', count)
    expect('%d of %d vectors: %s' % (len(bad), count, '; '.join(bad[:60])), not bad)
    exact, loose = worst.get(False, (0, '')), worst.get(True)
    return exact[0], '%d vectors, %s%s' % (
        count,
        exact[1],
        '; at other limits: %.1e, %s' % loose if loose else '',
    )


def mos_limit(ac):
    """Of a current at its own point; `ac` of small signals, where ngspice's derivatives are not
    exact (those here are: check_slopes)."""
    return lambda plot, label: EXACT if plot.startswith('DC') else ac


def mos_floor(plot, vector):
    """Into the body ngspice has a current of impact ionisation, beta0 / (vds - vdseff) held at 34,
    where the equation has e^-beta0/(vds - vdseff), which is none."""
    if not plot.startswith('DC'):
        return 1e-14
    return 3e-13 if vector.startswith(('i(vzb', 'i(eb')) else 1e-15


def noise_of_transistors(bench, name, head, devices, series=True):
    """devices: (label, element, volt, sign). The noise of the drain's current at four frequencies,
    in three regions (Deck.noisy), of itself where it is above QUIET; the largest difference.

    series: with tnoimod=1 ngspice puts 1 mOhm into source and drain, in version 4.5 the source's
    without noise of its own, which vsim's deck therefore says."""
    worst, bad, count, below = (0.0, ''), [], 0, 0
    for k in range(0, len(devices), 24):  # each analysis solves the whole deck
        d = Deck('noise', head)
        for device in devices[k : k + 24]:
            d.noisy(*device)
        text, part = d.text(), '%s_%d' % (name, k)
        bench.run_vsim(part, SERIES.sub(RESISTORS, text) if series else text)
        bench.run_ngspice(part, text)
        both = bench.read(part), read_plots(os.path.join(bench.folder, part + '.ng.raw'))
        mine, theirs = (
            [p['onoise_spectrum'] for _, p in x if 'onoise_spectrum' in p] for x in both
        )
        expect('%d and %d spectra' % (len(mine), len(theirs)), len(mine) == len(theirs))
        expect('every device', len(mine) == len(d.where))
        for n, (a, b) in enumerate(zip(mine, theirs[::-1]), 1):
            expect('frequencies', len(a) == len(b) == 4)
            count += 1
            if is_negative(a, b):
                below += 1
                continue
            error = max(abs(x - y) / max(abs(y), QUIET) for x, y in zip(a, b))
            worst = max(worst, (error, d.where[n]))
            if not error <= NOISE:
                values = ' '.join('%.9g/%.9g' % v for v in zip(a, b))
                bad.append('%s: %s (vsim/ngspice)' % (d.where[n], values))
    expect('%d of %d: %s' % (len(bad), count, '; '.join(bad[:20])), not bad)
    note = '%d spectra, %s' % (count, worst[1])
    return worst[0], note + ('; %d less than none in ngspice' % below if below else '')


NOISE = 1e-5
# Ampere per root hertz. Below is what the body's resistances send through capacitances, of which
# ngspice's slope by the body is not the charge's in version 4.5 (docs/models/bsim4.md).
QUIET = 1e-15
SERIES = re.compile(r'(?m)^([mx])(\d+) d\2 g\2 s\2 ')
RESISTORS = r'rd\2 d\2 e\2 1m\nrs\2 s\2 f\2 1m noisy=0\n\1\2 e\2 g\2 f\2 '


def is_negative(a, b):
    """ngspice lets the density of the channel's thermal noise become negative (tnoimod=1 in version
    4.5), so that flicker is lessened by as much at each frequency, or to NaN. Here flicker alone is
    left, but for the drain's resistor."""
    power = [math.log(x / y) for x, y in zip(a, a[1:])]
    less = [x * x - y * y for x, y in zip(a, b) if math.isfinite(y)]
    same = lambda v, tol: max(v) - min(v) <= tol * max(map(abs, v))
    return power[0] > 0 and same(power, 1e-2) and less and min(less) > 0 and same(less, 5e-2)


def check_slopes(bench, name, deck, limit, floor, wanted=is_current, h=1e-3):
    """Every small-signal conductance at a low frequency is the slope of the same program's own dc
    curve, from five points around v(s) = 1, within limit of it or floor."""
    deck.analyses = ['.dc vs %.9g %.9g %.9g' % (1 - 2 * h, 1 + 2.1 * h, h), '.ac lin 1 1 1']
    bench.run_vsim(name, deck.text())
    (_, dc), (_, ac) = sorted(bench.read(name), key=kind_of)
    worst, where, bad = 0.0, '', []
    for vector, i in dc.items():
        if not wanted(vector):
            continue
        g = (i[0] - 8 * i[1] + 8 * i[3] - i[4]) / (12 * h)
        error, scale = abs(ac[vector][0].real - g), max(abs(g), floor / limit)
        if not error <= limit * scale:
            bad.append('%s: ac %.9g, slope %.9g' % (deck.label(vector), ac[vector][0].real, g))
        if error / scale > worst:
            worst, where = error / scale, deck.label(vector)
    expect('; '.join(bad[:20]), not bad)
    return worst, where


def check_sidewall(bench, area, edge, js, jsw, rs, ik, rest):
    """The knee ik bends the bottom's current alone. ngspice 39 joins bottom and sidewall before the
    knee, ngspice 46 does not; so that a diode stands against three parts in ngspice."""
    head = '* sidewall\n' + TIGHT + 'vs a 0 0\n'
    tail = '.dc vs 0 1.1 0.05\n.end\n'
    card = '.model dm d level=3 %s js=%g jsw=%g rs=%g ik=%g\nd1 a 0 dm area=%g pj=%g\n'
    bench.run_vsim('sidewall', head + card % (rest, js, jsw, rs, ik, area, edge) + tail)
    parts = '.model db d level=3 %s js=%g ik=%g\n.model ds d level=3 %s js=%g ik=1e30\n'
    parts += 'r1 a b %.15g\nd1 b 0 db area=%g\nd2 b 0 ds area=1\n'
    text = parts % (rest, js, ik, rest, jsw * edge, rs / area, area)
    bench.run_ngspice('sidewall', head + text + tail)
    mine, theirs = (bench.read(n)[0][1]['i(vs)'] for n in ('sidewall', 'sidewall.ng'))
    expect('the same points', len(mine) == len(theirs) == 23)
    error = max(abs(a - b) for a, b in zip(mine, theirs)) / max(map(abs, theirs))
    expect('%.2g of the largest current' % error, error < EXACT)
    return error, 'against bottom, sidewall and resistor in ngspice'


def subcircuit(path, name, sizes):
    """The text of a subcircuit of a library, of its bins those alone that hold one of the sizes (l,
    w): for ngspice, which reads all cards anew for each sample."""
    with open(path) as f:
        lines = re.split(r'(?im)^\.subckt\s+%s\b' % re.escape(name), f.read())[1]
    text = '.subckt %s%s.ends\n' % (name, re.split(r'(?im)^\.ends', lines)[0])
    cards = re.split(r'(?im)^(?=\.model\s)', text)
    kept = [cards[0]]
    for card in cards[1:]:
        limit = {k.lower(): float(v) for k, v in LIMIT.findall(card)}
        fits = any(
            limit['lmin'] <= l < limit['lmax'] and limit['wmin'] <= w < limit['wmax']
            for l, w in sizes
        )
        kept += [card] if fits else []
    expect('bins of ' + name, 1 < len(kept) <= 1 + len(sizes))
    return ''.join(kept) if kept[-1] is cards[-1] else ''.join(kept) + '.ends\n'


def compare_samples(mine, theirs):
    """Samples {measure: values} of two programs are of one distribution: mean and standard
    deviation agree within 4.5 of the statistical error of their difference. That of the logarithm
    of a deviation is sqrt((k - 1) / 4n), k the curtosis (Cramer, Mathematical Methods of
    Statistics, 27.7). The largest difference, in such errors."""
    worst = (0.0, '')
    for name, b in theirs.items():
        a = mine[name]
        expect('%s: %d and %d samples' % (name, len(a), len(b)), len(a) > 50 and len(b) > 50)
        mean, spread, error = [], [], []
        for x in (a, b):
            m, s = statistics.mean(x), statistics.stdev(x)
            expect('%s varies' % name, s > 0)
            fourth = statistics.mean([((v - m) / s) ** 4 for v in x])
            mean.append(m)
            spread.append(math.log(s))
            error.append((s / math.sqrt(len(x)), math.sqrt((fourth - 1) / 4 / len(x))))
        for what, v, e in (('mean', mean, 0), ('deviation', spread, 1)):
            off = abs(v[0] - v[1]) / math.hypot(error[0][e], error[1][e])
            expect('%s of %s is off by %.2f: %s' % (what, name, off, mean + spread), off < 4.5)
            worst = max(worst, (off, '%s of %s' % (what, name)))
    return worst


def samples_of(table):
    """A table of measures of a sweep: {measure: values}."""
    with open(table) as f:
        rows = [line.rstrip('\n').split(',') for line in f]
    expect('a sample failed', all(r[-1] == 'done' for r in rows[1:]))
    return {name: [float(r[k]) for r in rows[1:]] for k, name in enumerate(rows[0][:-1])}


MEASURES = """.dc vd {v} {v} 1
.meas dc vg find v(g) at={v}
.meas dc vh find v(h) at={v}
.meas dc id find i(vd) at={v}
.meas dc iq find i(vq) at={v}
.meas dc offset param='id+iq'
.mc {n} seed=5
.end
"""
LOOP = """.control
setseed 5
let k=0
dowhile k < {n}
  mc_source
  op
  let vg=v(g)
  let vh=v(h)
  let id=i(vd)
  let iq=i(vq)
  let offset=id+iq
  print vg vh id iq offset
  let k=k+1
end
.endc
.end
"""


def subcircuits(path, section):
    """The subcircuits of a section of a library, its .include files followed: {name: (nodes, text)}
    in the order of the text, the last of a name."""
    with open(path, errors='replace') as f:
        body = re.search(r'(?ms)^\.lib %s\s*\n(.*?)^\.endl' % section, f.read()).group(1)
    texts, found, seen = [(os.path.dirname(path), body)], {}, set()
    while texts:
        folder, text = texts.pop(0)
        for name in re.findall(r'(?im)^\s*\.include\s+"?([^"\s]+)', text):
            file = os.path.normpath(os.path.join(folder, name))
            if file not in seen:
                seen.add(file)
                with open(file, errors='replace') as f:
                    texts.append((os.path.dirname(file), f.read()))
        for part in re.split(r'(?im)^\s*\.subckt\s+', text)[1:]:
            head, rest = part.split('\n', 1)
            name, *nodes = [w for w in head.replace('=', ' = ').split() if w != '=']
            plain = [n for n in nodes if '%s=' % n not in head.replace(' ', '')]
            values = set(re.findall(r'=\s*(\S+)', head))
            nodes = [n for n in plain if n not in values]
            found[name] = nodes, re.split(r'(?im)^\s*\.ends', rest)[0]
    return found


def compare_mirrors(bench, ours, theirs):
    """Process and mismatch of two current mirrors, the texts of which have sources vd and vq at the
    outputs and inputs g and h. ngspice takes as many samples as vsim with --all, else a tenth."""
    count = 1000 if '--all' in sys.argv else 100
    volt = re.search(r'(?m)^vd d 0 (\S+)', ours).group(1)
    table = os.path.join(bench.folder, 'mc.csv')
    text = '* mirrors\n' + ours + MEASURES.format(v=volt, n=1000)
    bench.run_vsim('mc', text, ('--measures', table))
    text = bench.write('mc.ng', '* mirrors\n' + theirs + LOOP.format(n=count))
    said = bench.call('ngspice mc', ['ngspice', '-b', text], None).stdout
    names = 'vg vh id iq offset'.split()
    found = {n: [float(x) for x in re.findall(r'(?m)^%s = (\S+)' % n, said)] for n in names}
    worst, where = compare_samples(samples_of(table), found)
    return worst, 'errors off, 1000 and %d samples, %s' % (len(found['vg']), where)


def check_refused(bench, name, head, lines):
    """Bad input is an error (exit code 1): lines of a deck after `head`, each with what the
    messages must have, in this order."""
    text = '* bad\n%s\nvd d 0 1\n%s\n.op\n.end\n' % (head, '\n'.join(a for a, _ in lines))
    bench.run_vsim(name, text, code=1)
    said, at = bench.said[name], 0
    for line, wanted in lines:
        for w in wanted:
            found = said.find(w, at)
            expect('%s: %r is not said: %s' % (line, w, said[at : at + 2000]), found >= 0)
            at = found
    return 0, '%d messages' % sum(len(w) for _, w in lines)


def short(x):
    return '%.7g%+.7gj' % (x.real, x.imag) if isinstance(x, complex) else '%.9g' % x


def near(what, got, wanted, tol):
    if not (math.isfinite(got) and abs(got - wanted) <= tol * abs(wanted)):
        raise Failed('%s: %.9g, %.9g is wanted' % (what, got, wanted))
    return abs(got / wanted - 1) if wanted else 0


def expect(what, ok):
    if not ok:
        raise Failed(what)


def main(checks, needs, doc):
    """Runs the checks {name: (function(bench) -> (figure, note), daily)}; exit code 77 without the
    kit or ngspice."""
    args = [a for a in sys.argv[1:] if a[:2] != '--']
    if not args:
        print(doc)
        return 2
    if not all(needs) or not shutil.which('ngspice'):
        print('the kit is not in %s, or there is no ngspice' % PEERS)
        return 77
    names = [
        n
        for n in checks
        if (any(a in n for a in args[1:]) if args[1:] else checks[n][1] or '--all' in sys.argv)
    ]
    failed = 0
    with tempfile.TemporaryDirectory(
        prefix='vsim-kit'
    ) as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        bench = Bench(args[0], folder)
        bench.run_vsim('first', 'first\nv1 a 0 1\nr1 a 0 1\n.op\n.end\n')

        def one(name):
            try:
                return name, checks[name][0](bench), ''
            except (
                Failed,
                OSError,
                KeyError,
                IndexError,
                ValueError,
                subprocess.TimeoutExpired,
            ) as e:
                return name, None, '%s: %s' % (type(e).__name__, e)

        for name, result, complaint in pool.map(one, names):
            failed += result is None
            print(
                '%-28s %s' % (name, complaint if result is None else '%.1e  %s' % result),
                flush=True,
            )
    print('%d of %d failed' % (failed, len(names)))
    return 1 if failed else 0
