#!/usr/bin/env python3
"""The viewer on a large result file: time to open it, time of windows, memory of its server and of its page.

    zoom.py make FILE.raw [POINTS [SIGNALS]]   write a transient (10000000 points of 100 signals: 8 GB)
    zoom.py index VSIM FILE.raw                make its index, FILE.raw.idx, as the viewer does at first sight
    zoom.py measure VSIM FILE.raw [--cold]     figures; --cold: the disk's cache forgets file and index before each window

`measure` needs Playwright and Chromium (./bootstrap test); without them it leaves the page out. Windows are from all
points down to a thousandth of them, at places that do not repeat. Times by the clock, and the server's processor time;
`private` are bytes of a process that shows pages which it shares with no other, the most of such processes, beside
those of an empty page. A file that `make` has begun goes on."""
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

PEERS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', 'build', 'peers', 'bin', 'python'
)
if os.path.exists(PEERS) and sys.prefix == sys.base_prefix:
    os.execv(PEERS, [PEERS] + sys.argv)

BLOCK = 50000  # points, of which each signal has whole periods
STEP = 1e-9
TRAN = 'Transient Analysis'
WINDOWS = 30
SETTLED = '''() => [...document.querySelectorAll('.pane')].every(
    (s) => !s.querySelector('.note') || s.querySelector('.note').textContent !== '…')'''


def make(path, points=10000000, signals=100):
    import numpy

    k = numpy.arange(BLOCK)
    block = numpy.empty((BLOCK, signals + 1))
    for s in range(signals):
        noise = (k * 7919 + s * 104729) % 1009 / 1009 - 0.5
        block[:, s + 1] = numpy.sin(2 * math.pi * (s + 1) * k / BLOCK) + 0.05 * noise
    head = 'Title: %d points of %d signals\nPlotname: %s\nFlags: real\n' % (points, signals, TRAN)
    head += 'No. Variables: %d\nNo. Points: %d\nVariables:\n\t0\ttime\ttime\n' % (signals + 1, points)
    head += ''.join('\t%d\tv(n%d)\tvoltage\n' % (s + 1, s) for s in range(signals)) + 'Binary:\n'
    head, row = head.encode(), 8 * (signals + 1)
    done = 0  # blocks of a file that was begun
    if os.path.exists(path):
        with open(path, 'rb') as f:
            done = max(0, os.path.getsize(path) - len(head)) // row // BLOCK if f.read(len(head)) == head else 0
    with open(path, 'r+b' if done else 'wb') as f:
        f.write(head)
        f.seek(done * BLOCK * row, 1)
        for at in range(0, points, BLOCK):
            n = min(BLOCK, points - at)
            if at < done * BLOCK:
                block[:, 1:] += 1e-4
                continue
            block[:, 0] = (k + at) * STEP
            block[:, 1:] += 1e-4  # no two blocks are the same
            f.write(block[:n].tobytes())


