

def evoalloc_base():
    return ENTRY(*__import__("json").loads(ARGS))
