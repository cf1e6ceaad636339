package analysis

import (
	"slices"
	"strings"
	"testing"
)

// adaptive returns a run whose generations have as many calls as its Breadth said. The first element of answered is the
// calls before the first generation.
func adaptive(seed int64, t, n int, best []float64, answered ...int) Curve {
	return Curve{Task: "cp", Model: "m", Method: "greedy a", Breadth: "a", T: t, N: n, Seed: seed, Best: best,
		Answered: answered}
}

// A run is what it had come to when so many calls were answered, however many generations they were.
func TestBestBy(t *testing.T) {
	sized := adaptive(1, 2, 4, []float64{0.1, 0.2, 0.4, 0.8, 0.9}, 1, 3, 1, 2, 1)
	fixed := Curve{T: 2, N: 4, Best: []float64{0.1, 0.5, 0.6}}
	failing := Curve{T: 2, N: 4, Best: []float64{0.1, 0.5, 0.6, 0.7}, Answered: []int{0, 3, 4, 1}}
	for _, c := range []struct {
		why   string
		run   Curve
		calls int
		want  float64
	}{
		{"before the calls that come before the first generation", sized, 0, 0.1},
		{"within the first generation", sized, 3, 0.1},
		{"at its end", sized, 4, 0.2},
		{"of a generation of one", sized, 5, 0.4},
		{"at the end of the budget", sized, 8, 0.9},
		{"beyond it", sized, 100, 0.9},
		{"N in each", fixed, 4, 0.5},
		{"one less", fixed, 3, 0.1},
		{"two generations of which a call failed", failing, 7, 0.6},
		{"the same budget with the call made up for", failing, 8, 0.7},
	} {
		if got := c.run.BestBy(c.calls); got != c.want {
			t.Errorf("%s: %v after %d calls, want %v", c.why, got, c.calls, c.want)
		}
	}
}

// A run with a Breadth has more generations than T, and is over when its calls are.
func TestEarlyWithBreadth(t *testing.T) {
	whole := adaptive(1, 2, 4, []float64{0.1, 0.2, 0.4, 0.8}, 0, 3, 3, 2)
	short := adaptive(1, 2, 4, []float64{0.1, 0.2, 0.4, 0.4}, 0, 3, 1, 2)
	if whole.Early() || !short.Early() {
		t.Errorf("early: %v of 8 calls in 8, %v of 6", whole.Early(), short.Early())
	}
	if _, err := new(Bootstrap).Threshold([]Curve{short}, 0.4, 0.9); err == nil ||
		!strings.Contains(err.Error(), "6 of 8 calls") {
		t.Errorf("a run of 6 of 8 calls: %v", err)
	}
}

// Generations of any size are no depth.
func TestNoGridWithBreadth(t *testing.T) {
	_, err := NewGrid([]Curve{adaptive(1, 2, 4, []float64{0.1, 0.2, 0.4, 0.8}, 0, 3, 3, 2)}, GridConfig{})
	if err == nil || !strings.Contains(err.Error(), "BestBy") {
		t.Errorf("error %v", err)
	}
}

// Runs whose generations have other sizes reach a score after so many calls, and not in such a generation.
func TestThresholdByCall(t *testing.T) {
	runs := []Curve{
		adaptive(1, 2, 4, []float64{0.1, 0.5, 0.5, 0.5, 0.5}, 1, 1, 2, 2, 2), // after 2 calls, in generation 1
		adaptive(2, 2, 4, []float64{0.1, 0.2, 0.5}, 0, 6, 2),                 // after 8, in generation 2
		adaptive(3, 2, 4, []float64{0.1, 0.1, 0.5, 0.5}, 0, 2, 2, 4),         // after 4, in generation 2
	}
	got, err := Bootstrap{Samples: 100}.Threshold(runs, 0.5, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if got.ByRuns != (Reach{8, 8}) || got.Reached != 3 || got.AtStart != 0 {
		t.Errorf("%+v, want it reached by all runs after 8 calls", got)
	}
	if all := byCall(runs); !slices.Equal(all[0].Best, []float64{0.1, 0.1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}) ||
		!slices.Equal(all[2].Best, []float64{0.1, 0.1, 0.1, 0.1, 0.5, 0.5, 0.5, 0.5, 0.5}) {
		t.Errorf("by call: %v", all)
	}
	if _, err := (Bootstrap{}).Threshold([]Curve{adaptive(1, 1<<20, 64, []float64{0, 1}, 0, 1<<26)}, 0.5, 0.9); err == nil {
		t.Error("a file may name any budget, and it would take memory for it")
	}
}
