#!/usr/bin/env python3
"""The IHP SG13G2 kit of PyPI's ihp-gdsfactory (tests/peers.txt), its files as they are, in vsim.

    ihp.py VSIM [--all] [--table] [NAME...]     exit code 77 if the kit is not in $VSIM_PEERS (./bootstrap test)
    ihp.py --write FOLDER   writes the decks at every corner and at -40, 27 and 125 degrees, for bench/tolerances.py

Decks and results stand in tests/data/ihp (README.md there): every device over corners and temperatures, in dc, ac
and noise, and small circuits. An error is the largest difference over the largest value of its vector; differences
below FLOOR are no digits of either simulator. Where ngspice and VACASK disagree, vsim has to agree with itself: a
small-signal value with the slope of its own dc curve, self-heating with the device at that temperature.
A run without --all takes a part of the decks; --table prints docs/pdk-ihp.md's. NAME: a part of a deck's or check's
name."""
import concurrent.futures
import csv
import glob
import math
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import osdi  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
DATA = os.path.join(ROOT, 'tests', 'data', 'ihp')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))
VA = ('psp103/psp103.va', 'psp103/psp103_nqs.va', 'r3_cmc/r3_cmc.va', 'mosvar/mosvar.va')
FLOOR = {'mos': 1e-13, 'varicap': 1e-12, 'other': 1e-15, 'v': 1e-9}  # ampere, volt: dc only

# groups, what they are measured against, and how well they agree
SAME_VA, BUILT_IN = 1e-6, 1e-4
VERILOG_A = re.compile(r'[lh]v_|res_|rsil|rppd|rhigh|nmoscl|inv_|cap_ac')
# Decks whose reference is not right everywhere: docs/pdk-ihp.md says why
LOOSE = {
    'isolbox_iv': 1e-2,   # ngspice's sidewall junction does not break down
    'diode_cv': 2e-2,     # ngspice: slope of the recombination current, negative junction potential
    'npn_yp': 6e-2, 'npn_noise': 2e-2,  # against VACASK: another VBIC, that maps temperatures differently
    'npn_yp_125': 1,
    'npn_hot': 0.5,       # self-heating off 27 degrees: two answers
}
DEFAULT = re.compile(r'lv_nmos_(idvg|yp)_tt_27|lv_pmos_idvd_ss_125|lv_nmos_idvg_ff_-40|hv_pmos_idvg_ff_125|hv_nmos_idvd_tt_27|'
                     r'lv_pmos_yp_rf|hv_nmos_noise|lv_nmos_noise|npn13G2_(gummel|out|yp)_typ_27|npn13G2_gummel_typ_125|'
                     r'npn13G2l_out_bcs_27|npn13G2v_(gummel_wcs|noise_typ)_27|pnpMPA_(out_typ_27|yp_typ_125)|'
                     r'res_(iv_typ_-40|iv_wcs_125|ac|temp)|r\w+_noise|cap_ac_bcs_27|hv_svaricap_(cv_tt_(27|125)|iv_tt)|'
                     r'dantenna_iv_tt_125|schottky_iv_ss_27|isolbox_iv_tt_27|esd_iv_tt_-40|nmoscl_iv_tt|diode_cv|inv_|'
                     r'ota_(op|dc|ac|noise)|diffpair_dc')


class Failed(Exception):
    pass


