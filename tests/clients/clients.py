#!/usr/bin/env python3
"""The programs of docs/clients.md, as their makers ship them, with vsim in ngspice's place.

    clients.py VSIM [unittest arguments]     exit code 77 if none of the packages is there

The packages are those of packages.txt beside this file; `./bootstrap clients` installs them into
build/clients (VSIM_CLIENTS names another virtual environment). One that is missing skips its class."""
import importlib.util
import os
import re
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

    def leads_to(self, wrong, told, path):
        """The error names the file, and the line and column where the wrong word stands in it."""
        found = re.search(r'Error: \S*?%s:(\d+):(\d+): ' % re.escape(os.path.basename(path)), told)
        self.assertTrue(found, told)
        with open(path, encoding='utf-8') as f:
            line = f.read().splitlines()[int(found.group(1)) - 1]
        self.assertEqual(line[int(found.group(2)) - 1:].split()[0], wrong, told)


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

    def test_worst_case_runs(self):
        """The runs alone: the toolkit's own reading of logs refuses all but LTspice and Qspice."""
        from spicelib import SimRunner, SpiceEditor
        from spicelib.log.ltsteps import LTSpiceLogReader
        from spicelib.sim.tookit.worst_case import WorstCaseAnalysis
        deck = '* divider\nV1 in 0 1\nR1 in out 1k\nR2 out 0 1k\n.tran 1u 4u\n.meas tran v MAX v(out)\n.end\n'
        wc = WorstCaseAnalysis(SpiceEditor(self.write('divider.net', deck)),
                               SimRunner(output_folder='wc', simulator=self.simulator()))
        wc.set_tolerance('R', 0.1)
        wc.run_analysis()
        wc.runner.wait_completion()
        peaks = sorted(LTSpiceLogReader(str(log)).dataset['v'][0] for _, log in wc.runner)
        for have, want in zip(peaks, [0.45, 0.5, 0.5, 0.5, 0.55], strict=True):
            self.assertAlmostEqual(have, want, delta=1e-6)
        with self.assertRaisesRegex(ValueError, 'Unknown simulator type'):
            wc.read_logfiles()

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
        self.leads_to('nothing', repr(failed.exception), 'run/netlist.sp')


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
        out = self.cicsim(self.BENCH.replace('C1 OUT 0 1n', 'C1 OUT 0 none'))
        self.leads_to('none', out, 'output_tran/tran_SchTt.spi')


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

    def test_an_error_leads_to_its_line(self):
        import types

        from chipify.engines import ngspice
        ngspice.settings.FAST_TMP = os.getcwd()
        test = types.SimpleNamespace(value_lst=[], analyses=[], tb_path='x')
        _, wrong = ngspice.NgspiceSimulator().run(RC.replace('.tran', 'M1 a b c d nothing\n.tran'), test=test)
        self.assertRegex(str(wrong), r"Error: .*:5:12: .*nothing")


@unittest.skipUnless(there('analogpy'), 'analogpy is not there')
class Analogpy(Client):
    def test_its_netlist_runs_and_its_reader_reads(self):
        import analogpy as a
        tb = a.Testbench('filter')
        top, out, gnd = tb.net('in'), tb.net('out'), tb.add_gnd()
        tb.add_instance(a.vsource, 'I_V1', p=top, n=gnd, dc=1, mag=1)
        tb.add_instance(a.resistor, 'I_R1', p=top, n=out, r=1e3)
        tb.add_instance(a.capacitor, 'I_C1', p=out, n=gnd, c=1e-9)
        tb.add_analysis(a.AC(start=1e3, stop=1e6, points=10))
        tb.add_analysis(a.Transient(stop=1e-6, step=1e-8))
        self.write('filter.sp', a.generate_ngspice(tb))
        subprocess.run(['ngspice', '-b', '-r', 'filter.raw', 'filter.sp'], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        ac, tran = a.read_raw('filter.raw')
        self.assertEqual((ac.plotname, tran.plotname), ('AC Analysis', 'Transient Analysis'))
        self.assertAlmostEqual(abs(ac['v(out)'][-1]), abs(1 / (1 + 2j * 3.141592653589793)), delta=1e-12)
        self.assertAlmostEqual(tran['v(out)'][-1], 1, delta=1e-9)


@unittest.skipUnless(there('ngspicejson', 'fire'), 'ngspice-json-cli is not there')
class JsonCli(Client):
    def test_tables_values_and_errors(self):
        import json
        deck = RC.replace('.end\n', '.control\ntran 10n 4u\nprint time v(out)\nlet k = length(time) - 1\n'
                                    'print time[k] v(nowhere)\nprint time[k]\n.endc\n.end\n')
        self.write('rc.cir', deck)
        done = subprocess.run([sys.executable, '-m', 'ngspicejson.ngspice_json_cli', 'run', '--command=print vmax',
                               '--file=rc.cir'], check=True, capture_output=True, text=True, timeout=300)
        part = {p['type']: p['contents'] for p in json.loads(done.stdout)}
        self.assertRegex(part['NGSPICE_CLI_ERROR'][0], r'^Error: rc\.cir:12:15: .*nowhere')
        time, out = part['TABULARCONTENTS'][0]['values']
        self.assertEqual((time['data_name'], out['data_name']), ('time', 'v(out)'))
        self.assertEqual(float(time['values'][-1]), 4e-6)
        self.assertIn('time[k] ', [v['key'] for p in part['SPECIFIC_PRINT'] for v in p['values']])

    def test_values_of_devices(self):
        import json
        self.write('rc.cir', RC)
        done = subprocess.run([sys.executable, '-m', 'ngspicejson.ngspice_json_cli', 'run', '--command=show all',
                               '--file=rc.cir'], check=True, capture_output=True, text=True, timeout=300)
        kinds = {k['title']: k['contents'][0] for p in json.loads(done.stdout) if p['type'] == 'NODEMODEL'
                 for k in p['contents']}
        self.assertEqual(kinds['Resistor']['model'], 'r1')
        self.assertIn({'key': 'resistance', 'values': ['1000']}, kinds['Resistor']['values'])


@unittest.skipUnless(there('cace'), 'cace is not there')
class Cace(Client):
    """CACE wants Xschem 3, which Debian does not have: a script hands its netlists over as they stand."""
    XSCHEM = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -o) out=$2; shift ;; -N) name=$2; shift ;; --tcl|--rcfile) shift ;; -*) ;; *) file=$1 ;; esac
    shift
