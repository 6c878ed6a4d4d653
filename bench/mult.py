#!/usr/bin/env python3
"""Array multiplier of N x N bits as a SPICE include: the structure of ISCAS-85's c6288.

    mult.py 16 > c6288_multiplier.inc     subcircuit with ports a0.. b0.. p0..
    mult.py 64 --deck > mult64.sp         a whole deck with supplies and inputs
    mult.py 64 --deck --tran "2p 0.2n" > mult64.sp   another analysis than 2p 2n uic
    mult.py 64 --flat > mult64.sp         the same with all gates at top level, transistors not wrapped
    mult.py 16 --deck --pdk "$PDK" --tran "2p 6n" > c6288_sky130.sp   of SKY130's cells (docs/pdk-sky130.md tells what PDK is)

N*N AND gates make the partial products. Row r = 1 .. N-1 is a row of carry-save adders, then a ripple
row adds what is left. Every adder is nine NOR gates; where an input is 0, NOR becomes NOT. N = 16
gives 2128 NOR, 32 NOT and 256 AND gates: 10,112 transistors.
With --pdk the gates are sky130_fd_sc_hd's inv_1, nor2_1 and and2_0 (as many transistors) at 1.8 V, else
transistors come from subcircuits nmos and pmos (d g s b w l), supplies are the global vdd and vss."""
import argparse
import sys

GATES = {
    "not": ("out in", "mp out in vdd vdd P; mn out in vss vss N"),
    "nor": ("out in1 in2", "mp2 mid in2 vdd vdd P; mp1 out in1 mid vdd P; mn1 out in1 vss vss N; mn2 out in2 vss vss N"),
    "and": ("out in1 in2", "mp2 nand in2 vdd vdd P; mp1 nand in1 vdd vdd P; mn1 nand in1 mid vss N; mn2 mid in2 vss vss N; "
                           "mp3 out nand vdd vdd P; mn3 out nand vss vss N"),
}
DEVICE = {"P": "pmos w=1u l=0.2u", "N": "nmos w=0.5u l=0.2u"}

SKY130 = "sky130_fd_sc_hd__"
CELLS = {  # gate: (cell, its pins with the gate's)
    "not": ("inv_1", "in vss vss vdd vdd out"),
    "nor": ("nor2_1", "in1 in2 vss vss vdd vdd out"),
    "and": ("and2_0", "in1 in2 vss vss vdd vdd out"),
}


class Netlist:
    def __init__(self):
        self.gates = []  # (kind, output, inputs)

    def gate(self, out, *ins):
        """NOR of the inputs that are not 0, which is NOT for a single one."""
        ins = [x for x in ins if x is not None]
        self.gates.append(("not" if len(ins) == 1 else "nor", out, ins))
        return out

    def adder(self, name, a, b, c, total):
        """Sum and carry of three bits; b or c may be None (0)."""
        n = lambda k: f"{name}_{k}"
        either = self.gate(n("ab"), a, b)            # neither a nor b
        left = self.gate(n("l"), a, either)
        right = self.gate(n("r"), either, b)
        same = self.gate(n("x"), left, right)        # a equals b
        both = self.gate(n("xc"), same, c)
        left = self.gate(n("m"), same, both)
        right = self.gate(n("n"), both, c)
        return self.gate(total, left, right), self.gate(n("co"), either, both)


def multiplier(n):
    net = Netlist()
    pp = {}
    for i in range(n):
        for j in range(n):
            pp[i, j] = "p0" if i == j == 0 else f"pp{i}_{j}"
            net.gates.append(("and", pp[i, j], [f"a{i}", f"b{j}"]))
    total = [pp[i + 1, 0] for i in range(n - 1)]
    carry = [None] * (n - 1)
    for r in range(1, n):
        row = [net.adder(f"r{r}_{i}", total[i], carry[i], pp[i, r], f"p{r}" if i == 0 else f"s{r}_{i}")
               for i in range(n - 1)]
        total = [s for s, _ in row[1:]] + [pp[n - 1, r]]
        carry = [c for _, c in row]
    ripple = None
    for i in range(n - 1):
        _, ripple = net.adder(f"r{n}_{i}", total[i], carry[i], ripple, f"p{n + i}")
    return rename(net.gates, ripple, f"p{2 * n - 1}")


