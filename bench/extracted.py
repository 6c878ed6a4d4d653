#!/usr/bin/env python3
"""Decks as extraction of a layout leaves them: N transistors, and their wires as R and C.

    extracted.py chain 1000 > chain.sp      chains of 50 inverters, each driven by a clock of its own phase
    extracted.py ring 1000 > ring.sp        ring oscillators of 31 stages
    extracted.py logic 1000 > logic.sp      random logic of inverters, NAND and NOR gates, random inputs
    extracted.py sram 1000 > sram.sp        array of cells with precharge and sense amplifiers, one row read
    extracted.py grid 1000 > grid.sp        power grid of 1000 x 1000 nodes, capacitors, pulsed loads

A net runs from its driver along its sinks. Each piece of it is SEGMENTS pi segments (C/2, R, C/2), of which every
second one couples to the net before. Gates hang on two meshes, of vdd and vss, that are fed at their corners.
Transistors: psp103 (netlists/psp103_models.inc), ihp (the SG13G2 kit, name its folder `models` by --kit) or bsim4.
Every value follows from --seed: the same arguments write the same deck."""
import argparse
import math
import os
import random

BSIM4 = """.model nfet nmos level=14 version=4.8 toxe=1.8n vth0=0.35 u0=0.03 vsat=1e5 k1=0.4 ndep=2.5e17 xj=0.1u
+ cgso=0.2n cgdo=0.2n cjs=1m cjd=1m cjsws=0.1n cjswd=0.1n rdsw=150
.model pfet pmos level=14 version=4.8 toxe=1.9n vth0=-0.35 u0=0.012 vsat=8e4 k1=0.4 ndep=2e17 xj=0.1u
+ cgso=0.2n cgdo=0.2n cjs=1m cjd=1m cjsws=0.1n cjswd=0.1n rdsw=250"""
IHP_VA = ("psp103/psp103.va", "psp103/psp103_nqs.va", "r3_cmc/r3_cmc.va", "mosvar/mosvar.va")

# gate: its transistors as (kind, drain, gate, source, width in um); out, in0, in1, inner nodes n0..
GATES = {
    "inv": (("p", "out", "in0", "vdd", 1.0), ("n", "out", "in0", "vss", 0.5)),
    "nand": (("p", "out", "in0", "vdd", 1.0), ("p", "out", "in1", "vdd", 1.0),
             ("n", "out", "in0", "n0", 1.0), ("n", "n0", "in1", "vss", 1.0)),
    "nor": (("p", "n0", "in0", "vdd", 2.0), ("p", "out", "in1", "n0", 2.0),
            ("n", "out", "in0", "vss", 0.5), ("n", "out", "in1", "vss", 0.5)),
}
PER_UM, R_PER_UM, STEP_UM = 0.15e-15, 0.6, 5.0  # F and ohm of a wire; distance of two gates
CHAIN, RING, FANOUT, WIDTH = 50, 31, 3, 40


