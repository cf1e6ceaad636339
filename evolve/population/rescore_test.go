package population_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// noisy is numbers whose scores have normal noise of this standard deviation. The noise of a program's nth evaluation
// depends on the seed, the program and n alone, and not on what else is evaluated at that time.
func noisy(t testing.TB, sd float64, seed uint64) task.Task {
	var mu sync.Mutex
	times := map[float64]uint64{}
	return made(t, task.Spec{Name: "noisy", Language: "text", Initial: "0",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
			if err != nil {
				return eval.Invalid("not a number"), nil
			}
			mu.Lock()
			defer mu.Unlock()
			times[v]++
			r := rand.New(rand.NewPCG(seed<<32|times[v], math.Float64bits(v)))
			return eval.Result{Score: v + sd*r.NormFloat64(), Valid: true}, nil
		})})
}

// The best that a search of a noisy task reports scores more than it is worth, because it was chosen for that. Scored
// again, it claims less than half as much too much, in each of several archives.
// What is left is due to children of the last step, which are scored once.
func TestRescoreKeepsTheClaimHonest(t *testing.T) {
	for name, archive := range notrun.FewOf(map[string]func() population.Archive{
		"Top(1)": func() population.Archive { return population.Top(1) },
		"Top(8)": func() population.Archive { return population.Top(8) },
		"Islands": func() population.Archive {
			return &population.Islands{Of: []population.Archive{population.Top(4), population.All()}}
		},
	}, "Islands") {
		var too [2][]float64 // claimed − true, without and with
		for seed := range notrun.Length(30, 100) {
			for i, again := range []float64{-1, 0.25} {
				p := newPopulation(t, population.Config{Task: noisy(t, 0.05, uint64(seed)), LLM: climber, N: 8, Window: 1,
					Seed:    uint32(seed),
					Archive: archive(), Noise: &evolve.Noise{Rescore: again, Fresh: -1}})
				res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Rounds: 30}})
				if err != nil {
					t.Fatal(err)
				}
				v, err := strconv.ParseFloat(strings.TrimSpace(res.Best.Program), 64)
				if err != nil {
					t.Fatal(err)
				}
				too[i] = append(too[i], res.Best.Result.Score-v)
			}
		}
		once, again := stat.Mean(too[0], nil), stat.Mean(too[1], nil)
		if once < 0.03 || again > once/2 {
			t.Errorf("%s: the best claims %.3f too much when scored once, and %.3f when scored again", name, once, again)
		}
	}
}

// The samples are in the journal, so that a run that is read again scores nothing again and comes to the same.
func TestRescoreIsRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	var claims []eval.Candidate
	for _, seed := range []uint64{1, 6} { // other noise the second time, if anything was scored
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		p := newPopulation(t, population.Config{Task: noisy(t, 0.05, seed), LLM: climber, N: 8, Seed: 1,
			Archive: population.Top(8), Noise: &evolve.Noise{Rescore: 0.5, Fresh: -1}})
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Rounds: 10},
			Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		claims = append(claims, res.Best)
	}
	if diff := cmp.Diff(claims[0], claims[1]); diff != "" {
		t.Errorf("read again, the best is another one: %s", diff)
	}
	if claims[0].Result.N() < 2 {
		t.Errorf("the best was not scored again, so the test sees nothing: %+v", claims[0])
	}
}
