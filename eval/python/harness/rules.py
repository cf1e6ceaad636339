# What containment has to do with an exception, for people: each rule that can be met, and the flag that lifts it.

import errno
import os
import socket

DENIED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.EOVERFLOW)


def rule(e, orders):
    """The rule of containment that exception e, or one that it came of, ran into; "" if there is none."""
    for _ in range(10):
        if e is None:
            break
        if said := rule_of(e, orders):
            return said
        e = e.__cause__ or e.__context__
    return ""


def rule_of(e, orders):
    mib = {name: orders[name + "_bytes"] >> 20 for name in ("memory", "scratch", "file")}
    number, code = getattr(e, "errno", None), last_code(e)
    path = getattr(e, "filename", None)
    path = os.path.abspath(os.fsdecode(path)) if isinstance(path, (str, bytes)) else ""
    environ = code and code.co_name == "__getitem__" and code.co_filename in (os.__file__, "<frozen os>")
    if environ and isinstance(e, KeyError):
        return "candidates are passed no variable %s: --env %s passes it (Config.Env)" % (e.args[0], e.args[0])
    for name in map(bytes.decode, orders["asked_for"]):
        if name not in os.environ and (name in str(e) or isinstance(e, TypeError) and "NoneType" in str(e)):
            return "evaluator.py asks for the variable %s: --env %s passes it (Config.Env)" % (name, name)
    if isinstance(e, ModuleNotFoundError) and orders["folder"]:
        return "%s finds none: install it there, or name the folder that has it by --with FOLDER" % sys.executable
    if mib["memory"] and (isinstance(e, MemoryError) or number == errno.ENOMEM):
        return "evaluator.memory_limit_mb in config.yaml, or Config.Memory, allows more"
    cards = any("nvidia" in d for d in orders["devices"] or [])
    if not cards and any(word in str(e).lower() for word in ("cuda", "nvidia", "nvml")):
        return "candidates see no graphics processor: --device nvidia lets them use it (Config.Devices)"
    if str(e) == "can't start new thread" or number == errno.EAGAIN and not path:
        return "limits are %d processes and threads (Config.Processes), and %d MiB for one" % (
            orders["proc_limit"], mib["memory"])
    if not isinstance(e, OSError) or not orders["isolate"]:
        return ""
    if number in (errno.ENOENT, errno.ENXIO, *DENIED) and inside_of(path, "/dev"):
        return "candidates do not see that device: --device %s lets them use it (Config.Devices)" % path
    if any(inside_of(path, h) for h in orders["hidden"] or []):
        return "it is hidden from candidates"
    if path and (number == errno.EROFS or number in DENIED and writable(path)):
        where = ", /tmp and the task's folder" if orders["layered"] and not orders["unlayered"] else ""
        return "candidates can write to $TMPDIR%s alone: --writable %s lets them write there (Config.Writable)" % (
            where, os.path.dirname(path))
    if isinstance(e, socket.gaierror) or number == errno.ENETUNREACH or (
            number == errno.EPERM and code and os.path.basename(code.co_filename) == "socket.py"):
        return "candidates reach no network, and no flag opens it"
    return {
        errno.ENOSPC: "temporary files may take %d MiB: --writable FOLDER is for more" % mib["scratch"],
        errno.EFBIG: "a file may have %d MiB" % mib["file"],
        errno.EMFILE: "a process may have %d files open" % orders["open_files"],
    }.get(number, "")


def last_code(e):
    """The code that raised e, None if there is none."""
    frames = e.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return frames and frames.tb_frame.f_code


def writable(path):
    """Whether the permissions alone would let path be written to, or made."""
    return os.access(path if os.path.exists(path) else os.path.dirname(path), os.W_OK)
