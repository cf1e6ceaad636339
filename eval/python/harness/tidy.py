# Make a folder what it was before a candidate had it. What cannot be, costs an interpreter: a new one has a folder
# of its own.

import fcntl
import os
import struct
import time

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_NOATIME", 0)
FS_IOC_GETFLAGS = 0x80086601
LONGEST = 1  # s that cleaning may take: beyond it a fresh interpreter costs less, and the other side waits


class Folder:
    """A folder that candidates may write to."""

    def __init__(self, path):
        self.path = path
        self.first = self.reset()

    def clean(self):
        """Return whether the folder is now as it was at first."""
        try:
            return self.reset() == self.first
        except (OSError, MemoryError):
            return False

    def reset(self):
        """Empty the folder. Return all that outlives what lies in it: its mode, size, attributes and flags, and in a
        file system of its own the space that is taken, perhaps by a deleted file that somebody has open."""
        fd = os.open(self.path, DIRECTORY)
        try:
            empty(fd, time.monotonic() + LONGEST)
            info, used = os.fstat(fd), None
            if info.st_dev != os.stat(os.path.dirname(self.path)).st_dev:
                space = os.fstatvfs(fd)
                used = space.f_bfree, space.f_ffree
            if info.st_mtime_ns != 0 or info.st_atime_ns != 0:
                os.utime(fd, ns=(0, 0))
            return info[:7], used, marks(fd)
        finally:
            os.close(fd)


def marks(fd):
    """The names of the extended attributes of an open file, access lists among them, and its flags as chattr sets them,
    as far as the system and the file system have these."""
    found = []
    for ask in (lambda: os.listxattr(fd), lambda: fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(struct.calcsize("l")))):
        try:
            found.append(ask())
        except (AttributeError, OSError):
            pass
    return found


def empty(fd, until):
    """Remove what is in the folder fd, until a time by the monotonic clock: a candidate can make folders in seconds
    whose removal takes minutes. What is nested deeper than files can be open is an error too."""
    for name in os.listdir(fd):
        if time.monotonic() > until:
            raise TimeoutError("cleaning takes too long")
        try:
            os.unlink(name, dir_fd=fd)
        except (IsADirectoryError, PermissionError):
            inner = os.open(name, DIRECTORY, dir_fd=fd)
            try:
                empty(inner, until)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=fd)
