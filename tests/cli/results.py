#!/usr/bin/env python3
"""Commands on result files: plot, convert, compare.   results.py VSIM"""
import array
import base64
import json
import os
import pty
import random
import re
import resource
import statistics
import struct
import subprocess
import sys
import time
import unittest
import xml.dom.minidom
import zlib

from folder import Folder
from matlab import Level5

FAMILY = '''RLC family
.param r=10
V1 in 0 PULSE(0 1 1n 0.1n 0.1n 50n 100n) ac 1
R1 in a {r}
L1 a out 100n
C1 out 0 10p
.tran 0.1n 40n
.ac dec 20 1meg 1g
.step param r list 2 10 50
.end
'''


def raw(vectors, rows, plot='Transient Analysis', title='made', complex_=False, count=None):
    """A binary raw file as bytes; vectors: (name, type)."""
    head = 'Title: %s\nPlotname: %s\nFlags: %s\nNo. Variables: %d\nNo. Points: %d\nVariables:\n' % (
        title, plot, 'complex' if complex_ else 'real', len(vectors), len(rows) if count is None else count)
    head += ''.join('\t%d\t%s\t%s\n' % (i, n, t) for i, (n, t) in enumerate(vectors))
    return head.encode('latin-1') + b'Binary:\n' + b''.join(struct.pack('<%dd' % len(r), *r) for r in rows)


class Results(Folder):
    def setUp(self):
        super().setUp()
        self.write('family.sp', FAMILY)
        self.vsim('-q', '-r', 'family.raw', 'family.sp')

    def vsim(self, *words, code=0):
        run = subprocess.run([VSIM, *words], cwd=self.tmp.name, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=240)
        if code is not None:
            self.assertEqual(run.returncode, code, (words, run.stdout, run.stderr))
        return run

    def svg(self, name):
        doc = xml.dom.minidom.parse(self.path(name))
        texts = [''.join(c.data for c in t.childNodes) for t in doc.getElementsByTagName('text')]
        curves = [p for p in doc.getElementsByTagName('path') if p.getAttribute('stroke-width') == '1.5']
        return texts, curves

    def put(self, name, data):
        with open(self.path(name), 'wb') as f:
            f.write(data)


