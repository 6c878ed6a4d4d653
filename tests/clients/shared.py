#!/usr/bin/env python3
"""Programs of docs/clients.md that load ngspice's shared library, with ours in its place.

    shared.py VSIM LIBRARY [unittest arguments]      exit code 77 if none of the packages is there
    shared.py --examples PYTHON LIBRARY LEAST FOLDER...    runs all Python files below the folders;
                                                     exit code 1 if fewer than LEAST reach their end,
                                                     77 if PYTHON has not the package

Packages as in clients.py. The second form is for PySpice's and InSpice's own examples, unedited, from
their source packages (pip download --no-binary :all: PySpice==1.5); docs/clients.md has the count."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
CLIENTS = os.path.abspath(os.environ.get('VSIM_CLIENTS', os.path.join(ROOT, 'build', 'clients')))
PYTHON = os.path.join(CLIENTS, 'bin', 'python')
VSIM = LIBRARY = ''

CIRCUIT = """
import sys
from {package}.Spice.Netlist import Circuit
from {package}.Unit import *
c = Circuit('divider')
c.V('in', 'a', c.gnd, 'dc 10 ac 1')
c.R(1, 'a', 'out', 9@u_kOhm)
c.R(2, 'out', c.gnd, 1@u_kOhm)
c.C(1, 'out', c.gnd, 1@u_uF)
def simulator(c):
    if '{package}' == 'PySpice':
        return c.simulator(temperature=25, nominal_temperature=25, simulator=sys.argv[1])
    import InSpice
    return InSpice.Simulator.factory(simulator=sys.argv[1]).simulation(c, temperature=25, nominal_temperature=25)
"""
# a new simulator each: InSpice's runs by a process do again what the last ones did
RUNS = """
a = simulator(c).operating_point()
print('op %.6f' % float(a['out'][0]))
a = simulator(c).transient(step_time=10@u_us, end_time=1@u_ms)
print('tran %.6f %s' % (float(a['out'][-1]), sorted(x.lower() for x in a.branches)))
a = simulator(c).ac(start_frequency=1@u_Hz, stop_frequency=1@u_kHz, number_of_points=5, variation='dec')
print('ac %d %.4f' % (len(a.frequency), abs(complex(a['out'][0]))))
a = simulator(c).dc(Vin=slice(0, 2, 0.5))
print('dc %d %.6f' % (len(a['out']), float(a['out'][-1])))
"""
BROKEN = """
c.raw_spice = 'Q1 a out 0 nomodel'
try:
    simulator(c).operating_point()
    print('no error')
except Exception as e:
    print('raised', type(e).__name__)
"""


def environment(folder):
    env = dict(os.environ, NGSPICE_LIBRARY_PATH=LIBRARY, MPLBACKEND='Agg')
    env['LD_LIBRARY_PATH'] = os.path.dirname(LIBRARY)  # InSpice takes the name alone
    env['PATH'] = folder + os.pathsep + env['PATH']
    return env


def has(package, python=PYTHON):
    """InSpice wants Python 3.12."""
    return os.path.exists(python) and not subprocess.run(
        [python, '-c', 'import sys, %s.Unit; sys.exit(%r == "InSpice" and sys.version_info < (3, 12))'
         % (package, package)], capture_output=True).returncode


class Shared:
    package = ''

    def play(self, text, simulator):
        if not has(self.package):
            self.skipTest(self.package + ' is not installed')
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(VSIM, os.path.join(folder, 'ngspice'))
            env = environment(folder)
            if self.package == 'InSpice':
                del env['NGSPICE_LIBRARY_PATH']
            done = subprocess.run([PYTHON, '-c', CIRCUIT.format(package=self.package) + text, simulator],
                                  capture_output=True, text=True, timeout=300, env=env, cwd=folder)
        return done.stdout, done.stderr

    def results(self, simulator):
        out, err = self.play(RUNS, simulator)
        self.assertEqual([line for line in out.splitlines() if line.split(' ')[0] in ('op', 'tran', 'ac', 'dc')],
                         ['op 1.000000', "tran 1.000000 ['vin']", 'ac 16 0.1000', 'dc 5 0.200000'], out + err)

    def test_runs_by_the_library(self):
        self.results('ngspice-shared')

    def test_runs_by_a_process(self):
        self.results('ngspice-subprocess')

    def test_a_broken_deck_leads_to_its_line(self):
        out, err = self.play(BROKEN, 'ngspice-shared')
        self.assertIn('raised', out, err)
        self.assertIn("q1: unknown model 'nomodel'", err + out)
        self.assertRegex(err + out, r"(?is)circuit:(\d+):12: .*\1 \| q1 a out 0 nomodel\b.*\^~")


class PySpice(Shared, unittest.TestCase):
    package = 'PySpice'


class InSpice(Shared, unittest.TestCase):
    package = 'InSpice'


def run_examples(python, folders):
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        if any('inspice' in f.lower() for f in folders):
            del env['NGSPICE_LIBRARY_PATH']
        good = 0
        for top in folders:
            for at, _, files in sorted(os.walk(os.path.abspath(top))):
                for name in sorted(f for f in files if f.endswith('.py')):
                    done = subprocess.run(['timeout', '120', python, name], cwd=at, env=env, capture_output=True,
                                          text=True, errors='replace')
                    last = (done.stdout + done.stderr).strip().splitlines()[-1:] or ['']
                    good += done.returncode == 0
                    print('%-60s %s' % (os.path.relpath(os.path.join(at, name), top),
                                        'ok' if done.returncode == 0 else last[0][:100]), flush=True)
    print('%d ran to their end' % good)
    return good


if __name__ == '__main__':
    if sys.argv[1:2] == ['--examples']:
        LIBRARY = os.path.abspath(sys.argv[3])
        python = os.path.abspath(sys.argv[2])
        wanted = 'InSpice' if 'inspice' in ''.join(sys.argv[5:]).lower() else 'PySpice'
        if not has(wanted, python):
            print('%s is not installed for %s, or its Python is too old' % (wanted, python))
            sys.exit(77)
        sys.exit(run_examples(python, sys.argv[5:]) < int(sys.argv[4]))
    VSIM, LIBRARY = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    if not has('PySpice') and not has('InSpice'):
        print('neither PySpice nor InSpice is installed in', CLIENTS)
        sys.exit(77)
    unittest.main()
