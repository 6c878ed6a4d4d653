#!/usr/bin/env python3
"""Files that vsim convert writes are read by the programs that they are for, and theirs by vsim.

    peer_formats.py VSIM

Runs in the Python of the peers (VSIM_PEERS): h5py, pyarrow, pandas, scipy.io, scikit-rf, psf_utils, spicelib;
vcd2fst of GTKWave and ngspice as programs. What is missing is skipped; without any the test is."""
import csv
import decimal
import importlib
import math
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

from folder import Folder
from matlab import Level5
from rawfile import read_raw

PEERS = os.environ.get('VSIM_PEERS', '')
PYTHON = os.path.join(PEERS, 'bin', 'python')
if os.path.exists(PYTHON) and sys.prefix == sys.base_prefix:
    os.execv(PYTHON, [PYTHON] + sys.argv)

DECK = '''RLC "family"
.param r=10
V1 in 0 PULSE(0 1 1n 0.1n 0.1n 5n 10n) ac 1
X1 in out rl
.subckt rl in out
R1 in a {r}
L1 a out 10n
.ends
C1 out 0 1p
.tran 0.05n 40n
.ac dec 20 1meg 1g
.step param r list 2 10 50
.end
'''
PORTS = '''two ports
V1 in 0 dc 0 ac 1 portnum 1 z0 50
R1 in out 100
C1 out 0 10p
V2 out 0 dc 0 ac 0 portnum 2 z0 50
.sp dec 10 1meg 1g
.end
'''
FOUND = []


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest('no ' + name)


def program(name):
    path = shutil.which(name)
    if not path:
        raise unittest.SkipTest('no ' + name)
    return path