def rename(gates, old, new):
    swap = lambda x: new if x == old else x
    return [(k, swap(o), [swap(x) for x in i]) for k, o, i in gates]


def ports(n):
    return [f"a{i}" for i in range(n)] + [f"b{i}" for i in range(n)] + [f"p{i}" for i in range(2 * n)]


def wrapped(card, width=96):
    """A card as lines with continuation."""
    line, lines = "", []
    for word in card.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = "+"
        line += (" " if line else "") + word
    return "\n".join(lines + [line])


def write_include(n, name, out, cells=False):
    print(f"* {n} x {n} bit array multiplier, written by mult.py {n}\n\n.global vdd vss", file=out)
    for kind, (pins, body) in GATES.items():
        print(f"\n.subckt {kind} {pins}", file=out)
        if cells:
            cell, nodes = CELLS[kind]
            print(f"  x1 {nodes} {SKY130}{cell}\n.ends", file=out)
            continue
        for part in body.split("; "):
            dev = part[-1]
            print(f"  x{part[:-1]}{DEVICE[dev]}", file=out)
        print(".ends", file=out)
    print("\n" + wrapped(f".subckt {name} " + " ".join(ports(n))), file=out)
    for k, (kind, o, ins) in enumerate(multiplier(n)):
        print(f"  x{kind}{k} {o} {' '.join(ins)} {kind}", file=out)
    print(".ends", file=out)


def write_inputs(n, out, vdd):
    print(f"vdd vdd 0 {vdd}\nvss vss 0 0", file=out)
    for x in "ab":
        for i in range(n):
            print(f"v{x}{i} in_{x}{i} 0 pulse(0 {vdd} 0.1n 0.1n)\nr{x}{i} in_{x}{i} {x}{i} 1", file=out)


def write_flat(n, out):
    for k, (kind, o, ins) in enumerate(multiplier(n)):
        pins, body = GATES[kind]
        node = dict(zip(pins.split(), [o] + ins), vdd="vdd", vss="vss")
        for part in body.split("; "):
            name, d, g, s, b, dev = part.split()
            at = [node.get(x, f"{x}{k}") for x in (d, g, s, b)]
            print(f"m{kind}{k}_{name} {' '.join(at)} {DEVICE[dev]}", file=out)


def write_library(pdk, out):
    print(f'.lib "{pdk}/sky130_fd_pr/combined_models/sky130.lib.spice" tt', file=out)
    for cell, _ in CELLS.values():
        kind = cell.split("_")[0]
        print(f'.include "{pdk}/sky130_fd_sc_hd/cells/{kind}/{SKY130}{cell}.spice"', file=out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bits", type=int)
    p.add_argument("--name", help="name of the subcircuit (default: multN, c6288 for N = 16)")
    p.add_argument("--deck", action="store_true")
    p.add_argument("--flat", action="store_true")
    p.add_argument("--tran", default="2p 2n uic", metavar="ARGS", help="of .tran; all inputs rise at 0.1 ns")
    p.add_argument("--models", default="psp103_models.inc", help="file with nmos and pmos")
    p.add_argument("--pdk", help="folder with sky130_fd_pr and sky130_fd_sc_hd: a deck of SKY130's cells")
    o = p.parse_args()
    if o.pdk and (o.flat or not o.deck):
        p.error("--pdk needs --deck and not --flat")
    if not 2 <= o.bits <= 512:
        p.error("bits: from 2 to 512")
    name = o.name or ("c6288" if o.bits == 16 else f"mult{o.bits}")
    out = sys.stdout
    if o.deck or o.flat:
        print(f"{o.bits} x {o.bits} bit multiplier, all inputs rise", file=out)
        if o.pdk:
            write_library(o.pdk, out)
        else:
            print(f'.include "{o.models}"', file=out)
    if not o.flat:
        write_include(o.bits, name, out, o.pdk)
    if o.deck or o.flat:
        write_inputs(o.bits, out, "1.8" if o.pdk else "1.2")
        if o.flat:
            write_flat(o.bits, out)
        else:
            print(wrapped("xmul " + " ".join(ports(o.bits)) + " " + name), file=out)
        print(wrapped(".save " + " ".join(f"v(p{i})" for i in range(2 * o.bits))), file=out)
        print(f".options method=trap\n.tran {o.tran}\n.end", file=out)


if __name__ == "__main__":
    main()
