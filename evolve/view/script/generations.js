// Statistics by generation, of all searches or of one.

function generationsPart(app) {
  const part = { name: 'Generations', arm: -1, rows: new Map() };
  const of = step => part.rows.get(step);
  const search = chooser('search', v => { part.arm = Number(v); part.update(app.run); });
  const number = (head, get, value, note) => ({ head, numeric: true, get: s => get(of(s)),
    value: s => (value || get)(of(s)), note });
  const table = makeTable({
    name: 'generations', page: 12,
    columns: [
      { head: 'Step', numeric: true, get: s => grouped(s), value: s => s },
      number('Children', g => grouped(g.children), g => g.children),
      number('Valid', g => percent(g.valid / g.children), g => g.valid / g.children),
      number('Best', g => score(g.best), g => g.best),
      number('Mean', g => score(g.valid ? g.sum / g.valid : null), g => g.valid ? g.sum / g.valid : null),
      number('SD', g => score(deviation(g)), deviation, 'standard deviation of the valid children\u2019s scores'),
      number('Programs', g => grouped(g.programs.size), g => g.programs.size, 'distinct programs'),
    ],
  });
  part.node = card('generations', 'Generations', [search.node, table.save], table.node);
  part.update = run => {
    if (part.run !== run.id) Object.assign(part, { run: run.id, arm: -1 });
    search.set([[-1, 'all'], ...run.arms.map((a, i) => [i, a.name])], part.arm);
    part.rows = byGeneration(run, part.arm);
    table.update([...part.rows.keys()].sort((a, b) => a - b));
    return part.rows.size > 0;
  };
  return part;
}

// byGeneration summarizes the children of each step. Means and squares follow Welford (1962).
function byGeneration(run, arm) {
  const c = run.children;
  const found = new Map();
  for (let row = 0; row < c.arm.length; row++) {
    if (arm >= 0 && c.arm[row] !== arm) continue;
    let g = found.get(c.step[row]);
    if (!g) found.set(c.step[row],
      g = { children: 0, valid: 0, sum: 0, mean: 0, squares: 0, best: null, programs: new Set() });
    g.children++;
    if (c.program[row]) g.programs.add(c.program[row]);
    if (!isValid(run, row)) continue;
    const s = c.score[row], before = s - g.mean;
    g.valid++;
    g.sum += s;
    g.mean += before / g.valid;
    g.squares += before * (s - g.mean);
    g.best = g.best === null ? s : Math.max(g.best, s);
  }
  return found;
}

function deviation(g) {
  return g.valid > 1 ? Math.sqrt(g.squares / (g.valid - 1)) : null;
}
