"""Records which engine's best program GEPA hands on. See common.py for the arguments."""

import random

import common

folder, of = common.source("gepa-ai/gepa", "b265bf9c")
common.package("gepa", folder / "src" / "gepa")
common.package("gepa.oa", folder / "src" / "gepa" / "oa")

from gepa.oa import ensemble  # noqa: E402
from gepa.oa.config import OptimizeAnythingConfig  # noqa: E402
from gepa.oa.engine import Result  # noqa: E402


def play(scores):
    """The place of the engine from whose best program a fresh one begins, of engines that came to these scores."""
    names = iter(range(len(scores)))
    ensemble.optimize_anything_from_task = lambda task, evaluate, config: (
        lambda i: Result(best_candidate=str(i), best_score=scores[i], total_evals=1, eval_log=[], metadata={})
    )(next(names))
    winner = ensemble.optimize_best_of("seed", evaluator=None, configs=[OptimizeAnythingConfig() for _ in scores], max_workers=1)
    return int(winner.best_candidate)


chance = random.Random(4)
lists = [[0.1, 0.5, 0.3], [0.5, 0.5, 0.3], [0.3, 0.5, 0.5], [0, 0, 0], [-3, -1, -2]]
lists += [[chance.choice([0, 0.25, 0.5, 1]) for _ in range(3)] for _ in range(20)]
common.write({"source": of, "plays": [{"scores": scores, "winner": play(scores)} for scores in lists]})
