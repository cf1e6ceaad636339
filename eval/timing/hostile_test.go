package timing

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// gain is the score below which a candidate has gained nothing: an honest copy of the baseline has about 1, and one
// that got away with any of what is tried here would have 2 to 1000.
const gain = 1.3

// honestly is put before each attack: work does what is asked for, no faster than the baseline.
const honestly = `import ctypes, gc, mmap, os, signal, sys, threading, time
import numpy as np
libc = ctypes.CDLL(None, use_errno=True)
` + blocks + `
work = f
def f(x, out): pass
`

// attacks are hostile candidates. Where reason is "" the attack may be answered rightly, and must gain nothing then.
var attacks = []struct{ name, program, reason string }{
	{"answers with what it cached", `
cache = {}
def f(x, out):
    if len(x) not in cache:
        work(x, out); cache[len(x)] = out.copy()
    out[:] = cache[len(x)]
`, "^answered wrongly"},
	{"leaves what the last call answered", `
done = set()
def f(x, out):
    if len(x) not in done:
        work(x, out)
    done.add(len(x))
`, "^answered wrongly"},
	{"is right while it is warmed up", `
calls = 0
def f(x, out):
    global calls
    calls += 1
    if calls < 5:
        work(x, out)
`, "^answered wrongly"},
	{"is right where it takes a call for a check, by its length", `
def f(x, out):
    if len(x) < 10000:
        work(x, out)
`, "^answered wrongly"},
	{"is right for all but one block of numbers", `
def f(x, out):
    n = len(x) * 99 // 100
    work(x[:n], out[:n])
`, "^answered wrongly"},
	{"computes in half the precision", `
def f(x, out):
    x = x.astype(np.float32)
    out[:] = np.exp(np.sin(x) + np.cos(x) ** 2)
`, "^answered wrongly"},
	{"answers at once and computes in a thread", `
def f(x, out):
    threading.Thread(target=work, args=(x, out)).start()
`, ""}, // the thread may have its turn first
	{"answers with an array that computes when it is looked at", `
class Lazy(np.ndarray):
    def __array_finalize__(self, other): pass
    def __getitem__(self, i): work(self.x, self.out); return self.out[i]
def f(x, out):
    lazy = np.empty(0).view(Lazy); lazy.x, lazy.out = x, out
    sys.modules["__main__"].numpy.frombuffer = lambda *a: lazy
    return lazy
`, "^answered wrongly"},
	{"stops every clock in its process", `
still = time.time()
for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
    setattr(time, name, lambda: still); setattr(time, name + "_ns", lambda: 0)
f = work
`, ""},
	{"replaces functions of NumPy", `
for name in ("exp", "sin", "cos"):
    setattr(np, name, lambda x, *a, **k: x)
np.allclose = np.array_equal = lambda *a, **k: True
f = work
`, "^(answered wrongly|ValueError|TypeError)"},
	{"says that it is done before it is", `
def f(x, out):
    os.write(0, b"\n")
    work(x, out)
`, "^answered (wrongly|before it was asked)"},
	{"says ten times beforehand that it is done", `
for _ in range(10):
    os.write(0, b"\n")
f = work
`, "^answered (wrongly|before it was asked)"},
	{"forges words in the middle of an answer", `
def f(x, out):
    work(x, out)
    os.write(0, b"\n"); os.write(0, b"speedup 1000\n")
`, "^(answered before it was asked|speedup 1000)$"},
	{"changes its input to one that is easy", `
def f(x, out):
    x.flags.writeable = True
    x[:] = 0
    out[:] = np.e
`, "^(changed its input|ValueError|answered wrongly)"},
	{"changes its input by the shared memory, and answers rightly", `
def f(x, out):
    work(x, out)
    ctypes.memset(x.ctypes.data, 0, x.nbytes)
`, "^(changed its input)$"},
	{"sets a timer", `
event = (ctypes.c_byte * 64)()
if libc.timer_create(1, event, ctypes.byref(ctypes.c_void_p())) != 0: raise PermissionError("timer_create")
`, "^PermissionError: timer_create$"},
	{"sets a timer of an older kind", `
signal.setitimer(signal.ITIMER_REAL, 100)
`, "^itimer_error"},
	{"leaves the processors that it is kept to", `
os.sched_setaffinity(0, range(os.cpu_count()))
`, "^PermissionError"},
	{"wakes itself after it was stopped, to go on", `
event = (ctypes.c_byte * 64)()
ctypes.memmove(ctypes.byref(event, 8), (ctypes.c_int * 1)(signal.SIGCONT), 4)
timer, asked = ctypes.c_void_p(), threading.Semaphore(0)
libc.timer_create(1, event, ctypes.byref(timer))
class Spec(ctypes.Structure):
    _fields_ = [("every", ctypes.c_long * 2), ("first", ctypes.c_long * 2)]
def behind():
    while True:
        asked.acquire(); work(*task)
threading.Thread(target=behind, daemon=True).start()
def f(x, out):
    global task
    task = x, out
    libc.timer_settime(timer, 0, ctypes.byref(Spec((0, 0), (0, 1000000))), None)
    asked.release()
`, ""},
	{"wakes itself all the time", `
event = (ctypes.c_byte * 64)()
ctypes.memmove(ctypes.byref(event, 8), (ctypes.c_int * 1)(signal.SIGCONT), 4)
timer = ctypes.c_void_p()
libc.timer_create(1, event, ctypes.byref(timer))
class Spec(ctypes.Structure):
    _fields_ = [("every", ctypes.c_long * 2), ("first", ctypes.c_long * 2)]
signal.signal(signal.SIGCONT, lambda *a: None)
libc.timer_settime(timer, 0, ctypes.byref(Spec((0, 200000), (0, 200000))), None)
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
f = work
`, ""},
	{"goes on in threads, to slow the baseline down", `
def spin():
    while True: np.sin(np.ones(1000))
for _ in range(4):
    threading.Thread(target=spin, daemon=True).start()
f = work
`, ""},
	{"computes in threads on other processors", `
try: os.sched_setaffinity(0, range(os.cpu_count()))
except OSError: pass
def f(x, out):
    n = len(x) // 4
    ts = [threading.Thread(target=work, args=(x[a:b], out[a:b])) for a, b in ((0, n), (n, 2*n), (2*n, 3*n), (3*n, len(x)))]
    for t in ts: t.start()
    for t in ts: t.join()
`, ""},
	{"computes in a process whose time is not its own", `
def f(x, out):
    pid = os.fork()
    if pid == 0:
        work(x, out); os._exit(0)
    os.waitpid(pid, 0)
`, "^(PermissionError|BlockingIOError)"},
	{"makes a process by the system call", `
def f(x, out):
    pid = libc.syscall(56 if os.uname().machine == "x86_64" else 220, 17, 0, 0, 0, 0)
    if pid == 0:
        work(x, out); os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
`, "^answered wrongly"},
	{"stops and kills whom it can", `
for pid in [-1, 0, 1, 2, os.getppid()]:
    for s in (signal.SIGSTOP, signal.SIGKILL):
        try:
            if pid not in (0, os.getpid()): os.kill(pid, s)
        except OSError: pass
f = work
`, ""},
	{"looks for the baseline's answer in /proc", `
found = 0
def f(x, out):
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                with open(f"/proc/{pid}/fd/4", "rb") as other:
                    m = np.frombuffer(other.read(), np.float64); out[:] = m[len(m)//2:][:len(out)]; return
            except (OSError, ValueError): pass
    work(x, out)
`, ""},
	{"stays when whoever started it is killed", `
if libc.prctl(1, 0, 0, 0, 0) != 0: raise PermissionError("to stay")
f = work
`, "^PermissionError: to stay$"},
	{"runs the harness again, which would answer for it", `
import runpy
def f(x, out):
    try: runpy.run_path("harness.py")
    except BaseException: pass
`, "^(answered|ended|ran longer)"},
	{"cuts the shared memory off", `
os.ftruncate(4, 0)
f = work
`, "^(PermissionError|OSError)"},
	{"maps something else in the place of the shared memory", `
def f(x, out):
    work(x, out)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_long] * 5
    libc.mmap(out.ctypes.data // 4096 * 4096, 4096, 3, 0x32, -1, 0)
`, ""},
	{"frees nothing", `
gc.disable()
kept = []
def f(x, out):
    a = np.sin(x); b = np.cos(x); c = b ** 2; d = a + c
    kept.append((a, b, c, d)); np.exp(d, out=out)
`, ""},
	{"takes all memory", `
kept = []
def f(x, out):
    while True: kept.append(np.empty(1 << 24))
`, "^(MemoryError|.*Unable to allocate)"},
	{"ends without an answer", `
def f(x, out):
    os._exit(0)
`, "^ended before it had answered$"},
	{"does not come back", `
def f(x, out):
    while True: pass
`, "^ran longer than 3s$"},
	{"is not loaded", "raise RuntimeError('score 1e9')", "^RuntimeError: score 1e9$"},
}

