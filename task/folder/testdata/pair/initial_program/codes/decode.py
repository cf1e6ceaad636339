def read(code):
    n = 0
    for digit in reversed(code):
        n = n * 8 + int(digit)
    return n
