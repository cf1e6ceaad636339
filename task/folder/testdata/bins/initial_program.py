"""Online bin packing: items arrive one by one, and each goes to the bin with the highest priority."""

import math

# EVOLVE-BLOCK-START
FULL = 0.0
LEFT = 0.5
CURVE = 1.0


def priority(item, left):
    """How much a bin with room left (at least item) wants the item. Bins have room for 100."""
    rest = (left - item) / 100.0
    if rest == 0:
        return FULL
    return LEFT * math.pow(rest, CURVE)
# EVOLVE-BLOCK-END


def pack(items):
    """Return the number of bins that the items take."""
    bins = []
    for item in items:
        fits = [i for i, left in enumerate(bins) if left >= item]
        if not fits:
            bins.append(100 - item)
            continue
        best = max(fits, key=lambda i: priority(item, bins[i]))
        bins[best] -= item
    return len(bins)
