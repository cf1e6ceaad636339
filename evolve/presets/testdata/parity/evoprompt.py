"""Records which parents EvoPrompt crosses, and which prompts stay. See common.py for the arguments."""

import collections
import logging
import random
import sys
import types

import common

folder, of = common.source("beeevita/EvoPrompt", "94caff3")
common.absent("utils", "infer", "llm_client", "data", "data.templates", "data.template_ga")
sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402

import evoluter  # noqa: E402

DRAWS = 1500
evoluter.templates = {"v1": {"sim": "<prompt0>|<prompt1>|<prompt2>|<prompt3>"}}
evoluter.templates_2 = {"sim": "<prompt1>|<prompt2>"}
evoluter.get_final_prompt = lambda text: text
evoluter.evaluate_optimized_prompt = lambda *a: (0, "")


def play(mode, scores, children):
    """Plays generations of ten. children returns the program and the score of the n-th child. Returns what was asked for
    and the population after each generation."""
    table = {"p%d" % i: s for i, s in enumerate(scores)}
    asked, kept, made = [], [], []
    kind = {"ga": evoluter.GAEvoluter, "de": evoluter.DEEvoluter}[mode]
    me = kind.__new__(kind)
    me.template = evoluter.templates_2["sim"] if mode == "ga" else evoluter.templates["v1"]["sim"]
    me.args = types.SimpleNamespace(budget=len(children) // 10, popsize=10, sel_mode="wheel", ga_mode="topk", donor_random=False,
                                    llm_type="", task="sum", write_step=10)
    me.logger = logging.getLogger("quiet")
    me.public_out_path, me.client, me.eval_src, me.eval_tgt = "", None, [], []
    me.evaluator = types.SimpleNamespace(
        forward=lambda p, *a: {"hypos": None, "scores": [table[p]]}, logger=me.logger, client=None, llm_config={}, public_out_path="")
    me.llm_config = {}
    me.population = list(table)
    me.prompts2mark = collections.defaultdict(str)
    me.init_pop = lambda: ({p: [s] for p, s in table.items()}, -1)
    me.write_step = lambda *a: kept.append(list(me.population))
    me.sorted = lambda: None

    def query(data, **options):
        asked.append(data.split("|"))
        program, score = children[len(made)]
        table[program] = score
        made.append(program)
        return program

    evoluter.llm_query = query
    me.evolute()
    return asked, kept


def stays(mode, seed):
    """Who stays, by what the first of each child's programs was."""
    chance = random.Random(seed)
    scores = [round(chance.random(), 4) for _ in range(10)]
    children = [("c%d" % i, round(0.3 + 0.7 * chance.random(), 6)) for i in range(60)]
    assert len({s for _, s in children} | set(scores)) == 70  # of equals any stays
    if mode == "ga":  # a child that is a member already
        children[31] = children[3]
    asked, kept = play(mode, scores, children)
    return {"mode": mode, "scores": scores, "children": children, "first": [a[0] for a in asked], "kept": [sorted(k) if mode == "ga" else k for k in kept]}


def draws(mode, scores):
    """How often which programs are shown, of a population that no child gets into."""
    counts = collections.Counter()
    if mode == "ga":  # draws of one generation depend on each other, so the first of each counts
        asked, _ = play(mode, scores, [("bad", -1)] * 10 * DRAWS)
        counts.update(" ".join(a) for a in asked[::10] if a[0] != a[1])
    else:
        asked, _ = play(mode, scores, [("bad", -1)] * DRAWS)
        counts.update(" ".join(a) for a in asked)
    return {"mode": mode, "scores": scores, "drawn": counts}


random.seed(2)
np.random.seed(2)
chance = random.Random(2)
wheel = [round(0.05 + chance.random(), 4) for _ in range(10)]
common.write({
    "source": of,
    "stays": [stays("ga", 3), stays("de", 4)],
    "draws": [draws("ga", wheel), draws("ga", [0.9] + [0.1] * 9), draws("de", wheel)],
})
