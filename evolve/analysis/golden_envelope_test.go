package analysis

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

func TestGoldenEnvelope(t *testing.T) {
	type point struct {
		C, T, N int
		V       float64
		FLOPs   float64 `json:"flops"`
	}
	g := golden[struct {
		Points []point
		Fit    goldenFit `json:"fit_ln_gap_on_lnC"`
		Pooled struct {
			Model1, Model2 []point
			ByCalls        goldenFit `json:"by_calls"`
			ByFLOPs        goldenFit `json:"by_flops"`
		}
	}](t, "envelope")
	_, _, grid := goldenRuns(t)
	points, err := grid.Envelope(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var x, calls, flops [][]float64
	var y, gaps []float64
	for i, want := range g.Points {
		p := points[i]
		if p.Calls != want.C || p.Cell.T != want.T || p.Cell.N != want.N {
			t.Errorf("envelope at %d: T=%d N=%d, want %+v", p.Calls, p.Cell.T, p.Cell.N, want)
		}
		near(t, "best mean", p.Cell.Mean, want.V)
		x, y = append(x, []float64{math.Log(float64(p.Calls))}), append(y, p.Cell.Gap)
	}
	nearFit(t, "by budget", x, y, g.Fit)
	for _, p := range append(g.Pooled.Model1, g.Pooled.Model2...) {
		calls, flops = append(calls, []float64{math.Log(float64(p.C))}), append(flops, []float64{math.Log(p.FLOPs)})
		gaps = append(gaps, lnGap(p.V, 1, grid.epsilon))
	}
	nearFit(t, "two models by calls", calls, gaps, g.Pooled.ByCalls)
	nearFit(t, "two models by FLOPs", flops, gaps, g.Pooled.ByFLOPs)
}

// reach returns a golden generation or number of calls, null being one that was not reached.
func wantReach(p *int) int {
	if p == nil {
		return NotReached
	}
	return *p
}

func TestGoldenThresholds(t *testing.T) {
	g := golden[struct {
		Cells []struct {
			N       int
			Tau     float64
			First   []*int
			ByRuns  *int    `json:"T90_runs"`
			Half    *int    `json:"T50_runs"`
			ByMean  *int    `json:"T90_bootstrap"`
			Calls   *int    `json:"calls90"`
			Reached float64 `json:"reach_share"`
		}
	}](t, "threshold")
	b, all, _ := goldenRuns(t)
	for _, c := range g.Cells {
		var runs []Curve
		var samples [][][]int
		for _, r := range all {
			if r.N == c.N {
				runs = append(runs, r)
			}
		}
		for _, draw := range b.Bootstrap.Indices[strconv.Itoa(c.N)] {
			samples = append(samples, [][]int{draw})
		}
		boot := Bootstrap{draws: samples}
		nine, err := boot.Threshold(runs, c.Tau, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		half, err := boot.Threshold(runs, c.Tau, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("N=%d, score %v: ", c.N, c.Tau)
		for i, r := range runs {
			near(t, what+"first", float64(firstReach(r.Best, c.Tau)), float64(wantReach(c.First[i])))
		}
		near(t, what+"nine runs in ten", float64(nine.ByRuns.Generation), float64(wantReach(c.ByRuns)))
		near(t, what+"their calls", nine.ByRuns.Calls, float64(wantReach(c.Calls)))
		near(t, what+"half of the runs", float64(half.ByRuns.Generation), float64(wantReach(c.Half)))
		near(t, what+"the mean of nine samples in ten", float64(nine.ByMean.Generation), float64(wantReach(c.ByMean)))
		near(t, what+"share", float64(nine.Reached)/float64(nine.Runs), c.Reached)
	}
}

func TestGoldenReliable(t *testing.T) {
	for i, c := range golden[[]struct {
		First []*int
		Share float64
		Want  *int
	}](t, "reliable_cases") {
		var first []int
		for _, p := range c.First {
			first = append(first, wantReach(p))
		}
		if got, want := reliable(first, c.Share), wantReach(c.Want); got != want {
			t.Errorf("case %d: %d, want %d", i, got, want)
		}
	}
}
