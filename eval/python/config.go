package python

import (
	"cmp"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
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
	// 1 GiB.
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
	return c, c.validate()
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
	return sandbox.Bounds{CPU: c.CPU * time.Duration(stages), Memory: c.Memory, FileBytes: c.fileBytes,
		ScratchBytes: c.scratchBytes, OpenFiles: maxFiles, Processes: c.Processes, Threads: maxThreads}
}
