// The drawing of a lineage: the part of a scene within a frame. The time depends on what is visible, not on how many
// candidates there are: of those on one spot, one is drawn.

const STRIP_HEIGHT = 46;
const MOST_EDGES = 6000;

// drawLineage draws a scene. marks has the nodes of the best line, of the selected one's, the best node and the
// selected one: -1 where a filter hides them.
function drawLineage(pen, look, scene, frame, marks) {
  const strip = { top: frame.bottom + 6, height: STRIP_HEIGHT };
  lineageAxes(pen, look, scene, frame, strip);
  pen.inside(frame.left, frame.top - 6, frame.right - frame.left, frame.bottom - frame.top + 12 + STRIP_HEIGHT, () => {
    const seen = place(scene, frame, strip);
    drawEdges(pen, look, scene, seen);
    drawNodes(pen, look, scene, seen, frame);
    drawPath(pen, seen, marks.best, look.ink, 2.5);
    drawPath(pen, seen, marks.chosen, PALETTE[4], 2);
    if (marks.champion >= 0) pen.ring(seen.x[marks.champion], seen.y[marks.champion], 6, look.ink, 2);
    if (marks.node >= 0) pen.ring(seen.x[marks.node], seen.y[marks.node], 8, PALETTE[4], 3);
  });
}

// place returns the position of each node. Scores below the frame's first range are at its lower edge.
function place(scene, frame, strip) {
  const x = new Float32Array(scene.size), y = new Float32Array(scene.size);
  const kx = (frame.right - frame.left) / (frame.x1 - frame.x0),
    ky = (frame.bottom - frame.top) / (frame.y1 - frame.y0);
  for (let i = 0; i < scene.size; i++) {
    if (!scene.how[i]) continue;
    x[i] = frame.left + (scene.x[i] - frame.x0) * kx;
    y[i] = scene.how[i] === STRIP ? strip.top + scene.y[i] * strip.height
      : frame.bottom - (Math.max(scene.y[i], scene.low) - frame.y0) * ky;
  }
  return { x, y };
}

function drawEdges(pen, look, scene, seen) {
  const edges = scene.edges;
  const lines = [];
  const every = Math.max(1, Math.ceil(edges.length / 2 / MOST_EDGES));
  for (let e = 0; e < edges.length; e += 2 * every) {
    const p = edges[e], c = edges[e + 1];
    const x1 = seen.x[p], x2 = seen.x[c];
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > pen.width) continue;
    lines.push([x1, seen.y[p], x2, seen.y[c]]);
  }
  pen.lines(lines, look.edge, 1, lines.length > 1500 ? 0.18 : 0.45);
}

function drawNodes(pen, look, scene, seen, frame) {
  const taken = new Uint8Array(Math.ceil(pen.width) * Math.ceil(pen.height));
  const wide = Math.ceil(pen.width);
  const groups = new Map();
  let count = 0;
  for (let i = scene.size - 1; i >= 0; i--) {
    if (!scene.how[i]) continue;
    const x = seen.x[i], y = seen.y[i];
    if (x < frame.left - 4 || x > frame.right + 4 || y < 0 || y >= pen.height) continue;
    const spot = (y | 0) * wide + (x | 0);
    if (taken[spot]) continue;
    taken[spot] = 1;
    count++;
    const colour = scene.how[i] === STRIP ? look.soft : armColour(scene.arm[i]);
    if (!groups.has(colour)) groups.set(colour, []);
    groups.get(colour).push(x, y);
  }
  const radius = count > 6000 ? 1 : count > 1500 ? 1.7 : count > 400 ? 2.5 : 3.5;
  for (const [colour, places] of groups) pen.dots(places, radius, colour, colour === look.soft ? 0.6 : 0.85);
}

function drawPath(pen, seen, nodes, colour, width) {
  if (nodes.length < 2) return;
  pen.lines([nodes.flatMap(i => [seen.x[i], seen.y[i]])], colour, width);
}

function lineageAxes(pen, look, scene, frame, strip) {
  const across = ticks(Math.max(frame.x0, 0), frame.x1, (frame.right - frame.left) / 90).filter(Number.isInteger);
  pen.lines(across.map(x => [placeX(frame, x), frame.top, placeX(frame, x), frame.bottom]), look.line, 1);
  if (scene.kind !== 'tree') {
    const up = ticks(frame.y0, frame.y1, (frame.bottom - frame.top) / 45);
    pen.lines(up.map(y => [frame.left, placeY(frame, y), frame.right, placeY(frame, y)]), look.line, 1);
    apart(up, score, 6).forEach((text, i) =>
      pen.word(frame.left - 6, placeY(frame, up[i]) + 4, text, look.soft, 'end', 11));
  }
  pen.box(frame.left, strip.top, frame.right - frame.left, strip.height, look.line, 0.4);
  pen.word(frame.left - 6, strip.top + strip.height / 2 + 4, 'invalid', look.soft, 'end', 11);
  for (const x of across) pen.word(placeX(frame, x), strip.top + strip.height + 14, grouped(x), look.soft, 'middle',
    11);
  pen.word((frame.left + frame.right) / 2, strip.top + strip.height + 29,
    scene.kind === 'tree' ? 'depth' : 'step of its search', look.soft, 'middle', 11);
}