class Kit:
    def __init__(self, vsim, kit, folder):
        self.vsim, self.models, self.folder = os.path.abspath(vsim), kit, folder
        self.hdl = ['.hdl "$PDK/ngspice/va/%s"' % f for f in VA]
        self.env = dict(os.environ, PDK=kit, HOME=folder, VSIM_CACHE_DIR='')

    def run(self, name, text, hdl=True, code=0, option=()):
        """Writes and runs a deck; the process. Its results are in read(name)."""
        lines = text.split('\n')
        path = os.path.join(self.folder, name + '.sp')
        with open(path, 'w') as f:
            f.write('\n'.join([lines[0]] + (self.hdl if hdl else []) + lines[1:]))
        p = subprocess.run([self.vsim, '--allow-native', '--cache-dir', os.path.join(self.folder, 'cache'), '--csv', '-r',
                            os.path.join(self.folder, name + '.csv'), *option, path],
                           capture_output=True, text=True, env=self.env, timeout=500)
        if p.returncode != code:
            raise Failed('%s: exit code %d: %s' % (name, p.returncode, (p.stderr or p.stdout)[-600:]))
        return p

    def read(self, name):
        """The first plot: vectors by name."""
        with open(os.path.join(self.folder, name + '.csv')) as f:
            rows = list(csv.reader(f))
        n = next((i for i, r in enumerate(rows) if i and (not r or r[0][:1].isalpha())), len(rows))
        cols = list(zip(*[[float(x) for x in r] for r in rows[1:n]]))
        return dict(zip([h.lower() for h in rows[0]], cols))

    def solve(self, name, text, **kw):
        self.run(name, text, **kw)
        return self.read(name)


# -- decks and their results --

class Deck:
    """One corner and temperature of a group."""
    def __init__(self, group, corner, temp):
        self.group, self.corner, self.temp = group, corner, temp
        self.name = group + ('' if corner == '-' else '_' + corner) + ('' if temp == '27' and corner == '-' else '_' + temp)
        self.rows, self.max = {}, {}

    def text(self):
        with open(os.path.join(DATA, self.group + '.sp')) as f:
            title, body = f.read().split('\n', 1)
        return '%s\n.temp %s\n%s' % (title, self.temp, body.replace('@corner@', self.corner))

    def kind(self):
        return re.search(r'(?m)^\.(dc|ac|noise|tran|op)\b', self.text()).group(1)


def load(suffix):
    """Decks by name with the rows of <group><suffix>."""
    decks = {}
    for path in sorted(glob.glob(os.path.join(DATA, '*.csv'))):
        group, ext = os.path.basename(path).split('.', 1)
        if '.' + ext != suffix:
            continue
        with open(path) as f:
            head, *rows = list(csv.reader(f))
        for r in rows:
            d = Deck(group, r[0], r[1])
            d = decks.setdefault(d.name, d)
            values = dict(zip(head[3:], map(float, r[3:])))
            if r[2] == 'max':
                d.max = values
            else:
                d.rows[int(r[2])] = values
    return decks


CORNERS = {'mos': 'tt ss ff sf fs', 'hbt': 'typ bcs wcs', 'res': 'typ bcs wcs', 'cap': 'typ bcs wcs', 'dio': 'tt ss ff'}


def write_all(kit, folder):
    """Writes every deck at all corners of its section and three temperatures; how many."""
    n = 0
    os.makedirs(folder, exist_ok=True)
    for path in sorted(glob.glob(os.path.join(DATA, '*.sp'))):
        with open(path) as f:
            section = re.search(r'(?m)^\.lib \S+ (\w+)_@corner@', f.read())
        for corner in CORNERS[section.group(1)].split() if section else '-':
            for temp in '-40', '27', '125':
                d = Deck(os.path.basename(path)[:-3], corner, temp)
                title, body = d.text().split('\n', 1)
                with open(os.path.join(folder, '%s_%s_%s.sp' % (d.group, corner, temp)), 'w') as f:
                    f.write('\n'.join([title] + ['.hdl "$PDK/ngspice/va/%s"' % va for va in VA] + [body]).replace('$PDK', kit))
                n += 1
    return n


def cold_columns(text):
    """Vectors of the instances without self-heating."""
    return {c % n for n in re.findall(r'(?mi)^x(\d+) .*selft=0', text)
            for c in ('i(vc%s)', 'i(vb%s)', 'i(ve%s)', 'i(vs%s)', 'v(b%s)')}


def tolerance(deck, column, foreign):
    """Of one vector of a deck; `foreign`: the reference is VACASK."""
    npn = deck.group.startswith('npn')
    if npn and foreign:
        return LOOSE['npn_noise' if 'noise' in deck.group else 'npn_yp_125' if deck.temp == '125' else 'npn_yp']
    if npn and deck.temp != '27' and column not in cold_columns(deck.text()):
        return LOOSE['npn_hot']
    if deck.group == 'diode_cv' and deck.temp == '125' and column[:7] in ('i(va25)', 'i(va33)'):
        return LOOSE['diode_cv']
    if deck.group in LOOSE and deck.group != 'diode_cv':
        return LOOSE[deck.group]
    return SAME_VA if VERILOG_A.match(deck.group) else BUILT_IN


