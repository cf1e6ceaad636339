package timing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// A duration is the time of a call, by several clocks.
type duration struct {
	cpu, elapsed time.Duration
	// time of the watched processors used by other processes, in hundredths of a second
	strangers time.Duration
}

// by returns the duration by a clock, at least a nanosecond.
func (d duration) by(c Clock) float64 {
	took := d.cpu
	if c == Elapsed {
		took = d.elapsed
	}
	return max(took, 1).Seconds()
}

// A pair holds both sides' times for an input.
type pair struct{ baseline, candidate duration }

// tick is the unit of the kernel's clocks of processors.
const tick = 10 * time.Millisecond

// excess returns how long other processes used the processors during a pair, less the harmless part: a twentieth of a
// call, and the resolution of the kernel's clock.
func (p pair) excess(cfg Config) time.Duration {
	if cfg.Clock != Elapsed {
		return 0
	}
	of := func(d duration) time.Duration { return d.strangers - time.Duration(cfg.Cores)*(d.elapsed/20+tick) }
	return max(of(p.baseline), of(p.candidate), 0)
}

type times []pair

// disturbed returns during how many pairs other processes used the processors.
func (t times) disturbed(cfg Config) (n int) {
	for _, p := range t {
		if p.excess(cfg) > 0 {
			n++
		}
	}
	return n
}

// calmest returns the pairs that count: those during which other processes used the processors least, the first of
// equals.
func (t times) calmest(cfg Config) times {
	slices.SortStableFunc(t, func(a, b pair) int { return cmp.Compare(a.excess(cfg), b.excess(cfg)) })
	return t[:min(cfg.Pairs, len(t))]
}

// strangers returns the share of the processors' time that other processes used, from 0 to 1.
func (t times) strangers(cfg Config) float64 {
	var used, all time.Duration
	for _, p := range t {
		used += p.baseline.strangers + p.candidate.strangers
		all += time.Duration(cfg.Cores) * (p.baseline.elapsed + p.candidate.elapsed)
	}
	return min(max(used.Seconds()/max(all, 1).Seconds(), 0), 1)
}

// result returns the score of what was timed, by the clock of cfg.
func (t times) result(cfg Config) eval.Result {
	c := cfg.Clock
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
	r := eval.Result{Valid: true, Score: score, Metrics: map[string]float64{
		"speedup":          score,
		"seconds":          median(of(func(p pair) float64 { return p.candidate.by(c) })),
		"baseline_seconds": median(of(func(p pair) float64 { return p.baseline.by(c) })),
		"sd":               deviation(ratio(c)),
		"elapsed_speedup":  median(ratio(Elapsed)),
		"pairs":            float64(len(t)),
	}}
	if c == Elapsed {
		r.Metrics["strangers"] = t.strangers(cfg)
	}
	return r
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
