package timing

import (
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// A duration is how long a call took.
type duration struct{ cpu, wall time.Duration }

// by returns what a clock says, at least a nanosecond.
func (d duration) by(c Clock) float64 {
	took := d.cpu
	if c == Wall {
		took = max(d.cpu, d.wall)
	}
	return max(took, 1).Seconds()
}

// A pair is how long both sides took for an input.
type pair struct{ baseline, candidate duration }

type times []pair

// result returns the score of what was timed, by a clock.
func (t times) result(c Clock) eval.Result {
	of := func(f func(pair) float64) []float64 {
		xs := make([]float64, len(t))
		for i, p := range t {
			xs[i] = f(p)
		}
		return xs
	}
	ratio := func(c Clock) []float64 {
		return of(func(p pair) float64 { return p.baseline.by(c) / p.candidate.by(c) })
	}
	score := median(ratio(c))
	return eval.Result{Valid: true, Score: score, Metrics: map[string]float64{
		"speedup":          score,
		"seconds":          median(of(func(p pair) float64 { return p.candidate.by(c) })),
		"baseline_seconds": median(of(func(p pair) float64 { return p.baseline.by(c) })),
		"sd":               deviation(ratio(c)),
		"wall_speedup":     median(ratio(Wall)),
		"pairs":            float64(len(t)),
	}}
}

// median returns the middle of xs, which it sorts, or the mean of the two in the middle.
func median(xs []float64) float64 {
	slices.Sort(xs)
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// deviation returns the standard deviation of a sample, 0 of a single value.
func deviation(xs []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range xs {
		sum += x
	}
	mean := sum / float64(len(xs))
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(max(len(xs)-1, 1)))
}
