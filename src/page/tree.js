// tree.js - the list of signals: a tree by hierarchy, of which only the rows in sight exist; a flat list while one searches.

const ROW = 24;
const Tree = { root: null, rows: [], open: new Set(), at: 0, query: '', group: null, values: null, key: '' };

// "v(x1.x2.out)" stands in x1 / x2; "@m.x1.m1[gm]" under its device.
function placeOf(name) {
  const inside = /^@?[^(@]*\(([^)]*)\)$/.exec(name) || /^@(?:[a-z]\.)?([^[]*)\[/i.exec(name);
  const path = (inside ? inside[1] : name).split('.');
  if (name[0] === '@') return path;
  return path.slice(0, -1);
}

function buildTree(g) {
  const root = { name: '', path: '', kids: new Map(), leaves: [], n: 0 };
  g.names.forEach((name, k) => {
    if (name === g.axis && k === 0) return;
    let at = root;
    at.n++;
    for (const part of placeOf(name)) {
      let next = at.kids.get(part);
      if (!next) at.kids.set(part, next = { name: part, path: `${at.path}${part}.`, kids: new Map(), leaves: [], n: 0 });
      at = next;
      at.n++;
    }
    at.leaves.push(k);
  });
  return root;
}

// Only folders that are open; names in their natural order.
const natural = new Intl.Collator('en', { numeric: true }).compare;
function listRows() {
  const g = Tree.group, rows = [];
  if (!g) return rows;
  if (Tree.query) {
    const words = Tree.query.toLowerCase().split(/\s+/).filter(Boolean);
    g.names.forEach((name, k) => { const low = name.toLowerCase(); if (words.every((w) => low.includes(w))) rows.push({ leaf: k, depth: 0, name }); });
    return rows;
  }
  const walk = (node, depth) => {
    for (const k of node.leaves) rows.push({ leaf: k, depth, name: g.names[k] });
    for (const name of [...node.kids.keys()].sort(natural)) {
      const kid = node.kids.get(name), open = Tree.open.has(kid.path);
      rows.push({ node: kid, depth, name, open });
      if (open) walk(kid, depth + 1);
    }
  };
  walk(Tree.root, 0);
  return rows;
}

function showTree(g) {
  if (Tree.group !== g) { Tree.group = g; Tree.root = g ? buildTree(g) : null; Tree.at = 0; }
  Tree.rows = listRows();
  Tree.at = Math.max(0, Math.min(Tree.at, Tree.rows.length - 1));
  const n = g ? g.names.length - (g.axis === g.names[0] ? 1 : 0) : 0;
  Tree.count = Tree.query ? `${Tree.rows.length.toLocaleString('en')} of ${n.toLocaleString('en')} signals` : `${n.toLocaleString('en')} signal${n === 1 ? '' : 's'}`;
  showCount();
  paintTree();
  if (g) void annotate(g);
}

function showCount() { $('count').textContent = Tree.count + (Tree.values ? `, ${Tree.words}` : ''); }

// Values beside the names: at cursor A, or of the operating point, which may be another plot of the file.
async function annotate(g) {
  const at = g.members.length === 1 && g.axis && !SOURCE.alone ? cursorsOf(g.axis)[0] ?? null : null;
  const op = at !== null ? null : g.word === 'op' ? g : INDEX.groups.find((q) => q.file === g.file && q.word === 'op' && q.members.length === 1);
  const key = `${GENERATION} ${keyOf(g)} ${at} ${op ? keyOf(op) : ''}`;
  if (Tree.key === key) return;
  Tree.key = key;
  Tree.values = null;
  if (at !== null || op) {
    try {
      const { y } = await ask('point', at !== null ? { g: g.id, m: 0, x: at } : { g: op.id, m: 0 });
      if (Tree.key !== key) return;
      const place = op && op !== g ? new Map(op.names.map((n, k) => [n, k])) : null;
      Tree.values = place ? g.names.map((n) => y[place.get(n)]) : y;
      if (Tree.values.every((v) => v === undefined)) Tree.values = null; // other signals have a value there
      Tree.words = at !== null ? `at A = ${eng(at, axisUnitOf(g), 5)}` : 'at the operating point';
    } catch { return; }
  }
  showCount();
  paintTree();
}

const axisUnitOf = (g) => { const k = g.names.indexOf(g.axis); return k < 0 ? '' : g.types[g.type[k]][1]; };

function paintTree() {
  const box = $('tree'), g = Tree.group, inner = box.firstChild;
  inner.style.height = `${Tree.rows.length * ROW}px`;
  inner.style.position = 'relative';
  const from = Math.max(0, Math.floor(box.scrollTop / ROW) - 4), to = Math.min(Tree.rows.length, from + Math.ceil(box.clientHeight / ROW) + 10);
  const shown = new Set(g ? S.panes.flatMap((p) => p.traces.filter((t) => t.g === keyOf(g)).map((t) => t.e)) : []);
  const list = [];
  for (let k = from; k < to; k++) {
    const r = Tree.rows[k], known = Tree.values && r.leaf !== undefined ? Tree.values[r.leaf] : undefined;
    const value = known === undefined || Number.isNaN(known) ? '' : eng(known, g.types[g.type[r.leaf]][1]);
    const e = el('div', { class: `row${k === Tree.at ? ' at' : ''}${shown.has(r.name) && r.leaf !== undefined ? ' shown' : ''}`, role: 'treeitem', id: `row${k}`,
      'aria-level': r.depth + 1, 'aria-setsize': Tree.rows.length, 'aria-posinset': k + 1, 'aria-selected': String(k === Tree.at),
      'aria-expanded': r.node ? String(r.open) : null, title: r.name,
      onclick: (ev) => { Tree.at = k; useRow(ev.shiftKey); } },
    el('span', { class: 'fold', 'aria-hidden': 'true' }, r.node ? (r.open ? '▾' : '▸') : ''), el('span', { class: 'name' }, r.name),
    el('span', { class: 'much' }, r.node ? r.node.n.toLocaleString('en') : value));
    e.style.top = `${k * ROW}px`;
    e.style.paddingLeft = `${4 + 14 * r.depth}px`;
    list.push(e);
  }
  inner.replaceChildren(...list);
  box.setAttribute('aria-activedescendant', Tree.rows.length ? `row${Tree.at}` : '');
}

function useRow(fresh) {
  const r = Tree.rows[Tree.at];
  if (!r) return;
  if (r.node) {
    if (r.open) Tree.open.delete(r.node.path); else Tree.open.add(r.node.path);
    showTree(Tree.group);
  } else addTrace(Tree.group, Tree.group.names[r.leaf], fresh);
}

function moveRow(to) {
  const box = $('tree');
  Tree.at = Math.max(0, Math.min(to, Tree.rows.length - 1));
  const top = Tree.at * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  paintTree();
}

function treeKey(e) {
  const r = Tree.rows[Tree.at], page = Math.max(1, Math.floor($('tree').clientHeight / ROW) - 1);
  const how = { ArrowDown: () => moveRow(Tree.at + 1), ArrowUp: () => moveRow(Tree.at - 1), PageDown: () => moveRow(Tree.at + page), PageUp: () => moveRow(Tree.at - page),
    Home: () => moveRow(0), End: () => moveRow(Tree.rows.length - 1), Enter: () => useRow(e.shiftKey), ' ': () => useRow(e.shiftKey),
    ArrowRight: () => { if (r && r.node && !r.open) useRow(); else moveRow(Tree.at + 1); },
    ArrowLeft: () => {
      if (r && r.node && r.open) { useRow(); return; }
      for (let k = Tree.at - 1; k >= 0; k--) if (Tree.rows[k].depth < (r ? r.depth : 0)) { moveRow(k); return; }
    } }[e.key];
  if (!how || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  e.stopPropagation();
  how();
}
