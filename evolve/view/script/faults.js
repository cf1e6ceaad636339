// Stalls and errors: by endpoint, and as the run's messages.

function faultsPart(app) {
  const servers = () => app.run.endpoints;
  const notes = () => app.run.messages;
  const statuses = s => Object.entries(s.statuses || {}).sort((a, b) => b[1] - a[1]).map(([k, n]) => k + ' ' +
    grouped(n)).join(', ');
  const errors = s => (s.errors || []).map(e => (e.count > 1 ? e.count + '\u00d7 ' : '') + oneLine(e.text,
    200)).join('; ');
  const endpoints = makeTable({
    name: 'endpoints',
    columns: [
      { head: 'Endpoint', get: i => servers()[i].name },
      { head: 'Attempts', numeric: true, get: i => grouped(attempts(servers()[i])),
        value: i => attempts(servers()[i]) },
      { head: 'Ended', get: i => statuses(servers()[i]) },
      { head: 'Latency', numeric: true, note: 'median of answered attempts',
        get: i => duration(servers()[i].latency || NaN), value: i => servers()[i].latency || null },
      { head: 'Errors', optional: true, get: i => errors(servers()[i]) },
    ],
  });
  const messages = makeTable({
    name: 'messages',
    columns: [
      { head: 'Time', numeric: true, get: i => duration(notes()[i].time / 1000), value: i => notes()[i].time / 1000 },
      { head: 'Kind', get: i => notes()[i].kind },
      { head: 'Times', numeric: true, get: i => grouped(notes()[i].count), value: i => notes()[i].count },
      { head: 'Message', get: i => oneLine(notes()[i].text, 500), value: i => notes()[i].text },
    ],
  });
  const head = (text, t) => el('div', { class: 'bar' }, el('h3', {}, text), el('div', { class: 'tools' }, t.save));
  const first = el('div', {}, head('By endpoint', endpoints), endpoints.node),
    second = el('div', {}, head('Messages', messages), messages.node);
  const node = card('faults', 'Endpoints, stalls and errors', [], first, second);
  return {
    node, name: 'Faults',
    update(run) {
      first.hidden = !run.endpoints.length;
      second.hidden = !run.messages.length;
      endpoints.update(run.endpoints.map((_, i) => i));
      messages.update(run.messages.map((_, i) => i));
      return run.endpoints.length + run.messages.length > 0;
    },
  };
}

function attempts(server) {
  return Object.values(server.statuses || {}).reduce((a, b) => a + b, 0);
}