class Formats(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.decks = {}

    def vsim(self, *words, code=0):
        run = subprocess.run([VSIM, *words], cwd=self.tmp.name, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=300)
        if code is not None:
            self.assertEqual(run.returncode, code, (words, run.stdout, run.stderr))
        return run

    def made(self, to, *options, deck=DECK):
        self.write('d.sp', deck)
        self.vsim('-q', '-r', 'd.raw', 'd.sp')
        done = self.vsim('convert', 'd.raw', to, *options, code=None)
        if done.returncode == 4 and 'built without' in done.stderr:
            raise unittest.SkipTest('vsim was built without the library')
        self.assertEqual(done.returncode, 0, done.stderr)
        FOUND.append(to)
        return read_raw(self.path('d.raw'))

    def equal(self, a, b):
        """Every bit: both are finite numbers here."""
        a, b = list(a), list(b)
        self.assertEqual(len(a), len(b))
        self.assertTrue(all(x == y for x, y in zip(a, b)))

    def test_h5py(self):
        h5py = need('h5py')
        plots = self.made('d.h5')
        with h5py.File(self.path('d.h5'), 'r') as f:
            self.assertEqual([f[g].attrs['plot'].decode() for g in f], [name for name, _ in plots])
            for g, (_, columns) in zip(f, plots):
                self.assertEqual(list(f[g]), list(columns))
                self.assertEqual(f[g].attrs['title'].decode(), 'RLC "family"')
                self.assertIn(f[g].attrs['axis'].decode(), columns)
                for name, values in columns.items():
                    self.equal(f[g][name][:], [v.real for v in values] if name == 'frequency' else values)
        with h5py.File(self.path('own.h5'), 'w') as f:
            f['v/a'] = [1.0, 2.5, -3]
            f['n'] = [1, 2, 3]
            g = f.create_group('run')
            g['x'] = [1 + 2j, 3 - 4j]
        self.vsim('convert', 'own.h5', 'own.raw')
        plots = read_raw(self.path('own.raw'))
        self.equal(plots[0][1]['n'], [1, 2, 3])
        self.equal([p for p in plots if 'x' in p[1]][0][1]['x'], [1 + 2j, 3 - 4j])

    def test_pyarrow_and_pandas(self):
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        for kind in ('tran', 'ac'):
            plots = [p for p in self.made('d.parquet', '--plot', kind) if kind.upper() in p[0].upper()]
            t = pq.read_table(self.path('d.parquet'))
            self.assertEqual(sorted(set(t['r'].to_pylist())), [2, 10, 50])
            self.assertEqual(t.num_rows, sum(len(next(iter(c.values()))) for _, c in plots))
            for name in plots[0][1]:
                values = [v for _, c in plots for v in c[name]]
                if name in t.column_names:
                    self.equal(t[name].to_pylist(), [v.real for v in values])
                else:
                    self.equal(t[name + '.re'].to_pylist(), [v.real for v in values])
                    self.equal(t[name + '.im'].to_pylist(), [v.imag for v in values])
            self.vsim('convert', 'd.parquet', 'back.raw')
            self.assertEqual(read_raw(self.path('back.raw')), plots)
        self.assertEqual(len(need('pandas').read_parquet(self.path('d.parquet'))), t.num_rows)
        t = pa.table({'time': [0., 1., 2.], 'v(a)': [1., None, 3.], 'n': pa.array([1, -2, 3], pa.int32())})
        pq.write_table(t, self.path('own.parquet'), compression='none', use_dictionary=False)
        self.vsim('convert', 'own.parquet', 'own.csv')
        self.assertEqual(self.read('own.csv'), 'time,v(a),n\n0,1,1\n1,nan,-2\n2,3,3\n')
        for codec in self.brotli():
            pq.write_table(t, self.path('packed.parquet'), compression=codec)
            self.vsim('convert', 'packed.parquet', 'packed.csv')
            self.assertEqual(self.read('packed.csv'), self.read('own.csv'))

    def test_zstd_of_parquet_both_ways(self):
        pq = need('pyarrow.parquet')
        self.made('plain.parquet', '--plot', 'ac', '--compress', 'none')
        self.made('z.parquet', '--plot', 'ac', '--compress', 'zstd')
        t = pq.read_table(self.path('z.parquet'))
        self.assertTrue(t.equals(pq.read_table(self.path('plain.parquet'))))
        group = pq.ParquetFile(self.path('z.parquet')).metadata.row_group(0)
        part = [group.column(k) for k in range(group.num_columns)]
        self.assertEqual({c.compression for c in part}, {'ZSTD'})
        self.assertLess(sum(c.total_compressed_size for c in part), sum(c.total_uncompressed_size for c in part))
        self.assertEqual(sum(c.total_uncompressed_size for c in part), group.total_byte_size)
        self.vsim('convert', 'z.parquet', 'z.raw')
        self.vsim('convert', 'plain.parquet', 'plain.raw')
        self.assertEqual(read_raw(self.path('z.raw')), read_raw(self.path('plain.raw')))
        with open(self.path('z.parquet'), 'rb') as f:
            whole = f.read()
        for at in range(8, len(whole), max(1, len(whole) // 30)):  # any message, no crash, no hang
            with open(self.path('bad.parquet'), 'wb') as f:
                f.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
            self.assertIn(self.vsim('convert', 'bad.parquet', 'bad.raw', code=None).returncode, (0, 1))
        self.assertIn('is for .parquet', self.vsim('convert', 'd.raw', 'z.mat', '--compress', 'zstd', code=1).stderr)
        self.assertIn('zstd or none', self.vsim('convert', 'd.raw', 'z.parquet', '--compress', 'lz', code=2).stderr)

    def test_zstd_without_memory_is_told_and_replaces_nothing(self):
        shim = os.path.join(os.path.dirname(VSIM), 'tests', 'libattack_shim.so')
        if not os.path.exists(shim):
            self.skipTest('tests/attack/shim.c was not built')
        self.made('z.parquet', '--plot', 'ac', '--compress', 'zstd')

        def short_of_memory(**shims):
            return subprocess.run([VSIM, 'convert', 'd.raw', 'z.parquet', '--plot', 'ac', '--compress', 'zstd'],
                                  cwd=self.tmp.name, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
                                  env=dict(os.environ, LD_PRELOAD=shim, **shims))
        if short_of_memory(SHIM_COUNT=self.path('count')).returncode:
            self.skipTest('nothing can be preloaded, as with sanitizers')
        with open(self.path('count')) as f, open(self.path('z.parquet'), 'rb') as whole:
            last, before = int(f.read().split()[0]), whole.read()
        said = []
        for k in range(max(1, last - 40), last + 1):
            done = short_of_memory(SHIM_MALLOC=str(k))
            self.assertIn(done.returncode, (0, 7), (k, done.stderr))
            self.assertEqual('out of memory' in done.stderr, done.returncode == 7, (k, done.stderr))
            said.append(done.stderr)
            with open(self.path('z.parquet'), 'rb') as f:
                self.assertEqual(f.read(), before, k)
        self.assertTrue(any("'z.parquet' is not written: zstd is out of memory" in text for text in said), said)

    def zstd(self):
        try:
            self.made('probe.parquet', '--plot', 'ac', '--compress', 'zstd')
        except unittest.SkipTest:
            return []
        return ['zstd']

    def brotli(self):
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        pq.write_table(pa.table({'x': [1.0, 2.0]}), self.path('probe.parquet'), compression='brotli')
        done = self.vsim('convert', 'probe.parquet', 'probe.csv', code=None)
        if done.returncode == 4 and 'built without' in done.stderr:
            return []
        self.assertEqual(done.returncode, 0, done.stderr)
        return ['brotli']

    def test_damaged_brotli_is_a_message(self):
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        if not self.brotli():
            self.skipTest('vsim was built without Brotli')
        pq.write_table(pa.table({'x': [math.sin(k) for k in range(400)], 'n': list(range(400))}), self.path('b.parquet'), compression='brotli')
        with open(self.path('b.parquet'), 'rb') as f:
            data = f.read()
        codes = set()
        for at in range(4, len(data), 97):
            with open(self.path('bad.parquet'), 'wb') as f:
                f.write(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1:])
            codes.add(self.vsim('convert', 'bad.parquet', 'bad.csv', code=None).returncode)
        self.assertLessEqual(codes, {0, 1})
        self.assertIn(1, codes)

    def test_tables_of_pyarrow_however_they_are_packed(self):
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        n = 3000
        columns = {'time': [k * 1e-9 for k in range(n)], 'v(a)': [math.sin(k / 50) if k % 7 else None for k in range(n)],
                   'n': pa.array([k % 5 for k in range(n)], pa.int32()), 'b': [bool(k % 3) if k % 11 else None for k in range(n)],
                   'f': pa.array([k / 8 for k in range(n)], pa.float32()), 'i': [-k * 10 ** 10 for k in range(n)],
                   'none': pa.array([None] * n, pa.float64()), 'word': ['abc'[k % 3] * 3 if k % 13 else None for k in range(n)]}
        t = pa.table(columns)
        text = []
        for codec in ('none', 'snappy', 'gzip', 'lz4', *self.zstd(), *self.brotli()):
            for version in ('1.0', '2.0'):
                for way in ({}, {'use_dictionary': False},
                            {'use_dictionary': False, 'use_byte_stream_split': ['time', 'v(a)', 'f', 'n', 'i']},
                            {'use_dictionary': False, 'column_encoding': {'n': 'DELTA_BINARY_PACKED', 'i': 'DELTA_BINARY_PACKED',
                                                                          'word': 'DELTA_LENGTH_BYTE_ARRAY'}},
                            {'use_dictionary': False, 'column_encoding': {'word': 'DELTA_BYTE_ARRAY'}}):
                    pq.write_table(t, self.path('t.parquet'), compression=codec, data_page_version=version,
                                   row_group_size=1100, data_page_size=2000, **way)
                    self.vsim('convert', 't.parquet', 't.csv')
                    text.append(self.read('t.csv'))
        self.assertEqual(len(set(text)), 1)
        got = list(csv.DictReader(text[0].split('\n')))
        self.assertEqual(len(got), n)
        for name in t.column_names[:-1]:  # a text is no vector
            for row, value in zip(got, t[name].to_pylist()):
                x = float(row[name])
                self.assertTrue(math.isnan(x) if value is None else x == value, (name, row))
        FOUND.append('t.parquet')

    def test_what_is_not_read_has_a_name(self):
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        t = pa.table({'time': [float(k) for k in range(500)], 'n': pa.array(range(500), pa.int64())})
        pq.write_table(t, self.path('t.parquet'), compression='gzip')
        with open(self.path('t.parquet'), 'rb') as f:
            data = f.read()
        with open(self.path('t.parquet'), 'wb') as f:  # the number of LZO in the heads of both columns
            f.write(data.replace(b'\x15\x04\x16\xe8\x07', b'\x15\x06\x16\xe8\x07'))
        self.assertIn('LZO', self.vsim('convert', 't.parquet', 't.csv', code=1).stderr)
        self.assertFalse(os.path.exists(self.path('t.csv')))

    def test_differences_of_pyarrow(self):
        """Numbers from end to end of their range, differences of 0 to 64 bits; texts that name points of a sweep."""
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        chance = random.Random(3)
        for n in (1, 2, 31, 33, 128, 129, 1000):
            columns = {}
            for bits, kind in ((32, pa.int32()), (64, pa.int64()), (32, pa.uint32()), (64, pa.uint64())):
                for reach in (0, 1, 7, bits - 1, bits):
                    sign = kind in (pa.int32(), pa.int64())
                    values = [chance.randrange(2 ** reach) - (2 ** (bits - 1) if sign and reach == bits else 0) for _ in range(n)]
                    columns['%s_%d' % (kind, reach)] = pa.array([x if chance.random() < 0.9 else None for x in values], kind)
            columns['money'] = pa.array([decimal.Decimal(k * 7 - 100).scaleb(-2) for k in range(n)], pa.decimal128(25, 2))
            t = pa.table(columns)
            way = {name: 'DELTA_BYTE_ARRAY' if name == 'money' else 'DELTA_BINARY_PACKED' for name in columns}
            for version in ('1.0', '2.0'):
                pq.write_table(t, self.path('t.parquet'), use_dictionary=False, column_encoding=way, data_page_version=version,
                               data_page_size=600, compression='none')
                self.vsim('convert', 't.parquet', 't.csv')
                got = list(csv.DictReader(self.read('t.csv').split('\n')))
                self.assertEqual(len(got), n)
                for name in columns:
                    for row, value in zip(got, t[name].to_pylist()):
                        x = float(row[name])
                        self.assertTrue(math.isnan(x) if value is None else x == float(value), (n, name, x, value))
        FOUND.append('t.parquet')
        word = ['corner=%s' % w for w in ('typical', 'typical', 'fast', 'faster', 'slow', '')]
        t = pa.table({'case': word, 'x': [float(k) for k in range(6)]}, metadata={'vsim.plot': 'Table', 'vsim.types': 'sweep\nnotype'})
        want = None
        for way in ('PLAIN', 'DELTA_BYTE_ARRAY', 'DELTA_LENGTH_BYTE_ARRAY'):
            pq.write_table(t.replace_schema_metadata({'vsim.plot': 'Table', 'vsim.types': 'sweep\nnotype'}), self.path('t.parquet'),
                           use_dictionary=False, column_encoding={'case': way}, compression='none')
            self.vsim('convert', 't.parquet', 't.raw', '--ascii')
            text = re.sub('Date: .*', '', self.read('t.raw'))
            want = want or text
            self.assertEqual(text, want)
        self.assertEqual(want.count('case=corner=faster'), 1)
        self.assertEqual(want.count('Plotname'), 5)

    def test_damaged_tables_are_a_message(self):
        pq, pa = need('pyarrow.parquet'), need('pyarrow')
        t = pa.table({'time': [float(k) for k in range(500)], 'v(a)': [float(k % 9) if k % 7 else None for k in range(500)]})
        chance = random.Random(1)
        n, word = pa.array([k * k for k in range(500)]), pa.array(['word%d' % (k // 3) for k in range(500)])
        for codec, encoding in (('snappy', None), ('gzip', None), ('lz4', None), ('none', 'DELTA_LENGTH_BYTE_ARRAY'), ('none', 'DELTA_BYTE_ARRAY')):
            own = t.append_column('n', n).append_column('word', word) if encoding else t
            pq.write_table(own, self.path('a.parquet'), compression=codec, use_dictionary=not encoding,
                           column_encoding={'n': 'DELTA_BINARY_PACKED', 'word': encoding} if encoding else None)
            with open(self.path('a.parquet'), 'rb') as f:
                data = f.read()
            for k in range(25):
                at = chance.randrange(4, len(data))
                bad = data[:at] + bytes([data[at] ^ 1 << k % 8]) + data[at + 1:] if k % 5 else data[:at]
                with open(self.path('bad.parquet'), 'wb') as f:
                    f.write(bad)
                done = self.vsim('convert', 'bad.parquet', 'bad.csv', code=None)
                self.assertIn(done.returncode, (0, 1), (codec, k, at, done.stderr))  # 0: statistics and such
                self.assertTrue(done.returncode == 0 or 'bad.parquet' in done.stderr)
                self.assertTrue(k % 5 or done.returncode == 1, 'cut off')
        FOUND.append('a.parquet')

    def test_scipy(self):
        io = need('scipy.io')
        plots = self.made('d.mat')
        m = io.loadmat(self.path('d.mat'), struct_as_record=False, squeeze_me=True)
        for name, columns in plots:
            s = [v for v in m.values() if getattr(v, 'plot', None) == name][0]
            self.assertEqual(list(s.names), list(columns))
            self.equal(s.v_x1_a, columns['v(x1.a)'])
            self.equal(s.i_x1_l1, columns['i(x1.l1)'])
        io.savemat(self.path('own.mat'), {'a': [1.0, 2, 3], 'z': [1j, 2]})
        self.vsim('convert', 'own.mat', 'own.raw')
        columns = read_raw(self.path('own.raw'))[0][1]
        self.equal(columns['a'], [1, 2, 3])
        self.equal(columns['z'][:2], [1j, 2])
        values = [math.sin(k) for k in range(5000)] + [0.0] * 5000
        io.savemat(self.path('packed.mat'), {'a': values, 'z': [1j, 2]}, do_compression=True)
        self.vsim('convert', 'packed.mat', 'own.raw')
        self.equal(read_raw(self.path('own.raw'))[0][1]['a'], values)
        with open(self.path('packed.mat'), 'rb') as f:
            data = f.read()
        for at in range(140, len(data), 997):  # the sum at the end of each variable tells
            with open(self.path('bad.mat'), 'wb') as f:
                f.write(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
            self.assertIn(self.vsim('convert', 'bad.mat', 'own.raw', code=None).returncode, (0, 1), at)
        io.savemat(self.path('back.mat'), io.loadmat(self.path('d.mat')), do_compression=True)
        self.vsim('convert', 'back.mat', 'back.raw')

    def test_other_levels_and_orders_of_scipy(self):
        """Level 4 as scipy writes it; level 5 with the highest byte first as scipy reads it."""
        io, numpy = need('scipy.io'), need('numpy')
        sparse = need('scipy.sparse')
        t = [0.1, 0.5, -1e300]
        io.savemat(self.path('o.mat'), {'t': t, 'A': [[1.0, 2], [3, 4], [5, 6]], 'z': [1j, 2, 3], 'note': 'hello', 'S': sparse.eye(9),
                                        **{k: numpy.array([1, 2, 3], k) for k in ('float32', 'int32', 'int16', 'uint16', 'uint8')}},
                   format='4')
        done = self.vsim('convert', 'o.mat', 'o.raw')
        columns = read_raw(self.path('o.raw'))[0][1]
        self.equal(columns['t'], t)
        self.equal(columns['A_2'], [2, 4, 6])
        self.equal(columns['z'], [1j, 2, 3])
        for k in ('float32', 'int32', 'int16', 'uint16', 'uint8'):
            self.equal(columns[k], [1, 2, 3])
        self.assertIn("'note' is text", done.stderr)
        self.assertIn("'S' is a sparse matrix", done.stderr)
        m = Level5('>')
        with open(self.path('big.mat'), 'wb') as f:
            f.write(m.head() + m.doubles('t', (3, 1), *t) + m.matrix('h', 6, (1, 2), m.small(3, b'\x01\x02\xff\xfe'))
                    + m.record('s', (1, 1), {'a': m.doubles('', (2, 1), 1, 2), 'w': m.text('', 'hi')}))
        want = io.loadmat(self.path('big.mat'))
        self.equal(want['t'].ravel(), t)
        self.vsim('convert', 'big.mat', 'big.raw')
        (_, loose), (_, s) = read_raw(self.path('big.raw'))
        self.equal(loose['t'], t)
        self.equal(loose['h'][:2], want['h'].ravel())
        self.equal(s['a'], want['s']['a'][0, 0].ravel())

    def test_other_variables_of_scipy(self):
        io, numpy = need('scipy.io'), need('numpy')
        sparse = need('scipy.sparse')
        t = [0.0, 0.5, 1.0]
        for packed in (False, True):
            io.savemat(self.path('o.mat'), {'t': t, 'A': [[1.0, 2j], [3, 4], [5, 6]], 'note': 'hello', 'big': sparse.eye(1000),
                                            's': {'t': t, 'in': {'a': 1.0}}, 'last': t}, do_compression=packed)
            done = self.vsim('convert', 'o.mat', 'o.raw')
            loose, s = (columns for _, columns in read_raw(self.path('o.raw')))
            self.assertEqual(list(loose), ['t', 'A_1', 'A_2', 'last'])
            self.equal(loose['A_1'], [1, 3, 5])
            self.equal(loose['A_2'], [2j, 4, 6])
            self.equal(s['t'], t)
            for told in ("'note' is text", "'big' is a sparse matrix", "'s.in' is a struct"):
                self.assertIn(told, done.stderr)
        io.savemat(self.path('o.mat'), {'t': t, 'B': numpy.zeros((2, 2))})
        self.assertIn("'B_1' goes on with its last value", self.vsim('convert', 'o.mat', 'o.csv').stderr)
        self.assertEqual(self.vsim('convert', 'o.mat', 'o.h5').stderr, '')

    def test_other_datasets_of_h5py(self):
        h5py, numpy = need('h5py'), need('numpy')
        t = [0.0, 0.5, 1.0]
        with h5py.File(self.path('o.h5'), 'w') as f:
            f['t'] = t
            f['A'] = [[1.0, 2.0], [3, 4], [5, 6]]
            f['z'] = numpy.array([(1, 2)] * 3, dtype=[('real', 'f8'), ('imag', 'f8')])
            f['on'] = [True, False, True]
            f['note'] = 'hello'
            f['table'] = numpy.array([(1, 2.0)], dtype=[('x', 'i4'), ('y', 'f8')])
            f['nowhere'] = h5py.SoftLink('/gone')
            f.create_group('g' * 300)['t'] = t
            f.create_group('h').create_group('deep')['t'] = t
        done = self.vsim('convert', 'o.h5', 'o.raw')
        loose, g = (columns for _, columns in read_raw(self.path('o.raw')))
        self.equal(loose['A_1'], [1, 3, 5])
        self.equal(loose['A_2'], [2, 4, 6])
        self.equal(loose['z'], [1 + 2j] * 3)
        self.equal(loose['on'], [1, 0, 1])
        self.equal(g['t'], t)
        for told in ("'note' is text", "'table' is a table", "'nowhere' is a link", "'h/deep' is a group", "'h' has no numbers"):
            self.assertIn(told, done.stderr)

    def test_hdf5_of_matlab(self):
        """MATLAB 7.3 writes a matrix turned, texts as numbers, and its own head in front of HDF5."""
        h5py, numpy = need('h5py'), need('numpy')
        with h5py.File(self.path('m.mat'), 'w', userblock_size=512) as f:
            for name, kind, data in (('t', 'double', [[0.0], [0.5], [1.0]]), ('A', 'double', [[1.0, 3, 5], [2, 4, 6]]),
                                     ('note', 'char', numpy.array([[104], [105]], 'u2')), ('none', 'double', numpy.array([0, 0], 'u8'))):
                f[name] = data
                f[name].attrs['MATLAB_class'] = numpy.bytes_(kind)
            f['none'].attrs['MATLAB_empty'] = numpy.uint8(1)
            f.create_group('#refs#')['a'] = [1.0]
        with open(self.path('m.mat'), 'r+b') as f:
            f.write(b'MATLAB 7.3 MAT-file, HDF5 schema 1.00 .'.ljust(116) + bytes(8) + b'\0\2IM')
        done = self.vsim('convert', 'm.mat', 'm.raw')
        columns, = (columns for _, columns in read_raw(self.path('m.raw')))
        self.equal(columns['t'], [0, 0.5, 1])
        self.equal(columns['A_1'], [1, 3, 5])
        self.equal(columns['A_2'], [2, 4, 6])
        self.assertTrue(math.isnan(columns['none'][0]))
        self.assertIn("'note' is text", done.stderr)

    def test_other_columns_of_pyarrow(self):
        pa, pq, numpy = need('pyarrow'), need('pyarrow.parquet'), need('numpy')
        import decimal
        t = pa.array([0.0, 0.5])
        prices = pa.array([decimal.Decimal('-1.25'), decimal.Decimal('12345678901234567890.5')], pa.decimal128(30, 2))
        small = pa.array([decimal.Decimal('-1.25'), decimal.Decimal('2.5')], pa.decimal128(9, 2))
        table = pa.table({'time': t, 'u32': pa.array([1, 2**32 - 1], pa.uint32()), 'u64': pa.array([1, 2**64 - 2048], pa.uint64()),
                          'prices': prices, 'small': small, 'half': pa.array(numpy.float16([-1.5, 6e-8])), 'list': pa.array([[1, 2], [3]]),
                          'word': ['a', 'b'], 'record': pa.array([{'x': 1, 'y': {'z': 2}}] * 2), 'last': t})
        for options in ({}, {'store_decimal_as_integer': True}, {'use_dictionary': False},
                        {'use_dictionary': False, 'column_encoding': {'prices': 'BYTE_STREAM_SPLIT', 'half': 'BYTE_STREAM_SPLIT'}}):
            pq.write_table(table, self.path('o.parquet'), **options)
            done = self.vsim('convert', 'o.parquet', 'o.raw')
            columns = read_raw(self.path('o.raw'))[0][1]
            self.assertEqual(list(columns), ['time', 'u32', 'u64', 'prices', 'small', 'half', 'last'])
            self.equal(columns['u32'], [1, 2**32 - 1])
            self.equal(columns['u64'], [1, 2**64 - 2048])
            self.equal(columns['prices'], [-1.25, 12345678901234567890.5])
            self.equal(columns['small'], [-1.25, 2.5])
            self.equal(columns['half'], [-1.5, float(numpy.float16(6e-8))])
            self.equal(columns['last'], [0, 0.5])
            for told in ("'list' is a list or a struct", "'word' is text", "'record' is a list or a struct"):
                self.assertIn(told, done.stderr)
        pq.write_table(pa.table({'time': pa.array([1, 2], pa.timestamp('ns')), 'x': t}), self.path('o.parquet'),
                       use_deprecated_int96_timestamps=True)
        self.assertIn("'time' is a date of 96 bits", self.vsim('convert', 'o.parquet', 'o.raw').stderr)
        pq.write_table(pa.table({'time': t, 'x': t}).slice(0, 0), self.path('o.parquet'))
        self.vsim('convert', 'o.parquet', 'o.raw')
        self.assertEqual(list(read_raw(self.path('o.raw'))[0][1]), ['time', 'x'])

    def test_scikit_rf(self):
        skrf = need('skrf')
        for to, z0 in (('d.s2p', '50'), ('d.ts', '50,75'), ('d.ts', '50')):
            columns = self.made(to, '--reference', z0, deck=PORTS)[0][1]
            n = skrf.Network(self.path(to))
            self.equal(n.f, [f.real for f in columns['frequency']])
            self.equal(n.z0[0], [50, 75] if ',' in z0 else [50, 50])
            for i in (0, 1):
                for k in (0, 1):
                    self.equal(n.s[:, i, k], columns['S_%d_%d' % (i + 1, k + 1)])
        n.write_touchstone('own', dir=self.tmp.name, form='db')
        self.vsim('convert', 'own.s2p', 'own.raw')
        got = read_raw(self.path('own.raw'))[0][1]
        for a, b in zip(got['S_2_1'], columns['S_2_1']):
            self.assertLess(abs(a - b), 1e-9)

    def test_psf_utils(self):
        psf = need('psf_utils')
        for k in ('1', '2'):
            columns = self.made('d.psf', '--plot', k)[int(k) - 1][1]
            p = psf.PSF(self.path('d.psf'))
            axis = 'time' if k == '1' else 'frequency'
            self.assertEqual(p.get_sweep().name, axis)
            self.equal(p.get_sweep().abscissa, [v.real for v in columns[axis]])
            self.equal(p.get_signal('x1.a').ordinate, columns['v(x1.a)'])
            self.assertEqual(p.get_signal('x1.a').units, 'V')

    def test_spicelib(self):
        need('spicelib')
        from spicelib import RawRead
        plots = self.made('c.raw', '--plot', '2')
        for name in ('c.raw',):
            r = RawRead(self.path(name), dialect='ngspice', verbose=False)
            self.equal(r.get_trace('v(out)').get_wave(), plots[1][1]['v(out)'])

    def test_vcd2fst(self):
        vcd2fst, fst2vcd = program('vcd2fst'), program('fst2vcd')
        columns = self.made('d.vcd', '--plot', '1', '--threshold', '0.3,0.6')[0][1]
        subprocess.run([vcd2fst, self.path('d.vcd'), self.path('d.fst')], check=True, capture_output=True)
        back = subprocess.run([fst2vcd, self.path('d.fst')], check=True, capture_output=True, text=True).stdout
        scope, names, now, changes = [], {}, 0, {}
        for line in back.split('\n'):
            w = line.split()
            if line.startswith('$scope'):
                scope.append(w[2])
            elif line.startswith('$upscope'):
                scope.pop()
            elif line.startswith('$var'):
                names[w[3]] = '.'.join(scope[1:] + [w[4]])
            elif line.startswith('#'):
                now = int(line[1:])
            elif line[:1] in ('0', '1', 'x') and line[1:] in names:
                changes.setdefault(names[line[1:]], []).append((now, line[0]))
        self.assertEqual(set(changes), {'in', 'out', 'x1.a'})
        # in: from 0 to 1 V in 0.1 ns from 1 ns on, from 6.1 ns on down, every 10 ns
        edges = [(t, v) for t, v in changes['in'] if t]
        want = [(1000000 + 60000 + 10000000 * k, '1') for k in range(4)] + \
               [(6100000 + 70000 + 10000000 * k, '0') for k in range(4)]
        for (t, v), (at, value) in zip(edges, sorted(want)):
            self.assertEqual(v, value)
            self.assertLess(abs(t - at), 60)  # fs; the points are those of the run
        self.assertEqual(len(edges), len(want))
        self.assertTrue(max(columns['v(out)']) > 1)

    def test_ngspice_loads_what_was_converted(self):
        ngspice = program('ngspice')
        plots = self.made('d.h5') and self.made('c.raw', '--plot', '1')
        self.write('load.sp', '* load\n.control\nload c.raw\nset numdgt=15\nlet n=length(out)\nprint n out[n-1]\n'
                   'quit\n.endc\n.end\n')
        done = subprocess.run([ngspice, '-b', 'load.sp'], cwd=self.tmp.name, capture_output=True, text=True,
                              timeout=300)
        last = [float(line.split('=')[1]) for line in done.stdout.split('\n') if line.startswith('out[')]
        self.assertTrue(last, done.stdout + done.stderr)
        self.assertLess(abs(last[0] - plots[0][1]['v(out)'][-1]), 1e-12)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 0 if FOUND else 77)
