// Exploring the lineage: filters, zoom, pan, a hint for the candidate under the pointer, and the keyboard.

const LINEAGE_HEIGHT = 460;

function lineagePart(app) {
  const part = { name: 'Lineage', kind: 'score', arm: -1, operator: -1, island: -1, cell: -1, path: true, scene: null,
    frame: null, zoomed: false };
  part.canvas = el('canvas', { tabindex: 0, role: 'application', class: 'lineage',
    'aria-label': 'Lineage. Arrow keys walk from candidate to candidate, plus and minus zoom, 0 shows all.' });
  part.tip = el('div', { class: 'tip', role: 'status' });
  part.tip.hidden = true;
  const set = (name, parse) => v => { part[name] = parse(v); part.zoomed = false; rebuild(part, app); };
  part.choosers = { kind: chooser('show', set('kind', String)), arm: chooser('search', set('arm', Number)),
    operator: chooser('operator', set('operator', Number)), island: chooser('island', set('island', Number)),
    cell: chooser('cell', set('cell', Number)) };
  const path = el('input',
    { type: 'checkbox', checked: true, change: () => { part.path = path.checked; redraw(part, app); } });
  const tools = [...Object.values(part.choosers).map(c => c.node),
    el('label', { class: 'chooser' }, path, ' path to best'),
    button('\u2212', () => zoom(part, app, 1.5), { 'aria-label': 'Zoom out' }),
      button('+', () => zoom(part, app, 1 / 1.5), { 'aria-label': 'Zoom in' }),
    button('All', () => { part.zoomed = false; redraw(part, app); }), button('SVG', () => saveLineage(part, app)),
    button('CSV', () => saveChildren(app.run), { title: 'Save all candidates as CSV' })];
  part.count = el('p', { class: 'soft' });
  part.node = card('lineage', 'Lineage', tools, el('div', { class: 'plot' }, part.canvas, part.tip), part.count);
  part.update = run => {
    if (!run.children.arm.length) return false;
    // names differ between runs
    if (part.run !== run.id) Object.assign(part,
      { run: run.id, arm: -1, operator: -1, island: -1, cell: -1, zoomed: false });
    offer(part, run);
    rebuild(part, app);
    return true;
  };
  part.picked = () => redraw(part, app);
  part.resize = part.recolour = () => redraw(part, app);
  listen(part, app);
  return part;
}

// offer fills the filters with the run's names. Filters with one choice are hidden.
function offer(part, run) {
  const used = (column, name = label) => [...new Set(column)].filter(v => v >= 0).sort((a, b) => a - b)
    .map(v => [v, name(run, v)]);
  const places = column => used(column, bare).sort((a, b) => a[1].localeCompare(b[1], 'en', { numeric: true }));
  part.choosers.kind.set([['score', 'score by step'], ['tree', 'tree']], part.kind);
  const lists = { arm: run.arms.map((a, i) => [i, a.name]), operator: used(run.children.operator),
    island: places(run.children.island), cell: places(run.children.cell) };
  for (const [name, options] of Object.entries(lists)) {
    part.choosers[name].set([[-1, 'all'], ...options], part[name]);
    part.choosers[name].node.hidden = options.length < 2;
  }
}

function rebuild(part, app) {
  const c = app.run.children;
  const passes = (want, has) => want < 0 || want === has;
  const keep = row => row < 0 ? passes(part.arm, -1 - row) && part.operator < 0 && part.island < 0 && part.cell < 0
    : passes(part.arm, c.arm[row]) && passes(part.operator, c.operator[row]) && passes(part.island, c.island[row]) &&
      passes(part.cell, c.cell[row]);
  part.scene = makeScene(app.run, keep, part.kind);
  let invalid = 0, placed = 0;
  for (let i = 0; i < part.scene.n; i++) {
    invalid += part.scene.how[i] === STRIP;
    placed += part.scene.how[i] === PLACED;
  }
  refill(part.count, [invalid, placed],
    () => [plural(placed, 'valid candidate') + ', ' + grouped(invalid) + ' without a score. ' +
    'Scores far below the rest stand at the lower edge.']);
  redraw(part, app);
}

