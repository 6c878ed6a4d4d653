// bar.js - the tools above, keys, help, files that are saved.

const KEYS = [
  ['/', 'search signals'], ['Enter', 'in the list: show a signal (Shift: in a new pane)'], ['e', 'write an expression'],
  ['f', 'fit everything'], ['+  −', 'zoom in, out'], ['←  →', 'move along x'], ['↑  ↓', 'the pane above, below'],
  ['a  b', 'set cursor A, B; again: remove it'], [',  .', 'move the last cursor (Shift: ten times)'],
  ['l  k', 'logarithmic x, y'], ['v', 'choose what a pane shows'], ['g', 'settings of the pane'], ['n', 'a new pane'],
  ['Delete', 'remove the last signal of the pane'], ['u  r', 'undo, redo'], ['d', 'dark or light'], ['t', 'hide or show the list'],
  ['s', 'save SVG, PNG or CSV'], ['p', 'print'], ['x', 'stop the run, keep its points'], ['?', 'this help'],
];

function buildBar() {
  const kind = el('select', { id: 'kind', 'aria-label': 'What the pane shows', title: 'What the pane shows (v)', onchange: (e) => setKind(e.target.value) },
    ...[['xy', KINDS.xy.words], ['bode', 'Bode: dB and degrees'], ...Object.entries(KINDS).filter(([k]) => k !== 'xy').map(([k, v]) => [k, v.words])].map(([k, w]) => el('option', { value: k }, w)));
  const expr = el('input', { id: 'expr', class: 'expr', type: 'text', 'aria-label': 'Expression over signals', placeholder: 'expression: db(v(out)/v(in)), deriv(v(out))', spellcheck: 'false',
    title: 'An expression of vsim, Enter shows it (e)', onkeydown: (e) => { if (e.key === 'Enter') addExpression(e.target.value, e.shiftKey); if (e.key === 'Escape') e.target.blur(); } });
  const button = (words, title, onclick, more = {}) => el('button', { type: 'button', title, 'aria-label': title.replace(/ \(.*\)$/, ''), onclick, ...more }, words);
  return el('div', { id: 'bar', role: 'toolbar', 'aria-label': 'Tools' },
    button('☰', 'Hide or show the list of signals (t)', toggleSide, { class: 'plain' }), el('h1', { id: 'title' }), kind, SOURCE.alone ? null : expr, el('span', { id: 'wrong', role: 'alert' }),
    el('span', { class: 'gap' }), el('span', { id: 'live', role: 'status', 'aria-live': 'off' }),
    button('Fit', 'Fit everything (f)', fit), button('log x', 'Logarithmic x (l)', () => toggleLog('x'), { id: 'logx', 'aria-pressed': 'false' }), button('log y', 'Logarithmic y (k)', () => toggleLog('y'), { id: 'logy', 'aria-pressed': 'false' }),
    button('Cursors', 'Set both cursors, or remove them (a, b)', bothCursors, { id: 'cursors', 'aria-pressed': 'false' }), button('↶', 'Undo (u)', undo, { class: 'plain' }), button('↷', 'Redo (r)', redo, { class: 'plain' }),
    button('Save…', 'Save SVG, PNG or CSV (s)', saveDialog), button('◐', 'Dark or light (d)', toggleTheme, { class: 'plain' }), button('?', 'Help: all keys (?)', help, { class: 'plain' }));
}

async function addExpression(text, fresh) {
  const say = $('wrong');
  say.replaceChildren();
  const g = groupOf(S.group);
  if (!text.trim() || !g) return;
  try {
    await ask('curve', { g: g.id, e: text.trim(), w: 10 });
    addTrace(g, text.trim(), fresh || false);
    $('expr').value = '';
  } catch (w) {
    const t = text.trim(), part = w.from !== undefined ? t.slice(w.from, w.from + w.length) : '';
    say.replaceChildren(el('span', { class: 'wrong' }, w.message, part && part !== t ? ': ' : '', part && part !== t ? el('code', {}, part) : '', w.note ? ` (${w.note})` : ''));
  }
}

