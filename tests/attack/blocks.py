#!/usr/bin/env python3
"""Random .control blocks, in vsim and in ngspice: what they print must be the same.

    blocks.py VSIM [--seed N] [--n COUNT] [--keep FOLDER]
Lines are compared one by one, numbers with a tolerance.
Vectors are those of .op, .dc and .ac, whose points are the same in both programs."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HEAD = """block %d
v1 a 0 dc 1 ac 1
r1 a b 1k
r2 b 0 2k
r4 c 0 500
c1 b 0 1n
r3 b c 3k
d1 0 c dm
.model dm d is=1e-14
.param p=3
.control
set numdgt=9
"""
NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)', re.I)
REL, ABS = 2e-5, 1e-12

# What the blocks leave out, since the programs differ by intent (docs/control.md, docs/measure.md): the
# remainder of broken numbers, `~`, an index outside of a vector or of a single number, the square root
# of complex numbers below the real axis, integrals of measures over unequal ends, measures that fail,
# `deriv` of measures, '>' in expressions (a file, in ngspice), whether a rounding error is true.


class Block:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.scalar, self.vector, self.complex = [], [], [], []
        self.n, self.depth = 0, 0
        self.points = 0
        self.plain = False # for print, whose blanks ngspice takes out

    def name(self):
        self.n += 1
        return 'x%d' % self.n

    def number(self):
        return self.r.choice(['0', '1', '2', '3', '-1', '0.5', '2.5', '1k', '10m', '1e-3', '7', '-3.25', '100', '4meg'])

    def small(self):
        return self.r.choice(['0', '1', '2', '3', '-1', '0.5', '2.5', '-0.75', '1.25'])

    def real(self, deep=0, vector=False):
        """An expression that is real; a vector of the present plot's length, or one number."""
        r = self.r
        if deep > 2 or r.random() < 0.25:
            some = [self.number()] + self.scalar[-4:]
            if vector:
                some = self.vector[-3:] + self.real_vectors()
            return r.choice(some)
        a = self.real(deep + 1, vector)
        b = self.real(deep + 1, vector and r.random() < 0.5)
        kind = r.randrange(10 if self.plain else 14)
        if kind < 5:
            return '(%s %s %s)' % (a, r.choice('+-*'), b)
        if kind == 5:
            return '(%s / %s)' % (a, r.choice(['2', '4', '(1 + abs(%s))' % b]))
        if kind == 6:
            return 'abs(%s)^%s' % (a, r.choice(['2', '0.5', '3', '1']))
        if kind < 9:
            f = r.choice(['abs', 'sin', 'cos', 'atan', 'tanh', 'floor', 'ceil', 'nint', '-'])
            if f in ('floor', 'ceil', 'nint'):
                return '%s(%s * 3 + 0.3)' % (f, a) if not vector else '%s(%s)' % (f, a)
            return '%s(%s)' % (f, a)
        if kind == 9:
            return '%s(1 + abs(%s))' % (r.choice(['sqrt', 'ln', 'log', 'log10', 'db']), a)
        if kind == 10 and vector:
            return '(%s %s 0.1234)' % (a, r.choice(['gt', 'lt', 'ge', 'le', 'ne', 'eq']))
        if kind == 10:
            return '(%s %s %s)' % (a, r.choice(['=', 'gt', 'lt', 'ge', 'le', 'ne', 'eq']), b)
        if kind == 11 and vector:
            return '(%s + 0.1234)' % a
        if kind == 11:
            return '(%s %s %s)' % (a, r.choice(['&', '|', 'and', 'or']), b)
        if kind == 12:
            return '(%s gt %s ? %s : %s)' % (self.small(), self.small(), a, b)
        return '(%s * (%d %% %d))' % (a, r.randrange(9), r.randrange(1, 5))

    def real_vectors(self):
        if self.plot == 'dc':
            return ['v(b)', 'v(a)', 'i(v1)', 'v(a,b)']
        if self.plot == 'ac':
            return ['mag(v(b))', 'real(v(b))', 'imag(v(b))', 'ph(v(b))', 'db(v(b))', 'vm(b)', 'vdb(b)', 'vr(b)']
        return ['v(b)', 'v(a)']

    def reduced(self, v):
        r = self.r
        f = r.choice(['mean', 'length', 'vecmin', 'vecmax', 'minimum', 'maximum', 'stddev'] +
                     ['avgend', 'index', 'rangelen', 'deriv', 'integ'] * (self.points > 2))
        if f == 'avgend':
            return 'avg(%s)[%d]' % (v, max(self.points - 1, 0))
        if f in ('deriv', 'integ'):
            return '%s(%s)[%d]' % (f, v, r.randrange(self.points))
        if f == 'index':
            return '(%s)[%d]' % (v, r.randrange(max(self.points, 1)))
        if f == 'rangelen':
            a = r.randrange(max(self.points - 1, 1))
            return 'length((%s)[%d,%d])' % (v, a, min(a + r.randrange(3), max(self.points - 1, 0)))
        return '%s(%s)' % (f, v)

    def put(self, text):
        self.lines.append(text)

    def analysis(self):
        self.vector, self.complex = [], []
        self.plot = self.r.choice(['op', 'dc', 'dc', 'ac', 'ac'])
        if self.plot == 'op':
            self.put('op')
            self.points = 1
        elif self.plot == 'dc':
            self.points = self.r.randrange(3, 9)
            self.put('dc v1 0 %g 0.25' % (0.25 * (self.points - 1)))
        else:
            self.points = self.r.randrange(3, 7)
            self.put('ac lin %d 1k %dk' % (self.points, self.r.choice([10, 100, 500])))
        # numbers of before are in another plot
        self.scalar = []

    def let(self):
        x = self.name()
        if self.r.random() < 0.5 and self.points > 1:
            self.put('let %s = %s + 0 * %s' % (x, self.real(0, True), self.real_vectors()[0]))
            self.vector.append(x)
            self.put('print %s' % self.reduced(x))
        else:
            self.put('let %s = %s' % (x, self.real()))
            self.scalar.append(x)
            self.put('print %s' % x)

    def let_complex(self):
        if self.plot != 'ac':
            return self.let()
        x = self.name()
        z = self.r.choice(['v(b)', 'i(v1)', 'v(a)-v(b)', 'i*v(b)', '(1,2)*v(b)', 'v(b)*v(b)', 'v(b)/v(a)', 'v(b)^2',
                           'exp(v(b))', 'conj(v(b))', 'ln(v(b))', 'v(b)+2', '-v(b)', 'sin(v(b))', 'cos(v(b))'])
        self.put('let %s = %s' % (x, z))
        k = self.r.randrange(self.points)
        f = self.r.choice(['mag', 'real', 'imag', 'ph', 'cph', 'db', 'phase', 're', 'im', 'unwrap'])
        f = 'mag' if f == 'unwrap' else f
        self.put('print %s(%s)[%d]' % (f, x, k) if self.r.random() < 0.7 else 'print %s[%d]' % (x, k))

    def measure(self):
        r, x = self.r, self.name()
        if self.plot == 'dc' and self.points > 4:
            c = r.choice(['find v(b) at=0.4', 'max v(b)', 'min i(v1)', 'pp v(b)', 'avg v(b)', 'integ v(b)',
                          'when v(b)=0.3', 'max_at v(b)', 'min_at v(b)', 'find i(v1) when v(b)=0.4',
                          'integ v(b) from=0.25 to=0.75',
                          'trig v(b) val=0.1 rise=1 targ v(b) val=0.3 rise=1', 'when v(b)=0.3 rise=1',])
            self.put('meas dc %s %s' % (x, c))
            self.scalar.append(x)
        elif self.plot == 'ac':
            c = r.choice(['find vdb(b) at=2k', 'max vm(b)', 'min vp(b)', 'pp vm(b)', 'avg vm(b)', 'max vr(b)',
                          'min vi(b)', 'max_at vm(b)', 'find vp(b) at=3k'])
            self.put('meas ac %s %s' % (x, c))

    def body(self, n):
        for _ in range(n):
            self.statement()

    def statement(self):
        r = self.r
        k = r.randrange(20)
        if self.depth < 2 and k == 0:
            v = 'f%d' % self.n
            self.put('foreach %s %s' % (v, ' '.join(self.small() for _ in range(r.randrange(1, 4)))))
            x = self.name()
            self.depth += 1
            self.put('let %s = $%s * 2 + %s' % (x, v, self.small()))
            self.put('print %s' % x)
            if r.random() < 0.4:
                self.put('if %s gt 1' % x)
                self.put(r.choice(['break', 'continue', 'echo large']))
                self.put('end')
            self.put('echo turn $%s $&%s' % (v, x))
            self.depth -= 1
            self.put('end')
        elif self.depth < 2 and k == 1:
            x = self.name()
            self.put('let %s = 0' % x)
            self.depth += 1
            self.put('%s %s < %d' % (r.choice(['while', 'dowhile']), x, r.randrange(0, 4)))
            self.put('let %s = %s + 1' % (x, x))
            self.put('echo at $&%s' % x)
            if r.random() < 0.5:
                self.put('if (%s = 2) %s (%s)' % (x, r.choice(['&', '|']), self.small()))
                self.put(r.choice(['break', 'echo two']))
                self.put('else')
                self.put('echo other')
                self.put('end')
            self.depth -= 1
            self.put('end')
            self.put('print %s' % x)
            self.scalar.append(x)
        elif k == 2:
            self.put('if %s' % self.real())
            self.put('echo yes')
            if r.random() < 0.6:
                self.put('else')
                self.put('echo no')
            self.put('end')
        elif k == 3:
            f = 'fn%d' % self.n
            x = self.name()
            self.put('define %s(x,y) %s' % (f, r.choice(['x*y+1', 'x-y', 'abs(x)+y', '(x gt y) ? x : y', '(x+y)*(x-y)'])))
            self.put('let %s = %s(%s,%s)' % (x, f, self.small(), r.choice(self.scalar[-2:] + ['2'])))
            self.put('print %s' % x)
            self.scalar.append(x)
        elif k == 4 and self.depth == 0:
            what = r.choice(['r1 = %s', 'r2 = %s', '@r1[resistance] = %s', 'r1 resistance = %s'])
            self.put('alter ' + what % r.choice(['2k', '500', '1k*3', '2k + 1', '1e3']))
            if r.random() < 0.5:
                self.put('altermod dm is = %s' % r.choice(['1e-15', '2e-14', '1e-13']))
            self.analysis()
            self.put('print %s' % self.reduced(r.choice(self.real_vectors())))
        elif k == 5:
            v = 'w%d' % self.n
            self.n += 1
            n = r.randrange(1, 5)
            self.put('set %s = ( %s )' % (v, ' '.join(r.choice(['a', 'bc', '3', '4.5', 'd_e']) for _ in range(n))))
            self.put('echo $#%s $?%s $%s[%d] $%s' % (v, v, v, r.randrange(1, n + 1), v))
            if n > 2:
                self.put('echo $%s[2-%d] $%s[2-]' % (v, n, v))
        elif k == 6:
            x = self.name()
            self.put('compose %s %s' % (x, r.choice(['values 1 2 4 8', 'start=1 stop=5 step=1', 'start=0 stop=1 lin=5',
                                                    'start=1 stop=100 log=3', 'values -1 3.5', 'start=2 stop=8 step=2'])))
            self.put('print length(%s) mean(%s) %s[1]' % (x, x, x))
            if r.random() < 0.5:
                self.put('let %s[1] = %s' % (x, self.small()))
                self.put('print %s[1] maximum(%s)' % (x, x))
        elif k == 7:
            x = self.name()
            self.put('let %s = vector(%d)' % (x, r.randrange(2, 7)))
            e = r.choice(['%s*2', 'norm(%s+1)', '%s^2', '%s-1', 'sortorder(-%s)', '%s % 2', 'unitvec(3)+1', 'interpolate(%s)'][:7])
            y = self.name()
            self.put('let %s = %s' % (y, e.replace('%s', x)))
            self.put('print maximum(%s) minimum(%s) length(%s)' % (y, y, y))
        elif k < 10:
            self.measure()
        elif k < 13:
            self.let_complex()
        elif k == 13 and self.depth == 0:
            self.analysis()
        elif k == 14 and self.vector:
            x = self.r.choice(self.vector)
            self.put('unlet %s' % x)
            self.vector.remove(x)
        elif k == 15 and self.scalar:
            x = self.r.choice(self.scalar)
            self.put('echo "$&%s" $&%s' % (x, x))
        elif k == 16:
            self.put('repeat %d' % r.randrange(0, 4))
            self.put('echo again')
            self.put('end')
        elif k == 17 and self.points > 1:
            self.plain = True
            self.put('print %s' % self.reduced('%s + %s' % (self.real(1, True), r.choice(self.real_vectors()))))
            self.plain = False
        else:
            self.let()

    def text(self):
        self.analysis()
        self.body(self.r.randrange(4, 14))
        return self.lines