class Server:
    """vsim view on a file."""

    def __init__(self, vsim, path):
        begin = time.monotonic()
        self.p = subprocess.Popen([vsim, 'view', path, '--no-open'], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.p.stderr:
            found = re.search(r'http://\S+', line)
            if found:
                self.url = found.group(0)
                self.opened = time.monotonic() - begin
                return
        raise SystemExit('%s: no address' % vsim)

    def ask(self, what, **query):
        url = urllib.parse.urljoin(self.url, what) + '?' + urllib.parse.urlencode(query)
        with urllib.request.urlopen(url) as r:
            return r.read()

    def processor_time(self):
        with open('/proc/%d/stat' % self.p.pid) as f:
            t = f.read().rsplit(')', 1)[1].split()
        return (int(t[11]) + int(t[12])) / os.sysconf('SC_CLK_TCK')

    def memory(self):
        with open('/proc/%d/status' % self.p.pid) as f:
            return int(re.search(r'VmHWM:\s*(\d+)', f.read()).group(1)) / 1024

    def end(self):
        self.p.terminate()
        self.p.wait()
        self.p.stderr.close()

    def window(self, group, expr, x0, x1, soon=0):
        """Milliseconds by the clock and of the server's processor time, its reads and the bytes of these."""
        a, p, before = time.monotonic(), self.cpu_ns(), self.reads()
        self.ask('curve', g=group, e=expr, x0=repr(x0), x1=repr(x1), w=2000, soon=soon)
        took = 1e3 * (time.monotonic() - a), (self.cpu_ns() - p) / 1e6
        return took + tuple(b - a for a, b in zip(before, self.reads()))

    def reads(self):
        """Calls that read files so far, and the bytes that they read."""
        with open('/proc/%d/io' % self.p.pid) as f:
            t = f.read()
        return tuple(int(re.search(r'%s: (\d+)' % k, t).group(1)) for k in ('syscr', 'rchar'))

    def cpu_ns(self):
        """Processor time of all its threads, to the nanosecond where the kernel tells."""
        total = 0
        for t in os.listdir('/proc/%d/task' % self.p.pid):
            with open('/proc/%d/task/%s/schedstat' % (self.p.pid, t)) as f:
                total += int(f.read().split()[0])
        return total


def forget(*paths):
    """Drops the files from the disk's cache."""
    for path in paths:
        if os.path.exists(path):
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def spread(name, values):
    print('%-28s n %3d  median %8.2f  worst %8.2f ms'
          % (name, len(values), statistics.median(values), max(values)), flush=True)


def places(end):
    """Windows: all points, then narrower ones at places that do not repeat."""
    draw = random.Random(1)
    yield 0, end
    for k in range(1, WINDOWS):
        width = end * 10 ** (-3 * k / (WINDOWS - 1))
        at = draw.uniform(0, end - width)
        yield at, at + width


def zooms(server, path, end, cold):
    for expr, soon in (('v(n0)', 0), ('v(n57)', 0), ('v(n0)-v(n57)', 1), ('v(n0)-v(n57)', 0)):
        taken = []
        for x0, x1 in places(end):
            if cold:
                forget(path, path + '.idx')
            taken.append(server.window(0, expr, x0, x1, soon))
        label = '%s%s, %s' % (expr, ' first' if soon else '', 'cold' if cold else 'warm')
        clock, cpu, calls, size = zip(*taken)
        spread(label + ': clock', clock)
        spread(label + ': processor', cpu)
        print('%-28s        median %8d  worst %8d reads' % ('', statistics.median(calls), max(calls)))
        print('%-28s        median %8.2f  worst %8.2f MB'
              % ('', statistics.median(size) / 1e6, max(size) / 1e6), flush=True)
        if '-' in expr:
            print('  (%s)' % ('the first answer, of many points one value for each column' if soon
                              else 'the whole: an expression goes over all points in sight'))


def private(pid):
    """MB of a process that it shares with no other: now."""
    with open('/proc/%d/smaps_rollup' % pid) as f:
        return sum(int(m) for m in re.findall(r'Private_\w+:\s*(\d+)', f.read())) / 1024


def renderers(root):
    """Chromium's processes that show pages, below root."""
    parent, kind = {}, {}
    for d in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % d) as f:
                parent[int(d)] = int(f.read().rsplit(')', 1)[1].split()[1])
            with open('/proc/%s/cmdline' % d, 'rb') as f:
                kind[int(d)] = b'--type=renderer' in f.read()
        except OSError:
            continue

    def below(p):
        while p > 1 and p != root:
            p = parent.get(p, 0)
        return p == root
    return [p for p in kind if kind[p] and below(p)]


