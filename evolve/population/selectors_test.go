package population_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// ranking returns members of these scores.
func ranking(scores ...float64) (from []population.Member) {
	for i, s := range scores {
		from = append(from, member(i, "", s))
	}
	return from
}

// Each selector draws with the chances of its formula, worked out by hand. The tolerance is χ² at 1 in 10,000.
func TestSelectors(t *testing.T) {
	sigma := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, tt := range []struct {
		reason string
		by     population.Selector
		from   []population.Member
		want   []float64 // in proportion
	}{
		{"the best, and of equals the first", population.Best(), ranking(1, 3, 3, 2), []float64{0, 1, 0, 0}},
		{"each alike", population.Uniform(), ranking(1, 3, 2), []float64{1, 1, 1}},
		{"σ(λ·(F−2.5)/1)/(1+children)", population.Weighted(1),
			[]population.Member{asked(0, 4, 3), asked(1, 3, 1), asked(2, 2, 0), asked(3, 1, 0)},
			[]float64{sigma(1.5) / 4, sigma(0.5) / 2, sigma(-0.5), sigma(-1.5)}},
		{"with a MAD of 0 its least value stands, so that the best has nearly all but for its children",
			population.Weighted(10), ranking(5, 5, 5, 6), []float64{0.5, 0.5, 0.5, 1}},
		{"in proportion to the weight", population.ByWeight(func(m population.Member) float64 { return m.Result.Score }),
			ranking(1, 0, 3), []float64{1, 0, 3}},
		{"weights of 0 alone are alike", population.ByWeight(func(population.Member) float64 { return 0 }), ranking(1, 0, 3),
			[]float64{1, 1, 1}},
	} {
		const n = 20_000
		r := rand.New(rand.NewPCG(7, 7))
		got, sum := make([]float64, len(tt.from)), 0.0
		for range n {
			got[tt.by.Select(tt.from, r)]++
		}
		for _, w := range tt.want {
			sum += w
		}
		chi, free := 0.0, -1.0
		for i, w := range tt.want {
			expected := n * w / sum
			if expected == 0 {
				if got[i] > 0 {
					t.Errorf("%v, %s: member %d is selected %v times", tt.by, tt.reason, i, got[i])
				}
				continue
			}
			chi += (got[i] - expected) * (got[i] - expected) / expected
			free++
		}
		if free > 0 && chi > (distuv.ChiSquared{K: free}).Quantile(1-1e-4) {
			t.Errorf("%v, %s: selected %v times, want in proportion %v", tt.by, tt.reason, got, tt.want)
		}
	}
}

// One member is selected by all, and a member that is invalid has the score 0, not an error.
func TestSelectorsOfOne(t *testing.T) {
	for _, by := range []population.Selector{population.Best(), population.Uniform(),
		population.Weighted(10), population.Fronts(), population.ByWeight(func(population.Member) float64 { return 1 })} {
		if at := by.Select([]population.Member{invalid(3, "")}, rand.New(rand.NewPCG(1, 1))); at != 0 {
			t.Errorf("%v selects %v", by, at)
		}
	}
}

func TestWeightedWithHugeScores(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	from := []population.Member{member(0, "", -1.7e308), member(1, "", 1.7e308), member(2, "", 0)}
	for range 100 {
		population.Weighted(10).Select(from, r) // must not panic over a weight that is not finite
	}
}
