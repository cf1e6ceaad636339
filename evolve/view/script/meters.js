// The budget: what is spent, what is reserved for calls under way, at which rate, and how long it will last.

function metersPart() {
  const list = el('div', { class: 'meters' });
  const flying = el('p', { class: 'soft' });
  const node = card('budget', 'Budget', [], list, flying);
  return {
    node, name: 'Budget',
    update(run) {
      refill(list, [run.meters, run.status], () => run.meters.map(m => meterNode(m, run.status === 'running')));
      flying.hidden = run.flying <= 0;
      refill(flying, run.flying, () => [plural(run.flying || 0, 'call') + ' under way']);
      return run.meters.length > 0;
    },
  };
}

function meterNode(m, running) {
  const bar = el('div', { class: 'meter', role: 'img', 'aria-label': meterText(m, running).join(', ') });
  if (m.limit > 0) {
    const spent = Math.min(m.spent / m.limit, 1);
    const held = Math.min(m.reserved / m.limit, 1 - spent);
    for (const [kind, share] of [['spent', spent], ['reserved', held]]) {
      const part = el('span', { class: kind });
      part.style.setProperty('width', 100 * share + '%');
      bar.append(part);
    }
  }
  const [amount, ...rest] = meterText(m, running);
  return el('div', { class: 'budget' },
    el('div', { class: 'bar' }, el('strong', {}, oneLine(m.name)), el('span', {}, amount)),
    m.limit > 0 ? bar : null, rest.length ? el('div', { class: 'soft' }, rest.join(' \u00b7 ')) : null);
}

// meterText returns a meter in words. Large numbers of seconds are written as a duration.
function meterText(m, running) {
  const seconds = m.unit === 's' || m.unit === 'seconds';
  const amount = x => seconds ? duration(x) : compact(x);
  const unit = seconds || m.unit === m.name ? '' : ' ' + m.unit;
  const text = [amount(m.spent) + (m.limit > 0 ? ' of ' + amount(m.limit) : '') + unit];
  if (m.limit > 0) text.push(percent(m.spent / m.limit));
  if (m.reserved > 0) text.push(amount(m.reserved) + ' reserved');
  if (m.rate > 0 && running && !seconds) text.push(compact(m.rate * 60) + ' a minute');
  const left = m.limit - m.spent;
  if (m.rate > 0 && running && m.limit > 0 && left > 0) text.push(duration(left / m.rate) + ' left at this rate');
  return text;
}