def run(command, folder, name):
    p = subprocess.run(command + [name], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return p.stdout, p.stderr, p.returncode


def told(text):
    """The lines that the block printed."""
    skip = re.compile(r'^\s*$|^Note:|^Circuit:|^Doing analysis|^No\. of Data|^Using|^Warning|^Reference|^ Reference|^Error|'
                      r'^\s*Measurements for|^Initial Tran|^Node|^----|^Index|^Fourier')
    return [line.strip() for line in text.replace('\r', '\n').split('\n') if not skip.search(line)]


def same(a, b):
    """Two lines, with their numbers near each other."""
    a, b = re.sub(r'\s*([-+*/=])\s*', r'\1', a), re.sub(r'\s*([-+*/=])\s*', r'\1', b)
    na, nb = NUMBER.findall(a), NUMBER.findall(b)
    if len(na) != len(nb) or re.sub(r'\s+', '', NUMBER.sub('#', a)).lower() != re.sub(r'\s+', '', NUMBER.sub('#', b)).lower():
        return False
    for x, y in zip(na, nb):
        x, y = float(x), float(y)
        if x != y and not (x != x and y != y) and abs(x - y) > REL * max(abs(x), abs(y)) + ABS:
            return False
    return True


def reduce_meas(line):
    """Of what meas prints the name and the first number."""
    m = re.match(r'(?:meas \w+ )?(\w+)\s.*failed!?$', line)
    if m:
        return m.group(1) + ' failed'
    m = re.match(r'(\w+)\s*=\s*(\S+)\s+(?:at=|from=|targ=|with=|trig=)', line)
    return '%s = %s' % m.groups() if m else line


def difference(vsim, seed, folder):
    block = Block(seed)
    deck = HEAD % seed + '\n'.join('%s' % line for line in block.text()) + '\n.endc\n.end\n'
    with open(os.path.join(folder, 'd.sp'), 'w') as f:
        f.write(deck)
    ours, err, rc = run([vsim, '-q'], folder, 'd.sp')
    theirs, their_err, _ = run(['ngspice', '-b'], folder, 'd.sp')
    a, b = [reduce_meas(x) for x in told(ours)], [reduce_meas(x) for x in told(theirs)]
    for k in range(max(len(a), len(b))):
        x, y = a[k] if k < len(a) else '(nothing)', b[k] if k < len(b) else '(nothing)'
        if not same(x, y):
            return deck, 'line %d: %s | ngspice: %s\n%s\n%s' % (k + 1, x, y, err[:600], their_err[:600])
    if (rc != 0) != ('Error' in their_err):
        return deck, 'exit code %d\n%s\n%s' % (rc, err[:600], their_err[:600])
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('vsim')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--n', type=int, default=150)
    p.add_argument('--keep')
    a = p.parse_args()
    if not shutil.which('ngspice'):
        print('there is no ngspice: nothing is compared')
        return 0
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(a.seed, a.seed + a.n):
            found = difference(os.path.abspath(a.vsim), seed, folder)
            if not found:
                continue
            bad += 1
            print('block %d: %s' % (seed, found[1]))
            if a.keep:
                with open(os.path.join(a.keep, 'c%d.sp' % seed), 'w') as f:
                    f.write(found[0])
    print('%d blocks, %d differ' % (a.n, bad))
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