// redraw draws once in the next frame, however often it is called.
function redraw(part, app) {
  if (part.waiting || !part.scene) return;
  part.waiting = requestAnimationFrame(() => {
    part.waiting = 0;
    const width = part.canvas.parentNode.clientWidth;
    if (!width) return;
    const begun = performance.now();
    if (!part.zoomed) part.frame = wholeFrame(part.scene, width, LINEAGE_HEIGHT);
    Object.assign(part.frame, { right: width - 8 });
    drawLineage(canvasPen(part.canvas, width, LINEAGE_HEIGHT), theme(), part.scene, part.frame, marksOf(part, app));
    performance.measure('redraw', { start: begun, end: performance.now() });
  });
}

function wholeFrame(scene, width, height) {
  const room = (scene.high - scene.low) * 0.04;
  return { x0: -0.5, x1: scene.wide + 0.7, y0: scene.low - room, y1: scene.high + room, left: 64, top: 12,
    right: width - 8, bottom: height - STRIP_HEIGHT - 44 };
}

// marksOf returns the nodes of the best line and of the selected candidate's, the youngest first, and which nodes the
// best and the selected one are.
function marksOf(part, app) {
  const { run } = app;
  const n = part.scene.n;
  const shown = nodes => nodes.filter(i => part.scene.how[i] === PLACED);
  const line = row => row < 0 || row >= n ? [] : shown([...ancestry(run, row), n + run.children.arm[row]]);
  const node = row => row >= 0 && part.scene.how[row] ? row : -1;
  const top = part.path && run.best.length ? run.best[0] : -1;
  return { best: line(top), chosen: line(app.selected), champion: node(top), node: node(app.selected) };
}

// zoom scales the frame about a place on the canvas, or about its middle.
function zoom(part, app, factor, at) {
  const f = part.frame;
  if (!f) return;
  const px = at ? (at.x - f.left) / (f.right - f.left) : 0.5, py = at ? (f.bottom - at.y) / (f.bottom - f.top) : 0.5;
  const cx = f.x0 + px * (f.x1 - f.x0), cy = f.y0 + py * (f.y1 - f.y0);
  if (factor < 1 && f.x1 - f.x0 < 0.05) return;
  if (factor > 1 && f.x1 - f.x0 > 4 * part.scene.wide) return;
  Object.assign(f, { x0: cx + (f.x0 - cx) * factor, x1: cx + (f.x1 - cx) * factor, y0: cy + (f.y0 - cy) * factor,
    y1: cy + (f.y1 - cy) * factor });
  part.zoomed = true;
  redraw(part, app);
}

function pan(part, app, dx, dy) {
  const f = part.frame;
  const ux = dx / (f.right - f.left) * (f.x1 - f.x0), uy = dy / (f.bottom - f.top) * (f.y1 - f.y0);
  Object.assign(f, { x0: f.x0 - ux, x1: f.x1 - ux, y0: f.y0 + uy, y1: f.y1 + uy });
  part.zoomed = true;
  redraw(part, app);
}

// nearest returns the node within reach of a place on the canvas, and -1 if none is.
function nearest(part, at) {
  const seen = place(part.scene, part.frame, { top: part.frame.bottom + 6, height: STRIP_HEIGHT });
  let found = -1, least = 100;
  for (let i = 0; i < part.scene.size; i++) {
    if (!part.scene.how[i]) continue;
    const d = (seen.x[i] - at.x) ** 2 + (seen.y[i] - at.y) ** 2;
    if (d < least) [found, least] = [i, d];
  }
  return found;
}

function listen(part, app) {
  const canvas = part.canvas;
  let from = null, moved = false;
  const at = e => ({ x: e.offsetX, y: e.offsetY });
  canvas.addEventListener('wheel', e => {
    // until the figure has the focus, the page scrolls
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(part, app, Math.exp(e.deltaY / 400), at(e));
  }, { passive: false });
  canvas.addEventListener('pointerdown', e => { from = at(e); moved = false; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointermove', e => {
    const to = at(e);
    if (!from) return hint(part, app, nearest(part, to), to);
    if (!moved && Math.hypot(to.x - from.x, to.y - from.y) < 4) return;
    moved = true;
    part.tip.hidden = true;
    pan(part, app, to.x - from.x, to.y - from.y);
    from = to;
  });
  canvas.addEventListener('pointerup', e => {
    const node = moved || !from ? -1 : nearest(part, at(e));
    from = null;
    if (node >= 0 && node < part.scene.n) app.select(node);
  });
  canvas.addEventListener('pointerleave', () => { part.tip.hidden = true; });
  canvas.addEventListener('keydown', e => lineageKey(part, app, e));
}

