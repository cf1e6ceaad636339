# The programs that a folder's evaluator runs by sys.executable, without the start of an interpreter and its
# imports for each. Before the process of a candidate is told anything, it forks a server. For each such program
# the server forks a process with the same imports, which then reads from the evaluator what to run. The server
# itself reads nothing, so that a program finds no evaluator, no candidate and no other program in its memory. What
# is not understood here is left to an interpreter of its own.

import atexit
import builtins
import gc
import importlib.machinery
import io
import json
import os
import random
import re
import signal
import socket
import sys
import threading
import types

# What an interpreter, or a module that is imported already, goes by when it starts.
STARTING = re.compile("PYTHON|LD_|LC_|LANG|HOME$|TZ$|MALLOC_|GLIBC_|OMP_|GOMP_|KMP_|MKL_|BLIS_|OPENBLAS_|NUMEXPR_|"
                      "VECLIB_|NPY_|SCIPY_")

# Who waits for any child at all, or looks for them, would find the server; a mask of modes would not reach it.
UNFIT = re.compile(rb"\bos\.wait|waitpid|waitid|fork|SIGCHLD|psutil|import \*|umask")


def runs_programs(source):
    """Whether an evaluator is one whose programs can be run here."""
    return b"executable" in source and b"subprocess" in source and not UNFIT.search(source)


def starting():
    """The part of the environment that only a new interpreter would obey."""
    return {k: v for k, v in os.environ.items() if STARTING.match(k)}


def handed():
    """What a process hands to those that it executes and is not in a request."""
    ignored = [s for s in signal.valid_signals() if signal.getsignal(s) is signal.SIG_IGN]
    return state(), ignored, signal.pthread_sigmask(signal.SIG_BLOCK, ())


class Programs:
    """The evaluator's end: it takes the place of subprocess.Popen._execute_child."""

    # What Popen is asked for, where that can be had from here.
    PLAIN = {"executable": None, "preexec_fn": None, "close_fds": True, "pass_fds": (), "startupinfo": None,
             "creationflags": 0, "shell": False, "restore_signals": True, "gid": None, "gids": None, "uid": None,
             "umask": -1, "process_group": -1}
    OTHERS = {"args", "cwd", "env", "start_new_session",
              "p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"}

    def __init__(self, orders):
        import subprocess
        self.execute = subprocess.Popen._execute_child
        code = self.execute.__code__
        self.names = code.co_varnames[1:code.co_argcount]
        if not set(self.names) <= set(self.PLAIN) | self.OTHERS or not hasattr(subprocess.Popen, "_close_pipe_fds"):
            return  # another Python's subprocess than those that are known
        self.executable, self.starting, self.handed = sys.executable, starting(), handed()
        self.modules = {name.partition(".")[0] for name in sys.modules}
        self.lock = threading.RLock()
        try:
            self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.server = os.fork()
        except OSError:
            return
        if self.server == 0:
            try:
                self.socket.close()
                orders["restore_hooks"]()
                serve_programs(theirs, orders)
            finally:
                os._exit(0)
        theirs.close()
        # The server forks children of this process alone, and no other has a request in hand.
        hooks = {"before": self.lock.acquire, "after_in_parent": self.lock.release}
        os.register_at_fork(after_in_child=self.socket.close, **hooks)
        programs = self

        def execute_child(popen, *args):
            return programs.execute_child(popen, args)

        subprocess.Popen._execute_child = execute_child

    def execute_child(self, popen, args):
        call = dict(zip(self.names, args))
        request = self.request(call) if len(args) == len(self.names) and self.socket.fileno() >= 0 else None
        pid = self.start(request, call) if request else 0
        if not pid:
            return self.execute(popen, *args)
        popen.pid, popen._child_created = pid, True
        popen._close_pipe_fds(*(call[n] for n in self.names if n[:3] in ("p2c", "c2p", "err")))

    def request(self, call):
        """What to run, None where that is for an interpreter of its own."""
        try:
            args = [os.fsdecode(a) for a in call["args"]] if isinstance(call["args"], (list, tuple)) else []
            if len(args) < 2 or args[0] != self.executable or any("\0" in a for a in args):
                return None
            if any(call.get(name, plain) != plain for name, plain in self.PLAIN.items()):
                return None
            cwd = os.path.join(os.getcwd(), os.fsdecode(call["cwd"] or ""))
            env = os.environ if call["env"] is None else call["env"]
            env = {os.fsdecode(k): os.fsdecode(v) for k, v in env.items()}
            script = os.path.join(cwd, args[1])
            if args[1] == "-c":
                fit, first = len(args) > 2, cwd
            else:
                fit = args[1].endswith(".py") and os.path.isfile(script) and os.access(script, os.R_OK)
                first = os.path.dirname(os.path.realpath(script))
            if not fit or not os.access(cwd, os.X_OK) or self.shadows(first) or handed() != self.handed:
                return None
            if {k: v for k, v in env.items() if STARTING.match(k)} != self.starting:
                return None
        except (OSError, TypeError, ValueError, AttributeError):
            return None
        return {"args": args[1:], "cwd": cwd, "env": env, "script": script, "first": "" if args[1] == "-c" else first,
                "session": bool(call["start_new_session"]), "executable": args[0]}

    def shadows(self, folder):
        """Whether a module that is imported already would be found in the folder instead."""
        return any(name.partition(".")[0] in self.modules for name in os.listdir(folder))

    def start(self, request, call):
        """Start the program and return its process, a child of this one; 0 if it cannot be."""
        text = json.dumps(request).encode()
        fds = [fd if fd != -1 else n for n, fd in enumerate((call["p2cread"], call["c2pwrite"], call["errwrite"]))]
        with self.lock:
            pid = 0
            ours, theirs = os.pipe()
            try:
                prctl(PR_SET_CHILD_SUBREAPER, 1)
                try:
                    socket.send_fds(self.socket, [b"P"], [ours, *fds])
                    pid = int.from_bytes(self.socket.recv(4), "big")
                finally:
                    prctl(PR_SET_CHILD_SUBREAPER, 0)
                    os.close(ours)
                if not pid:
                    self.close()
                    return 0
                send(theirs, len(text).to_bytes(4, "big"), text)
                return pid
            except BaseException as e:
                self.close()
                if isinstance(e, BrokenPipeError) and pid:
                    return pid  # it was ended before it began
                if isinstance(e, OSError) and e.errno:  # a handler's TimeoutError has none
                    return 0
                raise
            finally:
                os.close(theirs)

    def close(self):
        """End the server, which may be one process too many."""
        self.socket.close()
        try:
            os.kill(self.server, signal.SIGKILL)
            os.waitpid(self.server, 0)
        except OSError:
            pass


