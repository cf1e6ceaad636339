"""Records which parents and inspirations ShinkaEvolve draws from an archive. See common.py for the arguments."""

import collections
import random
import sqlite3
import types

import common

folder, of = common.source("SakanaAI/ShinkaEvolve", "9912af1")
common.package("shinka", folder / "shinka")
common.package("shinka.database", folder / "shinka" / "database")

import numpy as np  # noqa: E402

from shinka.database.inspirations import CombinedContextSelector, InspirationContextBuilder  # noqa: E402
from shinka.database.parents import WeightedSamplingStrategy  # noqa: E402

DRAWS = 4000
CONFIG = types.SimpleNamespace(
    parent_selection_lambda=10.0, elite_selection_ratio=0.3, enforce_island_separation=True, archive_size=40
)


def database(programs):
    """A database of [score, children, island, archived] in a table, with the columns that are read."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE programs (id TEXT, combined_score REAL, children_count INT, island_idx INT, correct INT, "
               "generation INT, public_metrics TEXT, private_metrics TEXT, metadata TEXT, archive_inspiration_ids TEXT, "
               "top_k_inspiration_ids TEXT, embedding TEXT, embedding_pca_2d TEXT, embedding_pca_3d TEXT, migration_history TEXT)")
    db.execute("CREATE TABLE archive (program_id TEXT)")
    for i, (score, children, island, archived) in enumerate(programs):
        db.execute("INSERT INTO programs (id, combined_score, children_count, island_idx, correct, generation) VALUES (?, ?, ?, ?, 1, ?)",
                   (str(i), score, children, island, i))
        if archived:
            db.execute("INSERT INTO archive VALUES (?)", (str(i),))
    return db


def play(programs, islands):
    db = database(programs)
    row = lambda r: types.SimpleNamespace(**{k: r[k] for k in r.keys()})  # noqa: E731
    get = lambda id: row(db.execute("SELECT * FROM programs WHERE id = ?", (id,)).fetchone())  # noqa: E731
    best = str(max(range(len(programs)), key=lambda i: programs[i][0]))
    drawn = []
    for island in islands:
        parents, shown = collections.Counter(), collections.Counter()
        for _ in range(DRAWS):
            parent = WeightedSamplingStrategy(db.cursor(), db, CONFIG, get, best, island).sample_parent()
            parents[parent.id] += 1
            full = get(parent.id)
            archive, top = CombinedContextSelector(
                db.cursor(), db, CONFIG, get, best, lambda id: get(id).island_idx, row
            ).sample_context(full, 1, 1)
            context = InspirationContextBuilder("ascending").build_context(archive, top)
            shown[parent.id + ": " + " ".join(p.id for p in context)] += 1
        drawn.append({"island": island, "parents": parents, "shown": shown})
    return {"programs": programs, "drawn": drawn}


random.seed(5)
np.random.seed(5)
chance = random.Random(5)
many = [[round(chance.random(), 4), chance.randint(0, 5), i % 2, i % 5 != 4] for i in range(24)]
common.write({
    "source": of,
    "draws": DRAWS,
    "plays": [
        play([[0.1, 0, 0, True], [0.1, 0, 1, True]], [0, 1]),
        play([[0.5, 3, 0, True], [0.7, 1, 0, True], [0.7, 0, 0, True], [0.2, 0, 0, True], [0.9, 2, 1, True]], [0, 1]),
        play(many, [0, 1]),
    ],
})
