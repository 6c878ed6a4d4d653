// charts.js - what each kind of pane shows. KINDS[kind]: {words, hint, load(pane), paint(surface, data, cursors), follows}.
// load gives {series, axis, axisUnit, unit, quantity, facts: [text], marks, ...}; follows: it shares x with others.

const RAD = 180 / Math.PI;
const fixed = (x) => x.toFixed(1).replace('-', '−');
const nameOf = (trace, m) => (m.label ? `${trace.e}, ${m.label}` : trace.e);

// Whether a pane waits for the rest of an answer; tells it how far that is.
function waitedFor(answer) {
  const panes = PANES.filter((p) => p.waits.includes(answer));
  panes.forEach(showPart);
  return panes.length > 0;
}

// The curves of all traces, family members in their colours: [{trace, head, member, label, colour, shade, x, y, im}].
async function fetchCurves(pane, columns, wholeRange) {
  const out = [];
  let k = 0;
  for (const t of pane.spec.traces) {
    const group = groupOf(t.g);
    if (!group) { pane.wrong = `${t.g.slice(t.g.indexOf(':') + 1)}: not in these files`; continue; }
    const range = wholeRange ? null : viewOf(group.axis);
    const many = group.members.length > 1;
    const answer = ask('curve', { g: group.id, e: t.e, o: t.o, x0: range && range[0], x1: range && range[1], w: many && columns ? Math.min(columns, 700) : columns, soon: 1 }, waitedFor);
    const head = await Promise.race([answer, answer.first]);
    if (head.done !== undefined) pane.waits.push(answer);
    const last = head.members.length - 1;
    head.members.forEach((m, i) => {
      const shade = last > 0 ? i / last : null;
      out.push({ trace: t, head, member: m.member, label: m.label, name: nameOf(t, m), colour: colourOf(k, shade), shade, k,
        alpha: last > 30 ? 0.55 : null, width: last > 30 ? 1 : 1.6, x: m.x, y: m.y, im: m.im, all: m.all, x0: m.x0 ?? m.x[0], x1: m.x1 ?? m.x[m.x.length - 1] });
    });
    k++;
  }
  return out;
}

const modulus = (c) => (c.im ? c.y.map((v, k) => Math.hypot(v, c.im[k])) : c.y);
const decibels = (c) => modulus(c).map((v) => 20 * Math.log10(Math.abs(v)));
function degrees(c) { // without jumps
  const out = new Float64Array(c.y.length);
  let turns = 0;
  for (let k = 0; k < out.length; k++) {
    let a = Math.atan2(c.im ? c.im[k] : 0, c.y[k]) / (2 * Math.PI) + turns;
    if (k && Math.abs(a - out[k - 1]) > 0.5) { const j = Math.round(a - out[k - 1]); turns -= j; a -= j; }
    out[k] = a;
  }
  return out.map((a) => 360 * a);
}

const QUANTITY = new Set(['voltage-density', 'current-density', 'voltage', 'current', 'phase', 'temperature', 'power', 'charge', 'impedance', 'admittance', 'capacitance', 'time', 'frequency']);
const quantityOf = (head) => head && QUANTITY.has(head.type) ? head.type.replace('-density', ' density') : '';

function frame(curves, y, more) {
  const head = curves[0] && curves[0].head;
  return { series: curves.map((c, i) => ({ ...c, y: y[i], im: null, raw: c })), axis: head ? head.axis : '', axisUnit: head ? head.axisUnit : '',
    unit: head ? head.unit : '', quantity: quantityOf(head), facts: [], marks: [], ...more };
}

const COLUMNS = () => Math.ceil(window.innerWidth * Math.min(2, window.devicePixelRatio || 1));

async function loadXY(pane) {
  const c = await fetchCurves(pane, COLUMNS(), false);
  return frame(c, c.map(modulus), { spread: true });
}
async function loadDb(pane) {
  const c = await fetchCurves(pane, COLUMNS(), false), d = frame(c, c.map(decibels), { unit: 'dB', quantity: 'magnitude' });
  return addMargins(d, c, 'gain');
}
async function loadPhase(pane) {
  const c = await fetchCurves(pane, COLUMNS(), false), d = frame(c, c.map(degrees), { unit: '°', quantity: 'phase' });
  return addMargins(d, c, 'phase');
}

