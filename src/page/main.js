// main.js - panes and the mouse, the page as a whole, results that grow.

const $ = (id) => document.getElementById(id);
let PANES = [];
let RUN = null;

// -- panes --

function newPane(index) {
  const canvas = el('canvas', { tabindex: '0', role: 'img' }), head = el('header'), sheet = el('div', { class: 'sheet' }, canvas), note = el('div', { class: 'note' });
  const box = el('section', { class: 'pane', role: 'group' }, head, sheet);
  const pane = { index, canvas, head, sheet, note, box, spec: null, data: null, geo: null, axis: null, waits: [] };
  mouse(pane);
  return pane;
}

function layoutPanes() {
  for (const p of PANES) {
    const r = p.sheet.getBoundingClientRect();
    p.width = Math.max(120, Math.floor(r.width));
    p.height = Math.max(60, Math.floor(r.height));
    paint(p);
  }
}

// The range of x that a pane shows, and whether it is logarithmic.
function ranges(pane, d) {
  const own = d.own, seen = own ? pane.spec.x : viewOf(pane.axis);
  let lo = Infinity, hi = -Infinity;
  const near = own ? [pane] : PANES.filter((p) => p.data && p.axis === pane.axis && !p.data.own && p.data.series);
  for (const p of near)
    for (const s of p === pane ? d.series : p.data.series) {
      const a = own ? undefined : s.x0, b = own ? undefined : s.x1;
      if (a !== undefined && isFinite(a) && isFinite(b)) { lo = Math.min(lo, a, b); hi = Math.max(hi, a, b); }
      if (own || !s.rises) for (const v of s.x) { if (v < lo) lo = v; if (v > hi) hi = v; }
    }
  for (const b of d.bars || []) { lo = Math.min(lo, b.x0); hi = Math.max(hi, b.x1); }
  for (const l of d.limits || []) { lo = Math.min(lo, l); hi = Math.max(hi, l); }
  if (d.fixedX && lo <= hi) [lo, hi] = d.fixedX;
  const points = d.series[0] && d.series[0].x, ratios = points && points.length > 3 && points[0] > 0 && points[points.length - 1] > 4 * points[0] && Math.abs(points[2] / points[1] / (points[1] / points[0]) - 1) < 1e-4;
  const want = own ? pane.spec.xlog : S.xlog[pane.axis];
  d.xlog = Boolean(want !== undefined ? want : own ? d.logarithmic : d.axis === 'frequency' && ratios) && lo !== Infinity && hi > 0;
  if (d.xlog && !(lo > 0)) lo = firstAbove(d, hi);
  d.x = seen ? [...seen] : lo <= hi ? [lo, hi] : [0, 1];
  if (d.x[0] === d.x[1] || (own && !seen && !d.logarithmic)) d.x = padded(d.x, d.xlog);
  if (d.xlog && !(d.x[0] > 0)) d.x[0] = firstAbove(d, d.x[1]);
  d.ylog = Boolean(pane.spec.ylog);
  const e = d.fixedY || extent(d.series, d.x, d.ylog), top = (d.bars || []).reduce((m, b) => Math.max(m, b.y), -Infinity);
  let y = pane.spec.kind === 'shares' ? [0, 100] : e ? padded(e, d.ylog) : d.ylog ? [0.1, 10] : [0, 1];
  if (top > -Infinity) y = [0, Math.max(top, e ? e[1] : 0) * 1.06];
  if (d.y0 !== undefined && !d.bars) y[0] = Math.max(y[0], d.y0);
  d.y = pane.spec.y && !(d.ylog && !(pane.spec.y[0] > 0)) ? pane.spec.y : y;
}
function firstAbove(d, hi) {
  let lo = Infinity;
  for (const s of d.series) for (const v of s.x) if (v > 0 && v < lo) lo = v;
  return lo < hi ? lo : hi / 1e3 || 1e-3;
}

