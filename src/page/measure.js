// measure.js - what stands between two cursors: of x rising, y over it, straight between points.

function indexBelow(x, at) { // the last k with x[k] <= at; -1: none
  let lo = 0, hi = x.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (x[mid] <= at) lo = mid + 1; else hi = mid;
  }
  return lo - 1;
}

function valueAt(x, y, at) {
  const k = indexBelow(x, at);
  if (k < 0 || !x.length) return NaN;
  if (k >= x.length - 1) return at <= x[x.length - 1] ? y[x.length - 1] : NaN;
  if (x[k] === at && x[k + 1] !== at) return y[k]; // whatever the next one is
  return x[k + 1] === x[k] ? y[k + 1] : y[k] + (y[k + 1] - y[k]) * (at - x[k]) / (x[k + 1] - x[k]);
}

// The part from a to b, its ends interpolated.
function cut(x, y, a, b) {
  const lo = Math.max(a, x[0]), hi = Math.min(b, x[x.length - 1]);
  if (!(hi >= lo)) return { x: new Float64Array(0), y: new Float64Array(0) };
  const from = indexBelow(x, lo) + 1;
  let to = from;
  while (to < x.length && x[to] < hi) to++;
  const n = to - from + (hi > lo ? 2 : 1), xs = new Float64Array(n), ys = new Float64Array(n);
  xs[0] = lo; ys[0] = valueAt(x, y, lo);
  xs.set(x.subarray(from, to), 1); ys.set(y.subarray(from, to), 1);
  if (hi > lo) { xs[n - 1] = hi; ys[n - 1] = valueAt(x, y, hi); }
  return { x: xs, y: ys };
}

// Times where y crosses a level: up[] and down[].
function crossings(x, y, level) {
  const up = [], down = [];
  for (let k = 1; k < x.length; k++) {
    const p = y[k - 1] - level, q = y[k] - level;
    if ((p < 0) === (q < 0) || Number.isNaN(p) || Number.isNaN(q)) continue;
    (p < 0 ? up : down).push(x[k - 1] + (x[k] - x[k - 1]) * (p / (p - q)));
  }
  return { up, down };
}

const mean = (a) => (a.length ? a.reduce((s, v) => s + v, 0) / a.length : NaN);
const steps = (a) => a.slice(1).map((v, k) => v - a[k]);

// From 10 % to 90 % of the levels: the first edge of that direction.
function edge(x, y, from, to) {
  const a = crossings(x, y, from), b = crossings(x, y, to);
  const begin = from < to ? a.up : a.down, end = from < to ? b.up : b.down;
  for (let k = 0; k < begin.length; k++) {
    const next = end.find((t) => t >= begin[k]);
    if (next !== undefined && !(begin[k + 1] < next)) return next - begin[k];
  }
  return NaN;
}

// Everything of the part from a to b. The levels of edges are 10 and 90 % between least and greatest value.
function measure(x, y, a, b) {
  const p = cut(x, y, Math.min(a, b), Math.max(a, b));
  const n = p.x.length;
  const m = { a: valueAt(x, y, a), b: valueAt(x, y, b) };
  m.delta = m.b - m.a;
  m.slope = m.delta / (b - a);
  let area = 0, square = 0, span = 0;
  m.min = m.max = NaN;
  for (let k = 0; k < n; k++) {
    const v = p.y[k];
    if (isFinite(v) && !(v >= m.min)) m.min = v;
    if (isFinite(v) && !(v <= m.max)) m.max = v;
    if (!k) continue;
    const h = p.x[k] - p.x[k - 1], u = p.y[k - 1], s = h * (u + v) / 2;
    if (!isFinite(s)) continue;
    area += s;
    square += h * (u * u + u * v + v * v) / 3;
    span += h;
  }
  m.pp = m.max - m.min;
  m.mean = area / span;
  m.rms = Math.sqrt(square / span);
  const middle = (m.min + m.max) / 2, c = crossings(p.x, p.y, middle), more = c.up.length >= c.down.length ? c.up : c.down;
  m.period = mean(steps(more));
  m.frequency = 1 / m.period;
  m.duty = NaN;
  if (c.up.length > 1) {
    const first = c.up[0], last = c.up[c.up.length - 1];
    let high = 0;
    for (const d of c.down) {
      const begin = c.up.filter((u) => u <= d).pop();
      if (begin !== undefined && d <= last) high += d - begin;
    }
    m.duty = 100 * high / (last - first);
  }
  m.rise = edge(p.x, p.y, m.min + 0.1 * m.pp, m.min + 0.9 * m.pp);
  m.fall = edge(p.x, p.y, m.min + 0.9 * m.pp, m.min + 0.1 * m.pp);
  return m;
}

// Rise and fall are from 10 to 90 % of the levels. The columns of tables and the choices of histograms: [key, words, unit of (y unit, x unit)].
const MEASURES = [
  ['a', 'at A', (y) => y], ['b', 'at B', (y) => y], ['delta', 'B − A', (y) => y], ['slope', 'slope', (y, x) => (x ? `${y}/${x}` : y)],
  ['min', 'min', (y) => y], ['max', 'max', (y) => y], ['pp', 'peak-peak', (y) => y], ['mean', 'average', (y) => y], ['rms', 'rms', (y) => y],
  ['period', 'period', (y, x) => x], ['frequency', 'frequency', (y, x) => (x === 's' ? 'Hz' : '')], ['duty', 'duty', () => '%'],
  ['rise', 'rise', (y, x) => x], ['fall', 'fall', (y, x) => x],
];

// Wilson's 95 % interval of a share.
function wilson(good, n) {
  const z = 1.959963985, p = good / n, d = 1 + z * z / n;
  const c = (p + z * z / (2 * n)) / d, w = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d;
  return [Math.max(0, c - w), Math.min(1, c + w)];
}

// Where |v| = 1 the phase above -180 degrees, where the phase is -180 the distance of |v| from 1. db and deg over x.
function margins(x, db, deg) {
  const out = {};
  const at = (c, level) => {
    for (let k = 1; k < x.length; k++) {
      const p = c[k - 1] - level, q = c[k] - level;
      if (p >= 0 && q < 0 && x[k - 1] > 0) return { k: k - 1, x: x[k - 1] * (x[k] / x[k - 1]) ** (p / (p - q)) };
    }
    return null;
  };
  const value = (c, p) => c[p.k] + (c[p.k + 1] - c[p.k]) * Math.log(p.x / x[p.k]) / Math.log(x[p.k + 1] / x[p.k]);
  if (!(db[0] > 0)) return out;
  const unity = at(db, 0);
  if (unity) {
    const d = value(deg, unity);
    out.phase = { x: unity.x, y: d, margin: d + 180 - 360 * Math.round((d + 180) / 360) };
  }
  for (let level = -180; level > -1000; level -= 360) {
    const turn = at(deg, level);
    if (!turn) continue;
    const g = value(db, turn);
    out.gain = { x: turn.x, y: g, margin: -g };
    break;
  }
  return out;
}
