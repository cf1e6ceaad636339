"""Scores tours in three stages: first a handful of points, and more only for those that do well."""

import importlib.util
import math
import random


def _length(points, order):
    return sum(math.dist(points[a], points[b]) for a, b in zip(order, order[1:] + order[:1]))


def _score(program_path, n):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    rng = random.Random(n)
    points = [(rng.random(), rng.random()) for _ in range(n)]
    order = [int(i) for i in program.tour(points)]
    if sorted(order) != list(range(n)):
        return 0.0
    # Beardwood, Halton and Hammersley: the best tour is about 0.7124 sqrt(n) long.
    return 0.7124 * math.sqrt(n) / _length(points, order)


def evaluate_stage1(program_path):
    return {"combined_score": _score(program_path, 8), "stage": 1.0}


def evaluate_stage2(program_path):
    return {"combined_score": _score(program_path, 40), "stage": 2.0}


def evaluate_stage3(program_path):
    return {"combined_score": _score(program_path, 120), "stage": 3.0, "large": _score(program_path, 200)}


def evaluate(program_path):
    raise RuntimeError("evaluate is not called where there is an evaluate_stage1")
