package noisy

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/internal/bootstrap"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Gain is what a search gains in true score over the initial program in a noisy family, beside another search.
type Gain struct {
	Family, Search string
	Runs           int
	Mean           float64           // gain in true score
	Ratio          analysis.Interval // of mean gains to the other's on the same seeds, with a 95 % bootstrap interval
	Searched       float64           // mean of what it ends with by its search's own score, less the truth
	Fresh          float64           // the same by fresh samples; 0 without any
	// Covered is the share of runs in which the 95 % interval of the fresh samples, by Student's t, has the truth.
	Covered float64
	// Within is the share of runs in which [eval.Samples.MedianRange] of the fresh samples has the median score; NaN
	// where they are too few for a range.
	Within float64
}

// Gains compares the runs of search with those of baseline in a family, on the seeds that both have. It fails if
// they have fewer than two in common, or if the baseline gains nothing.
func Gains(runs []compare.Run, of Family, search, baseline string) (Gain, error) {
	family := of.Name
	base := map[uint64]compare.Run{}
	for _, r := range runs {
		if r.Family == family && r.Search == baseline {
			base[r.Seed] = r
		}
	}
	g := Gain{Family: family, Search: search}
	var x, y, searched, fresh, covered, within []float64
	for _, r := range runs {
		b, ok := base[r.Seed]
		if !ok || r.Family != family || r.Search != search {
			continue
		}
		x, y = append(x, gain(r)), append(y, gain(b))
		searched = append(searched, r.Claimed-r.Score)
		if r.FreshN > 1 {
			fresh, covered = append(fresh, r.Fresh-r.Score), append(covered, covers(r))
			if holds, ok := holdsMedian(r, of.Median); ok {
				within = append(within, holds)
			}
		}
	}
	g.Runs = len(x)
	if g.Runs < 2 || stat.Mean(y, nil) <= 0 {
		return g, fmt.Errorf("noisy: %s in %s: %d runs beside %s: need at least 2 on the same seeds, with a gain",
			search, family, g.Runs, baseline)
	}
	g.Mean, g.Searched, g.Ratio = stat.Mean(x, nil), stat.Mean(searched, nil), ratio(x, y)
	if len(fresh) > 0 {
		g.Fresh, g.Covered, g.Within = stat.Mean(fresh, nil), stat.Mean(covered, nil), stat.Mean(within, nil) // NaN of none
	}
	return g, nil
}

// gain returns the true score of the program that the run ends with above that of the initial one.
func gain(r compare.Run) float64 {
	if len(r.Points) == 0 {
		return 0
	}
	return r.Score - r.Points[0].Score
}

// covers is 1 if the interval of the fresh samples has the truth. Half a rounding error is allowed, for scores without
// noise.
func covers(r compare.Run) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(r.FreshN - 1)}.Quantile(0.975)
	if math.Abs(r.Fresh-r.Score) <= t*r.FreshSD/math.Sqrt(float64(r.FreshN))+1e-9 {
		return 1
	}
	return 0
}

// holdsMedian is 1 if the median score, which is so much above the true one, is in the range of the fresh samples. ok
// is false where these are too few for one.
func holdsMedian(r compare.Run, above float64) (holds float64, ok bool) {
	s := eval.Samples{N: len(r.FreshScores), Scores: r.FreshScores}
	low, high, _, ok := s.MedianRange()
	if low-1e-9 <= r.Score+above && r.Score+above <= high+1e-9 {
		holds = 1
	}
	return holds, ok
}

// ratio returns that of the means of x and y, with a percentile bootstrap over pairs. In a resample in which y gains
// nothing, the ratio is infinite, or 1 if x gains nothing either.
func ratio(x, y []float64) analysis.Interval {
	plan := bootstrap.Plan{Samples: 2000, Rand: bootstrap.Same(stream.New(0, "compare ratio", 0))}
	ratios := make([]float64, plan.Samples)
	plan.Each([]int{len(x)}, func(i int, draw [][]int) {
		var a, b float64
		for _, j := range draw[0] {
			a, b = a+x[j], b+y[j]
		}
		switch {
		case b > 0:
			ratios[i] = a / b
		case a > 0:
			ratios[i] = math.Inf(1)
		default:
			ratios[i] = 1
		}
	})
	r := analysis.Interval{Value: stat.Mean(x, nil) / stat.Mean(y, nil)}
	r.Low, r.High = bootstrap.Percentiles(ratios, 0.95)
	return r
}

// WriteGains writes a table of gains.
func WriteGains(w io.Writer, gains []Gain) error {
	for i, g := range gains {
		if i == 0 {
			fmt.Fprintf(w, "%-18s %-16s %5s %7s  %-20s %9s %9s %8s %8s\n", "family", "search", "runs", "gain", "times once's",
				"searched", "fresh", "covered", "median")
		}
		claims := "        -         -        -"
		if g.Covered > 0 || g.Fresh != 0 {
			claims = fmt.Sprintf("%+9.4f %7.1f%% %8s", g.Fresh, 100*g.Covered, "-")
			if !math.IsNaN(g.Within) {
				claims = fmt.Sprintf("%+9.4f %7.1f%% %7.1f%%", g.Fresh, 100*g.Covered, 100*g.Within)
			}
		}
		if _, err := fmt.Fprintf(w, "%-18s %-16s %5d %7.3f  %.2f [%.2f, %.2f] %+13.4f %s\n", g.Family, g.Search, g.Runs,
			g.Mean,
			g.Ratio.Value, g.Ratio.Low, g.Ratio.High, g.Searched, claims); err != nil {
			return err
		}
	}
	return nil
}
