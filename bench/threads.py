#!/usr/bin/env python3
"""What more threads would bring, modelled from the pieces that one thread does (vsim profile --as-if).

    threads.py VSIM [DECK.sp]... [--threads 2,4,8,16,32,64]

Without decks: the four families of bench/extracted.py with 10,000 transistors, and the multiplier of 64 x 64 bits.
The first line of a deck is the run of one thread; each further one says by phase how many seconds it would take,
what one thread does alone, and how many times as fast that is. Let the machine be quiet: pieces are timed."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NETLISTS = os.path.join(HERE, "..", "netlists")
PHASES = ("evaluate", "stamp", "factor, refactor", "solve")


def profile(vsim, deck, threads, *more):
    done = subprocess.run([vsim, "profile", deck, "--json", "--threads", str(threads), *more], cwd=os.path.dirname(deck),
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def line(first, values, last):
    print(f"| {first} | " + " | ".join(f"{v:.2f}" for v in values) + f" | {last} |", flush=True)


def model(vsim, deck, counts):
    one = profile(vsim, deck, 1)
    seconds = {p["phase"]: p["seconds"] for p in one["phases"]}
    spent = [seconds["evaluate"], seconds["stamp"], seconds["factor"] + seconds["refactor"], seconds["solve"]]
    print(f"\n{os.path.basename(deck)}\n\n| threads | {' | '.join(PHASES)} | rest | all | gain |")
    print("|" + "---|" * (len(PHASES) + 4))
    line(1, spent + [one["seconds"] - sum(spent), one["seconds"]], 1)
    for n in counts:
        r = profile(vsim, deck, n, "--as-if")
        t = r["threads"]
        # of a phase: its jobs by their clocks, and what it has beside them
        by_phase = {p["phase"]: p["seconds"] - p["taken"] + p["shared"] for p in t["phases"]}
        rest = r["seconds"] - sum(p["seconds"] for p in t["phases"])
        all_of = t["alone"] + t["shared"]
        line(n, [by_phase[p] for p in PHASES] + [rest, all_of], f"{one['seconds'] / all_of:.2f}")


def default_decks(folder):
    for family in ("chain", "ring", "logic", "sram"):
        path = os.path.join(folder, family + ".sp")
        with open(path, "w") as f:
            subprocess.run([sys.executable, os.path.join(HERE, "extracted.py"), family, "10000", "--tran", "2p 0.2n",
                            "--folder", NETLISTS], stdout=f, check=True)
        yield path
    path = os.path.join(folder, "mult64.sp")
    with open(path, "w") as f:
        subprocess.run([sys.executable, os.path.join(HERE, "mult.py"), "64", "--deck", "--tran", "2p 0.16n",
                        "--models", os.path.join(NETLISTS, "psp103_models.inc")], stdout=f, check=True)
    yield path


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("vsim")
    p.add_argument("deck", nargs="*")
    p.add_argument("--threads", default="2,4,8,16,32,64")
    o = p.parse_args()
    counts = [int(n) for n in o.threads.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for deck in o.deck or default_decks(folder):
            model(os.path.abspath(o.vsim), os.path.abspath(deck), counts)


if __name__ == "__main__":
    main()
