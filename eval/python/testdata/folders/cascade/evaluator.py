"""Three stages: it runs; it is not negative; how good it is."""
import runpy


def _value(program_path):
    return runpy.run_path(program_path)["VALUE"]


def evaluate(program_path):
    raise RuntimeError("not to be called where there are stages")


def evaluate_stage1(program_path):
    print("stage 1")
    _value(program_path)
    return {"runs": 1.0}


def evaluate_stage2(program_path):
    print("stage 2")
    return {"runs": 1.0, "positive": 1.0 if _value(program_path) > 0 else -1.0}


def evaluate_stage3(program_path):
    print("stage 3")
    return {"combined_score": _value(program_path)}