// hint shows a description beside a node.
function hint(part, app, node, at) {
  part.tip.hidden = node < 0;
  if (node < 0) return;
  const { run } = app;
  const c = run.children;
  const initial = node >= part.scene.n;
  const text = initial ? [armName(run, node - part.scene.n) + ' \u00b7 initial program',
    score(run.arms[node - part.scene.n].start)]
    : [childName(run, node), isValid(run, node) ? score(c.score[node]) : CHILD_STATES[c.state[node]] + ': ' +
      oneLine(c.reason[node] || '', 120), label(run, c.operator[node], '')];
  refill(part.tip, text, () => text.filter(Boolean).map(t => el('div', {}, t)));
  part.tip.style.left = Math.min(Math.max(at.x + 12, 0), Math.max(part.canvas.clientWidth - 230, 0)) + 'px';
  part.tip.style.top = at.y + 14 + 'px';
}

// lineageKey walks: left to the parent, right to the best child, up and down in the generation by score.
function lineageKey(part, app, e) {
  const moves = { ArrowLeft: toParent, ArrowRight: toChild, ArrowUp: beside(1), ArrowDown: beside(-1) };
  if (e.key === '+' || e.key === '=') zoom(part, app, 1 / 1.5);
  else if (e.key === '-') zoom(part, app, 1.5);
  else if (e.key === '0') { part.zoomed = false; redraw(part, app); }
  else if (e.key === 'Escape') part.canvas.blur();
  else if (moves[e.key]) {
    const row = app.selected >= 0 ? moves[e.key](app.run, app.selected) : app.run.best[0];
    if (row !== undefined && row >= 0) app.select(row);
  } else return;
  e.preventDefault();
}

function toParent(run, row) {
  return (run.children.kin[row] || [])[0];
}

function toChild(run, row) {
  let best = -1;
  run.children.kin.forEach((parents, child) => {
    if (parents && parents.includes(row) && isValid(run, child) &&
      (best < 0 || run.children.score[child] > run.children.score[best])) best = child;
  });
  return best;
}

function beside(sign) {
  return (run, row) => {
    const c = run.children;
    const peers = c.arm.map((_, i) => i).filter(i => c.arm[i] === c.arm[row] && c.step[i] === c.step[row] &&
      isValid(run, i));
    peers.sort((a, b) => c.score[a] - c.score[b] || a - b);
    return peers[peers.indexOf(row) + sign];
  };
}

function saveLineage(part, app) {
  const frame = Object.assign({}, part.frame, { right: 1092, bottom: 600 - STRIP_HEIGHT - 44 });
  saveFigure(app.run.name + '_lineage', 1100, 600,
    (pen, look) => drawLineage(pen, look, part.scene, frame, marksOf(part, app)));
}

function saveChildren(run) {
  const c = run.children;
  saveTable(run.name + '_candidates',
    ['search', 'round', 'step', 'index', 'id', 'parents', 'state', 'score', 'operator', 'model', 'cell', 'island',
    'program', 'reason', 'calls_by_then', 'tokens_by_then', 'flops_by_then', 'money_by_then', 'time_ms'],
    c.arm.map((a, i) => [armName(run, a), c.pull[i] + 1, c.step[i], c.index[i], c.born[i],
      (c.parents[i] || []).join(' '), CHILD_STATES[c.state[i]], c.score[i], label(run, c.operator[i], ''),
      label(run, c.model[i], ''), bare(run, c.cell[i]), bare(run, c.island[i]), c.program[i], c.reason[i], c.calls[i],
        c.tokens[i], c.flops[i], c.money[i], c.time[i]]));
}
