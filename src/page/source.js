// source.js - where curves come from: the server of `vsim view`, or the data in a page that stands alone.
// A curve: {unit, axis, axisUnit, complex, members: [{member, label, all, x, y, im}]}, x, y and im Float64Array.

class Wrong extends Error { // what vsim says about an expression
  constructor(a) { super(a.error); this.from = a.from; this.length = a.length; this.note = a.note; }
}

// An answer of numbers behind a head of JSON (src/view/view.h).
function unpack(buffer) {
  const n = new DataView(buffer).getUint32(0, true);
  return { head: JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, n))), at: n + 4 };
}

class ServerSource {
  constructor() { this.alone = false; }
  async ask(path, query) {
    const q = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== null && v !== undefined && !Number.isNaN(v)));
    const r = await fetch(`${path}?${q}`);
    if (r.status === 400 && (r.headers.get('content-type') || '').includes('json')) throw new Wrong(await r.json());
    if (!r.ok) throw new Error(`the server answers ${r.status}`);
    return r;
  }
  async index() { return (await this.ask('index', {})).json(); }
  // With q.soon an answer may be a first one, {done < 1, ...}: more(answer) hears of it and says whether to ask for the rest.
  async curve(q, more) {
    for (;;) {
      const { buffer, head, at } = await this.numbers('curve', q);
      let from = at;
      const take = (n) => { const a = new Float64Array(buffer, from, n); from += 8 * n; return a; };
      for (const m of head.members) {
        m.x = take(m.n);
        m.y = take(m.n);
        m.im = head.complex ? take(m.n) : null;
      }
      if (head.done === undefined) return head;
      if (!await more(head)) throw new Error('nobody waits for it');
    }
  }
  // {part, points, a, b, min, ...} of what stands between x0 and x1; NaN: there is none.
  async measure(q, more) {
    let m = await (await this.ask('measure', q)).json();
    while (m.done !== undefined) {
      if (!await more(m)) throw new Error('nobody waits for it');
      m = await (await this.ask('measure', q)).json();
    }
    for (const k of Object.keys(m)) m[k] = m[k] ?? NaN;
    return m;
  }
  spectrum(q) { return this.curveOf('spectrum', q); }
  eye(q) { return this.curveOf('eye', q); }
  async curveOf(path, q) {
    const { buffer, head, at } = await this.numbers(path, q);
    head.x = new Float64Array(buffer, at, head.n);
    head.y = new Float64Array(buffer, at + 8 * head.n, head.n);
    return head;
  }
  async point(q) {
    const { buffer, head, at } = await this.numbers('point', q);
    return { ...head, y: new Float64Array(buffer, at, head.n) };
  }
  async numbers(path, q) {
    const buffer = await (await this.ask(path, q)).arrayBuffer();
    return { buffer, ...unpack(buffer) };
  }
  // hear(message) again and again; lost() when the server is gone.
  listen(hear, lost) {
    const e = new EventSource('events');
    e.onmessage = (m) => hear(JSON.parse(m.data));
    e.onerror = () => { if (e.readyState === EventSource.CLOSED) lost(); else setTimeout(() => e.readyState !== EventSource.OPEN && lost(), 3000); };
  }
  async stop() { await fetch('stop', { method: 'POST' }); }
}

class DataSource {
  constructor(data) {
    this.alone = true;
    this.data = data;
    const numbers = (t) => new Float64Array(Uint8Array.from(atob(t), (c) => c.charCodeAt(0)).buffer);
    for (const c of data.curves)
      for (const m of c.members) {
        m.x = numbers(m.x);
        m.y = numbers(m.y);
        m.im = m.im ? numbers(m.im) : null;
      }
  }
  async index() { return this.data.index; }
  async curve(q) {
    const c = this.data.curves.find((k) => k.group === q.g && k.expr === q.e);
    if (!c) throw new Wrong({ error: 'this page has the curves that it was made with; expressions need `vsim view`', from: 0, length: 0 });
    return { ...c, members: c.members.filter((m) => q.m === null || q.m === undefined || q.m < 0 || m.member === q.m) };
  }
  async spectrum() { throw new Wrong({ error: 'spectra need `vsim view`', from: 0, length: 0 }); }
  async eye() { throw new Wrong({ error: 'eye diagrams need `vsim view`', from: 0, length: 0 }); }
  async point(q) {
    const of = this.data.index.groups[q.g];
    const y = of.names.map((name) => { const c = this.data.curves.find((k) => k.expr === name); return c ? c.members[0].y[0] : NaN; });
    return { n: y.length, y };
  }
  listen() {}
}