// Of a single curve that begins above 0 dB.
function addMargins(d, c, which) {
  if (c.length !== 1 || !c[0].im) return d;
  const m = margins(c[0].x, decibels(c[0]), degrees(c[0]));
  if (which === 'phase' && m.phase) {
    d.marks.push({ x: m.phase.x, y: m.phase.y, drop: true, text: `phase margin ${fixed(m.phase.margin)}°` });
    d.facts.push(`phase margin ${fixed(m.phase.margin)}° at ${eng(m.phase.x, 'Hz')}`);
  }
  if (which === 'gain') {
    if (m.phase) d.marks.push({ x: m.phase.x, y: 0, drop: true, text: `0 dB at ${eng(m.phase.x, 'Hz')}` });
    if (m.gain) {
      d.marks.push({ x: m.gain.x, y: m.gain.y, drop: true, text: `gain margin ${fixed(m.gain.margin)} dB` });
      d.facts.push(`gain margin ${fixed(m.gain.margin)} dB at ${eng(m.gain.x, 'Hz')}`);
    }
    if (m.phase) d.facts.unshift(`unity gain at ${eng(m.phase.x, 'Hz')}`);
  }
  return d;
}

// -- the complex plane --

async function loadPlane(pane) {
  const c = await fetchCurves(pane, 4 * COLUMNS(), false);
  return { series: c, facts: [], axis: '', unit: '' };
}

// A square around the origin: grown above 1 where a modulus is.
function square(s, d) {
  let most = 1;
  for (const c of d.series) for (let k = 0; k < c.x.length; k++) most = Math.max(most, isFinite(c.y[k]) ? Math.hypot(c.y[k], c.im ? c.im[k] : 0) : 0);
  const r = Math.max(40, Math.min(s.width, s.height) / 2 - 24), cx = s.width / 2, cy = s.height / 2;
  return { most: most * 1.02, r, cx, cy, px: (re) => cx + re / (most * 1.02) * r, py: (im) => cy - im / (most * 1.02) * r, u: r / (most * 1.02) };
}

function circle(q, re, im, radius, keep) {
  const p = [];
  for (let k = 0; k <= 180; k++) {
    const a = k / 90 * Math.PI, x = re + radius * Math.cos(a), y = im + radius * Math.sin(a);
    if (keep && !keep(x, y)) p.push(q.px(x), NaN); else p.push(q.px(x), q.py(y));
  }
  return p;
}

function paintSmith(s, d) {
  const q = square(s, d), grid = css('line'), ink = css('soft'), inside = (x, y) => x * x + y * y <= 1.0001, roomy = q.u > 50; // the chart is small where a modulus is far above 1
  s.line(circle(q, 0, 0, 1), { colour: ink, width: 1.2 });
  s.line([q.px(-1), q.py(0), q.px(1), q.py(0)], { colour: grid });
  for (const r of [0.2, 0.5, 1, 2, 5]) {
    s.line(circle(q, r / (1 + r), 0, 1 / (1 + r)), { colour: grid, width: r === 1 ? 1.2 : 0.7 });
    if (roomy) s.text(q.px((r - 1) / (r + 1)) + 3, q.py(0) - 8, String(r), { colour: ink, size: 10 });
  }
  for (const x of [0.2, 0.5, 1, 2, 5])
    for (const sign of [1, -1]) {
      s.line(circle(q, 1, sign / x, 1 / x, inside), { colour: grid, width: x === 1 ? 1.2 : 0.7 });
      const a = 2 * Math.atan(1 / x), px = q.cx + Math.cos(a) * (q.u + 13), py = q.cy - sign * Math.sin(a) * (q.u + 13);
      if (roomy) s.text(px, py, `${sign > 0 ? '' : '−'}j${x}`, { colour: ink, size: 10, align: 'center' });
    }
  return planeCurves(s, d, q);
}

