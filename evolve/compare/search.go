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

// Greedy returns a greedy search. Task, LLM, Seed, Noisy and Start of cfg are filled in. Where scores are noisy every
// program is scored once, unless Rescore or Fresh says otherwise.
func Greedy(name string, cfg evolve.GreedyConfig) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		cfg := cfg
		cfg.Task, cfg.LLM, cfg.Seed, cfg.Noisy, cfg.Start = s.Task, s.LLM, s.Seed, s.Noisy, s.Start
		cfg.Rescore, cfg.Fresh = cmp.Or(cfg.Rescore, -1), cmp.Or(cfg.Fresh, -1)
		g, err := evolve.NewGreedy(cfg)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		return evolve.Config{Arms: []evolve.Arm{g}}, nil
	}}
}

// Population returns the search that is one population. Task, LLM, Seed, Noisy and Start of what configure returns are
// filled in, and N with 1 if it is 0. Where scores are noisy every program is scored once, unless Rescore or Fresh says
// otherwise. Parts that keep anything have to be made anew in each call.
func Population(name string, configure func(s Setting) population.Config) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		c := configure(s)
		c.Task, c.LLM, c.Seed, c.Noisy, c.Start = s.Task, s.LLM, s.Seed, s.Noisy, s.Start
		c.Rescore, c.Fresh, c.N = cmp.Or(c.Rescore, -1), cmp.Or(c.Fresh, -1), cmp.Or(c.N, 1)
		p, err := population.New(c)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		return evolve.Config{Arms: []evolve.Arm{p}}, nil
	}}
}
