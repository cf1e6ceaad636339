package population_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// With what greedy search is left, a population that races finds what greedy search that races finds.
func TestRaceIsGreedySearchs(t *testing.T) {
	best := func(arm evolve.Arm) eval.Candidate {
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Evaluations: 200}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Evaluations > 200 || res.Fresh == nil {
			t.Errorf("%d evaluations, %+v", res.Evaluations, res.Fresh)
		}
		return res.Best
	}
	for seed := range uint32(5) {
		task := func() population.Config {
			return population.Config{Task: noisy(t, 0.05, uint64(seed)), LLM: climber, N: 4, Seed: seed, Noisy: true, Race: 0.8, RaceSamples: 8}
		}
		c := task()
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: c.Task, LLM: c.LLM, N: c.N, Seed: c.Seed, Noisy: true, Race: c.Race, RaceSamples: c.RaceSamples})
		if err != nil {
			t.Fatal(err)
		}
		want := best(g)
		if want.Result.N() < 4 {
			t.Errorf("seed %d: no race: %+v", seed, want)
		}
		if diff := cmp.Diff(want, best(newPopulation(t, task())), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// In archives of several members and on islands the best is one that has won its races, and stays in the archive.
func TestRaceInArchives(t *testing.T) {
	for _, archive := range []population.Archive{population.Top(8), &population.Islands{Of: []population.Archive{population.Top(4), population.Top(4)}, Every: 5, Rate: 0.5}} {
		p := newPopulation(t, population.Config{Task: noisy(t, 0.05, 3), LLM: climber, N: 8, Window: 2, Noisy: true, Race: 0.8, Archive: archive, Fresh: -1})
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Rounds: 20}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range archive.Members() {
			found = found || m.Program == res.Best.Program && m.Result.N() == res.Best.Result.N()
		}
		if !found || res.Best.Result.N() < 4 {
			t.Errorf("%v: the best %q has %d samples, in the archive: %t", archive, res.Best.Program, res.Best.Result.N(), found)
		}
	}
}

func TestRaceFieldsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		cfg  population.Config
		want string
	}{
		{population.Config{Race: 0.9}, "Race is 0.9"},
		{population.Config{Noisy: true, Race: 1}, "Race is 1"},
		{population.Config{Noisy: true, Race: 0.9, Keep: 3}, "Keep 3"},
		{population.Config{Noisy: true, RaceSamples: 3}, "RaceSamples is 3"},
	} {
		tt.cfg.Task, tt.cfg.LLM = noisy(t, 0, 1), climber
		if _, err := population.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