function paintPolar(s, d) {
  const q = square(s, d), grid = css('line'), ink = css('soft'), step = niceStep(q.most, 4);
  for (let r = step; r <= q.most * 1.001; r += step) {
    s.line(circle(q, 0, 0, r), { colour: grid });
    if (r < 0.94 * q.most || q.r < 60) s.text(q.px(0) + 3, q.py(r) - 6, plain(r, 3), { colour: ink, size: 10 }); // not beside 90°
  }
  for (let a = 0; a < 360; a += 30) {
    const c = Math.cos(a / RAD), i = Math.sin(a / RAD);
    s.line([q.cx, q.cy, q.cx + c * q.r, q.cy - i * q.r], { colour: grid, width: 0.7 });
    s.text(q.cx + c * (q.r + 13), q.cy - i * (q.r + 11), `${a}°`, { colour: ink, size: 10, align: 'center' });
  }
  return planeCurves(s, d, q);
}

function planeCurves(s, d, q) {
  for (const c of d.series) {
    const p = [];
    for (let k = 0; k < c.x.length; k++) p.push(q.px(c.y[k]), q.py(c.im ? c.im[k] : 0));
    s.line(p, { colour: c.colour, width: 1.8 });
    const n = c.x.length;
    if (n && isFinite(c.y[0])) s.dot(p[0], p[1], 3.5, { colour: c.colour });
    if (n > 1 && isFinite(c.y[n - 1])) s.dot(p[2 * n - 2], p[2 * n - 1], 3.5, { colour: c.colour, open: true });
  }
  return { plane: q, tip: (x, y) => nearest(d, q, x, y) };
}

// Words for the point of a curve that is next to the pointer.
function nearest(d, q, px, py) {
  let best = 400, words = '';
  for (const c of d.series)
    for (let k = 0; k < c.x.length; k++) {
      const im = c.im ? c.im[k] : 0, r2 = (q.px(c.y[k]) - px) ** 2 + (q.py(im) - py) ** 2;
      if (r2 >= best) continue;
      best = r2;
      const n = (1 - c.y[k]) ** 2 + im * im, re = (1 - c.y[k] ** 2 - im * im) / n, x = 2 * im / n;
      words = `${c.name} at ${eng(c.x[k], c.head.axisUnit)}: ${Math.hypot(c.y[k], im).toFixed(4)} ∠ ${(Math.atan2(im, c.y[k]) * RAD).toFixed(1)}°, z = ${re.toFixed(3)} ${x < 0 ? '−' : '+'} j${Math.abs(x).toFixed(3)}`;
    }
  return words;
}

async function loadPoles(pane) {
  const group = groupOf(pane.spec.traces[0].g);
  const series = [];
  for (const [k, what] of ['pole', 'zero'].entries()) {
    const names = group.names.filter((n) => n.toLowerCase().startsWith(what));
    const x = [], y = [];
    for (const e of names) {
      const head = await ask('curve', { g: group.id, e, w: 0 });
      for (const m of head.members) { x.push(...m.y); y.push(...(m.im || m.y.map(() => 0))); }
    }
    if (x.length) series.push({ name: `${what}s`, colour: colourOf(k, null), cross: what === 'pole', x: Float64Array.from(x), y: Float64Array.from(y), trace: pane.spec.traces[0], k });
  }
  const d = { series, axis: 'real part', axisUnit: 'rad/s', unit: 'rad/s', quantity: 'imaginary part', facts: [], marks: [], cursors: false, own: true, equal: true };
  const all = series.flatMap((s) => [...s.x].map((re, k) => [re, s.y[k], s.cross])), most = all.reduce((m, [re, im]) => Math.max(m, Math.abs(re), Math.abs(im)), 0);
  d.fixedX = [-0.35 * most, 0.1 * most]; // the imaginary axis is always there
  d.fixedY = [-0.35 * most, 0.35 * most];
  for (const [re, im] of all) {
    d.fixedX = [Math.min(d.fixedX[0], re), Math.max(d.fixedX[1], re)];
    d.fixedY = [Math.min(d.fixedY[0], im), Math.max(d.fixedY[1], im)];
  }
  for (const [re, im, cross] of all.filter((v) => v[1] >= 0).sort((p, q) => Math.hypot(p[0], p[1]) - Math.hypot(q[0], q[1])).slice(0, 8)) {
    const w = Math.hypot(re, im);
    d.facts.push(`${cross ? 'pole' : 'zero'} ${eng(w / (2 * Math.PI), 'Hz', 3)}${im ? `, Q ${plain(w / (2 * Math.abs(re)), 3)}` : ''}`);
  }
  const right = series.filter((s) => s.cross).flatMap((s) => [...s.x]).filter((v) => v > 0).length;
  if (right) d.facts.push(`${right} pole${right > 1 ? 's' : ''} in the right half-plane: not stable`);
  return d;
}

