package analysis

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// An EnvelopePoint is the best observed score of a budget over all its splits.
type EnvelopePoint struct {
	Calls int `json:"C"`
	// Cell has the best mean of all cells with T·N ≤ Calls, and the least depth among ties. Its mean is a maximum over
	// noisy means, so it is biased upwards.
	Cell Cell `json:"cell"`
	// Fair is the unbiased mean score of the choice: half of each breadth's searches choose the cell and the other half
	// scores it, over random halves. It is a little low, since half of the searches choose worse than all.
	Fair float64 `json:"fair"`
}

// Envelope returns the envelope E(C) = max over T·N ≤ C of V̄(T, N) at each budget of the grid's cells, and the same
// without the bias of choosing and scoring on the same searches. halves is how many random halvings there are, each
// used both ways; 0: 100. Halving i is drawn from the stream at (seed, "halves", i). It returns an error if a breadth
// has fewer than two searches.
func (g *Grid) Envelope(halves int, seed uint64) ([]EnvelopePoint, error) {
	halves = cmp.Or(halves, 100)
	if halves < 1 {
		return nil, fmt.Errorf("analysis: Envelope with %d halves: need at least 1", halves)
	}
	for _, b := range g.breadths {
		if len(b.seeds) < 2 {
			return nil, fmt.Errorf("analysis: breadth %d has one seed: halves take two", b.n)
		}
	}
	budgets := g.Budgets()
	points := make([]EnvelopePoint, len(budgets))
	for k, calls := range budgets {
		points[k] = EnvelopePoint{Calls: calls,
			Cell: g.Cells[g.bestWithin(calls, func(i int) float64 { return g.Cells[i].Mean })]}
	}
	one, other := make([]float64, len(g.Cells)), make([]float64, len(g.Cells))
	for i := range halves {
		g.halve(stream.New(seed, "halves", uint64(i)), one, other)
		for k, calls := range budgets {
			by, of := g.bestWithin(calls, at(one)), g.bestWithin(calls, at(other))
			points[k].Fair += other[by] + one[of]
		}
	}
	for k := range points {
		points[k].Fair /= float64(2 * halves)
	}
	return points, nil
}

func at(values []float64) func(int) float64 { return func(i int) float64 { return values[i] } }

// bestWithin returns the index of the cell of at most so many calls with the greatest value, of equals the shallowest.
func (g *Grid) bestWithin(calls int, value func(i int) float64) int {
	best := -1
	for i, c := range g.Cells {
		if c.Calls() > calls {
			continue
		}
		if best < 0 || value(i) > value(best) || value(i) == value(best) && c.T < g.Cells[best].T {
			best = i
		}
	}
	return best
}

// halve writes the cells' means over a random half of each breadth's searches, and over the other half.
func (g *Grid) halve(r *rand.Rand, one, other []float64) {
	for _, b := range g.breadths {
		order := r.Perm(len(b.seeds))
		half := len(order) / 2
		for k, scores := range b.scores {
			one[b.first+k], other[b.first+k] = meanOf(scores, order[:half]), meanOf(scores, order[half:])
		}
	}
}

// meanOf returns the mean of the values drawn.
func meanOf(values []float64, drawn []int) float64 {
	return average(len(drawn), func(i int) float64 { return values[drawn[i]] })
}
