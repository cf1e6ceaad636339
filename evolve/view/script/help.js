// The list of keys, on "?".

const KEYS = [
  ['?', 'this help'],
  ['Tab, Shift+Tab', 'to the next and the previous part that can be used'],
  ['Up, Down, Home, End', 'from row to row of a table'],
  ['Enter', 'select the row\u2019s candidate'],
  ['Left, Right', 'between runs, and in the champion\u2019s line'],
  ['Esc', 'close this'],
];

function helpDialog() {
  const close = button('Close', () => dialog.close());
  const dialog = el('dialog', { 'aria-label': 'Keys' }, el('h2', {}, 'Keys'),
    el('table', {}, ...KEYS.map(([key, what]) => el('tr', {}, el('th', { scope: 'row' }, el('kbd', {}, key)),
      el('td', {}, what)))), close);
  document.body.append(dialog);
  document.addEventListener('keydown', e => {
    if (e.key !== '?' || e.ctrlKey || e.metaKey || /^(INPUT|TEXTAREA)$/.test(e.target.tagName)) return;
    e.preventDefault();
    if (dialog.open) dialog.close();
    else dialog.showModal();
  });
  return dialog;
}