class Watch(threading.Thread):
    """The most private bytes, in MB, that a process which shows a page has had, looked at 20 times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = self.now = 0.0
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(0.05):
            try:
                self.now = max(private(pid) for pid in renderers(os.getpid()))
            except (OSError, ValueError):  # it ends, or there is none
                continue
            self.most = max(self.most, self.now)

    def take(self):
        """The most since the last call, and what it is now."""
        time.sleep(0.3)
        most, self.most = self.most, self.now
        return most, self.now

    def end(self):
        self.done.set()
        self.join()


def page(server, end):
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print('no playwright: the page is left out')
        return
    exe = shutil.which('chromium') or shutil.which('chromium-browser')
    watch = Watch()
    watch.start()
    with sync_playwright() as play:
        b = play.chromium.launch(executable_path=exe, args=['--no-sandbox'])
        p = b.new_page()
        p.goto('about:blank')
        time.sleep(2)
        print('page, empty: private %.1f MB at most, then %.1f MB' % watch.take())
        b.close()
        b = play.chromium.launch(executable_path=exe, args=['--no-sandbox'])
        p = b.new_page()
        p.set_default_timeout(120000)

        def go(what, x, cursors):
            pane = {'kind': 'xy', 'traces': [{'g': '0:' + TRAN, 'e': e} for e in ('v(n0)', 'v(n57)')]}
            state = {'panes': [pane], 'x': {'time': x}, 'cur': {'time': cursors} if cursors else {}}
            p.goto('about:blank')
            begin = time.monotonic()
            p.goto(server.url + '#' + urllib.parse.quote(json.dumps(state)))
            p.wait_for_selector('body[data-ready=yes]')
            p.wait_for_function(SETTLED)
            if cursors:
                p.wait_for_selector('#foot tbody tr')
            seconds = time.monotonic() - begin
            most, now = watch.take()
            print('page, %-28s %6.2f s  private %6.1f MB at most, then %6.1f MB' % (what, seconds, most, now),
                  flush=True)

        go('all points', [0, end], None)
        go('all points, two cursors', [0, end], [end / 4, 3 * end / 4])
        for k, (x0, x1) in enumerate(places(end)):
            if k % 3 == 2:
                go('%.2g s, cursors' % (x1 - x0), [x0, x1], [x0 + (x1 - x0) / 4, x0 + (x1 - x0) / 2])
        heap = p.evaluate('performance.memory.usedJSHeapSize') / 2 ** 20
        print('page: its heap %.1f MB' % heap)
        b.close()
    watch.end()


def measure(vsim, path, cold=False):
    if not os.path.exists(path + '.idx'):
        raise SystemExit('%s has no index yet: zoom.py index VSIM FILE.raw' % path)
    with open(path, 'rb') as f:
        points = int(re.search(rb'No\. Points: *(\d+)', f.read(4096)).group(1))
    end = (points - 1) * STEP
    if cold:
        forget(path, path + '.idx')
    s = Server(vsim, path)
    try:
        print('%d points, %.2f GB, index %.2f GB' % (points, os.path.getsize(path) / 1e9, os.path.getsize(path + '.idx') / 1e9))
        a = time.monotonic()
        s.ask('index')
        listed = time.monotonic() - a
        first = s.window(0, 'v(n3)', 0, end)
        print('open: address %.3f s, list %.3f s, first picture %.3f s: %.3f s'
              % (s.opened, listed, first[0] / 1e3, s.opened + listed + first[0] / 1e3))
        zooms(s, path, end, cold)
        print('server: %.1f MB at most' % s.memory())
        if not cold:
            page(s, end)
            print('server: %.1f MB at most, with the page' % s.memory())
    finally:
        s.end()


def index(vsim, path):
    a = time.monotonic()
    s = Server(vsim, path)
    try:
        s.window(0, 'v(n0)', 0, 1)
        print('index: %.1f s by the clock, %.1f s of processor time' % (time.monotonic() - a, s.processor_time()))
    finally:
        s.end()


def main():
    a = sys.argv[1:]
    cold = '--cold' in a
    a = [w for w in a if w != '--cold']
    if len(a) in (2, 3, 4) and a[0] == 'make':
        make(a[1], *map(int, a[2:]))
    elif len(a) == 3 and a[0] == 'index':
        index(a[1], a[2])
    elif len(a) == 3 and a[0] == 'measure':
        measure(a[1], a[2], cold)
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
