package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A Build makes a program into what is run. An [*eval.ProgramError] says that the program is at fault; any other error
// that the build itself failed.
type Build func(ctx context.Context, program string) (Image, error)

// An Image is what is run for a program: a command and the files in its working directory. docs/guide.md says what the
// command has to do.
type Image struct {
	Args  []string          // the command and its arguments; the first is a path, relative to the working directory or not
	Files map[string][]byte // by name; all can be read and executed
	Env   []string          // NAME=value, besides what every contained command sees
}

// A Clock is what the time of a call is.
type Clock int

const (
	// CPU is the processor time that all threads of the process used. What else the machine does hardly disturbs it.
	CPU Clock = iota
	// Elapsed is the time that passed. It is for functions that wait, and for those that compute on several processors
	// at once (Config.Cores). Processor time used outside of a call counts as if it had passed.
	//
	// What else the machine does lengthens it. So the processors are watched: a pair during which other processes used
	// more than a twentieth of one of its calls is timed again, up to Pairs times in all, and the pairs that were least
	// disturbed count. The metric "strangers" of a result is the share that others used of the pairs that count.
	Elapsed
)

// Config says what is timed. Its functions are called by one evaluation at a time.
type Config struct {
	// Build makes the baseline and the candidates into what is run. Required.
	Build Build
	// Baseline is the program that candidates are compared with. What it answers is taken to be right. Required.
	Baseline string
	// Input draws the input of a timed call: new numbers of the same shape each time. Required.
	Input func(r *rand.Rand) []byte
	// Others draws inputs of other shapes for calls that are checked and not timed: empty ones, edges, odd lengths. They
	// are strewn among the timed ones. nil means none.
	Others func(r *rand.Rand) [][]byte
	// Output returns how many bytes the output for an input has; nil means as many as the input.
	Output func(input []byte) int
	// Check returns what is wrong with an output; want is the baseline's. nil means [Equal].
	Check func(input, want, got []byte) error
	// InputChanges allows the program to change its input. By default that makes it invalid.
	InputChanges bool

	// Pairs is how many calls of the candidate are timed, each beside one of the baseline; 0 means 15.
	Pairs int
	// WarmUps is how many calls of each are made first, checked like all others, and not timed; 0 means 2, and
	// negative none.
	WarmUps int
	// Clock is what the time of a call is; 0 means CPU.
	Clock Clock
	// Cores is how many processors both sides keep to; 0 means 1. A program gains by using several of them if the clock
	// is Elapsed. Libraries that read OMP_NUM_THREADS and the like, and Go's runtime, start as many threads.
	Cores int

	// Timeout is the wall time of one call; 0 means 10 s.
	Timeout time.Duration
	// Load is the wall time that a process may take to start and to load its program; 0 means 60 s.
	Load time.Duration
	// Total is the wall time that a candidate may take for all of its calls, timed or not. 0 means Timeout, and 20 times
	// what the baseline takes for its own calls: a program whose score is above 0.05 is not cut short.
	Total time.Duration
	// Memory is the address space of a process in bytes; 0 means 4 GiB.
	Memory int64
	// Bytes is the most that an input may have, and likewise an output; 0 means 64 MiB.
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
		c.Check = Equal
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
