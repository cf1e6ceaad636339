// A figure is drawn with a pen: on a canvas, or into an SVG for a file. Both have line, box, dot and word.

// FONT is the font of words in figures.
const FONT = 'system-ui, sans-serif';

// canvasPen clears a canvas, sized in CSS pixels, and returns its pen.
function canvasPen(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  canvas.style.height = height + 'px';
  const ctx = canvas.getContext('2d');
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return new CanvasPen(ctx, width, height);
}

class CanvasPen {
  constructor(ctx, width, height) {
    Object.assign(this, { ctx, width, height });
  }

  // lines draws many lines of one look: each a list of x, y, x, y.
  lines(list, colour, width, opacity = 1, dash = []) {
    const ctx = this.ctx;
    ctx.beginPath();
    for (const points of list) {
      ctx.moveTo(points[0], points[1]);
      for (let i = 2; i < points.length; i += 2) ctx.lineTo(points[i], points[i + 1]);
    }
    ctx.globalAlpha = opacity;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.lineJoin = 'round';
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  box(x, y, width, height, colour, opacity = 1) {
    this.ctx.globalAlpha = opacity;
    this.ctx.fillStyle = colour;
    this.ctx.fillRect(x, y, width, height);
    this.ctx.globalAlpha = 1;
  }

  // dots draws many discs of one look: x, y, x, y. Many small ones are drawn as squares, which is quicker.
  dots(places, radius, colour, opacity = 1) {
    const ctx = this.ctx;
    ctx.globalAlpha = opacity;
    ctx.fillStyle = colour;
    if (radius < 2) {
      for (let i = 0; i < places.length; i += 2) ctx.fillRect(places[i] - radius, places[i + 1] - radius, 2 * radius,
        2 * radius);
    } else {
      ctx.beginPath();
      for (let i = 0; i < places.length; i += 2) {
        ctx.moveTo(places[i] + radius, places[i + 1]);
        ctx.arc(places[i], places[i + 1], radius, 0, 7);
      }
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  ring(x, y, radius, colour, width) {
    const ctx = this.ctx;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 7);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.stroke();
  }

  // word writes text; anchor is start, middle or end.
  word(x, y, text, colour, anchor = 'start', size = 12) {
    const ctx = this.ctx;
    ctx.font = size + 'px ' + FONT;
    ctx.fillStyle = colour;
    ctx.textAlign = anchor === 'middle' ? 'center' : anchor;
    ctx.textBaseline = 'alphabetic';
    ctx.fillText(oneLine(text, 80), x, y);
  }

  // inside has draw use the pen where nothing is painted outside a box.
  inside(x, y, width, height, draw) {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(x, y, width, height);
    this.ctx.clip();
    draw();
    this.ctx.restore();
  }
}

// SVGPen draws into the text of an SVG.
class SVGPen {
  constructor(width, height, paper) {
    Object.assign(this, { width, height, parts: [], clips: 0 });
    this.box(0, 0, width, height, paper);
  }

  add(tag, attributes, text) {
    const written = Object.entries(attributes).map(([k, v]) => ' ' + k + '="' + escaped(v) + '"').join('');
    this.parts.push('<' + tag + written + (text === undefined ? '/>' : '>' + escaped(text) + '</' + tag + '>'));
  }

  lines(list, colour, width, opacity = 1, dash = []) {
    const path = list.map(points => {
      let d = 'M' + short(points[0]) + ' ' + short(points[1]);
      for (let i = 2; i < points.length; i += 2) d += 'L' + short(points[i]) + ' ' + short(points[i + 1]);
      return d;
    }).join('');
    if (path) {
      this.add('path', { d: path, fill: 'none', stroke: colour, 'stroke-width': width, 'stroke-opacity': opacity,
        'stroke-dasharray': dash.length ? dash.join(' ') : 'none', 'stroke-linejoin': 'round' });
    }
  }

  box(x, y, width, height, colour, opacity = 1) {
    this.add('rect',
      { x: short(x), y: short(y), width: short(width), height: short(height), fill: colour, 'fill-opacity': opacity });
  }

  dots(places, radius, colour, opacity = 1) {
    for (let i = 0; i < places.length; i += 2) {
      this.add('circle',
        { cx: short(places[i]), cy: short(places[i + 1]), r: radius, fill: colour, 'fill-opacity': opacity });
    }
  }

  ring(x, y, radius, colour, width) {
    this.add('circle', { cx: short(x), cy: short(y), r: radius, fill: 'none', stroke: colour, 'stroke-width': width });
  }

  word(x, y, text, colour, anchor = 'start', size = 12) {
    this.add('text', { x: short(x), y: short(y), fill: colour, 'text-anchor': anchor, 'font-size': size,
      'font-family': FONT }, oneLine(text, 80));
  }

  inside(x, y, width, height, draw) {
    const id = 'clip' + this.clips++;
    this.parts.push('<clipPath id="' + id + '"><rect x="' + x + '" y="' + y + '" width="' + width + '" height="' +
      height + '"/></clipPath>' +
      '<g clip-path="url(#' + id + ')">');
    draw();
    this.parts.push('</g>');
  }

  text() {
    return '<svg xmlns="http://www.w3.org/2000/svg" width="' + this.width + '" height="' + this.height +
      '" viewBox="0 0 ' +
      this.width + ' ' + this.height + '">\n' + this.parts.join('\n') + '\n</svg>\n';
  }
}

// escaped returns text in a form that is safe in an attribute or between tags.
function escaped(text) {
  return String(text).replace(/[&<>"']/g, c => '&#' + c.charCodeAt(0) + ';');
}

// short returns a coordinate to a tenth of a pixel.
function short(x) {
  return Math.round(x * 10) / 10;
}

// ticks returns round numbers from low to high, about count of them.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9 && found.length < 50; i++) {
    found.push(+(i * step).toPrecision(12));
  }
  return found;
}
