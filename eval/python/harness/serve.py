# A zygote: import once, then fork a fresh, contained process for every candidate, one at a time, and
# see to it that nothing of it is left. It does as little as it can between two forks, because every
# page that it writes to then is copied: what candidates send and print goes straight to the other
# side, which also keeps the time.

import gc
import importlib
import json
import os
import select
import signal
import sys
import time

# What was started with it: pipes for standard output and error, a socket for results.
OUT, ERR, HOME = 3, 4, 5


class Control:
    """The pipes to the other side, which no candidate gets to see. What comes in is a four-byte
    length and as many bytes; no bytes means that the candidate is to be ended. What goes out are
    lines."""

    def __init__(self):
        self.fds = [os.dup(0), os.dup(1)]
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(2, 1)  # what is printed while importing is for people
        os.close(null)

    def read(self):
        return self.exactly(int.from_bytes(self.exactly(4), "big"))

    def exactly(self, n):
        data = b""
        while len(data) < n:
            part = os.read(self.fds[0], n - len(data))
            if not part:
                os._exit(0)  # the other side is gone
            data += part
        return data

    def write(self, line):
        os.write(self.fds[1], line + b"\n")  # short enough to go in one


class Zygote:
    def __init__(self, control, orders, folders):
        self.control, self.orders, self.folders = control, orders, folders
        self.alone = filter_call(orders["alone"]) if orders["alone"] else None
        self.poll = select.poll()
        self.poll.register(control.fds[0], select.POLLIN)

    def serve(self):
        while True:
            job = self.control.read()
            if not job:
                continue  # it had ended already
            try:
                pid = os.fork()
            except OSError as e:
                self.control.write(b"cannot fork: %s" % str(e).encode())
                continue
            if pid == 0:
                self.become(job)
            status, usage = self.watch(pid)
            if self.alone is None:
                self.descendants()
            used = int((usage.ru_utime + usage.ru_stime) * 1e6)
            self.control.write(b"%d %d %d" % (status, used, clean(self.folders)))

    def become(self, job):
        """Be the process of a candidate. Never return."""
        try:
            os.close(self.control.fds[0])
            os.close(self.control.fds[1])
            os.dup2(OUT, 1)
            os.dup2(ERR, 2)
            os.close(OUT)
            os.close(ERR)
            candidate(job, self.orders, self.alone, HOME)
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
        if os.read(self.control.fds[0], 4):
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


def clean(folders):
    """Remove what is in the folders. Return whether nothing is left."""
    for folder in folders:
        for name in os.listdir(folder):
            if not remove(os.path.join(folder, name)):
                return False
    return True


def remove(path):
    import shutil  # which brings compression with it, and is seldom needed
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except (OSError, RecursionError):
        return False
    return True


def preload(names):
    """Import what is wanted; return what cannot be."""
    lacking = {}
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as e:
            lacking[name] = str(e) or type(e).__name__
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
    surroundings(orders)
    if libc is not None:
        libc.prctl(*number(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    lacking = prepare_evaluator(orders) if orders["folder"] else {}
    lacking.update(preload(orders["imports"]))
    orders["restore_hooks"] = release_hooks()
    limit(orders, missing)
    warm(orders)
    gc.collect()
    gc.freeze()
    return folders, {"missing": missing, "lacking": lacking}


def prepare_evaluator(orders):
    """Compile the evaluator and import what it will, but for what lies in its own folder."""
    sys.path.insert(0, orders["folder"])
    shim()
    path = os.path.join(orders["folder"], "evaluator.py")
    with open(path, "rb") as f:
        source = f.read()
    orders["code"] = compile(source, path, "exec", dont_inherit=True)
    return preload(wanted(orders["folder"]))


def main():
    control = Control()
    orders = json.loads(control.read())
    try:
        folders, hello = prepare(orders)
    except BaseException as e:
        control.write(json.dumps({"failed": "%s: %s" % (type(e).__name__, e)}).encode())
        os._exit(1)
    control.write(json.dumps(hello).encode())
    Zygote(control, orders, folders).serve()


main()
