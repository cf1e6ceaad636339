// The search of each round, shaded by its propensity.

function allocationPart(app) {
  const canvas = el('canvas', { role: 'img', 'aria-label': 'Searches by round, shaded by propensity' });
  const note = el('p', { class: 'soft' });
  const keep = button('SVG', () => saveFigure(app.run.name + '_allocation', 900, allocationHeight(app.run),
    (pen, look) => drawAllocation(pen, look, app.run)), { title: 'Save this figure as SVG' });
  const csv = button('CSV', () => saveRounds(app.run), { title: 'Save the rounds as CSV' });
  const part = {
    node: card('allocation', 'Allocation by round', [keep, csv], el('div', { class: 'plot' }, canvas), note),
      name: 'Allocation',
    update(run) {
      const rounds = run.rounds.arm.length;
      if (!rounds || run.arms.length < 2) return false;
      const width = canvas.parentNode.clientWidth;
      if (width) drawAllocation(canvasPen(canvas, width, allocationHeight(run)), theme(), run);
      refill(note, [rounds],
        () => [plural(rounds, 'round') + '. A cell is the search that was drawn: the darker, the likelier it was. ' +
        'A small mark is where the best score of the run rose.']);
      return true;
    },
    resize: () => part.update(app.run), recolour: run => part.update(run),
  };
  return part;
}

function allocationHeight(run) {
  return 40 + Math.min(Math.max(run.arms.length * 22, 60), 420);
}

function drawAllocation(pen, look, run) {
  const { arm, prob } = run.rounds;
  const rose = roundsThatRose(run);
  const frame = { x0: 0, x1: Math.max(arm.length, 8), y0: run.arms.length, y1: 0, left: 130, top: 6,
    right: pen.width - 64, bottom: pen.height - 30 };
  const lane = (frame.bottom - frame.top) / run.arms.length;
  const wide = Math.max((frame.right - frame.left) / frame.x1 - (frame.x1 < 300 ? 1 : 0), 0.75);
  const pulls = run.arms.map(() => 0);
  for (let i = 0; i < run.arms.length; i++) {
    if (i % 2) pen.box(frame.left, frame.top + i * lane, frame.right - frame.left, lane, look.line, 0.35);
  }
  for (let i = 0; i < arm.length; i++) {
    pulls[arm[i]]++;
    const x = placeX(frame, i), y = frame.top + arm[i] * lane;
    pen.box(x, y + 1, wide, Math.max(lane - 2, 1), look.accent, 0.15 + 0.85 * Math.min(Math.max(prob[i] || 0, 0), 1));
    if (rose[i]) pen.box(x, y + lane - 4, wide, 3, PALETTE[1]);
  }
  const every = Math.ceil(14 / lane);
  run.arms.forEach((a, i) => {
    if (i % every) return;
    const y = frame.top + (i + 0.5) * lane + 4;
    pen.word(frame.left - 8, y, oneLine(a.name, 20), look.ink, 'end', 11);
    pen.word(frame.right + 8, y, percent(pulls[i] / arm.length), look.soft, 'start', 11);
  });
  for (const x of ticks(0, frame.x1, (frame.right - frame.left) / 90)) pen.word(placeX(frame, x), frame.bottom + 14,
    compact(x), look.soft, 'middle', 11);
  pen.word((frame.left + frame.right) / 2, frame.bottom + 27, 'round', look.soft, 'middle', 11);
}

// roundsThatRose reports for each round whether a child of it raised the run's best score. Of rounds that are under way
// together the last may end first.
function roundsThatRose(run) {
  const c = run.children;
  const rose = run.rounds.arm.map(() => false);
  let most = Math.max(...run.arms.filter(a => a.valid).map(a => a.start));
  for (let row = 0; row < c.arm.length; row++) {
    if (!isValid(run, row) || !(c.score[row] > most)) continue;
    most = c.score[row];
    rose[c.pull[row]] = true;
  }
  return rose;
}

// scoredFrom returns when the run had its first score.
function scoredFrom(run) {
  if (run.arms.some(a => a.valid)) return -Infinity;
  return run.children.time.reduce((least, time, row) => isValid(run, row) ? Math.min(least, time) : least, Infinity);
}

// saveRounds saves the rounds. What is known at a round's end only is empty before.
function saveRounds(run) {
  const r = run.rounds, scored = scoredFrom(run);
  const known = (i, value) => r.over[i] ? value : null;
  saveTable(run.name + '_rounds',
    ['round', 'search', 'propensity', 'calls', 'reward', 'over', 'best', 'begin_ms', 'end_ms'],
    r.arm.map((a, i) => [i + 1, armName(run, a), r.prob[i], r.calls[i], known(i, r.reward[i]), r.over[i],
      known(i, r.end[i] >= scored ? r.best[i] : null), r.begin[i], known(i, r.end[i])]));
}
