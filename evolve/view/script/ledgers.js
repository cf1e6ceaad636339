// The yield and cost of each operator, model and search.

function ledgersPart(app) {
  const part = { name: 'Ledgers', tables: new Map() };
  const body = el('div', {});
  part.node = card('ledgers', 'Operators, settings, models and searches', [], body);
  part.update = run => {
    const kinds = run.ledgers.filter(l => (l.rows || []).length);
    for (const ledger of kinds) {
      if (!part.tables.has(ledger.kind)) part.tables.set(ledger.kind, ledgerTable(app, ledger.kind));
      part.tables.get(ledger.kind).update(ledger.rows.map((_, i) => i));
    }
    refill(body, kinds.map(l => l.kind), () => kinds.map(l => {
      const t = part.tables.get(l.kind);
      return el('div', {}, el('div', { class: 'bar' }, el('h3', {}, 'By ' + oneLine(l.kind)),
        el('div', { class: 'tools' }, t.save)), t.node);
    }));
    return kinds.length > 0;
  };
  return part;
}

function ledgerTable(app, kind) {
  const rows = () => app.run.ledgers.find(l => l.kind === kind).rows;
  const most = () => Math.max(...rows().map(r => r.children), 1);
  const lastCall = i => rows()[i].last < 0 ? null : app.run.children.calls[rows()[i].last] || 0;
  const number = (head, value, get, note) => ({ optional: head !== 'Children', head, numeric: true, note,
    get: i => (get || grouped)(value(rows()[i])), value: i => value(rows()[i]) });
  const columns = [
    { head: kind[0].toUpperCase() + kind.slice(1), get: i => rows()[i].name },
    Object.assign(number('Children', r => r.children), { bar: i => rows()[i].children / most() }),
    number('Valid', r => r.children ? r.valid / r.children : 0, percent),
    number('Improved', r => r.improved, null, 'better than the best of its search before its step'),
    { head: 'Mean lift', numeric: true, note: 'mean of score minus parent\u2019s score, with its standard error',
      value: i => rows()[i].lifted ? rows()[i].lift : null,
      get: i => rows()[i].lifted ? score(+rows()[i].lift.toPrecision(3)) +
        (rows()[i].lift_se > 0 ? ' \u00b1 ' + score(+rows()[i].lift_se.toPrecision(2)) : '') : score(null) },
    { head: 'Lift in sd', numeric: true, optional: true, note: 'mean lift in standard deviations of all lifts',
      value: i => rows()[i].lifted ? rows()[i].lift_sd : null,
      get: i => score(rows()[i].lifted ? +rows()[i].lift_sd.toPrecision(2) : null) },
    { head: 'Last improved', numeric: true, note: 'by which model call',
      get: i => lastCall(i) === null ? '\u2013' : 'call ' + grouped(lastCall(i)), value: lastCall },
    number('Calls', r => r.calls),
    number('Tokens', r => r.tokens, compact),
    number('FLOPs', r => r.flops, compact),
    number('Money', r => r.money, compact),
  ];
  return makeTable({ name: app.run.name + ' by ' + kind, columns });
}
