#!/usr/bin/env python3
"""The SKY130 designs of bench/rf against their own transients.

    rf.py VSIM [NAME...]     exit code 77 if the kit is not in $VSIM_PEERS (./bootstrap test)

Oscillators: frequency of the orbit against 100 periods of a transient, 1e-4. The trapezoidal rule
with steps h makes that of a tank (w h)^2 / 12 too low, 5e-5 here, which is taken off; the ring's
edges take a hundred steps. Mixer: the gain of harmonic balance against the transient's spectrum,
0.01 dB (1.2e-3), and products of the third order of two tones of -20 dBm, 0.1 dB: those of the
seventh order that are cut are 0.05 dB of them."""
import math
import os
import re
import subprocess
import sys
import tempfile

import kit

PDK = kit.package('sky130', 'src')
PERIODS = """.options reltol=1e-5
.tran 1p {stop} 0 {step}
.meas tran t TRIG {signal} VAL={level} RISE={first} TARG {signal} VAL={level} RISE={last}
"""
SPECTRUM = """ed d 0 op on 1
rd d 0 1k
.options reltol=1e-6 vntol=1e-9
.tran 1p {stop} 0 2p
.fft v(d) start={start} stop={stop} np=65536
.meas fft wanted find vdb(d) at=100meg
.meas fft im3 find vdb(d) at=90meg
"""
LINES = """ed d 0 op on 1
rd d 0 1k
.meas hb wanted find vdb(d) at=100meg
.meas hb im3 find vdb(d) at=90meg
"""


class Run:
    def __init__(self, vsim, folder):
        self.vsim, self.folder = os.path.abspath(vsim), folder

    def __call__(self, name, drop, cards, edit=()):
        """Plots and measures of a deck without some cards, with others, with parts of its text exchanged."""
        with open(os.path.join(kit.ROOT, 'bench', 'rf', name + '.sp')) as f:
            text = ''.join(x for x in f if x.strip() != '.end' and not x.startswith(drop))
        for a, b in edit:
            if a not in text:
                raise SystemExit('%s has no %s' % (name, a))
            text = text.replace(a, b)
        path = os.path.join(self.folder, 'a')
        with open(path + '.sp', 'w') as f:
            f.write(text + cards + '.end\n')
        done = subprocess.run([self.vsim, '--threads', '1', '-r', path + '.raw', path + '.sp'], env=dict(os.environ, PDK=PDK),
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise SystemExit('%s:\n%s' % (name, done.stdout[-3000:]))
        measure = {m[0]: float(m[1]) for m in re.findall(r'(?m)^(\w+) +=  *(-?[\d.]+e[-+]\d+)', done.stdout)}
        return kit.read_plots(path + '.raw'), measure


def oscillator(run, name, tank, **words):
    plots, _ = run(name, ('.phasenoise',), '')
    f0 = abs(next(p for kind, p in plots if kind == 'Harmonic Balance')['frequency'][1])
    _, m = run(name, ('.hbosc', '.phasenoise'), PERIODS.format(**words))
    slow = (2 * math.pi * f0 * 1e-12 * float(words['step'][:-1])) ** 2 / 12 if tank else 0
    apart = abs(100 / m['t'] / (1 - slow) / f0 - 1)
    print('%-20s %.6g GHz, the transient apart by %.1e' % (name, f0 / 1e9, apart))
    return apart < 1e-4


def vco(run):
    return oscillator(run, 'sky130_vco', True, signal='v(op,on)', level=0, first=200, last=300, stop='40n', step='0.4p')


def ring(run):
    return oscillator(run, 'sky130_ring', False, signal='v(a)', level=0.9, first=20, last=120, stop='35n', step='0.5p')


def gain(run):
    one = [('v1b r2 r1 sin(0 {a} 2.401g)', 'v1b r2 r1 0')]
    _, hb = run('sky130_gilbert_ip3', ('.hb', '.meas'), '.hb tones=2.3g 2.4g nharms=12 3 intmodmax=13\n' +
                LINES.replace('at=90meg', 'at=2.3g'), one)
    _, tran = run('sky130_gilbert_ip3', ('.hb', '.meas'), SPECTRUM.format(start='40n', stop='60n').replace('at=90meg', 'at=2.3g'),
                  one)
    print('%-20s %.4f dB, by the transient %.4f dB' % ('conversion', hb['wanted'], tran['wanted']))
    return abs(hb['wanted'] - tran['wanted']) < 0.01


def intercept(run):
    two = [('8*50*1u', '8*50*10u'), ('2.401g', '2.41g')]
    _, hb = run('sky130_gilbert_ip3', ('.meas',), LINES, two)
    _, tran = run('sky130_gilbert_ip3', ('.hb', '.meas'), SPECTRUM.format(start='50n', stop='150n'), two)
    print('%-20s %.3f and %.3f dB, by the transient %.3f and %.3f dB' % (
        'two tones', hb['wanted'], hb['im3'], tran['wanted'], tran['im3']))
    return abs(hb['wanted'] - tran['wanted']) < 0.01 and abs(hb['im3'] - tran['im3']) < 0.1


CHECKS = {'vco': vco, 'ring': ring, 'gain': gain, 'intercept': intercept}


def main():
    if not PDK:
        print('the SKY130 kit is not installed (./bootstrap test installs it)')
        return 77
    bad = 0
    for name in sys.argv[2:] or CHECKS:
        with tempfile.TemporaryDirectory(prefix='vsim-rf') as folder:
            bad += not CHECKS[name](Run(sys.argv[1], folder))
    print('%d wrong' % bad)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
