package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/audit"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// A noisy evaluator scores pairs as flattered does, and the k-th time that it is asked for one with noise of its own.
type noisy struct {
	seed uint64
	mu   sync.Mutex
	seen map[string]int
}

func (n *noisy) String() string { return "noisy" }

func (n *noisy) Evaluate(_ context.Context, program string) (eval.Result, error) {
	good, flattery, err := parse(program)
	if err != nil {
		return eval.Invalid("not a pair: %v", err), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]int{}
	}
	n.seen[program]++
	r := rand.New(rand.NewPCG(n.seed+uint64(n.seen[program]), uint64(int64(1e6*good))^uint64(int64(1e6*flattery))<<20))
	return eval.Result{Valid: true, Score: good + flattery + 0.4*r.NormFloat64()}, nil
}

// noisySearches score programs again.
var noisySearches = map[string]func(tk task.Task, seed uint32) evolve.Arm{
	"greedy": func(tk task.Task, seed uint32) evolve.Arm {
		return must(population.New(population.Config{Task: tk, LLM: wanderer, N: 4, Seed: seed,
			Noise: &evolve.Noise{Rescore: 1}}))
	},
	"steady": func(tk task.Task, seed uint32) evolve.Arm {
		return must(population.New(population.Config{Task: tk, LLM: wanderer, N: 8, Seed: seed,
			Noise: &evolve.Noise{Rescore: 1}, Window: 3}))
	},
	"Top(8)": noisyPopulationOf(func() population.Archive { return population.Top(8) }),
	"Islands": noisyPopulationOf(func() population.Archive {
		return &population.Islands{Of: []population.Archive{population.Top(3), population.Top(3)}}
	}),
}

func noisyPopulationOf(archive func() population.Archive) func(tk task.Task, seed uint32) evolve.Arm {
	return func(tk task.Task, seed uint32) evolve.Arm {
		return must(population.New(population.Config{Task: tk, LLM: wanderer, N: 4, Seed: seed, Archive: archive(),
			Noise: &evolve.Noise{Rescore: 1}}))
	}
}

// Reports alone take nothing from what a noisy search claims.
func TestNoisySearchIsReported(t *testing.T) {
	for name, newSearch := range noisySearches {
		arm := audited(t, newSearch(pairs(t, &noisy{seed: 7}), 7), audit.Config{By: honest()})
		res := run(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Evaluations: 120}})
		audits := 0
		for _, g := range res.Arms[0].Generations {
			for _, a := range g.Audits {
				if audits++; a.Demoted || !a.Second.Valid {
					t.Errorf("%s: %s", name, fmt.Sprintf("%+v", a))
				}
			}
		}
		if audits < 3 || res.Fresh == nil || res.Fresh.N() != 8 || res.Evaluations > 120 {
			t.Errorf("%s: %d audits, %d evaluations, fresh samples %+v", name, audits, res.Evaluations, res.Fresh)
		}
	}
}
