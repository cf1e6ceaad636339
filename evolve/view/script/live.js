// A live page: it asks its own server for what is new whenever a stream says that there is more. The stream carries no
// data, so nothing piles up behind a page that is slow.

// accessToken removes the token from the address bar and keeps it for this tab and its reloads.
function accessToken() {
  const found = /^#(?:token=)?([\w-]{20,})$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem('token', found[1]);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem('token') || '';
}

// ask returns the server's answer. It throws on a refusal, or if there is no answer.
async function ask(path, options) {
  const token = accessToken(); // a program's own server has none, and may ask for another kind of authorization
  const headers = token ? { Authorization: 'Bearer ' + token } : {};
  const answer = await fetch(path, Object.assign({ cache: 'no-store', headers }, options));
  if (!answer.ok) throw Object.assign(new Error(oneLine(await answer.text()) || answer.statusText),
    { status: answer.status });
  return answer;
}

async function askJSON(path) {
  return (await ask(path)).json();
}

// query returns a path with parameters.
function query(path, parameters) {
  return path + '?' + new URLSearchParams(parameters);
}

// FIRST_WAIT and LAST_WAIT are how long the page waits before it tries to connect again, in milliseconds.
const FIRST_WAIT = 250, LAST_WAIT = 5000;

// watch follows the server for as long as the page is open. said gets the state of the connection; news is called, and
// awaited, whenever there may be something new.
async function watch(news, said) {
  let wait = FIRST_WAIT;
  for (;;) {
    try {
      await listenTo(await ask('api/events'), async () => {
        await news();
        wait = FIRST_WAIT;
        said('connected', '');
      });
      said('disconnected', 'the server closed the connection');
    } catch (failure) {
      const unknown = failure.status === 401 || failure.status === 403;
      said('disconnected', unknown ? 'the server does not know this page: open its new link' : failure.message);
    }
    await new Promise(done => setTimeout(done, wait));
    wait = Math.min(wait * 2, LAST_WAIT);
  }
}

// listenTo reads a stream of events until it ends. It calls news first, and again after each event; events that arrive
// while news runs make one more call.
async function listenTo(answer, news) {
  const reader = answer.body.getReader();
  let more = true, over = false, wake = () => {};
  const reading = (async () => {
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        more = more || new TextDecoder().decode(part.value).includes('data:');
        wake();
      }
    } finally {
      over = true;
      wake();
    }
  })();
  try {
    while (!over) {
      if (more) {
        more = false;
        await news();
      } else {
        await new Promise(done => { wake = done; });
      }
    }
    await reading;
  } finally {
    reading.catch(() => {});
    reader.cancel().catch(() => {});
  }
}

// fetchRuns fetches the list of runs, and keeps the page's data of each.
async function fetchRuns(app) {
  const listing = await askJSON('api/runs');
  const known = new Map(app.page.runs.map(r => [r.id, r]));
  app.page.title = listing.title || app.page.title;
  app.page.runs = (listing.runs || []).map(entry => known.get(entry.id) || whole({ id: entry.id, name: entry.name,
    status: '', unread: true, open: entry.open }));
}

// fetchRun fetches the part of a run that the page lacks, and returns the run.
async function fetchRun(run) {
  const { children, rounds } = run.unread ? { children: 0, rounds: 0 } : run.next;
  const next = await askJSON(query('api/state', { run: run.id, children, rounds }));
  return merge(run.unread ? null : run, next);
}