function toggleSide() { document.body.classList.toggle('narrow'); layoutPanes(); }
function toggleTheme() { change(() => { S.theme = theme() === 'dark' ? 'light' : 'dark'; }); }
const PAPER = matchMedia('print');
function applyTheme() { // paper is light
  document.documentElement.dataset.theme = PAPER.matches ? 'light' : S.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

const activeAxis = () => PANES[S.pane]?.axis || PANES[0]?.axis || null;

function fit() { change(() => { S.x = {}; for (const p of S.panes) { delete p.x; delete p.y; } }); }
function toggleLog(which) {
  const pane = PANES[S.pane];
  if (!pane || !pane.data) return;
  change(() => {
    if (which === 'y') { pane.spec.ylog = !pane.spec.ylog; delete pane.spec.y; }
    else if (pane.data.own) { pane.spec.xlog = !pane.data.xlog; delete pane.spec.x; } else S.xlog[pane.axis] = !pane.data.xlog;
  });
}

function zoom(factor, shift = 0) {
  const pane = PANES[S.pane], d = pane && pane.data;
  if (!d || !d.x || !pane.axis) return;
  const log = d.xlog, f = log ? Math.log : (v) => v, back = log ? Math.exp : (v) => v;
  const a = f(d.x[0]), b = f(d.x[1]), mid = (a + b) / 2 + shift * (b - a), half = (b - a) / 2 * factor;
  change(() => showRange(pane, back(mid - half), back(mid + half)));
}

let lastCursor = 0;
function placeCursor(k, x) {
  const pane = PANES[S.pane], d = pane && pane.data;
  if (!d || !d.x || !pane.axis) return;
  change(() => {
    const c = [...cursorsOf(pane.axis)];
    const at = x !== undefined ? x : pane.pointer !== undefined ? pane.pointer : pane.geo ? pane.geo.xs.value((pane.geo.left + pane.geo.right) * (k ? 2 / 3 : 1 / 3) + (k ? -pane.geo.left / 3 + 0 : 0)) : NaN;
    c[k] = x === undefined && c[k] !== null && c[k] !== undefined && pane.pointer === undefined ? null : at;
    if (c[0] === null && c[1] !== null && c[1] !== undefined) { c[0] = c[1]; c[1] = null; }
    lastCursor = k;
    S.cur[pane.axis] = c;
  });
}
function bothCursors() {
  const pane = PANES[S.pane];
  if (!pane || !pane.geo || !pane.geo.xs || !pane.axis) return;
  change(() => {
    const on = cursorsOf(pane.axis)[0] !== null, g = pane.geo;
    S.cur[pane.axis] = on ? [null, null] : [g.xs.value(g.left + (g.right - g.left) / 4), g.xs.value(g.left + (g.right - g.left) * 3 / 4)];
  });
}
function moveCursor(pixels) {
  const pane = PANES[S.pane], c = pane && pane.axis && [...cursorsOf(pane.axis)];
  if (!c || c[lastCursor] === null || c[lastCursor] === undefined) return;
  const xs = pane.geo.xs;
  c[lastCursor] = xs.value(xs.at(c[lastCursor]) + pixels);
  change(() => { S.cur[pane.axis] = c; });
}

function onKey(e) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  if (typing) { if (e.key === 'Escape') e.target.blur(); return; }
  const how = {
    '/': () => $('search').focus(), e: () => $('expr') && $('expr').focus(), f: fit, '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '−': () => zoom(2),
    ArrowLeft: () => zoom(1, -0.1), ArrowRight: () => zoom(1, 0.1), ArrowUp: () => pick(S.pane - 1), ArrowDown: () => pick(S.pane + 1),
    a: () => placeCursor(0), b: () => placeCursor(1), ',': () => moveCursor(-1), '.': () => moveCursor(1), '<': () => moveCursor(-10), '>': () => moveCursor(10), ';': () => moveCursor(-10), ':': () => moveCursor(10),
    l: () => toggleLog('x'), k: () => toggleLog('y'), v: () => $('kind').focus(), g: () => settings(S.pane), n: () => change(() => { S.panes.push({ kind: 'xy', traces: [] }); S.pane = S.panes.length - 1; }),
    Delete: () => dropLast(), Backspace: () => dropLast(), u: undo, r: redo, d: toggleTheme, t: toggleSide, s: saveDialog, p: () => window.print(), x: () => stopRun(), '?': help,
  }[e.key];
  if (!how) return;
  e.preventDefault();
  how();
}