def floor_of(deck, column):
    if deck.kind() not in ('dc', 'op'):
        return 0
    return FLOOR['v' if column[0] == 'v' else 'varicap' if 'svaricap' in deck.group else
                 'mos' if re.match('[lh]v_|inv|ota', deck.group) else 'other']


def compare(deck, got, foreign):
    """The worst error, its vector, and what is wrong."""
    first = next(iter(got))
    worst, where, bad = 0.0, '', []
    for column in deck.max:
        name = column.lower()
        if name not in got:
            if column != next(iter(deck.max)):  # the sweep's own name may differ
                bad.append('no vector ' + column)
            continue
        if not all(map(math.isfinite, got[name])):
            bad.append('%s is not finite' % column)
            continue
        other = re.sub(r'\.(re|im)$', lambda m: '.im' if m.group(1) == 're' else '.re', column)
        scale = max((x for x in (deck.max[column], deck.max.get(other, 0)) if not math.isnan(x)), default=0)
        for i, row in deck.rows.items():
            if math.isnan(row[column]) or not scale:
                continue
            if i >= len(got[first]):
                bad.append('%d points, row %d is wanted' % (len(got[first]), i))
                return worst, where, bad
            error = abs(got[name][i] - row[column])
            if error > max(tolerance(deck, column, foreign) * scale, floor_of(deck, column)):
                bad.append('%s[%d]: %.9g, reference %.9g' % (column, i, got[name][i], row[column]))
            if error > floor_of(deck, column) and error / scale > worst:
                worst, where = error / scale, column
    return worst, where, bad


def check_deck(kit, name, ngspice, vacask):
    """Runs a deck and compares it with what is there. List of (reference, worst, vector, complaints)."""
    deck = ngspice[name]
    kit.run(name, deck.text())
    got = kit.read(name)
    result = []
    hot = deck.group.startswith('npn') and deck.kind() in ('ac', 'noise')
    if not hot:  # ngspice is wrong there
        result.append(('ngspice',) + compare(deck, got, False))
    if name in vacask:
        result.append(('VACASK',) + compare(vacask[name], got, True))
    return result


# -- vsim against itself and its own equations --

TIGHT = '.options reltol=1e-9 abstol=1e-18 vntol=1e-12 gmin=1e-15\n'


def near(what, got, wanted, tol):
    if not (math.isfinite(got) and abs(got - wanted) <= tol * abs(wanted)):
        raise Failed('%s: %.9g, %.9g is wanted' % (what, got, wanted))
    return abs(got / wanted - 1) if wanted else 0


def slope(kit, name, deck, source, at, h):
    """d/dv of the currents into the sources, from five points of a dc sweep."""
    got = kit.solve(name, '%s.dc %s %.9g %.9g %.9g\n.end\n' % (deck, source, at - 2 * h, at + 2.1 * h, h))
    return {k: (v[0] - 8 * v[1] + 8 * v[3] - v[4]) / (12 * h) for k, v in got.items() if k[:2] == 'i('}


def check_hbt_slope(kit):
    """Small-signal conductances of a self-heated transistor far below its thermal corner are its dc slopes."""
    worst = 0
    for model, vbe in (('npn13G2', 0.92), ('npn13G2l', 0.9), ('npn13G2v', 0.9)):
        for temp in ('27', '125'):
            deck = ('* slope\n.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_typ\n.temp %s\n%svc c 0 1\nvb b 0 %g ac 1\n'
                    'x1 c b 0 0 %s Nx=%d\n' % (temp, TIGHT, vbe, model, 4 if model == 'npn13G2' else 2))
            ac = kit.solve('slope_ac', deck + '.ac lin 1 10 10\n.end\n')
            for k, s in slope(kit, 'slope_dc', deck, 'vb', vbe, 5e-4).items():
                worst = max(worst, near('%s at %s, %s' % (model, temp, k), ac[k + '.re'][0], s, 1e-5))
    return worst


