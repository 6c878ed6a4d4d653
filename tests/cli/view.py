#!/usr/bin/env python3
"""The viewer's server: whom it answers, what it answers, when it ends.   view.py VSIM

The page itself is looked at by browser.py."""
import array
import base64
import hashlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest
import urllib.parse

from folder import Folder
from matlab import Level5

RC = '''RC
.param r=1k
V1 in 0 PULSE(0 1 0 1n 1n 1u 2u)
R1 in out {r}
C1 out 0 1n
.tran 10n 4u
.step param r list 1k 2k
.end
'''
# Long enough to be stopped in its middle on any machine.
LONG = '''long
V1 in 0 sin(0 1 1meg)
R1 in out 1k
C1 out 0 1n
.save v(out)
.tran 1n 10 0 1n
.end
'''


class Server:
    def __init__(self, folder, *words):
        self.process = subprocess.Popen([VSIM, *words, '--no-open'], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = ''
        self.address = None
        while self.address is None:
            line = self.process.stderr.readline()
            self.said += line
            found = re.search(r'http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/', line)
            if found:
                self.address, self.port, self.token = found.group(0), int(found.group(1)), found.group(2)
            elif not line:
                break

    def raw(self, request, wait=120):
        """Sends bytes; all that comes until the other side closes."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=wait) as s:
            try:
                s.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            got = b''
            while True:
                try:
                    part = s.recv(1 << 16)
                except ConnectionResetError:
                    break
                if not part:
                    break
                got += part
        return got

    def ask(self, path, method='GET', host=None, more=()):
        """Status, head and body."""
        lines = ['%s %s HTTP/1.1' % (method, path), 'Host: %s' % (host or '127.0.0.1:%d' % self.port),
                 'Connection: close', *more, '', '']
        got = self.raw('\r\n'.join(lines).encode('latin-1'))
        head, _, body = got.partition(b'\r\n\r\n')
        return int(head.split()[1]) if head else 0, head.decode('latin-1'), body

    def get(self, name, **query):
        status, _, body = self.ask('/%s/%s?%s' % (self.token, name, urllib.parse.urlencode(query)))
        return status, body

    def numbers(self, name, **query):
        """The head and the doubles of an answer."""
        status, body = self.get(name, **query)
        if status != 200:
            raise AssertionError((status, body))
        n = struct.unpack_from('<I', body)[0]
        return json.loads(body[4:4 + n]), struct.unpack_from('<%dd' % ((len(body) - 4 - n) // 8), body, 4 + n)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=300)
        self.process.stderr.close()
        return code


class View(Folder):
    def run_deck(self, text=RC, name='rc'):
        self.write(name + '.sp', text)
        subprocess.run([VSIM, '-q', name + '.sp'], cwd=self.tmp.name, check=True, timeout=240)

    def serve(self, *words):
        s = Server(self.tmp.name, *words)
        self.addCleanup(s.end)
        self.assertIsNotNone(s.address, s.said)
        return s


class Notes(View):
    def test_what_of_a_file_is_not_read_is_told(self):
        m = Level5()
        more = b''.join(m.text('n%d' % k, 'hi') for k in range(24))
        with open(self.path('own.mat'), 'wb') as f:
            f.write(m.head() + m.doubles('t', (1, 2), 5, 6) + m.text('note', 'hi') + more + b'cut')
        s = self.serve('view', 'own.mat')
        file = json.loads(s.get('index')[1])['files'][0]
        self.assertEqual(file['notes'][0], "'note' is text, and is not read")
        self.assertEqual(len(file['notes']), 21)
        self.assertEqual(file['notes'][20], '5 more are not read')
        self.assertIn('ends in the middle of a variable', file['why'])
        self.assertIn("warning: 'own.mat': 'note' is text, and is not read", s.said)
        self.assertIn("warning: 'own.mat': 5 more are not read", s.said)


class Access(View):
    def setUp(self):
        super().setUp()
        self.run_deck()
        self.s = self.serve('view', 'rc.raw')
        self.page = '/%s/' % self.s.token

    def test_the_page_is_given_with_its_policy(self):
        status, head, body = self.s.ask(self.page)
        self.assertEqual(status, 200)
        self.assertTrue(body.startswith(b'<!DOCTYPE html>'))
        for line in ('Cache-Control: no-store', 'X-Frame-Options: DENY', 'Referrer-Policy: no-referrer',
                     'X-Content-Type-Options: nosniff', "default-src 'none'"):
            self.assertIn(line, head)
        self.assertNotIn('unsafe', head)
        self.assertNotIn('Access-Control', head)
        for tag in ('script', 'style'):
            text = re.search(r'<%s>(.*?)</%s>' % (tag, tag), body.decode(), re.S).group(1)
            self.assertIn(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode(), head)
        self.assertIsNone(re.search(r'(src|href)="(?!data:)', body.decode()))

    def test_only_the_token_opens(self):
        token = self.s.token
        wrong = token[:-1] + ('0' if token[-1] != '0' else '1')
        for path in ('/', '/index', '/%s/' % wrong, '/%s/index' % wrong, '/%s/index' % token[:-1], '/%s0/' % token,
                     '/%s' % token, '//%s/' % token, '/x/../%s/' % token, '/index?token=%s' % token):
            status, _, body = self.s.ask(path)
            self.assertEqual(status, 404, path)
            self.assertNotIn(b'signals', body)

    def test_no_other_path_leads_anywhere(self):
        for name in ('rc.raw', '../rc.raw', '..%2frc.raw', '%2e%2e/rc.raw', 'etc/passwd', '/etc/passwd', 'index/', 'curve/x',
                     'index%00', 'stop'):
            self.assertEqual(self.s.ask(self.page + name)[0], 404, name)

    def test_other_hosts_are_refused(self):
        for host in ('example.org', 'example.org:%d' % self.s.port, '127.0.0.1', '127.0.0.1:1', 'localhost', '0.0.0.0:%d' % self.s.port,
                     '127.0.0.1:%d.example.org' % self.s.port, '[::1]:%d' % self.s.port, ''):
            status = self.s.ask(self.page + 'index', host=host or ' ')[0]
            self.assertEqual(status, 403, host)
        self.assertEqual(self.s.ask(self.page + 'index', host='localhost:%d' % self.s.port)[0], 200)

    def test_other_origins_are_refused(self):
        own = 'http://127.0.0.1:%d' % self.s.port
        self.assertEqual(self.s.ask(self.page + 'index', more=['Origin: ' + own])[0], 200)
        for origin in ('http://example.org', 'null', 'https' + own[4:], own + '.example.org', own[:-1], 'http://127.0.0.1'):
            self.assertEqual(self.s.ask(self.page + 'index', more=['Origin: ' + origin])[0], 403, origin)
        for site in ('cross-site', 'same-site'):
            self.assertEqual(self.s.ask(self.page + 'index', more=['Sec-Fetch-Site: ' + site])[0], 403)
        self.assertEqual(self.s.ask(self.page, more=['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'])[0], 200)

    def test_other_methods_are_refused(self):
        own = 'Origin: http://127.0.0.1:%d' % self.s.port
        for method in ('HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'get', 'X'):
            self.assertEqual(self.s.ask(self.page, method=method, more=[own])[0], 405, method)
        self.assertEqual(self.s.ask(self.page + 'stop', method='POST', more=[own])[0], 404)  # nothing runs
        self.assertEqual(self.s.ask(self.page + 'index', method='POST', more=[own])[0], 404)
        self.assertEqual(self.s.ask(self.page, more=['Content-Length: 3'])[0], 413)
        self.assertEqual(self.s.ask(self.page, more=['Transfer-Encoding: chunked'])[0], 413)

    def test_other_machines_are_not_heard(self):
        with open('/proc/net/tcp', encoding='ascii') as f:
            bound = [line.split()[1] for line in f if line.split()[3] == '0A']
        port = '%04X' % self.s.port
        self.assertEqual([b for b in bound if b.endswith(':' + port)], ['0100007F:' + port])

    def test_heads_that_are_too_long_or_no_heads(self):
        long = b'GET /%s/ HTTP/1.1\r\nX: ' % self.s.token.encode() + b'a' * 20000 + b'\r\n\r\n'
        self.assertIn(b' 431 ', self.s.raw(long)[:40])
        for junk in (b'\r\n\r\n', b'GET\r\n\r\n', b'\x16\x03\x01\x02\x00\r\n\r\n', b'GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n',
                     b'GET / HTTP/9.9\r\n\r\n'):
            self.assertIn(b' 400 ', self.s.raw(junk)[:40], junk)
        self.assertEqual(self.s.ask(self.page)[0], 200)

    def test_many_connections_do_not_stop_it(self):
        held = [socket.create_connection(('127.0.0.1', self.s.port)) for _ in range(100)]
        try:
            for h in held:
                try:
                    h.sendall(b'GET /')  # and no more
                except (BrokenPipeError, ConnectionResetError):
                    pass
        finally:
            for h in held:
                h.close()
        self.assertEqual(self.s.ask(self.page)[0], 200)

    def test_nothing_is_written(self):
        before = sorted((e.name, e.stat().st_mtime_ns) for e in os.scandir(self.tmp.name))
        self.s.get('index')
        self.s.get('curve', g=0, e='v(out)')
        self.assertEqual(before, sorted((e.name, e.stat().st_mtime_ns) for e in os.scandir(self.tmp.name)))


class Answers(View):
    def test_signals_families_and_curves(self):
        self.run_deck()
        s = self.serve('view', 'rc.raw')
        index = json.loads(s.get('index')[1])
        group = index['groups'][0]
        self.assertEqual([m[0] for m in group['members']], ['r=1000', 'r=2000'])
        self.assertIn('v(out)', group['names'])
        head, x = s.numbers('curve', g=0, e='v(in)-v(out)', w=0)
        n = [m['n'] for m in head['members']]
        self.assertEqual(len(x), 2 * sum(n))
        self.assertEqual([m['all'] for m in head['members']], n)
        few, y = s.numbers('curve', g=0, e='v(out)', w=5, m=1)
        self.assertLessEqual(few['members'][0]['n'], 20)
        self.assertEqual(y[0], 0)
        self.assertEqual((few['unit'], few['axisUnit']), ('V', 's'))

    def test_extremes_of_the_whole_are_those_of_few_points(self):
        self.run_deck()
        s = self.serve('view', 'rc.raw')
        for e in ('v(out)', 'deriv(v(out))'):
            _, all_points = s.numbers('curve', g=0, e=e, w=0, m=0)
            _, few = s.numbers('curve', g=0, e=e, w=7, m=0)
            half = [len(p) // 2 for p in (all_points, few)]
            self.assertEqual((min(all_points[half[0]:]), max(all_points[half[0]:])), (min(few[half[1]:]), max(few[half[1]:])))

    def test_every_point_is_given_of_a_part_that_is_not_too_large(self):
        n = (1 << 20) + 100
        rows = array.array('d', bytes(16 * n))
        rows[0::2] = array.array('d', range(n))
        rows[1::2] = array.array('d', (k % 1000 for k in range(n)))
        head = 'Title: t\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: 2\nNo. Points: %d\n' \
               'Variables:\n\t0\ttime\ttime\n\t1\tv(a)\tvoltage\nBinary:\n' % n
        with open(self.path('many.raw'), 'wb') as f:
            f.write(head.encode() + rows.tobytes())
        s = self.serve('view', 'many.raw')
        for e, of in (('v(a)', float), ('2*v(a)', lambda y: 2.0 * y), ('v(a)[0,%d]' % (n - 1), float)):
            status, body = s.get('curve', g=0, e=e, w=0)
            self.assertEqual(status, 400)
            self.assertIn('%d points' % n, json.loads(body)['error'])
            _, got = s.numbers('curve', g=0, e=e, w=0, x0=66000.5, x1=140000.5)
            want = range(66000, 140002)  # one more on either side
            self.assertEqual(list(got), [float(k) for k in want] + [of(k % 1000) for k in want], e)

    def test_measures_between_cursors(self):
        self.run_deck()
        s = self.serve('view', 'rc.raw')

        def measure(**q):
            status, body = s.get('measure', **{'g': 0, 'm': 0, **q})
            return status, json.loads(body)
        head, v = s.numbers('curve', g=0, e='v(out)', w=0, m=0)
        n = head['members'][0]['n']
        x, y = v[:n], v[n:2 * n]
        status, m = measure(e='v(out)', x0=x[3], x1=x[-1])
        self.assertEqual(status, 200)
        self.assertEqual((m['a'], m['b'], m['min'], m['max']), (y[3], y[-1], min(y[3:]), max(y[3:])))
        area = sum((b - a) * (p + q) / 2 for a, b, p, q in zip(x[3:], x[4:], y[3:], y[4:]))
        self.assertAlmostEqual(m['mean'] / (area / (x[-1] - x[3])), 1, delta=1e-12)
        self.assertEqual((m['part'], m['points']), (n, n))
        self.assertEqual(measure(e='v(out)*2', x0=x[3], x1=x[-1])[1]['max'], 2 * m['max'])
        status, m = measure(e='v(nix)', x0=0, x1=1)
        self.assertEqual(status, 400)
        self.assertIn('nix', m['error'])
        self.assertEqual(measure(g=99, e='v(out)', x0=0)[0], 400)
        self.assertEqual(s.get('measure')[0], 400)

    def test_what_is_wrong_with_an_expression_is_told(self):
        self.run_deck()
        s = self.serve('view', 'rc.raw')
        status, body = s.get('curve', g=0, e='v(in)+v(oot)')
        told = json.loads(body)
        self.assertEqual(status, 400)
        self.assertIn('v(oot)', told['error'])
        self.assertEqual('v(in)+v(oot)'[told['from']:told['from'] + told['length']], 'v(oot)')
        self.assertIn('v(out)', told['note'])
        for q in ({'g': 99, 'e': 'v(in)'}, {'g': 0, 'e': 'v(in'}, {'g': 0, 'e': ''}, {'g': -1, 'e': 'v(in)'}, {'g': 'x', 'e': 'v(in)'}):
            self.assertEqual(s.get('curve', **q)[0], 400, q)
        self.assertEqual(s.get('curve', g=0, e='x' * 5000)[0], 400)
        self.assertEqual(s.get('index')[0], 200)

    def test_a_file_that_is_replaced_is_read_again(self):
        self.run_deck()
        s = self.serve('view', 'rc.raw')
        before = json.loads(s.get('index')[1])
        self.run_deck(RC.replace('list 1k 2k', 'list 3k 4k 5k'))
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            now = json.loads(s.get('index')[1])
            if now['groups'] and len(now['groups'][0]['members']) == 3:  # none: it was just begun anew
                break
            time.sleep(0.1)
        self.assertEqual([m[0] for m in now['groups'][0]['members']], ['r=3000', 'r=4000', 'r=5000'])
        self.assertGreater(now['generation'], before['generation'])

    def test_damaged_files(self):
        self.run_deck()
        with open(self.path('rc.raw'), 'rb') as f:
            whole = f.read()
        with open(self.path('cut.raw'), 'wb') as f:
            f.write(whole[:len(whole) * 2 // 3])
        s = self.serve('view', 'cut.raw')
        self.assertTrue(json.loads(s.get('index')[1])['groups'])
        for name, data, code in (('none.raw', None, 4), ('empty.raw', b'', 1), ('junk.raw', b'\x00\xff' * 100, 1)):
            if data is not None:
                with open(self.path(name), 'wb') as f:
                    f.write(data)
            bad = Server(self.tmp.name, 'view', name)
            self.assertIsNone(bad.address)
            self.assertIn(name, bad.said)
            self.assertEqual(bad.end(), code, name)

    def put_raw(self, names, rows, count=None):
        head = b'Title: t\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: %d\nNo. Points: %d\nVariables:\n' % (len(names), count or len(rows))
        with open(self.path('made.raw'), 'wb') as f:
            f.write(head + b''.join(b'\t%d\t%s\t%s\n' % (k, n, b'voltage' if k else b'time') for k, n in enumerate(names)) + b'Binary:\n')
            for r in rows:
                f.write(struct.pack('<%dd' % len(r), *r))

    def test_a_file_that_grows_is_read_on(self):
        self.put_raw([b'time', b'v(a)'], [(0, 5), (1, 6)], count=4)
        s = self.serve('view', 'made.raw')
        self.assertEqual(s.numbers('curve', g=0, e='v(a)', w=0)[1], (0, 1, 5, 6))
        with open(self.path('made.raw'), 'ab') as f:
            f.write(struct.pack('<3d', 2, 7, 3))  # and half of a point
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and len(s.numbers('curve', g=0, e='v(a)', w=0)[1]) == 4:
            time.sleep(0.1)
        self.assertEqual(s.numbers('curve', g=0, e='v(a)', w=0)[1], (0, 1, 2, 5, 6, 7))
        os.truncate(self.path('made.raw'), 20)  # not even a head: what is told does not matter, that it lives does
        time.sleep(1)
        self.assertEqual(s.get('index')[0], 200)

    def test_names_of_any_bytes_lead_to_their_signals(self):
        names = [b'time', b'v(\xff\xfe"\\\x01)', b'v(\xc3\xa9)', b'v(\xed\xa0\x80)', b'v(\xe2\x80\xa8</script>)', b'v(\x7f%&=+#)']
        self.put_raw(names, [range(6), range(1, 7)])
        s = self.serve('view', 'made.raw')
        told = json.loads(s.get('index')[1].decode('utf-8'))['groups'][0]['names']
        self.assertEqual(len(set(told)), len(names))
        for k, name in enumerate(told):
            self.assertEqual(s.numbers('curve', g=0, e=name, w=0)[1][2:], (k, k + 1), name)

    def test_a_million_signals(self):
        n = 1000000
        self.put_raw([b'time'] + [b'v(x%d.y%d)' % (k // 1000, k % 1000) for k in range(n)], [range(n + 1), range(1, n + 2)])
        s = self.serve('view', 'made.raw')
        self.assertEqual(len(json.loads(s.get('index')[1])['groups'][0]['names']), n + 1)
        self.assertEqual(s.numbers('curve', g=0, e='v(x999.y7)', w=100)[1], (0, 1, 999008, 999009))

    def test_words_in_a_table_are_no_numbers(self):
        self.write('m.csv', 'point,corner,gain,status\n1,ss,2.5,done\n2,ff,3.5,failed\n')
        s = self.serve('view', 'm.csv')
        self.assertEqual(s.numbers('curve', g=0, e='gain', w=0)[1], (1, 2, 2.5, 3.5))

    def test_command_lines(self):
        self.run_deck()
        for words, told in ((['view'], 'view takes result files'), (['plot', 'rc.raw', '--no-open'], '--no-open'),
                            (['--view', '--no-output', 'rc.sp'], '--view'), (['check', '--view', 'rc.sp'], '--view')):
            run = subprocess.run([VSIM, *words], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(told, run.stderr)


class Index(View):
    DECK = 'long\nV1 in 0 sin(0 1 1meg)\nR1 in out 1k\nC1 out 0 1n\n.tran 1n 150u 0 1n\n.op\n.end\n'

    def test_it_is_whole_when_the_run_is_and_gives_the_same_pictures(self):
        self.write('i.sp', self.DECK)
        subprocess.run([VSIM, '-q', 'i.sp'], cwd=self.tmp.name, check=True, timeout=240)
        plain = self.serve('view', 'i.raw').numbers('curve', g=0, e='v(out)', w=100)[1]
        subprocess.run([VSIM, '-q', 'i.sp', '--index'], cwd=self.tmp.name, check=True, timeout=240)
        with open(self.path('i.raw.idx'), 'rb') as f:
            magic, one, size, seconds, nanoseconds = struct.unpack('<8s4q', f.read(40))
        seen = os.stat(self.path('i.raw'))
        self.assertEqual((magic[:7], one, size), (b'vsimidx', 1, seen.st_size))
        self.assertEqual(seconds * 10**9 + nanoseconds, seen.st_mtime_ns)
        before = os.stat(self.path('i.raw.idx')).st_mtime_ns
        self.assertEqual(self.serve('view', 'i.raw').numbers('curve', g=0, e='v(out)', w=100)[1], plain)
        self.assertEqual(os.stat(self.path('i.raw.idx')).st_mtime_ns, before)  # used as it was

    def test_what_has_no_binary_file_has_none(self):
        self.write('i.sp', self.DECK)
        for more in ('--csv', '--ascii', '--no-output'):
            run = subprocess.run([VSIM, 'i.sp', '--index', more], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
            self.assertEqual((run.returncode, '--index' in run.stderr), (2, True), more)
        self.write('bad.sp', 'bad\nR1 a b nix\n.end\n')
        run = subprocess.run([VSIM, '-q', 'bad.sp', '--index'], cwd=self.tmp.name, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 1)


class Browser(View):
    """A program called xdg-open in the path, which notes what it is given."""

    def start(self, *words, display=':99'):
        self.write('bin/xdg-open', '#!/bin/sh\n{ echo "$1"; ls -l "$1"; cat "$1"; } >part.$$\nmv part.$$ opened.$$\n')
        os.chmod(self.path('bin/xdg-open'), 0o755)
        env = {k: v for k, v in os.environ.items() if k not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        env['PATH'] = self.path('bin') + ':' + env['PATH']
        if display:
            env['DISPLAY'] = display
        run = subprocess.Popen([VSIM, *words], cwd=self.tmp.name, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (run.poll() is None and run.kill(), run.communicate()))
        return run

    def address(self, run):
        for line in run.stderr:
            if 'http://' in line:
                return re.search(r'http://\S+/', line).group(0)
        self.fail('no address')

    def opened(self, n):
        """What the program noted, of n calls."""
        deadline = time.monotonic() + 300
        while True:
            names = [e for e in os.listdir(self.tmp.name) if e.startswith('opened.')]
            if len(names) >= n or time.monotonic() > deadline:
                return sorted(self.read(e) for e in names)
            time.sleep(0.05)

    def test_it_is_led_to_the_page_by_a_file_of_this_user_alone(self):
        os.mkdir(self.path('bin'))
        self.run_deck()
        run = self.start('view', 'rc.raw')
        address = self.address(run)
        told = self.opened(1)[0].split('\n')
        self.assertNotIn(address, told[0])
        self.assertRegex(told[1], '^-rw-------')
        self.assertIn('url=' + address, '\n'.join(told[2:]))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=300), 0)
        self.assertFalse(os.path.exists(told[0]))

    def test_none_without_a_display_or_where_nobody_wants_it(self):
        os.mkdir(self.path('bin'))
        self.run_deck()
        for words, display in ((['view', 'rc.raw'], None), (['view', 'rc.raw', '--no-open'], ':99')):
            run = self.start(*words, display=display)
            self.address(run)
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(timeout=300), 0)
            self.assertEqual(self.opened(0), [], words)

    def test_plot_of_a_block_opens_its_page_with_view_alone(self):
        os.mkdir(self.path('bin'))
        self.write('b.sp', RC.replace('.step param r list 1k 2k\n', '.control\nrun\nplot v(out)\nplot v(in)\n.endc\n'))
        run = self.start('b.sp', '-q')
        self.assertEqual(run.wait(timeout=300), 0)
        self.assertTrue(os.path.exists(self.path('b_plot2.svg')))
        self.assertEqual(self.opened(0), [])
        run = self.start('b.sp', '-q', '--view', '--no-open')
        self.address(run)
        deadline = time.monotonic() + 300
        while not os.path.exists(self.path('b_plot2.html')) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(self.read('b_plot1.html').startswith('<!DOCTYPE html>'))
        self.assertEqual(self.opened(0), [])
        run.send_signal(signal.SIGINT)
        run = self.start('b.sp', '-q', '--view')
        self.address(run)
        told = [text.split('\n')[0] for text in self.opened(3)]
        self.assertEqual(len(told), 3, told)
        self.assertEqual(sum(name.startswith('/tmp/vsim-view-') for name in told), 1)
        self.assertEqual({'b_plot1.html', 'b_plot2.html'} - set(told), set())


class Ends(View):
    def test_a_signal_ends_it(self):
        self.run_deck()
        self.assertEqual(self.serve('view', 'rc.raw').end(), 0)

    def open_page(self):
        """The viewer's process, and a page's connection for events, which were asked for."""
        self.run_deck()
        s = self.serve('view', 'rc.raw')
        page = socket.create_connection(('127.0.0.1', s.port))
        page.sendall(('GET /%s/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n' % (s.token, s.port)).encode())
        return s.process, page

    def test_it_ends_when_the_page_is_closed(self):
        process, page = self.open_page()
        self.assertIn(b'text/event-stream', page.recv(4096))
        self.assertIsNone(process.poll())
        page.close()
        self.assertEqual(process.wait(timeout=300), 0)

    def test_it_ends_when_the_page_is_closed_before_it_is_answered(self):
        process, page = self.open_page()
        page.close()
        self.assertEqual(process.wait(timeout=300), 0)


class Live(View):
    def test_a_run_is_seen_and_stopped_and_keeps_its_points(self):
        self.write('long.sp', LONG)
        s = self.serve('long.sp', '--view', '-q')
        seen = []
        deadline = time.monotonic() + 300
        while len(seen) < 3 and time.monotonic() < deadline:
            groups = json.loads(s.get('index')[1])['groups']
            n = groups[0]['members'][0][1] if groups else 0
            if n and n not in seen:
                seen.append(n)
            time.sleep(0.1)
        self.assertEqual(len(seen), 3, 'the file did not grow')
        self.assertEqual(seen, sorted(seen))
        own = 'Origin: http://127.0.0.1:%d' % s.port
        self.assertEqual(s.ask('/%s/stop' % s.token)[0], 404)  # GET does nothing
        self.assertEqual(s.ask('/%s/stop' % s.token, method='POST')[0], 403)
        self.assertEqual(s.ask('/%s/stop' % s.token, method='POST', more=[own, 'Sec-Fetch-Site: cross-site'])[0], 403)
        self.assertEqual(s.ask('/%s/stop' % s.token, method='POST', more=[own])[0], 200)
        with socket.create_connection(('127.0.0.1', s.port), timeout=300) as page:
            page.sendall(('GET /%s/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n' % (s.token, s.port)).encode())
            got = b''
            while b'"ended":true' not in got:
                part = page.recv(4096)
                self.assertTrue(part, got)
                got += part
            n = json.loads(s.get('index')[1])['groups'][0]['members'][0][1]
            self.assertGreaterEqual(n, seen[-1])
        self.assertEqual(s.process.wait(timeout=300), 130)  # the page was closed
        again = self.serve('view', 'long.raw')
        self.assertGreaterEqual(json.loads(again.get('index')[1])['groups'][0]['members'][0][1], n)


VSIM = os.path.abspath(sys.argv.pop(1)) if __name__ == '__main__' else None
if __name__ == '__main__':
    unittest.main()
