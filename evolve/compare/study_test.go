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

// family returns the family of that name.
func family(name string) compare.Family {
	all := compare.Families()
	return all[slices.IndexFunc(all, func(f compare.Family) bool { return f.Name == name })]
}

// greedy1 and bestOfN are searches of one child a step, from the best program and from the first one.
var (
	greedy1 = compare.Greedy("greedy-1", evolve.GreedyConfig{N: 1})
	bestOfN = compare.Population("best-of-n", func(compare.Setting) population.Config {
		return population.Config{Archive: &first{}}
	})
)

// first is an archive of the initial program.
type first struct{ members []*population.Member }

func (f *first) Add(m *population.Member) bool {
	if len(f.members) > 0 {
		return false
	}
	f.members = []*population.Member{m}
	return true
}

func (f *first) Members() []*population.Member { return f.members }

func study(t *testing.T, cfg compare.Config) []compare.Run {
	t.Helper()
	runs, err := compare.Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// Runs are the same, and in the order of the study's families, searches and seeds, however many are made at once.
func TestStudyRepeats(t *testing.T) {
	cfg := compare.Config{Families: compare.Families(), Searches: []compare.Search{greedy1, bestOfN}, Calls: 12, Runs: 2,
		Seed: 7, Parallel: 4}
	ended := 0
	cfg.OnRun = func(compare.Run) { ended++ }
	runs := study(t, cfg)
	if want := len(cfg.Families) * 4; len(runs) != want || ended != want {
		t.Fatalf("%d runs, of which %d were told, want %d", len(runs), ended, want)
	}
	for i, r := range runs {
		if r.Family != cfg.Families[i/4].Name || r.Search != cfg.Searches[i/2%2].Name || r.Seed != uint64(7+i%2) {
			t.Errorf("run %d is of %s on %s, seed %d", i, r.Search, r.Family, r.Seed)
		}
	}
	cfg.Parallel = 1
	if diff := cmp.Diff(runs, study(t, cfg)); diff != "" {
		t.Errorf("made one after the other the runs are others:\n%s", diff)
	}
}

// At equal FLOPs a search whose prompts are longer makes fewer calls for about as many.
func TestEqualFLOPs(t *testing.T) {
	wordy := compare.Population("wordy", func(compare.Setting) population.Config {
		return population.Config{Operators: []population.Operator{population.Rewrite{Instruction: strings.Repeat("Raise the score. ", 40)}}}
	})
	runs := study(t, compare.Config{Families: []compare.Family{family("additive")},
		Searches: []compare.Search{greedy1, wordy}, Calls: 100, Runs: 1, FLOPs: true})
	a, b := runs[0], runs[1]
	if b.Calls > a.Calls*2/3 || a.Calls < 90 || min(a.FLOPs, b.FLOPs) < 0.95*max(a.FLOPs, b.FLOPs) {
		t.Errorf("%d calls for %v FLOPs, and with longer prompts %d for %v", a.Calls, a.FLOPs, b.Calls, b.FLOPs)
	}
}

func TestStudySkips(t *testing.T) {
	cfg := compare.Config{Families: []compare.Family{family("additive")}, Searches: []compare.Search{greedy1, bestOfN},
		Calls: 8, Runs: 3}
	cfg.Skip = func(family, search string, seed uint64) bool { return search == "best-of-n" || seed == 1 }
	runs := study(t, cfg)
	if len(runs) != 2 || runs[0].Search != "greedy-1" || runs[0].Seed != 0 || runs[1].Seed != 2 {
		t.Errorf("runs %+v", runs)
	}
}

func TestStudyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	runs, err := compare.Study(ctx, compare.Config{Families: compare.Families(),
		Searches: []compare.Search{greedy1, bestOfN}, Calls: 64, OnRun: func(compare.Run) {
			n++
			cancel()
		}})
	if !errors.Is(err, context.Canceled) || n == 0 || n > 100 || len(runs) != n {
		t.Errorf("%d runs of 660, %d of them returned, and %v after a cancel at the first", n, len(runs), err)
	}
}

func TestStudyErrors(t *testing.T) {
	fine := compare.Config{Families: []compare.Family{family("additive")}, Searches: []compare.Search{greedy1}, Calls: 8,
		Runs: 1}
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
		{"a family twice", func(c *compare.Config) { c.Families = append(c.Families, family("additive")) },
			`named "additive"`},
		{"a search twice", func(c *compare.Config) { c.Searches = append(c.Searches, c.Searches[0]) }, `named "greedy-1"`},
		{"a family that fails", func(c *compare.Config) {
			c.Families = []compare.Family{{Name: "f", Make: func(uint64) (compare.Problem, error) {
				return compare.Problem{}, broken
			}}}
		}, "f, seed 0: broken"},
		{"a search that fails", func(c *compare.Config) {
			c.Searches = []compare.Search{{Name: "s", Make: func(compare.Setting) (evolve.Config, error) {
				return evolve.Config{}, broken
			}}}
		}, "additive, s: broken"},
		{"a population of wrong parts", func(c *compare.Config) {
			c.Searches = []compare.Search{compare.Population("p",
				func(compare.Setting) population.Config { return population.Config{N: -1} })}
		}, "search p: population: Config.N is -1"},
		{"greedy search of no children", func(c *compare.Config) {
			c.Searches = []compare.Search{compare.Greedy("g", evolve.GreedyConfig{N: -1})}
		}, "search g: evolve: GreedyConfig.N is -1"},
	} {
		cfg := fine
		tt.change(&cfg)
		_, err := compare.Study(context.Background(), cfg)
		if err == nil || !strings.HasPrefix(err.Error(), "compare: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}