def check_hbt_heat(kit):
    """A self-heated transistor carries what one without self-heating carries at its temperature."""
    worst = 0
    for temp, vbe in ((27, 0.92), (125, 0.8), (125, 0.9)):
        deck = ('* heat\n.lib "$PDK/ngspice/models/cornerHBT.lib" hbt_typ\n.temp %.12g\n' + TIGHT +
                'vc c 0 1\nvb b 0 %g\n' % vbe + 'x1 c b 0 0 %s\n.op\n.end\n')
        hot = kit.solve('hot', deck % (temp, 't npn13G2_5t Nx=4'))
        cold = kit.solve('cold', deck % (temp + hot['v(t)'][0], 'npn13G2 Nx=4 selft=0'))
        worst = max([worst] + [near('%d + %.3f degrees, %s' % (temp, hot['v(t)'][0], k), hot[k][0], cold[k][0], 1e-6)
                               for k in ('i(vc)', 'i(vb)')])
    return worst


def check_diode_slope(kit):
    """The conductance of a diode with knee and recombination currents is its dc slope."""
    worst = 0
    for temp in ('27', '125'):
        deck = ('* slope\n.lib "$PDK/ngspice/models/cornerDIO.lib" dio_tt\n.temp %s\n%sv1 a 0 0.4 ac 1\nx1 0 a 0 diodevdd_2kv\n'
                % (temp, TIGHT))
        ac = kit.solve('diode_ac', deck + '.ac lin 1 1 1\n.end\n')
        worst = max(worst, near(temp, ac['i(v1).re'][0], slope(kit, 'diode_dc', deck, 'v1', 0.4, 5e-4)['i(v1)'], 1e-6))
    return worst


def check_breakdown(kit):
    """isolbox: a junction with sidewall carries ibv at bv, in all."""
    got = kit.solve('breakdown', '* bv\nv1 a 0 -9.7\nd1 a 0 dm area=3.6 pj=3.6\n' + TIGHT +
                    '.model dm d is=3.89e-20 jsw=7.239e-20 n=1.01 bv=9.7 ibv=1e-12 nbv=0.1 tlev=2 xti=1.529\n.op\n.end\n',
                    hdl=False)
    return near('ibv', got['i(v1)'][0], 1e-12 + 9.7e-15, 3e-4)


# -- transients --

def crossings(t, v, level, rising):
    out = []
    for i in range(1, len(t)):
        if v[i - 1] < level <= v[i] if rising else v[i - 1] > level >= v[i]:
            out.append(t[i - 1] + (level - v[i - 1]) / (v[i] - v[i - 1]) * (t[i] - t[i - 1]))
    return out


def check_inv_tran(kit):
    """Delays of the inverter: ngspice 29.1860 and 28.3730 ps, VACASK 29.1859 and 28.3730 ps."""
    got = kit.solve('inv_tran', Deck('inv_tran', '-', '27').text())
    t, worst = got['time'], 0
    for start, rising, wanted in ((60e-12, False, 29.186e-12), (260e-12, True, 28.373e-12)):
        worst = max(worst, near('delay', crossings(t, got['v(out)'], 0.6, rising)[0] - start, wanted, 1e-4))
    return worst


def check_ring5(kit):
    """Period of the ring: ngspice 294.86999 ps, VACASK 294.86997 ps."""
    got = kit.solve('ring5', Deck('ring5', '-', '27').text())
    up = crossings(got['time'], got['v(n1)'], 0.6, True)
    return near('period', (up[-1] - up[-3]) / 2, 294.87e-12, 2e-6)


def check_waves(kit):
    """Transients of the amplifier and the pair at points of ngspice's; VACASK differs by as much."""
    worst = 0
    for group, limit in (('ota_tran', 1.5e-3), ('diffpair_tran', 1e-3)):
        deck = load('.csv')[group]
        got = kit.solve(group, deck.text())
        t = got['time']
        for row in deck.rows.values():
            k = next((i for i in range(1, len(t)) if t[i] >= row['time']), len(t) - 1)
            part = (row['time'] - t[k - 1]) / (t[k] - t[k - 1])
            for name, wanted in row.items():
                if name[0] != 'v':
                    continue
                v = got[name]
                off = abs(v[k - 1] + part * (v[k] - v[k - 1]) - wanted)
                worst = max(worst, off)
                if not off <= limit:
                    raise Failed('%s %s at %g s: off by %.2g V' % (group, name, row['time'], off))
    return worst