function paintPoles(s, d) {
  const g = layout(s, d);
  drawAxes(s, g, d);
  if (d.x[0] < 0 && d.x[1] > 0) s.line([g.xs.at(0), g.top, g.xs.at(0), g.bottom], { colour: css('soft') });
  for (const c of d.series)
    for (let k = 0; k < c.x.length; k++) {
      const x = g.xs.at(c.x[k]), y = g.ys.at(c.y[k]);
      if (c.cross) { s.line([x - 5, y - 5, x + 5, y + 5], { colour: c.colour, width: 2 }); s.line([x - 5, y + 5, x + 5, y - 5], { colour: c.colour, width: 2 }); }
      else s.dot(x, y, 5.5, { colour: c.colour, open: true, width: 2 });
    }
  return g;
}

// -- spectra --

async function loadFft(pane) {
  const d = { series: [], axis: 'frequency', axisUnit: 'Hz', unit: 'dB', quantity: 'amplitude', facts: [], marks: [], own: true, logarithmic: true };
  for (const [k, t] of pane.spec.traces.entries()) {
    const group = groupOf(t.g), r = viewOf(group.axis);
    const f = await ask('spectrum', { g: group.id, e: t.e, m: 0, n: pane.spec.n || 8192, window: pane.spec.window || 'hann', x0: r && r[0], x1: r && r[1] });
    d.series.push({ trace: t, name: t.e, k, colour: colourOf(k, null), width: 1.2, x: f.x, y: f.y.map((v) => 20 * Math.log10(v)) });
    if (!(f.freq > 0)) continue;
    const step = f.x[1] - f.x[0];
    for (let h = 1; h <= 10 && h * f.freq <= f.x[f.x.length - 1]; h++) {
      const at = Math.round(h * f.freq / step);
      if (!k) d.marks.push({ x: f.x[at], y: 20 * Math.log10(f.y[at]), small: true, text: h === 1 ? eng(f.freq, 'Hz') : `${h}` });
    }
    const least = (x) => (x !== null && x >= f.rounding ? '> ' : '');
    d.facts.push(`${t.e}: THD ${eng(100 * f.thd, '%')}, SNDR ${least(f.sndr)}${eng(f.sndr, 'dB')}, ` +
      `SFDR ${least(f.sfdr)}${eng(f.sfdr, 'dB')}, ENOB ${least(f.sndr)}${f.enob === null ? '–' : plain(f.enob, 3)}`);
    const top = Math.max(...d.series[0].y.filter(isFinite));
    d.y0 = top - 140;
  }
  return d;
}

// -- eyes --

// All curves are folded by the clock of the first.
async function loadEye(pane) {
  const d = { series: [], axis: 'time', axisUnit: 's', unit: '', quantity: '', facts: [], marks: [], cursors: false, own: true };
  let clock = null;
  for (const [k, t] of pane.spec.traces.entries()) {
    const group = groupOf(t.g), r = viewOf(group.axis), last = Math.min(group.members.length, 16) - 1;
    for (let m = 0; m <= last; m++) {
      const f = await ask('eye', { g: group.id, e: t.e, m, x0: r && r[0], x1: r && r[1], ui: clock ? clock.ui : pane.spec.period, offset: clock && clock.offset });
      clock = clock || f;
      d.unit = d.unit || f.unit;
      d.quantity = d.quantity || quantityOf(f);
      d.series.push({ trace: t, name: t.e, k, colour: colourOf(k, last > 0 ? m / last : null), alpha: 0.35, width: 1.2, x: f.x, y: f.y, im: null });
      if (!m) d.facts.push(`${t.e}: unit interval ${eng(f.ui, 's')}, height ${eng(f.height, f.unit)} (open ${eng(f.openheight, f.unit)}), width ${eng(f.width, 's')}, jitter ${eng(f.jitter, 's')} rms, ${eng(f.jitterpp, 's')} peak-peak, Q ${plain(f.q, 3)}`);
    }
  }
  return d;
}

