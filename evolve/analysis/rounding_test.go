package analysis

import (
	"slices"
	"testing"
)

// Ten times 0.7 is a little below 7, and twelve times 0.7 a little above 8.4 or below it. Such a rest would tell apart
// methods whose runs all end on one plateau, with an interval that does not hold 0.
func TestEqualRunsDoNotDiffer(t *testing.T) {
	for _, score := range []float64{0.1, 0.7, 0.9, 1.0 / 3} {
		x, y := Scores{slices.Repeat([]float64{score}, 10)}, Scores{slices.Repeat([]float64{score}, 13)}
		got, err := Bootstrap{Samples: 50}.Unpaired(x, y)
		if err != nil {
			t.Fatal(err)
		}
		if zero := (Interval{}); got.Difference != zero || got.IQM != zero {
			t.Errorf("runs that all score %v differ by %v, their IQM by %v", score, got.Difference, got.IQM)
		}
		if m := Mean(x); m != score {
			t.Errorf("ten runs that score %v have the mean %v", score, m)
		}
	}
}

// A score that every run reaches exactly is reached in the mean of every sample.
func TestThresholdThatAllRunsReach(t *testing.T) {
	for _, score := range []float64{0.1, 0.7, 0.9, 1.0 / 3} {
		var runs []Curve
		for seed := range 10 {
			runs = append(runs, Curve{Task: "t", Model: "m", Method: "greedy", T: 2, N: 4, Seed: int64(seed),
				Best: []float64{0, score, score}})
		}
		got, err := Bootstrap{Samples: 50}.Threshold(runs, score, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		if want := (Reach{Generation: 1, Calls: 4}); got.ByRuns != want || got.ByMean != want {
			t.Errorf("%v is reached %+v by runs and %+v in the mean, want %+v", score, got.ByRuns, got.ByMean, want)
		}
	}
}

// A share of less than one run is one run.
func TestReliableOfATinyShare(t *testing.T) {
	if got := reliable([]int{5, 3, NotReached}, 1e-12); got != 3 {
		t.Errorf("%d, want the first that any run needed", got)
	}
}
