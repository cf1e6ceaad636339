// The running best of each search, against what was spent.

const CURVE_HEIGHT = 320;

function curvesPart(app) {
  const room = el('div', { class: 'plot' });
  const axis = chooser('against', key => { part.axis = key; part.update(app.run); });
  const keep = button('SVG', () => saveFigure(app.run.name + '_best', 900, 420,
    (pen, look) => drawCurves(pen, look, app.run, chosenAxis(part, app.run))),
    { title: 'Save this figure as SVG' });
  const part = {
    node: card('curves', 'Running best', [axis.node, keep], room), name: 'Curves', axis: 'calls', plot: null, drawn: '',
    update(run) {
      const axes = usedAxes(run);
      if (!axes.length) return false;
      axis.set(axes.map(a => [a.key, a.name]), chosenAxis(part, run).key);
      showCurves(part, run, room);
      return true;
    },
    resize() { if (part.plot) part.plot.setSize({ width: room.clientWidth, height: CURVE_HEIGHT }); },
    recolour(run) { part.drawn = ''; showCurves(part, run, room); },
  };
  return part;
}

function chosenAxis(part, run) {
  const axes = usedAxes(run);
  return axes.find(a => a.key === part.axis) || axes[0];
}

// showCurves gives uPlot new data, and makes a new plot only when the searches, the axis or the theme change.
function showCurves(part, run, room) {
  const axis = chosenAxis(part, run);
  if (!axis || !room.clientWidth) return;
  const curves = runningBest(run, axis);
  const data = aligned(curves);
  const kind = JSON.stringify([run.id, axis.key, run.arms.map(a => a.name)]);
  if (part.plot && part.drawn === kind) {
    part.plot.setData(data);
    return;
  }
  if (part.plot) part.plot.destroy();
  part.drawn = kind;
  part.plot = new uPlot(curveOptions(run, axis, room.clientWidth), data, room);
}

// aligned returns columns for uPlot: the points at which any curve rose, and each curve's height there.
function aligned(curves) {
  const list = curves.arms.length > 1 ? [curves.all, ...curves.arms] : curves.arms;
  const xs = [...new Set([...list.flatMap(c => c.points.map(p => p[0])), curves.end])].sort((a, b) => a - b);
  return [xs, ...list.map(curve => {
    let i = 0;
    let height = null;
    return xs.map(x => {
      while (i < curve.points.length && curve.points[i][0] <= x) height = curve.points[i++][1];
      return height;
    });
  })];
}

function curveOptions(run, axis, width) {
  const look = theme();
  const side = { stroke: look.soft, grid: { stroke: look.line, width: 1 }, ticks: { stroke: look.line },
    font: '12px ' + FONT };
  const stepped = uPlot.paths.stepped({ align: 1 });
  const value = (_, v) => score(v);
  const many = run.arms.length > 12;
  const series = run.arms.map((arm, i) => ({ label: oneLine(arm.name, 40), stroke: armColour(i), dash: armDash(i),
    width: 1.5,
    paths: stepped, points: { show: false }, value }));
  // A wide band below the lines, so that the leading search keeps its colour.
  if (run.arms.length > 1) series.unshift({ label: 'best of all', stroke: look.edge + '88', width: 7, paths: stepped,
    points: { show: false }, value });
  return {
    width, height: CURVE_HEIGHT,
      series: [{ label: axis.name, value: (_, v) => v === null ? '\u2013' : compact(v) }, ...series],
    scales: { x: { time: false } }, legend: { live: !many, show: !many,
      markers: { dash: (u, i) => (u.series[i].dash || []).length ? 'dashed' : 'solid' } },
    axes: [Object.assign({ label: axis.name, labelSize: 22, values: (_, vs) => apart(vs, compact, 3) }, side),
      Object.assign({ size: 70, values: (_, vs) => apart(vs, score, 6) }, side)],
    hooks: { ready: [last], setData: [last], setLegend: [u => u.legend.idx === null && last(u)] },
    cursor: { focus: { prox: 16 }, drag: { x: true, y: false } }, focus: { alpha: 0.3 },
  };
}

// last has the legend show the last values, as long as no place in the figure is pointed at.
function last(u) {
  if (u.cursor.idx === null || u.cursor.idx === undefined) u.setLegend({ idx: u.data[0].length - 1 }, false);
}

// drawCurves draws the same figure with a pen, for a file.
function drawCurves(pen, look, run, axis) {
  const curves = runningBest(run, axis);
  const list = [...curves.arms.map((c, i) => ({ points: c.points, name: armName(run, i), colour: armColour(i),
    dash: armDash(i), width: 1.5 }))];
  if (run.arms.length > 1) list.unshift({ points: curves.all.points, name: 'best of all', colour: look.line, dash: [],
    width: 7 });
  const heights = list.flatMap(c => c.points.map(p => p[1]));
  if (!heights.length) heights.push(0, 1); // nothing is valid yet
  const low = Math.min(...heights), high = Math.max(...heights);
  const frame = { x0: 0, x1: curves.end || 1, y0: low, y1: high > low ? high : low + 1, left: 64, top: 16,
    right: pen.width - 190, bottom: pen.height - 44 };
  drawFrame(pen, look, frame, axis.name, 'best score');
  list.forEach((curve, i) => {
    const line = stairs(curve.points, curves.end, frame);
    if (line.length) pen.lines([line], curve.colour, curve.width, 1, curve.dash);
    if (i > 24) return;
    pen.lines([[frame.right + 14, 24 + 15 * i, frame.right + 36, 24 + 15 * i]], curve.colour, curve.width, 1,
      curve.dash);
    pen.word(frame.right + 42, 28 + 15 * i, oneLine(curve.name, 24), look.ink, 'start', 11);
  });
}

function stairs(points, end, frame) {
  const line = [];
  for (const [x, y] of [...points, [end, null]]) {
    const sx = placeX(frame, x);
    if (line.length) line.push(sx, line[line.length - 1]);
    if (y !== null) line.push(sx, placeY(frame, y));
  }
  return line;
}

// placeX and placeY turn values into a frame's coordinates.
function placeX(frame, x) {
  return frame.left + (x - frame.x0) / (frame.x1 - frame.x0) * (frame.right - frame.left);
}

function placeY(frame, y) {
  return frame.bottom - (y - frame.y0) / (frame.y1 - frame.y0) * (frame.bottom - frame.top);
}

// drawFrame draws grid, numbers and names of axes.
function drawFrame(pen, look, frame, xName, yName) {
  const across = ticks(frame.x0, frame.x1, (frame.right - frame.left) / 90);
  const up = ticks(frame.y0, frame.y1, (frame.bottom - frame.top) / 50);
  pen.lines([...across.map(x => [placeX(frame, x), frame.top, placeX(frame, x), frame.bottom]),
    ...up.map(y => [frame.left, placeY(frame, y), frame.right, placeY(frame, y)])], look.line, 1);
  apart(across, compact, 3).forEach((text, i) =>
    pen.word(placeX(frame, across[i]), frame.bottom + 16, text, look.soft, 'middle', 11));
  apart(up, score, 6).forEach((text, i) =>
    pen.word(frame.left - 6, placeY(frame, up[i]) + 4, text, look.soft, 'end', 11));
  pen.word((frame.left + frame.right) / 2, frame.bottom + 34, xName, look.soft, 'middle');
  if (yName) pen.word(6, frame.top - 4, yName, look.soft, 'start', 11);
}
