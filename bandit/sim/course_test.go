package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A course tells what the list of scores that it is made of tells.
func TestCourse(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		best := []float64{r.NormFloat64()}
		for range r.IntN(30) {
			best = append(best, best[len(best)-1]+max(0, r.NormFloat64()-0.5))
		}
		c, reader := newCourse(best), cursor{}
		reader.course = c
		for pulls := range len(best) + 3 {
			want := best[min(pulls, len(best)-1)] // the last one stays
			if got := c.After(pulls); got != want || reader.after(pulls) != want {
				t.Fatalf("%v after %d pulls: %v, want %v", c, pulls, got, want)
			}
		}
		for _, level := range append(slices.Clone(best), r.NormFloat64(), math.Inf(1)) {
			if got, want := c.First(level), firstAt(best, level); got != want {
				t.Fatalf("%v reaches %v after %d pulls, want %d", c, level, got, want)
			}
		}
		if rounds := len(best) - 1; rounds > 0 {
			var sum float64
			for _, v := range best[1:] {
				sum += v
			}
			if got := c.mean(rounds); math.Abs(got-sum/float64(rounds)) > 1e-12 {
				t.Fatalf("%v: mean %v, want %v", best, got, sum/float64(rounds))
			}
		}
	}
}

// firstAt is what [Course.First] says, of a score after each pull.
func firstAt(best []float64, level float64) int {
	if t := slices.IndexFunc(best, func(v float64) bool { return v >= level }); t >= 0 {
		return t
	}
	return NotReached
}
