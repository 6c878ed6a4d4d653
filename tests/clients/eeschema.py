#!/usr/bin/env python3
"""KiCad 6's eeschema, as Debian ships it, simulates a schematic with our libngspice.

    eeschema.py LIBNGSPICE TRACE [--keep FOLDER]     exit code 77 if a program is missing

It has no command line for a simulation, so xdotool plays the user, below Xvfb: F9 (a hot key that we give) opens the
simulator, clicks run it and add all signals to its plot. No window manager is there, so windows begin at the corner.
TRACE is tests/ng/trace.c, which stands in for libngspice and writes down what eeschema asks and hears.
The schematic, tests/data/kicad_rc.kicad_sch, is a step through 1 kOhm onto 100 nF: 2 ms are 20 time constants. A second
time the resistor's value is a word, and the error must lead to it.
--keep: pictures of the screen."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
NEEDED = (('eeschema', 'kicad'), ('xvfb-run', 'xvfb'), ('xauth', 'xauth'), ('xdotool', 'xdotool'))
RUN, ADD = (87, 50), (225, 54)  # of the simulator's tool bar
SETTINGS = {
    'kicad_common.json': '{"meta": {"filename": "kicad_common.json", "version": 3}, "do_not_show_again": '
                         '{"update_check_prompt": true, "data_collection_prompt": true}}',
    'eeschema.json': '{"meta": {"filename": "eeschema.json", "version": 1}}',
    'sym-lib-table': '(sym_lib_table\n)\n', 'fp-lib-table': '(fp_lib_table\n)\n',
    'user.hotkeys': 'eeschema.EditorControl.runSimulation\tF9\n'}


class User:
    """Below Xvfb: what a user does and sees."""
    def __init__(self, log, broken, keep):
        self.log, self.broken, self.keep = log, broken, keep

    def log_has(self, pattern):
        if not os.path.exists(self.log):
            return False
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return re.search(pattern, f.read(), re.M) is not None

    @staticmethod
    def tool(*words):
        return subprocess.run(['xdotool', *map(str, words)], text=True, capture_output=True).stdout.split()

    def window(self, name):
        return self.tool('search', '--onlyvisible', '--name', name)

    def until(self, what, done, act=None, seconds=150, again=20):
        """Does `act`, and again where nothing comes of it for a while: windows may not be drawn yet."""
        end, next_time = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < end:
            if done():
                return
            if act and time.monotonic() >= next_time:
                act()
                next_time = time.monotonic() + again
            time.sleep(0.3)
        if self.keep:
            subprocess.run(['import', '-window', 'root', os.path.join(self.keep, 'failed.png')])
        raise TimeoutError(what)

    def click(self, at):
        self.tool('mousemove', *at, 'sleep', 0.5, 'click', 1)

    def open_simulator(self):
        self.tool('windowfocus', self.window('^rc .*Schematic Editor')[0], 'mousemove', 500, 300, 'sleep', 1,
                  'key', '--clearmodifiers', 'F9')

    def add_signals(self):
        if not self.window('Add Signals|^Signals'):
            self.click(ADD)
            time.sleep(2)
        self.tool('key', 'Home', 'sleep', 0.3, 'key', 'shift+End', 'sleep', 0.3, 'key', 'Return')

    def simulate(self):
        self.until('the schematic is shown', lambda: self.window('^rc .*Schematic Editor'))
        self.until('the simulator opens', lambda: self.window('Spice Simulator') and self.log_has('^init'),
                   self.open_simulator)
        if self.broken:
            self.until('an error is told', lambda: self.log_has('^print stderr Error'), lambda: self.click(RUN))
            time.sleep(2)  # the rest of it
            return
        self.until('the run ends', lambda: self.log_has('^thread 1'), lambda: self.click(RUN))
        self.until('its curve is drawn', lambda: self.log_has(r'^vector V\(/out\)'), self.add_signals)
        if self.keep:
            time.sleep(2)
            subprocess.run(['import', '-window', 'root', os.path.join(self.keep, 'plot.png')])


def play(schematic, log, broken, keep):
    """The part that runs below Xvfb."""
    eeschema = subprocess.Popen(['eeschema', schematic], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        User(log, broken, keep).simulate()
    finally:
        eeschema.kill()
        eeschema.wait()


def judge(text):
    """What is wrong with the log; lines."""
    wrong = []
    order = ['^init$', r'^circ V1 /in (GND|0) dc 0 pulse\(0 1 0 1n 1n 1 2\)$', r'^circ \.tran 10u 2m$', '^command bg_run$',
             '^thread 0$', r'^print stdout No\. of Data Rows : \d+$', '^thread 1$', '^vector time ', r'^vector V\(/out\) ']
    at = 0
    for pattern in order:
        found = re.compile(pattern, re.M).search(text, at)
        if not found:
            return ['there is no line %s where it is due' % pattern]
        at = found.end()
    if re.search('^print stderr Error', text, re.M):
        wrong.append('an error is shown')
    for name, want in (('time', 2e-3), ('V(/out)', 1)):
        n, last = re.findall(r'^vector %s (\d+) (\S+)$' % re.escape(name), text, re.M)[-1]
        if int(n) < 20 or not abs(float(last) - want) <= 1e-3 * want:  # reltol
            wrong.append('%s ends with %s after %s points, %g is right' % (name, last, n, want))
    return wrong


def why_not():
    for program, package in NEEDED:
        if not shutil.which(program):
            return "%s is not there (Debian's package %s)" % (program, package)
    version = subprocess.run(['dpkg-query', '-W', '-f=${Version}', 'kicad'], text=True, capture_output=True).stdout
    return None if version.startswith('6.') else "KiCad is '%s'; the clicks are those for 6" % version


def judge_broken(text):
    """The error has the place of the value in the lines that eeschema sent."""
    told = re.search(r"^print stderr Error: circuit:(\d+):(\d+): .*nothing", text, re.M)
    sent = re.findall('^circ (.*)$', text[text.rfind('circ .title'):], re.M)  # it begins with an empty circuit
    if not told:
        return ['no error with its place is told']
    line, column = (int(k) for k in told.groups())
    at = sent[line - 1][column - 1:] if line <= len(sent) else ''
    return [] if at.startswith('nothing') else ['line %d, column %d is %r' % (line, column, at)]


def session(home, library, trace, schematic, broken, keep):
    """What KiCad asked and heard; and whether the user got there."""
    settings, log = os.path.join(home, '.config/kicad/6.0'), os.path.join(home, 'log')
    os.makedirs(settings)
    for name, text in [(os.path.join(settings, k), v) for k, v in SETTINGS.items()] + [('rc.kicad_sch', schematic),
                                                                                       ('rc.kicad_pro', '{}\n')]:
        with open(os.path.join(home, name), 'w', encoding='utf-8') as f:
            f.write(text)
    os.symlink(trace, os.path.join(home, 'libngspice.so.0'))
    env = dict(os.environ, HOME=home, LD_LIBRARY_PATH=home, NG_TRACE_REAL=library, NG_TRACE_LOG=log)
    env.pop('XDG_CONFIG_HOME', None)
    done = subprocess.run(['xvfb-run', '-a', '-s', '-screen 0 1400x1000x24', sys.executable, os.path.abspath(__file__),
                           '--play', os.path.join(home, 'rc.kicad_sch'), log, 'broken' if broken else '', keep], env=env)
    if not os.path.exists(log):
        return '', False
    with open(log, encoding='utf-8', errors='replace') as f:
        return f.read(), done.returncode == 0


def main():
    library, trace = (os.path.abspath(p) for p in sys.argv[1:3])
    keep = os.path.abspath(sys.argv[4]) if sys.argv[3:4] == ['--keep'] else ''
    why = why_not()
    if why:
        print(why)
        return 77
    with open(os.path.join(ROOT, 'tests/data/kicad_rc.kicad_sch'), encoding='utf-8') as f:
        schematic = f.read()
    bad = False
    for broken, text in ((False, schematic), (True, schematic.replace('"1k"', '"nothing"'))):
        with tempfile.TemporaryDirectory() as home:
            log, done = session(home, library, trace, text, broken, keep)
        wrong = (judge_broken if broken else judge)(log) + ([] if done else ['the user gave up'])
        if wrong:
            print(log, *wrong, sep='\n')
        bad |= bool(wrong)
    return bad


if __name__ == '__main__':
    sys.exit(play(*sys.argv[2:6]) if sys.argv[1:2] == ['--play'] else main())
