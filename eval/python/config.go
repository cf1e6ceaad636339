package python

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// Config configures how candidates are run. Limits that are too low are errors: Timeout and CPU must be at least 1 ms,
// Memory 1 MiB, OutputBytes 2 and Workers 1. A candidate also has at most 256 open files of 64 MiB, 256 MiB of
// temporary files in memory, and 4 MiB of result.
type Config struct {
	// Interpreter is the path or the name of a CPython, 3.9 or newer; "" means the first that can import the needed
	// modules, as for [Find].
	Interpreter string
	// Imports are modules that are imported once, before all candidates; an interpreter without them is not used. nil
	// means numpy and scipy where present.
	Imports []string
	// Workers is the number of interpreters, and so of candidates at once; 0 means GOMAXPROCS. Interpreters start on
	// demand.
	Workers int

	// Timeout is the wall time of one candidate, or of one stage of a cascade; 0 means 60 s.
	Timeout time.Duration
	// CPU is the processor time of one process; 0 means a second more than Timeout, so that a loop in one thread always
	// ends at Timeout.
	CPU time.Duration
	// Memory is the address space of one process in bytes, in addition to the interpreter's own with all imports; 0 means
	// 1 GiB. With Devices it is the memory that all processes of a candidate hold together, and is looked at ten times a
	// second, since drivers reserve much more address space than there is memory.
	Memory int64
	// Processes bounds a candidate's simultaneous processes and threads; 0 means threads only under a [Runner] and 64
	// under an [Evaluator]; negative means threads only.
	Processes int
	// OutputBytes is the number of bytes kept of standard output and of standard error, half of them from the end; 0 means
	// 32 KiB. A candidate that prints more than 16 MiB on either is killed.
	OutputBytes int

	// Hide names existing files and folders that candidates must not read, such as credentials. Evaluators cannot read
	// them either. A file that is replaced by another, as rotated credentials are, stays hidden only if its folder is
	// hidden. On Linux it is an error at start if neither private mounts nor Landlock can hide them. Nothing is hidden
	// under [isolation.None] or on other systems.
	Hide []string
	// Isolation is the required level of containment.
	Isolation isolation.Level
	// Env is the environment of candidates: NAME=value, or NAME for this process's value. In addition, PATH, HOME, TMPDIR,
	// LANG and what Python and numerical libraries need have fixed values; PYTHONPATH, PYTHONHOME, PYTHONUSERBASE,
	// LD_LIBRARY_PATH and DYLD_LIBRARY_PATH are passed on, since an interpreter may not start without them.
	Env []string
	// With are folders to import from, after the evaluator's own and before what is installed.
	With []string
	// Writable are folders that candidates may change for good, besides the temporary one. All candidates share them.
	Writable []string
	// Devices are device files that candidates may use, or folders of them; "nvidia" stands for all that NVIDIA's driver
	// has. A driver that a candidate can call is not contained.
	Devices []string
	// Logger gets a line at start with the mechanisms in force, at debug level unless some are missing; nil means
	// [slog.Default].
	Logger *slog.Logger

	// What 0 leaves at its default; tests set less.
	fileBytes    int64 // size of one file: 64 MiB
	scratchBytes int64 // size of the temporary folder if that is in memory ("private mounts"): 256 MiB
}

// What else bounds a candidate.
const (
	maxThreads  = 64      // simultaneous threads if it may have no other process
	maxFiles    = 256     // open files of one process
	resultBytes = 4 << 20 // of a result as JSON
)

// floodBytes is how much a candidate may print on one output before it is killed.
const floodBytes = 16 << 20

// filled returns c with its defaults.
func (c Config) filled(processes int) (Config, error) {
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	c.Timeout = cmp.Or(c.Timeout, 60*time.Second)
	c.CPU = cmp.Or(c.CPU, c.Timeout+time.Second)
	c.Memory = cmp.Or(c.Memory, 1<<30)
	c.Processes = max(cmp.Or(c.Processes, processes), 0)
	c.fileBytes, c.scratchBytes = cmp.Or(c.fileBytes, 64<<20), cmp.Or(c.scratchBytes, 256<<20)
	c.OutputBytes = cmp.Or(c.OutputBytes, 32<<10)
	c.Imports, c.Env, c.Hide = slices.Clone(c.Imports), slices.Clone(c.Env), slices.Clone(c.Hide)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	var err error
	if c.With, err = folders("With", c.With); err == nil {
		c.Writable, err = folders("Writable", c.Writable)
	}
	if err == nil {
		c.Devices, err = sandbox.Devices("/", c.Devices)
	}
	if err != nil {
		return c, err
	}
	return c, c.validate()
}

// folders returns existing folders, absolute and without links.
func folders(field string, names []string) (paths []string, err error) {
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err == nil {
			_, err = os.ReadDir(path)
		}
		if err != nil {
			return nil, fmt.Errorf("python: Config.%s: %w", field, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (c Config) validate() error {
	for _, v := range []struct {
		name  string
		value int64
		least int64
	}{
		{"Workers", int64(c.Workers), 1},
		{"Timeout", int64(c.Timeout), int64(time.Millisecond)},
		{"CPU", int64(c.CPU), int64(time.Millisecond)},
		{"Memory", c.Memory, 1 << 20},
		{"OutputBytes", int64(c.OutputBytes), 2},
	} {
		if v.value < v.least {
			return fmt.Errorf("python: Config.%s is %d: need at least %d", v.name, v.value, v.least)
		}
	}
	if err := c.Isolation.Check(); err != nil {
		return fmt.Errorf("python: Config.Isolation: %w", err)
	}
	return nil
}

// bounds returns the limits for a candidate whose evaluation has up to stages stages.
func (c Config) bounds(stages int) sandbox.Bounds {
	b := sandbox.Bounds{CPU: c.CPU * time.Duration(stages), Memory: c.Memory, FileBytes: c.fileBytes,
		ScratchBytes: c.scratchBytes, OpenFiles: maxFiles, Processes: c.Processes, Threads: maxThreads}
	if len(c.Devices) > 0 {
		b.Memory = 0 // see watch.weigh
	}
	return b
}

// fixed is the part of the environment that all candidates have. Fixed hash seeds keep the order of sets equal in all
// runs. One thread per interpreter makes several interpreters fast.
var fixed = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LANG=C.UTF-8",
	"PYTHONUTF8=1",
	"PYTHONHASHSEED=0",
	"PYTHONDONTWRITEBYTECODE=1",
	"OMP_NUM_THREADS=1",
	"OPENBLAS_NUM_THREADS=1",
	"MKL_NUM_THREADS=1",
	"BLIS_NUM_THREADS=1",
	"NUMEXPR_NUM_THREADS=1",
	"VECLIB_MAXIMUM_THREADS=1",
}

// located are variables without which an interpreter may not find itself or its packages.
var located = []string{"HOME", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
	"SYSTEMROOT"}

// environ returns the environment of an interpreter: fixed variables, located ones, and the named ones. Later entries
// win.
func environ(named []string) []string {
	env := append([]string(nil), fixed...)
	for _, name := range located {
		env = passOn(env, name)
	}
	for _, v := range named {
		if strings.Contains(v, "=") {
			env = append(env, v)
		} else {
			env = passOn(env, v)
		}
	}
	return env
}

func passOn(env []string, name string) []string {
	if value, ok := os.LookupEnv(name); ok {
		env = append(env, name+"="+value)
	}
	return env
}
