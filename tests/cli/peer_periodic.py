#!/usr/bin/env python3
"""Periodic analyses and loop gain in vsim and VACASK, on equal equations.

    peer_periodic.py VSIM        exit code 77 if VACASK is not installed (tests/peers.txt)

VACASK takes about twice as many harmonics, for its samples are fewer: at equal numbers it is off by
what folds back (docs/analyses.md). Errors are relative to the largest line. Three tones are compared
with closed forms (periodic.py): VACASK needs minutes for the harmonics that it would take."""
import os
import subprocess
import sys
import tempfile

import periodic

TOLERANCE = 1e-6

DIODE = """load "spice/diode.osdi"
load "spice/resistor.osdi"
load "spice/capacitor.osdi"
model vsource vsource
model vcvs vcvs
model dd sp_diode(is=1e-14 cjo=2p rs=5 n=1.1)
model r sp_resistor
model c sp_capacitor
"""
MODEL = '.model dd d is=1e-14 cjo=2p rs=5 n=1.1\n'
OPTIONS = '  options reltol=1e-9 vntol=1e-12 abstol=1e-15\n'

# name: (deck of vsim, circuit of VACASK, its analysis, kind)
CASES = {
    'one tone': ("""v1 in 0 dc 0 ac 1 sin(0.5 0.15 1meg)
r1 in a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb 1meg nharms=16
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.15 freq=1meg mag=1
r1 (in a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hb freq=[1M] nharm=32', 'hb'),
    'two tones': ("""v1 in 0 dc 0 sin(0.5 0.01 1meg)
v2 in2 in sin(0 0.01 1.1meg)
r1 in2 a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb tones=1meg 1.1meg nharms=5 5
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.01 freq=1meg
v2 (in2 in) vsource type="sine" sinedc=0 ampl=0.01 freq=1.1meg
r1 (in2 a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M] nharm=[6, 6] truncate="box"', 'hb'),
    # of small amplitudes: what VACASK cuts folds back as their square, 2e-3 at 10 mV and 1.9e-6 at
    # 1 mV, where harmonics to the fifth order here move nothing by more than 8e-9
    'three tones': ("""v1 in 0 dc 0 sin(0.5 0.5m 1meg)
v2 in2 in sin(0 0.5m 1.1meg)
v3 in3 in2 sin(0 0.5m 1.13meg)
r1 in3 a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb tones=1meg 1.1meg 1.13meg nharms=2 2 2 intmodmax=2
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.5m freq=1meg
v2 (in2 in) vsource type="sine" sinedc=0 ampl=0.5m freq=1.1meg
v3 (in3 in2) vsource type="sine" sinedc=0 ampl=0.5m freq=1.13meg
r1 (in3 a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hb freq=[1M, 1.1M, 1.13M] nharm=2 truncate="diamond"', 'hb'),
    # the diode's own noise is left out: that of the library counts its displacement current
    'noise': ("""v1 in 0 dc 0 ac 1 sin(0.5 0.15 1meg)
r1 in a 1k
d1 a out dd
r2 out 0 100
c1 out 0 100p
.hb 1meg nharms=16
.hbnoise v(out) v1 dec 2 1k 10meg 1
""", """v1 (in 0) vsource type="sine" sinedc=0.5 ampl=0.15 freq=1meg mag=1
r1 (in a) r r=1k
d1 (a out) dd
r2 (out 0) r r=100
c1 (out 0) c c=100p
""", 'hbnoise freq=[1M] nharm=32 out="out" in="v1" from=1k to=10M mode="dec" points=2', 'hbnoise'),
    'loop': ("""e1 x 0 0 fb 200
r1 x a 1k
c1 a 0 1u
vp a b 0
r2 b c 10k
c2 c 0 1n
r3 c fb 100
c3 fb 0 100p
.lstb vsource=vp dec 2 1 1e8
""", """e1 (x 0 0 fb) vcvs gain=200
r1 (x a) r r=1k
c1 (a 0) c c=1u
vp (a b) vsource dc=0
r2 (b c) r r=10k
c2 (c 0) c c=1n
r3 (c fb) r r=100
c3 (fb 0) c c=100p
""", 'acstb probe="vp" from=1 to=1e8 mode="dec" points=2', 'lstb'),
}


def vacask():
    peers = os.environ.get('VSIM_PEERS', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build', 'peers'))
    path = os.path.join(peers, 'bin', 'vacask')
    return path if os.path.exists(path) else None


def run(args, folder):
    done = subprocess.run(args, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        sys.exit(f'{args}: exit code {done.returncode}\n{done.stdout}{done.stderr}')


def pairs(kind, ours, theirs):
    """[(ours, theirs)] of what both have; the lists are of one size, for one scale."""
    find = {name: columns for name, columns in ours}
    if kind == 'hb':
        v, f = find['Harmonic Balance']['v(out)'], find['Harmonic Balance']['frequency']
        at = {round(x.real): k for k, x in enumerate(theirs['frequency'])}
        return [[(v[k], theirs['out'][at[round(x.real)]]) for k, x in enumerate(f)]]
    if kind == 'hbnoise':
        p = find['Periodic Noise']
        gain = [(a / b)**2 for a, b in zip(p['onoise_spectrum'], p['inoise_spectrum'])]
        return [list(zip(gain, theirs['gain']))] + [
            [(a * a, b) for a, b in zip(p[f'onoise_{r}'], theirs[f'n({r})'])] for r in ('r1', 'r2')]
    return [list(zip(find['Loop Stability']['loopgain'], theirs['w']))]


def main():
    vsim, peer, worst = os.path.abspath(sys.argv[1]), vacask(), 0
    if not peer:
        print('VACASK is not installed (./bootstrap test installs it)')
        return 77
    for name, (deck, circuit, analysis, kind) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'a.sp'), 'w') as f:
                f.write(f'{name}\n{deck}{MODEL}.options reltol=1e-6 vntol=1e-9 abstol=1e-15\n.end\n')
            with open(os.path.join(folder, 'a.sim'), 'w') as f:
                f.write(f'{name}\n\nground 0\n{DIODE}{circuit}control\n{OPTIONS}  analysis x {analysis}\nendc\n')
            run([vsim, '-r', 'a.raw', 'a.sp'], folder)
            run([peer, 'a.sim'], folder)
            ours, theirs = periodic.plots(os.path.join(folder, 'a.raw')), periodic.plots(os.path.join(folder, 'x.raw'))
        error = max(max(abs(a - b) for a, b in group) / max(abs(b) for _, b in group)
                    for group in pairs(kind, ours, theirs[0][1]))
        print(f'{name:12} {error:.2g}{"" if error <= TOLERANCE else "  TOO MUCH"}')
        worst = max(worst, error)
    return 0 if worst <= TOLERANCE else 1


if __name__ == '__main__':
    sys.exit(main())
