# The item goes into the bin with the highest priority, and of equal ones into the one opened first.
def priority(item, room):
    return 0
