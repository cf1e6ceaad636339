// The page: a header with a tab for each run and study, and the parts that show the chosen run.

const PARTS = [answerPart, curvesPart, metersPart, settingsPart, bestPart, allocationPart, lineagePart, stepperPart,
  candidatePart, ledgersPart, faultsPart];

function makeApp(page) {
  const app = { page, tab: 0, run: null, selected: -1, parts: [], asked: new Map() };
  app.select = (row, show) => select(app, row, show);
  app.show = part => { part.node.hidden = !part.update(app.run); nameParts(app); };
  app.program = key => program(app, key);
  app.diff = (from, to) => askJSON(query('api/diff', { run: app.run.id, from, to })).catch(() => null);
  app.parts = PARTS.map(make => make(app));
  app.tabs = el('div', { role: 'tablist', class: 'tabs', 'aria-label': 'Runs', click: e => pressTab(app, e),
    keydown: e => turnTabs(app, e) });
  app.status = el('span', { class: 'status', role: 'status' });
  app.link = el('span', { class: 'link-state', role: 'status' });
  app.nav = el('nav', { 'aria-label': 'Parts of this page' });
  const tools = el('div', { class: 'tools' }, app.link, page.live ? button('Save report', () => saveReport(app)) : null);
  document.getElementById('head').append(app.status, tools, app.tabs);
  document.getElementById('main').replaceChildren(app.nav,
    el('div', { id: 'view', role: 'tabpanel' }, ...app.parts.map(p => p.node), el('div', { id: 'study' })));
  return app;
}

// tabsOf returns a name for each run and study.
function tabsOf(page) {
  return [...page.runs.map(r => r.name || r.id), ...(page.studies || []).map(s => s.name)];
}

// titleOf returns the name of the chosen study, or the task and the method of the chosen run, which its file's name begins
// with; else the page's title.
function titleOf(app, study) {
  const task = app.run && app.run.facts.find(f => f.name === 'Task');
  const method = app.run && /([^/]+)_C\d+_T\d+_/.exec(app.run.name);
  return task && method ? task.value + ': ' + method[1] : study ? study.name : app.page.title;
}

// draw shows the chosen tab.
function draw(app) {
  const names = tabsOf(app.page);
  app.tab = Math.min(app.tab, Math.max(names.length - 1, 0));
  app.run = app.page.runs[app.tab] || null;
  const study = app.run ? null : app.page.studies[app.tab - app.page.runs.length];
  document.title = document.getElementById('title').textContent = oneLine(titleOf(app, study));
  app.tabs.hidden = names.length < 2;
  refill(app.tabs, [names, app.tab],
    () => names.map((name, i) => el('button', { type: 'button', role: 'tab', 'data-tab': i,
    'aria-selected': String(i === app.tab), tabindex: i === app.tab ? 0 : -1 }, oneLine(name, 60))));
  showChosenTab(app);
  const status = app.run ? app.run.status : '';
  app.status.hidden = !status;
  app.status.dataset.status = status;
  refill(app.status, status, () => [status]);
  for (const part of app.parts) {
    part.node.hidden = false; // a part that measures its space must be visible
    part.node.hidden = !app.run || !part.update(app.run);
  }
  refill(document.getElementById('study'), study ? app.tab : -1, () => study ? studyNode(study) : []);
  nameParts(app);
}

// showChosenTab scrolls the row of tabs to the chosen one.
function showChosenTab(app) {
  const chosen = app.tabs.querySelector('[aria-selected=true]');
  if (!chosen || chosen === app.shownTab) return; // a live page must not move a row that a person has scrolled
  app.shownTab = chosen;
  app.tabs.scrollLeft = chosen.offsetLeft + chosen.offsetWidth / 2 - app.tabs.clientWidth / 2;
}

// nameParts lists the visible parts.
function nameParts(app) {
  const cards = [...document.querySelectorAll('#view .card')].filter(c => !c.hidden);
  refill(app.nav, cards.map(c => c.id + c.querySelector('h2').textContent), () => cards.map(c =>
    button(c.querySelector('h2').textContent, () => {
      c.scrollIntoView({ block: 'start' });
      c.setAttribute('tabindex', '-1');
      c.focus({ preventScroll: true });
    }, { class: 'link' })));
}

