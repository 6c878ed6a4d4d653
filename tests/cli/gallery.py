#!/usr/bin/env python3
"""The pictures of docs/gallery.md are what vsim draws of these decks: drawn anew by the commands that the page names,
they have the same words at the same places, and their curves lie on each other.   gallery.py VSIM"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

VSIM = ''
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
spec = importlib.util.spec_from_file_location('make_gallery', os.path.join(ROOT, 'tools', 'gallery.py'))
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
# Two runs within the decks' tolerances (reltol 1e-3 a step, trtol 7) differ by 0.7 % where errors do not add up: 3 of
# the picture's 400 pixels. Oscillators have no phase that tolerances hold: of these only words and ranges are compared.
PIXELS = 3
FREE = {'colpitts', 'ring'}
PAIR = re.compile(r'[-0-9.]+ [-0-9.]+')


class Picture:
    def __init__(self, path):
        doc = xml.dom.minidom.parse(path)
        texts = doc.getElementsByTagName('text')
        self.words = [''.join(c.data for c in t.childNodes) for t in texts]
        places = [' '.join(t.getAttribute(a) for a in ('x', 'y', 'transform')) for t in texts]
        self.places = [float(x) for p in places for x in re.findall(r'[-0-9.]+', p)]
        self.curves = [self.points(p.getAttribute('d')) for p in doc.getElementsByTagName('path')
                       if p.getAttribute('stroke-width') == '1.5']

    @staticmethod
    def points(d):
        return [tuple(map(float, p.split())) for p in PAIR.findall(d)]


def distance(p, a, b):
    """Of a point from a line."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    size = dx * dx + dy * dy
    t = max(0, min(1, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / size)) if size else 0
    return ((p[0] - a[0] - t * dx) ** 2 + (p[1] - a[1] - t * dy) ** 2) ** 0.5


def farthest(a, b):
    """The point of curve a that is farthest from curve b. Lines are put in strips of x, so that few are looked at."""
    strips = {}
    for k in range(len(b) - 1):
        lo, hi = sorted((b[k][0], b[k + 1][0]))
        for s in range(int(lo // 8) - 1, int(hi // 8) + 2):
            strips.setdefault(s, []).append(k)
    return max((min((distance(p, b[k], b[k + 1]) for k in strips.get(int(p[0] // 8), ())), default=1e9) for p in a),
               default=0)


class Gallery(unittest.TestCase):
    def test_the_page_names_the_commands_that_made_it(self):
        with open(os.path.join(ROOT, 'docs', 'gallery.md'), encoding='utf-8') as f:
            page = f.read()
        pair = r'!\[(\w+) by vsim\]\(gallery/\1\.svg\) \| !\[\1 by gnuplot\]\(gallery/\1_gnuplot\.svg\)'
        self.assertEqual(re.findall(pair, page), list(made.PICTURES))
        commands = [line.split() for line in page.split('\n') if line.startswith('    vsim plot ')]
        for (deck, plot, vectors, options, _), words in zip(made.PICTURES.values(), commands, strict=True):
            words = [w.strip("'") for w in words]
            self.assertEqual(words, ['vsim', 'plot', deck + '.raw', *vectors, '--plot', plot, *options])

    def test_pictures_are_what_is_drawn_today(self):
        for name, (deck, plot, vectors, options, _) in made.PICTURES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(ROOT, 'tests', 'decks', deck + '.sp')
                draw = 'plot', 'a.raw', *vectors, '--plot', plot, *options, '--size', '480x300', '-o', 'a.svg'
                for words in ('-q', '-r', 'a.raw', path), draw:
                    subprocess.run((VSIM, *words), cwd=folder, check=True, capture_output=True,
                                   stdin=subprocess.DEVNULL, timeout=240)
                new, old = Picture(os.path.join(folder, 'a.svg')), Picture(os.path.join(made.OUT, name + '.svg'))
                self.assertTrue(old.curves)
                self.assertEqual(new.words, old.words)
                self.assertLess(max(abs(v - w) for v, w in zip(new.places, old.places, strict=True)), PIXELS)
                self.assertEqual(len(new.curves), len(old.curves))
                for a, b in zip(new.curves, old.curves):
                    if name in FREE:
                        for part in 0, 1:
                            for end in min, max:
                                self.assertLess(abs(end(p[part] for p in a) - end(p[part] for p in b)), PIXELS)
                    else:
                        self.assertLess(max(farthest(a, b), farthest(b, a)), PIXELS)


if __name__ == '__main__':
    VSIM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
