# Hold locks on the open files that were there at the start.
import fcntl


def run():
    for fd in range(256):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass
    return []


def find():
    found = []
    for fd in range(256):
        try:
            with open("/proc/self/fdinfo/%d" % fd) as f:
                if "lock:" in f.read():
                    found.append("a lock on %d" % fd)
        except OSError:
            pass
    return found
