"""The decks of netlists/ in the languages of the peers, and how to run each simulator once.

VACASK has a netlist language of its own. to_vacask() translates the subset of SPICE that our five benchmark
decks use (R C D V I X N elements, .model .subckt .param .include .tran), so that there is one source."""
import json
import os
import re
import subprocess
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
NETLISTS = os.path.join(ROOT, 'netlists')


def cards(path):
    """Logical lines of a deck, includes expanded, comments removed, the title first."""
    out = []
    with open(path) as f:
        lines = f.read().split('\n')
    for number, line in enumerate(lines):
        line = line.split(';')[0].rstrip()
        if number == 0 and path.endswith('.sp'):
            out.append(line)
        elif line.startswith('+'):
            out[-1] += ' ' + line[1:]
        elif line.lower().startswith('.include'):
            out += cards(os.path.join(os.path.dirname(path), line.split()[1].strip('"')))
        elif line and not line.startswith('*'):
            out.append(line)
    return out


def expression(text):
    """A value in VACASK's way: no braces; the suffixes meg and g are M and G there."""
    text = re.sub(r'(?i)(?<=[0-9.])meg\b', 'M', text.strip().strip("{}'"))
    return re.sub(r'(?<=[0-9.])g\b', 'G', text)


def parameters(words):
    return ' '.join('%s=%s' % (k, expression(v)) for k, v in
                    re.findall(r"([A-Za-z_]\w*)\s*=\s*(\{[^}]*\}|'[^']*'|\S+)", ' '.join(words)))


WAVES = {'pulse': ('pulse', ['val0', 'val1', 'delay', 'rise', 'fall', 'width', 'period']),
         'sin': ('sine', ['sinedc', 'ampl', 'freq', 'delay', 'theta', 'sinephase'])}


def source(words):
    text = ' '.join(words)
    wave = re.search(r'(pulse|sin)\s*\(([^)]*)\)', text, re.I)
    if not wave:
        return 'dc=' + words[-1]
    kind, names = WAVES[wave.group(1).lower()]
    return 'type="%s" ' % kind + ' '.join('%s=%s' % p for p in zip(names, wave.group(2).split()))


def to_vacask(deck, options, settings=''):
    """The deck as VACASK text. options: more words for its `options` line; settings of .tran kept."""
    body, tran, method = [], None, 'trap'
    models = {'r': 'sp_resistor', 'c': 'sp_capacitor', 'vsource': 'vsource', 'isource': 'isource'}
    kinds = {'d': 'sp_diode', 'psp103va': 'psp103va'}
    found = set()
    for card in cards(os.path.join(NETLISTS, deck))[1:]:
        words = card.replace('=', ' = ').replace(' = ', '=').split()
        head = words[0].lower()
        if head == '.model':
            kind = words[2].lower().split('(')[0]
            found.add(kind)
            body.append('model %s %s (%s)' % (words[1], kinds[kind], parameters(words[3:])))
        elif head == '.subckt':
            nodes = [w for w in words[2:] if '=' not in w]
            body.append('subckt %s(%s)' % (words[1], ' '.join(nodes)))
            given = parameters([w for w in words[2:] if '=' in w])
            if given:
                body.append('parameters ' + given)
        elif head == '.ends':
            body.append('ends')
        elif head == '.param':
            body.append('parameters ' + parameters(words[1:]))
        elif head == '.tran':
            tran = words[1:]
        elif head in ('.option', '.options'):
            if 'gear' in card.lower():
                method = 'gear2'
        elif head == '.global':
            body.append('global ' + ' '.join(words[1:]))
        elif head[0] == '.':
            continue
        elif head[0] in 'rc':
            found.add(head[0])
            body.append('%s (%s) %s %s=%s' % (words[0], ' '.join(words[1:3]), head[0], head[0],
                                              expression(words[3])))
        elif head[0] in 'vi':
            kind = 'vsource' if head[0] == 'v' else 'isource'
            found.add(kind)
            body.append('%s (%s) %s %s' % (words[0], ' '.join(words[1:3]), kind, source(words[3:])))
        else:  # X, N, D: nodes, then the master, then parameters
            n = next((i for i, w in enumerate(words) if '=' in w), len(words))
            body.append('%s (%s) %s %s' % (words[0], ' '.join(words[1:n - 1]), words[n - 1],
                                           parameters(words[n:])))
    load = {'r': 'spice/resistor.osdi', 'c': 'spice/capacitor.osdi', 'd': 'spice/sn/diode.osdi',
            'psp103va': 'psp103v4.osdi'}
    text = ['benchmark ' + deck] + ['load "%s"' % load[k] for k in sorted(found) if k in load]
    text += ['ground 0'] + ['model %s %s' % (k, models[k]) for k in sorted(found) if k in models] + body
    uic = ' icmode="uic"' if tran[-1].lower() == 'uic' else ''
    numbers = [w for w in tran if w.lower() != 'uic']
    limit = ' maxstep=%s' % numbers[3] if len(numbers) > 3 else ''
    text += ['control', 'options tran_method="%s" %s' % (method, options),
             'analysis tran1 tran step=%s stop=%s%s%s' % (numbers[0], numbers[1], limit, uic),
             'print stats', 'endc', '']
    return '\n'.join(text)


