"""Records which programs LLM-Evo keeps, breeds and shows, and how it draws operators. See common.py for the arguments."""

import collections
import contextlib
import io
import random
import sys

import common

folder, of = common.source("nrouizem/LLM-evo", "bb6913d")
common.absent("openai", "utils.client", "utils.llm", "dotenv")
sys.path.insert(0, str(folder / "llm-evo"))

import numpy as np  # noqa: E402

from core import evolve  # noqa: E402
from utils.router import OpBandit  # noqa: E402

DRAWS = 4000
SEEDS = [round(1.5666989 * ((i - 4.5) / 4.5), 7) for i in range(10)]  # mean 0, standard deviation 1: scores stay as they are
assert abs(np.std(SEEDS) - 1) < 1e-6


def play(generations, seed):
    """The parents and shown programs of each generation. Programs are the numbers of their births."""
    chance = random.Random(seed)
    scores = list(SEEDS)
    scores += [round(chance.uniform(-1.5, 1.5) + 0.2 * g, 5) for g in range(generations) for _ in range(16)]
    number = lambda p: int(p[0])  # noqa: E731
    made, found = [], []

    def router(prev1, prev2, query, memory, bandit, insights):
        made.append((number(prev1), [number(m) for m in memory]))
        return "mutate", str(9 + len(made)), prev1[1], prev2[1]

    evolve.operator_router = router
    evolve.call_llm_generate_insights = lambda *a, **k: ""
    evolve.log_entry = lambda *a, **k: None
    evolve.ThreadPoolExecutor = Inline
    evolve.as_completed = lambda futures: futures
    with contextlib.redirect_stdout(io.StringIO()):
        evolve.evolve("", lambda program: scores[int(program)], [str(i) for i in range(10)], GENS=generations, log_path="/dev/null")
    for g in range(generations):
        of = made[16 * g:16 * g + 16]
        found.append({"parents": [m[0] for m in of], "shown": of[0][1]})
    return {"scores": scores, "generations": found}


class Inline:
    """Runs what is submitted at once, in order."""

    def __init__(self, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *a):
        pass

    def submit(self, f, **kwargs):
        value = f(**kwargs)
        return type("Done", (), {"result": lambda self: value})()


def shown():
    """How often which program is shown in the third generation of one history."""
    counts = collections.Counter()
    for _ in range(DRAWS // 4):
        counts.update(str(n) for n in play(3, 3)["generations"][2]["shown"])
    return counts


def bandit(seed):
    """The chances of the operators after each of some rewards."""
    chance = random.Random(seed)
    b = OpBandit(init_probs=[0.5, 0.1, 0.3, 0.1])
    steps = []
    for _ in range(40):
        b.pick()
        op, reward = chance.randrange(4), round(chance.uniform(-1, 1), 3)
        steps.append({"probs": [float(p) for p in b.probs], "op": op, "reward": reward})
        b.update(b.ops[op], reward)
    return steps


random.seed(7)
np.random.seed(7)
common.write({"source": of, "draws": DRAWS // 4, "plays": [play(6, 1), play(6, 2)], "third": play(3, 3), "shown": shown(), "bandit": bandit(1)})
