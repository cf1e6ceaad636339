// The browser itself saves figures, tables and programs as files, without a server.

// save offers text as a file.
function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el('a', { href: address, download: fileName(name) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// fileName returns a name that every file system accepts.
function fileName(name) {
  return name.normalize('NFKD').replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[._]+/, '').slice(0, 100) || 'file';
}

// saveFigure has draw make a figure of the given size with a pen, and saves it as SVG on white paper.
function saveFigure(name, width, height, draw) {
  const pen = new SVGPen(width, height, '#ffffff');
  draw(pen, { ink: '#1d2127', soft: '#5b6570', line: '#d5dae0', paper: '#ffffff', accent: '#0072b2', bad: '#b3261e',
    edge: '#8b95a1' });
  save(name + '.svg', 'image/svg+xml', pen.text());
}

// saveTable saves a head and rows as CSV (RFC 4180).
function saveTable(name, head, rows) {
  save(name + '.csv', 'text/csv', [head, ...rows].map(row => row.map(csvField).join(',')).join('\r\n') + '\r\n');
}

// csvField quotes a field if necessary. A text that a spreadsheet would take for a formula gets an apostrophe before
// it.
function csvField(value) {
  let text = value === null || value === undefined ? '' : String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) {
    text = "'" + text;
  }
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}
