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

const CHANGE_CLASS = { '+': 'added', '-': 'removed', '@': 'skipped' };

function lineNode(change, line, i) {
  const skipped = change.op === '@';
  const number = (n, has) => el('span', { class: 'at' }, has && !skipped ? String(n + i) : '');
  return el('div', { class: 'line ' + (CHANGE_CLASS[change.op] || '') },
    number(change.old, change.op !== '+'), number(change.new, change.op !== '-'),
    el('span', { class: 'op' }, skipped ? '\u22ef' : change.op), el('span', { class: 'text' }, shortened(line) || ' '));
}
