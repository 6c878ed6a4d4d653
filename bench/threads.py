#!/usr/bin/env python3
"""What more threads would bring, modelled from the pieces that one thread does (vsim profile --as-if), or, by the
clock, what two bring.

    threads.py VSIM [DECK.sp]... [--threads 2,4,8,16,32,64]
    threads.py VSIM [DECK.sp]... --clock PAIRS

Without decks: the four families of bench/extracted.py with 10,000 transistors, and the multiplier of 64 x 64 bits.
The first line of a deck is the run of one thread; each further one says by phase how many seconds it would take,
what one thread does alone, and how many times as fast that is. Let the machine be quiet: pieces are timed.

With --clock each deck runs with one and two threads in turn, PAIRS times, and results must be the same bytes. Before
and after each run with two, tests/bench_cores beside VSIM says what the machine gives two threads: a virtual one may
put them on one core, or on two that share no cache, and that changes within seconds. "near": they had two processors
and a line of the cache came back within 120 ns, before and after; "far": it took more than 200 ns."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

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


def cores(vsim):
    text = subprocess.run([os.path.join(os.path.dirname(vsim), "tests", "bench_cores")], capture_output=True, check=True,
                          text=True).stdout
    words = text.split()
    return float(words[0]), float(words[4])


def kind_of(before, after):
    if min(before[0], after[0]) < 1.85:
        return "one core"
    if max(before[1], after[1]) < 120:
        return "near"
    return "far" if min(before[1], after[1]) > 200 else "changed"


def timed(vsim, deck, threads, to):
    begin = time.monotonic()
    subprocess.run([vsim, deck, "--threads", str(threads), "--csv", "-r", to], cwd=os.path.dirname(deck), check=True,
                   capture_output=True)
    with open(to, "rb") as f:
        return time.monotonic() - begin, f.read()


def clock(vsim, deck, pairs, folder):
    took = {}
    to = os.path.join(folder, "out.csv")
    timed(vsim, deck, 2, to)  # kernels are compiled
    for _ in range(pairs):
        one, expected = timed(vsim, deck, 1, to)
        before = cores(vsim)
        two, found = timed(vsim, deck, 2, to)
        if found != expected:
            sys.exit(f"{deck}: two threads give other results than one")
        kind = kind_of(before, cores(vsim))
        took.setdefault(kind, []).append((one, two))
    print(f"\n{os.path.basename(deck)}\n\n| | pairs | one, s, median (least) | two | ratio, median of pairs |")
    print("|---|---|---|---|---|")
    for kind, runs in sorted(took.items()):
        one, two = zip(*runs)
        ratio = statistics.median(a / b for a, b in runs)
        print(f"| {kind} | {len(runs)} | {statistics.median(one):.3f} ({min(one):.3f}) | {statistics.median(two):.3f} "
              f"({min(two):.3f}) | {ratio:.2f} |", flush=True)


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
    p.add_argument("--clock", type=int, metavar="PAIRS")
    o = p.parse_args()
    counts = [int(n) for n in o.threads.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for deck in o.deck or default_decks(folder):
            if o.clock:
                clock(os.path.abspath(o.vsim), os.path.abspath(deck), o.clock, folder)
            else:
                model(os.path.abspath(o.vsim), os.path.abspath(deck), counts)


if __name__ == "__main__":
    main()
