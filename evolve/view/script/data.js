// The page's data: JSON, compressed, in base64, in a block of the page.

// unpack returns what a block holds.
async function unpack(block) {
  const bytes = Uint8Array.from(atob(block.textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// CHILD_STATES name the states of children, in the order of their numbers.
const CHILD_STATES = ['valid', 'invalid', 'no program', 'failed', 'abandoned', 'refused'];

const CHILD_COLUMNS = ['arm', 'pull', 'step', 'index', 'born', 'parents', 'score', 'state', 'operator', 'model', 'cell',
  'island',
  'program', 'reason', 'time', 'calls', 'tokens', 'flops', 'money', 'sd', 'samples', 'chance', 'credit'];
const ROUND_COLUMNS = ['arm', 'prob', 'calls', 'reward', 'over', 'best', 'begin', 'end'];

// whole fills in omitted empty lists, so that no part of the page must check for them.
function whole(state) {
  for (const list of ['facts', 'meters', 'arms', 'labels', 'best', 'line', 'ledgers', 'endpoints', 'messages']) {
    state[list] = state[list] || [];
  }
  state.children = columns(state.children, CHILD_COLUMNS);
  for (const name of ['sd', 'samples', 'chance', 'credit']) { // left out where no child has them
    if (!state.children[name].length) state.children[name] = state.children.arm.map(() => 0);
  }
  state.rounds = columns(state.rounds, ROUND_COLUMNS);
  state.programs = state.programs || {};
  state.from = state.from || { children: 0, rounds: 0 };
  state.next = state.next || { children: 0, rounds: 0 };
  return state;
}

// join finds the rows of parents, which the data give as orders of birth in the search. -1 is the initial program.
function join(run) {
  const c = run.children;
  const key = (arm, born) => arm * 2 ** 30 + born;
  const rows = new Map();
  for (let row = 0; row < c.arm.length; row++) rows.set(key(c.arm[row], c.born[row]), row);
  c.kin = c.arm.map((arm, row) =>
    (c.parents[row] || []).map(id => id === 0 ? -1 : rows.get(key(arm, id))).filter(p => p !== undefined));
  return run;
}

function columns(table, names) {
  const all = table || {};
  for (const name of names) all[name] = all[name] || [];
  return all;
}

// merge returns next with the page's earlier rows put before the new ones.
function merge(old, next) {
  whole(next);
  if (!old) return join(next);
  next.children = joined(old.children, next.children, next.from.children);
  next.rounds = joined(old.rounds, next.rounds, next.from.rounds);
  next.programs = Object.assign(old.programs, next.programs);
  return join(next);
}

// joined keeps the first rows of old and appends those of next. The page's rows are changed in place: 40,000 are not
// copied for one that is new.
function joined(old, next, from) {
  for (const name of Object.keys(next)) {
    old[name].length = Math.min(old[name].length, from);
    for (const value of next[name]) old[name].push(value);
  }
  return old;
}