class Deck:
    """Cards, and the wires between the pins that gates have asked for."""

    def __init__(self, o):
        self.o, self.random = o, random.Random(o.seed)
        self.cards, self.n_mos, self.n_rc = [], 0, 0
        self.place = {}  # of a gate in the mesh
        self.net = {}    # name: pins, the driver first
        self.tail = {}   # name: nodes along it

    def card(self, text):
        self.cards.append(text)

    def rc(self, kind, a, b, value):
        self.n_rc += 1
        self.card(f"{kind}w{self.n_rc} {a} {b} {value:.5g}")

    def mos(self, kind, d, g, s, width):
        self.n_mos += 1
        k, bulk = self.n_mos, "vdd" if kind == "p" else "vss"
        name = {"psp103": f"x{k} {{}} {kind}mos w={width:g}u l=0.2u",
                "ihp": f"x{k} {{}} sg13_lv_{kind}mos w={width:g}u l=0.13u ng=1 m=1",
                "bsim4": f"m{k} {{}} {kind}fet w={width:g}u l=0.13u"}[self.o.model]
        self.card(name.format(f"{d} {g} {s} {bulk}"))

    def pin(self, net, driver=False):
        """A node of its own on a net, that its wire will reach."""
        pins = self.net.setdefault(net, [])
        node = f"{net}_{len(pins)}"
        pins.insert(0, node) if driver else pins.append(node)
        return node

    def gate(self, kind, out, ins):
        here = f"g{len(self.place)}"
        self.place[here] = len(self.place)
        at = {"vdd": f"vdd_{here}", "vss": f"vss_{here}", "out": self.pin(out, True), "n0": f"n_{here}"}
        at.update({f"in{k}": self.pin(x) for k, x in enumerate(ins)})
        for mos, d, g, s, width in GATES[kind]:
            self.mos(mos, at[d], at[g], at[s], width)

    def piece(self, name, a, b, length, nodes):
        """A wire from a to b."""
        o = self.o
        r, c = R_PER_UM * length / o.segments, PER_UM * length / o.segments
        for k in range(o.segments):
            end = b if k == o.segments - 1 else f"{name}.{len(nodes)}"
            self.rc("c", a, "0", c / 2)
            self.rc("r", a, end, r)
            self.rc("c", end, "0", c / 2)
            nodes.append(end)
            a = end

    def wires(self):
        before = []
        for name, pins in self.net.items():
            nodes = []
            for a, b in zip(pins, pins[1:]):
                self.piece(name, a, b, STEP_UM * (1 + 4 * self.random.random()), nodes)
            for a, b in list(zip(nodes, before))[::2]:
                self.rc("c", a, b, PER_UM * STEP_UM / self.o.segments)
            before = nodes or before

    def mesh(self):
        """Meshes of both supplies; each gate has a contact to the nearest node."""
        side = max(2, math.ceil(math.sqrt(len(self.place) / 8)))
        for net in ("vdd", "vss"):
            power_grid(self, f"{net}m", side, 0.5)
            for k, (x, y) in enumerate(((0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1))):
                self.rc("r", net, f"{net}m_{x}_{y}", 0.1)
            for here, i in self.place.items():
                k = i // 8
                self.rc("r", f"{net}m_{k % side}_{k // side}", f"{net}_{here}", 5)
        for k in range(side * side):
            self.rc("c", f"vddm_{k % side}_{k // side}", f"vssm_{k % side}_{k // side}", 20e-15)

    def pulse(self, name, node, delay, width, period):
        self.card(f"v{name} {node} 0 pulse(0 1.2 {delay:.4g} 50p 50p {width:.4g} {period:.4g})")


def power_grid(d, name, side, ohm):
    for y in range(side):
        for x in range(side):
            if x + 1 < side:
                d.rc("r", f"{name}_{x}_{y}", f"{name}_{x + 1}_{y}", ohm * (0.9 + 0.2 * d.random.random()))
            if y + 1 < side:
                d.rc("r", f"{name}_{x}_{y}", f"{name}_{x}_{y + 1}", ohm * (0.9 + 0.2 * d.random.random()))


