package population

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// The median and the MAD are those of their definitions.
func TestSpread(t *testing.T) {
	median := func(x []float64) float64 {
		slices.Sort(x)
		return x[(len(x)-1)/2]/2 + x[len(x)/2]/2
	}
	r := rand.New(rand.NewPCG(1, 9))
	for n := 1; n < 40; n++ {
		for range 20 {
			var from []Member
			var scores, far []float64
			for range n {
				s := float64(r.IntN(12)) * r.ExpFloat64()
				from, scores = append(from, Member{Candidate: eval.Candidate{Result: eval.Result{Valid: true, Score: s}}}),
					append(scores, s)
			}
			m := median(slices.Clone(scores))
			for _, s := range scores {
				far = append(far, math.Abs(s-m))
			}
			middle, scale := spread(from)
			if want := max(median(far), leastSpread); middle != m || math.Abs(scale-want) > 1e-12 {
				t.Fatalf("%v: %v and %v, want %v and %v", scores, middle, scale, m, want)
			}
		}
	}
}
