# Read and write what lies under /proc of the process that forked us.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
pidfd_open, pidfd_getfd, process_vm_readv = 434, 438, 310
parent = "/proc/%d" % os.getppid()


def memory():
    with open(parent + "/maps") as f:
        start = int(f.readline().split("-")[0], 16)
    fd = os.open(parent + "/mem", os.O_RDONLY)
    os.pread(fd, 1, start)


def write_memory():
    os.close(os.open(parent + "/mem", os.O_RDWR))


def mapped():
    for name in os.listdir(parent + "/map_files"):
        os.readlink(parent + "/map_files/" + name)
        return
    raise OSError


def descriptor():
    fd = libc.syscall(pidfd_open, os.getppid(), 0)
    if fd < 0:
        raise OSError
    for n in range(16):
        if libc.syscall(pidfd_getfd, fd, n, 0) >= 0:
            return
    raise OSError


def trace():
    if libc.ptrace(0x4206, os.getppid(), 0, 0) < 0:
        raise OSError


def vector():
    class Vec(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    buffer = ctypes.create_string_buffer(8)
    mine = Vec(ctypes.addressof(buffer), 8)
    if libc.syscall(process_vm_readv, os.getppid(), ctypes.byref(mine), 1, ctypes.byref(mine), 1, 0) < 0:
        raise OSError


def written(name, text):
    def write():
        fd = os.open(parent + "/" + name, os.O_WRONLY)
        os.write(fd, text)
    write.__name__ = "write " + name
    return write


def looked(name):
    def look():
        fd = os.open(parent + "/" + name, os.O_RDONLY)
        try:
            os.read(fd, 1)
        except IsADirectoryError:
            for inner in os.listdir(fd):  # root can list numbers, and that is all
                os.stat(inner, dir_fd=fd)
    look.__name__ = "open " + name
    return look


def run():
    through = []
    ways = [memory, write_memory, mapped, descriptor, trace, vector]
    ways += [looked(n) for n in ("root/", "cwd/", "exe", "environ", "auxv", "fd", "fdinfo", "ns/mnt", "pagemap", "syscall", "stack", "personality")]
    ways += [written(n, t) for n, t in (("oom_score_adj", b"500"), ("coredump_filter", b"0"), ("clear_refs", b"1"), ("comm", b"x"),
             ("timerslack_ns", b"1"), ("autogroup", b"5"), ("setgroups", b"deny"), ("uid_map", b"0 0 1"), ("attr/current", b"x"))]
    for way in ways:
        try:
            way()
            through.append(way.__name__)
        except OSError:
            pass
    return through