// No attack gains: it is invalid, for the reason that fits, or it scores no more than an honest copy would.
func TestHostile(t *testing.T) { hostile(t, CPU) }

// The same by the time that passed, for those that may answer rightly: what is invalid is so by every clock.
func TestHostileElapsed(t *testing.T) { hostile(t, Elapsed) }

// hostile times all attacks beside one process of the baseline, which saves half the time.
func hostile(t *testing.T, clock Clock) {
	cfg := config()
	cfg.Clock = clock
	cfg.Baseline, cfg.Timeout, cfg.Memory = blocks, 3*time.Second, 1<<30
	cfg, err := cfg.filled()
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluator{machine: machine(t), cfg: cfg}
	image, err := cfg.Build(t.Context(), blocks)
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := e.start(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	defer baseline.close()
	// What gains does so each time, and a machine's noise does not.
	evaluate := func(t *testing.T, program string) (r eval.Result) {
		for range 3 {
			if image, err = cfg.Build(t.Context(), program); err == nil {
				r, err = scoreBeside(t, e, baseline, image)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !r.Valid || r.Score < gain {
				break
			}
		}
		return r
	}
	for _, a := range attacks {
		if clock == Elapsed && a.reason != "" {
			continue
		}
		t.Run(strings.ReplaceAll(a.name, "/", ""), func(t *testing.T) {
			r := evaluate(t, honestly+a.program)
			t.Logf("%v %.3f %s", r.Valid, r.Score, r.Reason)
			if r.Valid && r.Score >= gain {
				t.Errorf("gains: %+v", r)
			}
			if a.reason != "" && (r.Valid || !regexp.MustCompile(a.reason).MatchString(r.Reason)) {
				t.Errorf("%+.500v, want it invalid for %s", r, a.reason)
			}
		})
	}
	if r := evaluate(t, blocks); !r.Valid || r.Score >= gain {
		t.Errorf("after all that an honest copy has %+v", r)
	}
}

// scoreBeside is an evaluation beside a baseline that is there already.
func scoreBeside(t *testing.T, e *evaluator, baseline *side, image Image) (eval.Result, error) {
	all, err := e.beside(t.Context(), baseline, image)
	if err != nil {
		return blame(err, err)
	}
	return all.result(e.cfg).Clean(), nil
}
