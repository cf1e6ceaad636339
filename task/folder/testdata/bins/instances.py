"""Instances of bin packing, the same every time."""

import random


def instances():
    """Lists of item sizes, 1 to 70, for bins of 100."""
    out = []
    for seed in range(5):
        rng = random.Random(seed)
        out.append([min(70, max(1, round(rng.weibullvariate(45, 3)))) for _ in range(150)])
    return out


def bound(items):
    """No packing takes fewer bins than this."""
    return -(-sum(items) // 100)
