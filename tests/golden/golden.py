#!/usr/bin/env python3
"""Golden waveforms: runs a deck with vsim and holds it against the reference in tests/data.

    golden.py VSIM CASE        cases: see the functions named case_*

The bounds are the errors that VACASK's own default run has against the same references, and for the
tightened runs what the order of the method promises."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import waves

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


class Run:
    def __init__(self, plot, stats):
        self.plot, self.stats = plot, stats


def run(vsim, deck, tran=None, options='', args=()):
    """Runs netlists/<deck>, with another .tran line or more options if asked."""
    with tempfile.TemporaryDirectory() as tmp:
        folder = os.path.join(ROOT, 'netlists')
        with open(os.path.join(folder, deck)) as f:
            text = f.read()
        if tran:
            text = re.sub(r'(?im)^\.tran .*$', '.tran ' + tran, text)
        if options:
            text = re.sub(r'(?im)^\.end\s*$', '.options %s\n.end' % options, text)
        path = os.path.join(tmp, deck)
        with open(path, 'w') as f:
            f.write(text)
        raw, stats = os.path.join(tmp, 'out.raw'), os.path.join(tmp, 'stats.json')
        done = subprocess.run([vsim, '-q', '-I', folder, '-r', raw, '--stats', stats, *args, path],
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit('vsim %s failed with exit code %d' % (deck, done.returncode))
        with open(stats) as f:
            return Run(waves.read_raw(raw), json.load(f))


failures = []


def check(what, value, bound):
    ok = value <= bound
    print('%-58s %12.5g  bound %10.4g  %s' % (what, value, bound, 'ok' if ok else 'FAILED'))
    if not ok:
        failures.append(what)


def check_points(r, least, most):
    n = r.stats['points_accepted']
    print('%-58s %12d  (%d iterations)' % ('points accepted', n, r.stats['newton_iterations']))
    if not least <= n <= most:
        failures.append('points accepted')


def check_iterations(r, most):
    check('Newton iterations per accepted point', r.stats['newton_iterations'] / r.stats['points_accepted'], most)


def case_rc(vsim):
    r = run(vsim, 'rc.sp')
    t, v = r.plot['time'], r.plot['v(2)']
    check('rc: against the closed form, V', max(abs(a - b) for a, b in zip(v, waves.rc_exact(t))), 6.0e-5)
    check_points(r, 1000000, 1012000)


def case_rc_tight(vsim):
    worst = []
    for step in ('0.4u', '0.2u', '0.1u'):
        r = run(vsim, 'rc.sp', tran='%s 20m 0 %s' % (step, step), options='reltol=1e-9 vntol=1e-12 abstol=1e-18')
        t, v = r.plot['time'], r.plot['v(2)']
        worst.append(max(abs(a - b) for a, b in zip(v, waves.rc_exact(t))))
    check('rc, step 0.1u: against the closed form, V', worst[2], 1e-6)


def against_golden(vsim, deck, table, bounds, tran, options=''):
    r = run(vsim, deck, tran=tran, options=options)
    header, rows = waves.read_table(table)
    ref_t = [float(row[0]) for row in rows]
    t = r.plot['time']
    for node, bound in bounds.items():
        ref = [float(row[header.index(node)]) for row in rows]
        check('%s: v(%s) against golden, V' % (deck, node), waves.error(t, r.plot['v(%s)' % node], ref_t, ref)[0],
              bound)
    return r


def case_graetz(vsim):
    against_golden(vsim, 'graetz.sp', 'graetz_golden.csv', {'outp': 6.1e-5, 'outn': 6.1e-5, 'inp': 6.1e-5},
                   '1u 40m 0 1u')


def case_mul(vsim):
    against_golden(vsim, 'mul.sp', 'mul_golden.csv', {'20': 0.098, '10': 0.098, '2': 0.098, '1': 0.098},
                   '0.01u 0.5m 0 0.01u')


def case_mul_tight(vsim):
    against_golden(vsim, 'mul.sp', 'mul_golden.csv', {'20': 6e-3, '10': 6e-3},
                   '1n 0.5m 0 1n', 'reltol=1e-7 vntol=1e-9 abstol=1e-14')


EXACT_PERIOD = 3.43922546e-9


def case_ring(vsim):
    r = run(vsim, 'ring.sp')
    period, cycles = waves.mean_period(r.plot['time'], r.plot['v(1)'], 0.6, 20e-9)
    check('ring: relative error of the period (%d cycles)' % cycles, abs(period / EXACT_PERIOD - 1), 0.00387)
    check_iterations(r, 2.5)


def case_ring_tight(vsim):
    r = run(vsim, 'ring.sp', tran='0.5p 75n 0 0.5p', options='reltol=1e-7 vntol=1e-10 abstol=1e-15')
    period, cycles = waves.mean_period(r.plot['time'], r.plot['v(1)'], 0.6, 20e-9)
    check('ring, step 0.5p: relative error of the period (%d cycles)' % cycles,
          abs(period / EXACT_PERIOD - 1), 1e-6)


def case_c6288(vsim):
    r = run(vsim, 'c6288.sp')
    worst, mean, wrong, word = waves.c6288_errors(r.plot)
    check('c6288: crossing times p0..p31, worst, s', worst, 1.93e-12)
    check('c6288: crossing times p0..p31, mean, s', mean, 0.139e-12)
    check('c6288: bits with another sequence of edges', wrong, 0)
    check('c6288: final word differs from 0xfffe0001', word ^ 0xfffe0001, 0)
    check('c6288: peak memory, MB', r.stats['peak_memory_bytes'] / 1e6, 250)
    check_points(r, 900, 1150)
    check_iterations(r, 2.5)


def case_c6288_tight(vsim):
    r = run(vsim, 'c6288.sp', options='reltol=1e-4 vntol=1e-7 abstol=1e-13 trtol=1')
    worst, mean, wrong, _ = waves.c6288_errors(r.plot)
    check('c6288, reltol 1e-4, trtol 1: crossing times, mean, s', mean, 0.03e-12)
    check('c6288, reltol 1e-4, trtol 1: bits with another sequence of edges', wrong, 0)


ORDER_RC = """sine into RC
vs 1 0 sin(0 1 10k)
r1 1 2 1k
c1 2 0 10n
.options method=%s maxord=2 %s
.tran %s 300u 0 %s
.end
"""
ORDER_LC = """sine into LC without losses
vs 1 0 sin(0 1 10k)
l1 1 2 25.330295910584443u
c1 2 0 1u
.options method=%s maxord=2 %s
.tran %s 300u 0 %s
.end
"""


def rc_sine(t):
    """v(2) of ORDER_RC: w tau = 2 pi 0.1; the start of the sine excites one decaying exponential."""
    wt = 2 * math.pi * 0.1
    return (math.sin(2e4 * math.pi * t) - wt * math.cos(2e4 * math.pi * t) + wt * math.exp(-t / 1e-5)) / (1 + wt * wt)


def lc_sine(t):
    """v(2) of ORDER_LC: the forced sine and the free one of the tank, which never decays."""
    w, w0 = 2e4 * math.pi, 1 / math.sqrt(25.330295910584443e-6 * 1e-6)
    return (math.sin(w * t) - w / w0 * math.sin(w0 * t)) / (1 - (w / w0) ** 2)


def run_text(vsim, text):
    with tempfile.TemporaryDirectory() as tmp:
        path, raw = os.path.join(tmp, 'deck.sp'), os.path.join(tmp, 'out.raw')
        with open(path, 'w') as f:
            f.write(text)
        if subprocess.run([vsim, '-q', '-r', raw, path], stdin=subprocess.DEVNULL).returncode:
            sys.exit('vsim failed on\n' + text)
        return waves.read_raw(raw)


def error_of(vsim, deck, node, exact, method, options, step, after):
    p = run_text(vsim, deck % (method, options, step, step))
    return max(abs(v - exact(t)) for t, v in zip(p['time'], p['v(%s)' % node]) if t >= after)


def case_order(vsim):
    """Second order of both methods with fixed steps; with steps that the truncation error chooses the error
    follows the tolerance to the power 2/3: 4.6 for each factor of 10."""
    fixed = 'reltol=1e-9 vntol=1e-12 abstol=1e-15 trtol=1e12' # every step is tmax
    for name, deck, node, exact, steps in (('rc', ORDER_RC, '2', rc_sine, (0.8, 0.4, 0.2, 0.1)),
                                           ('lc', ORDER_LC, '2', lc_sine, (0.4, 0.2, 0.1, 0.05))):
        for method in ('trap', 'gear'):
            errors = [error_of(vsim, deck, node, exact, method, fixed, '%gu' % h, 0) for h in steps]
            print('%s, %s, steps %s us: errors %s V' % (name, method, steps, ' '.join('%.3e' % e for e in errors)))
            for a, b in zip(errors, errors[1:]):
                order = math.log2(a / b)
                check('%s, %s: order of the method, distance from 2' % (name, method), abs(order - 2), 0.2)
    for method in ('trap', 'gear'):
        errors = [error_of(vsim, ORDER_RC, '2', rc_sine, method, 'reltol=%g vntol=%g abstol=%g' % (r, r, r * 1e-6),
                           '10u', 5e-5) for r in (1e-3, 1e-4, 1e-5, 1e-6)]
        print('rc, %s, reltol 1e-3 .. 1e-6: errors %s V' % (method, ' '.join('%.3e' % e for e in errors)))
        check('rc, %s: decades of error per decade of reltol, distance from 2/3' % method,
              abs(math.log10(errors[0] / errors[3]) / 3 - 2 / 3), 0.1)


def main():
    if len(sys.argv) != 3 or 'case_' + sys.argv[2] not in globals():
        sys.exit(__doc__ + '\nCases: ' + ' '.join(n[5:] for n in globals() if n.startswith('case_')))
    globals()['case_' + sys.argv[2]](sys.argv[1])
    sys.exit(1 if failures else 0)


main()
