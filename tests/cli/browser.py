#!/usr/bin/env python3
"""The viewer's page in headless Chromium, by Playwright.   browser.py VSIM [--keep FOLDER]

Pictures are compared with those of tests/data/view; --keep writes new ones there instead, to be looked at. Two pictures
agree if not more than 1 % of their blocks of 8 x 8 pixels differ by more than a fifth of the range: fonts and edges may
differ a little, a missing curve (a block in 60 of a picture's height, along all of its width) may not."""
import array
import base64
import cmath
import csv
import glob
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import urllib.parse
import xml.dom.minidom

from folder import Folder
from matlab import Level5

PEERS = os.environ.get('VSIM_PEERS', '')
PYTHON = os.path.join(PEERS, 'bin', 'python')
if os.path.exists(PYTHON) and sys.prefix == sys.base_prefix:
    os.execv(PYTHON, [PYTHON] + sys.argv)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
PICTURES = os.path.join(ROOT, 'tests', 'data', 'view')
SIZE = {'width': 900, 'height': 560}
TRAN, AC, NOISE = 'Transient Analysis', 'AC Analysis', 'Noise Spectral Density Curves'



def bits(n):
    """Points of a PWL source: n bits of 10 ns, edges of 0.5 ns."""
    register, text, last = 0x7f, '0 0', 0
    for k in range(n):
        bit = register & 1
        register = register >> 1 | ((register ^ register >> 1) & 1) << 6
        if bit != last:
            text += ' %gn %d %gn %d' % (10 * k + 1, last, 10 * k + 1.5, bit)
        last = bit
    return text


# 1000 / (1 + s RC)^3: the phase is -180 degrees where w RC = tan 60, the gain there 1000 / 8.
LOOP = '''loop gain
V1 in 0 dc 0 ac 1
E1 a 0 in 0 1000
R1 a b 1k
C1 b 0 1n
E2 c 0 b 0 1
R2 c d 1k
C2 d 0 1n
E3 e 0 d 0 1
R3 e out 1k
C3 out 0 1n
.ac dec 50 1k 100meg
.noise v(out) V1 dec 20 1k 100meg 1
.op
.end
'''
FAMILY = '''family
.param r=1k
V1 in 0 PULSE(0 1 1u 10n 10n 10u 20u)
R1 in out {r}
L1 out o2 20u
C1 o2 0 1n
.tran 50n 12u
.step param r lin 200 100 2k
.end
'''
CARLO = '''Monte Carlo
V1 in 0 PULSE(0 1 0.1u 1n 1n 10u 20u)
R1 in out {agauss(1k,100,1)}
C1 out 0 {agauss(1n,0.1n,1)}
.tran 50n 6u
.meas tran trise trig v(out) val=0.1 rise=1 targ v(out) val=0.9 rise=1
.mc 200 seed=3
.end
'''
SPAR = '''ladder
V1 p1 0 dc 0 portnum 1 z0 50
V2 p2 0 dc 0 portnum 2 z0 50
L1 p1 m 8n
C1 m 0 3.2p
L2 m p2 8n
Rx m q 300
C2 q 0 1p
.sp dec 80 50meg 5g
.end
'''
TONE = '''sine
V1 a 0 sin(0 1 1meg)
R1 a 0 1k
.tran 5n 10u 0 5n
.end
'''
STAGE = '''common source
Vdd vdd 0 5
Vin in 0 dc 1 sin(1 10m 100k)
M1 out in 0 0 nm w=10u l=1u
R1 vdd out 10k
.model nm nmos level=1 vto=0.7 kp=100u
.option savedevices
.op
.tran 1u 20u
.end
'''
# A line of bits (x^7 + x^6 + 1) through an RC of a quarter of a bit.
BITS = '''bits
V1 in 0 PWL(%s)
R1 in out 1k
C1 out 0 2.5p
.tran 0.1n 1.2u
.end
''' % bits(120)
RLC = '''series resonance
V1 in 0 dc 0 ac 1
R1 in a 10
L1 a out 1u
C1 out 0 1n
.pz in 0 out 0 vol pz
.end
'''
LONG = '''long
V1 in 0 sin(0 1 1meg)
R1 in out 1k
C1 out 0 1n
.save v(out)
.tran 1n 10 0 1n
.end
'''


def unity_of(rows):
    """Frequency and phase margin, in degrees, where v(out) of an ac table passes 0 dB, straight over the logarithm."""
    last = None
    for r in rows:
        f, v = float(r['frequency']), complex(float(r['v(out).re']), float(r['v(out).im']))
        db, phase = 20 * math.log10(abs(v)), cmath.phase(v)
        if last and last[1] > 0 >= db:
            part, turn = last[1] / (last[1] - db), (phase - last[2] + math.pi) % (2 * math.pi) - math.pi
            return last[0] * (f / last[0]) ** part, (math.degrees(last[2] + part * turn) + 360) % 360 - 180
        last = f, db, phase
    raise AssertionError('never 0 dB')


