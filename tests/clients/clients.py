#!/usr/bin/env python3
"""The programs of docs/clients.md, as their makers ship them, with vsim in ngspice's place.

    clients.py VSIM [unittest arguments]     exit code 77 if none of the packages is there

The packages are those of packages.txt beside this file; `./bootstrap clients` installs them into
build/clients (VSIM_CLIENTS names another virtual environment). One that is missing skips its class."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
CLIENTS = os.path.abspath(os.environ.get('VSIM_CLIENTS', os.path.join(ROOT, 'build', 'clients')))
VSIM = ''
RC = """* rc
V1 in 0 PULSE(0 1 0 1n 1n 1u 2u) AC 1
R1 in out 1k
C1 out 0 1n
.tran 10n 4u
.meas tran vmax MAX v(out)
.meas tran va AVG v(out) from=1u to=2u
.end
"""


def there(*packages):
    return all(importlib.util.find_spec(p) for p in packages)


class Client(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        os.symlink(VSIM, os.path.join(tmp.name, 'ngspice'))
        path, folder = os.environ['PATH'], os.getcwd()
        self.addCleanup(lambda: (os.environ.update(PATH=path), os.chdir(folder)))
        os.environ['PATH'] = tmp.name + os.pathsep + path
        os.chdir(tmp.name)

    def write(self, name, text):
        with open(name, 'w', encoding='utf-8') as f:
            f.write(text)
        return name


@unittest.skipUnless(there('spicelib'), 'spicelib is not there')
class Spicelib(Client):
    def simulator(self):
        from spicelib.simulators.ngspice_simulator import NGspiceSimulator
        return NGspiceSimulator.create_from(os.path.abspath('ngspice'))

    def test_editor_runner_raw_and_log(self):
        from spicelib import RawRead, SimRunner, SpiceEditor
        from spicelib.log.ltsteps import LTSpiceLogReader
        editor = SpiceEditor(self.write('rc.net', RC))
        runner = SimRunner(output_folder='out', simulator=self.simulator())
        for k in (1, 2):
            editor.set_component_value('R1', k * 1000)
            runner.run(editor, run_filename=f'rc_{k}.net')
        self.assertTrue(runner.wait_completion())
        peaks = []
        for raw, log in runner:
            read = RawRead(raw)
            self.assertEqual(read.dialect, 'ngspice')
            self.assertEqual(read.get_trace_names(), ['time', 'v(in)', 'v(out)', 'i(v1)'])
            peaks.append(max(read.get_wave('v(out)')))
            data = LTSpiceLogReader(str(log)).dataset
            self.assertAlmostEqual(data['vmax'][0], peaks[-1], delta=1e-8)
            self.assertEqual(data['va_from'] + data['va_to'], [1e-6, 2e-6])
        self.assertGreater(peaks[0], peaks[1])

    def test_monte_carlo_runs(self):
        from spicelib import SimRunner, SpiceEditor
        from spicelib.log.ltsteps import LTSpiceLogReader
        from spicelib.sim.tookit.montecarlo import Montecarlo
        mc = Montecarlo(SpiceEditor(self.write('rc.net', RC)),
                        SimRunner(output_folder='mc', simulator=self.simulator()))
        mc.set_tolerance('R', 0.05)
        mc.run_analysis(num_runs=4)
        peaks = {LTSpiceLogReader(str(log)).dataset['vmax'][0] for _, log in mc.runner}
        self.assertEqual(len(peaks), 4)

    def test_an_error_leads_to_its_line(self):
        from spicelib import SimRunner
        runner = SimRunner(output_folder='bad', simulator=self.simulator())
        task = runner.run(self.write('bad.net', RC.replace('.tran', 'M1 a b c d nothing\n.tran')))
        runner.wait_completion()
        self.assertNotEqual(task.retcode, 0)
        with open('bad/bad_1.log' if os.path.exists('bad/bad_1.log') else 'bad/bad_1.fail', encoding='utf-8') as f:
            self.assertRegex(f.read(), r'(?m)^Error: .*bad_1\.net:5:\d+: ')


@unittest.skipUnless(there('vlsirtools', 'hdl21'), 'vlsirtools or hdl21 is not there')
class Vlsir(Client):
    def test_all_analyses_of_a_testbench(self):
        import hdl21 as h
        import vlsirtools.spice as vs

        @h.module
        class Tb:
            VSS = h.Port()
            a, b = h.Signals(2)
            v = h.primitives.DcVoltageSource(dc=1.0, ac=1)(p=a, n=VSS)
            r = h.primitives.IdealResistor(r=1000)(p=a, n=b)
            c = h.primitives.IdealCapacitor(c=1e-9)(p=b, n=VSS)

        @h.sim.sim
        class Bench:
            tb = Tb
            op = h.sim.Op()
            ac = h.sim.Ac(sweep=h.sim.LogSweep(1e3, 1e6, 10))
            tran = h.sim.Tran(tstop=1e-6, tstep=1e-9)
            noise = h.sim.Noise(output=(Tb.b, Tb.VSS), input_source=Tb.v, sweep=h.sim.LogSweep(1e3, 1e6, 10))
        op, ac, tran, noise = Bench.run(vs.SimOptions(simulator=vs.SupportedSimulators.NGSPICE,
                                                      fmt=vs.ResultFormat.SIM_DATA, rundir='run')).an
        self.assertEqual(op.data['v(xtop.b)'], 1.0)
        self.assertAlmostEqual(abs(ac.data['v(xtop.b)'][-1]), abs(1 / (1 + 2j * 3.141592653589793)), delta=1e-12)
        self.assertEqual(len(ac.freq), 31)
        self.assertEqual(tran.data['time'][0], 0)
        self.assertIn('onoise_spectrum', noise.data.data)

    def test_a_broken_deck_leads_to_its_line(self):
        import hdl21 as h
        import vlsirtools.spice as vs

        @h.module
        class Tb:
            VSS = h.Port()
            a = h.Signal()
            v = h.primitives.DcVoltageSource(dc=1.0)(p=a, n=VSS)
            r = h.primitives.IdealResistor(r=1000)(p=a, n=VSS)

        bench = h.sim.Sim(tb=Tb, attrs=[h.sim.Op(), h.sim.Literal('M1 a b c d nothing')])
        with self.assertRaises(Exception) as failed:
            bench.run(vs.SimOptions(simulator=vs.SupportedSimulators.NGSPICE,
                                    fmt=vs.ResultFormat.SIM_DATA, rundir='run'))
        self.assertRegex(repr(failed.exception), r'Error: netlist\.sp:\d+:\d+: ')


@unittest.skipUnless(there('cicsim'), 'cicsim is not there')
class Cicsim(Client):
    BENCH = """*RC
