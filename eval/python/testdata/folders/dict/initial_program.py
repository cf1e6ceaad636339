# EVOLVE-BLOCK-START
def run():
    return 1.0
# EVOLVE-BLOCK-END
