"""Records where whole searches end on folders with an evaluator.py, with a model that moves one of a program's numbers.

usage: python3 folders.py OPENEVOLVE GEPA OUT FOLDER..., copies of the two systems at the commits below.
"""

import contextlib
import importlib.util
import io
import json
import random
import re
import sys
import tempfile
from pathlib import Path

import common

COMMITS = {"openevolve": "411fb59", "gepa": "b265bf9c"}
CALLS, SEEDS = 200, 5
openevolve, gepa, out = (Path(a).resolve() for a in sys.argv[1:4])
folders = [Path(a).resolve() for a in sys.argv[4:]]
sys.path.insert(0, str(gepa / "src"))
common.absent("openai", "dacite")
common.package("openevolve", openevolve / "openevolve")
common.package("openevolve.llm", openevolve / "openevolve" / "llm")

import gepa.api  # noqa: E402
from openevolve.config import DatabaseConfig  # noqa: E402
from openevolve.database import Program, ProgramDatabase  # noqa: E402
from openevolve.utils.metrics_utils import get_fitness_score  # noqa: E402

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")


def child(program, chance):
    """Moves one number between the markers, if there are any."""
    start, end = program.find("EVOLVE-BLOCK-START"), program.find("EVOLVE-BLOCK-END")
    found = [m for m in NUMBER.finditer(program) if start < 0 or start < m.start() < end]
    m = found[chance.randrange(len(found))]
    x = float(m.group())
    x = abs(x + chance.gauss(0, 1) * max(0.1, 0.5 * x))
    text = "%.4f" % x if "." in m.group() else "%d" % round(x)
    return program[: m.start()] + text + program[m.end():]


class Folder:
    """A folder with its evaluator."""

    def __init__(self, path):
        self.name = path.name
        self.initial = next(p for p in sorted(path.iterdir()) if p.name.startswith("initial"))
        self.program = self.initial.read_text()
        spec = importlib.util.spec_from_file_location("evaluator_" + self.name, path / "evaluator.py")
        self.evaluator = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path))
        spec.loader.exec_module(self.evaluator)

    def metrics(self, program):
        with tempfile.NamedTemporaryFile("w", suffix=self.initial.suffix) as f:
            f.write(program)
            f.flush()
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    found = self.evaluator.evaluate(f.name)
            except Exception as e:
                return {"combined_score": 0.0, "error": str(e)}
        return getattr(found, "metrics", found)

    def score(self, program):
        return get_fitness_score(self.metrics(program), [])


def by_openevolve(folder, seed):
    """Five children under way, one for each island."""
    chance = random.Random(seed)
    random.seed(seed)
    db = ProgramDatabase(DatabaseConfig(random_seed=seed))
    db.add(Program(id="0", code=folder.program, metrics={"combined_score": folder.score(folder.program)}))
    under_way = [(i, db.sample_from_island(i, num_inspirations=2)[0]) for i in range(5)]
    for i in range(1, CALLS + 1):
        island, parent = under_way.pop(0)
        code = child(parent.code, chance)
        db.add(Program(id=str(i), code=code, parent_id=parent.id, metrics={"combined_score": folder.score(code)}), iteration=i, target_island=island)
        db.increment_island_generation(island)
        if db.should_migrate():
            db.migrate_programs()
        under_way.append((island, db.sample_from_island(island, num_inspirations=2)[0]))
    return db.get_best_program().metrics["combined_score"]


class Adapter:
    """One case, which the program answers with its score."""

    propose_new_texts = None

    def __init__(self, folder, chance):
        self.folder, self.chance, self.calls = folder, chance, 0

    def evaluate(self, batch, candidate, capture_traces=False):
        score = self.folder.score(candidate["program"])
        return gepa.core.adapter.EvaluationBatch(outputs=[None] * len(batch), scores=[score] * len(batch), trajectories=[None] * len(batch))

    def make_reflective_dataset(self, candidate, batch, components):
        return {c: [{"Feedback": ""}] for c in components}

    def propose(self, candidate, dataset, components, **options):
        self.calls += 1
        return {"program": child(candidate["program"], self.chance)}


def by_gepa(folder, seed):
    adapter = Adapter(folder, random.Random(seed))
    quiet = type("Quiet", (), {"log": lambda self, *a, **k: None})()
    result = gepa.api.optimize(
        {"program": folder.program}, trainset=[0], valset=[0], adapter=adapter, reflection_lm=lambda prompt: "",
        custom_candidate_proposer=adapter.propose, skip_perfect_score=False, seed=seed, logger=quiet,
        stop_callbacks=lambda state: adapter.calls >= CALLS)
    return max(result.val_aggregate_scores)


runs = {"openevolve": by_openevolve, "gepa": by_gepa}
plays = []
for folder in map(Folder, folders):
    for peer, run in runs.items():
        plays.append({"folder": folder.name, "peer": peer, "bests": [round(run(folder, seed), 5) for seed in range(SEEDS)]})
        print(plays[-1], flush=True)
out.write_text(json.dumps({"commits": COMMITS, "calls": CALLS, "plays": plays}, indent=1) + "\n")
