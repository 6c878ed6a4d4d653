// tables.js - what stands between the cursors, curve by curve; the operating point by device.

let tableTurn = 0;

async function showMeasures() {
  const foot = $('foot'), turn = ++tableTurn;
  const pane = PANES.find((p) => p.data && p.data.cursors !== false && KINDS[p.spec.kind].follows && p.index === S.pane) || PANES.find((p) => p.data && KINDS[p.spec.kind].follows);
  const axis = pane && pane.axis, cur = axis ? cursorsOf(axis) : [null, null];
  if (!pane || cur[0] === null || cur[0] === undefined) { foot.replaceChildren(); return; }
  const near = PANES.filter((p) => p.data && p.axis === axis && KINDS[p.spec.kind].follows && p.data.cursors !== false);
  const d = pane.data, both = cur[1] !== null && cur[1] !== undefined, unit = d.axisUnit;
  const rows = near.flatMap((p) => p.data.series.map((s) => ({ ...s, pane: p }))).slice(0, 40), columns = both ? MEASURES : MEASURES.slice(0, 1);
  const full = [];
  for (const s of rows) {
    full.push(await measured(cur, s, both));
    if (turn !== tableTurn) return;
  }
  const span = cur[1] - cur[0], rough = full.some((s) => s.rough);
  const caption = el('caption', {}, `${rough ? '≈ ' : ''}A ${eng(cur[0], unit, 6)}${both ? `\u2003B ${eng(cur[1], unit, 6)}\u2003B − A ${eng(span, unit, 6)}${unit === 's' ? `\u20031/(B − A) ${eng(1 / Math.abs(span), 'Hz', 5)}` : ''}` : ''}${rough ? '\u2003≈: more than 800,000 points: of the extremes of 200,000 columns' : ''}`);
  const head = el('tr', {}, el('th', { scope: 'col' }, ''), ...columns.map((c) => el('th', { scope: 'col' }, c[1])));
  const body = rows.map((s, k) => {
    const { m } = full[k], mark = el('i');
    mark.style.background = s.colour;
    return el('tr', {}, el('td', { title: s.name }, mark, shorten(s.name)), ...columns.map((c) => el('td', {}, full[k].rough && !EXACT.has(c[0]) ? '≈ ' : '', eng(m[c[0]], c[2](s.pane.data.unit, unit), 4))));
  });
  foot.replaceChildren(el('table', { 'aria-label': 'Measures between the cursors' }, caption, el('thead', {}, head), el('tbody', {}, ...body)));
}

// What does not depend on how many points there are.
const EXACT = new Set(['a', 'b', 'delta', 'slope', 'min', 'max', 'pp']);

// The measures of a curve: {m, rough}: of the signal where the server knows it, of the picture's points where there is none.
async function measured(cur, s, both) {
  const [a, b] = [cur[0], both ? cur[1] : cur[0]], ofPicture = () => ({ m: measure(s.x, s.y, a, b), rough: false });
  if (s.pane.spec.kind !== 'xy' || !s.raw || !s.trace || s.trace.o || SOURCE.alone) return ofPicture();
  try {
    const answer = ask('measure', { g: groupOf(s.trace.g).id, e: s.trace.e, m: s.member, x0: a, x1: both ? b : null, w: 200000, soon: 1 }, (p) => p.turn === tableTurn);
    answer.turn = tableTurn;
    const m = await answer;
    return { m: { ...m, delta: m.b - m.a, slope: (m.b - m.a) / (b - a), pp: m.max - m.min, frequency: 1 / m.period }, rough: both && m.part > m.points };
  } catch { return ofPicture(); }
}

// All values of a plot with one point: a table of devices for each kind of them, quantities as columns, then the rest.
async function opTable(pane) {
  const g = groupOf(pane.spec.traces[0].g), p = await ask('point', { g: g.id, m: pane.spec.member || 0 });
  const devices = new Map(), plainRows = [], kinds = new Map(), most = 3000, parts = [], unit = (k) => g.types[g.type[k]][1];
  g.names.forEach((name, k) => {
    const m = /^@(.*)\[(.*)\]$/.exec(name);
    if (!m) { plainRows.push(k); return; }
    if (!devices.has(m[1])) devices.set(m[1], new Map());
    devices.get(m[1]).set(m[2], eng(p.y[k], unit(k)));
  });
  for (const [name, values] of [...devices].slice(0, most)) { // devices of one kind have the same quantities
    const key = [...values.keys()].join(' ');
    if (!kinds.has(key)) kinds.set(key, []);
    kinds.get(key).push([name, values]);
  }
  const head = (...words) => el('thead', {}, el('tr', {}, ...words.map((w) => el('th', { scope: 'col' }, w)))), row = (cells) => el('tr', {}, ...cells.map((c) => el('td', {}, c)));
  for (const list of kinds.values())
    parts.push(el('table', { 'aria-label': 'Operating point by device' }, head('device', ...list[0][1].keys()), el('tbody', {}, ...list.map(([name, values]) => row([name, ...values.values()])))));
  parts.push(el('table', { 'aria-label': 'Operating point by node' }, head('node, branch', 'value'), el('tbody', {}, ...plainRows.slice(0, most).map((k) => row([g.names[k], eng(p.y[k], unit(k), 6)])))));
  if (plainRows.length > most || devices.size > most) parts.push(el('p', { class: 'facts' }, `the first ${most}; search the list at the left for others`));
  return parts;
}
