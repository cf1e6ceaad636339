package noisy_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/lab/noisy"
	"github.com/evoalloc/evoalloc/internal/landscape"
)

// At equal evaluations the default for noisy tasks gains more than scoring each program once, and passes no budget.
func TestDefaultForNoisyTasks(t *testing.T) {
	family := noisy.Families(landscape.Normal, 2)[0]
	cfg := compare.Config{Families: []compare.Family{family.Family}, Searches: noisy.Searches(), Calls: 256,
		Evaluations: 256, Runs: 8, Seed: 100}
	runs, err := compare.Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		fresh := 0
		if r.Search == "default" {
			fresh = 8
		}
		if r.Evaluations > 256 || r.Evaluations < 250 || r.FreshN != fresh {
			t.Errorf("%s, seed %d: %d evaluations, %d fresh samples", r.Search, r.Seed, r.Evaluations, r.FreshN)
		}
	}
	g, err := noisy.Gains(runs, family, "default", "once")
	if err != nil || g.Ratio.Value < 1.3 || g.Runs != 8 {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := noisy.Gains(runs, family, "default", "luck"); err == nil ||
		!strings.Contains(err.Error(), "0 runs beside luck") {
		t.Errorf("%v", err)
	}
}

// Where the baseline gains nothing in some resamples, the interval of the ratio has no upper end, and no end is negative or
// not a number for that. Claims of which no interval has the truth are printed.
func TestGainsBesideNothing(t *testing.T) {
	var runs []compare.Run
	for seed, gains := range [][2]float64{{0.2, -0.1}, {0.2, 0}, {0.2, 0.3}, {0, 0}} { // of a search, and of the baseline
		points := []compare.Point{{Score: 0.5}}
		runs = append(runs,
			compare.Run{Family: "f", Search: "a", Seed: uint64(seed), Score: 0.5 + gains[0], Points: points, Fresh: 9,
				FreshSD: 0.01, FreshN: 8},
			compare.Run{Family: "f", Search: "b", Seed: uint64(seed), Score: 0.5 + gains[1], Points: points})
	}
	g, err := noisy.Gains(runs, noisy.Family{Family: compare.Family{Name: "f"}}, "a", "b")
	if err != nil || !(g.Ratio.Low >= 0) || !math.IsInf(g.Ratio.High, 1) {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := noisy.Gains(runs, noisy.Family{Family: compare.Family{Name: "f"}}, "b", "b"); err != nil ||
		g.Ratio.Low != 1 || g.Ratio.High != 1 {
		t.Errorf("a search beside itself: %+v, %v", g, err)
	}
	var b strings.Builder
	if err := noisy.WriteGains(&b, []noisy.Gain{g}); err != nil || !strings.Contains(b.String(), " 0.0%") {
		t.Errorf("%v, and no interval has the truth:\n%s", err, b.String())
	}
}

func ExampleWriteGains() {
	runs := []compare.Run{}
	for seed := range uint64(3) {
		points := []compare.Point{{Score: 0.2}}
		runs = append(runs,
			compare.Run{Family: "words-1", Search: "once", Seed: seed, Score: 0.4, Claimed: 0.6, Points: points},
			compare.Run{Family: "words-1", Search: "default", Seed: seed, Score: 0.6, Claimed: 0.65, Fresh: 0.61, FreshSD: 0.1,
				FreshN:      8,
				FreshScores: []float64{0.45, 0.5, 0.55, 0.6, 0.63, 0.65, 0.7, 0.8}, Points: points})
	}
	g, err := noisy.Gains(runs, noisy.Family{Family: compare.Family{Name: "words-1"}}, "default", "once")
	if err == nil {
		err = noisy.WriteGains(os.Stdout, []noisy.Gain{g})
	}
	if err != nil {
		panic(err)
	}
	// Output:
	// family             search            runs    gain  times once's          searched     fresh  covered   median
	// words-1            default              3   0.400  2.00 [2.00, 2.00]       +0.0500   +0.0100   100.0%   100.0%
}

// A search whose evaluations are ranks of three counts each of the three. Of the claims of one of means, where noise has a tail
// below, the interval of the median holds more often than that of the mean.
func TestNoiseWithATail(t *testing.T) {
	families := noisy.Families(landscape.OneSided, 1)
	cfg := compare.Config{Searches: noisy.OfTails(), Calls: 256, Evaluations: 256, Runs: 8, Seed: 300}
	for _, f := range families {
		cfg.Families = append(cfg.Families, f.Family)
	}
	runs, err := compare.Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var covered, within float64
	for _, f := range families {
		for _, r := range runs {
			if r.Evaluations > 256 {
				t.Errorf("%s in %s: %d evaluations", r.Search, r.Family, r.Evaluations)
			}
		}
		g, err := noisy.Gains(runs, f, "default", "once")
		if err != nil {
			t.Fatal(err)
		}
		covered, within = covered+g.Covered/3, within+g.Within/3
	}
	if within < 0.8 || within <= covered { // of 24, whose standard deviation is 0.05
		t.Errorf("a share of %.2f of the intervals of the median hold, and %.2f of those of the mean", within, covered)
	}
}
