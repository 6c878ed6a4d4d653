#!/usr/bin/env python3
"""Results do not depend on threads or lanes, and on the order of the devices only by the rounding of sums.

    order.py VSIM

An adder of PSP103 gates with diodes: --threads 1 and 2 and VSIM_LANES 1, 2, 4, 8 write the same bytes. With its devices
in another order the sums of a row round otherwise, and with them step sizes: static results agree to 1e-9 V, a
transient to a few times its reltol of the 1.2 V swing, at the same times."""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


def adder(bits):
    """A ripple adder of nand gates: 9 gates, 36 transistors a bit; every node but the carries switches."""
    cards, n = [], 0

    def nand(a, b, out):
        nonlocal n
        n += 1
        cards.append('xg%d %s %s %s vdd nand' % (n, a, b, out))

    for k in range(bits):
        a, b, c, s, co = 'a%d' % k, 'b%d' % k, 'c%d' % k, 's%d' % k, 'c%d' % (k + 1)
        p = ['w%d_%d' % (k, i) for i in range(7)]
        for x, y, z in ((a, b, p[0]), (a, p[0], p[1]), (b, p[0], p[2]), (p[1], p[2], p[3]), (p[3], c, p[4]),
                        (p[3], p[4], p[5]), (c, p[4], p[6]), (p[5], p[6], s), (p[4], p[0], co)):
            nand(x, y, z)
        cards += ['v%s %s 0 pulse(0 1.2 %dp 50p 50p 400p 800p)' % (a, a, 20 + 7 * k),
                  'v%s %s 0 1.2' % (b, b), 'dl%d %s 0 dm' % (k, s), 'cl%d %s 0 1f' % (k, s)]
    return cards


TRAN, STATIC = '.tran 5p 1n', '.dc va0 0 1.2 0.1'


def deck(cards, analysis):
    return '\n'.join(['adder', '.include "%s/netlists/psp103_models.inc"' % ROOT,
                      '.model dm d is=1f rs=10 cjo=1f', 'vdd vdd 0 1.2', 'vc c0 0 0',
                      '.subckt nand a b out vdd', 'mp1 out a vdd vdd psp103p w=2u l=0.1u',
                      'mp2 out b vdd vdd psp103p w=2u l=0.1u', 'mn1 out a m 0 psp103n w=1u l=0.1u',
                      'mn2 m b 0 0 psp103n w=1u l=0.1u', '.ends', *cards, analysis, '.end', ''])


def run(vsim, folder, text, name, threads=1, lanes=None):
    path, raw = os.path.join(folder, name + '.sp'), os.path.join(folder, name + '.raw')
    with open(path, 'w') as f:
        f.write(text)
    env = dict(os.environ, XDG_CACHE_HOME=folder)
    env.pop('VSIM_LANES', None)
    if lanes:
        env['VSIM_LANES'] = str(lanes)
    done = subprocess.run([vsim, '-q', '--threads', str(threads), '-r', raw, path], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit('%s: exit code %d\n%s' % (name, done.returncode, done.stdout))
    return raw


def bytes_of(raw):
    """Without title and date."""
    with open(raw, 'rb') as f:
        return re.sub(rb'^(Title|Date|Command):.*\n', b'', f.read(), flags=re.M)


def compare_orders(vsim, tmp, cards, analysis, tolerance):
    a, failed = waves.read_raw(run(vsim, tmp, deck(cards, analysis), 'first')), 0
    for seed in range(3):
        other = list(cards)
        random.Random(seed).shuffle(other)
        b = waves.read_raw(run(vsim, tmp, deck(other, analysis), 'order'))
        axis = a.names[0]
        if axis != 'time' and len(a) != len(b):
            print('%s, order %d: %d points, not %d' % (analysis, seed, len(b), len(a)))
            failed += 1
            continue
        for n in a.names[1:]:
            y = waves.at_times(b[axis], b[n], a[axis]) if axis == 'time' else b[n]
            worst = max(abs(p - q) for p, q in zip(a[n], y))
            if not worst <= tolerance:
                print('%s, order %d: %s differs by %.3g' % (analysis, seed, n, worst))
                failed += 1
    return failed


def main():
    vsim, failed = os.path.abspath(sys.argv[1]), 0
    cards = adder(3)
    with tempfile.TemporaryDirectory() as tmp:
        want = bytes_of(run(vsim, tmp, deck(cards, TRAN), 'first'))
        for threads in (1, 2):
            for lanes in (None, 1, 2, 4, 8):
                if bytes_of(run(vsim, tmp, deck(cards, TRAN), 'again', threads, lanes)) != want:
                    print('%d threads, lanes %s: other results' % (threads, lanes))
                    failed += 1
        for analysis, tolerance in ((STATIC, 1e-9), (TRAN, 3e-3)):
            failed += compare_orders(vsim, tmp, cards, analysis, tolerance)
    print('%d differences' % failed)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