function pick(k) {
  if (k < 0 || k >= S.panes.length) return;
  S.pane = k;
  refresh();
  PANES[k].canvas.focus();
}
function dropLast() {
  change(() => {
    const p = activePane();
    if (!p) return;
    p.traces.pop();
    if (!p.traces.length) S.panes.splice(S.pane, 1);
  });
}
function dropTrace(pane, t) {
  change(() => {
    const same = (q) => q.e === t.e && q.g === t.g;
    for (const p of S.panes) if (p === pane.spec || (pane.spec.kind === 'db' && p.kind === 'ph') || (pane.spec.kind === 'ph' && p.kind === 'db')) p.traces = p.traces.filter((q) => !same(q));
    S.panes = S.panes.filter((p) => p.traces.length);
  });
}

// -- dialogs --

function dialog(title, ...content) {
  const d = el('dialog', { 'aria-label': title, onclose: () => d.remove() }, el('h2', {}, title), ...content);
  document.body.append(d);
  d.showModal();
  return d;
}
const closeRow = () => el('div', { class: 'row' }, el('button', { type: 'button', onclick: (e) => e.target.closest('dialog').close() }, 'Close'));

function help() {
  dialog('Keys', el('div', { class: 'keys' }, ...KEYS.map(([k, words]) => el('dl', {}, el('dt', {}, ...k.split('  ').map((t) => el('kbd', {}, t))), el('dd', {}, words)))),
    el('p', { class: 'facts' }, 'Mouse: drag to zoom, double click to fit, wheel to zoom, Shift and wheel to move, click for cursor A, Shift and click for B.'), closeRow());
}

// What a kind can be told: [name, words].
const SETTINGS = {
  hist: [['how', 'figure of each curve of a family'], ['lo', 'good from'], ['hi', 'good up to']], scatter: [['how', 'figure of each curve of a family']],
  eye: [['period', 'unit interval, s']], fft: [['n', 'samples'], ['window', 'window: hann, hamming, blackman, rectangular, flattop']], op: [['member', 'member of the family, from 0']],
};

function settings(k) {
  const p = S.panes[k];
  if (!p) return;
  const own = SETTINGS[p.kind] || [], field = (name, words, value) => el('label', {}, words, name === 'how'
    ? el('select', { name }, ...MEASURES.map((m) => { const o = el('option', { value: m[0] }, m[1]); o.selected = m[0] === (value || 'max'); return o; })) : el('input', { type: 'text', name, value: value ?? '' }));
  const form = el('form', { method: 'dialog' }, field('ylo', 'y from', p.y && p.y[0]), field('yhi', 'y to', p.y && p.y[1]), ...own.map(([n, w]) => field(n, w, p[n])),
    el('div', { class: 'row' }, el('button', { value: 'no', formnovalidate: true }, 'Cancel'), el('button', { value: 'yes' }, 'Apply')));
  const d = dialog(`Settings: ${KINDS[p.kind].words}`, form);
  d.onclose = () => {
    if (d.returnValue === 'yes')
      change(() => {
        const f = new FormData(form), lo = readNumber(f.get('ylo')), hi = readNumber(f.get('yhi'));
        if (lo < hi) p.y = [lo, hi]; else delete p.y;
        for (const [n] of own) {
          const t = f.get(n), x = n === 'how' || n === 'window' ? t : readNumber(t);
          if (t === '' || Number.isNaN(x)) delete p[n]; else p[n] = x;
        }
      });
    d.remove();
  };
}

// -- files --

