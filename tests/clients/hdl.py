#!/usr/bin/env python3
"""Digital simulators that drive vsim as ngspice's shared library: cocotbext-ams and spicebind, both with
Icarus Verilog.

    hdl.py LIBRARY [unittest arguments]      exit code 77 if iverilog or both packages are missing

Packages as in clients.py."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
CLIENTS = os.path.abspath(os.environ.get('VSIM_CLIENTS', os.path.join(ROOT, 'build', 'clients')))
PYTHON = os.path.join(CLIENTS, 'bin', 'python')
LIBRARY = ''

SAR_SPICE = """* comparator and DAC of a converter by successive approximation
.subckt front d0 d1 d2 d3 d4 d5 d6 d7 above ain vdd vss
b_dac dac vss v='v(vdd)*(v(d7)*128+v(d6)*64+v(d5)*32+v(d4)*16+v(d3)*8+v(d2)*4+v(d1)*2+v(d0)+0.5*v(vdd))/(256*v(vdd))'
b_cmp raw vss v='v(vdd)*(0.5+0.5*tanh(2000*(v(ain)-v(dac))))'
r_cmp raw above 1k
c_cmp above vss 100f
.ends
"""
SAR_VERILOG = """`timescale 1ns/1ps
module front(input [7:0] d, output above); endmodule
module tb;
    reg clk = 0, start = 0, done = 0;
    reg [7:0] code = 0;
    reg [3:0] left = 0;
    wire above;
    front dut(.d(code), .above(above));
    always #10 clk = ~clk;
    always @(posedge clk) begin
        if (start) begin
            code <= 8'h80; left <= 8; done <= 0;
        end else if (left != 0) begin
            code[left-1] <= above;
            if (left > 1) code[left-2] <= 1;
            left <= left - 1;
            done <= left == 1;
        end
    end
endmodule
"""
SAR_TEST = """
import cocotb
from cocotb.triggers import RisingEdge, Timer
from cocotbext.ams import AnalogBlock, DigitalPin, MixedSignalBridge

@cocotb.test()
async def converts(dut):
    pins = {'d': DigitalPin('input', width=8, vdd=1.0), 'above': DigitalPin('output', vdd=1.0)}
    block = AnalogBlock(name='dut', spice_file='analog.sp', subcircuit='front', digital_pins=pins,
                        analog_inputs={'ain': 0.0}, vdd=1.0, tran_step='2n')
    bridge = MixedSignalBridge(dut, [block], max_sync_interval_ns=5.0)
    running = cocotb.start_soon(bridge.start(duration_ns=4000))  # it returns when the simulation ends
    await Timer(1, "ns")
    for volts in (0.3, 0.7071, 0.002, 0.999, 0.5):
        bridge.set_analog_input('dut', 'ain', volts)
        dut.start.value = 1
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        dut.start.value = 0
        await RisingEdge(dut.done)
        await Timer(1, 'ns')
        print('CODE', volts, int(dut.code.value), flush=True)
    await running
"""
PLL_SPICE = """* charge pump, loop filter and oscillator: 60 to 100 MHz
.subckt loop up down osc vdd vss
g_up vss vc up vss 20u
g_down vc vss down vss 20u
r_z vc vz 5k
c_z vz vss 40p ic=0
c_p vc vss 2p ic=0
r_leak vc vss 100meg
b_rate vss phase i='60e6+40e6*min(max(v(vc),0),1)'
c_phase phase vss 1 ic=0
b_osc raw vss v='v(vdd)*(0.5+0.5*tanh(5*sin(6.283185307*v(phase))))'
r_osc raw osc 100
c_osc osc vss 10f
.ends
"""
PLL_VERILOG = """`timescale 1ns/1ps
module loop(input up, input down, output osc); endmodule
module tb;
    reg ref_clk = 0, up = 0, down = 0, fb = 0;
    reg [2:0] count = 0;
    integer edges = 0;
    wire osc;
    loop dut(.up(up), .down(down), .osc(osc));
    always #50 ref_clk = ~ref_clk;               // 10 MHz
    always @(posedge osc) begin
        edges = edges + 1;
        count <= count + 1;                      // divides by 8
        fb <= count == 3'd7;
    end
    wire both = up & down;
    always @(posedge ref_clk or posedge both) if (both) up <= 0; else up <= 1;
    always @(posedge fb or posedge both) if (both) down <= 0; else down <= 1;
endmodule
"""
PLL_TEST = """
import cocotb
from cocotb.triggers import Timer
from cocotbext.ams import AnalogBlock, DigitalPin, MixedSignalBridge

@cocotb.test()
async def locks(dut):
    pins = {'up': DigitalPin('input', vdd=1.0), 'down': DigitalPin('input', vdd=1.0),
            'osc': DigitalPin('output', vdd=1.0)}
    block = AnalogBlock(name='dut', spice_file='analog.sp', subcircuit='loop', digital_pins=pins, vdd=1.0,
                        tran_step='1n')
    bridge = MixedSignalBridge(dut, [block], max_sync_interval_ns=5.0)
    running = cocotb.start_soon(bridge.start(duration_ns=9000))
    await Timer(6000, 'ns')
    first = int(dut.edges.value)
    await Timer(2000, 'ns')
    print('EDGES', int(dut.edges.value) - first, flush=True)
    await running
