"""Pictures and tables for notebooks."""
from __future__ import annotations

import math
from html import escape

from ._si import si

_COLORS = ('#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf', '#8c564b', '#e377c2')
_MOST = len(_COLORS)  # curves in one picture


def _ticks(lo, hi, most=6):
    """Round numbers between the two."""
    step = 10.0 ** math.floor(math.log10((hi - lo) / most))
    step *= next(k for k in (1, 2, 5, 10) if (hi - lo) / (k * step) <= most)
    first = math.ceil(lo / step - 1e-9)
    return [k * step for k in range(first, math.floor(hi / step + 1e-9) + 1)]


def _log_ticks(lo, hi):
    """Powers of ten, of logarithms between the two."""
    every = max(1, round((hi - lo) / 8))
    return [float(k) for k in range(math.ceil(lo - 1e-9), math.floor(hi + 1e-9) + 1, every)]


def _thin(numpy, x, y, columns):
    """Of many points the first, last, least and greatest in each column of the picture."""
    if len(x) <= 4 * columns:
        return x, y
    column = numpy.floor((x - x[0]) / ((x[-1] - x[0]) or 1) * columns)
    order = numpy.lexsort((y, column))
    edge = numpy.flatnonzero(numpy.diff(column[order])) + 1
    start, end = numpy.r_[0, edge], numpy.r_[edge, len(order)] - 1
    turn = numpy.flatnonzero(numpy.diff(column)) + 1
    keep = numpy.unique(numpy.r_[order[start], order[end], 0, turn, turn - 1, len(x) - 1])
    return x[keep], y[keep]


def _chosen(result, names):
    plot = result.plots[0]
    axis = plot.axis_name
    if names:
        return [(n, result[n]) for n in names]
    every = [n for n in plot if n != axis]
    voltages = [n for n in every if n.lower().startswith('v(')]
    return [(n, plot[n]) for n in (voltages or every)[:_MOST]]


def _scale(numpy, values):
    lo, hi = float(numpy.min(values)), float(numpy.max(values))
    if hi - lo <= 1e-12 * max(abs(lo), abs(hi)):
        room = abs(hi) * 0.1 or 1.0
        return lo - room, hi + room
    return lo, hi


def picture(result, names=(), width=640, height=320):
    """SVG text of vectors over the axis."""
    import numpy
    x = result.axis
    if x is None:
        raise ValueError('%s has no axis to plot over' % result.title)
    units = result.units
    curves, complex_values = [], False
    for name, y in _chosen(result, names):
        if y.dtype.kind == 'c':
            complex_values = True
            y = 20 * numpy.log10(numpy.maximum(numpy.abs(y), 1e-300))
        keep = numpy.isfinite(y)
        curves.append((name, x[keep], y[keep]))
    curves = [c for c in curves if len(c[1])]
    if not curves:
        raise ValueError('there is nothing to plot')
    log = (result.kind in ('ac', 'noise', 'sp', 'hbac', 'hbnoise', 'hbsp', 'hbxf', 'lstb',
                           'acxf', 'disto', 'acmatch') and x[0] > 0
           and x[-1] > 10 * x[0])
    if log:
        curves = [(n, numpy.log10(a), b) for n, a, b in curves]
    x_lo, x_hi = _scale(numpy, numpy.concatenate([a for _, a, _ in curves]))
    y_lo, y_hi = _scale(numpy, numpy.concatenate([b for _, _, b in curves]))
    room = 0.04 * (y_hi - y_lo)
    y_lo, y_hi = y_lo - room, y_hi + room
    left, right, top, bottom = 70, 12, 14 + 16 * ((len(curves) + 3) // 4), 36
    w, h = width - left - right, height - top - bottom

    def px(v):
        return left + (v - x_lo) / (x_hi - x_lo) * w

    def py(v):
        return top + (y_hi - v) / (y_hi - y_lo) * h
    unit = 'dB' if complex_values else _common(units[n] for n, _, _ in curves if n in units)
    axis = result.plots[0].axis_name
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
           'font-family="sans-serif" font-size="11">' % (width, height, width, height),
           '<rect width="100%" height="100%" fill="white"/>']
    for t in (_log_ticks if log else _ticks)(x_lo, x_hi):
        out.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#ddd"/>'
                   '<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (
                       px(t), px(t), top, top + h, px(t), top + h + 15,
                       escape(si(10**t if log else t, units.get(axis, ''), 3))))
    for t in _ticks(y_lo, y_hi):
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>'
                   '<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (
                       left, left + w, py(t), py(t), left - 5, py(t) + 4,
                       escape('%g dB' % t if unit == 'dB' else si(t, unit, 3))))
    out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>' % (
        left, top, w, h))
    for k, (name, a, b) in enumerate(curves):
        a, b = _thin(numpy, a, b, w)
        color = _COLORS[k % _MOST]
        line = ' '.join('%.1f,%.1f' % p for p in zip(px(a), py(b)))
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.3"/>' % (
            line, color))
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (
            left + (k % 4) * w // 4, 12 + 16 * (k // 4), color, escape(name)))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text></svg>' % (
        left + w // 2, height - 5, escape(axis)))
    return '\n'.join(out)


def _common(units):
    found = set(units)
    return found.pop() if len(found) == 1 else ''


def table_html(result):
    """Numbers of an operating point and the like."""
    units = result.units
    rows = []
    for name in result:
        value = result[name]
        value = value if isinstance(value, (int, float, complex)) else complex(value[-1])
        text = '%.6g %+.6gj %s' % (value.real, value.imag, units[name]) \
            if isinstance(value, complex) else si(value, units[name], 6)
        rows.append('<tr><td style="text-align:left">%s</td><td>%s</td></tr>' % (
            escape(name), escape(text)))
    return '<table><caption>%s</caption>%s</table>' % (escape(result.title), ''.join(rows))
