package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/internal/notrun"
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

func compared(t *testing.T, runs []compare.Run) compare.Comparison {
	t.Helper()
	c, err := compare.Against(runs, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A planted difference is found, and none is found between equals but in about 5 % of studies.
func TestAgainstFindsWhatIsThere(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	studies := notrun.Length(10, 60)
	wins := func(better float64) map[string]int {
		of := map[string]int{}
		for range studies {
			of[compared(t, madeRuns(r, 3, 12, better)).Winner()]++
		}
		return of
	}
	// The sd of a pair is 0.05·√2, that of the mean of 36 pairs 0.0118: a difference of 0.05 is 4.2 of these.
	if of := wins(0.05); of["a"] < studies*9/10 || of["b"] > 0 {
		t.Errorf("a, which is better, wins %v of %d", of, studies)
	}
	if of := wins(-0.05); of["b"] < studies*9/10 || of["a"] > 0 {
		t.Errorf("b, which is better, wins %v of %d", of, studies)
	}
	// 5 % of 60 are 3, and four standard deviations are 7; of 10, 0.5 and 3. With twelve pairs a bootstrap interval is a
	// little narrow.
	if of := wins(0); of["a"]+of["b"] > notrun.Length(3, 10) {
		t.Errorf("of equals, one wins %v of %d", of, studies)
	}
}

// The number of seeds that it names does decide, with about the power that it says.
func TestSeedsFor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n, err := compared(t, madeRuns(r, 4, 100, 0)).SeedsFor(0.02)
	if err != nil {
		t.Fatal(err)
	}
	// SD is 0.05·√2/√4 = 0.0354; (1.96 + 0.84)²·0.0354²/0.02² = 24.5, and Student's quantiles add two or so.
	if n < 20 || n > 35 {
		t.Errorf("%d seeds, want about 27", n)
	}
	found, studies := 0, notrun.Length(10, 60)
	for range studies {
		if compared(t, madeRuns(r, 4, n, 0.02)).Winner() == "a" {
			found++
		}
	}
	if found < notrun.Length(3, 36) || found > notrun.Length(10, 59) { // four standard deviations
		t.Errorf("with %d seeds a difference of 0.02 is found in %d of %d studies, want about 80 %%", n, found, studies)
	}
}

// One seed does not tell how many decide, and neither does a difference of 0.
func TestSeedsForWithoutGrounds(t *testing.T) {
	one := compared(t, madeRuns(rand.New(rand.NewPCG(1, 1)), 2, 1, 0.5))
	if n, err := one.SeedsFor(0.01); err == nil || !strings.Contains(err.Error(), "need at least 2") {
		t.Errorf("of one seed: %d seeds, %v", n, err)
	}
	if n, err := compared(t, madeRuns(rand.New(rand.NewPCG(1, 1)), 2, 9, 0.5)).SeedsFor(0); err == nil {
		t.Errorf("a difference of 0 takes %d seeds", n)
	}
}

// Too few pairs decide nothing, however alike they are: between equal searches two of two have one sign half of the time,
// and the interval of one pair a family has no width at all.
func TestFewPairsDecideNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, few := range []struct{ families, seeds int }{{1, 1}, {1, 2}, {1, 5}, {11, 1}} {
		c := compared(t, madeRuns(r, few.families, few.seeds, 5))
		if c.Difference.Low <= 0 {
			t.Fatalf("of %d pairs: %v, want an interval above 0", c.Runs, c.Difference)
		}
		if winner := c.Winner(); winner != "" {
			t.Errorf("%q wins by %d pairs of %d families", winner, c.Runs, few.families)
		}
	}
	if c := compared(t, madeRuns(r, 3, 2, 5)); c.Winner() != "a" {
		t.Errorf("six pairs with a difference of 100 standard deviations are decided for %q", c.Winner())
	}
}

// Real searches: one that goes up from its best against one that never does, and one against itself under another name.
func TestAgainstOfSearches(t *testing.T) {
	twin := greedy1
	twin.Name = "twin"
	runs := study(t, compare.Config{Families: []compare.Family{family("additive"), family("traps")}, Calls: 64, Runs: 12,
		Searches: []compare.Search{greedy1, bestOfN, twin}})
	for _, tt := range []struct{ a, b, want string }{{"greedy-1", "best-of-n", "greedy-1"}, {"best-of-n", "twin", "twin"},
		{"greedy-1", "twin", ""}} {
		if c, err := compare.Against(runs, tt.a, tt.b); err != nil || c.Winner() != tt.want {
			t.Errorf("%s against %s: %q wins, want %q: %v, %v", tt.a, tt.b, c.Winner(), tt.want, c.Difference, err)
		}
	}
}

// made returns runs of one search in one family, of seeds from 0 on.
func made(family, search string, scores ...float64) []compare.Run {
	var list []compare.Run
	for seed, s := range scores {
		list = append(list, compare.Run{Family: family, Search: search, Seed: uint64(seed), Score: s})
	}
	return list
}

func TestAgainst(t *testing.T) {
	base := []float64{1, 5, 2, 8, 3, 6, 4, 7, 5, 5}
	above, noise := make([]float64, len(base)), make([]float64, len(base))
	for i, v := range base {
		above[i] = v + 0.5 + 0.01*float64(i)
		noise[i] = v + []float64{1, -1}[i%2]
	}
	c, err := compare.Against(slices.Concat(made("f", "base", base...), made("f", "new", above...),
		made("g", "base", base...), made("g", "new", noise...)), "new", "base")
	if err != nil {
		t.Fatal(err)
	}
	d := c.Families
	if math.Abs(d[0].Value-0.545) > 1e-9 || d[0].Low < 0.5 || d[0].High > 0.6 {
		t.Errorf("half a point above: %v", d[0])
	}
	if d[0].P > 0.02 || d[0].P < 2*2.0/1024*0.5 {
		t.Errorf("p = %v for ten differences of one sign in two families: want about 4/1024", d[0].P)
	}
	if d[1].Value != 0 || !d[1].Contains(0) || d[1].P < 0.9 {
		t.Errorf("no difference: %v, p = %v", d[1], d[1].P)
	}
	if c.Runs != 20 || c.Families[1].Runs != 10 || math.Abs(c.Difference.Value-0.2725) > 1e-9 {
		t.Errorf("over both families: %v of %d pairs, %d of them of g", c.Difference, c.Runs, c.Families[1].Runs)
	}
}

// Of each family the seeds count that both searches have, and other searches make no difference.
func TestAgainstPairs(t *testing.T) {
	c, err := compare.Against(slices.Concat(made("f", "a", 1, 3, 100), made("f", "c", 9), made("f", "b", 2, 5)), "b", "a")
	if err != nil || c.Runs != 2 || c.Difference.Value != 1.5 {
		t.Errorf("%+v, %v: want 1.5 on two seeds", c, err)
	}
}

func TestAgainstErrors(t *testing.T) {
	for _, tt := range []struct {
		reason string
		runs   []compare.Run
		want   string
	}{
		{"no runs", nil, "no runs"},
		{"a run twice", append(made("f", "a", 1), made("f", "a", 1)...), "two runs of a on f with seed 0"},
		{"a search that is missing in a family", slices.Concat(made("f", "a", 1), made("f", "b", 1), made("g", "b", 1)),
			`no seed of family g has a run of "b" and one of "a"`},
	} {
		if _, err := compare.Against(tt.runs, "b", "a"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}
