# Change what the process that forked us hands to all its forks.
import os
import resource


def seen():
    return [os.nice(0), len(os.sched_getaffinity(0)), resource.getrlimit(resource.RLIMIT_SIGPENDING),
            resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 0, os.getpriority(os.PRIO_PROCESS, os.getppid())]


def run():
    parent = os.getppid()
    for way in (lambda: resource.prlimit(parent, resource.RLIMIT_FSIZE, (0, 0)),
                lambda: resource.prlimit(parent, resource.RLIMIT_SIGPENDING, (271, 271)),
                lambda: os.setpriority(os.PRIO_PROCESS, parent, 7),
                lambda: os.sched_setaffinity(parent, {0})):
        try:
            way()
        except OSError:
            pass
    return []


def find():
    nice, cpus, pending, small, parents = seen()
    return (["niceness"] if 7 in (nice, parents) else []) + ([] if pending != (271, 271) else ["a limit"]) + (["no files"] if small else []) \
        + ([] if cpus == os.cpu_count() else ["processors"])