async function load(pane) {
  const spec = pane.spec, kind = KINDS[spec.kind], turn = pane.turn = (pane.turn || 0) + 1;
  const group = spec.traces.length ? groupOf(spec.traces[0].g) : null;
  pane.axis = group ? group.axis || 'index' : null;
  pane.wrong = null;
  pane.waits = []; // answers of which the first part is shown
  let data = null;
  try {
    if (spec.traces.length && !group) pane.wrong = 'these results are not there (any more)';
    else if (kind.table && group) { const parts = await opTable(pane); if (turn === pane.turn) { pane.table = el('div', { class: 'table' }, ...parts); } }
    else if (group) data = await kind.load(pane);
  } catch (e) { pane.wrong = e.message; }
  if (turn !== pane.turn || pane.spec !== spec) return;
  if (data || !(spec.traces.length && pane.data && pane.wrong)) pane.data = data;
  decorate(pane);
  layoutPanes(); // the legend may need another line
  showTools();
  if (!pane.waits.length) { await showMeasures(); return; }
  await Promise.allSettled(pane.waits);
  if (turn === pane.turn) await load(pane);
}

// How far the server is with what the pane waits for.
function partOf(pane) {
  const part = Math.min(...pane.waits.map((a) => a.part || 0));
  return `… ${Math.floor(100 * part)} %: some values of the curve`;
}
function showPart(pane) {
  const words = pane.head.querySelector('.part');
  if (words) words.textContent = partOf(pane);
}

function paint(pane) {
  const kind = KINDS[pane.spec.kind], d = pane.data;
  const inside = [kind.table && pane.table ? pane.table : pane.canvas, ...(!kind.table && (!d || !hasPoints(d)) ? [noteOf(pane)] : [])];
  const same = pane.sheet.childNodes.length === inside.length && inside.every((e, k) => pane.sheet.childNodes[k] === e);
  if (!same) pane.sheet.replaceChildren(...inside); // an element that moves loses the second of two clicks
  const s = new CanvasSurface(pane.canvas, pane.width || 300, pane.height || 150, window.devicePixelRatio || 1);
  if (!d || kind.table || !hasPoints(d)) { pane.geo = null; return; }
  if (kind.paint === paintXY || kind.paint === paintPoles) ranges(pane, d);
  const below = PANES[pane.index + 1];
  d.lowest = d.own || !below || below.axis !== pane.axis || !KINDS[below.spec.kind].follows;
  pane.geo = kind.paint(s, d, cursorsOf(pane.axis));
  const words = d.series.length > 6 ? `${d.series.length} curves` : d.series.map((c) => c.name).join(', ');
  pane.canvas.setAttribute('aria-label', `${kind.words}: ${words}${d.x ? `, ${d.axis} from ${eng(d.x[0], d.axisUnit)} to ${eng(d.x[1], d.axisUnit)}` : ''}${d.facts.length ? `. ${d.facts.join('; ')}` : ''}`);
}

const hasPoints = (d) => d.series.some((s) => s.x.length) || (d.bars || []).length;
function noteOf(pane) {
  pane.note.textContent = pane.wrong || (pane.spec.traces.length ? (pane.data ? (pane.data.facts[0] || (RUN && !RUN.ended ? 'no points yet' : 'no points')) : '…') : 'choose signals at the left: click, or / and Enter');
  return pane.note;
}