# -- habits of the kit --

def amps(kit, name, elements, libs, extra='', **kw):
    """Currents of x1, x2 ... each `model parameters` with its nodes after d: i(v1), i(v2) ..., at the operating point."""
    lines = ['* ' + name] + ['.lib "$PDK/ngspice/models/%s.lib" %s' % lib for lib in libs] + [TIGHT + extra, 'vdd d 0 1']
    for i, e in enumerate(elements, 1):
        lines += ['v%d d d%d 0' % (i, i), 'x%d d%d %s' % (i, i, e)]
    p = kit.run(name, '\n'.join(lines + ['.op', '.end', '']), **kw)
    got = kit.read(name)
    return [got['i(v%d)' % i][0] for i in range(1, len(elements) + 1)], p.stderr


RES, MOS, HBT = ('cornerRES', 'res_typ'), ('cornerMOSlv', 'mos_tt'), ('cornerHBT', 'hbt_typ')


SLIPS = ("a ',' is missing|.ends names 'diodevdd_4kv_mod'|"
         r'x1.d\d: nbv = [0-9.]+: breakdown begins before')


def expect(what, ok):
    if not ok:
        raise Failed(what)


def check_parameters(kit):
    """Body parameters, derived ones too, are overridden on the X line; case, m and unknown names."""
    (a, b, c, e), said = amps(kit, 'parameters', ['0 0 rsil w=1u l=10u', '0 0 RSIL W=1u L=10u', '0 0 rsil w=1u l=10u leff=20u',
                                                  '0 0 rsil w=1u l=10u foo=3'], [RES])
    expect('names are case-insensitive', a == b)
    expect('a derived parameter is overridden, %g %g' % (a, c), 0.4 < c / a < 0.6)
    expect('an unknown parameter is named in a warning', a == e and "has no parameter 'foo'" in said)
    (m1, m2, q1, q2, c1, c2), _ = amps(kit, 'multiplicity', ['d 0 0 sg13_lv_nmos w=1u l=0.13u m=%d' % m for m in (1, 2)] +
                                       ['b 0 0 npn13G2 selft=0 m=%d' % m for m in (1, 2)] +
                                       ['0 cparasitic c=1p m=%d' % m for m in (1, 2)], [MOS, HBT, ('cornerCAP', 'cap_typ')],
                                       'vb b 0 0.8\n')
    near('m of a subcircuit with that parameter', m2, 2 * m1, 1e-9)
    return near('m of one without', q2, 2 * q1, 1e-9)


def check_mismatch(kit):
    """*_mismatch: nominal without a seed, with one every device its own, the same in every run and any order."""
    libs = [(f, s + '_mismatch') for f, s in (RES, MOS, HBT)] + [('cornerCAP', 'cap_typ_mismatch')]
    devices = ['d 0 0 sg13_lv_nmos w=1u l=0.13u', 'd 0 0 sg13_lv_nmos w=1u l=0.13u', '0 0 rsil', '0 0 rsil', 'b 0 0 npn13G2']
    one, said = amps(kit, 'nominal', devices, libs, 'vb b 0 0.8\n')
    plain, _ = amps(kit, 'plain', devices, [RES, MOS, HBT], 'vb b 0 0.8\n')
    expect('without a seed one note says so', said.count('.option seed') == 1)
    for i in (0, 1, 4):
        near('nominal %d' % (i + 1), one[i], plain[i], 1e-12)
    runs = [amps(kit, 'seed%d' % s, devices, libs, 'vb b 0 0.8\n.option seed=%d\n' % s)[0] for s in (1, 1, 2)]
    expect('the same seed gives the same numbers', runs[0] == runs[1])
    expect('another seed gives others', all(a != b for a, b in zip(runs[0], runs[2])))
    expect('devices differ', runs[0][0] != runs[0][1] and runs[0][2] != runs[0][3])
    fewer, _ = amps(kit, 'fewer', devices[:2], libs, 'vb b 0 0.8\n.option seed=1\n')
    expect('other devices change nothing, %s %s' % (fewer, runs[0]), all(abs(a / b - 1) < 1e-9 for a, b in zip(fewer, runs[0])))
    spread = max(abs(a / b - 1) for a, b in zip(runs[0], plain))
    expect('the spread is that of a process, %g' % spread, 1e-4 < spread < 0.5)
    return 0