"""
RUN = """
import os, cocotb_tools.runner as r
run = r.get_runner('icarus')
run.build(sources=['digital.v'], hdl_toplevel='tb', always=True, timescale=('1ns', '1ps'))
run.test(hdl_toplevel='tb', test_module='bench', test_dir=os.getcwd())
"""
FLASH_SPICE = """* four bits, one comparator each
.subckt bit in ref vcc out rest half
b1 half 0 v = v(ref)/2
b2 out 0 v = (v(in) > v(half)) ? v(vcc) : 0
b3 rest 0 v = (v(in) > v(half)) ? v(in)-v(half) : v(in)
.ends
vvin vin 0 0 external
vcc vcc 0 1
vref ref 0 1
x3 vin ref vcc code[3] i3 r3 bit
x2 i3 r3 vcc code[2] i2 r2 bit
x1 i2 r2 vcc code[1] i1 r1 bit
x0 i1 r1 vcc code[0] i0 r0 bit
.tran 1n 1
.end
"""
FLASH_VERILOG = """`timescale 1ns/1ps
module flash(input real vin, output wire [3:0] code); endmodule
module tb;
    real vin = 0.0;
    wire [3:0] code;
    integer k;
    flash dut(.vin(vin), .code(code));
    initial begin
        for (k = 0; k < 32; k = k + 1) begin
            vin = k / 32.0 + 0.01;
            #20 $display("CODE %0d %0d", k / 2, code);
        end
        $finish;
    end
endmodule
"""


def has(package):
    return os.path.exists(PYTHON) and not subprocess.run([PYTHON, '-c', 'import ' + package],
                                                         capture_output=True).returncode


class Bench(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.folder = tmp.name
        os.symlink(LIBRARY, os.path.join(tmp.name, 'libngspice.so'))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def play(self, command, **more):
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY), LIBRARY_PATH=os.path.dirname(LIBRARY),
                   PATH=os.path.dirname(PYTHON) + os.pathsep + os.environ['PATH'], **more)
        done = subprocess.run(command, cwd=self.folder, env=env, text=True, timeout=240, errors='replace',
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout


@unittest.skipUnless(shutil.which('iverilog'), 'iverilog is not installed')
class CocotbextAms(Bench):
    def bench(self, spice, verilog, test):
        if not has('cocotbext.ams'):
            self.skipTest('cocotbext-ams is not installed')
        self.write('analog.sp', spice)
        self.write('digital.v', verilog)
        self.write('bench.py', test)
        return self.play([PYTHON, '-c', RUN])

    def test_a_converter_by_successive_approximation(self):
        out = self.bench(SAR_SPICE, SAR_VERILOG, SAR_TEST)
        found = re.findall(r'CODE (\S+) (\d+)', out)
        self.assertEqual(len(found), 5, out)
        for volts, code in found:
            self.assertLessEqual(abs(float(volts) * 256 - 0.5 - int(code)), 1, out)

    def test_a_pll_with_a_divider_locks(self):
        out = self.bench(PLL_SPICE, PLL_VERILOG, PLL_TEST)
        edges = re.search(r'EDGES (\d+)', out)
        self.assertTrue(edges, out)
        self.assertLessEqual(abs(int(edges.group(1)) - 160), 3, out)  # 80 MHz, 2 us

    def test_a_broken_deck_leads_to_its_line(self):
        out = self.bench(SAR_SPICE.replace('r_cmp raw above 1k', 'r_cmp raw above nothing'), SAR_VERILOG, SAR_TEST)
        self.assertRegex(out, r"Error: .*analog\.sp:5:\d+: ")


@unittest.skipUnless(shutil.which('iverilog'), 'iverilog is not installed')
class Spicebind(Bench):
    def bench(self, spice):
        if not has('spicebind'):
            self.skipTest('spicebind is not installed')
        self.write('flash.cir', spice)
        self.write('flash.v', FLASH_VERILOG)
        where = self.play([PYTHON, '-c', 'import spicebind; print(spicebind.get_lib_dir())']).strip()
        self.assertEqual(self.play(['iverilog', '-g2012', '-o', 'flash.vvp', 'flash.v']), '')
        return self.play(['vvp', '-M', where, '-m', 'spicebind_vpi', 'flash.vvp'], SPICE_NETLIST='flash.cir',
                         HDL_INSTANCE='tb.dut')

    def test_a_flash_converter(self):
        out = self.bench(FLASH_SPICE)
        found = re.findall(r'CODE (\d+) (\S+)', out)
        self.assertEqual(len(found), 32, out)
        for want, code in found:
            self.assertEqual(want, code, out)

    def test_a_broken_deck_leads_to_its_line(self):
        self.assertRegex(self.bench(FLASH_SPICE.replace('vcc vcc 0 1\n', 'vcc vcc 0 one\n')),
                         r'NGSPICE: stderr Error: flash\.cir:8:\d+: ')


if __name__ == '__main__':
    LIBRARY = os.path.abspath(sys.argv.pop(1))
    if not shutil.which('iverilog') or not (has('cocotbext.ams') or has('spicebind')):
        print('iverilog, or cocotbext-ams and spicebind, are not installed')
        sys.exit(77)
    unittest.main()
