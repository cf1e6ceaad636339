"""Records what AdaEvolve's database keeps and samples. See common.py for the arguments."""

import collections
import random

import common
import runs

folder, of = common.source("skydiscover-ai/skydiscover", "59643ef")
common.package("skydiscover", folder / "skydiscover")
for name in ["utils", "search", "search.adaevolve"]:
    common.package("skydiscover." + name, folder / "skydiscover" / name.replace(".", "/"))
common.package("skydiscover.search.adaevolve.paradigm", folder).ParadigmTracker = None  # not used

from skydiscover.config import AdaEvolveDatabaseConfig  # noqa: E402
from skydiscover.search.adaevolve.archive.diversity import CodeDiversity  # noqa: E402
from skydiscover.search.adaevolve.database import AdaEvolveDatabase  # noqa: E402
from skydiscover.search.base_database import Program  # noqa: E402

DRAWS = 6000
known = {}
distance = CodeDiversity.distance


def remembered(self, a, b):
    """The distance of two programs, which is worked out once."""
    key = a.solution, b.solution
    if key not in known:
        known[key] = distance(self, a, b)
    return known[key]


CodeDiversity.distance = remembered


def text(chance):
    """A program: some statements with some names."""
    names = ["alpha", "beta", "gamma", "delta", "omega", "kappa"]
    lines = ["import math", "from os.path import join", "def f(x):", "    for i in range(9):", "class A:",
             "    return math.sqrt(%s)", "    y = %s + 1.5", "    while %s:", "    g = lambda z: %s", "    try:", "z = %s.run(7)"]
    picked = [chance.choice(lines) for _ in range(chance.randint(2, 8))]
    return "".join((line % chance.choice(names) if "%s" in line else line) + "\n" for line in picked)


def label(db, program):
    return program.metadata["of"]


def state(db):
    return {
        "islands": [sorted(p.metadata["of"] for p in archive.get_all()) for archive in db.archives],
        "intensity": [db.adapter.get_search_intensity(i) for i in range(db.num_islands)],
        "visits": list(db.adapter.dimension_visits),
        "next": [db.adapter.select_dimension_ucb(n) for n in (40, 90)] if min(db.adapter.dimension_visits) > 2 else [],
    }


def play(seed, count, looks, draw):
    chance = random.Random(seed)
    random.seed(seed)
    db = AdaEvolveDatabase("adaevolve", AdaEvolveDatabaseConfig(use_paradigm_breakthrough=False, use_dynamic_islands=False))
    programs, islands, then, states, draws = [], [], [], [], []
    number = {}
    scores = [round(0.2 + 0.5 * (i + chance.uniform(-0.5, 0.5) * count) / count, 5) for i in range(count + 1)]
    assert len(set(scores)) == len(scores)
    for i in range(count + 1):
        program = Program(id="p%d" % i, solution=text(chance), language="python", metrics={"combined_score": scores[i]}, metadata={})
        number[program.solution, scores[i]] = i
        programs.append([program.solution, scores[i]])
        if i == 0:
            db.seed_all_islands(program, iteration=0)
            islands.append(0)
        else:
            db.current_island = chance.randrange(db.num_islands)
            islands.append(db.current_island)
            db.add(program, iteration=i - 1)
            db.end_iteration(i - 1)
        then.append(db.current_island)
        for archive in db.archives:
            for p in archive.get_all():
                p.metadata["of"] = str(number[p.solution, p.metrics["combined_score"]])
        if i in looks:
            states.append({"after": i, **state(db)})
        for island in draw.get(i, []):
            draws.append({"after": i, **sampled(db, island)})
    return {"programs": programs, "on": islands, "then": then, "states": states, "draws": draws}


def sampled(db, island):
    """How often each parent is drawn in each way, and what is shown with it."""
    db.current_island = island
    parents, shown = collections.Counter(), {}
    for _ in range(DRAWS):
        (parent,), (context,) = (list(d.values()) for d in db.sample(4))
        own = parent.metadata["of"]
        parents[db._last_sampling_mode[:7] + " " + own] += 1
        shown[own] = sorted({p.metadata["of"] for p in context} - {own})
    return {"island": island, "parents": parents, "shown": shown}


def run(seed):
    """The best score of a search with one child under way."""
    chance = random.Random(seed)
    random.seed(seed)
    db = AdaEvolveDatabase("adaevolve", AdaEvolveDatabaseConfig(use_paradigm_breakthrough=False, use_dynamic_islands=False))
    new = lambda id, code: Program(id=id, solution=code, language="python", metrics={"combined_score": runs.score(code)}, metadata={})  # noqa: E731
    db.seed_all_islands(new("p0", runs.INITIAL), iteration=0)
    best = runs.score(runs.INITIAL)
    for i in range(runs.CHILDREN):
        (parent,) = db.sample(4)[0].values()
        program = new("p%d" % (i + 1), runs.child(parent.solution, chance))
        program.parent_id = parent.id
        best = max(best, program.metrics["combined_score"])
        db.add(program, iteration=i, parent_id=parent.id)
        db.end_iteration(i)
    return best


common.write({
    "source": of,
    "draws": DRAWS,
    "bests": [round(run(seed), 5) for seed in range(100)],
    "plays": [play(11, 12, [1, 6, 12], {6: [0], 12: [1]}), play(12, 90, [30, 47, 48, 61, 62, 90], {48: [1], 90: [0, 1]})],
})
