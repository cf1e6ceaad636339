// The best candidates.

function bestPart(app) {
  const run = () => app.run;
  const c = () => run().children;
  const table = makeTable({
    name: 'best candidates', page: 10, pick: row => app.select(row),
    columns: [
      { head: 'Rank', numeric: true, get: row => String(run().best.indexOf(row) + 1),
        value: row => run().best.indexOf(row) + 1 },
      { head: 'Score', numeric: true, get: row => score(c().score[row]), value: row => c().score[row] },
      { head: 'Search', get: row => armName(run(), c().arm[row]) },
      { head: 'Step', numeric: true, get: row => grouped(c().step[row]), value: row => c().step[row] },
      { head: 'Operator', optional: true, get: row => label(run(), c().operator[row]) },
      { head: 'Model', optional: true, get: row => label(run(), c().model[row]) },
      { head: 'Calls by then', numeric: true, get: row => grouped(c().calls[row] || 0), value: row => c().calls[row] },
      { head: 'Time', numeric: true, get: row => duration((c().time[row] || 0) / 1000),
        value: row => (c().time[row] || 0) / 1000 },
    ],
  });
  const omitted = el('p', { class: 'soft' });
  const node = card('best', 'Best candidates', [table.save], table.node, omitted);
  return {
    node, name: 'Best', picked: row => table.mark(row),
    update(r) {
      table.update(r.best);
      table.mark(app.selected);
      omitted.hidden = !(r.omitted > 0);
      refill(omitted, r.omitted || 0,
        () => ['The texts of ' + plural(r.omitted || 0, 'program') + ' did not fit into this file.']);
      return r.best.length > 0;
    },
  };
}