def why_not():
    """Why there is no browser to test with; None: there is one."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return 'no playwright in this Python (tests/peers.txt)'
    if not (shutil.which('chromium') or shutil.which('chromium-browser')):
        return "no chromium on this machine (Debian's package chromium)"
    return None


class Page(Folder):
    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright
        cls.play = sync_playwright().start()
        cls.browser = cls.play.chromium.launch(executable_path=shutil.which('chromium') or shutil.which('chromium-browser'),
                                               args=['--no-sandbox', '--font-render-hinting=none'])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.play.stop()

    def setUp(self):
        super().setUp()
        self.wrong = []

    def tearDown(self):
        self.assertEqual(self.wrong, [])

    def vsim(self, *words):
        subprocess.run([VSIM, *words], cwd=self.tmp.name, check=True, timeout=240, stdin=subprocess.DEVNULL)

    def run_deck(self, text, *words):
        self.write('a.sp', text)
        self.vsim('-q', 'a.sp', '-r', 'a.raw', *words)

    def serve(self, *words):
        server = subprocess.Popen([VSIM, *words, '--no-open'], cwd=self.tmp.name, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def end():
            if server.poll() is None:
                server.terminate()
            server.wait(timeout=300)
            server.stderr.close()
        self.addCleanup(end)
        self.server = server
        for line in server.stderr:
            if re.search(r'http://\S+/', line):
                return re.search(r'http://\S+', line).group(0)
        self.fail('no address')

    def open(self, url, state=None, script='', **context):
        c = self.browser.new_context(**{'viewport': SIZE, 'color_scheme': 'light', 'accept_downloads': True, **context})
        self.addCleanup(c.close)
        c.set_default_timeout(120000)  # a machine that runs tests is busy
        p = c.new_page()
        if script:
            p.add_init_script(script)
        p.on('console', lambda m: self.wrong.append(m.text) if m.type in ('error', 'warning') else None)
        p.on('pageerror', lambda e: self.wrong.append(str(e)))
        self.asked = []
        p.on('request', lambda r: self.asked.append(r.url))
        p.goto(url + ('#' + urllib.parse.quote(json.dumps(state)) if state else ''))
        p.wait_for_selector('body[data-ready=yes]')
        self.settle(p)
        return p

    def view(self, state=None, *files, **context):
        return self.open(self.serve('view', *(files or ['a.raw'])), state, **context)

    @staticmethod
    def settle(p):
        p.wait_for_load_state('load')
        p.wait_for_function("""() => [...document.querySelectorAll('.pane')].every((s) => !s.querySelector('.note') || s.querySelector('.note').textContent !== '…')""")
        p.wait_for_timeout(150)

    def looks_like(self, p, name):
        p.mouse.move(1, 1)
        picture = p.screenshot()
        path = os.path.join(PICTURES, name + '.png')
        if KEEP:
            with open(os.path.join(KEEP, name + '.png'), 'wb') as f:
                f.write(picture)
            return
        with open(path, 'rb') as f:
            kept = f.read()
        blank = p.context.new_page()
        part = blank.evaluate('''async ([a, b]) => {
            const small = async (t) => {
                const i = new Image();
                i.src = 'data:image/png;base64,' + t;
                await i.decode();
                const c = document.createElement('canvas'), w = c.width = Math.floor(i.width / 8), h = c.height = Math.floor(i.height / 8), g = c.getContext('2d');
                const whole = document.createElement('canvas');
                whole.width = i.width; whole.height = i.height;
                const q = whole.getContext('2d');
                q.drawImage(i, 0, 0);
                const d = q.getImageData(0, 0, i.width, i.height).data, out = new Float64Array(3 * w * h);
                for (let y = 0; y < 8 * h; y++) for (let x = 0; x < 8 * w; x++) for (let k = 0; k < 3; k++)
                    out[3 * ((y >> 3) * w + (x >> 3)) + k] += d[4 * (y * i.width + x) + k] / 64;
                return out;
            };
            const [p, q] = [await small(a), await small(b)];
            if (p.length !== q.length) return 1;
            let n = 0;
            for (let k = 0; k < p.length; k += 3) n += [0, 1, 2].some((c) => Math.abs(p[k + c] - q[k + c]) > 51);
            return n / (p.length / 3);
        }''', [base64.b64encode(picture).decode(), base64.b64encode(kept).decode()])
        blank.close()
        self.assertLessEqual(part, 0.01, '%s does not look as before: %.1f %% of it differ' % (name, 100 * part))

    @staticmethod
    def trace(e, what=TRAN, file=0):
        return {'g': '%d:%s' % (file, what), 'e': e}

    def pane(self, kind, *expressions, what=TRAN, **more):
        return {'kind': kind, 'traces': [self.trace(e, what) for e in expressions], **more}

    @staticmethod
    def state(p):
        return json.loads(urllib.parse.unquote(p.evaluate('location.hash').lstrip('#')))

    @staticmethod
    def facts(p, pane=0):
        return p.locator('.pane').nth(pane).locator('header .facts').all_inner_texts()


class Kinds(Page):
    def test_cursors_measure_a_sine(self):
        self.run_deck(TONE)
        p = self.view({'panes': [self.pane('xy', 'v(a)')], 'cur': {'time': [1e-6, 9e-6]}, 'x': {'time': [0, 10e-6]}})
        row = p.locator('#foot tbody tr').first.locator('td').all_inner_texts()
        head = [t.lower() for t in p.locator('#foot thead th').all_inner_texts()]
        cell = dict(zip(head[1:], row[1:]))
        for name, unit, value in (('period', 'µs', 1), ('frequency', 'MHz', 1), ('duty', '%', 50), ('peak-peak', 'V', 2), ('rms', 'mV', 707.1)):
            number, shown = cell[name].replace('−', '-').split()
            self.assertEqual(shown, unit, (name, cell))
            self.assertAlmostEqual(float(number) / value, 1, delta=2e-3)  # steps of 5 ns: 1 - cos(pi/200) and less
        self.looks_like(p, 'cursors')

    def test_the_ring_has_the_period_that_vacask_finds(self):
        self.vsim('-q', os.path.join(ROOT, 'netlists', 'ring.sp'), '-r', 'a.raw')
        p = self.view({'panes': [self.pane('xy', 'v(1)', 'v(5)')], 'cur': {'time': [10e-9, 28e-9]}, 'x': {'time': [10e-9, 30e-9]}})
        p.wait_for_function("document.querySelectorAll('#foot tbody tr').length === 2")
        head = [t.lower() for t in p.locator('#foot thead th').all_inner_texts()]
        for row in p.locator('#foot tbody tr').all():
            cell = dict(zip(head, row.locator('td').all_inner_texts()))
            number, unit = cell['period'].split()
            self.assertEqual(unit, 'ns')
            # tests/data/ring_crossings.csv; the trapezoid's (w h)^2 / 12 at h of 0.05 ns is 0.07 % of it, of edges some times that
            self.assertAlmostEqual(float(number) / 3.43922546, 1, delta=0.01)
        self.looks_like(p, 'ring')

    def test_margins_of_a_loop_that_is_known(self):
        self.run_deck(LOOP)
        p = self.view({'panes': [self.pane('db', 'v(out)', what=AC), self.pane('ph', 'v(out)', what=AC)]})
        unity = math.sqrt(1000 ** (2 / 3) - 1)  # w RC
        phase = 180 - 3 * math.degrees(math.atan(unity))
        told = ' '.join(self.facts(p, 0) + self.facts(p, 1)).replace('−', '-')
        self.assertAlmostEqual(float(re.search(r'phase margin (\S+)°', told).group(1)), phase, delta=0.1)
        self.assertAlmostEqual(float(re.search(r'gain margin (\S+) dB', told).group(1)), -20 * math.log10(125), delta=0.1)
        self.assertAlmostEqual(float(re.search(r'unity gain at (\S+) MHz', told).group(1)), unity / (2e-6 * math.pi) / 1e6, delta=0.01)
        self.looks_like(p, 'bode')

    def test_the_op_amp_of_a_real_process(self):
        kit = glob.glob(os.path.join(PEERS, 'lib', 'python3*', 'site-packages', 'ihp', 'models'))
        if not kit:
            self.skipTest('no IHP kit')
        with open(os.path.join(ROOT, 'tests', 'data', 'ihp', 'ota_ac.sp')) as f:
            lines = f.read().split('\n')
        hdl = ['.hdl "$PDK/ngspice/va/%s"' % m for m in ('psp103/psp103.va', 'psp103/psp103_nqs.va', 'r3_cmc/r3_cmc.va', 'mosvar/mosvar.va')]
        self.write('a.sp', '\n'.join(lines[:1] + hdl + lines[1:]))
        subprocess.run([VSIM, '-q', '--allow-native', 'a.sp', '-r', 'a.raw'], cwd=self.tmp.name, check=True, timeout=240,
                       stdin=subprocess.DEVNULL, env={**os.environ, 'PDK': kit[0]})
        p = self.view({'panes': [self.pane('db', 'v(out)', what=AC), self.pane('ph', 'v(out)', what=AC)]})
        told = ' '.join(self.facts(p, 0) + self.facts(p, 1)).replace('−', '-')
        self.vsim('convert', 'a.raw', 'b.csv')
        with open(self.path('b.csv'), newline='') as f:
            rows = list(csv.DictReader(f))
        with open(os.path.join(ROOT, 'tests', 'data', 'ihp', 'ota_ac.csv'), newline='') as f:
            first = next(r for r in csv.DictReader(f) if r['row'] == '0')  # of ngspice, at 1 Hz
        self.assertAlmostEqual(float(rows[0]['v(out).re']) / float(first['v(out).re']), 1, delta=1e-3)
        unity, margin = unity_of(rows)
        number, prefix = re.search(r'unity gain at (\S+) ([kM])Hz', told).groups()
        # between points of 10 a decade the page goes straight over the logarithm, as unity_of does
        self.assertAlmostEqual(float(number) * {'k': 1e3, 'M': 1e6}[prefix] / unity, 1, delta=1e-3)
        self.assertAlmostEqual(float(re.search(r'phase margin (\S+)°', told).group(1)), margin, delta=0.1)
        self.looks_like(p, 'opamp')

    def test_noise_is_sorted_by_what_devices_give(self):
        self.run_deck(LOOP)
        p = self.view({'panes': [self.pane('xy', 'onoise_spectrum', what=NOISE, ylog=True), self.pane('shares', 'onoise_spectrum', what=NOISE)]})
        legend = p.locator('.pane').nth(1).locator('.legend').all_inner_texts()
        share = [float(t.split()[-2]) for t in legend]
        self.assertEqual([t.split()[0] for t in legend], ['r3', 'r2', 'r1'][:len(legend)] if share[0] < 99 else [t.split()[0] for t in legend])
        self.assertEqual(share, sorted(share, reverse=True))
        self.assertAlmostEqual(sum(share), 100, delta=0.05 * len(share) + 1e-9)  # each is rounded
        self.looks_like(p, 'noise')

    def test_a_histogram_has_the_yield(self):
        self.run_deck(CARLO, '--measures', 'm.csv')
        with open(self.path('m.csv'), newline='') as f:
            x = [float(r['trise']) for r in csv.DictReader(f)]
        lo, hi = 1.9e-6, 2.6e-6
        p = self.view({'panes': [{**self.pane('hist', 'trise', what='Table'), 'lo': lo, 'hi': hi}]}, 'm.csv')
        told = ' '.join(self.facts(p))
        self.assertIn('n %d,' % len(x), told)
        self.assertIn('yield %.1f %%' % (100 * sum(lo <= v <= hi for v in x) / len(x)), told)
        self.assertAlmostEqual(float(re.search(r'average (\S+) µ', told).group(1)), 1e6 * sum(x) / len(x), delta=1e-3)
        self.looks_like(p, 'histogram')

    def test_a_figure_of_a_family_and_a_scatter_plot(self):
        self.run_deck(FAMILY)
        p = self.view({'panes': [self.pane('hist', 'v(o2)', how='max'), self.pane('scatter', 'v(o2)', 'i(l1)', how='max')]})
        self.assertIn('n 200,', self.facts(p, 0)[0])
        self.assertIn('correlation', self.facts(p, 1)[0])

    def test_two_hundred_curves(self):
        self.run_deck(FAMILY)
        p = self.view({'panes': [self.pane('xy', 'v(o2)'), self.pane('xy', 'i(l1)')]})
        self.assertIn('200: r=100 … r=2000', ' '.join(self.facts(p)))
        self.looks_like(p, 'family')

    def test_a_smith_chart(self):
        self.run_deck(SPAR)
        p = self.view()
        self.assertEqual(self.state(p)['panes'][0]['kind'], 'smith')
        box = p.locator('canvas').bounding_box()
        self.vsim('convert', 'a.raw', 'b.csv', '--plot', 'sp')
        with open(self.path('b.csv'), newline='') as f:
            last = list(csv.DictReader(f))[-1]
        s11 = complex(float(last['S_1_1.re']), float(last['S_1_1.im']))
        r = (min(box['width'], box['height']) / 2 - 24) / 1.02
        p.mouse.move(box['x'] + box['width'] / 2 + r * s11.real, box['y'] + box['height'] / 2 - r * s11.imag)
        told = p.locator('canvas').get_attribute('title')
        self.assertIn('at %.4g GHz' % (float(last['frequency']) / 1e9), told)
        self.assertIn('%.4f ∠ %.1f°' % (abs(s11), math.degrees(math.atan2(s11.imag, s11.real))), told)
        self.looks_like(p, 'smith')

    def test_a_spectrum_and_its_tone(self):
        self.run_deck(TONE)
        p = self.view({'panes': [self.pane('fft', 'v(a)', n=1024)]})
        self.assertIn('SFDR', self.facts(p)[0])
        self.assertEqual(self.wrong, [])

    def test_an_operating_point_by_device_and_beside_the_names(self):
        self.run_deck(STAGE)
        p = self.view({'panes': [self.pane('op', 'v(out)', what='Operating Point')]})
        self.assertIn('v(out)', p.locator('table[aria-label="Operating point by node"]').inner_text())
        table = p.locator('table[aria-label="Operating point by device"]').filter(has_text='gmbs')
        head = [h.lower() for h in table.locator('thead th').all_inner_texts()]
        row = table.locator('tbody tr').filter(has_text='m1').first.locator('td').all_inner_texts()
        cell = dict(zip(head, row))
        # vgs 1, vto 0.7: id = kp w / (2 l) 0.3^2 = 45 uA, gm = kp w / l 0.3 = 300 uS; out = 5 - 10k id
        self.assertEqual((cell['id'], cell['gm'], cell['vgs']), ('45 µA', '300 µ', '1 V'))
        out = p.get_by_role('treeitem', name='v(out)')
        self.assertIn('4.55 V', out.inner_text())
        self.looks_like(p, 'point')
        p.locator('#plot').select_option('0:' + TRAN)
        p.wait_for_function("document.querySelector('#count').textContent.includes('at the operating point')")
        self.assertIn('4.55 V', out.inner_text())

    def test_values_at_the_cursor_stand_beside_the_names(self):
        self.run_deck(TONE)
        p = self.view({'panes': [self.pane('xy', 'v(a)')], 'cur': {'time': [1.25e-6, None]}})
        p.wait_for_function("document.querySelector('#count').textContent.includes('at A = 1.25 µs')")
        value, unit = p.get_by_role('treeitem', name='v(a)').inner_text().split()[1:]
        # the sine's peak, or up to 1 - cos(pi/400) below it, and the steps' own errors
        self.assertAlmostEqual(float(value) * (1e-3 if unit == 'mV' else 1), 1, delta=2e-3)

    def test_an_eye(self):
        self.run_deck(BITS)
        p = self.view({'panes': [self.pane('eye', 'v(out)')]})
        told = ' '.join(self.facts(p))
        self.assertAlmostEqual(float(re.search(r'unit interval (\S+) ns', told).group(1)), 10, delta=0.02)
        # edges that come after one bit alone begin exp(-4) nearer to the middle: ISI of RC ln(1 / (1 - exp(-4))) and less
        self.assertLess(float(re.search(r'(\S+) ps peak-peak', told).group(1)), 1e3 * 2.5 * math.log(1 / (1 - math.exp(-4))) + 20)
        # 0.4 of a bit behind the middle of an edge it has gone on by exp(-1.6) of the half: 1 - exp(-1.6) of the whole, less the ISI
        height = float(re.search(r'open (\S+) mV', told).group(1)) / 1e3
        self.assertAlmostEqual(height, 1 - math.exp(-1.6), delta=2 * math.exp(-4))
        self.looks_like(p, 'eye')

    def test_poles_and_zeros(self):
        self.run_deck(RLC)
        p = self.view()
        self.assertEqual(self.state(p)['panes'][0]['kind'], 'pz')
        told = ' '.join(self.facts(p))
        # 1 uH, 1 nF in series with 10 ohm: w0 = 1 / sqrt(LC), Q = sqrt(L / C) / R
        self.assertIn('pole 5.03 MHz, Q 3.16', told)
        self.assertNotIn('not stable', told)
        self.looks_like(p, 'poles')

    def test_the_history_of_steps(self):
        self.write('a.sp', FAMILY.replace('.step param r lin 200 100 2k\n', ''))
        self.vsim('profile', 'a.sp', '--steps', 's.raw', '-o', 'report.txt')
        p = self.view(None, 's.raw')
        self.assertEqual([[t['e'] for t in q['traces']] for q in self.state(p)['panes']],
                         [['step'], ['iterations', 'rejected', 'not_converged'], ['error']])
        self.looks_like(p, 'steps')

    def test_paper(self):
        self.run_deck(LOOP)
        p = self.view({'panes': [self.pane('db', 'v(out)', what=AC), self.pane('ph', 'v(out)', what=AC)], 'theme': 'dark'})
        p.emulate_media(media='print')
        p.wait_for_timeout(300)
        for hidden in ('#bar', '#side', '.tools >> nth=0'):
            self.assertFalse(p.locator(hidden).is_visible(), hidden)
        self.assertEqual(p.locator('.pane canvas').count(), 2)
        self.looks_like(p, 'paper')


class Use(Page):
    def test_keys_alone(self):
        self.run_deck(TONE)
        p = self.view({'panes': []})
        p.keyboard.press('/')
        p.keyboard.type('v(a')
        p.keyboard.press('Enter')
        self.settle(p)
        self.assertEqual([t['e'] for t in self.state(p)['panes'][0]['traces']], ['v(a)'])
        p.keyboard.press('Escape')
        for key in ('+', '+', 'a', 'b', 'ArrowRight', 'n'):
            p.keyboard.press(key)
            self.settle(p)
        s = self.state(p)
        self.assertEqual(len(s['panes']), 2)
        lo, hi = s['x']['time']
        self.assertAlmostEqual(hi - lo, 2.5e-6, delta=1e-12)
        self.assertAlmostEqual((lo + hi) / 2, 5.25e-6, delta=1e-12)
        self.assertTrue(all(c is not None for c in s['cur']['time']))
        before = s['cur']['time'][1]
        p.keyboard.press('ArrowUp')
        p.keyboard.press('.')
        self.assertGreater(self.state(p)['cur']['time'][1], before)
        p.keyboard.press('d')
        self.assertEqual(p.evaluate('document.documentElement.dataset.theme'), 'dark')
        for _ in range(30):
            p.keyboard.press('u')
        self.assertEqual(self.state(p)['panes'], [])
        p.keyboard.press('?')
        self.assertTrue(p.get_by_role('dialog', name='Keys').is_visible())
        p.keyboard.press('Escape')
        p.keyboard.press('e')
        self.assertEqual(p.evaluate('document.activeElement.id'), 'expr')

    def test_controls_have_names(self):
        self.run_deck(TONE)
        p = self.view()
        nameless = p.evaluate('''() => [...document.querySelectorAll('button, input, select, canvas, [role], [tabindex]')].filter((e) =>
            !(e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 100))''')
        self.assertEqual([n for n in nameless if 'role="status"' not in n and 'role="alert"' not in n], [])
        for role, name in (('tree', 'Signals by hierarchy'), ('searchbox', 'Search signals'), ('toolbar', 'Tools'), ('button', 'Fit everything'),
                           ('combobox', 'What the pane shows'), ('textbox', 'Expression over signals'), ('group', 'Pane 1: Waveforms')):
            self.assertEqual(p.get_by_role(role, name=name).count(), 1, (role, name))
        self.assertRegex(p.locator('canvas').get_attribute('aria-label'), r'^Waveforms: v\(a\).*time from 0 s to 10 µs')
        self.assertEqual(p.get_by_role('treeitem', name='v(a)').count(), 1)

    def test_expressions_and_their_errors(self):
        self.run_deck(TONE)
        p = self.view()
        p.fill('#expr', 'v(a)*delay(v(a),0.25u)')
        p.press('#expr', 'Enter')
        self.settle(p)
        self.assertIn('v(a)*delay(v(a),0.25u)', [t['e'] for q in self.state(p)['panes'] for t in q['traces']])
        self.assertEqual(self.wrong, [])
        p.fill('#expr', 'v(a)+v(q)')
        p.press('#expr', 'Enter')
        p.wait_for_selector('#wrong .wrong')
        self.assertIn("v(q)", p.locator('#wrong').inner_text())
        self.wrong = [w for w in self.wrong if '400' not in w]  # the browser tells of the answer, too

    def test_the_mouse_zooms_and_the_address_keeps_it(self):
        self.run_deck(TONE)
        p = self.view()
        box = p.locator('canvas').bounding_box()
        p.mouse.move(box['x'] + 200, box['y'] + 100)
        p.mouse.down()
        p.mouse.move(box['x'] + 400, box['y'] + 103, steps=4)
        p.mouse.up()
        self.settle(p)
        lo, hi = self.state(p)['x']['time']
        self.assertTrue(0 < lo < hi < 10e-6)
        p.reload()
        p.wait_for_selector('body[data-ready=yes]')
        self.assertEqual(self.state(p)['x']['time'], [lo, hi])
        p.mouse.dblclick(box['x'] + 300, box['y'] + 100)
        self.settle(p)
        self.assertEqual(self.state(p)['x'], {})

    def test_dark(self):
        self.run_deck(TONE)
        p = self.view({'panes': [self.pane('xy', 'v(a)'), self.pane('xy', 'i(v1)')]}, color_scheme='dark')
        self.looks_like(p, 'dark')

    def test_files_are_saved(self):
        self.run_deck(TONE)
        p = self.view({'panes': [self.pane('xy', 'v(a)')]})
        got = {}
        for words in ('SVG', 'PNG', 'CSV: numbers'):
            p.keyboard.press('s')
            with p.expect_download() as d:
                p.get_by_role('button', name=words, exact=True).click()
            got[words] = d.value.path()
        doc = xml.dom.minidom.parse(str(got['SVG']))
        texts = [''.join(c.data for c in t.childNodes) for t in doc.getElementsByTagName('text')]
        self.assertIn('time [µs]', texts)
        self.assertIn('v(a)', texts)
        with open(got['PNG'], 'rb') as f:
            self.assertEqual(f.read(8), b'\x89PNG\r\n\x1a\n')
        self.vsim('convert', 'a.raw', 'b.csv', '--plot', 'tran')
        with open(got['CSV: numbers'], newline='') as f, open(self.path('b.csv'), newline='') as g:
            page, whole = list(csv.DictReader(f)), list(csv.DictReader(g))
        self.assertEqual([float(r['v(a)']) for r in page], [float(r['v(a)']) for r in whole])
        self.assertEqual([float(r['time']) for r in page], [float(r['time']) for r in whole])

    def test_a_hundred_thousand_signals(self):
        n = 100000
        names = ['v(x%d.y%d.z%d)' % (k // 1000, k // 20 % 50, k % 20) for k in range(n)]
        head = 'Title: many\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: %d\nNo. Points: 2\nVariables:\n\t0\ttime\ttime\n' % (n + 1)
        with open(self.path('a.raw'), 'wb') as f:
            f.write(head.encode() + ''.join('\t%d\t%s\tvoltage\n' % (k + 1, m) for k, m in enumerate(names)).encode() + b'Binary:\n')
            for k in range(2):
                f.write(struct.pack('<%dd' % (n + 1), k, *range(n)))
        p = self.view({'panes': []})
        self.assertEqual(p.locator('#count').inner_text(), '100,000 signals')
        p.keyboard.press('/')
        p.keyboard.type('x77. z3)')
        self.assertEqual(p.locator('#count').inner_text(), '50 of 100,000 signals')
        self.assertLess(p.locator('[role=treeitem]').count(), 100)
        p.keyboard.press('Enter')
        self.settle(p)
        self.assertEqual(self.state(p)['panes'][0]['traces'][0]['e'], 'v(x77.y0.z3)')
        p.keyboard.press('Escape')
        p.locator('#tree').focus()
        for key in ('End', 'ArrowRight', 'End', 'ArrowRight', 'End'):
            p.keyboard.press(key)
        self.assertEqual(p.locator('.row.at .name').inner_text(), 'v(x99.y49.z19)')
        self.looks_like(p, 'tree')

    def put_raw(self, rows, what=TRAN, names=('time', 'v(a)')):
        head = 'Title: t\nPlotname: %s\nFlags: real\nNo. Variables: %d\nNo. Points: %d\nVariables:\n' % (what, len(names), len(rows) // len(names))
        vectors = ''.join('\t%d\t%s\t%s\n' % (k, n, 'voltage' if k else 'time') for k, n in enumerate(names))
        with open(self.path('a.raw'), 'ab') as f:
            f.write((head + vectors).encode() + b'Binary:\n' + rows.tobytes())

    def test_what_is_no_number_is_a_gap(self):
        nan, inf = math.nan, math.inf
        self.put_raw(array.array('d', (0, 1, 1, nan, 2, inf, 3, -inf, 4, 5)))
        p = self.view({'panes': [self.pane('xy', 'v(a)')], 'cur': {'time': [0, 4]}})
        row = dict(zip([t.lower() for t in p.locator('#foot thead th').all_inner_texts()], p.locator('#foot tbody tr').first.locator('td').all_inner_texts()))
        self.assertEqual((row['at a'], row['at b']), ('1 V', '5 V'))
        p.keyboard.press('k')  # logarithmic
        self.settle(p)
        for kind in ('fft', 'eye', 'hist', 'polar'):
            p.locator('#kind').select_option(kind)
            self.settle(p)
        self.wrong = [w for w in self.wrong if '400' not in w]  # no spectrum of that; the pane says why

    def test_a_plot_without_points(self):
        self.put_raw(array.array('d'))
        self.put_raw(array.array('d', (0, 1, 1, 2)), what='AC Analysis')
        p = self.view({'panes': [self.pane('xy', 'v(a)')], 'cur': {'time': [0, 4]}})
        self.assertIn('no points', p.locator('.pane').inner_text())
        for kind in ('fft', 'eye', 'hist', 'scatter', 'smith', 'op'):
            p.locator('#kind').select_option(kind)
            self.settle(p)
        self.wrong = [w for w in self.wrong if '400' not in w]

    def test_cursors_over_a_million_points_say_what_is_approximate(self):
        n = 1000000
        rows = array.array('d', bytes(16 * n))
        rows[0::2] = array.array('d', range(n))
        rows[1::2] = array.array('d', (k % 1000 for k in range(n)))  # saw teeth: from 0 to 999
        self.put_raw(rows)
        p = self.view({'panes': [self.pane('xy', 'v(a)')], 'cur': {'time': [500.5, 999000.5]}})
        p.wait_for_selector('#foot tbody tr')
        row = dict(zip([t.lower() for t in p.locator('#foot thead th').all_inner_texts()], p.locator('#foot tbody tr').first.locator('td').all_inner_texts()))
        self.assertEqual((row['at a'], row['at b'], row['min'], row['max']), ('500.5 V', '500 mV', '0 V', '999 V'))
        self.assertTrue(row['average'].startswith('≈') and row['rms'].startswith('≈'))

    def test_numbers_of_too_many_points_are_saved_of_a_part_alone(self):
        n = (1 << 20) + 100
        rows = array.array('d', bytes(16 * n))
        rows[0::2] = array.array('d', range(n))
        rows[1::2] = array.array('d', (k % 1000 for k in range(n)))
        self.put_raw(rows)
        p = self.view({'panes': [self.pane('xy', 'v(a)')]})

        def press():
            p.keyboard.press('s')
            p.get_by_role('button', name='CSV: numbers', exact=True).click()
        press()
        p.wait_for_selector('dialog[aria-label="Nothing was saved"]')
        self.assertIn('%d points' % n, p.locator('dialog').inner_text())
        self.assertIn('vsim convert', p.locator('dialog').inner_text())
        p.keyboard.press('Escape')
        p = self.view({'panes': [self.pane('xy', 'v(a)')], 'x': {'time': [4000.5, 90000.5]}})
        with p.expect_download() as d:
            press()
        with open(d.value.path(), newline='') as f:  # one more point on either side
            self.assertEqual([(float(r['time']), float(r['v(a)'])) for r in csv.DictReader(f)],
                             [(k, k % 1000) for k in range(4000, 90002)])

    def test_a_phone_shows_the_panes(self):
        self.run_deck(LOOP)
        p = self.view(viewport={'width': 390, 'height': 780})
        box = p.locator('.pane').first.bounding_box()
        self.assertGreater(box['width'], 360)
        self.assertEqual(p.evaluate('document.documentElement.scrollWidth'), 390)
        self.assertFalse(p.locator('#side').is_visible())
        p.keyboard.press('t')
        self.assertTrue(p.locator('#search').is_visible())
        self.assertGreater(p.locator('.pane').first.bounding_box()['width'], 360)  # the list lies over them

    def test_long_names_and_many_curves_leave_room(self):
        long = 'v(%s.%d)' % ('.'.join(['xinstance_%d' % k for k in range(12)]), 7)
        n = 30
        names = ['time', long] + ['v(%d)' % k for k in range(n)]
        rows = array.array('d', [float(k * (j + 1)) for k in range(20) for j in range(len(names))])
        head = 'Title: t\nPlotname: %s\nFlags: real\nNo. Variables: %d\nNo. Points: 20\nVariables:\n' % (TRAN, len(names))
        for k, name in enumerate(names):
            head += '\t%d\t%s\t%s\n' % (k, name, 'voltage' if k else 'time')
        with open(self.path('a.raw'), 'wb') as f:
            f.write(head.encode() + b'Binary:\n' + rows.tobytes())
        p = self.view({'panes': [self.pane('xy', *names[1:])], 'cur': {'time': [1.5, 7.5]}})
        p.wait_for_selector('#foot tbody tr')
        pane = p.locator('.pane').bounding_box()
        for tool in p.locator('.pane .tools button').all():
            box = tool.bounding_box()
            self.assertTrue(pane['x'] < box['x'] and box['x'] + box['width'] < pane['x'] + pane['width'])
            self.assertTrue(pane['y'] < box['y'] and box['y'] + box['height'] < pane['y'] + 60)
        cell = p.locator('#foot tbody tr').first.locator('td').first
        self.assertEqual(cell.get_attribute('title'), long)
        self.assertLess(len(cell.inner_text()), 45)
        self.assertTrue(cell.inner_text().startswith(long[:15]) and cell.inner_text().endswith(long[-15:]))

    def test_what_of_a_file_is_not_read_is_shown(self):
        m = Level5()
        for name, more in (('a.mat', m.text('<b>note', 'hi') + b'cut'), ('b.mat', b'')):
            with open(self.path(name), 'wb') as f:
                f.write(m.head() + m.doubles('t', (1, 2), 5, 6) + m.doubles('x', (1, 2), 5, 6) + more)
        p = self.view(None, 'a.mat')
        self.assertEqual(p.locator('#notes summary').inner_text(), 'not read: 2 notes')
        p.locator('#notes summary').click()
        self.assertEqual(p.locator('#notes li').all_inner_texts(),
                         ["'<b>note' is text, and is not read",
                          'the file ends in the middle of a variable: what stands in front of that is shown'])
        self.assertTrue(self.view(None, 'b.mat').locator('#notes').is_hidden())
        self.vsim('plot', 'a.mat', 'x', '-o', 'x.html')
        p = self.open('file://' + self.path('x.html'))
        self.assertEqual(p.locator('#notes li').all_text_contents()[0], "'a.mat': '<b>note' is text, and is not read")

    def test_names_are_text(self):
        bad = '<img src=x onerror=alert(1)>'
        head = 'Title: %s\nPlotname: %s\nFlags: real\nNo. Variables: 2\nNo. Points: 2\nVariables:\n\t0\ttime\ttime\n\t1\tv(%s)\tvoltage\nBinary:\n'
        name = bad.replace(' ', '_')
        with open(self.path('a.raw'), 'wb') as f:
            f.write((head % (bad, bad, name)).encode() + struct.pack('<4d', 0, 1, 1, 2))
        p = self.view()
        self.assertEqual(p.locator('img').count(), 0)
        self.assertIn(name, p.locator('#tree').inner_text())


class Alone(Page):
    def test_a_page_needs_no_server(self):
        self.run_deck(FAMILY)
        self.vsim('plot', 'a.raw', 'v(o2)', 'i(l1)', '-o', 'x.html', '--title', 'alone & <b>')
        p = self.open('file://' + self.path('x.html'))
        self.assertEqual(len(self.state(p)['panes']), 2)
        self.assertIn('200: r=100 … r=2000', ' '.join(self.facts(p)))
        self.assertEqual([u for u in self.asked if not u.startswith(('file:', 'data:'))], [])
        p.keyboard.press('+')
        self.settle(p)
        self.assertEqual(p.locator('#expr').count(), 0)

    def test_bode_and_smith(self):
        self.run_deck(LOOP)
        self.vsim('plot', 'a.raw', 'v(out)', '--plot', 'ac', '--bode', '-o', 'x.html')
        p = self.open('file://' + self.path('x.html'))
        self.assertIn('gain margin', ' '.join(self.facts(p)))


class Live(Page):
    def test_waveforms_grow_and_the_run_is_stopped(self):
        self.write('a.sp', LONG)
        # curves come late, as those of a large file do: the file has grown again when they are there
        slow = '''(() => { const soon = window.fetch; window.fetch = async (a, b) => {
            if (String(a).startsWith('curve')) await new Promise((r) => setTimeout(r, 2000));
            return soon(a, b);
        }; })()'''
        p = self.open(self.serve('a.sp', '--view', '-q'), script=slow)
        p.wait_for_selector('#stop', timeout=180000)
        p.wait_for_function("document.querySelectorAll('.pane').length === 1", timeout=180000)
        ends = []
        for _ in range(3):
            last = ends[-1] if ends else ''
            p.wait_for_function('(t) => { const c = document.querySelector("canvas"); return c && c.getAttribute("aria-label") && c.getAttribute("aria-label") !== t; }', arg=last, timeout=180000)
            ends.append(p.locator('canvas').get_attribute('aria-label'))
        self.assertEqual(len(set(ends)), 3)
        self.assertRegex(p.locator('#rate').inner_text(), r'[\d,]+ points, .*/s')
        p.keyboard.press('x')
        p.get_by_text('the run has ended').wait_for(timeout=180000)
        p.context.close()
        self.assertEqual(self.server.wait(timeout=300), 130)
        with open(self.path('a.raw'), 'rb') as f:
            head = f.read(4096).split(b'Binary:\n')[0] + b'Binary:\n'
        n = int(re.search(rb'No\. Points: *(\d+)', head).group(1))
        self.assertGreater(n, 0)
        self.assertEqual(os.path.getsize(self.path('a.raw')), len(head) + 16 * n)

    def test_the_end_of_the_server_is_told(self):
        self.run_deck(TONE)
        p = self.view()
        self.server.terminate()
        p.get_by_text('vsim has ended').wait_for(timeout=180000)
        self.wrong = []  # the browser tells of the lost connection


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    KEEP = None
    if '--keep' in sys.argv:
        at = sys.argv.index('--keep')
        KEEP = os.path.abspath(sys.argv.pop(at + 1))
        sys.argv.pop(at)
    reason = why_not()
    if reason:
        print('browser: skipped: ' + reason)
        sys.exit(77)
    unittest.main()
