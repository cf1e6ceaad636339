package compare

import (
	"cmp"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
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

// Fork returns the setting of one of several searches in a run: with a seed of its own.
func (s Setting) Fork(index int) Setting {
	_, seed := stream.Seed(uint64(s.Seed), "compare fork", uint64(index))
	s.Seed = uint32(seed)
	return s
}

// Width is how many children a step has in the searches of this package that do not say otherwise.
const Width = 1

// Of returns the search that is one population. Task, LLM, Seed, Noisy and Start of what configure returns are filled in,
// and N with Width if it is 0. Where scores are noisy every program is scored once, unless Rescore or Fresh says otherwise. Parts that keep anything have to be made anew in each call.
func Of(name string, configure func(s Setting) population.Config) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		c := configure(s)
		c.Task, c.LLM, c.Seed, c.Noisy, c.Start = s.Task, s.LLM, s.Seed, s.Noisy, s.Start
		c.Rescore, c.Fresh = cmp.Or(c.Rescore, -1), cmp.Or(c.Fresh, -1)
		if c.N == 0 {
			c.N = Width
		}
		p, err := population.New(c)
		if err != nil {
			return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
		}
		return evolve.Config{Arms: []evolve.Arm{p}}, nil
	}}
}

// A PolicyMaker returns a fresh policy for a run of so many calls, of which each pull makes width.
type PolicyMaker func(calls, width int) bandit.Policy

// EI is [bandit.ExpectedImprovement] with the number of calls as its horizon.
func EI(calls, _ int) bandit.Policy { return &bandit.ExpectedImprovement{T: calls} }

// Halving is [bandit.SuccessiveHalving] with the number of pulls as its horizon.
func Halving(calls, width int) bandit.Policy {
	return &bandit.SuccessiveHalving{T: max(calls/max(width, 1), 1)}
}

// Portfolio returns the search whose arms are those of the members, each with a seed of its own, under one policy. A
// member with several arms is one arm, an [evolve.Allocator] of them. width is how many calls a pull of an arm makes.
func Portfolio(name string, policy PolicyMaker, width int, members ...Search) Search {
	return Search{name, func(s Setting) (evolve.Config, error) {
		cfg := evolve.Config{Policy: policy(s.Calls, width)}
		for i, m := range members {
			arm, err := m.arm(s.Fork(i))
			if err != nil {
				return evolve.Config{}, fmt.Errorf("compare: search %s: %w", name, err)
			}
			cfg.Arms = append(cfg.Arms, arm)
		}
		return cfg, nil
	}}
}

// arm returns the search as one arm.
func (s Search) arm(at Setting) (evolve.Arm, error) {
	cfg, err := s.Make(at)
	if err != nil {
		return nil, err
	}
	if len(cfg.Arms) == 1 {
		return cfg.Arms[0], nil
	}
	cfg.Seed = uint64(at.Seed)
	return evolve.NewAllocator(cfg)
}

// Even is [bandit.Random]: it deals pulls out alike.
func Even(int, int) bandit.Policy { return bandit.Random{} }