// -- families in figures --

// One number of each member of each trace: [[...], ...] by trace, with units.
async function scalars(pane) {
  const c = await fetchCurves(pane, 1500, true), out = [];
  for (const [k, t] of pane.spec.traces.entries()) {
    const own = c.filter((s) => s.trace === t);
    if (!own.length) continue;
    const head = own[0].head, many = own.length > 1, group = groupOf(t.g);
    const how = MEASURES.find((m) => m[0] === (t.how || pane.spec.how || 'max')), r = viewOf(group.axis), [ca, cb] = cursorsOf(group.axis);
    let values, words;
    if (many) {
      values = own.map((s) => measure(s.x, modulus(s), ca ?? (r ? r[0] : s.x0), cb ?? (r ? r[1] : s.x1))[how[0]]);
      words = `${how[1]} of ${t.e}`;
    } else {
      const whole = await ask('curve', { g: group.id, e: t.e, w: 25000 });
      values = [...modulus(whole.members[0])];
      words = t.e;
    }
    out.push({ k, t, values, words, unit: many ? how[2](head.unit, head.axisUnit) : head.unit, labels: own.map((s) => s.label) });
  }
  return out;
}

async function loadHist(pane) {
  const d = { series: [], bars: [], limits: [], axis: '', axisUnit: '', unit: '', quantity: 'count', facts: [], cursors: false, own: true, y0: 0 };
  for (const s of await scalars(pane)) {
    const v = s.values.filter(isFinite), n = v.length;
    if (!n) { d.facts.push(`${s.words}: no finite values`); continue; }
    const lo = v.reduce((a, b) => Math.min(a, b)), hi = v.reduce((a, b) => Math.max(a, b)), m = mean(v);
    const sigma = Math.sqrt(v.reduce((a, x) => a + (x - m) ** 2, 0) / Math.max(1, n - 1));
    const bins = Math.max(4, Math.min(60, Math.ceil(2 * Math.cbrt(n)))), width = (hi - lo) / bins || Math.abs(lo) / 100 || 1, count = new Array(bins).fill(0);
    for (const x of v) count[Math.min(bins - 1, Math.floor((x - lo) / width))]++;
    const colour = colourOf(s.k, null);
    count.forEach((y, k) => d.bars.push({ x0: lo + k * width, x1: lo + (k + 1) * width, y, colour }));
    const at = Float64Array.from({ length: 101 }, (_, k) => lo + (hi - lo) * k / 100);
    d.series.push({ trace: s.t, name: s.words, k: s.k, colour, x: at, dash: [4, 3], y: at.map((x) => (sigma > 0 ? n * width / (sigma * Math.sqrt(2 * Math.PI)) * Math.exp(-(((x - m) / sigma) ** 2) / 2) : NaN)) });
    d.axis = d.axis || s.words; d.axisUnit = s.unit;
    d.facts.push(`${s.words}: n ${n}, average ${eng(m, s.unit)}, σ ${eng(sigma, s.unit)}, ${eng(lo, s.unit)} … ${eng(hi, s.unit)}`);
    const { lo: low, hi: high } = pane.spec;
    if (low !== undefined || high !== undefined) {
      const good = s.values.filter((x) => x >= (low ?? -Infinity) && x <= (high ?? Infinity)).length, w = wilson(good, s.values.length);
      d.facts.push(`yield ${(100 * good / s.values.length).toFixed(1)} % (95 %: ${(100 * w[0]).toFixed(1)} … ${(100 * w[1]).toFixed(1)} %)`);
      d.limits = [low, high].filter((x) => x !== undefined);
    }
  }
  return d;
}

async function loadScatter(pane) {
  const s = await scalars(pane);
  const d = { series: [], axis: '', axisUnit: '', unit: '', quantity: '', facts: [], cursors: false, own: true };
  if (s.length < 2) { d.facts.push('a scatter plot takes two signals: the first is x'); return d; }
  const [a, ...others] = s;
  d.axis = a.words; d.axisUnit = a.unit; d.unit = others[0].unit; d.quantity = others.length > 1 ? '' : others[0].words;
  for (const b of others) {
    const n = Math.min(a.values.length, b.values.length), x = a.values.slice(0, n), y = b.values.slice(0, n);
    d.series.push({ trace: b.t, name: b.words, k: b.k, colour: colourOf(b.k, null), points: true, x: Float64Array.from(x), y: Float64Array.from(y) });
    const mx = mean(x), my = mean(y), dev = (v, m) => Math.sqrt(v.reduce((t, q) => t + (q - m) ** 2, 0));
    d.facts.push(`correlation ${plain(x.reduce((t, v, k) => t + (v - mx) * (y[k] - my), 0) / (dev(x, mx) * dev(y, my)), 3)}`);
  }
  return d;
}

