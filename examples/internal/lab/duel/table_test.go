package duel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/lab/duel"
)

// runs returns runs of one search in one family, of seeds from 0 on.
func runs(family, search string, scores ...float64) []compare.Run {
	var list []compare.Run
	for seed, s := range scores {
		list = append(list, compare.Run{Family: family, Search: search, Seed: uint64(seed), Score: s})
	}
	return list
}

func tableOf(t *testing.T, lists ...[]compare.Run) *duel.Table {
	t.Helper()
	var all []compare.Run
	for _, l := range lists {
		all = append(all, l...)
	}
	table, err := duel.NewTable(all)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTable(t *testing.T) {
	// Seed 2 of b is missing, and with it seed 2 of a: runs are paired.
	table := tableOf(t, runs("f", "a", 1, 3, 100), runs("f", "b", 2, 4), runs("g", "b", 5), runs("g", "a", 6))
	for _, tt := range []struct {
		family, search string
		want           float64
	}{{"f", "a", 2}, {"f", "b", 3}, {"g", "a", 6}, {"g", "b", 5}} {
		if got := table.Mean(tt.family, tt.search); got != tt.want {
			t.Errorf("mean of %s on %s: %v, want %v", tt.search, tt.family, got, tt.want)
		}
	}
	if !math.IsNaN(table.Mean("h", "a")) || !math.IsNaN(table.ReliableScore("h", "a")) {
		t.Error("a family without runs has numbers")
	}
	if got := table.Seeds(); got != "1 to 2" {
		t.Errorf("%s seeds, want 1 to 2", got)
	}
	table.Order([]string{"g"}, []string{"b", "a"})
	if got := strings.Join(append(table.Families, table.Searches...), " "); got != "g f b a" {
		t.Errorf("ordered: %s", got)
	}
}

func TestTableErrors(t *testing.T) {
	for _, tt := range []struct {
		reason string
		runs   []compare.Run
		want   string
	}{
		{"no runs", nil, "without runs"},
		{"a run twice", append(runs("f", "a", 1), runs("f", "a", 1)...), "two runs of a on f with seed 0"},
		{"a search that is missing in a family", append(runs("f", "a", 1), runs("g", "b", 1)...), "no seed of family"},
	} {
		if _, err := duel.NewTable(tt.runs); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}

// Of ten runs nine have to reach a score.
func TestReach(t *testing.T) {
	var list []compare.Run
	for seed := range 10 {
		list = append(list, compare.Run{Family: "f", Search: "a", Seed: uint64(seed), Score: 1 + float64(seed),
			Points: []compare.Point{
				{Calls: 0, Score: 0}, {Calls: 10 * (seed + 1), Score: 1 + float64(seed)},
			}})
	}
	table := tableOf(t, list)
	for _, tt := range []struct {
		score float64
		calls int
		ok    bool
		why   string
	}{
		{0, 0, true, "all begin there"},
		{1, 90, true, "all reach it; the ninth after 90 calls"},
		{2, 100, true, "nine reach it, the last of them after 100"},
		{3, 0, false, "eight reach it"},
	} {
		if calls, ok := table.Reach("f", "a", tt.score); calls != tt.calls || ok != tt.ok {
			t.Errorf("score %v: %d, %v; want %d, %v: %s", tt.score, calls, ok, tt.calls, tt.ok, tt.why)
		}
	}
	if got := table.ReliableScore("f", "a"); got != 2 {
		t.Errorf("nine of ten end with %v, want 2", got)
	}
}

// A table compares on the seeds that all of its searches have.
func TestTableAgainst(t *testing.T) {
	table := tableOf(t, runs("f", "a", 1, 3, 100), runs("f", "b", 2, 5, 100), runs("f", "c", 0, 0))
	c, err := table.Against("b", "a")
	if err != nil || c.Runs != 2 || c.Difference.Value != 1.5 {
		t.Errorf("%+v, %v: want 1.5 on two seeds", c, err)
	}
	if c, err := table.Against("a", "a"); err != nil || c.Runs != 2 || c.Difference.Value != 0 {
		t.Errorf("with itself: %+v, %v", c, err)
	}
	if _, err := table.Against("b", "old"); err == nil || !strings.Contains(err.Error(), `"old"`) {
		t.Errorf("a baseline that is not there: %v", err)
	}
}

// a is the best on f and b on g; mix is half-way on f, and as good as b on g.
func TestHindsight(t *testing.T) {
	table := tableOf(t,
		runs("f", "a", 1, 1, 1, 1), runs("f", "b", 0, 0, 0, 0), runs("f", "mix", 0.5, 0.5, 0.5, 0.5),
		runs("g", "a", 0.2, 0.2, 0.2, 0.2), runs("g", "b", 0.4, 0.4, 0.4, 0.4), runs("g", "mix", 0.4, 0.4, 0.4, 0.4))
	for _, tt := range []struct {
		search      string
		f, g, mean  float64
		within, any int
	}{{"a", 0, 1, 0.5, 1, 2}, {"b", 1, 0, 0.5, 1, 2}, {"mix", 0.5, 0, 0.25, 1, 2}} {
		l, err := table.Hindsight(tt.search, []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		if near(l.Of[0].Value, tt.f) && near(l.Of[1].Value, tt.g) && near(l.Mean.Value, tt.mean) &&
			near(l.Worst.Value, max(tt.f, tt.g)) &&
			l.Within(0.05) == tt.within && l.Within(1+1e-9) == tt.any {
			continue
		}
		t.Errorf("loss of %s: %+v, want %v and %v, mean %v", tt.search, l, tt.f, tt.g, tt.mean)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Among searches that differ by luck alone, the best mean of all says little. Chosen on one half of the seeds, a search
// scores like the others on the other half.
func TestHindsightIsNotLuck(t *testing.T) {
	var lists [][]compare.Run
	var among []string
	x := uint64(1)
	for k := range 12 {
		name := string(rune('a' + k))
		among = append(among, name)
		var scores []float64
		for range 40 {
			x = x*6364136223846793005 + 1442695040888963407
			scores = append(scores, float64(x>>11)/(1<<53))
		}
		lists = append(lists, runs("f", name, scores...))
	}
	low := make([]float64, 40)
	lists = append(lists, runs("f", "worst", low...))
	table := tableOf(t, lists...)
	sum, highest := 0.0, 0.0
	for _, name := range among {
		highest = max(highest, table.Mean("f", name))
		l, err := table.Hindsight(name, append(among, "worst"))
		if err != nil {
			t.Fatal(err)
		}
		sum += l.Mean.Value / 12
	}
	if math.Abs(sum) > 0.1 {
		t.Errorf("searches that differ by luck have a mean loss of %v, want about 0", sum)
	}
	naive := 0.0
	for _, name := range among {
		naive += (highest - table.Mean("f", name)) / highest / 12
	}
	if naive < sum {
		t.Errorf("against the best of all means the loss is %v, not more than %v: this test shows nothing", naive, sum)
	}
}

func TestHindsightErrors(t *testing.T) {
	table := tableOf(t, runs("f", "a", 1, 2, 3), runs("f", "b", 1, 2, 3))
	for _, tt := range []struct {
		reason, search string
		among          []string
		want           string
	}{
		{"no range", "a", []string{"a"}, "fewer than two"},
		{"not there", "c", []string{"a", "b"}, `no search "c"`},
		{"too few seeds", "a", []string{"a", "b"}, "3 seeds: need four"},
	} {
		if _, err := table.Hindsight(tt.search, tt.among); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}

// table returns runs with made-up scores: a is the best on steep, b on rough.
func table() *duel.Table {
	var runs []compare.Run
	for seed := range uint64(8) {
		luck := 0.01 * float64(seed%4)
		for search, scores := range map[string][2]float64{"a": {0.9, 0.2}, "b": {0.3, 0.6}, "both": {0.8, 0.6}} {
			for i, family := range []string{"steep", "rough"} {
				points := []compare.Point{{Calls: 0}, {Calls: 10 * (i + 1), Score: scores[i] + luck}}
				runs = append(runs, compare.Run{Family: family, Search: search, Seed: seed, Score: scores[i] + luck,
					Points: points})
			}
		}
	}
	t, err := duel.NewTable(runs)
	if err != nil {
		panic(err)
	}
	t.Order([]string{"steep", "rough"}, []string{"a", "b", "both"})
	return t
}

func ExampleTable_Hindsight() {
	t := table()
	for _, s := range t.Searches {
		l, err := t.Hindsight(s, []string{"a", "b"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-4s  loses %.2f on steep, %.2f on rough, %.2f in the mean; within 5 %% in %d of 2\n", s, l.Of[0].Value,
			l.Of[1].Value, l.Mean.Value, l.Within(0.05))
	}
	// Output:
	// a     loses 0.00 on steep, 1.00 on rough, 0.50 in the mean; within 5 % in 1 of 2
	// b     loses 1.00 on steep, 0.00 on rough, 0.50 in the mean; within 5 % in 1 of 2
	// both  loses 0.17 on steep, 0.00 on rough, 0.08 in the mean; within 5 % in 1 of 2
}

func ExampleTable_Reach() {
	t := table()
	goal := t.ReliableScore("steep", "both")
	for _, s := range t.Searches {
		calls, ok := t.Reach("steep", s, goal)
		fmt.Printf("%-4s  %.2f after %d calls: %v\n", s, goal, calls, ok)
	}
	// Output:
	// a     0.80 after 10 calls: true
	// b     0.80 after 0 calls: false
	// both  0.80 after 10 calls: true
}
