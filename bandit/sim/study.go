package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/evoalloc/evoalloc/bandit"
)

// A Contender is a policy to compare with others.
type Contender struct {
	Name string // in results; contenders of one study differ in it
	// New returns a fresh policy for one run. It is given the setting, for a policy that wants to know the
	// number of rounds or arms. It is called from several goroutines at once.
	New func(s Setting) bandit.Policy
	// Arms is how many of the setting's arms the policy has, the first ones; 0 means all. With 1 it is one search
	// with the whole budget: the baseline that any allocation has to beat.
	Arms int
}

// A Setting is what policies are played over: K arms of a family, for T pulls of N children each.
type Setting struct {
	Family Family // what makes the arms
	Arms   int    // K, at least 1
	N      int    // children to a generation, which policies are told as the calls of a pull; 0 means 1
	Rounds int    // T, at least 1
}

// Calls returns T·N, the model calls of a run.
func (s Setting) Calls() int { return s.Rounds * max(s.N, 1) }

// String names the family, K, N and T: "draws K=8 N=1 T=256".
func (s Setting) String() string {
	return fmt.Sprintf("%v K=%d N=%d T=%d", s.Family, s.Arms, max(s.N, 1), s.Rounds)
}

// A StudyConfig says what to compare.
type StudyConfig struct {
	Contenders []Contender                // at least one; names differ
	Settings   []Setting                  // at least one
	Seed       uint64                     // of the first run; the others have the seeds after it
	Runs       int                        // runs of each policy in each setting; 0 means 100
	InFlight   int                        // as in PlayConfig
	Delay      func(r *rand.Rand) float64 // as in PlayConfig
	Parallel   int                        // runs at once; 0 means one a processor
	// Progress is called after each run of all policies in one setting, from several goroutines at once. nil
	// means that it is not called.
	Progress func()
}

// A Cell is what a [Study] found in one setting. Lists by run are in the order of seeds.
type Cell struct {
	Setting Setting   // what was played over
	Start   []float64 // by run: the best score before the first pull
	Oracle  []float64 // by run: the best score that T pulls can reach, see [Oracle]
	Entries []Entry   // by contender
}

// An Entry is how one policy did in a setting.
type Entry struct {
	Name  string    // the Contender's
	Final []float64 // by run: the best score of all arms at the end
}

// Entry returns the named policy's entry, or nil if there is none.
func (c Cell) Entry(name string) *Entry {
	for i := range c.Entries {
		if c.Entries[i].Name == name {
			return &c.Entries[i]
		}
	}
	return nil
}

func (c StudyConfig) withDefaults() StudyConfig {
	c.Runs = cmp.Or(c.Runs, 100)
	c.Parallel = cmp.Or(c.Parallel, runtime.GOMAXPROCS(0))
	if c.Progress == nil {
		c.Progress = func() {}
	}
	return c
}

func (c StudyConfig) validate() error {
	switch {
	case len(c.Contenders) == 0:
		return errors.New("sim: a study without policies")
	case len(c.Settings) == 0:
		return errors.New("sim: a study without settings")
	case c.Runs < 1:
		return fmt.Errorf("sim: a study of %d runs: need at least 1", c.Runs)
	case c.Parallel < 1:
		return fmt.Errorf("sim: a study with %d runs at once: need at least 1", c.Parallel)
	}
	names := make(map[string]bool)
	for _, p := range c.Contenders {
		if names[p.Name] {
			return fmt.Errorf("sim: two policies named %q", p.Name)
		}
		names[p.Name] = true
		if p.Arms < 0 {
			return fmt.Errorf("sim: policy %q has %d arms: need 0 for all, or more", p.Name, p.Arms)
		}
	}
	for _, s := range c.Settings {
		if s.Arms < 1 || s.Rounds < 1 || s.N < 0 {
			return fmt.Errorf("sim: setting %v: need at least 1 arm, 1 child and 1 round", s)
		}
	}
	return nil
}

// Study plays every policy in every setting and returns a [Cell] for each setting, in order. The runs of a
// setting are paired: run i has the same arms for every policy, those of seed cfg.Seed + i. The same study
// gives the same cells, however many runs are played at once.
//
// If ctx ends, or a policy gives no distribution, it returns the cells that are complete, and an error.
func Study(ctx context.Context, cfg StudyConfig) ([]Cell, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var cells []Cell
	for _, s := range cfg.Settings {
		cell := newCell(cfg, s)
		if err := cfg.play(ctx, cell); err != nil {
			return cells, fmt.Errorf("sim: %v: %w", s, err)
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

func newCell(cfg StudyConfig, s Setting) Cell {
	c := Cell{Setting: s, Start: make([]float64, cfg.Runs), Oracle: make([]float64, cfg.Runs)}
	for _, p := range cfg.Contenders {
		c.Entries = append(c.Entries, Entry{p.Name, make([]float64, cfg.Runs)})
	}
	return c
}

// play plays the runs of a cell, several at once. Each run has its place in the lists, so it does not matter which
// ends first.
func (c StudyConfig) play(ctx context.Context, cell Cell) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(c.Parallel, c.Runs) {
		wg.Go(func() {
			for i := range next {
				if err := c.run(cell, i); err != nil {
					cancel(err)
				}
				c.Progress()
			}
		})
	}
	for i := 0; i < c.Runs && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// run plays every policy over the arms of one run.
func (c StudyConfig) run(cell Cell, i int) error {
	s, seed := cell.Setting, c.Seed+uint64(i)
	arms := Arms(s.Family, seed, s.Arms, s.N, s.Rounds)
	oracle := Oracle(arms, s.Rounds)
	cell.Start[i], cell.Oracle[i] = oracle[0], oracle[s.Rounds]
	for j, p := range c.Contenders {
		k := cmp.Or(min(p.Arms, s.Arms), s.Arms)
		played, err := Play(p.New(s), arms[:k], PlayConfig{Rounds: s.Rounds, Seed: seed, N: max(s.N, 1),
			InFlight: c.InFlight, Delay: c.Delay})
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		cell.Entries[j].Final[i] = played.Best[len(played.Best)-1]
	}
	return nil
}
