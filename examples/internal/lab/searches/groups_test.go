package searches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// family returns the family of that name.
func family(name string) compare.Family {
	all := compare.Families()
	return all[slices.IndexFunc(all, func(f compare.Family) bool { return f.Name == name })]
}

// all returns the searches of all groups.
func all() []compare.Search {
	var list []compare.Search
	for _, g := range Groups() {
		list = append(list, g.Searches...)
	}
	return list
}

// named returns searches by their names.
func named(t *testing.T, names ...string) []compare.Search {
	t.Helper()
	var list []compare.Search
	for _, name := range names {
		i := slices.IndexFunc(all(), func(s compare.Search) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("there is no search %q", name)
		}
		list = append(list, all()[i])
	}
	return list
}

func study(t *testing.T, cfg compare.Config) []compare.Run {
	t.Helper()
	runs, err := compare.Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// Every search spends its budget in every family, and a run is the same whatever is made beside it. The normal run has
// four families: exact scores, noisy ones, held-out ones, and notes.
func TestEverySearchRunsAndRepeats(t *testing.T) {
	cfg := compare.Config{Families: notrun.Few(compare.Families(), 0, 7, 8, 10), Searches: all(), Calls: 30, Runs: 1,
		Seed: 7}
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
	for _, r := range study(t, compare.Config{Families: []compare.Family{family("traps")}, Searches: all(), Calls: 64,
		Runs: 1}) {
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
	cfg := compare.Config{Families: []compare.Family{family("additive")}, Searches: named(t, "copies", "greedy-1"),
		Calls: 200, Runs: 2, FLOPs: true}
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

// A member that cannot be made is named with the search that it belongs to.
func TestPortfolioOfAWrongMember(t *testing.T) {
	wrong := compare.Population("p", func(compare.Setting) population.Config { return population.Config{N: -1} })
	for _, s := range []compare.Search{portfolio("q", ei, wrong), relay("q", even, wrong)} {
		_, err := s.Make(compare.Setting{Calls: 8})
		if want := "searches: q: compare: search p: population: "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Unlike searches as the arms of one run.
func Example_portfolio() {
	members := []compare.Search{
		softmax(), powerLaw("archive", population.Cross{}), compare.Greedy("alone", evolve.GreedyConfig{N: 1}),
	}
	runs, err := compare.Study(context.Background(), compare.Config{
		Families: []compare.Family{family("traps")}, Calls: 100, Runs: 1,
		Searches: []compare.Search{portfolio("races", halving, members...), relay("hands on", even, members...)},
	})
	for _, r := range runs {
		fmt.Println(r.Search, r.Calls)
	}
	fmt.Println(err)
	// Output:
	// races 100
	// hands on 100
	// <nil>
}

func ExampleGroups() {
	for _, g := range Groups() {
		fmt.Println(g.Name, g.Searches)
	}
	// Output:
	// baselines [greedy greedy>= greedy-1 best-of-n ei-10 halving-10 halves softmax]
	// populations [history power-law weighted cells fronts shown scratchpad rescore]
	// peers [openevolve shinka gepa omni adaevolve beam best-of-5 top-k llm-evo evoprompt-ga evoprompt-de dgm]
	// drifting [greedy-1>= drift-plain drift]
	// placebos [self-cross shuffled copies]
	// portfolios [portfolio-ei relay-softmax]
	// drift-portfolios [drift-ei drift-relay-softmax]
	// kinds [kinds-relay kinds-best-of kinds-sequential kinds-adaptive]
}
