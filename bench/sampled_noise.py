#!/usr/bin/env python3
"""Noise of the switched-capacitor filter of bench/rf (SG13G2, PSP 103) twice: `.hbnoise` in time of the
samples that it holds, and the closed form of the ideal filter.

    sampled_noise.py VSIM [POLES]     32 (128 transistors) if not said

Closed form (tests/cli/orbit_noise.py): what the resistance of each switch leaves on its capacitors
when it opens, kT/C, through the difference equations of the poles. The noise of these transistors
at 0 V between drain and source is not 4kT times their conductance: the ratio is that of `.noise` of
one gate to 4kT times its resistance of `.tf`, at the voltage that each pole holds. What edges inject
depends on the voltage too, so that a pole does not have a gain of 1: the root of the whole gain is
taken for it, from the states at two voltages of the source. Capacitances of the transistors are left
out."""
import math
import os
import re
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path[:0] = [os.path.join(ROOT, 'tests', 'pdk'), os.path.join(ROOT, 'tests', 'cli')]
import kit  # noqa: E402
from orbit_noise import T27, K, poles_noise  # noqa: E402

F0, C = 10e6, 1e-12
STROBE = 99e-9  # both switches are open
STATE = '.options reltol=1e-4\n.pss 10meg 1u n%d 201 20 method=shooting\n'


def deck():
    with open(os.path.join(ROOT, 'bench', 'rf', 'scfilter.sp')) as f:
        return f.read()


def filter_of(poles, cards):
    text = re.sub(r'\.for k = 1 to 32', '.for k = 1 to %d' % poles, deck())
    return re.sub(r'\.pss.*\n\.end\n', lambda m: cards.replace('OUT', 'v(n%d)' % poles) + '.end\n', text)


def gate(vsim, folder, volt):
    """Ohms of a gate that is on, and its noise in parts of 4kTR."""
    head, rest = deck().split('.subckt pole')[0], 'vp p 0 %.17g\nx1 p q vdd 0 gate\niq q 0 0\n' % volt
    text = re.sub(r'(?m)^v[c-f] .*\n', '', head).replace('.global vdd c d e f', '.global vdd')
    plots = kit.plots_of(vsim, folder, text + rest + '.tf v(q) iq\n.noise v(q) vp lin 1 1meg 1meg\n.end\n')
    ohms = next(v[0] for _, p in plots for k, v in p.items() if k.lower().startswith('output_imp'))
    noise = next(p['onoise_spectrum'][0] for _, p in plots if 'onoise_spectrum' in p)
    return ohms, abs(noise)**2 / (4 * K * T27 * ohms)


def noise_of(vsim, folder, poles):
    grid = 'dec %d 20k 4.9meg' % (24 if poles < 10 else 4)
    cards = STATE % poles + '.hbnoise OUT vin %s strobe=%g\n' % (grid, STROBE)
    plots = kit.plots_of(vsim, folder, filter_of(poles, cards))
    p = next(p for name, p in plots if name.startswith('Periodic Noise'))
    held = next(p for name, p in plots if name.startswith('Periodic Steady'))
    volt = [held['v(n%d)' % k][round(STROBE * F0 * 200)] for k in range(1, poles + 1)]
    return p['frequency'], [x * x for x in p['onoise_spectrum']], volt


def gain_of(vsim, folder, poles, held):
    """Of one pole, at 0 Hz; held: by the last one, at 0.6 V."""
    more = 5e-3
    text = filter_of(poles, STATE % poles)
    plots = kit.plots_of(vsim, folder, text.replace('dc 0.6', 'dc %.17g' % (0.6 + more)))
    v = plots[0][1]['v(n%d)' % poles][round(STROBE * F0 * 200)]
    return ((v - held) / more)**(1 / poles)


def show_closed(f, s, poles, by, gain):
    print('| frequency | `.hbnoise`, V/sqrt(Hz) | closed form | ratio of powers |\n|---|---|---|---|')
    for g, got in list(zip(f, s))[:: max(1, len(f) // 9)]:
        want = poles_noise(poles, C, C, F0, g, by, gain)
        print('| %.4g MHz | %.5g | %.5g | %.4f |' % (g / 1e6, math.sqrt(got), math.sqrt(want), got / want))


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    found = kit.package('ihp', 'models')
    if not found:
        print('the IHP kit is not there')
        return 77
    os.environ['PDK'] = os.path.abspath(found)
    vsim = os.path.abspath(sys.argv[1])
    poles = int((sys.argv[2:] or ['32'])[0])
    with tempfile.TemporaryDirectory(prefix='vsim-sampled') as folder:
        f, s, volt = noise_of(vsim, folder, poles)
        (ohms, first), (_, last) = (gate(vsim, folder, v) for v in (volt[0], volt[-1]))
        print('%d poles that hold %.4f to %.4f V; a gate has %.4g ohm and %.4f to %.4f times 4kTR' %
              (poles, volt[0], volt[-1], ohms, first, last))
        gain = gain_of(vsim, folder, poles, volt[-1])
        print('gain of a pole: 1 %+.5f' % (gain - 1))
        show_closed(f, s, poles, [first + (last - first) * (v - volt[0]) / (volt[-1] - volt[0])
                                  for v in volt], gain)
    return 0


if __name__ == '__main__':
    sys.exit(main())
