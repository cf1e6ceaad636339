"""Runs programs by sys.executable in plain ways, and again in the same way but for a descriptor passed on, which is
left to an interpreter of its own. What they differ in is an artifact."""
import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np

SHOW = """
import os, resource, signal, sys, threading
print(sys.argv, len(sys.orig_argv), __name__, globals().get("__file__"), sys.path, os.getcwd())
print(sorted(os.environ.items()), sys.flags, sys.executable, __builtins__, type(__loader__))
print({k: v for k, v in sorted(globals().items()) if k[:2] == "__" and k not in ("__builtins__", "__loader__")})
print(sys.modules["__main__"].__dict__ is globals(), "openevolve" in sys.modules, hash("a"), sys.warnoptions)
for s in (sys.stdin, sys.stdout, sys.stderr):
    print(s, s.errors, s.line_buffering, s.write_through, s.fileno(), s is getattr(sys, "__%s__" % s.name[1:-1]))
print([resource.getrlimit(n) for n in range(9)], os.getpriority(0, 0), os.sched_getaffinity(0))
print(getattr(os, "um" + "ask")(0))
print({s: str(signal.getsignal(s)).split(" at ")[0] for s in signal.valid_signals()}, signal.pthread_sigmask(0, ()))
print(sorted(os.listdir("/proc/self/fd")), os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())
print(os.getppid() == int(os.environ["PARENT"]), os.getsid(os.getppid()) == os.getsid(0))
print([t.name for t in threading.enumerate()], sys.getrecursionlimit(), sys.dont_write_bytecode)
print(threading.main_thread() is threading.current_thread())
"""

PROGRAMS = {
    "show": SHOW,
    "output": "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.stdout.write('no end')",
    "input": "import sys; print(sys.stdin.read().upper())",
    "exit 3": "import sys; sys.exit(3)",
    "exit -1": "exit(-1)",
    "exit text": "import sys; sys.exit('text')",
    "exit at once": "import os; os._exit(7)",
    "error": "import json\ndef f():\n    json.loads('[')\nf()",
    "own error": "class E(Exception): pass\ntry:\n    1/0\nexcept Exception as e:\n    raise E('x') from e",
    "no syntax": "print('x')\nx = = 1\n",
    "interrupt": "raise KeyboardInterrupt",
    "signal": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "hook": "import sys\nsys.excepthook = lambda *e: print('hook', e[0])\n1/0",
    "open file": "f = open('left.txt', 'w'); f.write('left')",
    "cycle": "class C:\n    def __del__(self): print('gone')\nc = C(); c.c = c; d = C()",
    "at exit": "import atexit\nx = 5\natexit.register(lambda: print('at exit', x))\nprint('main')",
    "thread": "import threading, time\ndef f():\n    time.sleep(.05); print('thread')\n"
              "threading.Thread(target=f).start()",
    "error in a thread": "import threading\nt = threading.Thread(target=lambda: 1/0, name='t'); t.start(); t.join()",
    "closed output": "import sys; print('x'); sys.stdout.close()",
    "broken output": "import os; print('x'); os.close(1)",
    "sibling": "import beside; print(beside.X, beside.__file__)",
    "pickle": "import pickle\nclass C: pass\nprint(pickle.dumps(C()), type(pickle.loads(pickle.dumps(C()))))",
    "spawn": "import multiprocessing\ndef f(x): print(x * x, __name__)\nif __name__ == '__main__':\n"
             "    p = multiprocessing.get_context('spawn').Process(target=f, args=(3,))\n    p.start(); p.join()",
    "child": "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'print(5)'], capture_output=True))",
    "numpy": "import random, numpy as np\nprint(np.linalg.norm(np.arange(9.).reshape(3, 3), 2))\n"
             "random.seed(1); np.random.seed(1); print(random.random(), np.random.random())",
    "recursion": "def f(): f()\ntry:\n    f()\nexcept RecursionError as e: print(e)",
    "log": "import logging; logging.warning('w'); logging.getLogger('x').error('e')",
    "memory": "try:\n    bytearray(1 << 40)\nexcept MemoryError: print('no memory')",
}
WARM = "import sys; print('numpy' in sys.modules)"
RANDOM = "import random, numpy as np; print(random.random(), np.random.random())"


