# Write letters on all of a folder that is not its content.
import ctypes
import fcntl
import os
import struct

GETFLAGS, SETFLAGS, NODUMP = 0x80086601, 0x40086602, 0x40


def writable(folder):
    try:
        os.mkdir(folder + "/try")
        os.rmdir(folder + "/try")
        return True
    except OSError:
        return False


folders = [f for f in (os.environ["TMPDIR"], "/dev/shm") if writable(f)]


def attributes(folder):
    for name in ("user.letter", "system.posix_acl_access", "system.posix_acl_default"):
        acl = struct.pack("<I", 2) + struct.pack("<HHI", 1, 7, 0xFFFFFFFF) + struct.pack("<HHI", 4, 5, 0xFFFFFFFF) + struct.pack("<HHI", 0x20, 5, 0xFFFFFFFF)
        os.setxattr(folder, name, b"271828" if name.startswith("user") else acl)


def flags(folder):
    fd = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(fd, SETFLAGS, struct.pack("l", NODUMP))


def run():
    for folder in folders:
        for letter in (lambda: os.chmod(folder, 0o1711), lambda: attributes(folder), lambda: flags(folder),
                       lambda: os.utime(folder, (271828, 314159))):
            try:
                letter()
            except OSError:
                pass
    return []


def find():
    found = []
    for folder in folders:
        info = os.stat(folder)
        if info.st_mode & 0o7777 != 0o700:
            found.append("mode %o of %s" % (info.st_mode, folder))
        if int(info.st_mtime) == 314159 or int(info.st_atime) == 271828:
            found.append("time of " + folder)
        found += ["%s of %s" % (name, folder) for name in os.listxattr(folder)]
        try:
            fd = os.open(folder, os.O_RDONLY)
            if struct.unpack("l", fcntl.ioctl(fd, GETFLAGS, bytes(8)))[0] & NODUMP:
                found.append("flag of " + folder)
        except OSError:
            pass
    return found
