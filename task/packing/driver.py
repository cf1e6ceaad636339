
def evoalloc_table():
    ask = globals().get("priority")
    if not callable(ask):
        raise TypeError("the program defines no function priority")
    largest = 1.7976931348623157e308
    table = []
    for item in range(1, 101):
        for room in range(item, 101):
            p = float(ask(item, room))
            if p != p:
                raise ValueError(f"priority({item}, {room}) is NaN: it has to be a number")
            # An infinite priority is the highest or lowest of all.
            table.append(min(max(p, -largest), largest))
    return table
