"""Records which agents the Darwin Gödel Machine improves. See common.py for the arguments."""

import collections
import random
import sys

import common

folder, of = common.source("jennyzzt/dgm", "d88fdd6")
common.absent("docker", "prompts", "prompts.self_improvement_prompt", "self_improve_step", "utils", "utils.common_utils",
              "utils.docker_utils", "utils.evo_utils")
sys.path.insert(0, str(folder))

import DGM_outer  # noqa: E402

DRAWS = 6000
DGM_outer.any_exceeding_context_length = lambda *a: False
DGM_outer.print = lambda *a: None


def play(programs):
    """How often each of [score, parent] is improved."""
    names = ["initial"] + [str(i) for i in range(1, len(programs))]
    DGM_outer.load_json_file = lambda path: (lambda i: {
        "overall_performance": {"accuracy_score": programs[i][0], "total_unresolved_ids": ["u"], "total_emptypatch_ids": [],
                                "total_resolved_ids": []},
        "parent_commit": names[programs[i][1]],
    })(names.index(path.split("/")[-2]))
    drawn = collections.Counter()
    for parent, _ in DGM_outer.choose_selfimproves("out", names, DRAWS, method="score_child_prop"):
        drawn[str(names.index(parent))] += 1
    return {"programs": programs, "drawn": drawn}


random.seed(6)
chance = random.Random(6)
many = [[round(chance.random(), 3), chance.randrange(max(1, i))] for i in range(20)]
common.write({"source": of, "draws": DRAWS, "plays": [
    play([[0.2, 0]]), play([[0.2, 0], [0.5, 0], [0.5, 0], [0.9, 1]]), play(many),
]})
