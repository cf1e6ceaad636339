// Values that several parts of the page compute from a run's columns.

// label returns the name that a column's number stands for.
function label(run, number, without = '\u2013') {
  return number >= 0 && number < run.labels.length ? run.labels[number] : without;
}

// bare returns a place's name without its kind, which is its first word.
function bare(run, number) {
  return label(run, number, '').replace(/^\S+ /, '');
}

// armName returns the name of a search.
function armName(run, arm) {
  return run.arms[arm] ? run.arms[arm].name : 'search ' + arm;
}

// childName returns the name of a row's child.
function childName(run, row) {
  if (row < 0) return 'initial program';
  const c = run.children;
  return armName(run, c.arm[row]) + ' \u00b7 step ' + c.step[row] + ' \u00b7 #' + c.born[row];
}

// isValid reports whether a row has a score.
function isValid(run, row) {
  return run.children.state[row] === 0 && run.children.score[row] !== null;
}

// AXES are what a curve can run against: a name, and a row's place on it.
const AXES = [
  { key: 'calls', name: 'model calls', at: (run, row) => run.children.calls[row] },
  { key: 'rounds', name: 'rounds', at: (run, row) => run.children.pull[row] + 1 },
  { key: 'tokens', name: 'tokens', at: (run, row) => run.children.tokens[row] },
  { key: 'flops', name: 'FLOPs', at: (run, row) => run.children.flops[row] },
  { key: 'money', name: 'money', at: (run, row) => run.children.money[row] },
  { key: 'time', name: 'seconds', at: (run, row) => run.children.time[row] / 1000 },
];

// usedAxes returns the axes along which this run moved.
function usedAxes(run) {
  const n = run.children.arm.length;
  return AXES.filter(axis => {
    for (let row = n - 1; row >= 0; row--) if (axis.at(run, row) > 0) return true;
    return false;
  });
}

// runningBest returns the points at which the best score of each search and of the run rose, along an axis, and the
// last place on it.
function runningBest(run, axis) {
  const n = run.children.arm.length;
  const order = Array.from({ length: n }, (_, row) => row);
  order.sort((a, b) => axis.at(run, a) - axis.at(run, b) || a - b);
  const arms = run.arms.map(a => ({ best: a.valid ? a.start : null, points: a.valid ? [[0, a.start]] : [] }));
  const starts = run.arms.filter(a => a.valid).map(a => a.start);
  const all = { best: starts.length ? Math.max(...starts) : null, points: [] };
  if (starts.length) all.points.push([0, all.best]);
  let end = 0;
  for (const row of order) {
    const x = axis.at(run, row);
    end = Math.max(end, x);
    if (!isValid(run, row)) continue;
    const s = run.children.score[row];
    for (const curve of [arms[run.children.arm[row]], all]) {
      if (curve && (curve.best === null || s > curve.best)) {
        curve.best = s;
        curve.points.push([x, s]);
      }
    }
  }
  return { arms, all, end };
}

// ancestry returns the rows from a child to its search's initial program along first parents, the child first.
function ancestry(run, row) {
  const path = [];
  const seen = new Set();
  while (row >= 0 && row < run.children.arm.length && !seen.has(row)) {
    seen.add(row);
    path.push(row);
    const parents = run.children.kin[row];
    row = parents && parents.length ? parents[0] : -1;
  }
  return path;
}