STAY = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
ENDS = {
    "terminate": lambda p: p.terminate(),
    "kill": lambda p: p.kill(),
    "interrupt": lambda p: p.send_signal(signal.SIGINT),
    "group": lambda p: os.killpg(os.getpgid(p.pid), signal.SIGKILL),
}


def outcomes(run):
    """What each program does, by run."""
    found = {}
    for name, text in PROGRAMS.items():
        with open(os.path.join(FOLDER, "program.py"), "w") as f:
            f.write(text)
        ways = {"file": [os.path.join(FOLDER, "program.py")]}
        if name in ("show", "error", "no syntax", "sibling"):
            ways.update({"relative": ["program.py", "a b", "\udc80"], "-c": ["-c", text, "x"]})
        for way, args in ways.items():
            done = run([sys.executable, *args], cwd=FOLDER, input=b"in\r\nput\n", capture_output=True)
            found[name + ", " + way] = (done.returncode, done.stdout, done.stderr, sorted(os.listdir(FOLDER)))
    os.remove(os.path.join(FOLDER, "left.txt"))
    for name, how in {
        "environment": {"env": {**os.environ, "MINE": "\udc80"}},
        "small environment": {"env": {"PARENT": "1", "PYTHONHASHSEED": "5"}},
        "session": {"start_new_session": True},
        "no input": {"stdin": subprocess.DEVNULL},
        "one stream": {"stderr": subprocess.STDOUT},
    }.items():
        done = run([sys.executable, "-c", SHOW], **{"stdout": subprocess.PIPE, **how})
        found[name] = (done.returncode, done.stdout)
    for name, end in ENDS.items():
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with run(STAY, new=subprocess.Popen, start_new_session=True, **pipes) as p:
            p.stdout.read(2)
            running = p.poll()
            end(p)
            found[name] = (running, p.wait(), p.stderr.read()[-20:])
    try:
        run(STAY, capture_output=True, timeout=0.3)
    except subprocess.TimeoutExpired as e:
        found["timeout"] = str(e)
    for wrong in (["missing.py"], ["-m", "missing"], ["-c", "\0"], [FOLDER]):
        try:
            done = run([sys.executable, *wrong], capture_output=True)
            found[str(wrong)] = (done.returncode, done.stdout, done.stderr)
        except ValueError as e:
            found[str(wrong)] = str(e)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found["at once"] = list(pool.map(lambda n: number(run, n), range(12)))
    with multiprocessing.Pool(2) as pool:
        found["of others"] = pool.starmap(number, [(run, n) for n in range(2)])
    return found


def number(run, n):
    done = run([sys.executable, "-c", "import sys; print(sys.argv); sys.exit(%d)" % n, "x"], capture_output=True)
    return done.returncode, done.stdout, done.stderr


def here(args, new=subprocess.run, **kw):
    return new(args, **kw)


def cold(args, new=subprocess.run, **kw):
    return new(args, pass_fds=(0,), **kw)


def evaluate(path):
    global FOLDER
    FOLDER = os.path.join(os.environ["TMPDIR"], "programs")
    os.mkdir(FOLDER)
    with open(os.path.join(FOLDER, "beside.py"), "w") as f:
        f.write("X = 5")
    os.environ["PARENT"] = str(os.getpid())
    warm = here([sys.executable, "-c", WARM], capture_output=True, text=True).stdout
    drawn = {here([sys.executable, "-c", RANDOM], capture_output=True, text=True).stdout for _ in range(3)}
    got, want = outcomes(here), outcomes(cold)
    different = {name: differ(got.get(name), want[name]) for name in want if got.get(name) != want[name]}
    return {"combined_score": len(want), "warm": int(warm == "True\n"), "drawn": len(drawn), **different}


def differ(got, want):
    """The lines that two outcomes differ in."""
    got, want = (str(x).replace("\\n", "\n").splitlines() for x in (got, want))
    lines = [(a, b) for a, b in zip(got, want) if a != b]
    return "\n".join("got  %s\nwant %s" % pair for pair in lines) or "%d lines, want %d" % (len(got), len(want))
