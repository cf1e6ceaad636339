# Set flags of the open files that were there at the start, the result's socket among them.
import fcntl
import os


def descriptors():
    for fd in range(256):
        try:
            os.fstat(fd)
        except OSError:
            continue
        yield fd


def run():
    for fd in descriptors():
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
    return []


def find():
    odd = os.O_NONBLOCK | os.O_APPEND
    return ["flags of %d" % fd for fd in descriptors() if fcntl.fcntl(fd, fcntl.F_GETFL) & odd]
