"""What the scripts play whole searches on: a model that moves one of six numbers, and how near they are to others."""

AIM = [3, -2, 5, 0.5, -4, 1]
INITIAL = "0.000\n" * len(AIM)
CHILDREN = 200


def score(program):
    return 1 / (1 + sum((float(x) - a) ** 2 for x, a in zip(program.split(), AIM)))


def child(parent, chance):
    numbers = parent.split()
    i = chance.randrange(len(numbers))
    numbers[i] = "%.3f" % (float(numbers[i]) + chance.gauss(0, 1.5))
    return "".join(x + "\n" for x in numbers)
