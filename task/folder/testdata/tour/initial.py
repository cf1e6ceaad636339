"""Orders points into a short round tour."""

import math

TURN = 0.5


def tour(points):
    """Return the indices of the points in the order of the tour."""
    at, heading = 0, 0.0
    left, order = set(range(1, len(points))), [0]
    while left:
        def cost(i):
            dx, dy = points[i][0] - points[at][0], points[i][1] - points[at][1]
            turn = abs((math.atan2(dy, dx) - heading + math.pi) % (2 * math.pi) - math.pi)
            return math.hypot(dx, dy) * (1 + TURN * turn)
        nearest = min(left, key=cost)
        heading = math.atan2(points[nearest][1] - points[at][1], points[nearest][0] - points[at][0])
        left.remove(nearest)
        order.append(nearest)
        at = nearest
    return order
