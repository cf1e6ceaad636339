# Look for a secret in every environment and memory that can be read. It is put together only here, so
# that this text does not hold it.
import ctypes
import os

secret = ("" "SECRET").encode()
libc = ctypes.CDLL(None, use_errno=True)


def environments():
    for pid in ["self"] + [p for p in os.listdir("/proc") if p.isdigit()]:
        for name in ("environ", "cmdline"):
            yield "/proc/%s/%s" % (pid, name)
        yield "/proc/%s/root/proc/PID/environ" % pid


def memory():
    """The start of every mapping of the process that started us."""
    with open("/proc/PID/maps") as maps:
        starts = [int(line.split("-")[0], 16) for line in maps]
    fd = os.open("/proc/PID/mem", os.O_RDONLY)
    for start in starts[:50]:
        os.pread(fd, 1, start)
    return True


def other_memory():
    class Vec(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    buffer = ctypes.create_string_buffer(8)
    mine, theirs = Vec(ctypes.addressof(buffer), 8), Vec(0x400000, 8)
    for pid in (int("PID"), os.getppid()):
        if libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) >= 0:
            return True
    return False


def trace():
    seize = 0x4206  # which unlike to attach does not stop it
    return libc.ptrace(seize, os.getppid(), 0, 0) >= 0


def run():
    found = []
    for name, value in os.environ.items():
        if secret in value.encode():
            found.append(name)
    for path in environments():
        try:
            with open(path, "rb") as f:
                if secret in f.read():
                    found.append(path)
        except OSError:
            pass
    for look in (memory, other_memory, trace):
        try:
            if look():
                found.append(look.__name__)
        except OSError:
            pass
    return found
