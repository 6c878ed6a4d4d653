// words.js - numbers with units, colours, elements of the page.

const PREFIX = { '-18': 'a', '-15': 'f', '-12': 'p', '-9': 'n', '-6': 'µ', '-3': 'm', 0: '', 3: 'k', 6: 'M', 9: 'G', 12: 'T', 15: 'P' };
// Units that take no prefix.
const BARE = new Set(['', '°C', 'dB', '°', 'rad', '%']);

// The power of ten, a multiple of 3, in which x is shown.
function exponentOf(x, unit) {
  if (!(Math.abs(x) > 0) || !isFinite(x) || BARE.has(unit)) return 0;
  return Math.max(-18, Math.min(15, 3 * Math.floor(Math.log10(Math.abs(x) * (1 + 1e-12)) / 3)));
}

function plain(x, digits) {
  let t = Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-4) ? x.toExponential(digits - 1) : x.toPrecision(digits);
  if (t.includes('e+') && Math.abs(x) < 1e6) t = String(Number(t)); // 1.00e+3
  if (t.includes('.') && !t.includes('e')) t = t.replace(/\.?0+$/, '');
  return t.replace('-', '−');
}

// "1.23 ns"; digits: significant ones.
function eng(x, unit = '', digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (!isFinite(x)) return (x > 0 ? '∞ ' : '−∞ ') + unit;
  const far = unit === '' && x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5);
  let e = exponentOf(x, far ? ' ' : unit);
  if (Math.abs(Number((x / 10 ** e).toPrecision(digits))) >= 1000 && e < 15 && !BARE.has(unit)) e += 3;
  const t = plain(x / 10 ** e, digits);
  return unit || e ? `${t} ${e && unit === '' ? (PREFIX[e] || '') : (PREFIX[e] || '') + unit}`.trim() : t;
}

// "2.5u" or "1e-9": the number a user writes, NaN if it is none.
function readNumber(text) {
  const m = /^\s*([-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(meg|[TGMkmuµnpfa])?/i.exec(text);
  if (!m) return NaN;
  const factor = { t: 1e12, g: 1e9, k: 1e3, u: 1e-6, 'µ': 1e-6, n: 1e-9, p: 1e-12, f: 1e-15, a: 1e-18, meg: 1e6 };
  const s = m[2] || '';
  return Number(m[1].replace('−', '-')) * (s === 'M' ? 1e6 : s === 'm' ? 1e-3 : factor[s.toLowerCase()] || 1);
}

const INK = {
  light: ['#1f6fd6', '#d1451f', '#17874a', '#8a3fc4', '#b07d00', '#0c8593', '#c0337a', '#5a6472'],
  dark: ['#6aa8ff', '#ff8a5c', '#4fd18b', '#c493ff', '#f0c34a', '#4fd0dd', '#ff86bd', '#b4bdc9'],
};

// The k-th curve; of a family the place from 0 to 1: blue over grey to red.
function colourOf(k, shade) {
  const dark = theme() === 'dark';
  if (shade === null || shade === undefined) return INK[theme()][k % INK.light.length];
  const stops = dark ? [[106, 168, 255], [190, 190, 200], [255, 120, 90]] : [[31, 99, 214], [140, 140, 150], [209, 50, 31]];
  const at = shade * 2, i = Math.min(1, Math.floor(at)), f = at - i;
  return `rgb(${stops[i].map((c, j) => Math.round(c + (stops[i + 1][j] - c) * f)).join(',')})`;
}

function theme() { return document.documentElement.dataset.theme; }
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(); }

// Names of hierarchies are long: their ends tell most.
function shorten(name, most = 40) {
  const n = Math.floor((most - 1) / 2);
  return name.length > most ? `${name.slice(0, n)}…${name.slice(-n)}` : name;
}

// el('button', {title: 'x', onclick: f}, 'text', child)
function el(tag, attrs = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith('on')) e[k] = v;
    else if (k === 'class') e.className = v;
    else if (k === 'value') e.value = v;
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}
