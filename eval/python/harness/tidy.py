# Make a folder what it was before a candidate had it: empty, and with the mode, times, attributes and
# flags that it had at first, as all of these outlive what lies in a folder.

import errno
import fcntl
import os
import stat
import struct
import time

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_NOATIME", 0)
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602
TICKS = 20_000_000  # ns, twice the longest step of the clock that file systems go by
LONGEST = 1  # s that cleaning may take: beyond it a fresh interpreter costs less, and the other side waits


class Folder:
    """A folder that candidates may write to."""

    def __init__(self, path):
        self.path = path
        fd = self.open()
        try:
            self.flags, self.attributes = flags(fd), attributes(fd)
        finally:
            os.close(fd)
        self.state = self.reset()
        self.begin()

    def begin(self):
        info = os.stat(self.path)
        self.inode, self.read, self.changed = info.st_ino, info.st_atime_ns, info.st_ctime_ns

    def untouched(self, began):
        """Whether nobody has had the folder in hand since the time began. Whatever is done to a folder
        sets the time of its change, which nobody can set to one of choice, and nearly all candidates
        leave it alone: to look is much cheaper than to reset, where every page that is written to after
        a fork costs."""
        info = os.stat(self.path)
        return (info.st_ctime_ns == self.changed and info.st_atime_ns == self.read
                and info.st_ino == self.inode and began - self.changed > TICKS)

    def clean(self, began):
        """Return whether the folder is now as it was at first."""
        try:
            if self.untouched(began):
                return True
            same = self.reset(time.monotonic() + LONGEST) == self.state
            self.begin()
            return same
        except (OSError, MemoryError):
            return False

    def open(self):
        try:
            return os.open(self.path, DIRECTORY)
        except PermissionError:
            os.chmod(self.path, 0o700)
            return os.open(self.path, DIRECTORY)

    def reset(self, until=float("inf")):
        """Undo what can be undone. Return what a candidate can have changed: the folder itself by
        another in its place, and its size, which grows with its entries on some file systems. What need
        not be set is not, so that the time of the last change is past soon."""
        fd = self.open()
        try:
            if stat.S_IMODE(os.fstat(fd).st_mode) != 0o700:
                os.fchmod(fd, 0o700)
            empty(fd, until)
            for name in attributes(fd):
                if name not in self.attributes:
                    os.removexattr(fd, name)
            if flags(fd) != self.flags:
                set_flags(fd, self.flags)
            info = os.fstat(fd)
            if info.st_mtime_ns != 0 or info.st_atime_ns != 0:
                os.utime(fd, ns=(0, 0))
            return (info.st_dev, info.st_ino, info.st_mode, info.st_uid, info.st_gid, info.st_nlink, info.st_size)
        finally:
            os.close(fd)


def attributes(fd):
    """The names of the extended attributes of an open file, access lists among them."""
    try:
        return os.listxattr(fd)
    except (AttributeError, OSError):
        return ()  # there are none on this system or in this file system


def flags(fd):
    """The flags of an open file as chattr sets them; None where there are none."""
    try:
        return struct.unpack("l", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(struct.calcsize("l"))))[0]
    except OSError:
        return None


def set_flags(fd, value):
    fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("l", value))


def empty(top, until):
    """Remove what is in the folder open as top. However deep it is, two folders are open at once, and
    no path is longer than a name. A candidate can nest folders in seconds whose removal takes minutes, so
    an error ends it at the time until, by the monotonic clock."""
    fd, names, left = os.dup(top), [], []
    try:
        left.append(remove_files(fd))
        while left:
            if time.monotonic() > until:
                raise TimeoutError("cleaning takes too long")
            if left[-1]:
                names.append(left[-1].pop())
                fd = moved(fd, enter(fd, names[-1]))
                left.append(remove_files(fd))
                continue
            left.pop()
            if left:
                fd = moved(fd, os.open("..", DIRECTORY, dir_fd=fd))
                os.rmdir(names.pop(), dir_fd=fd)
    finally:
        os.close(fd)


def moved(old, new):
    os.close(old)
    return new


def enter(fd, name):
    """Open the folder of that name in the folder fd, and make it one that can be emptied."""
    try:
        inner = os.open(name, DIRECTORY, dir_fd=fd)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=fd)
        inner = os.open(name, DIRECTORY, dir_fd=fd)
    os.fchmod(inner, 0o700)
    return inner


def remove_files(fd):
    """Remove what is in the folder fd and no folder itself. Return the names of the folders."""
    folders = []
    for name in os.listdir(fd):
        try:
            os.unlink(name, dir_fd=fd)
        except OSError as e:
            if e.errno not in (errno.EISDIR, errno.EPERM):  # the second by POSIX
                raise
            folders.append(name)
    return folders
