// Package js runs JavaScript programs in this process, in a virtual machine that cannot reach out.
//
// The engine is QuickJS, translated to Go: ES2023 and nothing else. A program has no files, no
// network, no imports, no timers and no eval; the clock stands still, random numbers come from a
// seed and the time zone is UTC, so a program gives the same result every time. Each program finds
// a new machine: nothing that one does reaches another, or this process.
//
// Every bound is strict. A program that loops is stopped when its time is up, even inside one call of a built-in
// function. Its memory is its own, and all of it is freed. Programs run in this process, so the bounds do not stop a
// program that exploits an error in the engine.
package js

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// A Config bounds what programs may use. Its zero value suits programs that compute a few numbers. A program has at
// most 256 KiB and returns at most 1 MiB of JSON, and its calls nest 5000 deep, or less where built-ins call back.
type Config struct {
	// Timeout is the wall time from compiling a program to reading its result; 0 means 5 s.
	Timeout time.Duration
	// CPU is the processor time of the same, which a busy machine does not shorten; only Linux measures it. 0 means
	// Timeout.
	CPU time.Duration
	// MemoryLimit bounds all allocations of a program in bytes, from 4 to 512 MiB; call frames may take as much again. 0
	// means 64 MiB.
	MemoryLimit int
	// Seed is that of Math.random: every program draws the same numbers.
	Seed uint64

	// What 0 leaves at its default; tests set less.
	depth   int // how deep calls may nest, and less for built-ins that call back: 5000
	output  int // bytes of the result as JSON: 1 MiB
	program int // bytes of the program's text: 256 KiB
}

// withDefaults returns c with its defaults filled in.
func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.MemoryLimit = cmp.Or(c.MemoryLimit, 64<<20)
	c.depth, c.output, c.program = cmp.Or(c.depth, 5000), cmp.Or(c.output, 1<<20), cmp.Or(c.program, 256<<10)
	return c
}

func (c Config) validate() error {
	switch {
	case c.Timeout < 0:
		return fmt.Errorf("js: Timeout is %v: must not be negative", c.Timeout)
	case c.CPU < 0:
		return fmt.Errorf("js: CPU is %v: must not be negative", c.CPU)
	case c.MemoryLimit < 4<<20 || c.MemoryLimit > 512<<20:
		return fmt.Errorf("js: MemoryLimit is %d bytes: must be from 4 to 512 MiB", c.MemoryLimit)
	}
	return nil
}

// A Runner runs programs. It keeps machines for reuse, frees those that were idle for a while, and needs no closing. It
// is safe for concurrent use; each Run under way has a machine of its own.
type Runner struct {
	cfg  Config
	idle sync.Pool // of *machine, to be reset before use
}

var _ eval.Runner = (*Runner)(nil)

// New returns a Runner with the given limits. It fails if one is out of its range.
func New(cfg Config) (*Runner, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Runner{cfg: cfg}, nil
}

// identifier matches the names that an entry may have.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// Run runs program, calls its function entry without arguments, and returns the return value as JSON.
//
// A program is a script that declares entry in its outermost scope, as a function or a variable that
// holds one, or that sets module.exports; or a module that exports entry by name or as its default.
// Either may be async.
//
// The result must be data: finite numbers, strings, booleans, null, and arrays, typed arrays and
// objects of them. toJSON is not called, and members that are undefined are left out. Anything else
// (NaN, a BigInt, a function, a cycle) is the program's error.
//
// If the program is at fault, the error is an [*eval.ProgramError] with the output as the artifact "console". If ctx
// ends, the program is stopped and the error wraps ctx's.
func (r *Runner) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	if !identifier.MatchString(entry) {
		return nil, fmt.Errorf("js: entry %q is not an identifier", entry)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("js: not running %s: %w", entry, err)
	}
	if len(program) > r.cfg.program {
		return nil, &eval.ProgramError{Reason: fmt.Sprintf("is %d bytes long: at most %d", len(program), r.cfg.program)}
	}
	m, err := r.machine()
	if err != nil {
		return nil, err
	}
	var out []byte
	var wrong *eval.ProgramError
	g := &guard{mem: m.mem}
	err = g.run(ctx, limits{r.cfg.Timeout, r.cfg.CPU}, func() {
		out, wrong = m.execute(program, entry, r.cfg.output, r.cfg.depth)
	})
	if err != nil {
		defer m.discard()
		return nil, r.stopped(m, g, entry, err)
	}
	printed := m.console.String()
	r.keep(m)
	if wrong != nil {
		return nil, withConsole(wrong, printed)
	}
	return out, nil
}

// stopped returns the error of a run on m that its guard g ended with err.
func (r *Runner) stopped(m *machine, g *guard, entry string, err error) error {
	var broken *fault
	switch {
	case errors.Is(err, errTimeLimit):
		return late(m, g, fmt.Sprintf("ran longer than %v", r.cfg.Timeout))
	case errors.Is(err, errCPULimit):
		return late(m, g, fmt.Sprintf("took more than %v of processor time", r.cfg.CPU))
	case errors.As(err, &broken):
		return &eval.ProgramError{
			Reason:    fmt.Sprintf("broke the JavaScript engine: %v", broken.value),
			Artifacts: map[string]string{"stack": clip(string(broken.stack), stackBytes)},
		}
	}
	return fmt.Errorf("js: running %s: %w", entry, err)
}

// late returns the error of a program that ran out of time, with its output if that can be read.
func late(m *machine, g *guard, reason string) error {
	wrong := &eval.ProgramError{Reason: reason}
	if !g.readable {
		return wrong
	}
	return withConsole(wrong, m.console.String())
}

// withConsole adds the program's output to err.
func withConsole(err *eval.ProgramError, printed string) *eval.ProgramError {
	if printed == "" {
		return err
	}
	if err.Artifacts == nil {
		err.Artifacts = map[string]string{}
	}
	err.Artifacts["console"] = clip(printed, consoleBytes)
	return err
}

// machine returns a machine in its initial state.
func (r *Runner) machine() (*machine, error) {
	if m, ok := r.idle.Get().(*machine); ok {
		m.reset()
		return m, nil
	}
	return newMachine(r.cfg.MemoryLimit, r.cfg.depth, randomState(r.cfg.Seed))
}

// keepBytes bounds the memory that an idle machine has touched.
const keepBytes = 4 << 20

// keep keeps m for another program, unless m has touched too much memory.
func (r *Runner) keep(m *machine) {
	if m.touched() > keepBytes {
		m.discard()
		return
	}
	r.idle.Put(m)
}

// randomState spreads seed over the 64 bits of the engine's generator, xorshift64*, whose state must
// not be 0. The steps are those of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func randomState(seed uint64) uint64 {
	z := seed + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return cmp.Or(z^z>>31, 1)
}

// String describes r by its limits of time and memory. It leaves out CPU, so that journals older than CPU can be
// resumed.
func (r *Runner) String() string {
	return fmt.Sprintf("js(%v, %d MiB)", r.cfg.Timeout, r.cfg.MemoryLimit>>20)
}
