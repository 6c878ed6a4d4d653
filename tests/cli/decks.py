#!/usr/bin/env python3
"""Forty decks in vsim and ngspice: every number that ngspice prints agrees to 0.1 %.

    decks.py VSIM [NUMBER|NAME...]        exit code 77 if ngspice is not installed

The decks of tests/decks run unchanged in both programs. Compared are all measures, printed values,
Fourier tables and files (peer_control.py does the reading). DIFFERENT names the values for which
docs/ngspice-compatibility.md says why they differ, with what vsim must give instead."""
import concurrent.futures
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import peer_control  # noqa: E402

FOLDER = os.path.join(HERE, '..', 'decks')
DIFFERENT = {  # deck -> {name: (value, relative tolerance)}
    '08_ring_cmos': {'period': (8.6625e-9, 1e-3)},  # its trigger comes 22 ps earlier; freq is compared
}


def keep(trouble, known):
    """Without the complaints about names for which another value is known to be right."""
    return [t for t in trouble if not any(t.startswith(name + ' ') for name in known)]


def values(text):
    """Without ngspice's reports on its way to an operating point."""
    return '\n'.join(line for line in text.split('\n') if 'gmin =' not in line and 'Supplies' not in line)


def judge(vsim, ngspice, name):
    with open(os.path.join(FOLDER, name + '.sp'), encoding='utf-8') as f:
        title, deck = f.read().split('\n', 1)
    known = DIFFERENT.get(name, {})
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        code, ours = peer_control.run([vsim, '-q', '--no-output'], a, deck)
        _, theirs = peer_control.run([ngspice, '-b'], b, deck)
        trouble = ['exit code %d\n%s' % (code, ours)] if code else []
        trouble += keep(peer_control.compare_numbers(ours, values(theirs)), known) + peer_control.compare_files(a, b)
        have = peer_control.numbers(ours)
    for key, (value, tolerance) in known.items():
        got = have.get(key, [[float('nan')]])[0][0]
        if not abs(got - value) <= tolerance * abs(value):
            trouble.append('%s = %.9g, %.9g is right' % (key, got, value))
    return name, len(have), trouble


def main():
    vsim, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    ngspice = shutil.which('ngspice')
    if not ngspice:
        print('ngspice is not installed')
        return 77
    names = sorted(n[:-3] for n in os.listdir(FOLDER) if n.endswith('.sp'))
    if chosen:
        names = [n for n in names if any(n.startswith(c) for c in chosen)]
    failed = count = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, n, trouble in pool.map(lambda n: judge(vsim, ngspice, n), names):
            count += n
            failed += bool(trouble)
            for line in trouble:
                print('%s: %s' % (name, line))
    print('%d of %d decks agree, %d values' % (len(names) - failed, len(names), count))
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())
