// The positions of candidates in the lineage: by score and generation, or as a tree. Nodes are the rows of children,
// and after them the searches' initial programs. Invalid ones stand in a strip of their own, without edges.

const HIDDEN = 0, PLACED = 1, STRIP = 2;

// makeScene returns positions and edges of a run's nodes that keep accepts.
function makeScene(run, keep, kind) {
  const n = run.children.arm.length;
  const size = n + run.arms.length;
  const scene = { n, size, x: new Float64Array(size), y: new Float64Array(size), how: new Uint8Array(size),
    arm: new Int32Array(size),
    edges: [], kind, low: 0, high: 1, wide: 1 };
  for (let row = 0; row < n; row++) {
    scene.arm[row] = run.children.arm[row];
    if (keep(row)) scene.how[row] = isValid(run, row) ? PLACED : STRIP;
  }
  run.arms.forEach((a, i) => {
    scene.arm[n + i] = i;
    if (a.valid && keep(-1 - i)) scene.how[n + i] = PLACED;
  });
  joinParents(scene, run);
  spread(scene, run);
  if (kind === 'tree') tree(scene, run);
  else byScore(scene, run);
  for (let i = 0; i < size; i++) if (scene.how[i]) scene.wide = Math.max(scene.wide, scene.x[i]);
  return scene;
}

// parentNodes returns the nodes of a row's parents. A negative parent is the search's initial program.
function parentNodes(run, row) {
  const start = run.children.arm.length + run.children.arm[row];
  const parents = run.children.kin[row];
  return parents && parents.length ? parents.map(p => p < 0 ? start : p) : [start];
}

function joinParents(scene, run) {
  for (let row = 0; row < scene.n; row++) {
    if (scene.how[row] !== PLACED) continue;
    for (const p of parentNodes(run, row)) if (scene.how[p] === PLACED && p !== row) scene.edges.push(p, row);
  }
}

// spread puts the children of a generation beside each other.
function spread(scene, run) {
  const count = new Map();
  const step = run.children.step;
  const group = row => step[row] * 2 + (scene.how[row] === STRIP ? 1 : 0);
  for (let row = 0; row < scene.n; row++) if (scene.how[row]) count.set(group(row), (count.get(group(row)) || 0) + 1);
  const next = new Map();
  for (let row = 0; row < scene.n; row++) {
    if (!scene.how[row]) continue;
    const g = group(row), i = next.get(g) || 0;
    next.set(g, i + 1);
    scene.x[row] = step[row] + 0.8 * ((i + 0.5) / count.get(g) - 0.5);
    if (scene.how[row] === STRIP) scene.y[row] = (run.children.state[row] - 0.5) / 5;
  }
}

// byScore uses scores as heights. Scores far below the rest are drawn at the lower edge, so that a few bad candidates
// do not squeeze all others.
function byScore(scene, run) {
  const heights = [];
  for (let i = 0; i < scene.size; i++) {
    if (scene.how[i] !== PLACED) continue;
    scene.y[i] = i < scene.n ? run.children.score[i] : run.arms[i - scene.n].start;
    heights.push(scene.y[i]);
  }
  if (!heights.length) return;
  heights.sort((a, b) => a - b);
  const at = q => heights[Math.floor(q * (heights.length - 1))];
  scene.high = heights[heights.length - 1];
  scene.low = Math.max(heights[0], at(0.5) - 4 * (scene.high - at(0.5)), at(0.02) - (scene.high - at(0.02)));
  if (!(scene.low < scene.high)) [scene.low, scene.high] = [scene.low - 0.5, scene.high + 0.5];
}

// tree takes generations as depth along first parents, and gives each leaf a line of its own.
function tree(scene, run) {
  const first = new Int32Array(scene.size).fill(-1);
  const children = Array.from({ length: scene.size }, () => null);
  for (let e = scene.edges.length - 2; e >= 0; e -= 2) first[scene.edges[e + 1]] = scene.edges[e];
  const roots = [];
  for (let i = 0; i < scene.size; i++) {
    if (scene.how[i] !== PLACED) continue;
    if (first[i] < 0) roots.push(i);
    else (children[first[i]] = children[first[i]] || []).push(i);
  }
  let leaf = 0;
  const path = roots.reverse();
  for (const root of path) scene.x[root] = 0;
  const open = new Uint8Array(scene.size);
  while (path.length) { // each node is visited twice: before its children, and after
    const i = path[path.length - 1];
    if (!children[i]) {
      scene.y[i] = -leaf++;
      path.pop();
    } else if (open[i]) {
      scene.y[i] = (scene.y[children[i][0]] + scene.y[children[i][children[i].length - 1]]) / 2;
      path.pop();
    } else {
      open[i] = 1;
      for (let k = children[i].length - 1; k >= 0; k--) {
        scene.x[children[i][k]] = scene.x[i] + 1;
        path.push(children[i][k]);
      }
    }
  }
  scene.low = -Math.max(leaf - 1, 1);
  scene.high = 0;
  for (let row = 0; row < scene.n; row++) { // nodes without a score lie below their parent's children
    if (scene.how[row] !== STRIP) continue;
    const parent = parentNodes(run, row)[0];
    scene.x[row] = (scene.how[parent] === PLACED ? scene.x[parent] : 0) + 1 + 0.08 * (row % 9 - 4);
  }
}
