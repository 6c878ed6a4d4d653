// panel.js - axes, grids, curves and cursors of a rectangle with x and y.

const EDGE = { left: 68, right: 26, top: 8, bottom: 40 };

function makeScale(lo, hi, log, from, to) {
  const f = log ? Math.log10 : (v) => v, a = f(lo), b = f(hi);
  return {
    lo, hi, log, from, to,
    at: (v) => from + (to - from) * (log && !(v > 0) ? NaN : (f(v) - a) / (b - a)),
    value: (p) => { const t = a + (b - a) * (p - from) / (to - from); return log ? 10 ** t : t; },
  };
}

function niceStep(span, n) {
  const raw = span / Math.max(1, n), e = 10 ** Math.floor(Math.log10(raw)), m = raw / e;
  return (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10) * e;
}

// {list: [{v, text, minor}], unit: what stands with the label}. An offset stands there too where the range is small.
function ticksOf(s, unit, room) {
  const list = [];
  const inside = (v) => v >= Math.min(s.lo, s.hi) * (1 - 1e-12 * Math.sign(s.lo)) && v <= s.hi * (1 + 1e-12 * Math.sign(s.hi));
  if (s.log) {
    const a = Math.floor(Math.log10(s.lo)), b = Math.ceil(Math.log10(s.hi)), decades = Math.log10(s.hi / s.lo);
    let every = Math.max(1, Math.ceil(decades / Math.max(1, room / 55)));
    const labels = (step) => { let n = 0; for (let e = a; e <= b; e++) n += e % step === 0 && inside(10 ** e); return n; };
    while (every > 1 && labels(every) < 2) every--; // two labels tell that the axis is logarithmic
    for (let e = a; e <= b; e++)
      for (let m = 1; m < 10; m++) {
        const v = m * 10 ** e;
        if (!inside(v)) continue;
        const major = m === 1 && e % every === 0, some = decades < 1.6 && (m === 2 || m === 5);
        if (decades <= 8 || m === 1) list.push({ v, text: major || some ? (BARE.has(unit) ? eng(v, '', 3) : eng(v, ' ', 3).trim()) : '', minor: m !== 1 });
      }
    if (list.filter((t) => t.text).length > 1) return { list, unit: unit && !BARE.has(unit) ? `[${unit}]` : '' };
    list.length = 0;
  }
  const span = s.hi - s.lo;
  if (!(span > 0)) return { list, unit };
  const middle = (s.lo + s.hi) / 2, step = niceStep(span, room / 62);
  const offset = !s.log && Math.abs(middle) > 2e4 * span ? Number(middle.toPrecision(Math.max(1, Math.ceil(Math.log10(Math.abs(middle) / span))))) : 0;
  const e = exponentOf(Math.max(Math.abs(s.lo - offset), Math.abs(s.hi - offset)), unit || ' ');
  const scale = 10 ** e, places = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / scale) - 1e-9)));
  const first = Math.ceil((s.lo - offset) / step - 1e-9);
  for (let k = first; offset + k * step <= s.hi + 1e-9 * span && list.length < 200; k++)
    list.push({ v: offset + k * step, text: (k * step / scale).toFixed(places).replace('-', '−').replace(/^−(0(\.0*)?)$/, '$1'), minor: false });
  const shown = unit ? (PREFIX[e] || '') + unit : e ? `10${[...String(e)].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] || '⁻').join('')}` : '';
  return { list, unit: (offset ? `${offset > 0 ? '−' : '+'} ${eng(Math.abs(offset), unit, 8)} ` : '') + (shown ? `[${shown}]` : '') };
}