VIN IN 0 pwl 0 0 10n 1.8
R1 IN OUT 1k
C1 OUT 0 1n
.meas tran v_late FIND v(out) AT=9u
.probe v(out) v(in)
.control
set num_threads=8
set color0=white
unset askquit
tran 1n 10u
write
quit
.endc
.end
"""
    MEAS = """* measures
.control
load {cicname}.raw
echo "MEAS_START"
let vo = v(out)
meas tran v_end FIND v(out) AT=5u
print vo[0]
echo "MEAS_END"
.endc
.end
"""

    def cicsim(self, bench):
        self.write('cicsim.yaml', 'ngspice:\n  options: ""\ncorner:\n  Sch: |\n    *sch\n  Tt: |\n    .temp 25\n')
        self.write('tran.spi', bench)
        self.write('tran.meas', self.MEAS)
        run = os.path.join(os.path.dirname(sys.executable), 'cicsim')
        return subprocess.run([run, '--no-color', 'run', 'tran', 'SchTt'], text=True, timeout=300, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def test_run_measure_and_results(self):
        out = self.cicsim(self.BENCH)
        with open('output_tran/tran_SchTt.yaml', encoding='utf-8') as f:
            found = dict(line.strip().split(': ') for line in f)
        self.assertEqual(float(found['vo[0]']), 0.0, out)
        self.assertAlmostEqual(float(found['v_end']), 1.8, delta=0.02)  # five time constants: 1.8 (1 - e^-5)

    def test_an_error_leads_to_its_line(self):
        self.assertIn("Error: tran_SchTt.spi:", self.cicsim(self.BENCH.replace('C1 OUT 0 1n', 'C1 OUT 0 none')))


@unittest.skipUnless(there('chipify'), 'chipify is not there')
class Chipify(Client):
    def test_its_engine_gets_its_values(self):
        import types

        from chipify.analyses import TransientAnalysis
        from chipify.engines import ngspice
        os.makedirs('fast', exist_ok=True)
        ngspice.settings.FAST_TMP = os.path.abspath('fast')
        deck = RC.replace('.end\n', '.control\ntran 10n 4u\nmeas tran top MAX v(out)\nac dec 5 1k 1meg\n'
                                    'let low = vm(out)[0]\nquit\n.endc\n.end\n').replace('.meas', '*')
        test = types.SimpleNamespace(value_lst=[types.SimpleNamespace(name='low')],
                                     analyses=[TransientAnalysis(['v(out)'])], tb_path='x')
        engine = ngspice.NgspiceSimulator()
        net = engine._finalize_netlist(deck, test).replace('{{ tran_out_path }}', os.path.abspath('tran.tab'))
        line, wrong = engine.run(net, test=test)
        self.assertIsNone(wrong)
        self.assertAlmostEqual(float(line.split(':')[1]), 0.99998, delta=1e-5)
        with open('tran.tab', encoding='utf-8') as f:
            self.assertGreater(len(f.read().splitlines()), 400)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv[1])
    own = os.path.join(CLIENTS, 'bin', 'python')
    if os.path.exists(own) and os.path.realpath(sys.prefix) != os.path.realpath(CLIENTS):
        os.execv(own, [own, os.path.abspath(__file__), VSIM] + sys.argv[2:])
    if not any(there(p) for p in ('spicelib', 'vlsirtools', 'cicsim', 'chipify')):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