// -- noise: the shares of devices in the output's power, sorted --

async function loadShares(pane) {
  const group = groupOf(pane.spec.traces[0].g), d = { series: [], areas: [], axis: 'frequency', axisUnit: 'Hz', unit: '%', quantity: 'share of the noise power', facts: [], y: [0, 100], cursors: false };
  const names = group.names.filter((n) => n.startsWith('onoise_') && n !== 'onoise_spectrum' && n !== 'onoise_total');
  const known = new Set(names), device = names.filter((n) => { for (let k = n.lastIndexOf('_'); k > 6; k = n.lastIndexOf('_', k - 1)) if (known.has(n.slice(0, k))) return false; return true; });
  const parts = [];
  for (const e of device) {
    const h = await ask('curve', { g: group.id, e, w: 0 });
    parts.push({ e, head: h, x: h.members[0].x, power: h.members[0].y.map((v) => v * v) });
  }
  if (!parts.length) { d.facts.push('this plot has no contributions of devices: .noise takes a number of points for them'); return d; }
  const x = parts[0].x, r = viewOf(group.axis) || [x[0], x[x.length - 1]];
  for (const p of parts) {
    const part = cut(x, p.power, r[0], r[1]);
    p.sum = 0;
    for (let k = 1; k < part.x.length; k++) p.sum += (part.x[k] - part.x[k - 1]) * (part.y[k] + part.y[k - 1]) / 2;
  }
  parts.sort((a, b) => b.sum - a.sum);
  const whole = parts.reduce((s, p) => s + p.sum, 0), total = x.map((_, k) => parts.reduce((s, p) => s + p.power[k], 0));
  const shown = parts.slice(0, 8), rest = parts.slice(8);
  if (rest.length) shown.push({ e: `${rest.length} others`, power: x.map((_, k) => rest.reduce((s, p) => s + p.power[k], 0)), sum: rest.reduce((s, p) => s + p.sum, 0) });
  let below = x.map(() => 0);
  shown.forEach((p, k) => {
    const above = below.map((b, i) => b + 100 * p.power[i] / (total[i] || 1)), points = [], colour = colourOf(k, null);
    x.forEach((v, i) => points.push(v, above[i]));
    for (let i = x.length - 1; i >= 0; i--) points.push(x[i], below[i]);
    d.areas.push({ points, colour, alpha: 0.75 });
    d.series.push({ trace: pane.spec.traces[0], name: `${p.e.replace(/^onoise_/, '')} ${(100 * p.sum / whole).toFixed(1)} %`, k, colour, x, y: above, width: 1, x0: x[0], x1: x[x.length - 1] });
    below = above;
  });
  d.group = group;
  return d;
}

const KINDS = {
  xy: { words: 'Waveforms', load: loadXY, paint: paintXY, follows: true },
  db: { words: 'Magnitude, dB', load: loadDb, paint: paintXY, follows: true },
  ph: { words: 'Phase, degrees', load: loadPhase, paint: paintXY, follows: true },
  smith: { words: 'Smith chart', load: loadPlane, paint: paintSmith },
  polar: { words: 'Polar', load: loadPlane, paint: paintPolar },
  fft: { words: 'Spectrum (FFT)', load: loadFft, paint: paintXY },
  eye: { words: 'Eye diagram', load: loadEye, paint: paintXY },
  hist: { words: 'Histogram, yield', load: loadHist, paint: paintXY },
  scatter: { words: 'Scatter', load: loadScatter, paint: paintXY },
  shares: { words: 'Noise shares', load: loadShares, paint: paintXY, follows: true },
  pz: { words: 'Poles and zeros', load: loadPoles, paint: paintPoles },
  op: { words: 'Operating point', table: true },
};
