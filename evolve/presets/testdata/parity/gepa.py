"""Records which programs GEPA draws, which it merges, and on which cases it judges a merge. See common.py."""

import collections
import math
import random
import textwrap

import common

folder, of = common.source("gepa-ai/gepa", "b265bf9c")
common.package("gepa", folder / "src" / "gepa")

from gepa.gepa_utils import find_dominator_programs, select_program_candidate_from_pareto_front  # noqa: E402

DRAWS = 10000


def fronts(table):
    """The programs with the best score in each case, in the order in which they came."""
    best, at = {}, {}
    for program, scores in enumerate(table):
        for case, score in enumerate(scores):
            if score > best.get(case, float("-inf")):
                best[case], at[case] = score, {program}
            elif score == best[case]:
                at[case].add(program)
    return at


def table(chance, programs, cases, values):
    return [[chance.choice(values) for _ in range(cases)] for _ in range(programs)]


chance = random.Random(3)
tables = [
    table(chance, 6, 4, [0, 1]),
    table(chance, 12, 6, [0, 0.25, 0.5, 0.75, 1]),
    table(chance, 20, 10, [round(0.05 * i, 2) for i in range(21)]),
    [[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]],
    [[0.5], [0.7], [0.7], [0.1]],
    table(chance, 30, 25, [0, 1]),
]
played = []
for scores in tables:
    total = [sum(s) / len(s) for s in scores]
    drawn = collections.Counter()
    r = random.Random(1)
    for _ in range(DRAWS):
        drawn[str(select_program_candidate_from_pareto_front(fronts(scores), total, r))] += 1
    played.append({"cases": scores, "needed": sorted(find_dominator_programs(fronts(scores), total)), "drawn": drawn})

source = (folder / "src" / "gepa" / "proposer" / "merge.py").read_text()
judge = source[source.index("    def select_eval_subsample_for_merged_program"):source.index("    def propose(")]
names = {"math": math, "DataId": int}
exec(textwrap.dedent(judge), names)  # the method alone, since its class imports the whole engine
judged = []
for first, second in [(tables[2][0], tables[2][1]), ([1, 1, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1]), (tables[5][3], tables[5][4])]:
    me = type("Me", (), {"rng": random.Random(2)})()
    drawn = collections.Counter()
    for _ in range(DRAWS):
        cases = names["select_eval_subsample_for_merged_program"](me, dict(enumerate(first)), dict(enumerate(second)))
        for case in cases:
            drawn[str(case)] += 1
    judged.append({"first": first, "second": second, "drawn": drawn})

common.write({"source": of, "draws": DRAWS, "plays": played, "judged": judged})
