

class _EvoallocAsks(BaseException):
    """A call of a base is to be answered."""


_evoalloc_asked = []
_evoalloc_answers = __import__("json").loads(ANSWERS)


def base(index, *args):
    import json
    key = json.dumps([index, args], allow_nan=False)
    known = _evoalloc_answers.get(key)
    if known is None:
        _evoalloc_asked.append(key)
        raise _EvoallocAsks()
    if known == "":
        raise RuntimeError("base %d failed" % index)
    return json.loads(known)


def evoalloc_combine():
    value = None
    try:
        ask = globals().get("ENTRY")
        if not callable(ask):
            raise TypeError("the program defines no function ENTRY")
        value = ask()
    except BaseException:
        if not _evoalloc_asked:
            raise
    return {"asked": _evoalloc_asked} if _evoalloc_asked else {"value": value}
