package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
)

// madeRuns returns runs of searches a and b on paired seeds of families. A seed's luck, with a standard deviation of 0.1, is
// that of both; noise of a search is 0.05; a is better by the given difference.
func madeRuns(r *rand.Rand, families, seeds int, better float64) []compare.Run {
	var runs []compare.Run
	for f := range families {
		for seed := range uint64(seeds) {
			luck := 0.1 * r.NormFloat64()
			for i, search := range []string{"b", "a"} {
				score := luck + float64(i)*better + 0.05*r.NormFloat64()
				runs = append(runs, compare.Run{Family: fmt.Sprint("family ", f), Search: search, Seed: seed, Score: score})
			}
		}
	}
	return runs
}

func duelOf(t *testing.T, runs []compare.Run) compare.Duel {
	t.Helper()
	table, err := compare.NewTable(runs)
	if err != nil {
		t.Fatal(err)
	}
	d, err := table.Duel("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A planted difference is found, and none is found between equals but in about 5 % of studies.
func TestDuelFindsWhatIsThere(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const studies = 60
	wins := func(better float64) map[string]int {
		of := map[string]int{}
		for range studies {
			of[duelOf(t, madeRuns(r, 3, 12, better)).Winner()]++
		}
		return of
	}
	// The sd of a pair is 0.05·√2, that of the mean of 36 pairs 0.0118: a difference of 0.05 is 4.2 of these.
	if of := wins(0.05); of["a"] < 54 || of["b"] > 0 {
		t.Errorf("a, which is better, wins %v of %d", of, studies)
	}
	if of := wins(-0.05); of["b"] < 54 || of["a"] > 0 {
		t.Errorf("b, which is better, wins %v of %d", of, studies)
	}
	// 5 % of 60 are 3, and four standard deviations are 7. With twelve pairs a bootstrap interval is a little narrow.
	if of := wins(0); of["a"]+of["b"] > 10 {
		t.Errorf("of equals, one wins %v of %d", of, studies)
	}
}

// The number of seeds that it names does decide, with about the power that it says.
func TestSeedsFor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n, err := duelOf(t, madeRuns(r, 4, 100, 0)).SeedsFor(0.02)
	if err != nil {
		t.Fatal(err)
	}
	// SD is 0.05·√2/√4 = 0.0354; (1.96 + 0.84)²·0.0354²/0.02² = 24.5, and Student's quantiles add two or so.
	if n < 20 || n > 35 {
		t.Errorf("%d seeds, want about 27", n)
	}
	found := 0
	for range 60 {
		if duelOf(t, madeRuns(r, 4, n, 0.02)).Winner() == "a" {
			found++
		}
	}
	if found < 36 || found > 59 { // four standard deviations
		t.Errorf("with %d seeds a difference of 0.02 is found in %d of 60 studies, want about 48", n, found)
	}
}

// One seed does not tell how many decide, and neither does a difference of 0.
func TestSeedsForWithoutGrounds(t *testing.T) {
	one := duelOf(t, madeRuns(rand.New(rand.NewPCG(1, 1)), 2, 1, 0.5))
	if n, err := one.SeedsFor(0.01); err == nil || !math.IsNaN(one.SD) {
		t.Errorf("of one seed: %d seeds, %v, sd %v", n, err, one.SD)
	}
	if n, err := duelOf(t, madeRuns(rand.New(rand.NewPCG(1, 1)), 2, 9, 0.5)).SeedsFor(0); err == nil {
		t.Errorf("a difference of 0 takes %d seeds", n)
	}
	table, err := compare.NewTable(madeRuns(rand.New(rand.NewPCG(1, 1)), 1, 3, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Duel("a", "luck"); err == nil {
		t.Error("a duel with a search that the table has not")
	}
}

// Real searches: one that goes up from its best against one that never does, and one against itself under another name.
func TestDuelOfSearches(t *testing.T) {
	twin := named(t, "greedy-1")[0]
	twin.Name = "twin"
	cfg := compare.Config{Families: []compare.Family{compare.Additive(), compare.Traps()}, Calls: 64, Runs: 12,
		Searches: append(named(t, "greedy-1", "best-of-n"), twin)}
	table, err := compare.NewTable(study(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ a, b, want string }{{"greedy-1", "best-of-n", "greedy-1"}, {"best-of-n", "twin", "twin"}, {"greedy-1", "twin", ""}} {
		if d, err := table.Duel(tt.a, tt.b); err != nil || d.Winner() != tt.want {
			t.Errorf("%s against %s: %q wins, want %q: %v, %v", tt.a, tt.b, d.Winner(), tt.want, d.Difference, err)
		}
	}
}

func ExampleTable_Duel() {
	var runs []compare.Run
	for seed := range uint64(8) {
		for search, score := range map[string]float64{"a": 0.5, "b": 0.25} {
			runs = append(runs, compare.Run{Family: "hills", Search: search, Seed: seed, Score: score + float64(seed)})
		}
	}
	t, err := compare.NewTable(runs)
	if err != nil {
		panic(err)
	}
	d, err := t.Duel("a", "b")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s is better, by %.2f\n", d.Winner(), d.Difference.Value)
	// Output: a is better, by 0.25
}
