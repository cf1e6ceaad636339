// The summary: what ran, what it found, what it cost, and why it ended; and apart, what it was given.

function answerPart() {
  const facts = el('dl', { class: 'facts' });
  return {
    node: card('answer', 'Result', [], facts), name: 'Result',
    update(run) {
      refill(facts, run.facts, () => inOrder(run.facts.filter(f => !f.setting)).map(factNode));
      return run.facts.length > 0;
    },
  };
}

function settingsPart() {
  const facts = el('dl', { class: 'facts' });
  const command = el('code', { tabindex: 0 });
  const copy = button('Copy', () => copyText(command), { title: 'Copy the command' });
  const line = el('div', { class: 'command' }, command, copy);
  return {
    node: card('settings', 'Settings', [], facts, line), name: 'Settings',
    update(run) {
      const given = run.facts.filter(f => f.setting);
      refill(facts, given, () => inOrder(given).map(factNode));
      line.hidden = !run.command;
      refill(command, run.command, () => [run.command]);
      return given.length > 0 || !line.hidden;
    },
  };
}

// inOrder puts the best first, and long facts last.
function inOrder(facts) {
  const place = f => /^best/i.test(f.name) ? 0 : isLong(f) ? 2 : 1;
  return [...facts].sort((a, b) => place(a) - place(b));
}

const isLong = fact => fact.value.length > 60;

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
