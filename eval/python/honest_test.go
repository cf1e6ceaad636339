package python

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// needs are what programs that mean no harm need of /proc and of processes, which must not be lost with
// what is taken from hostile ones. Each returns true.
var needs = map[string]string{
	"asyncio": `
import asyncio, sys
async def main():
    loop = asyncio.get_running_loop()
    await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(9)))
    return await asyncio.to_thread(lambda: True)
def run(): return asyncio.run(main())`,
	"standard output by name": `
def run():
    with open("/dev/stdout", "w") as f: f.write("to a pipe")
    with open("/dev/fd/2", "w") as f: f.write("to another")
    return True`,
	"its own /proc": `
import os
def run():
    for name in ("status", "stat", "statm", "maps", "smaps", "cmdline", "limits"):
        with open("/proc/self/" + name) as f: f.read()
    return os.listdir("/proc/self/fd") != [] and os.readlink("/proc/self/exe") != ""`,
	"a pool of threads": `
from concurrent.futures import ThreadPoolExecutor
def run():
    with ThreadPoolExecutor(8) as pool: return sum(pool.map(lambda x: x, range(100))) == 4950`,
	"scipy": `
def run():
    from scipy.optimize import minimize
    return bool(minimize(lambda x: (x[0] - 1) ** 2, [0.0], method="SLSQP").success)`,
	"temporary files": `
import mmap, os, tempfile
def run():
    with tempfile.TemporaryDirectory() as d, open(d + "/f", "w+b") as f:
        f.write(b"x" * 4096)
        f.flush()
        return mmap.mmap(f.fileno(), 4096)[0] == ord("x")`,
}

// processNeeds are those of programs that may have processes.
var processNeeds = map[string]string{
	"forked workers": `
import multiprocessing as mp
def run():
    with mp.get_context("fork").Pool(2) as pool: return pool.map(abs, [-1, -2]) == [1, 2]`,
	"spawned workers": `
import multiprocessing as mp
def run():
    with mp.get_context("spawn").Pool(2) as pool: return pool.map(abs, [-1, -2]) == [1, 2]`,
	"subprocesses": `
import subprocess, sys
def run():
    code = "import sys; open('/proc/self/environ').read(); print(sys.stdin.read(), end='')"
    return subprocess.run([sys.executable, "-c", code], input="x", capture_output=True, text=True).stdout == "x"`,
	"the shell": `
import os
def run(): return os.system("echo out; test -e /dev/stdin && true | cat /dev/null > file") == 0 and os.path.exists("file")`,
	"shared memory": `
from multiprocessing import Lock, shared_memory
def run():
    m = shared_memory.SharedMemory(create=True, size=10)
    m.buf[0] = 7
    again = shared_memory.SharedMemory(name=m.name)
    with Lock(): ok = again.buf[0] == 7
    again.close()
    m.close()
    m.unlink()
    return ok`,
}

// TestHonestNeeds runs what must go on working, without any one family of mechanisms.
func TestHonestNeeds(t *testing.T) {
	t.Parallel()
	cfg := Config{Workers: 1}
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		testNeeds(t, "a Runner without "+family, without(t, cfg, ms), needs)
		e := evaluatorWithout(t, folder(t, inProcess), cfg, ms)
		testNeeds(t, "an Evaluator without "+family, e, needs)
		if e.Isolation().Has(sandbox.MountNS) { // else there is no /dev/shm for semaphores
			testNeeds(t, "an Evaluator without "+family, e, processNeeds)
		}
	}
}

func testNeeds(t *testing.T, where string, v victim, programs map[string]string) {
	t.Helper()
	for name, program := range programs {
		out, err := v.run(t.Context(), program)
		if err == nil && strings.TrimSpace(string(out)) == "true" {
			continue
		}
		trace := ""
		if bad, ok := err.(*eval.ProgramError); ok {
			trace = bad.Artifacts["traceback"] + bad.Artifacts["stderr"]
		}
		t.Errorf("%s on %s: got %s, %v\n%.2000s", name, where, out, err, trace)
	}
}
