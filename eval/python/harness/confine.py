# Confine this process, and by inheritance all it forks, as its orders say. What could not be done is returned.

import base64
import ctypes
import json
import os
import re
import resource
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_READ, PR_CAPBSET_DROP = 1, 22, 23, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18


def check(result):
    """Raise the C library's error if result says that there is one."""
    if result < 0:
        errno = ctypes.get_errno()
        raise OSError(errno, os.strerror(errno))
    return result


def number(*args):
    """Integers wide enough for any argument of a variadic C function."""
    return [ctypes.c_long(a) if isinstance(a, int) else a for a in args]


def prctl(*args):
    return check(libc.prctl(*number(*args, *[0] * (5 - len(args)))))


def syscall(*args):
    return check(libc.syscall(*number(*args)))


def attempt(missing, mechanism, step, *args):
    """Do step; if it cannot be done, note why under mechanism. Return whether it was done."""
    try:
        step(*args)
        return True
    except (OSError, ValueError) as e:
        missing[mechanism] = str(e)
        return False


def confine(orders):
    """Do all that is ordered but the limits on memory, which come after imports. Return which
    mechanisms are missing, with the reasons, and which folders can be written to. An evaluator's candidates get
    mounts of their own where there are private mounts, and are confined by shut_in when they have them."""
    missing, folders = {}, [orders["scratch"]]
    orders["layered"], orders["unlayered"] = False, ""
    if not orders["isolate"]:
        return missing, folders
    prctl(PR_SET_PDEATHSIG, 9)
    mounted = orders["mountns"] and attempt(missing, "private mounts", mounts, orders, folders, missing)
    orders["filter"] = None
    if orders["filters"]:
        orders["filter"] = filter_call(orders["filters"]["mounted" if mounted else "plain"])
    if orders["proc_limit"] and orders["userns"] and not orders["root"]:
        set_limit(resource.RLIMIT_NPROC, orders["proc_limit"] + 1)  # this process is one more
    if mounted and orders["folder"]:
        orders["layered"] = True
        lacking = trial(orders)
        failed, orders["unlayered"] = lacking.pop("layers", ""), lacking.pop("layer", "")
        if not failed:
            missing.update(lacking)
            return missing, []
        orders["unlayered"] = failed
        orders["layered"] = False
    shut_in(orders, folders, missing)
    return missing, folders


def shut_in(orders, folders, missing):
    """Give up all rights but those to read, and to write to the folders."""
    attempt(missing, "user namespace", drop_capabilities)
    if attempt(missing, "no new privileges", prctl, PR_SET_NO_NEW_PRIVS, 1):
        if orders["landlock"]:
            attempt(missing, "landlock", landlock, orders, folders + (orders["writable"] or []))
        if orders["filter"]:
            attempt(missing, "seccomp", orders["filter"])