def chain(d, n):
    for c in range(max(1, n // (2 * CHAIN))):
        d.pulse(f"in{c}", d.pin(f"c{c}s0", True), 0.1e-9 + 20e-12 * (c % 16), 1e-9, 2e-9)
        for s in range(min(CHAIN, n // 2)):
            d.gate("inv", f"c{c}s{s + 1}", [f"c{c}s{s}"])
    return ["c0s1_0", f"c0s{min(CHAIN, n // 2)}_0"]


def ring(d, n):
    for c in range(max(1, n // (2 * RING))):
        for s in range(RING):
            d.gate("inv", f"c{c}s{(s + 1) % RING}", [f"c{c}s{s}"])
        d.card(f"ikick{c} 0 c{c}s0_0 pulse(0 50u {10 + 7 * (c % 16)}p 10p 10p 50p)")
    return ["c0s0_0", "c0s15_0"]


def logic(d, n):
    """Layers of WIDTH gates whose inputs are outputs of the two layers before."""
    inputs = [f"i{k}" for k in range(WIDTH)]
    for k, net in enumerate(inputs):
        d.pulse(net, d.pin(net, True), 0.1e-9 * d.random.randrange(1, 20), 1e-9, 0.5e-9 * d.random.randrange(4, 12))
    layers, k = [inputs], 0
    while d.n_mos < n:
        layer = []
        for _ in range(WIDTH):
            kind = d.random.choice(("inv", "nand", "nor"))
            reach = layers[-1] + (layers[-2] if len(layers) > 1 else [])
            d.gate(kind, f"w{k}", d.random.sample(reach, 1 if kind == "inv" else 2))
            layer.append(f"w{k}")
            k += 1
        layers.append(layer)
    return ["w0_0", f"w{k - 1}_0"]


def cell(d, row, col, bit):
    """Six transistors; where they touch word and bit lines is a pin of those."""
    q, nq = f"q{row}_{col}", f"nq{row}_{col}"
    for a, b in ((q, nq), (nq, q)):
        d.mos("p", a, b, f"vdd_r{row}", 0.3)
        d.mos("n", a, b, f"vss_r{row}", 0.5)
    for inner, line in ((q, f"bl{col}"), (nq, f"nbl{col}")):
        d.mos("n", d.pin(line), d.pin(f"wl{row}"), inner, 0.3)
    d.card(f".nodeset v({q})={1.2 * bit:g} v({nq})={1.2 - 1.2 * bit:g}")


def sense(d, col):
    """Precharge of both bit lines, and a latch that is switched on by `se`."""
    a, b = f"bl{col}", f"nbl{col}"
    for line in (a, b):
        d.mos("p", d.pin(line), "npre", "vdd_s", 2)
    for x, y in ((a, b), (b, a)):
        d.mos("p", d.pin(x), d.pin(y), "vdd_s", 1)
        d.mos("n", d.pin(x), d.pin(y), f"tail{col}", 1)
    d.mos("n", f"tail{col}", "se", "vss_s", 2)


def sram(d, n):
    cols = max(2, round(math.sqrt(n / 6)))
    rows = max(2, n // (6 * cols))
    d.pulse("wl", d.pin("wl0", True), 0.5e-9, 0.8e-9, 2e-9)
    for r in range(1, rows):
        d.card(f"vwl{r} {d.pin(f'wl{r}', True)} 0 0")
    for r in range(rows):
        for c in range(cols):
            cell(d, r, c, d.random.randrange(2))
        for net in ("vdd", "vss"):
            d.rc("r", net, f"{net}_r{r}", 2)
    for c in range(cols):
        sense(d, c)
    d.card("vnpre npre 0 pulse(0 1.2 0.3n 50p 50p 1.2n 2n)\nvse se 0 pulse(0 1.2 0.9n 50p 50p 0.5n 2n)")
    d.card("rvdds vdd vdd_s 0.1\nrvsss vss vss_s 0.1")
    return ["bl0_0", "nbl0_0"]


def grid(d, side):
    power_grid(d, "p", side, 0.1)
    for y in range(side):
        for x in range(side):
            d.rc("c", f"p_{x}_{y}", "0", 10e-15)
            if d.random.random() < 0.02:
                d.card(f"i{x}_{y} p_{x}_{y} 0 pulse(10u 100u {0.1 * d.random.randrange(1, 8):g}n 50p 50p 0.2n 1n)")
    for k, (x, y) in enumerate(((0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1))):
        d.card(f"rpad{k} vdd p_{x}_{y} 0.01")
    return [f"p_{side // 2}_{side // 2}"]


def models(o):
    if o.model == "bsim4":
        return [BSIM4]
    if o.model == "psp103":
        return [f'.include "{os.path.join(o.folder, "psp103_models.inc")}"']
    if not o.kit:
        raise SystemExit("--model ihp needs --kit, the folder `models` of the kit")
    return [f'.hdl "{o.kit}/ngspice/va/{va}"' for va in IHP_VA if not o.ngspice] + [
        f'.lib "{o.kit}/ngspice/models/cornerMOSlv.lib" mos_tt']


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    families = {"chain": chain, "ring": ring, "logic": logic, "sram": sram, "grid": grid}
    p.add_argument("family", choices=families)
    p.add_argument("size", type=int, help="transistors; grid: nodes along a side")
    p.add_argument("--model", choices=("psp103", "ihp", "bsim4"), default="psp103")
    p.add_argument("--segments", type=int, default=4, help="pi segments of a piece of wire (4)")
    p.add_argument("--no-wires", action="store_true", help="pins of a net are one node, supplies are ideal")
    p.add_argument("--tran", default="2p 2n", help='of .tran ("2p 2n")')
    p.add_argument("--folder", default=".", help="where psp103_models.inc is")
    p.add_argument("--kit", help="folder `models` of the SG13G2 kit")
    p.add_argument("--ngspice", action="store_true", help="of the kit: no .hdl cards, which ngspice does not know")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    if o.size < 4 or o.segments < 1:
        p.error("at least 4 transistors or nodes, and one segment")
    d = Deck(o)
    shown = families[o.family](d, o.size)
    if o.no_wires:
        join(d)
    elif o.family != "grid":
        d.wires()
        d.mesh()
    print(f"{o.family} of size {o.size}: {d.n_mos} transistors, {d.n_rc} R and C")
    print("\n".join(models(o) if o.family != "grid" else []))
    print("vdd vdd 0 1.2\nvss vss 0 0")
    print("\n".join(d.cards))
    print(f".tran {o.tran}\n.save {' '.join(f'v({s})' for s in shown)}\n.end")


def join(d):
    """Pins become their net's first one, taps the supplies."""
    to = {pin: pins[0] for pins in d.net.values() for pin in pins}
    to.update({f"{net}_{here}": net for net in ("vdd", "vss") for here in d.place})
    d.cards = [" ".join(to.get(word, word) for word in card.split(" ")) for card in d.cards]


if __name__ == "__main__":
    main()
