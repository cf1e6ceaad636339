# Make the pipes of the next smaller.
import fcntl

SETPIPE_SZ, GETPIPE_SZ = 1031, 1032


def run():
    for fd in (1, 2):
        fcntl.fcntl(fd, SETPIPE_SZ, 8192)
    return []


def find():
    return ["%d has 8192" % fd for fd in (1, 2) if fcntl.fcntl(fd, GETPIPE_SZ) == 8192]
