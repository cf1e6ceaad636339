"""Scores a program in a process of its own, and returns an EvaluationResult with artifacts."""
import json
import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np
from openevolve.evaluation_result import EvaluationResult

RUN = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
with open(sys.argv[2], "w") as f:
    json.dump(program.run(), f)
"""


def evaluate(program_path):
    with tempfile.NamedTemporaryFile(suffix=".json", delete=False) as f:
        out = f.name
    try:
        done = subprocess.run([sys.executable, "-c", RUN, program_path, out], capture_output=True, text=True,
                              timeout=20, start_new_session=True)
        if done.returncode != 0:
            return EvaluationResult(metrics={"combined_score": 0.0},
                                    artifacts={"stderr": done.stderr, "error": "exit status %d" % done.returncode})
        with open(out) as f:
            value = json.load(f)
    except subprocess.TimeoutExpired:
        return EvaluationResult(metrics={"combined_score": 0.0}, artifacts={"error": "timeout"})
    finally:
        os.unlink(out)
    return EvaluationResult(
        metrics={"combined_score": np.float64(np.mean(value)), "size": np.int64(len(value))},
        artifacts={"log": done.stdout, "raw": pickle.dumps(len(value), 0), "values": value})
