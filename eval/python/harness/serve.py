# A zygote: import once, then fork a fresh, contained process for every candidate, one at a time, and see to it that
# nothing of it is left. What candidates send and print goes straight to the other side, which also keeps the time.

import gc
import importlib
import json
import os
import re
import resource
import select
import signal
import socket
import struct
import sys
import time

PR_SET_DUMPABLE = 4


class Control:
    """The socket to the other side, which unlike a pipe nobody can open again by its name in /proc. First the orders
    come in; then for each candidate its number and its four descriptors, or the number 0 to end it. Neither programs
    nor results come by here: what this process has read is in the memory of every fork. What goes out are lines."""

    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(0))
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.close(null)

    def orders(self):
        return json.loads(frame(self.socket.fileno()))

    def receive(self):
        """The number of a candidate and its descriptors: the standard ones and home."""
        data, extra, _, _ = self.socket.recvmsg(4, socket.CMSG_SPACE(4 * 4))
        if len(data) < 4:
            return None, ()  # the other side is gone
        return int.from_bytes(data, "big"), struct.unpack("4i", extra[0][2][:16]) if extra else ()

    def write(self, line):
        self.socket.sendall(line + b"\n")


def frame(fd):
    return exactly(fd, int.from_bytes(exactly(fd, 4), "big"))


class Zygote:
    def __init__(self, control, orders, folders):
        self.control, self.orders, self.folders = control, orders, [Folder(f) for f in folders]
        self.alone = filter_call(orders["alone"]) if orders["alone"] else None
        self.poll = select.poll()
        self.poll.register(control.socket.fileno(), select.POLLIN)
        self.state = state()
        self.home = control.socket.fileno()

    def serve(self):
        while True:
            n, own = self.control.receive()
            if n is None:
                os._exit(0)
            if not own:
                continue  # the end of a candidate that had ended already
            try:
                pid = os.fork()
            except OSError as e:
                for fd in own:
                    os.close(fd)
                self.control.write(b"%d cannot fork: %s" % (n, str(e).encode()))
                continue
            if pid == 0:
                self.become(*own)
            for fd in own:
                os.close(fd)
            status, usage = self.watch(pid)
            if self.alone is None:
                self.descendants()
            used = int((usage.ru_utime + usage.ru_stime) * 1e6)
            clean = all(f.clean() for f in self.folders) and (self.orders["filtered"] or state() == self.state)
            self.control.write(b"%d %d %d %d" % (n, status, used, clean))

    def become(self, null, out, err, home):
        """Be the process of a candidate. Never return. All that it has open it has to itself: flags, options, locks
        and capacities belong to an open file and not to a descriptor, so they would be the next one's too."""
        try:
            os.dup2(null, 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.dup2(home, self.home, False)  # in place of our control
            for fd in (null, out, err, home):
                os.close(fd)
            candidate(frame(self.home), self.orders, self.alone, self.home)
        finally:
            os._exit(0)

    def watch(self, pid):
        """Wait until the candidate ends by itself or is to be ended."""
        fd = pidfd(pid)
        if fd is None:
            return self.watch_closely(pid)
        self.poll.register(fd, select.POLLIN)
        while True:
            ready = self.poll.poll()
            if len(ready) == 1 and ready[0][0] == fd:
                break
            self.told(pid)
        self.poll.unregister(fd)
        os.close(fd)
        end_group(pid)
        _, status, usage = os.wait4(pid, 0)
        return status, usage

    def watch_closely(self, pid):
        """Watch where nothing says that a process has ended."""
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                end_group(pid)
                return status, usage
            if self.poll.poll(2):
                self.told(pid)

    def told(self, pid):
        """Do what the other side says: to end the candidate; or if it is gone, everything."""
        if self.control.receive()[0] is not None:
            end(pid)
            return
        end(pid)
        os.wait4(pid, 0)
        self.descendants()
        os._exit(0)

    def descendants(self):
        """Kill and reap what outlived the candidate. In a namespace of our own everybody else in it
        is a descendant; else they have become our children, and theirs will when they are gone."""
        deadline = time.monotonic() + 10
        while reap():
            try:
                if self.orders["pidns"]:
                    os.kill(-1, signal.SIGKILL)
                else:
                    for pid in children():
                        os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
            if time.monotonic() > deadline:
                os._exit(1)
            time.sleep(0.0005)


def reap():
    """Reap the children that have ended. Return whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
        return True
    except ChildProcessError:
        return False


def end(pid):
    end_group(pid)
    try:
        os.kill(pid, signal.SIGKILL)  # it may not have a group of its own yet
    except OSError:
        pass


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def pidfd(pid):
    """A descriptor that becomes readable when the process ends; None where there are none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def children():
    """The processes whose parent is this one."""
    mine = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as f:
                fields = f.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == mine:
            yield int(name)


def state():
    """What this process hands to its forks, and a candidate can change where no filter keeps it from that."""
    limits = [resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")]
    cpus = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    return limits, os.getpriority(os.PRIO_PROCESS, 0), cpus


def preload(names):
    """Import what is wanted; return what cannot be."""
    lacking = {}
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as e:
            lacking[name] = cut(str(e), 500) or type(e).__name__
    return lacking


def surroundings(orders):
    """Set the folders that programs write to, and keep the packages that the user has installed."""
    import site
    if site.ENABLE_USER_SITE and site.USER_BASE:
        os.environ["PYTHONUSERBASE"] = site.USER_BASE
    for name in ("HOME", "TMPDIR"):
        os.environ[name] = orders["scratch"]
    os.chdir(orders["scratch"])
    sys.argv = ["program"]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)


def prepare(orders):
    """Get ready to fork candidates; return the folders to clean and what to tell the other side."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    missing, folders = confine(orders)
    orders["lacked"], orders["asked_for"] = {"layer", *missing}, []
    if sys.platform == "linux" and found(orders["hidden"]):
        raise PermissionError("candidates can read %s, which must be hidden: %s" % (found(orders["hidden"]), missing))
    surroundings(orders)
    if libc is not None:
        libc.prctl(*number(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    if orders["folder"]:
        prepare_evaluator(orders)
    lacking = preload(orders["imports"])
    limit(orders, missing)
    warm(orders)
    gc.collect()
    gc.freeze()
    orders["filtered"] = bool(orders["filters"]) and "seccomp" not in missing
    if libc is not None:
        # From now on neither this process nor its forks can be opened under /proc by each other, or traced. A program
        # that a candidate executes can be: it has nothing of ours.
        prctl(PR_SET_DUMPABLE, 0)
    missing = {mechanism: cut(why, 500) for mechanism, why in missing.items()}
    return folders, {"missing": missing, "lacking": lacking, "unlayered": orders["unlayered"]}


def prepare_evaluator(orders):
    """Compile the evaluator and import what it will, but for what lies in its own folder."""
    sys.path[:0] = [orders["folder"], *(orders["with"] or [])]
    shim()
    path = os.path.join(orders["folder"], "evaluator.py")
    with open(path, "rb") as f:
        source = f.read()
    orders["code"] = compile(source, path, "exec", dont_inherit=True)
    orders["asked_for"] = re.findall(rb"""(?:environ\.get|getenv)\(["'](\w+)""", source)
    preload(wanted(orders["folder"]))  # what is lacking, the evaluator's own import says


def main():
    control = Control()
    orders = control.orders()
    try:
        folders, hello = prepare(orders)
    except BaseException as e:
        control.write(json.dumps({"failed": cut("%s: %s" % (type(e).__name__, e), 500)}).encode())
        os._exit(1)
    control.write(json.dumps(hello).encode())
    Zygote(control, orders, folders).serve()


main()
