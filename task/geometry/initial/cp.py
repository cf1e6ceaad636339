# Packs n circles into the unit square: centers on two rings around a middle circle, then radii as
# large as a simple rule lets them be.

import numpy as np


def pack():
    n = 26
    centers = np.zeros((n, 2))

    # One circle in the middle.
    centers[0] = [0.5, 0.5]

    # A ring of 8 around it.
    for i in range(8):
        angle = 2 * np.pi * i / 8
        centers[1 + i] = [0.5 + 0.3 * np.cos(angle), 0.5 + 0.3 * np.sin(angle)]

    # A ring of 16 around that one. It is larger than the square: clipping brings it inside.
    for i in range(16):
        angle = 2 * np.pi * i / 16
        centers[9 + i] = [0.5 + 0.7 * np.cos(angle), 0.5 + 0.7 * np.sin(angle)]

    centers = np.clip(centers, 0.01, 0.99)
    return centers, largest_radii(centers)


def largest_radii(centers):
    """Start every radius at the distance to the border, then shrink both circles of each pair
    that overlaps until they touch."""
    radii = np.minimum(centers, 1 - centers).min(axis=1)
    for i in range(len(centers)):
        for j in range(i + 1, len(centers)):
            distance = np.sqrt(np.sum((centers[i] - centers[j]) ** 2))
            if radii[i] + radii[j] > distance:
                scale = distance / (radii[i] + radii[j])
                radii[i] *= scale
                radii[j] *= scale
    return radii
