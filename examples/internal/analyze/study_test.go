package analyze

import (
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

func courseOf(t, n int, seed int64, method string, best ...float64) file {
	return file{Curve: analysis.Curve{Task: "cp", Model: "m", Method: method, T: t, N: n, Seed: seed, Best: best}}
}

// A greedy search has the scores of every smaller T. A bandit plays by how many rounds are ahead, so only runs of that
// T have them.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		method string
		want   []float64 // of T = 1
	}{{"greedy", []float64{0.2, 0.3}}, {"ucb K=2", []float64{0.4}}} {
		files := []file{
			courseOf(2, 4, 1, c.method, 0.1, 0.2, 0.5), courseOf(2, 4, 2, c.method, 0.1, 0.3, 0.6),
			courseOf(1, 4, 1, c.method, 0.1, 0.4),
		}
		s := &study{Method: c.method, files: files, deepest: deepest(files),
			Cells: []analysis.Cell{{T: 1, N: 4}, {T: 2, N: 4}}}
		b := s.budgets()
		if got := b[0].scores(4); !slices.Equal(got, c.want) {
			t.Errorf("%s, T = 1: %v, want %v", c.method, got, c.want)
		}
		if got := b[1].scores(8); !slices.Equal(got, []float64{0.5, 0.6}) {
			t.Errorf("%s, T = 2: %v", c.method, got)
		}
	}
}

// Best splits are looked for where there are three of them, or else for the largest budget.
func TestBudgets(t *testing.T) {
	var files []file
	for _, n := range []int{1, 2, 4} {
		best := []float64{0.1}
		for g := range 8 / n {
			best = append(best, 0.2+0.01*float64(g))
		}
		files = append(files, courseOf(8/n, n, 1, "greedy", best...))
	}
	s, err := newStudy(options{ceiling: 1, samples: 100}, files)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.splitBudgets(); !slices.Equal(got, []float64{4, 8}) {
		t.Errorf("three breadths: %v", got)
	}
	if s, err = newStudy(options{ceiling: 1, samples: 100}, files[:2]); err != nil {
		t.Fatal(err)
	}
	if got := s.splitBudgets(); !slices.Equal(got, []float64{8}) {
		t.Errorf("two breadths: %v", got)
	}
}
