#!/usr/bin/env python3
"""The SKY130 designs of bench/rf against their own transients and closed forms.

    rf.py VSIM [NAME...]     exit code 77 if the kit is not in $VSIM_PEERS (./bootstrap test)

Oscillators: frequency of the orbit against 100 periods of a transient, 1e-4. The trapezoidal rule
with steps h makes that of a tank (w h)^2 / 12 too low, 5e-5 here, which is taken off; the ring's
edges take a hundred steps. Mixer: the gain of harmonic balance against the transient's spectrum,
0.01 dB (1.2e-3), and products of the third order of two tones of -20 dBm, 0.1 dB: those of the
seventh order that are cut are 0.05 dB of them. Amplifier: power at the output and from the supply
in one period of a transient, 1e-3, reltol. Filter: what four poles hold against a transient of 60
periods, which leave 1e-12 of the start, 0.2 mV: reltol of 0.6 V in two runs. Two poles whose source
alternates from period to period: a pole of 1 pF and 1 pF moves half of what is missing, so that 1/3
of it passes each, 1 %, as transistors have fF. Loop: where |T| = 1, T = ICP KVCO Z / (N s), and the
phase there, with Z of the filter's resistance and capacitances, each measured alone, 1e-3 and 0.1
degrees, as the resistor has fF beside pF."""
import cmath
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
POWER = """.options reltol=1e-4
.tran 1p 101n 100n 1p
.meas tran pout avg par('v(out)*v(out)/15') from=100n to=101n
.meas tran pdc avg par('-i(vdd)*v(vdd)') from=100n to=101n
"""
HELD = """.options reltol=1e-4
.pss {f0} 1u n{poles} 401 20 method=shooting integration=gear
.meas pss held find v(n{poles}) at={at}
.meas pss other find v(n{poles}) at=99n
"""
SETTLED = """.options reltol=1e-4
.tran 0.5n 6u
.meas tran held find v(n4) at=5.999u
"""
PART = """i1 0 {node} 0 ac 1
.ac lin 1 1meg 1meg
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


def amplifier(run):
    _, pss = run('sky130_classe', (), '')
    _, tran = run('sky130_classe', ('.pss', '.meas'), POWER)
    apart = max(abs(pss[x] / tran[x] - 1) for x in ('pout', 'pdc'))
    print('%-20s %.4f mW of %.4f mW, the transient apart by %.1e' % ('class E', pss['pout'] * 1e3, pss['pdc'] * 1e3, apart))
    return apart < 1e-3


def capacitors(run):
    def poles(n, cards, *edit):
        return run('sky130_scfilter', ('.pss',), cards, [('1 to 32', '1 to %d' % n), *edit])[1]
    held = poles(4, HELD.format(poles=4, f0='10meg', at='99n'))['held']
    settled = poles(4, SETTLED)['held']
    m = poles(2, HELD.format(poles=2, f0='5meg', at='199n'), ('dc 0.6 ac 1', 'pulse(0.5 0.7 95n 1n 1n 99n 200n)'))
    passed = abs(m['held'] - m['other']) / 0.2
    print('%-20s %.5f V, by the transient %.5f V; of alternations %.5f, closed form %.5f' % (
        'filter', held, settled, passed, 1 / 9))
    return abs(held - settled) < 2e-4 and abs(passed * 9 - 1) < 0.01


def loop(run):
    plots, _ = run('sky130_pll', (), '')
    margins = next(p for kind, p in plots if kind == 'Stability Margins')
    unity, phase = (margins[x][0].real for x in ('phase_margin_freq', 'phase_margin'))
    parts = {}
    for name, node in (('xr', 'c'), ('xcz', 'z'), ('xcp', 'c')):
        others = tuple(x for x in ('vref', 'gcp', 'xr', 'xcz', 'xcp', 'vp', 'gv', 'cv', 'ediv', '.lstb') if x != name)
        plots, _ = run('sky130_pll', others, PART.format(node=node), [('xr c z 0 ', 'xr c 0 0 ')] if name == 'xr' else ())
        parts[name] = next(p for _, p in plots if 'v(%s)' % node in p)['v(%s)' % node][0]
    r, (cz, cp) = parts['xr'].real, ((1 / (2j * math.pi * 1e6 * parts[x])).real for x in ('xcz', 'xcp'))

    def gain(f):
        s = 2j * math.pi * f
        return 20e-6 * 4e9 / 64 / s / (s * cp + 1 / (r + 1 / (s * cz)))
    low, high = 1e4, 1e8
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if abs(gain(middle)) > 1 else (low, middle)
    wanted = 180 + math.degrees(cmath.phase(gain(low)))
    print('%-20s %.6g MHz, %.3f degrees; closed form %.6g MHz, %.3f degrees (%.4g ohm, %.4g and %.4g pF)' % (
        'loop', unity / 1e6, phase, low / 1e6, wanted, r, cz * 1e12, cp * 1e12))
    return abs(unity / low - 1) < 1e-3 and abs(phase - wanted) < 0.1


CHECKS = {'vco': vco, 'ring': ring, 'gain': gain, 'intercept': intercept, 'amplifier': amplifier,
          'capacitors': capacitors, 'loop': loop}


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
