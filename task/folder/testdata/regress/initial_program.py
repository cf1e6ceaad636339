# EVOLVE-BLOCK-START
A, B, C = 1.0, 0.0, 0.0


def model(x):
    return A + B * x + C * x * x
# EVOLVE-BLOCK-END
