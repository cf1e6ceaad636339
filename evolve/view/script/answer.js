// The summary: what ran, what it found, what it cost, why it ended, and how to run it again.

function answerPart() {
  const facts = el('dl', { class: 'facts' });
  const command = el('code', { tabindex: 0 });
  const copy = button('Copy', () => copyText(command), { title: 'Copy the command' });
  const line = el('div', { class: 'command' }, command, copy);
  const node = card('answer', 'Result', [], facts, line);
  return {
    node, name: 'Result',
    update(run) {
      refill(facts, run.facts, () => inOrder(run.facts).map(factNode));
      line.hidden = !run.command;
      refill(command, run.command, () => [run.command]);
      return run.facts.length > 0;
    },
  };
}

// inOrder puts the best first, and long facts last.
function inOrder(facts) {
  const place = f => /^best/i.test(f.name) ? 0 : isLong(f) ? 2 : 1;
  return [...facts].sort((a, b) => place(a) - place(b));
}

function isLong(fact) {
  return fact.value.length > 60;
}

// factNode shows a fact as a name, a value and a note.
function factNode(fact) {
  const kind = /^best/i.test(fact.name) ? 'fact lead' : isLong(fact) ? 'fact long' : 'fact';
  return el('div', { class: kind }, el('dt', {}, oneLine(fact.name)), el('dd', {}, oneLine(fact.value, 1000)),
    fact.note ? el('dd', { class: 'note' }, oneLine(fact.note, 1000)) : null);
}

// copyText selects and copies an element's text. If a browser refuses to copy, the text stays selected.
function copyText(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  document.execCommand('copy');
}
