// state.js - what is shown, kept in the address: panes with traces, ranges of axes, cursors; undo and redo.
// S = {panes: [{kind, traces: [{g, e, o}], ylog, y, ...}], x: {axis: [lo, hi]}, xlog: {axis: bool}, cur: {axis: [A, B]}, pane, group, theme}
// A plot is named by its file's place and its words: "0:Transient Analysis".

let S = { panes: [], x: {}, xlog: {}, cur: {}, pane: 0, group: null };
let INDEX = { files: [], groups: [] };
let SOURCE = null;
let GENERATION = 0;
const past = [], future = [];

const keyOf = (g) => `${g.file}:${g.what}`;
const groupOf = (key) => INDEX.groups.find((g) => keyOf(g) === key);
const viewOf = (axis) => S.x[axis] || null;
const cursorsOf = (axis) => S.cur[axis] || [null, null];

// Answers that are there are given again, [key] = promise, as long as all together have few numbers: the oldest go first.
const answers = new Map();
const MOST_NUMBERS = 1 << 20;
const numbersIn = (a) => (a.members ? a.members.reduce((n, m) => n + (m.im ? 3 : 2) * m.x.length, 0) : a.y ? 2 * a.y.length : 0);
// Of a question that takes several answers, promise.first is the first one, promise.part how far it is; wanted(promise) says
// whether somebody still waits for the last one.
function ask(what, q, wanted) {
  const key = `${what} ${JSON.stringify(q)}`;
  if (!answers.has(key)) {
    if (answers.size > 200) answers.delete(answers.keys().next().value);
    let early = null;
    const first = new Promise((done) => { early = done; });
    const p = SOURCE[what](q, (a) => {
      p.part = a.done;
      early(a);
      return new Promise((done) => setTimeout(() => done(wanted(p)))); // those who waited for the first one come first
    });
    p.first = first;
    answers.set(key, p);
    p.then((a) => { p.size = numbersIn(a); dropOld(key); }, () => answers.delete(key));
  }
  return answers.get(key);
}
function dropOld(last) {
  let all = 0;
  for (const p of answers.values()) all += p.size || 0;
  for (const [key, p] of answers) {
    if (all <= MOST_NUMBERS) return;
    if (key === last) continue;
    all -= p.size || 0;
    answers.delete(key);
  }
}

const textOfState = () => JSON.stringify(S);

function writeAddress() {
  const t = `#${encodeURIComponent(textOfState())}`;
  if (location.hash !== t) history.replaceState(null, '', t);
}

function readAddress() {
  try {
    const s = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const good = s && Array.isArray(s.panes) && s.panes.every((p) => KINDS[p.kind] && Array.isArray(p.traces) && p.traces.every((t) => typeof t.g === 'string' && typeof t.e === 'string'));
    return good ? { x: {}, xlog: {}, cur: {}, pane: 0, group: null, ...s } : null;
  } catch { return null; }
}

// change(() => { S.... }): one step that can be taken back.
function change(how) {
  past.push(textOfState());
  if (past.length > 200) past.shift();
  future.length = 0;
  how();
  S.pane = Math.max(0, Math.min(S.pane, S.panes.length - 1));
  refresh();
}
function stepBack(from, to) {
  if (!from.length) return;
  to.push(textOfState());
  S = JSON.parse(from.pop());
  refresh();
}
const undo = () => stepBack(past, future);
const redo = () => stepBack(future, past);

// -- traces --

const activePane = () => S.panes[S.pane];

function unitOf(t) {
  const g = groupOf(t.g), k = g ? g.names.indexOf(t.e) : -1;
  return k < 0 ? null : g.types[g.type[k]][1];
}

// A signal goes to the active pane if axis and unit fit there, else to one that fits, else to a new one.
function addTrace(g, e, fresh) {
  const t = { g: keyOf(g), e }, kind = g.word === 'op' ? 'op' : g.word === 'pz' ? 'pz' : 'xy';
  const k = g.names.indexOf(e), complex = k >= 0 && g.complex[k];
  change(() => {
    S.group = keyOf(g);
    const fits = (p) => p.kind === kind && p.traces.length && groupOf(p.traces[0].g)?.axis === g.axis && unitOf(p.traces[0]) === unitOf(t);
    let at = -1;
    const now = activePane();
    if (!fresh && now && (!now.traces.length || fits(now) || !['xy', 'op', 'pz'].includes(now.kind))) at = S.pane;
    else if (!fresh) at = S.panes.findIndex(fits);
    const bode = !fresh && now && (now.kind === 'db' || now.kind === 'ph');
    if (bode) for (const p of S.panes) { if ((p.kind === 'db' || p.kind === 'ph') && !p.traces.some((q) => q.e === e && q.g === t.g)) p.traces.push(t); }
    else if (at >= 0) {
      const p = S.panes[at], there = p.traces.findIndex((q) => q.e === e && q.g === t.g);
      if (!p.traces.length && p.kind === 'xy') p.kind = kind;
      if (there < 0) p.traces.push(t); else p.traces.splice(there, 1);
      if (!p.traces.length && S.panes.length > 1) S.panes.splice(at, 1);
      S.pane = at;
    } else if (!fresh && g.word === 'ac' && complex && !S.panes.length) {
      S.panes.push({ kind: 'db', traces: [t] }, { kind: 'ph', traces: [{ ...t }] });
    } else {
      S.panes.push({ kind, traces: [t] });
      S.pane = S.panes.length - 1;
    }
  });
}

function setKind(kind) {
  change(() => {
    let p = activePane();
    if (!p) { S.panes.push(p = { kind: 'xy', traces: [] }); S.pane = 0; }
    const traces = p.traces.length ? p.traces : S.group ? firstTraces(groupOf(S.group), kind) : [];
    const i = S.panes.indexOf(p), wasBode = p.kind === 'db' && S.panes[i + 1]?.kind === 'ph';
    if (kind === 'bode') S.panes.splice(i, wasBode ? 2 : 1, { kind: 'db', traces }, { kind: 'ph', traces: traces.map((t) => ({ ...t })) });
    else S.panes.splice(i, wasBode && kind !== 'db' ? 2 : 1, { kind, traces });
    S.pane = i;
  });
}

// What a plot shows when nothing was chosen: an output before others, supplies last.
function firstTraces(g, kind) {
  if (!g) return [];
  const t = (e) => ({ g: keyOf(g), e }), names = g.names.filter((n) => n !== g.axis);
  if (g.word === 'noise') return names.filter((n) => /^[io]noise_(spectrum|total)$/.test(n)).slice(0, 1).map(t);
  if (g.word === 'sp') return names.filter((n) => /^S_(\d+)_\1$/i.test(n)).slice(0, 4).map(t);
  if (g.word === 'op' || g.word === 'pz' || kind === 'op') return names.slice(0, 1).map(t);
  const volts = names.filter((n) => /^v\(/i.test(n)), all = volts.length ? volts : names;
  const first = all.filter((n) => /\bv?out\w*\)$/i.test(n)), last = all.filter((n) => /\((vdd|vcc|vss|vee|gnd)\w*\)$/i.test(n));
  return [...first, ...all.filter((n) => !first.includes(n) && !last.includes(n)), ...last].slice(0, 2).map(t);
}