def trial(orders):
    """Confine a fork as a candidate's process will be. Return what is missing there."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        missing = {}
        attempt(missing, "layers", own_mounts, orders, missing)
        os.write(theirs, json.dumps(missing).encode())
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as f:
        missing = json.loads(f.read() or '{"layers": "a process could not be confined"}')
    os.waitpid(child, 0)
    return missing


def own_mounts(orders, missing):
    """Give this process mounts that end with it: a temporary folder, and layers over /tmp and the evaluator's
    folder, which keep in memory what is written there. Then confine it."""
    clone_newns, ms_bind = 0x20000, 4096
    check(libc.unshare(clone_newns))
    scratch, held = orders["scratch"], {}  # what is seen at a path in the end, in this order
    options = "mode=0700,size=%d,nr_inodes=%d" % (orders["scratch_bytes"], orders["scratch_files"])
    mount("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for name, target in (("tmp", "/tmp"), ("task", orders["folder"]), ("home", scratch), ("shm", "/dev/shm")):
        at = os.path.join(scratch, name)
        if name == "shm" and not orders["shm"]:
            continue
        os.mkdir(at, 0o700)
        if name in ("tmp", "task"):
            os.mkdir(at + ".upper", 0o755)
            os.mkdir(at + ".work")
            where = [re.sub(r"([\\,:])", r"\\\1", path) for path in (target, at, at)]
            options = "lowerdir=%s,upperdir=%s.upper,workdir=%s.work,userxattr,index=off" % tuple(where)
            if not attempt(missing, "layer", mount, "overlay", at, "overlay", MS_NOSUID | MS_NODEV, options):
                continue  # as where others' mounts are in it, which no layer may show: it can be read
        held[target] = os.open(at, os.O_PATH)
    for folder in orders["writable"] or []:
        held[folder] = os.open(folder, os.O_PATH)
    for target, fd in held.items():
        mount("/proc/self/fd/%d" % fd, target, None, ms_bind | MS_REC)
        os.close(fd)
    for path in orders["hidden"] or []:
        hide(path)  # once more, as a layer shows what is below other mounts
    shut_in(orders, list(held), missing)


def inside_of(path, folder):
    return (path + "/").startswith(folder + "/")


def mounts(orders, folders, missing):
    """Make the file system read-only, with a memory file system of limited size for the scratch
    folder and, for semaphores, /dev/shm."""
    ms_bind, at_recursive, set_attributes = 4096, 0x8000, orders["numbers"]["mount_setattr"]
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    if orders["pidns"]:
        try:
            mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        except OSError:
            pass  # parts of it are hidden here; the old one shows others' processes, which is all
    if orders["pid_max"]:
        attempt(missing, "process limit", lower_pid_max, orders["pid_max"])
    for path in orders["hidden"] or []:
        hide(path)
    small_dev(orders["devices"])
    for path in orders["writable"] or []:
        mount(path, path, None, ms_bind | MS_REC)
    attr = struct.pack("=QQQQ", 1 | 2, 0, 0, 0)  # read-only, no setuid
    syscall(set_attributes, -100, b"/", at_recursive, attr, len(attr))
    for path in orders["writable"] or []:
        attr = struct.pack("=QQQQ", 0, 1, 0, 0)
        syscall(set_attributes, -100, path.encode(), 0, attr, len(attr))
    options = "mode=0700,size=%d,nr_inodes=%d" % (orders["scratch_bytes"], orders["scratch_files"])
    mount("tmpfs", orders["scratch"], "tmpfs", MS_NOSUID | MS_NODEV, options)
    if orders["shm"]:
        mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options)
        folders.append("/dev/shm")


def hide(path):
    """Put an empty folder or file in the place of what is there."""
    ms_bind = 4096
    if os.path.isdir(path):
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0,size=4k,nr_inodes=1")
    elif os.path.exists(path):
        mount("/dev/null", path, None, ms_bind)


def found(hidden):
    """Return a file that should be hidden and can be read all the same; None if there is none."""
    for path in hidden or []:
        inside = [os.path.join(d, name) for d, _, names in os.walk(path) for name in names]
        for file in inside or [path]:
            try:
                with open(file, "rb") as f:
                    if f.read(1):
                        return file
            except OSError:
                pass
    return None


def small_dev(devices):
    """Replace /dev by a folder with these devices, made on top of /proc, a folder that is surely there, and moved."""
    staging, ms_bind, ms_move = "/proc", 4096, 8192
    mount("tmpfs", staging, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k,nr_inodes=%d" % (32 + 2 * len(devices)))
    for device in devices:
        file = os.path.join(staging, os.path.relpath(device, "/dev") if inside_of(device, "/dev") else
                            os.path.basename(device))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        os.mknod(file, 0o644)
        mount(device, file, None, ms_bind)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink("/proc/self/fd" + target, os.path.join(staging, name))
    os.mkdir(os.path.join(staging, "shm"))
    mount(staging, "/dev", None, ms_move)


def mount(source, target, kind, flags, options=None):
    encoded = [x.encode() if x is not None else None for x in (source, target, kind, options)]
    try:
        check(libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]))
    except OSError as e:
        raise OSError(e.errno, "mounting %s: %s" % (target, e.strerror)) from None


def lower_pid_max(highest):
    """Limit processes by the highest process id in this namespace, as root is exempt from a limit
    on processes. Ordered only where the kernel has one pid_max for each namespace."""
    with open("/proc/sys/kernel/pid_max", "w") as f:
        f.write(str(highest))
    try:
        with open("/proc/sys/kernel/ns_last_pid", "w") as f:
            f.write("300")  # lower ids would come on top, as they count only until they are used up
    except OSError:
        pass  # not in every kernel


def drop_capabilities():
    """Give up what being root in a namespace would allow, for good."""
    clear_ambient = 4
    try:
        prctl(PR_CAP_AMBIENT, clear_ambient, 0, 0, 0)
    except OSError:
        pass  # kernels before 4.3 have none
    for cap in range(64):
        try:
            prctl(PR_CAPBSET_READ, cap)
        except OSError:
            break  # no such capability, nor any after it
        try:
            prctl(PR_CAPBSET_DROP, cap)
        except PermissionError:
            break  # it was never ours
    header = struct.pack("=Ii", 0x20080522, 0)
    check(libc.capset(header, struct.pack("=6I", *[0] * 6)))


def landlock(orders, folders):
    rules, nr = orders["landlock"], orders["numbers"]
    fs, readable = rules["fs"], rules["readable"]
    if orders["layered"]:
        fs, readable = fs & ~rules["read"], []  # mounts hide what must not be read
    attr = struct.pack("=QQQ", fs, rules["net"], rules["scoped"])[: rules["size"]]
    fd = syscall(nr["landlock_create_ruleset"], attr, len(attr), 0)
    try:
        beneath = [(f, rules["folder"]) for f in folders]
        beneath += [(d, rules["device"]) for d in rules["devices"]]
        for path, access in beneath + [(f, rules["read"]) for f in readable]:
            allow(nr["landlock_add_rule"], fd, path, access & fs)
        syscall(nr["landlock_restrict_self"], fd, 0)
    finally:
        os.close(fd)


def allow(nr, ruleset, path, access):
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        syscall(nr, ruleset, 1, struct.pack("=Qi", access, fd), 0)
    finally:
        os.close(fd)


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def filter_of(encoded):
    """The filter whose instructions are given in base 64, fit to be installed."""
    code = base64.b64decode(encoded)
    buffer = ctypes.create_string_buffer(code, len(code))
    f = Filter(len(code) // 8, ctypes.addressof(buffer))
    f.buffer = buffer  # so that it lives as long
    return f


def filter_call(encoded):
    """A call that installs the filter, with all that it needs made beforehand."""
    f, mode_filter = filter_of(encoded), 2
    call = ctypes.CDLL(None, use_errno=True).prctl
    call.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    where = ctypes.addressof(f)

    def install():
        if call(PR_SET_SECCOMP, mode_filter, where, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "installing a filter")

    install.filter = f  # so that it lives as long
    return install


def set_limit(which, soft, hard=None):
    """Set a limit, but never above the one already in force."""
    hard = soft if hard is None else hard
    _, ceiling = resource.getrlimit(which)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))


def limit(orders, missing):
    """Set the limits that every candidate inherits."""
    limits = (("CORE", 0), ("FSIZE", orders["file_bytes"]), ("NOFILE", orders["open_files"]),
              ("AS", address_space() + orders["memory_bytes"]))
    for name, value in limits:
        which = getattr(resource, "RLIMIT_" + name, None)
        if name == "AS" and not orders["memory_bytes"]:
            continue  # the other side looks at the memory that is held
        if which is None:
            missing["resource limits"] = "this system has no RLIMIT_" + name
        else:
            attempt(missing, "resource limits", set_limit, which, value)


def address_space():
    """How many bytes are mapped already, which a limit on address space counts; 0 if unknown."""
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