// Legend, figures, tools of the pane.
function decorate(pane) {
  const { spec, data } = pane, items = [], kind = KINDS[spec.kind];
  spec.traces.forEach((t, k) => {
    const own = data && data.series ? data.series.filter((s) => s.trace === t || (s.trace && s.trace.e === t.e && s.trace.g === t.g)) : [], many = own.length > 1 && own.every((s) => s.shade !== undefined && s.shade !== null);
    const mark = el('i', many ? { class: 'ramp' } : {});
    mark.style.background = many ? `linear-gradient(90deg, ${colourOf(0, 0)}, ${colourOf(0, 0.5)}, ${colourOf(0, 1)})` : colourOf(own[0] ? own[0].k : k, null);
    const words = spec.kind === 'shares' || spec.kind === 'pz' || kind.table ? [] : [mark, el('span', { title: t.e }, shorten(t.e)), many ? el('span', { class: 'facts' }, `${own.length}: ${own[0].label} … ${own[own.length - 1].label}`) : null,
      INDEX.files.length > 1 ? el('span', { class: 'facts' }, INDEX.files[Number(t.g.split(':')[0])]?.name) : null,
      el('button', { class: 'plain', type: 'button', title: `Remove ${t.e}`, 'aria-label': `Remove ${t.e}`, onclick: () => dropTrace(pane, t) }, '×')];
    if (words.length) items.push(el('span', { class: 'legend' }, ...words));
  });
  if ((spec.kind === 'shares' || spec.kind === 'pz') && data)
    for (const s of data.series) { const mark = el('i'); mark.style.background = s.colour; items.push(el('span', { class: 'legend', title: s.name }, mark, shorten(s.name, 48))); }
  if (kind.table && spec.traces[0]) items.push(el('span', { class: 'legend' }, groupOf(spec.traces[0].g)?.what || ''));
  if (data) for (const f of data.facts) if (hasPoints(data)) items.push(el('span', { class: 'facts' }, f));
  pane.box.setAttribute('aria-busy', String(pane.waits.length > 0));
  if (pane.waits.length) items.push(el('span', { class: 'facts part', role: 'status' }, partOf(pane)));
  if (pane.wrong) items.push(el('span', { class: 'wrong', role: 'alert' }, pane.wrong));
  pane.head.replaceChildren(el('div', { class: 'legends' }, ...items), el('span', { class: 'tools' },
    el('button', { class: 'plain', type: 'button', title: 'Settings of the pane (g)', 'aria-label': 'Settings of the pane', onclick: () => settings(pane.index) }, '⚙'),
    el('button', { class: 'plain', type: 'button', title: 'Close the pane', 'aria-label': 'Close the pane', onclick: () => change(() => S.panes.splice(pane.index, 1)) }, '×')));
  pane.box.setAttribute('aria-label', `Pane ${pane.index + 1}: ${kind.words}`);
}

// -- the mouse --

