def score(value):
    return value / 2
