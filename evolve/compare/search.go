package compare

import (
	"cmp"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Search is a way to spend a budget of calls on a problem.
type Search struct {
	Name string // in results; no two searches of a study have the same
	// Make returns the arms, the policy and, if it wants one, the reward of a run. Budget, Seed and Observer are the
	// study's. It is called from several goroutines at once, and each call returns arms of their own.
	Make func(s Setting) (evolve.Config, error)
}

// String returns the name.
func (s Search) String() string { return s.Name }

// A Setting is what a search is given.
type Setting struct {
	Task  task.Task
	LLM   llm.LLM
	Noisy bool            // as in [Problem]
	Seed  uint32          // of the search
	Calls int             // how many it may make; at equal FLOPs, how many rewrites these pay for
	Start *eval.Candidate // what it begins with, already scored; nil means the task's initial program
}

// Greedy returns a greedy search. Task, LLM, Seed and the start of cfg are filled in. Where scores are noisy every
// program is scored once.
func Greedy(name string, cfg evolve.GreedyConfig) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		cfg := cfg
		cfg.Task, cfg.LLM, cfg.Seed = s.Task, s.LLM, s.Seed
		g, err := evolve.NewGreedy(cfg)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		if g.From = s.Start; s.Noisy {
			g.Noise = &evolve.Noise{Rescore: -1, Fresh: -1}
		}
		return evolve.Config{Arms: []evolve.Arm{g}}, nil
	}}
}

// Population returns the search that is one population. Task, LLM, Seed and Start of what configure returns are filled
// in, and N with 1 if it is 0. Its Noise is left out where scores are exact. Where they are noisy, every program is
// scored once if there is none. Parts that keep anything have to be made anew in each call.
func Population(name string, configure func(s Setting) population.Config) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		c := configure(s)
		c.Task, c.LLM, c.Seed, c.Start, c.N = s.Task, s.LLM, s.Seed, s.Start, cmp.Or(c.N, 1)
		switch {
		case !s.Noisy:
			c.Noise = nil
		case c.Noise == nil:
			c.Noise = &evolve.Noise{Rescore: -1, Fresh: -1}
		}
		p, err := population.New(c)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		return evolve.Config{Arms: []evolve.Arm{p}}, nil
	}}
}