function mouse(pane) {
  const c = pane.canvas;
  let from = null, held = -1;
  const at = (e) => { const r = c.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  const rubber = el('div');
  Object.assign(rubber.style, { position: 'absolute', border: '1px solid var(--accent)', background: 'var(--pick)', opacity: '.45', pointerEvents: 'none' });
  c.onpointerdown = (e) => {
    if (e.button || !pane.geo) return;
    const [x, y] = at(e);
    if (S.pane !== pane.index) { S.pane = pane.index; markActive(); }
    c.setPointerCapture(e.pointerId);
    const cur = cursorsOf(pane.axis);
    held = pane.geo.xs && pane.data.cursors !== false && !pane.data.own ? cur.findIndex((v) => v !== null && v !== undefined && Math.abs(pane.geo.xs.at(v) - x) < 6) : -1;
    from = [x, y];
    c.focus({ preventScroll: true });
  };
  c.onpointermove = (e) => {
    const [x, y] = at(e), g = pane.geo;
    if (!g) return;
    if (g.tip && !from) { c.title = g.tip(x, y); return; }
    if (!g.xs) return;
    pane.pointer = x >= g.left && x <= g.right ? g.xs.value(x) : undefined;
    if (held >= 0) { lastCursor = held; S.cur[pane.axis][held] = g.xs.value(x); paintSame(pane); return; }
    if (!from) return;
    const [ax, ay] = from, wide = Math.abs(x - ax) > 8, high = Math.abs(y - ay) > 8;
    if (!wide && !high) return;
    if (!rubber.parentNode) pane.sheet.append(rubber);
    const l = wide ? Math.min(x, ax) : g.left, r = wide ? Math.max(x, ax) : g.right, t = high ? Math.min(y, ay) : g.top, b = high ? Math.max(y, ay) : g.bottom;
    Object.assign(rubber.style, { left: `${l}px`, top: `${t}px`, width: `${r - l}px`, height: `${b - t}px` });
  };
  c.onpointerup = (e) => {
    const [x, y] = at(e), g = pane.geo;
    rubber.remove();
    if (!from || !g || !g.xs) { from = null; held = -1; return; }
    const [ax, ay] = from, wide = Math.abs(x - ax) > 8, high = Math.abs(y - ay) > 8;
    from = null;
    if (held >= 0) { held = -1; refresh(); return; }
    if (!wide && !high) { if (pane.data.cursors !== false && !pane.data.own && x >= g.left && x <= g.right) placeCursor(e.shiftKey ? 1 : 0, g.xs.value(x)); return; }
    change(() => {
      if (wide) showRange(pane, g.xs.value(Math.min(x, ax)), g.xs.value(Math.max(x, ax)));
      if (high) pane.spec.y = [g.ys.value(Math.max(y, ay)), g.ys.value(Math.min(y, ay))];
    });
  };
  c.onpointerleave = () => { pane.pointer = undefined; };
  c.ondblclick = () => fit();
  c.onwheel = (e) => {
    const g = pane.geo;
    if (!g || !g.xs) return;
    e.preventDefault();
    const [x] = at(e), by = Math.max(-100, Math.min(100, e.deltaY || e.deltaX)) / 100, w = g.right - g.left;
    const a = e.shiftKey ? g.left + by * 0.15 * w : x - (x - g.left) * 1.25 ** by, b = e.shiftKey ? g.right + by * 0.15 * w : x + (g.right - x) * 1.25 ** by;
    showRange(pane, g.xs.value(a), g.xs.value(b));
    paintSame(pane);
    clearTimeout(c.later);
    c.later = setTimeout(refresh, 60);
  };
}

// Panes with an axis of their own keep their range.
function showRange(pane, lo, hi) { if (pane.data.own) pane.spec.x = [lo, hi]; else S.x[pane.axis] = [lo, hi]; }
function paintSame(pane) { for (const p of PANES) if (p.axis === pane.axis && p.data) paint(p); }
function markActive() { PANES.forEach((p, k) => p.box.classList.toggle('active', k === S.pane && PANES.length > 1)); showTools(); }

// -- the page --

function showTools() {
  const p = PANES[S.pane], press = (id, on) => $(id) && $(id).setAttribute('aria-pressed', String(Boolean(on)));
  press('logx', p && p.data && p.data.xlog);
  press('logy', p && p.spec.ylog);
  press('cursors', p && cursorsOf(p.axis)[0] !== null);
  if (p) $('kind').value = p.spec.kind === 'db' && S.panes[S.pane + 1]?.kind === 'ph' ? 'bode' : p.spec.kind;
}

let asked = '', loading = Promise.resolve(); // until all panes have what was asked for last
function refresh() {
  applyTheme();
  const main = $('main');
  while (PANES.length > S.panes.length) PANES.pop().box.remove();
  while (PANES.length < S.panes.length) { const p = newPane(PANES.length); PANES.push(p); main.append(p.box); }
  $('empty').hidden = S.panes.length > 0;
  S.panes.forEach((spec, k) => { PANES[k].spec = spec; PANES[k].index = k; });
  markActive();
  writeAddress();
  const want = JSON.stringify([GENERATION, S.panes, S.x, theme()]);
  const more = asked !== want;
  asked = want;
  if (more) loading = Promise.all(PANES.map(load));
  layoutPanes();
  if (!more) void showMeasures();
  const g = groupOf(S.group) || INDEX.groups[0] || null;
  if (g && $('plot').value !== keyOf(g)) $('plot').value = keyOf(g);
  showTree(g);
}

// What of the files was not read, and damage; a run that still writes its file has none.
function listNotes() {
  const own = (f) => [...f.notes, ...(f.why && !(f.live && !RUN?.ended) ? [`the file ${f.why}: what stands in front of that is shown`] : [])];
  const all = INDEX.files.flatMap((f) => own(f).map((n) => (INDEX.files.length > 1 ? `${f.name}: ${n}` : n)));
  $('notes').hidden = !all.length;
  $('notes').replaceChildren(el('summary', {}, `not read: ${all.length} note${all.length === 1 ? '' : 's'}`), el('ul', {}, ...all.map((n) => el('li', {}, n))));
}

function listPlots() {
  listNotes();
  const select = $('plot');
  const list = INDEX.groups.map((g) => el('option', { value: keyOf(g) }, `${INDEX.files.length > 1 ? `${INDEX.files[g.file].name}: ` : ''}${g.what}${g.members.length > 1 ? ` × ${g.members.length}` : ''}`));
  select.replaceChildren(...list);
  const g = groupOf(S.group);
  if (g) select.value = keyOf(g);
  const names = INDEX.files.map((f) => f.name).join(', ');
  $('title').textContent = names;
  $('title').title = `${names}${INDEX.groups[0] ? `: ${INDEX.groups[0].title}` : ''}`;
  document.title = `${names} – vsim`;
}

function build() {
  document.body.append(buildBar(), el('nav', { id: 'side', 'aria-label': 'Signals' },
    el('div', { class: 'top' }, el('select', { id: 'plot', 'aria-label': 'Plot', onchange: (e) => { S.group = e.target.value; Tree.query = ''; $('search').value = ''; refresh(); } }),
      el('input', { id: 'search', type: 'search', placeholder: 'search signals  ( / )', 'aria-label': 'Search signals', spellcheck: 'false',
        oninput: (e) => { Tree.query = e.target.value; Tree.at = 0; $('tree').scrollTop = 0; showTree(Tree.group); },
        onkeydown: (e) => { if (e.key === 'ArrowDown') { e.preventDefault(); $('tree').focus(); } if (e.key === 'Enter') { e.preventDefault(); useRow(e.shiftKey); } if (e.key === 'Escape') { e.target.value = ''; Tree.query = ''; showTree(Tree.group); e.target.blur(); } } })),
    el('details', { id: 'notes', hidden: '' }), el('div', { id: 'count', class: 'count', role: 'status' }), el('div', { id: 'tree', role: 'tree', tabindex: '0', 'aria-label': 'Signals by hierarchy', onscroll: paintTree, onkeydown: treeKey }, el('div'))),
  el('main', { id: 'main', 'aria-label': 'Panes' }, el('div', { id: 'empty', class: 'note' }, 'Choose signals at the left: click, or press / and Enter. All keys: ?')), el('footer', { id: 'foot', 'aria-label': 'Measures' }));
  if (matchMedia('(max-width: 640px)').matches) document.body.classList.add('narrow');
  document.addEventListener('keydown', onKey);
  new ResizeObserver(layoutPanes).observe($('main'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
  PAPER.addEventListener('change', refresh);
}

// -- results that grow --

// One state of the files after the other is shown whole: a file may grow faster than curves come.
let newest = -1, following = false;
async function hear(message) {
  if (message.run) showRun(message.run);
  newest = message.generation;
  if (following) return;
  following = true;
  try {
    while (newest > GENERATION) {
      INDEX = await SOURCE.index();
      GENERATION = Math.max(INDEX.generation, newest);
      answers.clear();
      listPlots();
      if (!S.panes.length && INDEX.groups.length) openFirst(); else refresh();
      await loading;
    }
  } catch { /* the server is busy or gone: the next message comes, or `lost` */ }
  following = false;
}

function showRun(r) {
  RUN = r;
  const live = $('live'), part = Math.max(0, Math.min(1, r.fraction || 0));
  if (r.ended) { listNotes(); live.replaceChildren(el('span', { class: 'facts' }, 'the run has ended')); return; }
  const left = r.left === null || r.left === undefined ? '' : r.left < 60 ? `${r.left.toFixed(1)} s left` : `${Math.floor(r.left / 60)} min ${Math.round(r.left % 60)} s left`;
  if (!$('stop')) {
    live.replaceChildren(el('span', { id: 'what' }), el('progress', { id: 'part', max: '1', 'aria-label': 'Progress of the run' }), el('span', { id: 'rate', class: 'facts' }),
      el('button', { id: 'stop', class: 'stop', type: 'button', title: 'Stop the run; all points are kept (x)', onclick: stopRun }, 'Stop'));
  }
  $('what').textContent = r.what ? `${r.what} ${r.unit ? eng(r.at, r.unit, 3) : ''}` : 'building';
  $('part').value = part;
  $('rate').textContent = r.what ? `${r.points.toLocaleString('en')} points, ${eng(r.rate, '/s', 3)}, ${left}` : '';
}

async function stopRun() {
  if (!RUN || RUN.ended || !$('stop')) return;
  $('stop').disabled = true;
  $('stop').textContent = 'stopping…';
  await SOURCE.stop();
}

function lost() {
  $('live').replaceChildren(el('span', { class: 'wrong', role: 'alert' }, 'vsim has ended: what is shown stays, nothing more can be asked for'));
}

// The steps of a run (`vsim profile --steps`): how long, how many iterations and rejections, how far from the tolerance.
function historyPanes(g) {
  const t = (...names) => names.map((e) => ({ g: keyOf(g), e }));
  return [{ kind: 'xy', traces: t('step'), ylog: true }, { kind: 'xy', traces: t('iterations', 'rejected', 'not_converged') }, { kind: 'xy', traces: t('error') }];
}

// What is shown when nothing was chosen.
function openFirst() {
  const g = groupOf(S.group) || INDEX.groups.find((q) => q.word !== 'op') || INDEX.groups[0], traces = firstTraces(g);
  if (!g) { refresh(); return; }
  S.group = keyOf(g);
  const complex = traces.length && g.complex[g.names.indexOf(traces[0].e)];
  if (!traces.length) S.panes = [];
  else if (g.word === 'noise') S.panes = [{ kind: 'xy', traces, ylog: true }, { kind: 'shares', traces: traces.map((t) => ({ ...t })) }];
  else if (g.word === 'sp') S.panes = [{ kind: 'smith', traces }];
  else if (g.what === 'Step History') S.panes = historyPanes(g);
  else if (g.word === 'ac' && complex) S.panes = [{ kind: 'db', traces }, { kind: 'ph', traces: traces.map((t) => ({ ...t })) }];
  else S.panes = [{ kind: g.word === 'op' ? 'op' : g.word === 'pz' ? 'pz' : 'xy', traces }];
  refresh();
}

// The panes that `vsim plot -o FILE.html` asks for.
function openWish(w) {
  const g = INDEX.groups[0], all = g.names.map((e) => ({ g: keyOf(g), e }));
  S.group = keyOf(g);
  if (w.dark) S.theme = 'dark';
  const axis = g.axis || 'index';
  if (w.xlo !== null && w.xhi !== null) S.x[axis] = [w.xlo, w.xhi];
  if (w.xlog) S.xlog[axis] = true;
  if (w.kind === 'bode') S.panes = [{ kind: 'db', traces: all }, { kind: 'ph', traces: all.map((t) => ({ ...t })) }];
  else if (w.kind !== 'xy') S.panes = [{ kind: w.kind, traces: all }];
  else {
    const units = new Map();
    all.forEach((t, k) => { const u = w.stack ? k : unitOf(t) || ''; if (!units.has(u)) units.set(u, []); units.get(u).push(t); });
    S.panes = [...units.values()].map((traces) => ({ kind: 'xy', traces, ...(w.ylog ? { ylog: true } : {}) }));
  }
  if (w.ylo !== null && w.yhi !== null && S.panes[0]) S.panes[0].y = [w.ylo, w.yhi];
  refresh();
}

async function start() {
  const text = $('data').textContent, data = text.startsWith('{') ? JSON.parse(text) : null;
  SOURCE = data ? new DataSource(data) : new ServerSource();
  applyTheme();
  build();
  try { INDEX = await SOURCE.index(); } catch (e) { $('empty').textContent = `The results cannot be read: ${e.message}`; return; }
  GENERATION = INDEX.generation;
  const kept = readAddress();
  if (kept) S = kept;
  if (!groupOf(S.group) && S.panes[0]?.traces[0]) S.group = S.panes[0].traces[0].g;
  if (!groupOf(S.group)) S.group = INDEX.groups.length ? keyOf(INDEX.groups.find((q) => q.word !== 'op') || INDEX.groups[0]) : null;
  listPlots();
  if (kept) refresh(); else if (data && data.wish) openWish(data.wish); else openFirst();
  SOURCE.listen(hear, lost);
  window.addEventListener('hashchange', () => { const s = readAddress(); if (s && JSON.stringify(s) !== textOfState()) { S = s; refresh(); } });
  document.body.dataset.ready = 'yes';
}
void start();
