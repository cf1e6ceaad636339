// Package js runs JavaScript programs in this process, in a virtual machine that cannot reach out.
//
// The engine is QuickJS, translated to Go, for 64-bit systems: ES2023 and nothing else. A program has no files, no
// network, no imports, no timers and no eval; the clock stands still, random numbers come from a seed and the time zone
// is UTC, so a program gives the same result every time. Each finds a new machine: nothing that one does reaches
// another, or this process.
//
// Every bound is strict. A program that loops is stopped when its time is up, even inside one call of a built-in
// function. Its memory is its own, and all of it is freed. Programs run in this process, so the bounds do not stop a
// program that exploits an error in the engine.
package js

import (
	"cmp"
	"context"
	"encoding/json"
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
	// MemoryLimit bounds all allocations of a program in bytes, from 4 to 512 MiB. Rounding may add an eighth, and call
	// frames as much again. 0 means 64 MiB.
	MemoryLimit int
	// Seed is that of Math.random: every program draws the same numbers.
	Seed uint64
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
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	cfg.MemoryLimit = cmp.Or(cfg.MemoryLimit, 64<<20)
	switch {
	case cfg.Timeout < 0:
		return nil, fmt.Errorf("js: Timeout is %v: must not be negative", cfg.Timeout)
	case cfg.CPU < 0:
		return nil, fmt.Errorf("js: CPU is %v: must not be negative", cfg.CPU)
	case cfg.MemoryLimit < 4<<20 || cfg.MemoryLimit > 512<<20:
		return nil, fmt.Errorf("js: MemoryLimit is %d bytes: must be from 4 to 512 MiB", cfg.MemoryLimit)
	}
	return &Runner{cfg: cfg}, nil
}

// identifier matches the names that an entry may have.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// Run runs program, calls its function entry without arguments, and returns the return value as JSON.
//
// A program is a script that declares entry in its outermost scope, as a function or a variable that holds one, or that
// sets module.exports; or a module that exports entry by name or as its default. Either may be async.
//
// The result must be data: finite numbers, strings, booleans, null, and arrays, typed arrays and objects of them.
// toJSON is not called, and members that are undefined are left out. Anything else (NaN, a BigInt, a function, a cycle)
// is the program's error.
//
// If the program is at fault, the error is an [*eval.ProgramError] with the output as the artifact "console". If ctx
// ends, the program is stopped and the error wraps ctx's.
func (r *Runner) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	switch {
	case !identifier.MatchString(entry):
		return nil, fmt.Errorf("js: entry %q is not an identifier", entry)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("js: not running %s: %w", entry, ctx.Err())
	case len(program) > maxProgram:
		return nil, wrong("is %d bytes long: at most %d", len(program), maxProgram)
	}
	m, err := r.machine()
	if err != nil {
		return nil, err
	}
	var out []byte
	stopped := guard{m.mem, r.cfg.Timeout, r.cfg.CPU}.run(ctx, func() { out, err = m.execute(program, entry) })
	if stopped != nil {
		out, err = nil, stopped
	}
	if bad, ok := err.(*eval.ProgramError); ok {
		withArtifact(bad, "console", m.printed())
	}
	if stopped != nil || m.touched() > 4<<20 { // so that what is idle does not hold much memory
		m.discard()
	} else {
		r.idle.Put(m)
	}
	return out, err
}

// machine returns a machine in its initial state.
func (r *Runner) machine() (*machine, error) {
	if m, ok := r.idle.Get().(*machine); ok {
		m.reset()
		return m, nil
	}
	return newMachine(r.cfg.MemoryLimit, r.cfg.Seed)
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
