// Where candidates live: the cells of an archive as a table coloured by score, and islands.

function placesPart(app) {
  const grid = el('div', { class: 'scroll' });
  const all = () => app.run.places;
  const table = makeTable({
    name: 'places', pick: i => { if (all()[i].row >= 0) app.select(all()[i].row); },
    columns: [
      { head: 'Place', get: i => all()[i].name },
      { head: 'Kind', get: i => all()[i].kind },
      { head: 'Children', numeric: true, get: i => grouped(all()[i].children), value: i => all()[i].children },
      { head: 'Best', numeric: true, get: i => all()[i].row < 0 ? '\u2013' : score(all()[i].score),
        value: i => all()[i].row < 0 ? null : all()[i].score },
    ],
  });
  const node = card('places', 'Archive and islands', [table.save], grid, table.node);
  return {
    node, name: 'Places',
    update(run) {
      const cells = run.places.map((p, i) => [p, i])
        .filter(([p]) => p.kind === 'cell' && (p.at || []).length >= 1 && p.at.length <= 2);
      refill(grid, cells,
        () => cells.length ? [el('p', { class: 'soft' }, heatWords(cells)), heatTable(app, cells)] : []);
      table.update(inPlaceOrder(run.places));
      return run.places.length > 0;
    },
  };
}

// inPlaceOrder returns the numbers of places by kind and name: 2 comes before 10.
function inPlaceOrder(places) {
  const text = i => places[i].kind + ' ' + places[i].name;
  return places.map((_, i) => i).sort((a, b) => text(a).localeCompare(text(b), 'en', { numeric: true }));
}

// heatTable shows cells by their coordinates, with blanks for empty ones.
function heatTable(app, cells) {
  const scores = cells.filter(([p]) => p.row >= 0).map(([p]) => p.score);
  const low = Math.min(...scores), high = Math.max(...scores);
  const byPlace = new Map(cells.map(([p, i]) => [p.at[0] + ' ' + (p.at[1] || 0), [p, i]]));
  const xs = range(cells.map(([p]) => p.at[0])), ys = range(cells.map(([p]) => p.at[1] || 0)).reverse();
  const rows = ys.map(y => el('tr', {}, el('th', { scope: 'row' }, String(y)),
    ...xs.map(x => heatCell(app, byPlace.get(x + ' ' + y), low, high))));
  return el('table', { class: 'heat', 'aria-label': 'Best score by cell' }, el('tbody', {}, ...rows),
    el('tfoot', {}, el('tr', {}, el('th', {}), ...xs.map(x => el('th', { scope: 'col' }, String(x))))));
}

// heatWords returns the meaning of the heads of the table of cells.
function heatWords(cells) {
  const one = cells.every(([p]) => p.at.length === 1);
  const xs = range(cells.map(([p]) => p.at[0])), ys = range(cells.map(([p]) => p.at[1] || 0));
  const beyond = cells.filter(([p]) => p.at[0] > xs.at(-1) || (p.at[1] || 0) > ys.at(-1)).length;
  return 'The best score of each cell' +
    (one ? '.' : ': the first number of its name to the right, the second upwards.') +
    ' Islands have archives of their own, and are taken together here.' +
    (beyond ? ' ' + plural(beyond, 'cell') + ' further on: see the table below.' : '');
}

function heatCell(app, found, low, high) {
  if (!found || found[0].row < 0) return el('td', { class: 'empty' });
  const [place] = found;
  const colour = shade(high > low ? (place.score - low) / (high - low) : 1);
  const cell = el('td', {}, button(String(+place.score.toPrecision(4)), () => app.select(place.row),
    { title: oneLine(place.name) + ': ' + kids(place.children) }));
  cell.style.setProperty('background', colour.css);
  cell.style.setProperty('color', colour.dark ? '#fff' : '#111');
  return cell;
}

function kids(n) {
  return n === 1 ? '1 child' : grouped(n) + ' children';
}

// range returns the whole numbers from the least to the greatest, at most 100 of them.
function range(numbers) {
  const low = Math.min(...numbers), high = Math.min(Math.max(...numbers), low + 99);
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}
