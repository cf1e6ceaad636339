// Diffs, as lines with their numbers before and after.

const MOST_LINES = 1500; // lines of a diff that are shown

// diffNode returns an element that shows changes.
function diffNode(changes) {
  const body = el('div', { class: 'code diff', tabindex: 0, role: 'group', 'aria-label': 'Changes' });
  let shown = 0;
  for (const change of changes) {
    if (shown >= MOST_LINES) break;
    const lines = change.text.replace(/\n$/, '').split('\n').slice(0, MOST_LINES - shown);
    lines.forEach((line, i) => body.append(lineNode(change, line, i)));
    shown += lines.length;
  }
  if (shown >= MOST_LINES) body.append(el('div', { class: 'line' }, 'The rest is left out here.'));
  if (!changes.length) body.append(el('div', { class: 'line' }, 'The program did not change.'));
  return body;
}

const CHANGE_CLASS = { '+': 'added', '-': 'removed', '@': 'skipped', f: 'file' };

// foldedDiff returns changes under a heading, asked for when it is opened.
function foldedDiff(heading, ask) {
  return el('details', { toggle: async e => {
    if (!e.target.open || e.target.childElementCount > 1) return;
    const diff = await ask();
    e.target.append(diff ? diffNode(diff) : el('p', {}, 'The server does not answer.'));
  } }, el('summary', {}, heading));
}

function lineNode(change, line, i) {
  if (change.op === 'f') return el('div', { class: 'line file' }, el('strong', {}, oneLine(line, 1100)));
  const skipped = change.op === '@';
  const number = (n, has) => el('span', { class: 'at' }, has && !skipped ? String(n + i) : '');
  return el('div', { class: 'line ' + (CHANGE_CLASS[change.op] || '') },
    number(change.old, change.op !== '+'), number(change.new, change.op !== '-'),
    el('span', { class: 'op' }, skipped ? '\u22ef' : change.op), el('span', { class: 'text' }, shortened(line) || ' '));
}