def watch_memory(pid, peak):
    """Keeps the kernel's high-water mark of a process while it runs. (ru_maxrss would count what this
    script had when it started the process.)"""
    try:
        while True:
            with open('/proc/%d/status' % pid) as f:
                m = re.search(r'VmHWM:\s*(\d+)', f.read())
            if not m:
                return
            peak[0] = int(m.group(1))
            time.sleep(0.02)
    except OSError:
        pass


def timed(command, folder):
    """One run: wall seconds, peak resident kilobytes, standard output."""
    before = time.perf_counter()
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=dict(os.environ, OMP_THREAD_LIMIT='1'))
    peak = [0]
    watcher = threading.Thread(target=watch_memory, args=(child.pid, peak))
    watcher.start()
    out = child.stdout.read().decode('utf-8', 'replace')
    child.wait()
    wall = time.perf_counter() - before
    watcher.join()
    if child.returncode:
        raise RuntimeError('%s failed (%d):\n%s' % (' '.join(command), child.returncode, out[-2000:]))
    return wall, peak[0], out


def statistic(out, *names):
    for name in names:
        m = re.search(name + r'[^0-9\n]*([0-9.eE+-]+)', out, re.I)
        if m:
            return float(m.group(1))
    return None


# Each simulator: prepare(deck, folder) says whether it can run the deck; run(deck, folder, output) is one run,
# whose waveforms are in folder/raw if `output`.

class Vsim:
    name = 'vsim'
    raw = 'vsim.raw'

    def __init__(self, program):
        self.program = os.path.abspath(program)

    def prepare(self, deck, folder):
        return True

    def run(self, deck, folder, output=False):
        stats = os.path.join(folder, 'vsim.json')
        raw = ['-r', os.path.join(folder, self.raw)] if output else ['--no-output']
        wall, rss, _ = timed([self.program, '-q', '--threads', '1', '--stats', stats, *raw,
                              os.path.join(NETLISTS, deck)], folder)
        with open(stats) as f:
            s = json.load(f)
        return {'wall': wall, 'rss_kb': rss, 'points': s['points_accepted'], 'rejected': s['points_rejected'],
                'iterations': s['newton_iterations'], 'evaluate': s['seconds']['evaluate'] + s['seconds']['stamp'],
                'evaluations': s['device_evaluations']}


class Vacask:
    name = 'VACASK'
    raw = 'tran1.raw'
    options = {'mul.sp': 'nr_residualcheck=0', 'c6288.sp': 'tran_lteratio=1.5'}

    def __init__(self, program):
        self.program = os.path.abspath(program)

    def prepare(self, deck, folder):
        with open(os.path.join(folder, deck + '.sim'), 'w') as f:
            f.write(to_vacask(deck, self.options.get(deck, '')))
        return True

    def run(self, deck, folder, output=False):
        quiet = ['-se', '-sp', '-qp'] + ([] if output else ['--no-output'])
        wall, rss, out = timed([self.program, *quiet, deck + '.sim'], folder)
        return {'wall': wall, 'rss_kb': rss, 'points': statistic(out, 'accepted timepoints'),
                'rejected': statistic(out, 'rejected timepoints'),
                'iterations': statistic(out, 'NR solver iterations'),
                'evaluate': statistic(out, 'eval and load time'), 'log': out}


class Ngspice:
    """Debian's ngspice 39: no OSDI, so only the decks with built-in models."""
    name = 'ngspice'
    raw = 'ng.raw'
    decks = ('rc.sp', 'mul.sp')

    def __init__(self, program='ngspice'):
        self.program = program

    def prepare(self, deck, folder):
        return deck in self.decks

    def run(self, deck, folder, output=False):
        wall, rss, out = timed([self.program, '-b', '-r', self.raw, os.path.join(NETLISTS, deck)], folder)
        return {'wall': wall, 'rss_kb': rss, 'points': statistic(out, 'No. of Data Rows'), 'rejected': None,
                'iterations': None, 'evaluate': None}