// select makes a row the selected candidate, and goes there if show is set.
function select(app, row, show) {
  app.selected = row;
  for (const part of app.parts) if (part.picked && !part.node.hidden || part.name === 'Candidate') part.picked(row);
  if (show) document.getElementById('candidate').scrollIntoView({ block: 'start' });
}

function pressTab(app, event) {
  const tab = event.target.closest('[data-tab]');
  if (tab) chooseTab(app, Number(tab.dataset.tab));
}

function turnTabs(app, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const n = tabsOf(app.page).length;
  if (!by || !n) return;
  event.preventDefault();
  chooseTab(app, (app.tab + by + n) % n);
  app.tabs.querySelector('[aria-selected=true]').focus();
}

function chooseTab(app, tab) {
  app.tab = tab;
  app.selected = -1;
  if (app.page.live && app.page.runs[tab]) sessionStorage.setItem('run', app.page.runs[tab].id);
  draw(app);
  if (app.refresh) app.refresh().catch(() => {}); // the stream reports when the server is gone
}

// program returns the text of a program of the run, or null: from the page's data, or from the server of a live one.
function program(app, key) {
  const run = app.run;
  if (!key) return Promise.resolve(null);
  if (run.programs[key]) return Promise.resolve(run.programs[key]);
  if (!app.page.live) return Promise.resolve(null);
  return askJSON(query('api/program', { run: run.id, key })).then(code => { run.programs[key] = code; return code; },
    () => null);
}

function saveReport(app) {
  ask(query('report', app.run ? { run: app.run.id } : {})).then(a => a.text()).then(
    text => save(app.page.title + '.html', 'text/html', text), failure => { app.link.textContent = failure.message; });
}

// startLive shows the server's runs, and keeps them up to date.
function startLive(app) {
  const before = sessionStorage.getItem('run');
  const refresh = async () => {
    await fetchRuns(app);
    const chosen = app.run ? app.run.id : before; // may have changed while the answer was under way
    const at = app.page.runs.findIndex(r => r.id === chosen);
    if (at >= 0) app.tab = at;
    else app.selected = -1; // the run that it is of is gone
    const i = Math.min(app.tab, app.page.runs.length - 1);
    if (i >= 0) app.page.runs[i] = await fetchRun(app.page.runs[i]);
    draw(app);
  };
  let last = Promise.resolve(); // one at a time, so that a late answer does not overwrite a newer one
  app.refresh = () => last = last.then(refresh, refresh);
  watch(app.refresh, (state, why) => {
    app.link.dataset.state = state;
    app.link.textContent = state === 'connected' ? 'live' : 'disconnected: ' + oneLine(why, 80);
  });
}

// redrawAll redraws everything that depends on the size or the colours.
function redrawAll(app, how) {
  if (!app.run) return;
  for (const part of app.parts) if (part[how] && !part.node.hidden) part[how](app.run);
}

async function start() {
  const live = document.body.dataset.live === 'true';
  const page = live ? { title: document.title, live, runs: [], studies: [] }
    : await unpack(document.getElementById('data'));
  page.runs = (page.runs || []).map(run => join(whole(run)));
  page.studies = page.studies || [];
  const app = makeApp(page);
  if (page.studies.length) app.tab = page.runs.length; // studies come before single runs
  draw(app);
  let wide = 0, waiting = 0;
  new ResizeObserver(entries => {
    const now = entries[0].contentRect.width;
    if (now === wide) return;
    wide = now;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => redrawAll(app, 'resize'));
  }).observe(document.getElementById('view'));
  for (const look of ['(prefers-color-scheme: dark)', 'print']) matchMedia(look).addEventListener('change',
    () => redrawAll(app, 'recolour'));
  if (live) startLive(app);
  document.body.dataset.ready = 'true';
  performance.mark('ready');
}

start().catch(failure => {
  document.getElementById('main').replaceChildren(el('p', { class: 'bad' },
    'This page cannot be shown: ' + failure.message));
  throw failure;
});
