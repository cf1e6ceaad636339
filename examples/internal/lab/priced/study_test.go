package priced

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
)

func config(calls, runs int) Config {
	families := slices.DeleteFunc(compare.Families(), func(f compare.Family) bool { return f.Name != "additive" })
	return Config{Families: families, Calls: calls, Runs: runs, Seed: 5, OnRun: func() {}}
}

// The better arm is chosen on the runs of the other half.
func TestHindsight(t *testing.T) {
	c := cell{gains: map[string][]float64{rewriter: {0.1, 0.6, 0.1, 0.6}, agents: {0.5, 0.2, 0.5, 0.2},
		"ei": {0.1, 0.1, 0.1, 0.1}}}
	if got, want := c.hindsight(), []float64{0.1, 0.2, 0.1, 0.2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if i := share([]cell{c}, "ei"); math.Abs(i.Value-0.1/0.15) > 1e-12 || !(i.Low >= 0.5 && i.High <= 1) {
		t.Errorf("a share of %v, want 0.667 within 0.5 and 1", i)
	}
}

// Of the money of 400 rewrites an agent has four sessions, and a policy that is told of costs leaves one that is worth less
// than it costs.
func TestStudy(t *testing.T) {
	cells, err := study(t.Context(), config(400, 4))
	if err != nil || len(cells) != 3 {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	weak := cells[0]
	if weak.condition.Looks != 20 || share([]cell{weak}, agents).Value >= share([]cell{weak}, rewriter).Value {
		t.Errorf("a session that is worth 20 rewrites for the price of 100 is not worse than rewriting: %v", weak.gains)
	}
	same := cells[2]
	if !slices.Equal(same.gains["ei"], same.gains["ei, blind"]) ||
		!slices.Equal(same.gains["challenge"], same.gains["challenge, blind"]) {
		t.Errorf("with equal prices, costs change what policies do: %v", same.gains)
	}
	var out strings.Builder
	if err := Study(t.Context(), config(150, 2), &out); err != nil || strings.Count(out.String(), "additive") != 3 ||
		strings.Count(out.String(), "mean") != 3 {
		t.Errorf("%v\n%s", err, out.String())
	}
}
