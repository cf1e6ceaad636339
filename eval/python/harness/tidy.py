# Make a folder what it was before a candidate had it: empty, and with the mode, times, attributes and
# flags that it had at first, as all of these outlive what lies in a folder.

import errno
import os
import struct

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602


class Folder:
    """A folder that candidates may write to."""

    def __init__(self, path):
        self.path, self.flags, self.attributes = path, None, ()
        with_none = self.open()
        try:
            self.flags, self.attributes = flags(with_none), attributes(with_none)
        finally:
            os.close(with_none)
        self.state = self.reset()

    def clean(self):
        """Return whether the folder is now as it was at first."""
        try:
            return self.reset() == self.state
        except (OSError, MemoryError):
            return False

    def open(self):
        try:
            return os.open(self.path, DIRECTORY)
        except PermissionError:
            os.chmod(self.path, 0o700)
            return os.open(self.path, DIRECTORY)

    def reset(self):
        """Undo what can be undone. Return what a candidate can have changed: the folder itself by
        another in its place, and its size, which grows with its entries on some file systems."""
        fd = self.open()
        try:
            os.fchmod(fd, 0o700)
            empty(fd)
            for name in attributes(fd):
                if name not in self.attributes:
                    os.removexattr(fd, name)
            if flags(fd) != self.flags:
                set_flags(fd, self.flags)
            os.utime(fd, ns=(0, 0))
            info = os.fstat(fd)
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
    import fcntl
    try:
        return struct.unpack("l", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(struct.calcsize("l"))))[0]
    except OSError:
        return None


def set_flags(fd, value):
    import fcntl
    fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("l", value))


def empty(top):
    """Remove what is in the folder open as top. However deep it is, two folders are open at once, and
    no path is longer than a name."""
    fd, names, left = os.dup(top), [], []
    try:
        left.append(remove_files(fd))
        while left:
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
