#!/usr/bin/env python3
"""The designs on the IHP SG13G2 kit (bench/designs): each runs, and its measure is that of its circuit.

    designs.py VSIM [NAME...]     exit code 77 if the kit is not in $VSIM_PEERS (./bootstrap test)

Bounds follow from the decks' components: capacitors of 1.5 fF/um^2 and 40 aF/um, currents, resistances, clocks."""
import math
import os
import re
import subprocess
import sys
import tempfile

import kit

DECKS = os.path.join(kit.ROOT, 'bench', 'designs')


def mim(w, m=1):
    """Farad of a square cap_cmim, w in um."""
    return m * (1.5e-15 * w * w + 4e-17 * 4 * w)


def near(got, right, part):
    return abs(got - right) <= part * abs(right)


def strongarm(m):
    """The input changes its sign at 10 ns; edges of the clock are at 0.2 ns and each ns from there on."""
    return 0.2e-9 < m['rise'] < 0.7e-9 and 10.2e-9 < m['fall'] < 10.9e-9 and abs(m['last']) < 0.1


def mixer(m):
    """The loads over the degeneration and two emitters' resistances, times 2/pi: 10 to 18 dB."""
    return 10 < m['gain_db'] < 18


def chargepump(m):
    """20 uA for 1 ns at each of ten edges; mirrors with 0.7 V more across them give up to a third more."""
    charge = 10 * 20e-6 * 1e-9 / (mim(50, 2) + mim(20))
    return charge < m['pumped'] < 1.35 * charge


def r2r(m):
    lsb = 0.6 / 256
    return abs(m['v1'] - lsb) < lsb / 2 and abs(m['v74'] - 74 * lsb) < lsb


def scint(m):
    """A sine of 0.1 V at 500 kHz, 20 MHz clock."""
    gain = mim(18) / mim(50) / (2 * math.sin(math.pi * 0.5 / 20))
    return near(m['swing'], 0.2 * gain, 0.05)


def classab(m):
    return near(m['swing'], 1.2, 0.01)


def sram(m):
    """Row 1 has 1 in its first column and 0 in the second, row 2 the opposite."""
    return all(abs(m['r%d' % k] - v) < 0.1 for k, v in ((1, 1.2), (2, 0), (3, 0), (4, 1.2)))


def adder(m):
    """All stages of the chain are alike."""
    return near(m['carry'], 2 * m['half'], 0.05) and 0 < m['back'] < m['carry']


def pll(m):
    """Eight periods of the oscillator are 10 % off at the start; locked, one of the divider is that of the reference,
    10 ns, and its edges are beside the reference's, where slipping they would be anywhere."""
    return abs(m['early'] - 10e-9) > 0.5e-9 and near(m['period'], 10e-9, 0.01) and abs(m['skew']) < 0.2e-9


CHECKS = {f.__name__: f for f in (strongarm, mixer, chargepump, r2r, scint, classab, pll, sram, adder)}
FEWER = {'sram': ['-D', 'rows=8']}


def main():
    models = kit.package('ihp', 'models')
    if not models:
        print('the IHP kit is not in', kit.PEERS)
        return 77
    bad = 0
    with tempfile.TemporaryDirectory(prefix='vsim-designs') as folder:
        for name in sys.argv[2:] or CHECKS:
            p = subprocess.run([os.path.abspath(sys.argv[1]), '--no-init', '--no-output', '--cache-dir', folder,
                                *FEWER.get(name, []), os.path.join(DECKS, name + '.sp')],
                               env=dict(os.environ, PDK=models), capture_output=True, text=True)
            found = {k: float(v) for k, v in re.findall(r'(?m)^(\w+) += +(-?[\d.]+e[-+]\d+)', p.stdout)}
            try:
                good = p.returncode == 0 and CHECKS[name](found)
            except KeyError as e:
                good = False
                print(name, 'has no measure', e)
            print('%-10s %s %s' % (name, 'ok' if good else 'WRONG', found))
            if p.returncode:
                print(p.stderr[-1000:])
            bad += not good
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
