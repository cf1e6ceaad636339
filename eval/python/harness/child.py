# What happens in the process of one candidate, from its fork to its end. Nothing here is trusted by the other side:
# the candidate runs in this same process.

import json
import linecache
import math
import os
import random
import sys
import traceback
import types

# The kinds of message a candidate's process sends home.
HERE, RESULT, FAULT, STAGE = b"H", b"R", b"F", b"S"
NONCE = 16


class Fault(Exception):
    """What a program did wrong, in words for people."""


def plain(x):
    """What json asks for things that it does not know: numpy's arrays and scalars become lists and
    numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic)):
        y = x.tolist()
        return float(y) if isinstance(y, numpy.generic) else y
    raise Fault("returned a value of type %s, which is not data" % type(x).__name__)


ENCODER = json.JSONEncoder(default=plain, allow_nan=False)


def encode(value):
    """value as JSON. Its numbers read back as the same bits."""
    try:
        return ENCODER.encode(value).encode()
    except RecursionError:
        raise Fault("returned data that is nested too deeply") from None
    except ValueError as e:
        text = str(e)
        if "Circular" in text:
            text = "returned an object that contains itself"
        elif "not JSON compliant" in text:
            text = "returned a number that is not finite"
        raise Fault(text) from None
    except TypeError as e:
        raise Fault("returned something that is not data: %s" % e) from None


def run(program, entry, orders, home):
    """Run a program's entry function and return what it returned."""
    module = types.ModuleType("program")
    module.__file__ = "program.py"
    sys.modules["program"] = module
    exec(compile(program, "program.py", "exec", 0, True), module.__dict__)
    function = getattr(module, entry, None)
    if function is None:
        raise Fault("defines no function %s" % entry)
    if not callable(function):
        raise Fault("%s is of type %s, not a function" % (entry, type(function).__name__))
    return encode(function())


def describe(e, program, orders):
    """The reason that exception e is, and its traceback from the program's own lines on. Both come
    from the program, and may raise themselves."""
    try:
        linecache.cache["program.py"] = (len(program), None, program.splitlines(True), "program.py")
        frames = e.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename.startswith("<evoalloc"):
            frames = frames.tb_next
        trace = "".join(traceback.format_exception(type(e), e, frames))
        if isinstance(e, Fault):
            return str(e), "" if frames is None else trace
        said = rule(e, orders)
        return type(e).__name__ + (": %s" % e if str(e) else "") + place(frames, orders) + (said and "; " + said), trace
    except BaseException:
        return "%s, which cannot be shown" % type(e).__name__, ""


def place(frames, orders):
    """Where that was, in the last line of the program or else of its evaluator."""
    found, own = "", False
    while frames is not None:
        file, line = frames.tb_frame.f_code.co_filename, frames.tb_lineno
        if file == "program.py" or file.startswith(orders["scratch"]):
            found, own = " (line %d)" % line, True
            if orders["files"]:
                found = " (%s, line %d)" % (os.path.relpath(file, os.path.join(orders["scratch"], "program")), line)
        elif orders["folder"] and file.startswith(orders["folder"]) and not own:
            found = " (%s, line %d)" % (os.path.basename(file), line)
        frames = frames.tb_next
    return found


def fault(e, program, orders):
    reason, trace = describe(e, program, orders)
    if isinstance(e, MemoryError) and orders["memory_bytes"]:
        reason = "ran out of memory (%d MiB allowed): %s" % (orders["memory_bytes"] >> 20, reason)
    body = {"reason": reason[:2000], "traceback": trace[-orders["output_bytes"]:]}
    return json.dumps(body).encode()


def own_session(orders):
    """Make this fork a session of its own, with its own limits."""
    os.setsid()
    if orders["isolate"] and not orders["pidns"]:
        prctl(PR_SET_PDEATHSIG, 9)
    if orders["cpu_seconds"]:
        resource.setrlimit(resource.RLIMIT_CPU, (orders["cpu_seconds"], orders["cpu_seconds"] + 1))


def settle(orders, alone):
    """Make this fork a candidate's."""
    own_session(orders)
    if orders["layered"]:
        missing = {}
        own_mounts(orders, missing)
        if any(m not in orders["lacked"] for m in missing):
            raise Fault("could not be contained: %s" % missing)
    if alone is not None:
        alone()
    seed()


def seed():
    """Start the global generators from the same place in every candidate, whichever interpreter it
    came to."""
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(0)


def send(home, *parts):
    data = memoryview(b"".join(parts))
    while data:
        data = data[os.write(home, data):]


def candidate(job, orders, alone, home):
    """Do what is asked: a nonce, the task's letter, the entry's name, a line's end, the program."""
    nonce, task, program = job[:NONCE], TASKS[job[NONCE:NONCE + 1]], ""
    try:
        if alone is None:
            send(home, nonce, HERE)  # the kernel says who sends; from now on it must be the same
        settle(orders, alone)
        entry, _, program = job[NONCE + 1:].decode().partition("\n")
        kind, body = RESULT, task(program, entry, orders, lambda: send(home, nonce, STAGE))
    except BaseException as e:
        kind, body = FAULT, fault(e, program, orders)
    if len(body) > orders["result_bytes"]:
        text = "returned %d bytes of JSON, more than the %d allowed" % (len(body), orders["result_bytes"])
        kind, body = FAULT, fault(Fault(text), program, orders)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass  # closed by the candidate, which is its own affair
    send(home, nonce, kind, body)


def warm(orders):
    """Do once what every candidate does, so that little is done for the first time in each."""
    encode([1.5, "a"])
    seed()