def serve_programs(sock, orders):
    os.close(orders["home"])
    for name in ("openevolve", "openevolve.evaluation_result"):
        if getattr(sys.modules.get(name), "EvaluationResult", None) is EvaluationResult:
            del sys.modules[name]  # ours, which an interpreter of its own would not have
    while True:
        data, fds, _, _ = socket.recv_fds(sock, 1, 4)
        if len(fds) != 4:
            os._exit(0)
        pid = fork_program(fds, orders)
        for fd in fds:
            os.close(fd)
        sock.sendall(pid.to_bytes(4, "big"))


def fork_program(fds, orders):
    """Fork a process for a program, and return its number; 0 if none can be made. The process between dies at
    once, and the program becomes the child of the evaluator, as the nearest that takes on orphans."""
    ours, theirs = os.pipe()
    try:
        between = os.fork()
        if between == 0:
            failed = 1
            try:
                program = os.fork()
                if program == 0:
                    be_program(fds, orders)
                os.write(theirs, program.to_bytes(4, "big"))
                failed = 0
            finally:
                os._exit(failed)
        _, status = os.waitpid(between, 0)
        return int.from_bytes(os.read(ours, 4), "big") if status == 0 else 0
    except OSError:
        return 0
    finally:
        os.close(ours)
        os.close(theirs)


def be_program(fds, orders):
    """Be the process of a program, as an interpreter of its own would be. Never return."""
    status = [1]
    try:
        request = json.loads(frame(fds[0]))
        for n, fd in enumerate(fds[1:]):
            os.dup2(fd, n)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        if request["session"]:
            os.setsid()
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        streams(orders["streams"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        random.seed()
        numpy = sys.modules.get("numpy")
        if numpy is not None and hasattr(numpy, "random"):
            numpy.random.seed()
        run_program(request, orders, status)
    finally:
        os._exit(status[0] & 255)


def streams(kinds):
    """Open the standard streams as an interpreter does."""
    for fd, name, (encoding, errors) in zip(range(3), ("stdin", "stdout", "stderr"), kinds):
        raw = open(fd, "wb" if fd else "rb", closefd=False)
        raw.raw.name = "<%s>" % name
        text = io.TextIOWrapper(raw, encoding, errors, "\n", line_buffering=fd == 2 or os.isatty(fd))
        text.mode = "w" if fd else "r"
        setattr(sys, name, text)
        setattr(sys, "__%s__" % name, text)


def run_program(request, orders, status):
    main, before = types.ModuleType("__main__"), set(sys.modules)
    main.__builtins__ = builtins
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    sys.argv, sys.orig_argv = list(request["args"]), [request["executable"], *request["args"]]
    sys.path[:] = [request["first"], *orders["path"]]
    for folder in (request["first"], os.getcwd()):
        sys.path_importer_cache.pop(folder, None)
    try:
        if request["args"][0] == "-c":
            del sys.argv[1]
            main.__loader__ = importlib.machinery.BuiltinImporter
            source, path = request["args"][1], "<string>"
        else:
            path = main.__file__ = request["script"]
            main.__cached__, main.__loader__ = None, importlib.machinery.SourceFileLoader("__main__", path)
            with open(path, "rb") as f:
                source = f.read()
        del request
        exec(compile(source, path, "exec", 0, True), main.__dict__)
        status[0] = 0
    except SystemExit as e:
        status[0] = exit_status(e.code)
    except BaseException as e:
        e.__traceback__ = e.__traceback__.tb_next
        sys.excepthook(type(e), e, e.__traceback__)
        if isinstance(e, KeyboardInterrupt):
            status[0] = -signal.SIGINT
    finish(main, before, status)


def exit_status(code):
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def finish(main, before, status):
    """Do what an interpreter does at its end: wait for threads, and have everything of the program's flushed,
    closed and deleted."""
    threading._shutdown()
    atexit._run_exitfuncs()
    flush(status)
    for name in set(sys.modules) - before:
        del sys.modules[name]
    names = main.__dict__
    for name in [n for n in names if n != "__builtins__"]:
        names[name] = None
    gc.collect()
    flush(status)
    if status[0] == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def flush(status):
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException as e:
            setattr(sys, name, None)
            if name == "stdout":
                status[0] = 120
                print("Exception ignored in: %r\n%s: %s" % (stream, type(e).__name__, e), file=sys.stderr)
