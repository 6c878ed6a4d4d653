"""What ring_size.py and opamp_size.py share: runs of a deck with values of parameters, whose measures
and gradients (.sens tran, ac; docs/analyses.md) come back, and a quasi-Newton method."""
import math
import os
import re
import subprocess
import tempfile

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'netlists',
                      'psp103_models.inc')


class Deck:
    """text: with %(name).17g for each parameter, and %(card)s; MODELS is a file of models.
    cards: of gradients, without their parameters."""

    def __init__(self, vsim, text, names, cards):
        self.vsim, self.text, self.names = vsim, text, names
        self.cards = ''.join(f'{c} param={" ".join(names)}\n' for c in cards)
        self.runs = 0
        self.dir = tempfile.TemporaryDirectory()

    def run(self, x, gradients=True):
        """{measure: {name: number}} at the logarithms x: the measure itself and, with gradients,
        its derivatives by the parameters."""
        deck, raw = (os.path.join(self.dir.name, n) for n in ('deck.sp', 'deck.raw'))
        values = {n: math.exp(v) for n, v in zip(self.names, x)}
        values['card'] = self.cards if gradients else ''
        with open(deck, 'w', encoding='utf-8') as f:
            f.write((self.text % values).replace('MODELS', MODELS))
        done = subprocess.run([self.vsim, '-r', raw, '--ascii', deck], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        self.runs += 1
        out = {m: {m: float(v)} for m, v in
               re.findall(r'(?m)^(\w+) +=  ([-+.\d]\S*)', done.stdout)}
        with open(raw, encoding='utf-8') as f:
            parts = f.read().split('Title:')[1:]
        for p in parts:
            name = re.search(r'Plotname: Gradient of (\S+)', p)
            if name:
                names = re.findall(r'(?m)^\t\d+\t(\S+)\t\S+$', p)
                numbers = p.split('Values:')[1].split()[1:]
                out[name[1]] = dict(zip(names, map(float, numbers)))
        return out

    def by_logarithms(self, x, out, weight):
        """The gradient of a cost by x, weight being its derivatives by the measures."""
        return [math.exp(v) * sum(w * out[m][n] for m, w in weight.items())
                for n, v in zip(self.names, x)]

    def by_differences(self, x, cost_of, h=1e-2):
        """Cost, gradient, measures with a run for each parameter instead."""
        out = self.run(x, False)
        y = cost_of(out)
        return y, [(cost_of(self.run([v + h * (i == k) for i, v in enumerate(x)], False)) - y) / h
                   for k in range(len(x))], out


def dot(a, b):
    return sum(u * v for u, v in zip(a, b))


def minimise(cost, x, steps=40, small=2e-2):
    """BFGS with halved steps; cost(x) is (value, gradient, anything). Returns the place and the
    last of these there."""
    n = len(x)
    h = [[0.05 * (i == j) for j in range(n)] for i in range(n)]
    y, g, out = cost(x)
    for _ in range(steps):
        if max(map(abs, g)) < small:
            break
        d = [-dot(row, g) for row in h]
        scale = min(1, 0.3 / max(map(abs, d)))
        for _ in range(8):
            new = [a + scale * b for a, b in zip(x, d)]
            y1, g1, out1 = cost(new)
            if y1 <= y + 1e-4 * scale * dot(d, g):
                break
            scale /= 2
        else:
            break
        s, t = [b - a for a, b in zip(x, new)], [b - a for a, b in zip(g, g1)]
        st = dot(s, t)
        if st > 1e-12:
            ht = [dot(row, t) for row in h]
            k = (1 + dot(t, ht) / st) / st
            h = [[h[i][j] + k * s[i] * s[j] - (ht[i] * s[j] + s[i] * ht[j]) / st
                  for j in range(n)] for i in range(n)]
        x, y, g, out = new, y1, g1, out1
    return x, out
