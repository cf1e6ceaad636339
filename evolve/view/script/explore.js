// The lineage of a run: the figure, what it shows, a hint for the candidate under the pointer, and a click that selects.

const LINEAGE_HEIGHT = 460;

function lineagePart(app) {
  const part = { name: 'Lineage', kind: 'score', arm: -1, scene: null, frame: null };
  part.canvas = el('canvas', { class: 'lineage', role: 'img', 'aria-label': 'Lineage' });
  part.tip = el('div', { class: 'tip', role: 'status' });
  part.tip.hidden = true;
  part.kinds = chooser('show', kind => { part.kind = kind; rebuild(part, app); });
  part.arms = chooser('search', arm => { part.arm = Number(arm); rebuild(part, app); });
  const tools = [part.kinds.node, part.arms.node, button('SVG', () => saveLineage(part, app)),
    button('CSV', () => saveChildren(app.run), { title: 'Save all candidates as CSV' })];
  part.count = el('p', { class: 'soft' });
  part.node = card('lineage', 'Lineage', tools, el('div', { class: 'plot' }, part.canvas, part.tip), part.count);
  part.update = run => {
    if (!run.children.arm.length) return false;
    if (part.run !== run.id) Object.assign(part, { run: run.id, arm: -1 }); // runs have other searches
    part.kinds.set([['score', 'score by step'], ['tree', 'tree']], part.kind);
    part.arms.set([[-1, 'all'], ...run.arms.map((a, i) => [i, a.name])], part.arm);
    part.arms.node.hidden = run.arms.length < 2;
    rebuild(part, app);
    return true;
  };
  part.picked = part.resize = part.recolour = () => redraw(part, app);
  listen(part, app);
  return part;
}

function rebuild(part, app) {
  const c = app.run.children;
  const keep = row => part.arm < 0 || part.arm === (row < 0 ? -1 - row : c.arm[row]);
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
    part.frame = wholeFrame(part.scene, width, LINEAGE_HEIGHT);
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
  const top = run.best.length ? run.best[0] : -1;
  return { best: line(top), chosen: line(app.selected), champion: node(top), node: node(app.selected) };
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
  const at = e => ({ x: e.offsetX, y: e.offsetY });
  part.canvas.addEventListener('pointermove', e => hint(part, app, nearest(part, at(e)), at(e)));
  part.canvas.addEventListener('pointerleave', () => { part.tip.hidden = true; });
  part.canvas.addEventListener('click', e => {
    const node = nearest(part, at(e));
    if (node >= 0 && node < part.scene.n) app.select(node);
  });
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
