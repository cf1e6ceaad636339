"""Records what SkyDiscover's beam search, best-of-N and top-k keep, draw and show. See common.py for the arguments."""

import collections
import random

import common
import runs

folder, of = common.source("skydiscover-ai/skydiscover", "59643ef")
common.package("skydiscover", folder / "skydiscover")
for name in ["utils", "search", "search.beam_search", "search.best_of_n", "search.topk"]:
    common.package("skydiscover." + name, folder / "skydiscover" / name.replace(".", "/"))

from skydiscover.config import BeamSearchDatabaseConfig, BestOfNDatabaseConfig, DatabaseConfig  # noqa: E402
from skydiscover.search.base_database import Program  # noqa: E402
from skydiscover.search.beam_search.database import BeamSearchDatabase  # noqa: E402
from skydiscover.search.best_of_n.database import BestOfNDatabase  # noqa: E402
from skydiscover.search.topk.database import TopKDatabase  # noqa: E402

DRAWS = 6000
SEARCHES = {
    "beam": lambda: BeamSearchDatabase("beam", BeamSearchDatabaseConfig()),
    "best-of-n": lambda: BestOfNDatabase("best_of_n", BestOfNDatabaseConfig()),
    "top-k": lambda: TopKDatabase("topk", DatabaseConfig()),
}


class Unordered(set):
    """A set that is never in the same order twice, as that of a set of random IDs is any."""

    def __iter__(self):
        order = sorted(set.__iter__(self))
        random.shuffle(order)
        return iter(order)


def text(chance):
    letters = "abcdefgh"[: chance.randint(2, 8)]
    return "".join(chance.choices(letters, k=chance.randint(1, 24)))


def new(id, code, score):
    return Program(id=id, solution=code, language="text", metrics={"combined_score": score}, metadata={})


def play(name, seed, count, looks):
    """Adds programs, of which each after the first follows a draw, and looks at what is kept and drawn after some."""
    chance = random.Random(seed)
    random.seed(seed)
    db = SEARCHES[name]()
    programs, parents, states = [], [], []
    for i in range(count + 1):
        if i:
            parents.append(db.sample(4)[0].id)
        programs.append([text(chance), round(chance.random(), 5)])
        db.add(new(str(i), *programs[i]), iteration=i)
        if i in looks:
            states.append({"after": i, **state(name, db)})
    return {"name": name, "programs": programs, "parents": [int(p) for p in parents], "states": states}


def state(name, db):
    """What is kept, and how often what is drawn, with the search as it is put back after each draw."""
    found = {"kept": sorted(int(id) for id in getattr(db, "beam", []))}
    if name == "beam":
        expanded, db.expanded = set(db.expanded), Unordered(db.expanded)
    held = {k: getattr(db, k) for k in ("current_parent_id", "parent_iteration_count") if hasattr(db, k)}
    drawn, shown = collections.Counter(), collections.Counter()
    for _ in range(DRAWS):
        parent, context = db.sample(4)
        drawn[parent.id] += 1
        shown[parent.id + ": " + " ".join(p.id for p in context)] += 1
        for k, v in held.items():
            setattr(db, k, v)
        if name == "beam":
            db.expanded = Unordered(expanded)
    if name == "beam":
        db.expanded = expanded
    if name == "best-of-n":  # any order of four is as good
        shown = collections.Counter()
        for _ in range(DRAWS):
            for p in db.sample(4)[1]:
                shown[p.id] += 1
            for k, v in held.items():
                setattr(db, k, v)
    return {**found, "drawn": drawn, "shown": shown}


def run(name, seed):
    """The best score of a search with one child under way."""
    chance = random.Random(seed)
    random.seed(seed)
    db = SEARCHES[name]()
    db.add(new("0", runs.INITIAL, runs.score(runs.INITIAL)), iteration=0)
    best = runs.score(runs.INITIAL)
    for i in range(1, runs.CHILDREN + 1):
        code = runs.child(db.sample(4)[0].solution, chance)
        best = max(best, runs.score(code))
        db.add(new(str(i), code, runs.score(code)), iteration=i)
    return best


common.write({
    "source": of,
    "draws": DRAWS,
    "bests": [{"name": name, "bests": [round(run(name, seed), 5) for seed in range(100)]} for name in SEARCHES],
    "plays": [play(name, seed, 60, [0, 1, 4, 5, 6, 30, 60]) for name in SEARCHES for seed in (5, 6)],
})
