package evolve_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// heard is a policy that notes the costs it was told of.
type heard struct {
	bandit.Policy
	costs [][]float64
}

func (h *heard) Probs(p []float64, r bandit.Round) {
	h.costs = append(h.costs, slices.Clone(r.Costs))
	h.Policy.Probs(p, r)
}

// asModel answers as climber does, by the name of a model.
func asModel(model string) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		r, err := climber(ctx, req)
		for i := range r.Attempts {
			r.Attempts[i].Model = model
		}
		return r, err
	})
}

// priced is a job of three searches under a budget of money. The first asks a model that costs so many times as much.
func priced(t *testing.T, times float64, told *heard) job {
	price := func(key string, p float64) llm.Model {
		return llm.Model{Key: key, MaxTokens: 100, Price: &llm.Price{Prompt: p, Cached: p, Completion: p}}
	}
	return job{k: 3, n: 2, inFlight: 1, model: asModel("small"), tweak: func(cfg *evolve.Config) {
		*told = heard{Policy: &bandit.ExpectedImprovement{}}
		dear := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0").Task, LLM: asModel("large"), N: 2, Seed: 30})
		cfg.Arms[0] = dear
		cfg.Budget = evolve.Budget{Calls: 1000, Money: 0.02 * times / 20,
			Models: []llm.Model{price("small", 1), price("large", times)}}
		cfg.Policy = told
	}}
}

// A policy is told what calls cost in the unit of which most is spent, and of nothing where they cost the same.
func TestPoliciesHearOfCosts(t *testing.T) {
	var told heard
	if _, _, err := priced(t, 1, &told).run(t.Context(), t, ""); err != nil ||
		slices.ContainsFunc(told.costs, func(c []float64) bool { return c != nil }) {
		t.Errorf("models of one price: %v, %v", told.costs, err)
	}
	res, _, err := priced(t, 20, &told).run(t.Context(), t, "")
	if err != nil || res.Limit != "Money" {
		t.Fatalf("stopped by %s: %v", res.Limit, err)
	}
	last := told.costs[len(told.costs)-1]
	if told.costs[0] != nil || len(last) != 3 || last[0] < 15 || last[0] > 25 || last[1] != 1 || last[2] != 1 {
		t.Errorf("costs at first %v and at last %v, want none and about [20 1 1]", told.costs[0], last)
	}
	// Of calls as much is used up by both, so where those are scarce nothing is told.
	jb := priced(t, 20, &told)
	tweak := jb.tweak
	jb.tweak = func(cfg *evolve.Config) { tweak(cfg); cfg.Budget.Calls, cfg.Budget.Money = 40, 1e6 }
	if res, _, err := jb.run(t.Context(), t, ""); err != nil || res.Limit != "Calls" ||
		slices.ContainsFunc(told.costs, func(c []float64) bool { return c != nil }) {
		t.Errorf("where calls are scarce: %v, stopped by %s: %v", told.costs, res.Limit, err)
	}
}

// A run that is killed goes on with the costs that its draws had: what policies were told is in the
// journal, and a journal of an older library, without it, is gone on with as it was drawn.
func TestCostsAreResumed(t *testing.T) {
	var told heard
	path := journalPath(t)
	jb := priced(t, 20, &told)
	_, want, err := jb.run(t.Context(), t, path)
	if err != nil {
		t.Fatal(err)
	}
	whole, costs := told.costs, 0
	for _, c := range whole {
		costs += min(len(c), 1)
	}
	data, err := os.ReadFile(path)
	if n := bytes.Count(data, []byte(`"costs":[`)); err != nil || n == 0 || n != costs {
		t.Fatalf("%d draws have costs, the policy was told %d times: %v", n, costs, err)
	}
	for cut := range killtest.About(t, path, 10, 30) {
		_, got, err := jb.run(t.Context(), t, cut.Path)
		if err != nil || !bytes.Equal(thisLife(t, got), thisLife(t, want)) ||
			!slices.EqualFunc(told.costs, whole, slices.Equal[[]float64]) {
			t.Fatalf("killed after %d records, of which %d are draws: %v", cut.Records, cut.Count("draw"), err)
		}
	}
}