done
cp "$file" "$out/$name"
"""
    SYMBOL = 'v {xschem version=3.4.6 file_version=1.2}\nG {}\nK {type=subcircuit\nformat="@name @pinlist @symname"\n' \
             'template="name=x1"\n}\nV {}\nS {}\nE {}\n'
    CIRCUIT = '* divider\n.subckt div in out\nr1 in out 1k\nr2 out 0 1k\n.ends\n'
    BENCH = """* gain
.include CACE\\{DUT_path\\}
vin in 0 dc CACE\\{vin\\}
xdut in out div
rl out 0 CACE\\{rl\\}
.temp CACE\\{temperature\\}
.control
set num_threads=CACE\\{jobs\\}
op
let gain = v(out)/v(in)
echo $&gain > CACE\\{simpath\\}/CACE\\{filename\\}_CACE\\{N\\}.data
.endc
.end
"""
    SHEET = """name: div
description: divider
PDK: fake
cace_format: 5.2
authorship: {designer: nobody, company: none, creation_date: none, license: none}
paths: {root: .., schematic: xschem, netlist: netlist, documentation: docs}
pins:
  in: {description: in, type: signal, direction: input}
  out: {description: out, type: signal, direction: output}
default_conditions:
  temperature: {description: ambient, display: T, unit: C, typical: 27}
parameters:
  gain:
    spec:
      gain: {display: gain, unit: V/V, minimum: {value: 0.3}, typical: {value: any}, maximum: {value: 0.52}}
    tool:
      ngspice: {template: gain.sch, format: ascii, suffix: .data, variables: [gain]}
    conditions:
      vin: {description: input, unit: V, enumerate: [1, 2]}
      rl: {description: load, unit: Ohm, enumerate: [1000, 1e9]}
"""

    def cace(self, bench):
        for folder in ('bin', 'cace/templates', 'xschem', 'pdk/fake/libs.tech/xschem', 'pdk/fake/libs.tech/ngspice'):
            os.makedirs(folder)
        for name, text in (('pdk/fake/libs.tech/xschem/xschemrc', ''), ('pdk/fake/libs.tech/ngspice/spiceinit', ''),
                           ('xschem/div.sch', self.CIRCUIT), ('xschem/div.sym', self.SYMBOL),
                           ('cace/templates/gain.sch', bench), ('cace/div.yaml', self.SHEET),
                           ('bin/xschem', self.XSCHEM)):
            self.write(name, text)
        os.chmod('bin/xschem', 0o755)
        env = dict(os.environ, PDK='fake', PDK_ROOT=os.path.abspath('pdk'), COLUMNS='200',
                   PATH=os.path.abspath('bin') + os.pathsep + os.environ['PATH'])
        run = os.path.join(os.path.dirname(sys.executable), 'cace')
        return subprocess.run([run, 'cace/div.yaml', '--source', 'schematic', '--no-progress-bar', '--no-plot'],
                              env=env, text=True, timeout=300, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout

    def test_four_conditions_of_a_parameter(self):
        import glob
        out = self.cace(self.BENCH)
        self.assertIn('Pass', out)
        values = []
        for name in sorted(glob.glob('runs/*/parameters/gain/run_*/*.data')):
            with open(name, encoding='utf-8') as f:
                values.append(float(f.read()))
        for have, want in zip(values, [1 / 3, 1 / 3, 0.5, 0.5], strict=True):
            self.assertAlmostEqual(have, want, delta=1e-6)

    def test_an_error_leads_to_its_line(self):
        self.assertRegex(self.cace(self.BENCH.replace('rl out 0', 'rl out 0 none')), r'gain\.spice:5:\d+: ')


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv[1])
    own = os.path.join(CLIENTS, 'bin', 'python')
    if os.path.exists(own) and os.path.realpath(sys.prefix) != os.path.realpath(CLIENTS):
        os.execv(own, [own, os.path.abspath(__file__), VSIM] + sys.argv[2:])
    if not any(there(p) for p in ('spicelib', 'vlsirtools', 'cicsim', 'chipify', 'cace', 'analogpy')):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
