// The champion's line: from the initial program to the best, step by step, with the changes and the model's
// words.

function stepperPart(app) {
  const part = { name: 'Champion', at: -1 };
  const go = by => { part.at = Math.min(Math.max(part.at + by, 0), app.run.line.length - 1); part.update(app.run); };
  const back = button('\u2190 Earlier', () => go(-1)), on = button('Later \u2192', () => go(1));
  const steps = el('div',
    { class: 'steps', role: 'listbox', tabindex: 0, 'aria-label': 'Programs from the first to the best',
    click: e => {
      const s = e.target.closest('[data-step]');
      if (s) { part.at = Number(s.dataset.step); part.update(app.run); }
    },
    keydown: e => {
      const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -1e9, End: 1e9 }[e.key];
      if (by) { e.preventDefault(); go(by); }
    } });
  const shown = el('div', {});
  part.node = card('champion', 'How the best came about', [back, on], steps, shown);
  part.update = run => {
    if (!run.line.length) return false;
    if (part.run !== run.id || part.at < 0 || part.at >= run.line.length) Object.assign(part,
      { run: run.id, at: run.line.length - 1 });
    back.disabled = part.at === 0;
    on.disabled = part.at === run.line.length - 1;
    refill(steps, [run.line.map(s => [s.score, s.operator]), part.at],
      () => run.line.map((s, i) => stepNode(s, i, part.at, run.line[i - 1])));
    refill(shown, [run.line[part.at], part.at], () => stepShown(app, run, part.at));
    const current = steps.querySelector('[aria-selected=true]');
    if (current) steps.scrollLeft = current.offsetLeft - steps.clientWidth / 2;
    return true;
  };
  return part;
}

function stepNode(step, i, at, before) {
  const gain = before ? step.score - before.score : 0;
  return el('div', { class: 'step', role: 'option', 'data-step': i, 'aria-selected': String(i === at) },
    el('strong', {}, score(step.score)), el('span', { class: gain < 0 ? 'bad' : 'soft' },
      before ? (gain >= 0 ? '+' : '') + score(+gain.toPrecision(3)) : 'start'),
    el('span', { class: 'soft' }, before ? oneLine(step.operator, 24) : ''));
}

function stepShown(app, run, at) {
  const step = run.line[at];
  const tools = el('div', { class: 'bar' }, el('h3', {},
    at === 0 ? 'Initial program' : 'Change ' + at + ' of ' + (run.line.length - 1) + ': ' + childName(run, step.row)),
    el('div', { class: 'tools' },
      step.row >= 0 ? button('Show the whole program', () => app.select(step.row, true)) : null));
  const by = [step.operator, step.model].filter(Boolean).map(s => oneLine(s, 80)).join(' \u00b7 ');
  const holder = el('div', {});
  if (at === 0) app.program(step.program).then(code => fill(holder,
    code ? codeNode(code) : el('p', { class: 'soft' }, noText(app, run))));
  const whole = at > 0 && at === run.line.length - 1 && run.change
    ? foldedDiff('All that it changes of the base', () => run.change) : null;
  return [tools, whole, at > 0 && by ? el('p', { class: 'soft' }, by) : null,
    step.said ? el('blockquote', {}, step.said) : null, at === 0 ? holder : step.diff ? diffNode(step.diff) : el('p',
      { class: 'soft' }, 'What changed is not known. ' + noText(app, run))];
}