def check_stat(kit):
    """*_stat: one draw for all devices of a run."""
    libs = [(f, s + '_stat') for f, s in (RES, MOS, HBT)] + [('cornerCAP', 'cap_typ_stat')]
    devices = ['d 0 0 sg13_lv_nmos w=1u l=0.13u', 'd 0 0 sg13_lv_nmos w=1u l=0.13u', 'b 0 0 npn13G2']
    runs = [amps(kit, 'stat%d' % s, devices, libs, 'vb b 0 0.8\n.option seed=%d\n' % s)[0] for s in range(1, 9)]
    for r in runs:
        near('devices are alike', r[0], r[1], 1e-9)
    for k in (0, 2):
        mean = sum(r[k] for r in runs) / len(runs)
        sd = math.sqrt(sum((r[k] / mean - 1) ** 2 for r in runs) / (len(runs) - 1))
        expect('runs differ as a process does, %g' % sd, 1e-4 < sd < 0.3)
    return 0


def check_libraries(kit):
    """Every section of every library is read, with a device of it, without an error."""
    device = {'cornerMOSlv': 'd 0 0 sg13_lv_nmos w=1u l=0.13u', 'cornerMOShv': 'd 0 0 sg13_hv_pmos w=1u l=0.4u', 'cornerHBT': 'd 0 0 npn13G2l',
              'cornerRES': '0 0 rppd', 'cornerCAP': '0 cap_cmim', 'cornerDIO': '0 dantenna'}
    n = 0
    for lib, e in device.items():
        with open(os.path.join(kit.models, 'ngspice', 'models', lib + '.lib'), encoding='latin-1') as f:
            for section in re.findall(r'(?mi)^\.lib\s+(\w+)', f.read()):
                _, said = amps(kit, 'section', [e], [(lib, section)])
                for warning in re.findall('warning: (.*)', said):  # slips in the kit
                    expect('%s: %s' % (section, warning), re.match(SLIPS, warning))
                n += 1
    expect('sections were found', n == 47)
    return 0


def check_spiceinit(kit):
    """.spiceinit beside the deck loads the models; without the models the message names the file."""
    deck = '* init\n.lib "$PDK/ngspice/models/cornerRES.lib" res_typ\nvd d 0 1\nx1 d 0 0 rhigh\n.op\n.end\n'
    path = os.path.join(kit.folder, '.spiceinit')
    wanted = kit.solve('by_hdl', deck)['i(vd)'][0]
    p = kit.run('none', deck, hdl=False, code=1)
    expect('the message names the source, ' + p.stderr[-300:], '.hdl "' in p.stderr and 'r3_cmc.va' in p.stderr)
    with open(path, 'w') as f:
        f.write('* start-up\nset ngbehavior=hsa\nset reltol=1e-3\nosdi $PDK/ngspice/va/r3_cmc/r3_cmc.osdi\n')
    try:
        p = kit.run('by_init', deck, hdl=False)
        expect('the models are those', kit.read('by_init')['i(vd)'][0] == wanted)
        expect('a variable without effect is named', ".spiceinit:3:5: warning: the variable 'reltol'" in p.stderr)
        kit.run('no_init', deck, hdl=False, code=1, option=('--no-init',))
    finally:
        os.remove(path)
    return 0


