"""Records what OpenEvolve's database keeps and samples. See common.py for the arguments."""

import collections
import random

import common
import runs

folder, of = common.source("algorithmicsuperintelligence/openevolve", "411fb59")
common.absent("openai", "dacite")
common.package("openevolve", folder / "openevolve")
common.package("openevolve.llm", folder / "openevolve" / "llm")

from openevolve.config import DatabaseConfig  # noqa: E402
from openevolve.database import Program, ProgramDatabase  # noqa: E402

DRAWS = 8000


class Ordered(dict):
    """A set in the order in which things were added, for what depends on a set's order: who leaves of equals."""

    def add(self, id):
        self.setdefault(id)

    def discard(self, id):
        self.pop(id, None)

    remove = discard


class Unordered(set):
    """A set that is never in the same order twice, as that of a set of random IDs is any."""

    def __iter__(self):
        order = sorted(set.__iter__(self))
        random.shuffle(order)
        return iter(order)


def text(chance):
    """A program: some lines of some letters."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789+-*/()"[: chance.randint(6, 42)]
    return "".join("".join(chance.choices(letters, k=chance.randint(1, 12))) + "\n" for _ in range(chance.randint(1, 7)))


def label(db, id):
    """The number of a program, and the island of a copy that migrated."""
    program = db.programs[id]
    return program.metadata["of"] + (">%d" % program.metadata["island"] if program.metadata.get("migrant") else "")


def state(db):
    return {
        "islands": [sorted(label(db, id) for id in list(island)) for island in db.islands],
        "cells": [sorted(key.replace("-", " ") + ": " + label(db, id) for key, id in cells.items()) for cells in db.island_feature_maps],
        "best": [label(db, id) if id else "" for id in db.island_best_programs],
        "elite": sorted(label(db, id) for id in db.archive),
    }


def play(name, seed, count, looks, draw, sizes):
    """Gives count children to islands in turn, looks at the database after some of them, and draws from some islands."""
    chance = random.Random(seed)
    random.seed(seed)
    db = ProgramDatabase(DatabaseConfig(random_seed=seed, **sizes))
    db.archive, db.islands = Ordered(), [Ordered() for _ in db.islands]
    n = len(db.islands)
    programs, states, draws = [], [], []
    scores = [round(0.2 + 0.6 * (i + chance.uniform(-0.4, 0.4) * count) / count, 5) for i in range(count + 1)]
    assert len(set(scores)) == len(scores)
    for i in range(count + 1):
        code = text(chance) if i % 9 != 8 or i < 25 else programs[i - 4][0]
        score = scores[i]
        if name == "equal" and i > n:
            code, score = programs[i - n]
        programs.append([code, score])
        program = Program(id="p%d" % i, code=code, metrics={"combined_score": score}, metadata={"of": str(i)})
        db.add(program, iteration=i, target_island=(i - 1) % n if i else None)
        if i:
            db.increment_island_generation((i - 1) % n)
            if db.should_migrate():
                db.migrate_programs()
        if i in looks:
            states.append({"after": i, **state(db)})
            draws += sampled(db, i, draw.get(i, []))
    return {"name": name, "sizes": sizes, "programs": programs, "states": states, "draws": draws}


def sampled(db, after, islands):
    """How often each parent and each list of inspirations is sampled for an island."""
    plain = db.islands
    db.islands = [Unordered(island) for island in plain]
    found = []
    for island in islands:
        parents, shown = collections.Counter(), collections.Counter()
        for _ in range(DRAWS):
            parent, inspirations = db.sample_from_island(island, num_inspirations=2)
            parents[label(db, parent.id)] += 1
            shown[" ".join(label(db, p.id) for p in inspirations)] += 1
        found.append({"after": after, "island": island, "parents": parents, "inspirations": shown})
    db.islands = plain
    return found


def run(seed):
    """The best score of a search with five children under way, one for each island."""
    chance = random.Random(seed)
    db = ProgramDatabase(DatabaseConfig(random_seed=seed))
    db.add(Program(id="0", code=runs.INITIAL, metrics={"combined_score": runs.score(runs.INITIAL)}))
    under_way = [(i, db.sample_from_island(i, num_inspirations=2)[0]) for i in range(5)]
    for i in range(1, runs.CHILDREN + 1):
        island, parent = under_way.pop(0)
        code = runs.child(parent.code, chance)
        db.add(Program(id=str(i), code=code, parent_id=parent.id, metrics={"combined_score": runs.score(code)}),
               iteration=i, target_island=island)
        db.increment_island_generation(island)
        if db.should_migrate():
            db.migrate_programs()
        under_way.append((island, db.sample_from_island(island, num_inspirations=2)[0]))
    return db.get_best_program().metrics["combined_score"]


small = dict(population_size=60, archive_size=16, num_islands=3, migration_interval=9)
common.write({
    "source": of,
    "draws": DRAWS,
    "bests": [round(run(seed), 5) for seed in range(100)],
    "plays": [
        play("small", 7, 100, [2, 30, 64, 100], {2: [0, 2], 64: [1], 100: [0, 2]}, small),
        play("equal", 9, 3, [3], {}, dict(small, num_islands=1)),
        play("default", 8, 256, [3, 120, 250, 256], {256: [4]}, {}),
    ],
})
