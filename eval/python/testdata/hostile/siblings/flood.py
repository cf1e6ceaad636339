# Fill every pipe that another process has open, as fast as it is emptied, without a line's end.
import os
import time


def run():
    mine = {os.readlink("/proc/self/fd/%d" % fd) for fd in (1, 2)}
    through, open_ones = [], []
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or int(pid) == os.getpid():
            continue
        try:
            for fd in os.listdir("/proc/%s/fd" % pid):
                path = "/proc/%s/fd/%s" % (pid, fd)
                if os.readlink(path).startswith("pipe:") and os.readlink(path) not in mine:
                    open_ones.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    through.append(path)
        except OSError:
            pass
    end = time.monotonic() + 2
    while open_ones and time.monotonic() < end:
        for f in open_ones:
            try:
                os.write(f, b"x" * 65536)
            except OSError:
                pass
    return through
