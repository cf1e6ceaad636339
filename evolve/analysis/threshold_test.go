package analysis

import (
	"math"
	"strings"
	"testing"
)

func courses(best ...[]float64) []Curve {
	var runs []Curve
	for i, b := range best {
		runs = append(runs, Curve{T: len(b) - 1, N: 2, Seed: int64(i), Best: b})
	}
	return runs
}

// The two readings differ: the mean is over a score that a run in three misses.
func TestThresholdReadings(t *testing.T) {
	runs := courses([]float64{0, 0, 9, 9}, []float64{0, 0, 9, 9}, []float64{0, 0, 0, 0})
	got, err := Bootstrap{Seed: 1}.Threshold(runs, 2, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if got.Reached != 2 || got.AtStart != 0 || got.ByRuns.Generation != NotReached || got.ByRuns.Calls != NotReached {
		t.Errorf("by runs: %+v", got)
	}
	// A sample misses it if all three of its runs are the third: one in 27.
	if got.ByMean.Generation != 2 || got.ByMean.Calls != 4 {
		t.Errorf("by mean: %+v", got.ByMean)
	}
	got, err = Bootstrap{Seed: 1}.Threshold(runs, 5, 0.9)
	if err != nil || got.ByMean != (Reach{Generation: NotReached, Calls: NotReached}) {
		t.Errorf("a mean of 5 takes two runs of three: %+v, %v", got.ByMean, err)
	}
}

func TestThresholdAtTheStart(t *testing.T) {
	got, err := Bootstrap{}.Threshold(courses([]float64{1, 2}, []float64{1, 1}), 1, 0.9)
	if err != nil || got.AtStart != got.Runs || got.ByRuns.Generation != 0 || got.ByRuns.Calls != 0 ||
		got.ByMean.Generation != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Calls are those that were answered up to the generation, which differs by run.
func TestThresholdCountsAnswers(t *testing.T) {
	runs := courses([]float64{0, 0, 1}, []float64{0, 1, 1})
	runs[0].Answered, runs[1].Answered = []int{0, 1, 0}, []int{0, 2, 2}
	got, err := Bootstrap{draws: [][][]int{{{0, 1}}}}.Threshold(runs, 1, 1)
	if err != nil || got.ByRuns != (Reach{Generation: 2, Calls: 2}) || got.ByMean != (Reach{Generation: 2, Calls: 2.5}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestThresholdRefuses(t *testing.T) {
	good := courses([]float64{0, 1}, []float64{0, 1})
	early := courses([]float64{0, 1}, []float64{0, 1})
	early[0].T = 2
	for _, c := range []struct {
		reason       string
		runs         []Curve
		score, share float64
		b            Bootstrap
		want         string
	}{
		{"no runs", nil, 1, 0.9, Bootstrap{}, "no runs"},
		{"a run that stopped early", early, 1, 0.9, Bootstrap{}, "stopped early"},
		{"depths that differ", courses([]float64{0, 1}, []float64{0, 1, 1}), 1, 0.9, Bootstrap{}, "one depth and breadth"},
		{"no share", good, 1, 0, Bootstrap{}, "share 0"},
		{"no score", good, math.NaN(), 0.9, Bootstrap{}, "score NaN"},
		{"draws of another shape", good, 1, 0.9, Bootstrap{draws: [][][]int{{{0}, {0}}}}, "2 strata"},
	} {
		if _, err := c.b.Threshold(c.runs, c.score, c.share); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Reliable of no runs is taken")
		}
	}()
	reliable(nil, 0.9)
}
