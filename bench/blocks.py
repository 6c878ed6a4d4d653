#!/usr/bin/env python3
"""N blocks of which K work: 16 x 16 bit multipliers of 10,112 transistors beside each other.

    blocks.py 8 1 > blocks8.sp                         8 multipliers, one switches
    blocks.py 64 1 --tran "2p 0.75n" > blocks64.sp     64 of them, 647,168 transistors

The inputs of those that work rise at 0.1 ns, the others' stay at 0; each input has a source and 1 ohm
of its own. Run it where psp103_models.inc and c6288_multiplier.inc are (netlists/), or name --folder."""
import argparse
import os


def block(i, works):
    cards = []
    for bus in "ab":
        for bit in range(16):
            wave = "pulse(0 1.2 0.1n 0.1n)" if works else "0"
            cards.append(f"v{bus}{bit}_{i} in_{bus}{bit}_{i} 0 {wave}")
            cards.append(f"r{bus}{bit}_{i} in_{bus}{bit}_{i} {bus}{bit}_{i} 1")
    ports = [f"{bus}{bit}_{i}" for bus in "ab" for bit in range(16)] + [f"p{bit}_{i}" for bit in range(32)]
    lines = [" ".join(ports[k:k + 8]) for k in range(0, len(ports), 8)]
    return cards + [f"x{i} " + "\n+ ".join(lines) + " c6288"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("blocks", type=int)
    p.add_argument("working", type=int)
    p.add_argument("--tran", default="2p 0.75n", metavar="ARGS", help="of .tran")
    p.add_argument("--folder", default=".", help="where the models and the multiplier are")
    o = p.parse_args()
    if not 0 <= o.working <= o.blocks or o.blocks < 1:
        p.error("at least one block, and no more working than there are")
    print(f"{o.blocks} multipliers, {o.working} switch")
    for name in ("psp103_models.inc", "c6288_multiplier.inc"):
        print(f'.include "{os.path.join(o.folder, name)}"')
    print("vdd vdd 0 1.2\nvss vss 0 0")
    for i in range(o.blocks):
        print("\n".join(block(i, i < o.working)))
    print(f".tran {o.tran}\n.save v(p31_0) v(p16_0)\n.end")


if __name__ == "__main__":
    main()
