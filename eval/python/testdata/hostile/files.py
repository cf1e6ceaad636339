# Try to change FOLDER in every way there is.
import ctypes
import os
import shutil
import stat

folder = "FOLDER"
victim, other = folder + "/sub/victim", folder + "/evaluator.py"
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def append():
    with open(victim, "a") as f:
        f.write("more")


def overwrite():
    with open(victim, "r+") as f:
        f.write("else")


def truncate_by_opening():
    os.close(os.open(victim, os.O_RDONLY | os.O_TRUNC))
    return os.stat(victim).st_size == 0


def through_self():
    fd = os.open(victim, os.O_RDONLY)
    os.close(os.open("/proc/self/fd/%d" % fd, os.O_RDWR))


def through_path():
    fd = os.open(victim, os.O_PATH)
    os.close(os.open("/proc/self/fd/%d" % fd, os.O_RDWR))


def through_link():
    os.symlink(victim, "link")
    with open("link", "a") as f:
        f.write("more")


def hard_link_out():
    os.link(victim, "hard")
    with open("hard", "a") as f:
        f.write("more")


def change_mode():
    os.chmod(victim, 0)
    return stat.S_IMODE(os.stat(victim).st_mode) == 0


def change_mode_of_descriptor():
    fd = os.open(victim, os.O_RDONLY)
    os.fchmod(fd, 0o777)
    return stat.S_IMODE(os.fstat(fd).st_mode) == 0o777


def change_times():
    os.utime(victim, (1, 1))
    return os.stat(victim).st_mtime == 1


def flags():
    import fcntl
    import struct
    fd = os.open(victim, os.O_RDONLY)
    fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x40))  # no dump


def device():
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))


def disk():
    for name in ("vda", "sda", "nvme0n1", "mem", "kmsg"):
        if os.path.exists("/dev/" + name):
            os.close(os.open("/dev/" + name, os.O_WRONLY))
            return True
    return False


def kernel():
    with open("/proc/sys/kernel/core_pattern", "w") as f:
        f.write("core")


def remount():
    ms_remount, ms_bind = 32, 4096
    checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(ms_remount | ms_bind), None))


def unmount():
    checked(libc.umount2(os.getcwd().encode(), 2))


def namespace():
    checked(libc.unshare(0x10000000))


attempts = {
    "create": lambda: open(folder + "/new", "w").close(),
    "append": append,
    "overwrite": overwrite,
    "truncate": lambda: os.truncate(victim, 0),
    "truncate by opening": truncate_by_opening,
    "truncate by writing": lambda: open(victim, "w").close(),
    "through /proc/self": through_self,
    "through a path": through_path,
    "through a link": through_link,
    "hard link out": hard_link_out,
    "hard link in": lambda: os.link("mine", folder + "/mine"),
    "symbolic link": lambda: os.symlink("x", folder + "/link"),
    "rename": lambda: os.rename(victim, folder + "/moved"),
    "move out": lambda: os.rename(victim, "moved"),
    "move in": lambda: os.rename("mine", folder + "/mine"),
    "replace": lambda: os.replace("mine", other),
    "remove": lambda: os.unlink(victim),
    "remove folder": lambda: os.rmdir(folder + "/empty"),
    "remove all": lambda: shutil.rmtree(folder),
    "make folder": lambda: os.mkdir(folder + "/d"),
    "make pipe": lambda: os.mkfifo(folder + "/p"),
    "change mode": change_mode,
    "change mode of descriptor": change_mode_of_descriptor,
    "change owner": lambda: os.chown(victim, 1, 1),
    "change times": change_times,
    "attribute": lambda: os.setxattr(victim, "user.x", b"y"),
    "flags": flags,
    "device": device,
    "disk": disk,
    "kernel": kernel,
    "remount": remount,
    "unmount": unmount,
    "namespace": namespace,
}


def run():
    through = []
    with open("mine", "w") as f:
        f.write("mine")
    os.chmod("mine", 0o600)
    for name, attempt in attempts.items():
        try:
            if attempt() is not False:
                through.append(name)
        except OSError:
            pass
    return through
