"""Scores a mixture, which is data and no program, by several metrics and no combined_score."""

import json

BEST = {"cement": 0.14, "sand": 0.28, "gravel": 0.5, "water": 0.08}


def evaluate(program_path):
    if not program_path.endswith(".json"):
        return {"error": "the candidate's file is not called .json"}
    with open(program_path) as f:
        mixture = json.load(f)
    if set(mixture) != set(BEST) or min(mixture.values()) < 0 or sum(mixture.values()) <= 0:
        return {"error": "a mixture has four parts, none of them negative", "strength": 0.0}
    whole = sum(mixture.values())
    off = sum(abs(mixture[k] / whole - share) for k, share in BEST.items())
    return {
        "strength": 1 - off / 2,
        "cheapness": 1 - mixture["cement"] / whole,
        "mixed": True,
        "shrinkage": float("nan"),
        "remark": "parts by weight",
    }