// Least and greatest of y where x is between lo and hi.
function extent(series, x, log) {
  let lo = Infinity, hi = -Infinity;
  for (const s of series)
    for (let k = 0; k < s.y.length; k++) {
      if (x && (s.x[k] < x[0] || s.x[k] > x[1])) continue;
      const v = s.y[k];
      if (!isFinite(v) || (log && !(v > 0))) continue;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
  return lo <= hi ? [lo, hi] : null;
}

function padded([lo, hi], log) {
  if (log) { const f = Math.max((hi / lo) ** 0.04, 1.02); return [lo / f, hi * f]; }
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  if (hi - lo <= 1e-14 * size || hi === lo) { const w = size ? 1e-3 * size : 1; return [lo - w, hi + w]; }
  return [lo - 0.05 * (hi - lo), hi + 0.05 * (hi - lo)];
}

// The axes of d into `pane.geo`; d: {x: [lo, hi], y: [lo, hi], xlog, ylog, ...}.
function layout(surface, d) {
  const g = { left: EDGE.left, top: EDGE.top, right: surface.width - EDGE.right, bottom: surface.height - (d.lowest === false ? 14 : EDGE.bottom) };
  g.xs = makeScale(d.x[0], d.x[1], d.xlog, g.left, g.right);
  g.ys = makeScale(d.y[0], d.y[1], d.ylog, g.bottom, g.top);
  return g;
}

function drawAxes(s, g, d) {
  const ink = css('soft'), grid = css('grid'), line = css('line');
  const tx = ticksOf(g.xs, d.axisUnit, g.right - g.left), ty = ticksOf(g.ys, d.unit, (g.bottom - g.top) * 1.1);
  for (const t of tx.list) {
    const p = g.xs.at(t.v);
    s.line([p, g.top, p, g.bottom], { colour: grid, width: t.minor ? 0.5 : 1 });
    if (t.text && d.lowest !== false) s.text(p, g.bottom + 12, t.text, { colour: ink, align: 'center' });
  }
  for (const t of ty.list) {
    const p = g.ys.at(t.v);
    s.line([g.left, p, g.right, p], { colour: grid, width: t.minor ? 0.5 : 1 });
    if (t.text) s.text(g.left - 7, p, t.text, { colour: ink, align: 'right' });
  }
  if (d.y[0] < 0 && d.y[1] > 0 && !d.ylog) s.line([g.left, g.ys.at(0), g.right, g.ys.at(0)], { colour: line });
  s.line([g.left, g.top, g.left, g.bottom, g.right, g.bottom, g.right, g.top, g.left, g.top], { colour: line });
  const withUnit = (words, unit) => `${words || ''} ${unit}`.trim();
  if (d.lowest !== false) s.text((g.left + g.right) / 2, g.bottom + 29, withUnit(d.axis, tx.unit), { colour: ink, align: 'center' });
  s.text(13, (g.top + g.bottom) / 2, withUnit(d.quantity, ty.unit), { colour: ink, align: 'center', turn: true });
}

function drawCurve(s, g, c) {
  const p = new Array(2 * c.x.length);
  let dots = [];
  for (let k = 0; k < c.x.length; k++) {
    p[2 * k] = g.xs.at(c.x[k]);
    const y = g.ys.at(c.y[k]);
    p[2 * k + 1] = isFinite(y) && isFinite(p[2 * k]) ? Math.max(-1e5, Math.min(1e5, y)) : NaN;
    const alone = (k === 0 || Number.isNaN(p[2 * k - 1])) && (k === c.x.length - 1 || !isFinite(c.y[k + 1]));
    if (alone && isFinite(y)) dots.push(k);
  }
  if (!c.points) s.line(p, { colour: c.colour, width: c.width || 1.6, alpha: c.alpha, dash: c.dash });
  if (c.points) dots = [...c.x.keys()];
  for (const k of dots) if (isFinite(p[2 * k + 1])) s.dot(p[2 * k], p[2 * k + 1], c.points ? 3 : 2.2, { colour: c.colour, alpha: c.alpha });
}

function drawMarks(s, g, marks) {
  let above = -Infinity, beside = -Infinity; // the place of the words before, which are not written over
  for (const m of marks || []) {
    const x = g.xs.at(m.x), y = g.ys.at(m.y);
    if (!(x >= g.left && x <= g.right && y >= g.top - 4 && y <= g.bottom + 4)) continue;
    if (m.drop) s.line([x, y, x, g.bottom], { colour: css('soft'), dash: [3, 3] });
    s.dot(x, y, m.small ? 2.5 : 4, { colour: css('ink'), open: true });
    if (!m.text) continue;
    const left = x > g.right - 150;
    let at = left && !m.small ? Math.min(g.bottom - 9, y + 13) : Math.max(g.top + 9, y - 11); // a falling curve leaves room there
    if (!m.small && Math.abs(x - beside) < 180 && Math.abs(at - above) < 16) at = above + 17;
    [above, beside] = [at, x];
    s.text(x + (left ? -9 : 9), at, m.text, { colour: css('ink'), align: left ? 'right' : 'left', back: css('sheet'), bold: true });
  }
}

function drawCursors(s, g, d, cursors) {
  const ink = css('accent');
  const seen = (x) => x !== null && x !== undefined && x >= d.x[0] && x <= d.x[1];
  ['A', 'B'].forEach((name, k) => {
    const x = cursors[k];
    if (!seen(x)) return;
    const p = g.xs.at(x);
    s.line([p, g.top, p, g.bottom], { colour: ink, dash: k ? [5, 3] : [] });
    for (const c of d.series) {
      if (d.series.length > 12) break;
      const y = g.ys.at(valueAt(c.x, c.y, x));
      if (isFinite(y)) s.dot(p, y, 3, { colour: c.colour });
    }
    s.box(p - 8, g.top, 16, 15, { colour: ink });
    s.text(p, g.top + 8, name, { colour: css('sheet'), align: 'center', bold: true, size: 11 });
  });
  if (seen(cursors[0]) && seen(cursors[1])) {
    const a = g.xs.at(cursors[0]), b = g.xs.at(cursors[1]);
    s.box(Math.min(a, b), g.top, Math.abs(b - a), g.bottom - g.top, { colour: ink, alpha: 0.06 });
  }
}

function paintXY(s, d, cursors) {
  const g = layout(s, d);
  drawAxes(s, g, d);
  s.clip(g.left, g.top, g.right - g.left, g.bottom - g.top);
  for (const a of d.areas || []) s.area(a.points.map((v, k) => (k % 2 ? g.ys.at(v) : g.xs.at(v))), a);
  for (const b of d.bars || []) {
    const x0 = g.xs.at(b.x0), x1 = g.xs.at(b.x1), y = g.ys.at(b.y);
    s.box(x0 + 0.5, y, Math.max(1, x1 - x0 - 1), Math.max(0, g.ys.at(d.ylog ? d.y[0] : 0) - y), { colour: b.colour, alpha: 0.75 });
  }
  for (const b of d.combs || []) s.line([g.xs.at(b.x), g.bottom, g.xs.at(b.x), g.ys.at(b.y)], { colour: b.colour, width: 1.2 });
  for (const l of d.limits || []) s.line([g.xs.at(l), g.top, g.xs.at(l), g.bottom], { colour: css('warn'), dash: [6, 4], width: 1.5 });
  for (const c of d.series) drawCurve(s, g, c);
  drawMarks(s, g, d.marks);
  s.unclip();
  if (d.cursors !== false) drawCursors(s, g, d, cursors);
  return g;
}