def check_vacask(kit):
    """MOS in VACASK itself, with the kit's libraries for it: the same operating point. It compiles the models for 16 s."""
    program = os.path.join(PEERS, 'bin', 'vacask')
    if not os.path.exists(program):
        return 0
    devices = ['d g 0 0 sg13_lv_nmos w=1u l=0.13u', 'd g 0 0 sg13_lv_nmos w=10u l=1u ng=4']
    mine, _ = amps(kit, 'mine', [e[2:] for e in devices], [MOS], 'vg g 0 0.8\n')
    lines = ['mos', 'include "%s/vacask/models/cornerMOSlv.lib" section=mos_tt' % kit.models, 'ground 0', 'model v vsource',
             'vg (g 0) v dc=0.8', 'vdd (d 0) v dc=1']
    for i, e in enumerate(devices, 1):
        _, g, s, b, name, *given = e.split()
        lines += ['v%d (d d%d) v dc=0' % (i, i), 'x%d (d%d %s %s %s) %s %s' % (i, i, g, s, b, name, ' '.join(given))]
    lines += ['control', 'options reltol=1e-6 abstol=1e-14 vntol=1e-9', 'analysis op1 op', 'endc', '']
    with open(os.path.join(kit.folder, 'mos.sim'), 'w') as f:
        f.write('\n'.join(lines))
    subprocess.run([program, 'mos.sim'], cwd=kit.folder, capture_output=True, timeout=500, check=True)
    got, _ = osdi.read_raw(os.path.join(kit.folder, 'op1.raw'))
    return max(near('v%d' % i, got['v%d:flow(br)' % i][0], mine[i - 1], 1e-6) for i in (1, 2))


HABITS = {'parameters': check_parameters, 'mismatch': check_mismatch, 'stat': check_stat, 'libraries': check_libraries,
          'spiceinit': check_spiceinit}
QUICK = {'hbt_slope': check_hbt_slope, 'hbt_heat': check_hbt_heat, 'diode_slope': check_diode_slope, 'breakdown': check_breakdown,
         'inv_tran': check_inv_tran}
LONG = {'vacask': check_vacask, 'ring5': check_ring5, 'waves': check_waves}

# -- running --

def main():
    args = [a for a in sys.argv[1:] if a[:2] != '--']
    everything, table = '--all' in sys.argv, '--table' in sys.argv
    found = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'ihp', 'models'))
    if not found:
        print('the IHP kit is not in', PEERS)
        return 77
    if '--write' in sys.argv:
        print('%d decks' % write_all(os.path.realpath(found[0]), args[0]))
        return 0
    ngspice, vacask = load('.csv'), load('.vacask.csv')
    wanted = [n for n in ngspice if ngspice[n].kind() != 'tran']
    wanted = [n for n in wanted if (any(a in n for a in args[1:]) if args[1:] else everything or DEFAULT.match(n))]
    failed, count, rows = 0, 0, {}
    with tempfile.TemporaryDirectory(prefix='vsim-ihp') as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        kit = Kit(args[0], found[0], folder)
        kit.run('first', 'first\nv1 a 0 1\nr1 a 0 1\n.op\n')  # compiles the models

        def one(name):
            try:
                return name, check_deck(kit, name, ngspice, vacask)
            except (Failed, OSError, KeyError, IndexError) as e:
                return name, [('run', 0, '', [str(e)])]
        for name, result in pool.map(one, wanted):
            for reference, worst, where, bad in result:
                failed += bool(bad)
                d = ngspice[name]
                rows.setdefault((d.group, reference), []).append((worst, where, name))
                print('%-26s %-8s %.1e %-14s %s' % (name, reference, worst, where, '; '.join(bad[:3])), flush=True)
        checks = dict(QUICK, **HABITS, **(LONG if everything or args[1:] else {}))
        for name in [c for c in checks if not args[1:] or any(a in c for a in args[1:])]:
            count += 1
            try:
                print('%-26s %.1e' % (name, checks[name](kit)), flush=True)
            except (Failed, OSError, KeyError, IndexError) as e:
                failed += 1
                print('%-26s %s' % (name, e), flush=True)
    if table:
        print('| decks | compared with | | largest error | at |\n|---|---|---|---|---|')
        for (group, reference), r in sorted(rows.items()):
            worst, where, name = max(r)
            print('| %s | %s | %d | %.1e | %s of %s |' % (group, reference, len(r), worst, where, name))
    print('%d of %d failed' % (failed, count + sum(map(len, rows.values()))))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
