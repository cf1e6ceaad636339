"""Scores a packing heuristic by how near it comes to the lower bound. Returns a plain dict."""

import importlib.util
import time
import traceback

from instances import bound, instances


def load(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def evaluate(program_path):
    try:
        program = load(program_path)
        start = time.perf_counter()
        excess = []
        for items in instances():
            bins, least = program.pack(list(items)), bound(items)
            if bins < least:
                return {"combined_score": 0.0, "error": f"{bins} bins for items that need {least}"}
            excess.append(bins / least - 1)
        mean = sum(excess) / len(excess)
        return {
            "combined_score": 1.0 / (1.0 + mean),
            "excess": mean,
            "seconds": round(time.perf_counter() - start, 1),
        }
    except Exception as e:
        return {"combined_score": 0.0, "error": str(e), "traceback": traceback.format_exc()}