class Plot(Results):
    def test_vectors_are_listed_without_expressions(self):
        out = self.vsim('plot', 'family.raw').stdout
        self.assertIn('1 tran: Transient Analysis, r=2', out)
        self.assertIn('and 2 more like it', out)
        self.assertIn('2 ac: AC Analysis, r=2', out)
        self.assertRegex(out, r'v\(out\) +voltage, complex')

    def test_a_family_is_a_curve_for_each_point(self):
        self.vsim('plot', 'family.raw', 'v(out)', '-o', 'a.svg')
        texts, curves = self.svg('a.svg')
        self.assertEqual(len(curves), 3)
        self.assertEqual(len({c.getAttribute('stroke') for c in curves}), 3)
        for t in ('RLC family', 'r=2', 'r=10', 'r=50', 'time [ns]', 'voltage [V]'):
            self.assertIn(t, texts)
        self.vsim('plot', 'family.raw', 'v(out)', '2*i(l1)', '--plot', '3', '-o', 'b.svg')
        texts, curves = self.svg('b.svg')
        self.assertEqual(len(curves), 2)
        self.assertIn('2*i(l1)', texts)

    def test_a_polar_chart_of_the_smallest_numbers_has_places(self):
        self.put('tiny.raw', b'Title: t\nPlotname: AC Analysis\nFlags: complex\nNo. Variables: 2\nNo. Points: 2\n'
                 b'Variables:\n\t0\tfrequency\tfrequency\n\t1\tv(a)\tvoltage\nValues:\n'
                 b'0\t1,0\n\t5e-324,0\n1\t2,0\n\t0,-5e-324\n')
        self.vsim('plot', '--polar', 'tiny.raw', 'v(a)', '-o', 'tiny.svg')
        with open(self.path('tiny.svg')) as f:
            self.assertNotIn('nan', f.read())

    def test_a_curve_is_shown_before_a_single_point(self):
        one = raw([('v(1)', 'voltage')], [[7.0]], plot='Operating Point')
        two = raw([('time', 'time'), ('v(1)', 'voltage')], [[0.0, 1.0], [1.0, 2.0]])
        self.put('two.raw', one + two)
        self.vsim('plot', 'two.raw', 'v(1)', '-o', 'a.svg')
        self.assertIn('time [s]', self.svg('a.svg')[0])
        self.put('one.raw', one)
        self.vsim('plot', 'one.raw', 'v(1)', '-o', 'b.svg')
        self.assertNotIn('time [s]', self.svg('b.svg')[0])

    def test_bode_pairs_share_a_logarithmic_axis(self):
        self.vsim('plot', 'family.raw', 'v(out)', '--plot', 'ac', '--bode', '-o', 'b.svg', '--title', 'a < b')
        texts, curves = self.svg('b.svg')
        self.assertEqual(len(curves), 6)
        self.assertEqual(texts.count('frequency [Hz]'), 1)
        for t in ('a < b', 'magnitude [dB]', 'phase [°]', '10M', '100M', '-90'):
            self.assertIn(t, texts)

    def test_charts_of_the_complex_plane(self):
        for kind in ('--smith', '--polar'):
            self.vsim('plot', 'family.raw', 'v(out)/40', '--plot', 'ac', kind, '-o', 'c.svg')
            texts, curves = self.svg('c.svg')
            self.assertEqual(len(curves), 3)
            self.assertIn('j0.5' if kind == '--smith' else '-90°', texts)
        self.vsim('plot', 'family.raw', 'i(l1)', '--plot', '1', '--vs', 'v(out)', '-o', 'v.svg')
        self.assertIn('v(out) [V]', self.svg('v.svg')[0])

    def test_several_files_are_members(self):
        os.rename(self.path('family.raw'), self.path('one.raw'))
        self.vsim('-q', '-r', 'two.raw', 'family.sp')
        self.vsim('plot', 'one.raw', 'two.raw', 'v(out)', '-o', 'f.svg')
        texts, curves = self.svg('f.svg')
        self.assertEqual(len(curves), 6)
        self.assertIn('two.raw, r=50', texts)
        self.assertIn('nix.raw', self.vsim('plot', 'one.raw', 'nix.raw', 'v(out)', code=4).stderr)

    def test_the_terminal_gets_letters(self):
        out = self.vsim('plot', 'family.raw', 'v(out)', '--size', '60x15').stdout
        lines = out.split('\n')[:-1]
        self.assertEqual(len(lines), 15)
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertRegex(out, '[\u2801-\u28ff]{5}')
        self.assertNotIn('\033', out)
        self.vsim('plot', 'family.raw', 'v(out)', '-o', 'a.txt', '--size', '60x15')
        self.assertEqual(self.read('a.txt'), out)

    def pixels(self, kind):
        """What the terminal gets; None: this vsim has no cairo."""
        done = self.vsim('plot', 'family.raw', 'time', '--plot', '1', '--size', '50x15', '--graphics', kind, code=None)
        if done.returncode == 4 and 'built without cairo' in done.stderr:
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_kitty_gets_the_bytes_of_the_png(self):
        out = self.pixels('kitty')
        if out is None:
            return
        parts = re.findall(r'\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\', out)
        self.assertEqual(parts[0][0], 'a=T,f=100,q=2,c=50,r=15,m=1')
        self.assertEqual([k for k, _ in parts[1:]], ['m=1'] * (len(parts) - 2) + ['m=0'])
        self.assertTrue(all(len(t) <= 4096 for _, t in parts))
        self.vsim('plot', 'family.raw', 'time', '--plot', '1', '--size', '400x240', '-o', 'k.png')
        with open(self.path('k.png'), 'rb') as f:
            self.assertEqual(base64.b64decode(''.join(t for _, t in parts)), f.read())

    def test_sixels_are_a_picture(self):
        out = self.pixels('sixel')
        if out is None:
            return
        body = re.match(r'\x1bP0;1;0q"1;1;400;240(.*)\x1b\\\n$', out, re.S).group(1)
        rows, colour, now, x, y = [[None] * 400 for _ in range(240)], {}, 0, 0, 0
        for number, r, g, b, use, times, bits, to in re.findall(r'#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|(?:!(\d+))?([?-~])|([$-])', body):
            if number:
                colour[int(number)] = tuple(int(v) / 100 for v in (r, g, b))
            elif use:
                now = int(use)
            elif to:
                x, y = 0, y + 6 * (to == '-')
            else:
                for _ in range(int(times or 1)):
                    for k in range(6):
                        if ord(bits) - 63 >> k & 1:
                            self.assertIsNone(rows[y + k][x])
                            rows[y + k][x] = colour[now]
                    x += 1
        self.assertTrue(all(c for row in rows for c in row))  # each pixel has one colour
        # time over itself: where it is blue, it rises from the left to the right
        blue = [[k for k in range(240) if rows[k][x][2] - rows[k][x][0] > 0.4] for x in range(400)]
        line = [sum(k) / len(k) for k in blue if 0 < len(k) < 8][20:]
        self.assertGreater(len(line), 200)
        self.assertTrue(all(b < a + 1 for a, b in zip(line, line[1:])))
        self.assertGreater(line[0] - line[-1], 100)

    def test_pixels_are_for_terminals_that_say_so(self):
        def begin(**env):
            mine, other = pty.openpty()
            clean = {k: v for k, v in os.environ.items() if not k.startswith(('KITTY', 'TERM'))}
            run = subprocess.Popen([VSIM, 'plot', 'family.raw', 'v(out)', '--plot', '1'], cwd=self.tmp.name, stdin=subprocess.DEVNULL,
                                   stdout=other, stderr=subprocess.STDOUT, env={**clean, **env})
            os.close(other)
            got = b''
            while True:
                try:
                    part = os.read(mine, 1 << 16)
                except OSError:
                    break
                if not part:
                    break
                got += part
            os.close(mine)
            self.assertEqual(run.wait(timeout=300), 0)
            return got

        if self.pixels('kitty') is not None:
            self.assertTrue(begin(TERM='xterm-kitty').startswith(b'\033_G'))
            self.assertTrue(begin(TERM='foot').startswith(b'\033P'))
        for env in ({'TERM': 'xterm'}, {'TERM': 'screen.xterm-kitty', 'KITTY_WINDOW_ID': '1'}):
            self.assertRegex(begin(**env).decode(), '[\u2801-\u28ff]')
        self.assertNotIn('\033_G', self.vsim('plot', 'family.raw', 'v(out)', '--plot', '1').stdout)
        self.assertIn('--graphics takes', self.vsim('plot', 'family.raw', '--graphics', 'vga', code=2).stderr)

    def test_png_pdf_and_pages(self):
        done = self.vsim('plot', 'family.raw', 'v(out)', '-o', 'a.png', '--size', '400x300', code=None)
        if done.returncode == 4 and 'built without cairo' in done.stderr:
            self.assertFalse(os.path.exists(self.path('a.png')))
        else:
            with open(self.path('a.png'), 'rb') as f:
                head = f.read(24)
            self.assertEqual(head[:8], b'\x89PNG\r\n\x1a\n')
            self.assertEqual(struct.unpack('>II', head[16:24]), (800, 600))
            self.vsim('plot', 'family.raw', 'v(out)', '-o', 'a.pdf')
            with open(self.path('a.pdf'), 'rb') as f:
                data = f.read()
            self.assertTrue(data.startswith(b'%PDF-') and b'%%EOF' in data[-20:])
        self.vsim('plot', 'family.raw', 'v(out)', '-o', 'a.html', '--title', '</title><script>')
        page = self.read('a.html')
        self.assertEqual(page.count('<script'), 2)  # the data, and the page's own: the title is none
        self.assertEqual(page.count('</title>'), 1)
        self.assertNotRegex(page, r'(src|href)="(?!data:)')
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(data['index']['files'][0]['name'], '</title><script>')
        self.assertEqual([m[0] for m in data['index']['groups'][0]['members']], ['r=2', 'r=10', 'r=50'])
        curve = data['curves'][0]['members'][2]
        x, y = (struct.unpack('<%dd' % curve['all'], base64.b64decode(curve[k])) for k in 'xy')
        self.assertEqual((x[0], y[0], len(x)), (0, 0, len(y)))
        self.assertEqual(list(x), sorted(x))

    def test_the_same_picture_is_the_same_bytes(self):
        for name in ('a.svg', 'b.svg'):
            self.vsim('plot', 'family.raw', 'v(out)', 'db(v(in)+1)', '-o', name, '--stack', '--dark')
        self.assertEqual(self.read('a.svg'), self.read('b.svg'))

    def test_what_is_wrong_is_said(self):
        def says(text, *words, code=1):
            err = self.vsim('plot', *words, code=code).stderr
            self.assertIn(text, err)
            return err
        err = says("there is no vector 'v(ouf)'", 'family.raw', 'v(in)', 'v(ouf)', '-o', 'x.svg')
        self.assertRegex(err, r"v\(in\) v\(ouf\)\n +\| +\^~~~~~\n")
        self.assertIn("did you mean 'v(out)'?", err)
        self.assertFalse(os.path.exists(self.path('x.svg')))
        says('ends with none of .svg', 'family.raw', 'v(out)', '-o', 'x.gif')
        says('there is no plot 7: the files have 6', 'family.raw', 'v(out)', '--plot', '7')
        says("no plot of the files is called 'noise'", 'family.raw', 'v(out)', '--plot', 'noise')
        says('nothing to draw', 'family.raw', '0*v(out)-1', '--ylog', '-o', 'x.svg')
        says('expressions are expected', 'family.raw', '-o', 'x.svg')
        says('No such file', 'nix.raw', code=4)
        says('--size takes', 'family.raw', '--size', '5x5', code=2)
        says('--xlimit takes', 'family.raw', '--xlimit', '3,2', code=2)
        says('--style takes', 'family.raw', '--style', 'dots', code=2)
        says('result files', code=2)
        self.assertIn('only plot takes --bode', self.vsim('check', 'family.sp', '--bode', code=2).stderr.replace("'", ''))
        self.vsim('plot', 'family.raw', 'v(out)', '-o', 'nix/x.svg', code=4)
        os.rename(self.path('family.raw'), self.path('in.svg'))
        says('overwrit', 'in.svg', 'v(out)', '-o', 'in.svg', code=4)

    def test_damaged_and_odd_files(self):
        vectors = [('time', 'time'), ('v(a)', 'voltage')]
        rows = [(k * 1e-9, k % 7) for k in range(100)]
        whole = raw(vectors, rows)
        self.put('cut.raw', whole[:-8 * 2 * 50 - 3])  # in the middle of a point
        self.assertIn('49 points', self.vsim('plot', 'cut.raw').stdout)
        self.vsim('plot', 'cut.raw', 'v(a)', '-o', 'cut.svg')
        self.put('grows.raw', raw(vectors, rows, count=1000000000000))
        self.assertIn('100 points', self.vsim('plot', 'grows.raw').stdout)
        self.put('empty.raw', raw(vectors, []))
        self.assertIn('no points', self.vsim('plot', 'empty.raw', 'v(a)', code=1).stderr)
        self.put('none.raw', b'')
        self.assertIn('empty', self.vsim('plot', 'none.raw', 'v(a)', code=1).stderr)
        nan, inf = float('nan'), float('inf')
        self.put('nan.raw', raw(vectors, [(0, 1), (1, nan), (2, inf), (3, -inf), (4, 2), (5, 1e308), (nan, 3)]))
        self.vsim('plot', 'nan.raw', 'v(a)', '-o', 'nan.svg')
        self.assertNotRegex(self.read('nan.svg').lower(), r'\b(nan|inf)\b')
        self.put('allnan.raw', raw(vectors, [(k, nan) for k in range(5)]))
        self.assertIn('nothing to draw', self.vsim('plot', 'allnan.raw', 'v(a)', '-o', 'x.svg', code=1).stderr)
        self.put('bytes.raw', raw([('time', 'time'), ('v(\xff\xfe<&\x01)', 'voltage')], rows, title='\x80<'))
        self.vsim('plot', 'bytes.raw', 'all', '-o', 'bytes.svg')
        self.assertEqual(len(self.svg('bytes.svg')[1]), 1)
        self.put('tail.raw', whole + b'Title: x\nNo. Variables: 1\n')
        self.assertIn('stands in front of that is used', self.vsim('plot', 'tail.raw', 'v(a)', '-o', 't.svg').stderr)

    def test_many_vectors(self):
        n = 100000
        vectors = [('time', 'time')] + [('v(x%d)' % k, 'voltage') for k in range(n)]
        self.put('many.raw', raw(vectors, [[k] + [k + j for j in range(n)] for k in range(2)]))
        self.vsim('plot', 'many.raw', 'v(x99999)', '-o', 'm.svg')
        self.assertEqual(len(self.svg('m.svg')[1]), 1)

    def test_tables_are_drawn_too(self):
        self.write('t.csv', 'x,"a, b"\n0,1\n1,2\n2,5\n\nx,y\n1,1\n')
        self.vsim('plot', 't.csv', 'all', '--plot', '1', '-o', 't.svg')
        texts, curves = self.svg('t.svg')
        self.assertEqual(len(curves), 1)
        self.assertIn('a, b', texts)
        self.vsim('-q', '--csv', '-r', 'family.csv', 'family.sp')
        self.vsim('plot', 'family.csv', 'v(out)', '--vs', 'time', '--plot', '1', '-o', 'f.svg')
        self.assertTrue(self.svg('f.svg')[1])


class Convert(Results):
    def test_formats_keep_every_plot_and_bit(self):
        self.vsim('convert', 'family.raw', 'all.csv')
        for name in ('a.mat', 'a.h5', 'text.raw'):
            options = ['--ascii'] if name == 'text.raw' else []
            done = self.vsim('convert', 'family.raw', name, *options, code=None)
            if done.returncode == 4 and 'built without' in done.stderr:
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            self.vsim('convert', name, 'back.csv')
            self.assertEqual(self.read('back.csv'), self.read('all.csv'), name)
        for kind in ('tran', 'ac'):
            self.vsim('convert', 'family.raw', 'f.parquet', '--plot', kind)
            listed = self.vsim('plot', 'f.parquet').stdout
            self.assertIn('r=2, ', listed)
            self.assertIn('and 2 more like it', listed)
        self.vsim('convert', 'family.raw', 'one.psf', '--plot', '4')
        self.vsim('convert', 'one.psf', 'one.csv')
        self.vsim('convert', 'family.raw', 'other.csv', '--plot', '4')
        self.assertEqual(self.read('one.csv'), self.read('other.csv'))

    def pack(self, data, level, strategy, order='<'):
        """A MATLAB file with each of its variables compressed."""
        out, at = data[:128], 128
        while at < len(data):
            n = 8 + struct.unpack(order + 'I', data[at + 4:at + 8])[0]
            c = zlib.compressobj(level, strategy=strategy)
            part = c.compress(data[at:at + n]) + c.flush()
            out += struct.pack(order + 'II', 15, len(part)) + part
            at += n
        return out

    def test_compressed_variables_of_matlab(self):
        self.vsim('convert', 'family.raw', 'a.mat')
        with open(self.path('a.mat'), 'rb') as f:
            data = f.read()
        self.vsim('convert', 'a.mat', 'plain.raw')
        with open(self.path('plain.raw'), 'rb') as f:
            plain = f.read()
        for level, strategy in ((0, 0), (1, 0), (9, 0), (9, zlib.Z_FIXED), (9, zlib.Z_RLE), (9, zlib.Z_HUFFMAN_ONLY)):
            packed = self.pack(data, level, strategy)
            self.put('packed.mat', packed)
            self.vsim('convert', 'packed.mat', 'packed.raw')
            with open(self.path('packed.raw'), 'rb') as f:
                got = f.read()
            self.assertEqual(re.sub(b'Date: .*', b'', got), re.sub(b'Date: .*', b'', plain))
        for at in random.Random(1).sample(range(136, len(packed)), 40):
            self.put('bad.mat', packed[:at] + bytes([packed[at] ^ 1 << at % 8]) + packed[at + 1:])
            done = self.vsim('convert', 'bad.mat', 'bad.raw', code=None)
            self.assertIn(done.returncode, (0, 1))  # 0: plots in front of it are used
            self.assertIn('bad.mat', done.stderr)  # a sum tells

    def test_variables_of_matlab_that_are_no_vectors(self):
        for order in '<>':
            with self.subTest(order=order):
                self.variables_of_matlab(Level5(order))

    def variables_of_matlab(self, m):
        text = m.text('', 'hi')
        self.put('own.mat', m.head() + m.doubles('t', (1, 2), 5, 6) + m.doubles('A', (2, 3), 1, 2, 3, 4, 5, 6)
                 + m.text('note', 'hi') + m.cell('c', text)
                 + m.matrix('S', 5, (1000, 1000), m.element(5, bytes(8)) + m.element(5, bytes(8)) + m.element(9, bytes(16)))
                 + m.matrix('o', 17, (), m.element(1, b'MCOS') + m.element(1, b'table'))
                 + m.record('sa', (1, 2), {'a': m.doubles('', (1, 1), 1), 'b': m.doubles('', (1, 1), 2)})
                 + m.record('s', (1, 1), {'t': m.doubles('', (2, 1), 7, 8), 'empty': m.element(14, b''), 'word': text,
                                          'in': m.record('', (1, 1), {'a': m.doubles('', (1, 1), 1)})})
                 + m.record('none', (1, 1), {'word': text}) + m.matrix('', 9, (1, 8), m.element(2, bytes(8))))
        done = self.vsim('convert', 'own.mat', 'own.csv')
        self.assertEqual(self.read('own.csv'), 't,A_1,A_2,A_3\n5,1,3,5\n6,2,4,6\n\nt,empty\n7,nan\n8,nan\n')
        for told in ("'note' is text", "'c' is a cell array", "'S' is a sparse matrix", "'o' is an object",
                     "'sa' is an array of 2 structs", "'s.word' is text", "'s.in' is a struct", "'none' has no numbers"):
            self.assertIn(told, done.stderr)
        self.assertNotIn("''", done.stderr)
        self.put('text.mat', m.head() + m.text('note', 'hi'))
        self.assertIn('has no numbers', self.vsim('convert', 'text.mat', 'x.csv', code=1).stderr)

    def test_numbers_of_matlab_of_either_byte_order(self):
        kinds = {1: (-128, 127), 2: (0, 255), 3: (-32768, 32767), 4: (0, 65535), 5: (-2 ** 31, 2 ** 31 - 1), 6: (0, 2 ** 32 - 1),
                 7: (-1.5, 2.0 ** -100), 9: (-0.1, 1e300), 12: (-2 ** 53, 2 ** 62), 13: (0, 2 ** 63)}
        want = '%s\n%s\n%s\n' % (','.join('a%d' % k for k in kinds), ','.join('%.17g' % v[0] for v in kinds.values()),
                                 ','.join('%.17g' % v[1] for v in kinds.values()))
        for order in '<>':
            m = Level5(order)
            data = m.head() + b''.join(m.matrix('a%d' % k, 6, (2, 1), m.numbers(k, *v)) for k, v in kinds.items())
            for name, bytes_ in (('n.mat', data), ('packed.mat', self.pack(data, 6, 0, order))):
                self.put(name, bytes_)
                self.vsim('convert', name, 'n.csv')
                self.assertEqual(self.read('n.csv'), want, (order, name))
            self.put('z.mat', m.head() + m.matrix('z', 6, (2, 1), m.small(3, struct.pack(order + 'hh', 1, -2))
                                                  + m.numbers(9, 0.5, 4), 0x0800))
            self.vsim('convert', 'z.mat', 'z.raw', '--ascii')
            self.assertEqual(self.read('z.raw').split('Values:')[1].split(), ['0', '1,0.5', '1', '-2,4'])
            self.put('other.mat', b'octave'.ljust(124) + data[124:])  # another text in front
            self.vsim('convert', 'other.mat', 'n.csv')
            self.assertEqual(self.read('n.csv'), want)
        self.put('vax.mat', m.head()[:126] + b'XX' + bytes(8))
        self.assertIn('without its head of level 5', self.vsim('convert', 'vax.mat', 'x.csv', code=1).stderr)

    @staticmethod
    def level_4(order, name, kind, rows, columns, *values, text=0, machine=None):
        mopt = 1000 * (order == '>' if machine is None else machine) + 10 * kind + text
        imaginary = len(values) > rows * columns
        return struct.pack(order + '5i', mopt, rows, columns, imaginary, len(name) + 1) + name.encode() + b'\0' + \
            struct.pack('%s%d%s' % (order, len(values), 'dfihHB'[kind]), *values)

    def test_matlab_files_of_level_4(self):
        for order in '<>':
            with self.subTest(order=order):
                v = lambda *a, **k: self.level_4(order, *a, **k)
                whole = v('t', 0, 1, 3, 0.1, 1e300, -3) + v('f', 1, 3, 1, 0.5, 2.0 ** -100, 8) + v('i', 2, 3, 1, -2 ** 31, 0, 7) \
                    + v('h', 3, 1, 3, -32768, 1, 2) + v('u', 4, 3, 1, 65535, 1, 2) + v('b', 5, 3, 1, 255, 1, 2) \
                    + v('A', 0, 3, 2, 1, 2, 3, 4, 5, 6) + v('note', 0, 1, 2, 104, 105, text=1) + v('S', 0, 2, 3, *range(6), text=2)
                self.put('old.mat', whole)
                said = self.vsim('convert', 'old.mat', 'old.csv').stderr
                self.assertEqual(self.read('old.csv').split('\n')[0], 't,f,i,h,u,b,A_1,A_2')
                got = [[float(x) for x in row.split(',')] for row in self.read('old.csv').split('\n')[1:4]]
                self.assertEqual(got, [[0.1, 0.5, -2.0 ** 31, -32768, 65535, 255, 1, 4], [1e300, 2.0 ** -100, 0, 1, 1, 1, 2, 5],
                                       [-3, 8, 7, 2, 2, 2, 3, 6]])
                self.assertIn("'note' is text", said)
                self.assertIn("'S' is a sparse matrix", said)
                self.put('z.mat', v('z', 0, 2, 1, 1, 2, 3, 4))
                self.vsim('convert', 'z.mat', 'z.raw')
                self.assertEqual(self.vsim('plot', 'z.raw').stdout.count('complex'), 1)
                self.vsim('compare', 'z.raw', 'z.mat')
                for cut in (4, 10, 19, 21, 30, len(whole) - 1):
                    self.put('cut.mat', whole[:cut])
                    said = self.vsim('convert', 'cut.mat', 'x.csv', code=None).stderr
                    self.assertRegex(said, 'ends in the middle|no MATLAB file')
                for bad, text in ((v('x', 0, -1, 1), 'no MATLAB file'), (v('x', 0, 2 ** 30, 2 ** 30), 'ends in the middle'),
                                  (v('x', 0, 1, 1, 0, machine=2), 'VAX'), (whole + bytes([7] * 30), 'makes no sense')):
                    self.put('bad.mat', bad)
                    self.assertIn(text, self.vsim('convert', 'bad.mat', 'x.csv', code=None).stderr)

    def test_a_page_tells_what_of_its_file_is_not_read(self):
        m = Level5()
        self.put('own.mat', m.head() + m.doubles('t', (1, 2), 5, 6) + m.text('note', 'hi') + m.doubles('x', (1, 2), 1, 2))
        self.assertIn("'note' is text", self.vsim('plot', 'own.mat', 'x', '-o', 'x.html').stderr)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', self.read('x.html'), re.S)[1])
        self.assertEqual(data['index']['files'][0]['notes'], ["'own.mat': 'note' is text, and is not read"])
        self.assertIn("'note' is text", self.vsim('plot', 'own.mat', 'x').stderr)  # as letters

    def test_what_a_file_has_no_room_for_is_told(self):
        said = self.vsim('convert', 'family.raw', 'f.parquet').stderr
        self.assertIn("'f.parquet' has plots of one kind: 3 others of 'family.raw' are not in it", said)
        self.assertEqual(self.vsim('convert', 'family.raw', 'f.parquet', '--plot', 'ac').stderr, '')
        self.put('d.vcd', b'$timescale 1ns $end\n$var real 64 ! a $end\n$enddefinitions $end\n#0\nr1 !\n#1\nr2 !\n')
        self.assertEqual(self.vsim('convert', 'd.vcd', 'd.csv').stderr, '')

    def test_plots_that_no_sweep_tells_apart_stay_apart_in_parquet(self):
        rows = [[0.0, 1.0], [1.0, 2.0]], [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
        vectors = [('time', 'time'), ('v(1)', 'voltage')]
        for names in ('Transient Analysis',) * 2, ('Transient Analysis, r=1',) * 2, ('Transient Analysis, r=1', 'Transient Analysis, r=2'):
            self.put('two.raw', b''.join(raw(vectors, r, plot=n) for r, n in zip(rows, names)))
            self.vsim('convert', 'two.raw', 'two.parquet')
            self.vsim('convert', 'two.parquet', 'back.raw')
            with open(self.path('back.raw'), 'rb') as f:
                back = f.read()
            self.assertEqual(re.findall(rb'No. Points: *(\d+)', back), [b'2', b'3'])
            told = ['plot=1', 'plot=2'] if names[0] == names[1] else ['', '']
            values = [' '.join(filter(None, (t, n[20:]))) for t, n in zip(told, names)]
            self.assertEqual(re.findall(r'Plotname: Transient Analysis, (.*)', back.decode('latin-1')), values)

    def test_psf_with_groups_properties_and_structs(self):
        head = 'HEADER\n"PSFversion" "1.00"\n"analysis name" "%s"\nTYPE\n"s" FLOAT DOUBLE PROP("units" "s")\n' \
            '"V" FLOAT DOUBLE PROP("units" "V")\n"word" STRING *\n"st" STRUCT("a" FLOAT DOUBLE PROP("units" "V") "b" INT LONG)\n'
        self.put('g.psf', (head % 'tran' + 'SWEEP\n"time" "s" PROP("units" "s")\nTRACE\n"group" GROUP 2\n"in" "V"\n"out" "V"\n'
                           '"x" "V" PROP("units" "V")\n"q" "st"\nVALUE\n"time" 0\n"group" 1\n2\n"x" 3 PROP("units" "V")\n"q" (1\n2)\n'
                           '"time" 1\n"group" 4 5\n"x" 6\n"q" (1\n2) PROP("model" "n")\nEND\n').encode())
        done = self.vsim('convert', 'g.psf', 'g.csv')
        self.assertEqual(self.read('g.csv'), 'time,v(in),v(out),v(x)\n0,1,2,3\n1,4,5,6\n')
        self.assertIn("'q' is of a type without numbers, 'st'", done.stderr)
        self.put('op.psf', (head % 'dcOp' + 'VALUE\n"out" "V" 1.5 PROP("units" "V")\n"name" "word" "END"\n'
                            '"m1" "st" (\n2.0\n3) PROP("model" "n")\n"in" "V" 3\nEND\n').encode())
        done = self.vsim('convert', 'op.psf', 'op.csv')
        self.assertEqual(self.read('op.csv'), 'v(out),v(in)\n1.5,3\n')
        self.assertIn("'name' is of a type without numbers, 'word'", done.stderr)
        self.put('bad.psf', (head % 'dcOp' + 'VALUE\n"out" "V" PROP("units" "V")\nEND\n').encode())
        self.assertIn("no number behind 'out'", self.vsim('convert', 'bad.psf', 'x.csv').stderr)

    def test_value_change_dumps_are_curves_that_step(self):
        head = '$date today $end $timescale 10ns $end\n$scope module chip $end\n$var wire 1 ! clk $end\n$scope module a $end\n' \
            '$var reg 4 " bus [3:0] $end\n$var real 64 # level $end\n$var wire 1 ! alias $end\n$upscope $end\n$upscope $end\n' \
            '$enddefinitions $end\n'
        self.put('d.vcd', (head + '#0\n$dumpvars\n0!\nb1010 "\nr1.5 #\n$end\n#2\n1!\n#3\nbx "\nr-2e-3 #\n').encode())
        self.vsim('convert', 'd.vcd', 'd.csv')
        rows = [[float(v) for v in line.split(',')] for line in self.read('d.csv').strip().split('\n')[1:]]
        self.assertEqual(self.read('d.csv').split('\n')[0], 'time,chip.clk,chip.a.bus,chip.a.level,chip.a.alias')
        want = [(0, 0, 10, 1.5, 0), (2e-8, 0, 10, 1.5, 0), (2e-8, 1, 10, 1.5, 1), (3e-8, 1, 10, 1.5, 1), (3e-8, 1, float('nan'), -2e-3, 1)]
        self.assertEqual(len(rows), len(want))
        for row, w in zip(rows, want):
            for a, b in zip(row, w):
                self.assertTrue(abs(a - b) <= 1e-15 * abs(b) or (a != a and b != b), (row, w))
        for bad, said in (('#1\n', 'has no signals'), (head + '#5\n#4\n', 'times'), (head + '#1\nq!\n', 'a change that is none'),
                          (head + '#1\n$var wire 1 % z $end\n', 'behind the first time'), ('$var wire 1\n', 'not whole'),
                          ('$timescale 3 parsec $end\n', 'time scale'), (head, '')):
            self.put('bad.vcd', bad.encode())
            done = self.vsim('convert', 'bad.vcd', 'bad.csv', code=None)
            self.assertIn(done.returncode, (0, 1))
            self.assertIn(said, done.stderr)
        self.vsim('convert', 'family.raw', 'x.vcd', '--plot', '1')
        self.vsim('convert', 'x.vcd', 'x.raw')
        self.vsim('convert', 'x.raw', 'y.csv')
        text = self.read('y.csv').split('\n')
        column = text[0].split(',').index('out')
        last, edges = None, 0
        for line in text[1:-1]:
            now = line.split(',')[column]
            edges += last in ('0', '1') and now != last
            last = now
        code = re.search(r'\$var wire 1 (\S+) out ', self.read('x.vcd')).group(1)
        changes = [c for c in re.findall(r'^[01]' + re.escape(code) + '$', self.read('x.vcd'), re.M)]
        self.assertIn(edges, (len(changes) - 1, len(changes)))

    def test_pictures_of_other_formats(self):
        self.vsim('convert', 'family.raw', 'f.mat')
        self.vsim('plot', 'f.mat', 'v(out)', '-o', 'f.svg')
        self.assertEqual(len(self.svg('f.svg')[1]), 3)

    def test_what_is_wrong_is_said(self):
        def says(text, *words, code=1):
            self.assertIn(text, self.vsim('convert', *words, code=code).stderr)
        says('ends with none of .raw .csv .h5', 'family.raw', 'x.xls')
        says('choose one with --plot N', 'family.raw', 'x.vcd')
        says("S-parameters", 'family.raw', 'x.s2p', '--plot', '2')
        says('signals over time', 'family.raw', 'x.vcd', '--plot', '2')
        says('two files', 'family.raw', code=2)
        says('--threshold takes', 'family.raw', 'x.vcd', '--threshold', '2,1', code=2)
        says('--reference takes', 'family.raw', 'x.s2p', '--reference', '-5', code=2)
        says('No such file', 'nix.raw', 'x.csv', code=4)
        self.put('bad.h5', b'\x89HDF\r\n\x1a\n' + bytes(100))
        done = self.vsim('convert', 'bad.h5', 'x.csv', code=None)
        self.assertIn('HDF5', done.stderr)
        self.assertFalse([f for f in os.listdir(self.tmp.name) if f.startswith('x.')])
        says('overwritten', 'family.raw', 'family.raw', code=4)

    def test_damaged_hdf5_is_refused(self):
        self.needs_plain(VSIM)  # libhdf5 frees what is no pointer, in a process of its own, which a sanitizer ends
        done = self.vsim('convert', 'family.raw', 'a.h5', '--plot', '1', code=None)
        if done.returncode:
            self.skipTest('vsim was built without HDF5')
        with open(self.path('a.h5'), 'rb') as f:
            whole = f.read()
        draw = random.Random(1)
        for k in range(60):
            data = bytearray(whole)
            for _ in range(3):  # the first pages have the headers, names and sizes
                data[draw.randrange(min(len(data), 6000))] = draw.randrange(256)
            self.put('m.h5', bytes(data[:draw.randrange(len(data))] if k % 3 == 0 else data))
            done = self.vsim('convert', 'm.h5', 'm.csv', code=None)
            if done.returncode:
                self.assertIn("m.h5", done.stderr)
            self.assertIn(done.returncode, (0, 1, 7), done.stderr)

    def test_damaged_files_of_matlab_are_refused(self):
        """Files of MATLAB 7.3 are HDF5, too, and libhdf5 breaks on some (1.10.8: the 18th)."""
        self.needs_plain(VSIM)
        self.write('rc.sp', 'rc\nv1 in 0 dc 1 ac 1 pulse 0 1 0 1n 1n 10n 30n\nr1 in out 1k\nc1 out 0 1p\n'
                            '.tran 1n 4n\n.ac dec 1 1k 10k\n.end\n')
        self.vsim('-q', '-r', 'rc.raw', 'rc.sp')
        if self.vsim('convert', 'rc.raw', 'rc.h5', code=None).returncode:
            self.skipTest('vsim was built without HDF5')
        with open(self.path('rc.h5'), 'rb') as f:
            whole = b'MATLAB 7.3 MAT-file'.ljust(512) + f.read()
        self.put('m.mat', whole)
        self.vsim('convert', 'm.mat', 'm.csv', '--plot', '1')
        draw = random.Random(4)
        for _ in range(20):
            data = bytearray(whole)
            for _ in range(3):
                data[512 + draw.randrange(min(len(data) - 512, 6000))] = draw.randrange(256)
            self.put('m.mat', bytes(data))
            done = self.vsim('convert', 'm.mat', 'm.csv', '--plot', '1', code=None)
            self.assertIn(done.returncode, (0, 1, 7), done.stderr)

    def test_touchstone_files_keep_their_references(self):
        self.write('a.s1p', '# MHz S RI R 75\n1 0.5 0\n2 0.4 0.1\n')
        self.write('b.ts', '[Version] 2.0\n# Hz S RI R 50\n[Number of Ports] 2\n[Two-Port Data Order] 12_21\n'
                           '[Number of Frequencies] 1\n[Reference] 40\n75\n[Network Data]\n1 .1 0 .2 0 .3 0 .4 0\n[End]\n')
        self.vsim('convert', 'a.s1p', 'c.s1p')
        self.vsim('convert', 'b.ts', 'd.ts')
        self.vsim('convert', 'a.s1p', 'e.s1p', '--reference', '20')
        self.assertIn('RI R 75', self.read('c.s1p'))
        self.assertIn('[Reference] 40 75', self.read('d.ts'))
        self.assertIn('RI R 20', self.read('e.s1p'))

    def test_fields_of_tables_stay_in_their_columns(self):
        """A number with something behind it is a word, and so is what quotes hold; a field too many is told."""
        self.write('a.csv', 'x,corner,y\n1,27C,10\n2,"a, b",20\n3,4.5,30\n')
        self.vsim('convert', 'a.csv', 'b.csv')
        rows = [line.split(',') for line in self.read('b.csv').splitlines()]
        self.assertEqual([[float(v) if v != 'nan' else None for v in row] for row in rows[1:]],
                         [[1, None, 10], [2, None, 20], [3, 4.5, 30]])
        for text, what in (('x,y\n1,2\n2,3,4\n', 'more fields than its header'), ('x;y\n1;2\n', 'without a number'),
                           ('x,y\n1\n', 'fewer fields than its header')):
            self.write('c.csv', text)
            self.assertIn(what, self.vsim('convert', 'c.csv', 'd.csv', code=None).stderr, text)

    def test_files_that_are_cut_off_are_told(self):
        ts = '[Version] 2.0\n# Hz S RI\n[Number of Ports] 1\n[Number of Frequencies] 3\n[Network Data]\n1 1 0\n2 1 0\n[End]\n'
        psf = ('HEADER\n"design" "x"\nTYPE\n"t" FLOAT DOUBLE PROP(\n"units" "s"\n)\n"v" FLOAT DOUBLE PROP(\n"units" "V"\n)\n'
               'SWEEP\n"time" "t"\nTRACE\n"a" "v"\nVALUE\n"time" 0\n"a" 1\n"time" 1\n')
        vcd = '$timescale 1ns $end\n$var wire 1 ! a $end\n$enddefinitions $end\n#0\n0!\n#5\n1"\n'
        for name, text, what in (('a.ts', ts, 'has 2 frequencies, and says that there are 3'),
                                 ('a.s1p', '1 0.5 0\n', 'has no data behind an option line'),
                                 ('a.s3p', '# Hz S RI\n2' + ' 1 0' * 9 + '\n1' + ' 1 0' * 9 + '\n', 'frequencies that go back'),
                                 ('a.psf', psf, 'ends without END'), ('b.psf', psf + 'END\n', 'ends in the middle of a point'),
                                 ('a.vcd', vcd, "changes '\"', which is not declared")):
            self.write(name, text)
            done = self.vsim('convert', name, 'x.raw', code=None)
            self.assertIn(what, done.stderr, name)

    def test_thresholds_are_told(self):
        out = self.vsim('convert', 'family.raw', 'x.vcd', '--plot', '1').stdout
        self.assertRegex(out, r'threshold: \S+ V, the middle of all voltages')
        self.assertIn('$var wire 1', self.read('x.vcd'))


PULSE = '''pulses
V1 in 0 PULSE(0 {high} {late} 1n 1n 40n 100n)
R1 in out 1k
C1 out 0 {cap}
V2 osc 0 SIN({mean} 1 {freq})
.param high=1 late=10n cap=1p freq=20meg mean=0
.tran 0.2n 1u
.end
'''


REPORT = '''A deck <with> & signs
.param r=1k
V1 in 0 PULSE(0 1 1n 1n 1n 50n 100n)
R1 in out {r}
C1 out 0 1p
.op
.tran 0.1n 40n
.option nonsense=3
.meas tran vm max v(out)
.plot tran v(out) (0,2) v(in)
%s
.end
'''


class Limits(Results):
    def table(self, card):
        self.write('d.sp', 'limits\nV1 1 0 1\nR1 1 2 1k\nR2 2 3 1k\nR3 3 0 1k\n.dc V1 0 1 0.5\n%s\n.end\n' % card)
        return re.search(r'Index.*?\n\n', self.vsim('-b', '--no-output', 'd.sp').stdout, re.S).group()

    def test_limits_of_axes_leave_the_rest_of_a_list_as_it_is(self):
        plain = self.table('.plot dc v(1) v(2) v(3)')
        self.assertRegex(plain, r'v\(1\)\s+v\(2\)\s+v\(3\)')
        for card in ('v(1) (0,5) v(2) v(3)', '(0,5) v(1) v(2) ( -1m , 5k ) v(3) (0,1)', 'v(1) (0 5) v(2) v(3)'):
            self.assertEqual(self.table('.plot dc ' + card), plain)

    def test_an_expression_in_brackets_is_no_limit(self):
        self.assertRegex(self.table('.plot dc (v(1)-v(2)) v(3)'), r'\(v\(1\)-v\(2\)\)\s+v\(3\)')


class Report(Results):
    def page(self, deck, name='p.html', code=0):
        self.write('d.sp', deck)
        err = self.vsim('report', 'd.sp', '-o', name, '--no-times', code=code).stderr
        return self.read(name), err

    def pictures(self, page):
        return [base64.b64decode(p) for p in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)]

    def test_the_page_has_all_that_the_deck_asks_for(self):
        page, err = self.page(REPORT % '')
        self.assertIn("unknown option 'nonsense'", err)
        self.assertIn("unknown option 'nonsense'", page)
        self.assertIn('<h1>A deck &lt;with&gt; &amp; signs</h1>', page)
        self.assertRegex(page, r'<td>v\(in\)<td class=n>0<td>V')
        value = float(re.search(r'<td>vm<td>tran<td>tran\d<td class=n>([^<]*)', page).group(1))
        self.assertAlmostEqual(value, 1, delta=1e-3)
        svg = self.pictures(page)
        self.assertEqual(len(svg), 1)
        xml.dom.minidom.parseString(svg[0])
        self.assertIn(b'v(out)', svg[0])
        self.assertIn('R1 in out {r}', page)
        self.assertNotIn('<h2 id="statistics">', page)
        self.assertTrue(os.path.exists(self.path('p.raw')))
        self.assertFalse(os.path.exists(self.path('p.measures.csv')))

    def test_the_same_results_give_the_same_bytes(self):
        one = self.page(REPORT % '.print tran v(out)')[0]
        time.sleep(1.1)  # dates tell seconds
        self.assertEqual(one, self.page(REPORT % '.print tran v(out)')[0])
        self.vsim('report', 'd.sp', '-o', 't.html')
        self.assertIn('<h2 id="times">', self.read('t.html'))
        self.assertNotIn('<h2 id="times">', one)

    def test_sweeps_have_statistics_and_families(self):
        page = self.page(REPORT % '.step param r list 1k 2k 3k')[0]
        row = re.search(r'<tr><td>vm<td class=n>3<td class=n>0((?:<td class=n>[^<]*){4})', page).group(1)
        mean, sigma, least, greatest = map(float, re.findall('class=n>([^<]*)', row))
        values = [float(v) for v in re.findall(r'<td class=n>([^<]*)<td>done', page)]
        self.assertEqual(len(values), 3)
        self.assertAlmostEqual(mean, statistics.mean(values), delta=1e-8)
        self.assertAlmostEqual(sigma, statistics.stdev(values), delta=1e-8 * max(values))
        self.assertAlmostEqual(least, min(values), delta=1e-8)
        self.assertAlmostEqual(greatest, max(values), delta=1e-8)
        for r in (b'r=1000', b'r=2000', b'r=3000'):
            self.assertIn(r, self.pictures(page)[0])

    def test_pictures_of_blocks_are_in_the_page(self):
        page = self.page(REPORT.replace('.plot', '*') % '.control\nrun\nplot v(in)\nmeas tran peak max v(in)\n.endc')[0]
        self.assertEqual(len(self.pictures(page)), 1)
        self.assertIn('peak', page)

    def test_what_failed_late_is_shown_beside_what_is_there(self):
        page, err = self.page(REPORT % '.plot tran v(nix)\n.four 1meg v(nix)', code=1)
        self.assertIn("there is no vector 'v(nix)'", err)
        self.assertIn("'v(nix)' is not known here and left out", err)
        self.assertIn('No picture: .plot tran v(nix)', page)
        self.assertEqual(len(self.pictures(page)), 1)

    def test_devices_stand_by_model_and_included_files_with_their_sums(self):
        self.write('m.inc', '.model nm nmos level=1 vto=0.7 kp=100u\n')
        cards = '.include m.inc\nVd d 0 5\nVg g 0 1\nM1 d g 0 0 nm w=10u l=1u\nM2 d g 0 0 nm w=20u l=1u'
        page = self.page(REPORT % cards)[0]
        table = re.search(r'<h3>nm</h3>\n<div class=wide><table>(.*?)</table>', page, re.S).group(1)
        head = re.findall(r'<th[^>]*>([^<]*)', table.split('</tr>')[0])
        rows = [re.findall(r'<td[^>]*>([^<]*)', r) for r in table.split('</tr>')[1:] if '<td>' in r]
        self.assertEqual([r[0] for r in rows], ['m1', 'm2'])
        # kp w / (2 l) (1 - 0.7)^2, and gm = kp w / l (1 - 0.7)
        for row, w in zip(rows, (10, 20)):
            self.assertAlmostEqual(float(row[head.index('id, A')]) / (50e-6 * w * 0.09), 1, delta=1e-5)
            self.assertAlmostEqual(float(row[head.index('gm, S')]) / (100e-6 * w * 0.3), 1, delta=1e-5)
        line = re.search(r'<td>m.inc<td class=n>%d<td><code>([0-9a-f]{16})' % os.path.getsize(self.path('m.inc')), page)
        self.write('m.inc', '.model nm nmos level=1 vto=0.7 kp=101u\n')
        again = re.search(r'<td>m.inc<td[^>]*>[^<]*<td><code>([0-9a-f]{16})', self.page(REPORT % cards)[0])
        self.assertNotEqual(line.group(1), again.group(1))

    def test_a_run_that_fails_is_a_page_too(self):
        page, err = self.page(REPORT.replace('R1 in out', 'M1 a b c d nix\nR1 in out') % '', code=1)
        self.assertIn("unknown model 'nix'", page)
        self.assertIn("unknown model 'nix'", err)
        self.assertNotIn('<img', page)
        self.assertIn('writes a page', self.vsim('report', 'd.sp', code=2).stderr)
        self.assertIn('only report takes', self.vsim('d.sp', '--no-times', code=2).stderr)
        self.vsim('report', 'd.sp', '-o', '/dev/null/x', code=1)


class Large(Results):
    """Files above 64 MB, of which only what is needed comes into memory."""
    N, COLS = 90000, 101  # 73 MB

    def put_large(self, name, changed=None):
        head = raw([('time', 'time')] + [('v(n%d)' % c, 'voltage') for c in range(1, self.COLS)], [], count=self.N)
        with open(self.path(name), 'wb') as f:
            f.write(head)
            for k in range(self.N):
                row = array.array('d', (k * 1e-9,))
                row.extend([float(k % 1000)] * (self.COLS - 1))
                if k == changed:
                    row[7] += 1e6
                f.write(row.tobytes())
        self.assertGreater(os.path.getsize(self.path(name)), 64 << 20)

    def test_plot_convert_and_compare_give_what_they_give_for_small_files(self):
        self.put_large('a.raw')
        self.put_large('b.raw', changed=44444)
        self.vsim('plot', 'b.raw', 'v(n7)+v(n8)', '-o', 'p.svg')
        self.assertIn('v(n7)+v(n8)', self.svg('p.svg')[0])
        self.assertIn("did you mean 'v(n7)'", self.vsim('plot', 'b.raw', 'v(n7', '-o', 'x.svg', code=1).stderr +
                      self.vsim('plot', 'b.raw', 'v(m7)', '-o', 'x.svg', code=1).stderr)
        self.assertIn('%d points' % self.N, self.vsim('plot', 'a.raw').stdout)
        self.vsim('convert', 'b.raw', 'c.raw')
        with open(self.path('b.raw'), 'rb') as f, open(self.path('c.raw'), 'rb') as g:
            values = f.read()[-self.N * self.COLS * 8:]
            self.assertEqual(g.read()[-self.N * self.COLS * 8:], values)
        out = self.vsim('compare', 'a.raw', 'b.raw', '-o', 'w.svg', code=8).stdout
        self.assertRegex(out, r'^v\(n7\) .*44\.444 us')
        self.assertIn('%d signals agree, 1 difference\n' % (self.COLS - 2), out)
        self.assertEqual(len(self.svg('w.svg')[1]), 2)
        with open(self.path('a.raw'), 'r+b') as f:
            f.truncate(40 << 20)  # a whole header, fewer points: small again
        self.assertIn('points', self.vsim('plot', 'a.raw').stdout)

    def test_other_formats_are_written_with_less_memory_than_the_values_take(self):
        self.needs_plain(VSIM)
        self.put_large('a.raw', changed=44444)
        values = self.N * self.COLS * 8
        with open(self.path('a.raw'), 'rb') as f:
            whole = f.read()[-values:]

        def limit():  # 9 MB less than all values, of which vsim has 16 MB at a time (CONV_PIECE)
            resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))
        for to, *more in ('a.mat',), ('a.parquet', '--plot', '1'), ('a.h5',):
            done = subprocess.run([VSIM, 'convert', 'a.raw', to, *more], cwd=self.tmp.name, capture_output=True, text=True,
                                  preexec_fn=limit, timeout=240)
            if 'built without' in done.stderr:
                continue
            self.assertEqual(done.returncode, 0, (to, done.stderr))
            self.vsim('convert', to, 'back.raw')
            with open(self.path('back.raw'), 'rb') as f:
                self.assertTrue(f.read()[-values:] == whole, to)

    def test_complex_values_are_written_piece_by_piece(self):
        n = 1100000  # 70 MB, more than one piece of CONV_PIECE values
        rows = array.array('d', bytes(8 * 4 * n))
        rows[0::4] = array.array('d', range(n))
        rows[2::4] = array.array('d', (k % 1000 for k in range(n)))
        rows[3::4] = array.array('d', (k % 77 for k in range(n)))
        head = raw([('frequency', 'frequency'), ('v(a)', 'voltage')], [], plot='AC Analysis', complex_=True, count=n)
        with open(self.path('a.raw'), 'wb') as f:
            f.write(head + rows.tobytes())
        for to in ('a.mat', 'a.parquet', 'a.h5'):
            if 'built without' not in self.vsim('convert', 'a.raw', to, code=None).stderr:
                self.vsim('convert', to, 'back.raw')
                with open(self.path('back.raw'), 'rb') as f:
                    self.assertTrue(f.read()[-32 * n:] == rows.tobytes(), to)

    def test_a_million_signals_are_a_picture(self):
        n = 10**6
        with open(self.path('m.raw'), 'wb') as f:
            f.write(b'Title: t\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: %d\n'
                    b'No. Points: 9\nVariables:\n\t0\ttime\ttime\n' % n)
            f.write(b''.join(b'\t%d\tv(x%d.n%d)\tvoltage\n' % (i, i // 1000, i) for i in range(1, n)))
            f.write(b'Binary:\n')
            for k in range(9):
                f.write(array.array('d', [float(k)]).tobytes() * n)
        self.vsim('plot', 'm.raw', 'v(x999.n999999)', '-o', 'm.svg')
        self.assertEqual(len(self.svg('m.svg')[1]), 1)


class Bad(Results):
    """Files that are not what they should be: a message or a picture."""

    def test_what_is_missing_or_odd_is_a_message_or_a_picture(self):
        nan, inf = float('nan'), float('inf')
        two = [('time', 'time'), ('v(a)', 'voltage')]
        rows = [(k, v) for k, v in enumerate((1, nan, 2, inf, -inf, 3))]
        self.put('odd.raw', raw(two, rows))
        self.vsim('plot', 'odd.raw', 'v(a)', '-o', 'a.svg')
        self.assertIn('v(a)', ' '.join(self.svg('a.svg')[0]))
        self.put('none.raw', raw(two, []))
        self.assertIn('have no points', self.vsim('plot', 'none.raw', 'v(a)', '-o', 'x.svg', code=1).stderr)
        whole = raw(two, rows)
        for cut in range(0, len(whole), 7):
            self.put('cut.raw', whole[:cut])
            done = self.vsim('plot', 'cut.raw', 'v(a)', '-o', 'c.svg', code=None)
            self.assertIn(done.returncode, (0, 1, 4), (cut, done.stderr))
            self.assertTrue(done.returncode == 0 or 'error' in done.stderr, cut)
        name = bytes(c for c in range(1, 256) if c not in b'\t\n\r ').decode('latin-1')
        self.put('name.raw', raw([('time', 'time'), (name, 'voltage')], [(0, 1), (1, 2)]))
        self.assertIn('1 tran', subprocess.run([VSIM, 'plot', 'name.raw'], cwd=self.tmp.name, capture_output=True,
                                               timeout=300).stdout.decode('latin-1'))
        subprocess.run([VSIM, 'plot', 'name.raw', 'all', '-o', 'n.svg'], cwd=self.tmp.name, check=True, timeout=300)
        self.svg('n.svg')


class Compare(Results):
    def runs(self, *defines, deck=PULSE, name='b.raw'):
        self.write('p.sp', deck)
        self.vsim('-q', '-r', name, 'p.sp', *defines)

    def compared(self, *words, code=8):
        return self.vsim('compare', 'a.raw', 'b.raw', *words, code=code).stdout

    def setUp(self):
        super().setUp()
        self.runs(name='a.raw')

    def test_equal_runs_with_other_points_agree(self):
        self.runs(deck=PULSE.replace('.tran 0.2n 1u', '.tran 0.2n 1u 0 0.13n'))
        self.assertNotEqual(os.path.getsize(self.path('a.raw')), os.path.getsize(self.path('b.raw')))
        self.assertRegex(self.compared(code=0), r'^\d+ signals agree, 0 differences\n$')
        self.vsim('convert', 'b.raw', 'b.csv')  # another format, without types
        self.assertIn(', 0 differences', self.vsim('compare', 'a.raw', 'b.csv').stdout)

    def test_each_difference_is_named(self):
        # the node out is late as the source is; the current of V1 is that of the capacitor
        self.runs('-D', 'late=11n')
        out = self.compared()
        self.assertRegex(out, r'v\(in\) .*1 ns late')
        self.assertRegex(out, r'v\(out\) .*1 ns late')
        self.assertNotIn('v(osc)', out)
        self.assertIn(', 0 differences', self.compared('--time-shift', '1.5n', '--abstol', '1u', code=0))
        self.runs('-D', 'mean=0.1')
        self.assertRegex(self.compared(), r'^v\(osc\) is 100 mV higher throughout \(tolerance 5\.\d+ mV\)\n'
                                          r'\d+ signals agree, 1 difference\n$')
        self.runs('-D', 'freq=20.5meg')
        self.assertRegex(self.compared(), r'v\(osc\) has the period 48\.78\d* ns, not 50\d*\.?\d* ns: -2\.4')
        self.runs('-D', 'high=1.1')
        self.assertRegex(self.compared(), r'v\(in\) differs by 100 mV at')

    def test_missing_signals_and_ends(self):
        self.runs(deck=PULSE.replace('.tran', '.save v(in) v(osc)\n.tran'))
        out = self.compared()
        self.assertIn('v(out) is in the first file alone', out)
        self.assertIn('2 signals agree', out)
        self.assertIn(', 0 differences', self.compared('--common', code=0))
        self.runs(deck=PULSE.replace('.tran 0.2n 1u', '.tran 0.2n 0.5u'))
        self.assertIn('time ends at 500 ns, not at 1 us', self.compared())

    def test_the_worst_is_drawn(self):
        self.runs('-D', 'late=11n')
        self.compared('-o', 'w.svg')
        texts, curves = self.svg('w.svg')
        self.assertEqual(len(curves), 2)
        self.assertTrue(any(' of a.raw' in t for t in texts) and any(' of b.raw' in t for t in texts))

    def test_programs_get_json(self):
        self.runs('-D', 'late=11n')
        out = json.loads(self.compared('--json'))
        found = {d['signal']: d for d in out['differences']}
        self.assertEqual(found['v(in)']['kind'], 'phase')  # a periodic source
        self.assertAlmostEqual(found['v(in)']['size'], 1e-9, delta=1e-12)
        self.assertIn('1 ns late', found['v(in)']['text'])
        self.assertIn(out['worst'], range(len(out['differences'])))
        self.vsim('convert', 'a.raw', 'b.raw')
        out = json.loads(self.compared('--json', code=0))
        self.assertEqual((out['differences'], out['worst']), ([], None))

    def test_names_of_any_bytes_are_told_to_programs(self):
        name = bytes(range(33, 256)).decode('latin-1')
        self.put('a.raw', raw([('time', 'time'), (name, 'voltage')], [(0, 1), (1, 2)]))
        self.put('b.raw', raw([('time', 'time'), (name, 'voltage')], [(0, 1), (1, float('nan'))]))
        out = json.loads(self.compared('--json'))
        self.assertEqual(out['differences'][0]['kind'], 'nan')
        self.assertIn('A', out['differences'][0]['signal'])

    def test_plots_are_paired_by_their_names(self):
        self.assertIn(', 0 differences', self.vsim('compare', 'family.raw', 'family.raw').stdout)
        self.vsim('convert', 'family.raw', 'ac.raw', '--plot', 'ac')
        out = self.vsim('compare', 'family.raw', 'ac.raw', code=8).stdout
        self.assertIn('v(out) is in the first file alone; Transient Analysis, r=2', out)
        self.assertIn(', 0 differences', self.vsim('compare', 'family.raw', 'ac.raw', '--plot', 'ac').stdout)
        self.assertIn('nothing to compare', self.vsim('compare', 'family.raw', 'ac.raw', '--plot', 'dc', code=1).stderr)
        self.assertIn('two files', self.vsim('compare', 'family.raw', code=2).stderr)
        self.assertIn('--reltol takes', self.vsim('compare', 'a', 'b', '--reltol', '-1', code=2).stderr)
        self.vsim('compare', 'family.raw', 'nix.raw', code=4)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
