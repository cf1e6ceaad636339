// The selected candidate: its parents, its program, and what it changed.

function candidatePart(app) {
  const part = { name: 'Candidate', asked: '' };
  const body = el('div', { 'aria-live': 'polite' });
  const tools = { code: null };
  const keep = button('Save program',
    () => saveProgram(app.run.name + '_' + childName(app.run, app.selected), tools.code), { disabled: true });
  part.node = card('candidate', 'Candidate', [keep], body);
  part.update = run => {
    const row = app.selected;
    if (row < 0 || row >= run.children.arm.length) return false;
    const c = run.children; // of a child that is scored again its row changes
    const key = [run.id, row, c.state[row], c.score[row], c.samples[row], c.program[row]].join(' ');
    if (part.asked === key) return true;
    part.asked = key;
    keep.disabled = true;
    body.replaceChildren(...candidateFacts(app, run, row).filter(Boolean));
    const place = el('div', {}, el('p', { class: 'soft' }, 'Reading the program \u2026'));
    body.append(place);
    app.program(run.children.program[row]).then(code => {
      if (part.asked !== key) return;
      tools.code = code;
      keep.disabled = !code;
      place.replaceChildren(...programNodes(app, run, row, code));
    });
    return true;
  };
  part.picked = () => app.show(part);
  return part;
}

function candidateFacts(app, run, row) {
  const c = run.children;
  const fact = (name, ...value) => el('div', { class: 'fact small' }, el('dt', {}, name), el('dd', {}, ...value));
  const parents = c.kin[row].map(p => p < 0 ? 'initial program' : button('#' + c.born[p] + ' (' + score(c.score[p]) +
    ')', () => app.select(p, true), { class: 'link' }));
  const texts = [['Search', armName(run, c.arm[row])], ['Step', grouped(c.step[row])], ['Child', '#' + c.born[row]],
    ['Operator', label(run, c.operator[row])], ['Drawn', drawn(c, row)],
    ['Model', label(run, c.model[row])], ['Cell', bare(run, c.cell[row])], ['Island', bare(run, c.island[row])],
      ['After', plural(c.calls[row] || 0, 'call')]];
  return [el('dl', { class: 'facts' },
    fact('Score', isValid(run, row) ? score(c.score[row]) + sampled(c, row) : CHILD_STATES[c.state[row]]),
    ...texts.filter(([, v]) => v && v !== '\u2013').map(([n, v]) => fact(n, oneLine(v, 60))),
    parents.length ? fact(parents.length > 1 ? 'Parents' : 'Parent',
      ...parents.flatMap((p, i) => i ? [' ', p] : [p])) : null),
  c.reason[row] ? el('p', { class: 'bad' }, oneLine(c.reason[row], 1000)) : null];
}

// drawn says with what chance a child's proposer was drawn, and what its policy learned of that.
function drawn(c, row) {
  return c.chance[row] > 0 ? 'chance ' + +c.chance[row].toPrecision(3) + ', credit ' + score(c.credit[row]) : '';
}

// sampled returns how many samples a score is the mean of, in words.
function sampled(c, row) {
  return c.samples[row] > 1 ? ' (sd ' + +c.sd[row].toPrecision(3) + ', n ' + c.samples[row] + ')' : '';
}

// programNodes shows a program and, where the page can ask for it, its changes to its first parent.
function programNodes(app, run, row, code) {
  const c = run.children;
  if (!c.program[row]) return [el('p', { class: 'soft' }, 'It has no program.')];
  const nodes = [code ? codeNode(code) : el('p', { class: 'soft' }, noText(app, run))];
  if (!app.page.live) return nodes;
  const parent = c.kin[row][0];
  const from = parent >= 0 ? c.program[parent] : (run.arms[c.arm[row]] || {}).program;
  const to = c.program[row];
  if (run.tree) nodes.unshift(foldedDiff('What it changes of the base', () => app.diff('base', to)));
  if (from) nodes.unshift(foldedDiff('What it changed of its parent', () => app.diff(from, to)));
  return nodes;
}
