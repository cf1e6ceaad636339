# Run a folder's evaluator.py on a candidate, in the candidate's process.

import importlib.util
import json
import math
import os
import sys
import types


class EvaluationResult:
    """Stands in for openevolve.evaluation_result.EvaluationResult where that is not installed."""

    def __init__(self, metrics=None, artifacts=None):
        self.metrics = {} if metrics is None else metrics
        self.artifacts = {} if artifacts is None else artifacts

    @classmethod
    def from_dict(cls, metrics):
        return cls(metrics=metrics)

    def to_dict(self):
        return self.metrics

    def has_artifacts(self):
        return bool(self.artifacts)

    def get_artifact_keys(self):
        return list(self.artifacts)

    def get_artifact_size(self, key):
        value = self.artifacts.get(key, b"")
        return len(value if isinstance(value, bytes) else str(value).encode())

    def get_total_artifact_size(self):
        return sum(map(self.get_artifact_size, self.artifacts))

    def __repr__(self):
        return "EvaluationResult(metrics=%r, artifacts=%r)" % (self.metrics, self.artifacts)


def shim():
    """Make openevolve.evaluation_result importable where it is not."""
    try:
        if importlib.util.find_spec("openevolve") is not None:
            return
    except (ImportError, ValueError):
        pass
    package, module = types.ModuleType("openevolve"), types.ModuleType("openevolve.evaluation_result")
    package.__path__ = []
    package.evaluation_result, package.EvaluationResult = module, EvaluationResult
    module.EvaluationResult = EvaluationResult
    sys.modules["openevolve"], sys.modules["openevolve.evaluation_result"] = package, module


def wanted(folder):
    """The modules that the evaluator and the program it starts from import whenever they are imported
    themselves, but for those in the folder, which are to be fresh for every candidate."""
    import ast
    names, tree = [], os.path.join(folder, "initial_program")
    files = ["evaluator.py", "initial_program.py", "initial.py"]
    if os.path.isdir(tree):
        files += [os.path.join("initial_program", f) for f in sorted(os.listdir(tree)) if f.endswith(".py")]
    for file in files:
        try:
            with open(os.path.join(folder, file), "rb") as f:
                body = ast.parse(f.read()).body
        except (OSError, SyntaxError, ValueError):
            continue
        for node in body:
            if isinstance(node, ast.Import):
                names += [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.append(node.module)
    return [n for n in dict.fromkeys(names) if not inside(folder, n) and not inside(tree, n)]


def inside(folder, name):
    path = os.path.join(folder, name.split(".")[0])
    return os.path.exists(path + ".py") or os.path.isdir(path)


def number_of(x):
    """x as a float if it is a number and not a bool, else None."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, (numpy.generic, numpy.ndarray)) and x.ndim == 0:
        x = x.item()
    if isinstance(x, bool) or not hasattr(type(x), "__float__") or isinstance(x, str):
        return None
    try:
        return float(x)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def text_of(x):
    if isinstance(x, bytes):
        return x.decode("utf-8", "replace")
    if isinstance(x, str):
        return x
    try:
        return json.dumps(x, default=plain)
    except (Fault, TypeError, ValueError, RecursionError):
        return repr(x)


class Findings:
    """What the stages of an evaluation found out, together."""

    def __init__(self):
        self.metrics, self.artifacts, self.reason = {}, {}, ""

    def add(self, stage, value):
        metrics, artifacts = value, {}
        if hasattr(value, "metrics"):
            metrics, artifacts = value.metrics, getattr(value, "artifacts", None) or {}
        if not isinstance(metrics, dict) or not isinstance(artifacts, dict):
            raise Fault("%s returned a value of type %s, not a dict" % (stage, type(value).__name__))
        for key, x in metrics.items():
            n = number_of(x)
            if n is not None:
                self.metrics[str(key)] = n
            elif x is not None:
                self.word(str(key), x)
        for key, x in artifacts.items():
            self.artifacts[str(key)] = text_of(x)

    def word(self, key, x):
        self.artifacts[key] = text_of(x)
        self.metrics.pop(key, None)
        if key == "error" and x:
            self.reason = text_of(x)

    def score(self):
        """combined_score, else the mean of the finite metrics; None, with a reason, if there is
        neither."""
        if "combined_score" in self.metrics or "combined_score" in self.artifacts:
            n = self.metrics.get("combined_score")
            if n is None or not math.isfinite(n):
                shown = n if n is not None else self.artifacts["combined_score"][:100]
                self.reason = self.reason or "combined_score is %s, not a finite number" % shown
                return None
            return n
        finite = [n for n in self.metrics.values() if math.isfinite(n)]
        if not finite:
            self.reason = self.reason or "the evaluator returned no finite number"
            return None
        return math.fsum(finite) / len(finite)

    def encode(self, room):
        """As JSON. What is not finite does not travel; long artifacts are cut to fit."""
        score = self.score()
        each = max(room // (8 * max(len(self.artifacts), 1)), 64)
        return json.dumps({
            "score": score if not self.reason else None,
            "reason": self.reason[:2000],
            "metrics": {k: n for k, n in self.metrics.items() if math.isfinite(n)},
            "artifacts": {k: cut(v, each) for k, v in self.artifacts.items()},
        }).encode()


def cut(text, room):
    """text, without its middle if it is longer than room."""
    if len(text) <= room:
        return text
    half = room // 2
    return "%s\n... %d characters left out ...\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


def evaluator(orders):
    """Import evaluator.py as a fresh module."""
    path = os.path.join(orders["folder"], "evaluator.py")
    os.chdir(orders["folder"])
    module = types.ModuleType("evaluator")
    module.__file__ = path
    sys.modules["evaluator"] = sys.modules["evaluation_module"] = module
    exec(orders["code"], module.__dict__)
    return module


def stages(module, cascade, tune):
    if tune:
        names = [n for n in ("evaluate_tune", "evaluate_stage1") if hasattr(module, n)]
        return names[:1]
    if cascade and hasattr(module, "evaluate_stage1"):
        names = ["evaluate_stage1", "evaluate_stage2", "evaluate_stage3"]
        while not hasattr(module, names[-1]):
            names.pop()
        return [n for n in names if hasattr(module, n)]
    return ["evaluate"] if hasattr(module, "evaluate") else []


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def evaluate(program, entry, orders, next_stage):
    """Score a program with the folder's evaluator."""
    path = os.path.join(orders["scratch"], "program" + orders["suffix"])
    if orders["files"]:
        for name, text in json.loads(program).items():
            write(os.path.join(path, name), text)
    else:
        write(path, program)
    module, found = evaluator(orders), Findings()
    for i, name in enumerate(stages(module, orders["cascade"], orders["tune"])):
        if i > 0:
            if i > len(orders["thresholds"]) or not reached(found, orders["thresholds"][i - 1]):
                break
            next_stage()
        value = getattr(module, name)(path)
        if isinstance(value, types.CoroutineType):
            import asyncio
            value = asyncio.run(value)
        found.add(name, value)
    return found.encode(orders["result_bytes"])


def reached(found, threshold):
    score = found.score()
    return score is not None and not found.reason and score >= threshold


def inspect_evaluator(program, entry, orders, next_stage):
    """Say what stages the folder's evaluator has, to find out early if it does not load."""
    return json.dumps(stages(evaluator(orders), orders["cascade"], orders["tune"])).encode()


TASKS = {b"R": run, b"E": evaluate, b"I": inspect_evaluator}
