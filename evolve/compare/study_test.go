package compare_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// study makes the runs of a study, in the order of family, search and seed.
func study(t *testing.T, cfg compare.Config) []compare.Run {
	t.Helper()
	var runs []compare.Run
	if err := compare.Study(context.Background(), cfg, func(r compare.Run) { runs = append(runs, r) }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(runs, func(a, b compare.Run) int {
		if c := strings.Compare(a.Family+" "+a.Search, b.Family+" "+b.Search); c != 0 {
			return c
		}
		return int(int64(a.Seed - b.Seed))
	})
	return runs
}

// named returns searches of this package by their names.
func named(t *testing.T, names ...string) []compare.Search {
	t.Helper()
	var list []compare.Search
	for _, name := range names {
		i := slices.IndexFunc(compare.Searches(), func(s compare.Search) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("there is no search %q", name)
		}
		list = append(list, compare.Searches()[i])
	}
	return list
}

// Every search of the package spends its budget in every family, and a run is the same whatever is made beside it.
func TestEverySearchRunsAndRepeats(t *testing.T) {
	cfg := compare.Config{Families: compare.Families(), Searches: compare.Searches(), Calls: 30, Runs: 1, Seed: 7}
	cfg.Parallel = 4
	runs := study(t, cfg)
	if want := len(cfg.Families) * len(cfg.Searches); len(runs) != want {
		t.Fatalf("%d runs, want %d", len(runs), want)
	}
	for _, r := range runs {
		if r.Calls != 30 {
			t.Errorf("%s on %s made %d calls of 30", r.Search, r.Family, r.Calls)
		}
		if n := len(r.Points); n == 0 || r.Points[n-1].Score != r.Score || r.Points[0].Calls != 0 {
			t.Errorf("%s on %s: points %v do not go from the start to %v", r.Search, r.Family, r.Points, r.Score)
		}
		if !(r.FLOPs > 0) || r.Evaluations < 1 {
			t.Errorf("%s on %s: %v FLOPs, %d evaluations", r.Search, r.Family, r.FLOPs, r.Evaluations)
		}
	}
	cfg.Parallel = 1
	if diff := cmp.Diff(runs, study(t, cfg)); diff != "" {
		t.Errorf("made one after the other the runs are others:\n%s", diff)
	}
}

// A noise-free search never claims more than the truth, and a run's score never falls.
func TestClaimsAreTrueWithoutNoise(t *testing.T) {
	for _, r := range study(t, compare.Config{Families: []compare.Family{compare.Traps()}, Searches: compare.Searches(), Calls: 64, Runs: 1}) {
		if r.Claimed != r.Score {
			t.Errorf("%s claims %v of %v", r.Search, r.Claimed, r.Score)
		}
		if !slices.IsSortedFunc(r.Points, func(a, b compare.Point) int { return int(1e9 * (a.Score - b.Score)) }) {
			t.Errorf("%s: %v falls", r.Search, r.Points)
		}
	}
}

// At equal FLOPs all spend about the same, whatever their prompts show, and who shows more makes fewer calls.
func TestEqualFLOPs(t *testing.T) {
	cfg := compare.Config{Families: []compare.Family{compare.Additive()}, Searches: named(t, "greedy-1", "copies"), Calls: 200, Runs: 2, FLOPs: true}
	runs := study(t, cfg)
	most, least := 0.0, runs[0].FLOPs
	for _, r := range runs {
		most, least = max(most, r.FLOPs), min(least, r.FLOPs)
	}
	if least < 0.95*most {
		t.Errorf("runs cost from %v to %v FLOPs", least, most)
	}
	copies, greedy := runs[0], runs[2]
	if copies.Search != "copies" || copies.Calls > greedy.Calls*2/3 || greedy.Calls < 180 {
		t.Errorf("%s makes %d calls, %s %d", copies.Search, copies.Calls, greedy.Search, greedy.Calls)
	}
}

func TestStudySkips(t *testing.T) {
	cfg := compare.Config{Families: []compare.Family{compare.Additive()}, Searches: named(t, "greedy-1", "softmax"), Calls: 8, Runs: 3}
	cfg.Skip = func(family, search string, seed uint64) bool { return search == "softmax" || seed == 1 }
	runs := study(t, cfg)
	if len(runs) != 2 || runs[0].Search != "greedy-1" || runs[0].Seed != 0 || runs[1].Seed != 2 {
		t.Errorf("runs %+v", runs)
	}
}

func TestStudyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := compare.Study(ctx, compare.Config{Families: compare.Families(), Searches: compare.Baselines(), Calls: 64}, func(compare.Run) {
		n++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || n == 0 || n > 100 {
		t.Errorf("%d runs of 2640 and %v after a cancel at the first", n, err)
	}
}

func TestStudyErrors(t *testing.T) {
	fine := compare.Config{Families: []compare.Family{compare.Additive()}, Searches: named(t, "greedy-1"), Calls: 8, Runs: 1}
	broken := errors.New("broken")
	for _, tt := range []struct {
		reason string
		change func(*compare.Config)
		want   string
	}{
		{"no families", func(c *compare.Config) { c.Families = nil }, "Config.Families is empty"},
		{"no searches", func(c *compare.Config) { c.Searches = nil }, "Config.Searches is empty"},
		{"no calls", func(c *compare.Config) { c.Calls = 0 }, "Config.Calls is 0"},
		{"fewer than no runs", func(c *compare.Config) { c.Runs = -1 }, "Config.Runs is -1"},
		{"fewer than no workers", func(c *compare.Config) { c.Parallel = -2 }, "Config.Parallel is -2"},
		{"a family twice", func(c *compare.Config) { c.Families = append(c.Families, compare.Additive()) }, `named "additive"`},
		{"a search twice", func(c *compare.Config) { c.Searches = append(c.Searches, c.Searches[0]) }, `named "greedy-1"`},
		{"a family that fails", func(c *compare.Config) {
			c.Families = []compare.Family{{Name: "f", Make: func(uint64) (compare.Problem, error) { return compare.Problem{}, broken }}}
		}, "f, seed 0: broken"},
		{"a search that fails", func(c *compare.Config) {
			c.Searches = []compare.Search{{Name: "s", Make: func(compare.Setting) (evolve.Config, error) { return evolve.Config{}, broken }}}
		}, "additive, s: broken"},
		{"a population of wrong parts", func(c *compare.Config) {
			c.Searches = []compare.Search{compare.Of("p", func(compare.Setting) population.Config { return population.Config{N: -1} })}
		}, "search p: population: Config.N is -1"},
		{"a portfolio of it", func(c *compare.Config) {
			c.Searches = []compare.Search{compare.Portfolio("q", compare.EI, 1, compare.Of("p", func(compare.Setting) population.Config { return population.Config{N: -1} }))}
		}, "search q: compare: search p: "},
		{"greedy search of no children", func(c *compare.Config) {
			c.Searches = []compare.Search{compare.Greedy("g", evolve.GreedyConfig{N: -1})}
		}, "search g: evolve: GreedyConfig.N is -1"},
	} {
		cfg := fine
		tt.change(&cfg)
		err := compare.Study(context.Background(), cfg, func(compare.Run) {})
		if err == nil || !strings.HasPrefix(err.Error(), "compare: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}
