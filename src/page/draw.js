// draw.js - two surfaces with the same calls: a canvas, and SVG text for files.
// line([x0, y0, x1, y1, ...], {colour, width, dash, alpha}), area(points, {colour, alpha}), box, dot, text, clip, unclip.

class CanvasSurface {
  constructor(canvas, width, height, ratio) {
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    this.g = canvas.getContext('2d');
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.clearRect(0, 0, width, height);
    this.width = width; this.height = height;
  }
  path(p) {
    const g = this.g;
    g.beginPath();
    let pen = false;
    for (let k = 0; k < p.length; k += 2) {
      if (Number.isNaN(p[k + 1])) { pen = false; continue; }
      if (pen) g.lineTo(p[k], p[k + 1]); else g.moveTo(p[k], p[k + 1]);
      pen = true;
    }
  }
  line(p, o) {
    const g = this.g;
    g.strokeStyle = o.colour; g.lineWidth = o.width || 1; g.globalAlpha = o.alpha ?? 1; g.lineJoin = 'round';
    g.setLineDash(o.dash || []);
    this.path(p);
    g.stroke();
    g.globalAlpha = 1;
    g.setLineDash([]);
  }
  area(p, o) {
    const g = this.g;
    g.fillStyle = o.colour; g.globalAlpha = o.alpha ?? 1;
    this.path(p);
    g.closePath();
    g.fill();
    g.globalAlpha = 1;
  }
  box(x, y, w, h, o) { this.g.fillStyle = o.colour; this.g.globalAlpha = o.alpha ?? 1; this.g.fillRect(x, y, w, h); this.g.globalAlpha = 1; }
  dot(x, y, r, o) {
    const g = this.g;
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.globalAlpha = o.alpha ?? 1;
    if (o.open) { g.strokeStyle = o.colour; g.lineWidth = o.width || 1.5; g.stroke(); } else { g.fillStyle = o.colour; g.fill(); }
    g.globalAlpha = 1;
  }
  text(x, y, words, o = {}) {
    const g = this.g;
    g.save();
    g.fillStyle = o.colour; g.font = `${o.bold ? '600 ' : ''}${o.size || 11.5}px system-ui, "DejaVu Sans", sans-serif`;
    g.textAlign = o.align || 'left'; g.textBaseline = 'middle';
    g.translate(x, y);
    if (o.turn) g.rotate(-Math.PI / 2);
    if (o.back) { const w = g.measureText(words).width; g.fillStyle = o.back; g.globalAlpha = 0.85; const l = o.align === 'center' ? -w / 2 : o.align === 'right' ? -w : 0; g.fillRect(l - 3, -8, w + 6, 16); g.globalAlpha = 1; g.fillStyle = o.colour; }
    g.fillText(words, 0, 0.5);
    g.restore();
  }
  clip(x, y, w, h) { this.g.save(); this.g.beginPath(); this.g.rect(x, y, w, h); this.g.clip(); }
  unclip() { this.g.restore(); }
}

class SvgSurface {
  constructor(width, height) { this.width = width; this.height = height; this.out = []; this.n = 0; }
  static escape(t) { return String(t).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]).replace(/[\x00-\x08\x0b-\x1f]/g, '?'); }
  put(t) { this.out.push(t); }
  path(p, closed) {
    let d = '', pen = false;
    for (let k = 0; k < p.length; k += 2) {
      if (Number.isNaN(p[k + 1])) { pen = false; continue; }
      d += `${pen ? 'L' : 'M'}${p[k].toFixed(2)} ${p[k + 1].toFixed(2)}`;
      pen = true;
    }
    return closed ? d + 'Z' : d;
  }
  line(p, o) {
    this.put(`<path fill="none" stroke="${o.colour}" stroke-width="${o.width || 1}" stroke-linejoin="round"${o.alpha ? ` stroke-opacity="${o.alpha}"` : ''}${o.dash && o.dash.length ? ` stroke-dasharray="${o.dash.join(' ')}"` : ''} d="${this.path(p)}"/>`);
  }
  area(p, o) { this.put(`<path fill="${o.colour}" fill-opacity="${o.alpha ?? 1}" d="${this.path(p, true)}"/>`); }
  box(x, y, w, h, o) { this.put(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${Math.max(0, w).toFixed(2)}" height="${Math.max(0, h).toFixed(2)}" fill="${o.colour}" fill-opacity="${o.alpha ?? 1}"/>`); }
  dot(x, y, r, o) { this.put(`<circle cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="${r}" ${o.open ? `fill="none" stroke="${o.colour}" stroke-width="${o.width || 1.5}"` : `fill="${o.colour}"`} opacity="${o.alpha ?? 1}"/>`); }
  text(x, y, words, o = {}) {
    const anchor = { center: 'middle', right: 'end' }[o.align] || 'start';
    this.put(`<text transform="translate(${x.toFixed(2)} ${y.toFixed(2)})${o.turn ? ' rotate(-90)' : ''}" dy="0.35em" text-anchor="${anchor}" font-size="${o.size || 11.5}"${o.bold ? ' font-weight="600"' : ''} fill="${o.colour}">${SvgSurface.escape(words)}<${'/'}text>`);
  }
  clip(x, y, w, h) {
    const id = `c${this.n++}`;
    this.put(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/><${'/'}clipPath><g clip-path="url(#${id})">`);
  }
  unclip() { this.put('<' + '/g>'); }
  get markup() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, 'DejaVu Sans', sans-serif">${this.out.join('\n')}\n<${'/'}svg>\n`;
  }
}
