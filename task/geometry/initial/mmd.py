# Places n points in the plane.

import numpy as np


def spread():
    n = 16
    points = np.random.default_rng(42).standard_normal((n, 2))
    return points
