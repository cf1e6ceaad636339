// A table whose rows are replaced only when they change, so that one can be clicked while a run goes on. It sorts by
// its heads, is walked with the arrow keys, shows a page of rows at a time, and is saved whole.

const TABLE_PAGE = 50;

// makeTable returns a table. spec has name, columns and pick. A column has head, get (what a row shows), value (what it
// sorts and is saved by; default: what it shows), saved (if it is saved as something else), numeric, note, and
// optional: it is hidden if no row has a value. pick is called with the key of a row; page is how many rows are shown
// at first.
function makeTable(spec) {
  const t = { spec, keys: [], columns: [], shown: spec.page || TABLE_PAGE, sorted: null, down: true, rows: new Map(),
    picked: null };
  t.head = el('tr', {});
  t.body = el('tbody', {});
  t.more = button('Show more', () => { t.shown += 10 * TABLE_PAGE; paint(t); }, { hidden: true });
  t.save = button('CSV', () => saveTable(spec.name, spec.columns.map(c => c.head),
    order(t).map(k => spec.columns.map(c => c.saved ? c.saved(k) : valueOf(c, k)))),
    { title: 'Save this table as CSV' });
  const table = el('table', { class: spec.pick ? 'picks' : '', 'aria-label': oneLine(spec.name),
    keydown: e => walk(t, e), click: e => pressed(t, e.target) },
    el('thead', {}, t.head), t.body);
  t.node = el('div', { class: 'scroll' }, table, t.more);
  t.update = keys => { t.keys = keys; paint(t); };
  t.mark = key => { t.picked = key; for (const [k, row] of t.rows) row.node.classList.toggle('picked', k === key); };
  return t;
}

// chooseColumns hides optional columns without values, and rebuilds the head if the visible columns change.
function chooseColumns(t) {
  const columns = t.spec.columns.filter(c => !c.optional || t.keys.some(key => ![0, '', '\u2013', null,
    undefined].includes(valueOf(c, key))));
  if (columns.length === t.columns.length && columns.every((c, i) => c === t.columns[i])) return;
  t.columns = columns;
  t.rows = new Map();
  t.head.replaceChildren(...columns.map((c, i) => el('th',
    { scope: 'col', class: c.numeric ? 'number' : '', title: c.note },
    el('button', { type: 'button', class: 'sorter', 'data-column': i }, oneLine(c.head, 100)))));
}

function valueOf(column, key) {
  return column.value ? column.value(key) : column.get(key);
}

function sortBy(t, column) {
  if (t.sorted === column && !t.down) t.sorted = null; // a third press: the original order
  else if (t.sorted === column) t.down = false;
  else Object.assign(t, { sorted: column, down: true });
  [...t.head.children].forEach((th, i) => th.setAttribute('aria-sort',
    t.columns[i] !== t.sorted ? 'none' : t.down ? 'descending' : 'ascending'));
  paint(t);
}

// order returns the keys in sorted order. Rows without a value come last.
function order(t) {
  if (!t.sorted) return t.keys;
  const column = t.sorted;
  const sign = t.down ? -1 : 1;
  const empty = v => v === null || v === undefined || v === '';
  return t.keys.map(key => ({ key, v: valueOf(column, key) })).sort((a, b) => {
    if (empty(a.v) || empty(b.v)) return empty(a.v) - empty(b.v);
    return sign * (typeof a.v === 'number' ? a.v - b.v : String(a.v).localeCompare(String(b.v)));
  }).map(e => e.key);
}

function paint(t) {
  chooseColumns(t);
  const keys = order(t);
  const before = t.rows;
  t.rows = new Map();
  for (const key of keys.slice(0, t.shown)) {
    const texts = t.columns.map(c => oneLine(c.get(key) ?? ''));
    // a bar's length depends on other rows
    const mark = [...texts, ...t.columns.map(c => c.bar ? c.bar(key) : '')].join('\u0000');
    const old = before.get(key);
    t.rows.set(key, old && old.mark === mark ? old : { mark, node: rowOf(t, key, texts) });
  }
  const nodes = [...t.rows.values()].map(r => r.node);
  if (nodes.length !== t.body.children.length ||
    nodes.some((n, i) => t.body.children[i] !== n)) t.body.replaceChildren(...nodes);
  if (t.spec.pick && nodes.length && !nodes.some(n => n.tabIndex === 0)) nodes[0].tabIndex = 0;
  t.more.hidden = keys.length <= t.shown;
  t.more.textContent = 'Show more of ' + grouped(keys.length);
}

function rowOf(t, key, texts) {
  const cells = t.columns.map((c, i) => {
    const cell = el('td', { class: c.numeric ? 'number' : texts[i].length > 40 ? 'long' : '' }, texts[i]);
    if (c.bar) cell.style.setProperty('--share', String(Math.min(Math.max(c.bar(key) || 0, 0), 1)));
    if (c.bar) cell.classList.add('share');
    return cell;
  });
  const row = el('tr', { 'data-key': key, tabindex: t.spec.pick ? -1 : null, class: key === t.picked ? 'picked' : '' },
    ...cells);
  return row;
}

function pressed(t, target) {
  const head = target.closest('[data-column]');
  if (head) sortBy(t, t.columns[Number(head.dataset.column)]);
  else pickAt(t, target);
}

function pickAt(t, target) {
  const row = target.closest('tbody tr');
  if (!row || !t.spec.pick) return;
  focusRow(t, row);
  for (const [key, r] of t.rows) if (r.node === row) t.spec.pick(key);
}

// focusRow makes a row the one that Tab reaches.
function focusRow(t, row) {
  for (const other of t.body.children) other.tabIndex = other === row ? 0 : -1;
  row.focus();
}

const ROW_KEYS = { ArrowDown: r => r.nextElementSibling, ArrowUp: r => r.previousElementSibling,
  Home: r => r.parentNode.firstElementChild, End: r => r.parentNode.lastElementChild };

function walk(t, event) {
  const row = event.target.closest('tbody tr');
  if (!row || !t.spec.pick) return;
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    pickAt(t, row);
  } else if (ROW_KEYS[event.key]) {
    event.preventDefault();
    const to = ROW_KEYS[event.key](row);
    if (to) focusRow(t, to);
  }
}
