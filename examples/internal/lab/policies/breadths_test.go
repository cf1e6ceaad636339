package policies

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// A name with several breadths has a search for each, whatever --K is.
func TestBetween(t *testing.T) {
	all, s := new(options).contenders(), sim.Setting{Family: sim.Named("linear"), Arms: 10, N: 1, Rounds: 640}
	for name, want := range map[string]string{
		"ei@1+4+16": "ExpectedImprovement(T=640",
	} {
		c, err := widened(all, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := c.New(s).(interface{ String() string }).String(); c.Name != name || !strings.HasPrefix(got, want) ||
			!slices.Equal(c.Breadths, []evolve.Breadth{breadth.Fixed(1), breadth.Fixed(4), breadth.Fixed(16)}) {
			t.Errorf("%s: %s with %v, named %s, want %s", name, got, c.Breadths, c.Name, want)
		}
	}
	for name, want := range map[string]string{
		"ei@1+x": `breadths "1+x"`, "ei@1+0": `breadths "1+0"`, "nope@1+4": `unknown policy "nope"`,
	} {
		if _, err := widened(all, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// The best baseline of a family is chosen on the other half of its runs, so luck alone does not put it ahead.
func TestHindsight(t *testing.T) {
	c := sim.Cell{Oracle: make([]float64, 4), Entries: []sim.Entry{
		{Name: "a", Final: []float64{1, 0, 1, 0}},
		{Name: "b", Final: []float64{0, 3, 0, 3}},
	}}
	got := withHindsight([]sim.Cell{c}, []string{"a", "b"})[0].Entry(hindsight).Final
	// In the odd runs b is better, which scores 0 in the even ones, and the other way round.
	if want := []float64{0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(c.Entries) != 2 {
		t.Error("the cell that was given has another entry")
	}
}

// A pilot is raced as any other policy, and the table has the best baseline of each family as its last row.
func TestAdviseIsPlayed(t *testing.T) {
	var out bytes.Buffer
	args := "--policies one@1,one@4,ei@1+4 --baselines one@1,one@4 --than one@1 --families knapsack,tsp --T 64 --runs 5"
	if err := Run(t.Context(), strings.Fields(args), &out); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "final best less that of one@1")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if len(rows) != 6 {
		t.Fatalf("%d rows, want a title, a head and four:\n%s", len(rows), &out)
	}
	for i, want := range []string{"one@1 ", "one@4 ", "ei@1+4 ", hindsight + " "} {
		if row := strings.TrimSpace(rows[2+i]); !strings.HasPrefix(row, want) {
			t.Errorf("row %d is %q, want %q", i, row, want)
		}
	}
}
