"""Scores a formula against measurements, and tells the model where it is furthest off."""

import math
import runpy

from openevolve.evaluation_result import EvaluationResult

POINTS = [(i / 4, 2.5 - 0.75 * (i / 4) + 0.3 * (i / 4) ** 2 + 0.1 * math.sin(5 * i)) for i in range(25)]


def evaluate(program_path) -> EvaluationResult:
    model = runpy.run_path(program_path)["model"]
    residuals = [(y - model(x), x) for x, y in POINTS]
    rmse = math.sqrt(sum(r * r for r, _ in residuals) / len(residuals))
    worst, where = max(residuals, key=lambda r: abs(r[0]))
    print("evaluated", len(POINTS), "points")
    return EvaluationResult(
        metrics={"combined_score": 1 / (1 + rmse), "rmse": rmse},
        artifacts={"residuals": f"worst at x={where}: {worst:+.3f}", "plot": b"\x89PNG\r\n"},
    )
