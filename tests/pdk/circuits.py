"""Circuits of a kit (decks/README.md), run by vsim and by ngspice; all measures compared."""

import os
import re

import kit

DECKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'decks')
NAMES = (
    'chain ring adder divider sram opamp follower bandgap comparator pump ldo vco shifter'
).split()
VNTOL = 1e-6
TIGHT = '.options reltol=1e-4 abstol=1e-12 vntol=%g' % VNTOL
# Relative differences allowed, by the first letters of a measure's name; others 1e-3. A supply's mean
# current is one of short pulses: at these tolerances ngspice's is 1.2e-3 off in the pump of GF180MCU,
# vsim's 0.5e-3.
BOUND = {'f_': 5e-3, 'i_': 3e-3}
VALUE = re.compile(r'(?m)^\s*([a-z]\w*)\s*=\s*([-+]?\d\S*)')


def row(count):
    """Inverters from `in` to n1, n2 ... or, without an input, in a ring."""
    return ['x%d n%d n%d vp inv' % (k, k - 1, k) for k in range(1, count + 1)]


def text(name, prelude):
    with open(os.path.join(DECKS, name + '.sp')) as f:
        title, body = f.read().split('\n', 1)
    chain = re.search(r'@(chain|ring) (\d+)@', body)
    if chain:
        first = 'in' if chain.group(1) == 'chain' else 'n' + chain.group(2)
        lines = '\n'.join(row(int(chain.group(2)))).replace(' n0 ', ' %s ' % first)
        body = body.replace(chain.group(0), lines)
    return '\n'.join((title, prelude, TIGHT, body))


def measures(said, deck):
    """What a program says of the deck's own .meas lines."""
    wanted = re.findall(r'(?m)^\.meas \w+ (\w+)', deck)
    found = {k.lower(): float(v) for k, v in VALUE.findall(said) if k.lower() in wanted}
    missing = [w for w in wanted if w not in found]
    kit.expect('no measure %s' % missing, not missing)
    return found


def check(name, prelude):
    def run(bench):
        deck = text(name, prelude)
        mine = measures(bench.run_vsim(name, deck).stdout, deck)
        p = bench.call(name, ['ngspice', '-b', bench.write(name + '.ng', deck)], None)
        theirs = measures(p.stdout, deck)
        worst, bad = (0.0, ''), []
        for k, value in theirs.items():
            error = abs(mine[k] - value) / abs(value)
            if k[:2] == 'v_' and abs(mine[k] - value) <= VNTOL:  # a low level is 13 nV
                continue
            if not error <= BOUND.get(k[:2], 1e-3):
                bad.append('%s: %.6g, ngspice %.6g' % (k, mine[k], value))
            worst = max(worst, (error, k))
        kit.expect('; '.join(bad), not bad)
        return worst[0], '%d measures, %s' % (len(theirs), worst[1])

    return run


def check_noise(prelude):
    """Operating point and noise of the two-stage amplifier, which its deck's measures leave out."""

    def run(bench):
        deck = re.sub(r'(?m)^\.(print|ac|meas) .*\n', '', text('opamp', prelude))
        deck = deck.replace('.end\n', '.op\n.noise v(out) vi dec 5 10 100meg\n.end\n')
        worst, count = (0.0, ''), 0
        for (_, a), (_, b) in zip(*(sorted(p, key=kit.kind_of) for p in bench.both('noise', deck))):
            for name in (n for n in b if n in a and n.startswith(('v(', 'onoise_s', 'inoise_s'))):
                floor = VNTOL if name.startswith('v') else 0
                error = max(abs(x - y) / max(abs(y), floor) for x, y in zip(a[name], b[name]))
                worst, count = max(worst, (error, name)), count + 1
        kit.expect('%d vectors' % count, count > 8)
        kit.expect('%s is off by %.2g' % worst[::-1], worst[0] <= 1e-3)
        return worst[0], '%d vectors, %s' % (count, worst[1])

    return run


def checks(prelude, daily=NAMES, but=()):
    """`but`: those that a kit does not run."""
    found = {'circuit_' + n: (check(n, prelude), n in daily) for n in NAMES if n not in but}
    return dict(found, circuit_opamp_noise=(check_noise(prelude), True))
