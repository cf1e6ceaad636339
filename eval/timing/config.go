package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A Build turns a program into an image to run. The error is an [*eval.ProgramError] if the program is at fault, and
// otherwise the build's own.
type Build func(ctx context.Context, program string) (Image, error)

// An Image is a program in runnable form: a command and the files in its working directory.
//
// The command finds shared memory of twice TIMING_HALF bytes under the descriptor TIMING_SHARED, and installs the
// seccomp filter in TIMING_ALONE before it loads the program. It writes one line end to its standard input, a socket,
// when it is loaded and after each answer. It is asked by 16 bytes: the lengths of the input, at the start of the
// memory, and of the output, in its second half. harness.py does this in 20 lines.
type Image struct {
	// the command and its arguments; the first is a path, absolute or relative to the working directory
	Args  []string
	Files map[string][]byte // by name; all can be read and executed
	Env   []string          // NAME=value, in addition to the environment of every contained command
}

// A Clock is a measure of a call's time.
type Clock int

const (
	// CPU is the processor time of all threads of the process. Other work on the machine hardly disturbs it.
	CPU Clock = iota
	// Elapsed is wall time. It is for functions that wait, and for those that compute on several processors at once
	// (Config.Cores). Processor time used outside of a call counts as elapsed.
	//
	// Other work on the machine lengthens it, so the processors are watched. A pair during which other processes used more
	// than a twentieth of one of its calls is timed again, up to Pairs times in all, and the least disturbed pairs count.
	// The metric "strangers" of a result is the share of other processes in the pairs that count.
	Elapsed
)

// Config configures what is timed. Its functions are called by one evaluation at a time.
type Config struct {
	// Build makes the images of the baseline and the candidates. Required.
	Build Build
	// Baseline is the program that candidates are compared with. Its answers are taken as correct. Required.
	Baseline string
	// Input draws the input of a timed call: new numbers of the same shape each time. Required.
	Input func(r *rand.Rand) []byte
	// Others draws inputs of other shapes for calls that are checked but not timed: empty ones, edges, odd lengths. They
	// are interspersed with the timed calls. nil means none.
	Others func(r *rand.Rand) [][]byte
	// Output returns the size in bytes of the output for an input; nil means the size of the input.
	Output func(input []byte) int
	// Check returns what is wrong with an output; want is the baseline's. nil means that every byte has to be the same.
	Check func(input, want, got []byte) error

	// Pairs is the number of timed calls of the candidate, each beside one of the baseline; 0 means 15.
	Pairs int
	// WarmUps is the number of calls of each before the timed ones, checked but not timed; 0 means 2, negative none.
	WarmUps int
	// Clock measures the time of a call; 0 means CPU.
	Clock Clock
	// Cores is the number of processors for both sides; 0 means 1. Using several of them only pays under the clock
	// Elapsed. Libraries that read OMP_NUM_THREADS and the like, and Go's runtime, start as many threads.
	Cores int

	// Timeout is the wall time of one call; 0 means 10 s.
	Timeout time.Duration
	// Load bounds the wall time in which a process starts and loads its program; 0 means 60 s.
	Load time.Duration
	// Total bounds the wall time of all of a candidate's calls, timed or not. 0 means Timeout plus 20 times the baseline's
	// time for its own calls, so a program whose score is above 0.05 is not cut short.
	Total time.Duration
	// Memory is the address space of a process in bytes; 0 means 4 GiB.
	Memory int64
	// Bytes bounds the size of an input, and of an output; 0 means 64 MiB.
	Bytes int
}

func (c Config) filled() (Config, error) {
	c.Pairs = cmp.Or(c.Pairs, 15)
	c.WarmUps = max(cmp.Or(c.WarmUps, 2), 0)
	c.Cores = cmp.Or(c.Cores, 1)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Load = cmp.Or(c.Load, time.Minute)
	c.Memory = cmp.Or(c.Memory, 4<<30)
	c.Bytes = cmp.Or(c.Bytes, 64<<20)
	if c.Output == nil {
		c.Output = func(input []byte) int { return len(input) }
	}
	if c.Check == nil {
		c.Check = equal
	}
	if c.Others == nil {
		c.Others = func(*rand.Rand) [][]byte { return nil }
	}
	return c, c.validate()
}

func (c Config) validate() error {
	switch {
	case c.Build == nil:
		return errors.New("timing: Config.Build is nil: need what makes a program into a command")
	case c.Baseline == "":
		return errors.New("timing: Config.Baseline is empty: need a program to compare with")
	case c.Input == nil:
		return errors.New("timing: Config.Input is nil: need what draws the input of a call")
	case c.Clock != CPU && c.Clock != Elapsed:
		return fmt.Errorf("timing: Config.Clock is %d: want CPU or Elapsed", c.Clock)
	}
	for _, v := range []struct {
		name         string
		value, least int64
	}{
		{"Pairs", int64(c.Pairs), 1},
		{"Cores", int64(c.Cores), 1},
		{"Timeout", int64(c.Timeout), int64(time.Millisecond)},
		{"Load", int64(c.Load), int64(time.Millisecond)},
		{"Total", int64(cmp.Or(c.Total, time.Second)), int64(time.Millisecond)},
		{"Memory", c.Memory, 1 << 20},
		{"Bytes", int64(c.Bytes), 1},
	} {
		if v.value < v.least {
			return fmt.Errorf("timing: Config.%s is %d: need at least %d", v.name, v.value, v.least)
		}
	}
	return nil
}
