package audit_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/audit"
	"github.com/evoalloc/evoalloc/evolve/compare"
)

var (
	runs        = flag.Int("runs", 10, "paired runs of the study")
	evaluations = flag.Int("evaluations", 150, "evaluations of each run of the study, audits among them")
)

// truth is a second evaluator: of share of what a program is truly worth, and noise. A mean over held-out cases is one
// with a share of 1, pure noise one with a share of 0. The noise of a program is always the same.
func truth(p compare.Problem, share, noise float64, seed uint64) eval.Evaluator {
	return newProgramScorer(func(program string) float64 {
		h := seed
		for _, b := range []byte(program) {
			h = h*1099511628211 + uint64(b)
		}
		return share*p.True(program) + noise*rand.New(rand.NewPCG(h, 1)).NormFloat64()
	})
}

type programScorer struct{ score func(program string) float64 }

func newProgramScorer(score func(string) float64) *programScorer { return &programScorer{score} }

func (s *programScorer) Evaluate(_ context.Context, program string) (eval.Result, error) {
	return eval.Result{Valid: true, Score: s.score(program)}, nil
}

func (s *programScorer) String() string { return "truth" }

// Audits on the family of the comparison whose search cases mislead, at equal evaluations and on paired seeds: what the
// best program is truly worth, with its difference from a search without audits. The command is in
// docs/measurements/2026-11-23-audit.md.
func TestStudy(t *testing.T) {
	ways := []struct {
		name         string
		audits       bool
		share, noise float64
		demote       bool
	}{
		{name: "no audits"},
		{"reported only", true, 1, 0, false},
		{"demotes by the true score", true, 1, 0, true},
		{"by it with noise of 0.02", true, 1, 0.02, true},
		{"by it with noise of 0.05", true, 1, 0.05, true},
		{"by pure noise (placebo)", true, 0, 1, true},
	}
	families := compare.Families()
	heldOut := families[slices.IndexFunc(families, func(f compare.Family) bool { return f.Name == "held-out" })]
	worth, too := make([][]float64, len(ways)), make([][]float64, len(ways))
	for seed := range uint64(*runs) {
		for i, w := range ways {
			p, err := heldOut.Make(seed)
			if err != nil {
				t.Fatal(err)
			}
			arm := must(evolve.NewGreedy(evolve.GreedyConfig{Task: p.Task, LLM: p.LLM, N: 1, Seed: uint32(seed), Strict: true}))
			if w.audits {
				arm = audited(t, arm, audit.Config{By: truth(p, w.share, w.noise, seed), Demote: w.demote})
			}
			res := run(t, evolve.Config{Arms: []evolve.Arm{arm},
				Budget: evolve.Budget{Evaluations: *evaluations, Calls: 20 * *evaluations, Stalls: -1}})
			worth[i] = append(worth[i], p.True(res.Best.Program))
			too[i] = append(too[i], res.Best.Result.Score-p.True(res.Best.Program))
		}
	}
	half := distuv.StudentsT{Sigma: 1, Nu: float64(*runs - 1)}.Quantile(0.975)
	for i, w := range ways {
		gain := make([]float64, *runs)
		for k := range gain {
			gain[k] = worth[i][k] - worth[0][k]
		}
		mean, sd := stat.MeanStdDev(gain, nil)
		by := half * stat.StdErr(sd, float64(*runs))
		t.Logf("%-34s true %.3f, claimed − true %+.3f, gain %+.3f (95 %% interval %+.3f to %+.3f)",
			w.name, stat.Mean(worth[i], nil), stat.Mean(too[i], nil), mean, mean-by, mean+by)
		if w.share == 1 && w.noise == 0 && w.demote && mean < 0 {
			t.Errorf("%s: a perfect audit makes the search worse: %s", w.name, fmt.Sprint(gain))
		}
	}
}