function save(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  el('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// All panes, one below the other, with their legends.
function paintAll(surface, width) {
  let top = 0;
  for (const p of PANES) {
    if (!p.data || KINDS[p.spec.kind].table) continue;
    const h = p.height + 22, part = surface(width, p.height, top + 22);
    let x = 68;
    const seen = new Set();
    for (const s of p.data.series) {
      const words = s.shade === null || s.shade === undefined ? s.name : null;
      if (!words || seen.has(words) || x > width - 120) continue;
      seen.add(words);
      part.box(x, -13, 14, 3, { colour: s.colour });
      part.text(x + 19, -11, words, { colour: css('ink') });
      x += 34 + 6.6 * words.length;
    }
    KINDS[p.spec.kind].paint(part, p.data, cursorsOf(p.axis));
    top += h;
  }
  return top;
}

function saveSvg() {
  const width = PANES[0].width, parts = [];
  const height = paintAll((w, h, top) => { const s = new SvgSurface(w, h); parts.push([top, s]); return s; }, width);
  let n = 0;
  const body = parts.map(([top, s]) => `<g transform="translate(0 ${top})">${s.out.join('\n').replace(/(id="|#)c(\d+)/g, (_, a, b) => `${a}p${n}c${b}`)}<${'/'}g>${n++ ? '' : ''}`).join('\n');
  save('vsim.svg', 'image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, 'DejaVu Sans', sans-serif"><rect width="100%" height="100%" fill="${css('sheet')}"/>\n${body}\n<${'/'}svg>\n`);
}

function savePng() {
  const width = PANES[0].width, whole = document.createElement('canvas'), parts = [];
  const height = paintAll((w, h, top) => { const c = document.createElement('canvas'), s = new CanvasSurface(c, w, h + 22, 2); s.height = h; s.g.translate(0, 22); parts.push([top - 22, c]); return s; }, width);
  whole.width = 2 * width; whole.height = 2 * height;
  const g = whole.getContext('2d');
  g.fillStyle = css('sheet');
  g.fillRect(0, 0, whole.width, whole.height);
  for (const [top, c] of parts) g.drawImage(c, 0, 2 * top);
  whole.toBlob((b) => save('vsim.png', 'image/png', b));
}

// The curves in sight with every point: name of x, then y, curve by curve in columns.
async function csvColumns() {
  const columns = [], asked = [];
  let points = 0;
  for (const p of PANES)
    for (const t of p.data ? p.spec.traces : []) {
      const g = groupOf(t.g), r = viewOf(g.axis), q = { g: g.id, e: t.e, o: t.o, x0: r && r[0], x1: r && r[1] };
      for (const m of (await SOURCE.curve({ ...q, w: 1 })).members) points += m.part ?? m.x.length;
      asked.push([t, q]);
    }
  if (points > MOST_SAVED) throw new Error(`The curves in sight have ${points} points, and a page writes at most ${MOST_SAVED}. Zoom in, or write all with: vsim convert FILE.raw FILE.csv`);
  for (const [t, q] of asked) {
    const h = await SOURCE.curve({ ...q, w: 0 });
    for (const m of h.members) {
      columns.push([h.axis, m.x], [nameOf(t, m) + (m.im ? '.re' : ''), m.y]);
      if (m.im) columns.push([`${nameOf(t, m)}.im`, m.im]);
    }
  }
  return columns;
}

async function saveCsv() {
  let columns;
  try {
    columns = await csvColumns();
  } catch (e) {
    dialog('Nothing was saved', el('p', {}, e.message), closeRow());
    return;
  }
  const n = Math.max(0, ...columns.map((c) => c[1].length)), quote = (t) => (/[",\n]/.test(t) ? `"${t.replace(/"/g, '""')}"` : t), lines = [columns.map((c) => quote(c[0])).join(',')];
  for (let k = 0; k < n; k++) lines.push(columns.map((c) => (k < c[1].length ? String(c[1][k]) : '')).join(','));
  save('vsim.csv', 'text/csv', `${lines.join('\n')}\n`);
}

const MOST_SAVED = 1 << 20; // points of all curves in sight; of one curve the server gives no more (src/view/view.h)

function saveDialog() {
  if (!PANES.length) return;
  const d = dialog('Save what is shown', el('div', { class: 'row' }, ...[['SVG', saveSvg], ['PNG', savePng], ['CSV: numbers', saveCsv], ['Print…', () => window.print()]].map(([w, f]) => el('button', { type: 'button', onclick: () => { d.close(); f(); } }, w))), closeRow());
}
