// Studies of many runs: figures, and tables with intervals.

function studyNode(study) {
  const id = n => 'study-' + n;
  const cards = [card(id('facts'), study.name, [],
    el('dl', { class: 'facts' }, ...(study.facts || []).map(factNode)), ...warnings(study, false))];
  (study.figures || []).forEach((f, i) => cards.push(card(id('figure-' + i), f.name,
    [button('SVG', () => save(study.name + ' ' + f.name + '.svg', 'image/svg+xml', svgText(f)))],
    el('figure', {}, el('img', { src: 'data:image/svg+xml;base64,' + f.svg, alt: oneLine(f.caption || f.name) }),
      f.caption === f.name ? null : el('figcaption', {}, oneLine(f.caption, 2000))))));
  (study.tables || []).forEach((t, i) => {
    const table = studyTable(t);
    cards.push(card(id('table-' + i), t.name, [table.save], table.node));
    table.update((t.rows || []).map((_, k) => k));
  });
  const open = warnings(study, true);
  if (open.length) cards.push(card(id('open'), 'What cannot be said yet', [], ...open));
  return cards;
}

// warnings returns those of a study that say what its runs leave open, or the others, which are on its runs.
function warnings(study, open) {
  return (study.warnings || []).filter(w => w.includes(', cannot be said yet: ') === open).map(w =>
    el('p', { class: 'warning' }, oneLine(w.replace(', cannot be said yet: ', ': '), 1000)));
}

function svgText(figure) {
  return new TextDecoder().decode(Uint8Array.from(atob(figure.svg), c => c.charCodeAt(0)));
}

// studyTable sorts by the number that a cell begins with, if its column has numbers.
function studyTable(t) {
  const number = text => { const x = parseFloat(text); return Number.isNaN(x) ? null : x; };
  return makeTable({ name: t.name, columns: t.head.map((head, i) => {
    const numeric = Boolean((t.numeric || [])[i]);
    return { head, numeric, get: row => t.rows[row][i] ?? '', saved: row => t.rows[row][i] ?? '',
      value: row => numeric ? number(t.rows[row][i]) : t.rows[row][i] };
  }) });
}
