package peers

import (
	"math"

	"github.com/evoalloc/evoalloc/bandit"
)

// Adaptive is what AdaEvolve's islands have in common.
type adaptive struct {
	islands  []*niche
	best     float64 // of all islands; −Inf before the first program
	children int
	due      bool // programs migrate before the next child
}

const (
	migrateEvery = 15 // children
	migrateBest  = 5  // programs of each island
	decay        = 0.9
	tiny         = 1e-8 // the ε of the formulas
)

// newAdaptive returns islands with room for so many programs each.
func newAdaptive(islands, room int) *adaptive {
	a := &adaptive{best: math.Inf(-1)}
	for i := range islands {
		a.islands = append(a.islands, &niche{adaptive: a, at: i, room: room, gains: gains{own: math.Inf(-1)}})
	}
	return a
}

// settle migrates programs if it is time. What comes to the island that breeds next counts as found there, as in the
// original.
func (a *adaptive) settle(next *niche) {
	if !a.due {
		return
	}
	a.due = false
	for i, l := range a.islands {
		to := a.islands[(i+1)%len(a.islands)]
		for _, r := range l.top(migrateBest) {
			if !to.has(r.Program) {
				m := *r.Member
				m.Asked, m.Improved = 0, 0
				to.put(&m, to != next)
			}
		}
	}
}

// Gains are what an island has gained, by which it chooses how to search and is chosen. With δ the gain of a program
// over the best of the island, relative to it and at most 1, and Δ the same relative to the best of all islands:
//
//	G ← 0.9·G + 0.1·δ²    for each δ > 0
//	reward ← 0.9·reward + Δ, weight ← 0.9·weight + 1    for each program that the island kept
//
// The first program has δ = Δ = 1. One that migrated counts for G alone.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/adaptation.py.
type gains struct {
	own            float64 // the best of the island
	g              float64
	visits         int
	reward, weight float64
}

// relative returns gain relative to best, at most 1.
func relative(gain, best float64) float64 {
	if math.IsInf(best, -1) {
		return 1
	}
	return min(gain/(math.Abs(best)+tiny), 1)
}

// note takes in the score of a program that the island kept, and returns the best of all islands from then on.
func (g *gains) note(score, bestOfAll float64, migrant bool) float64 {
	delta := 0.0
	if gain := score - g.own; gain > 0 {
		delta = relative(gain, bestOfAll)
		local := relative(gain, g.own)
		g.g = decay*g.g + (1-decay)*local*local
		g.own = score
	}
	if !migrant {
		g.visits++
		g.weight = decay*g.weight + 1
		g.reward = decay*g.reward + delta
	}
	return max(bestOfAll, score)
}

// intensity returns the share of exploration: I = 0.15 + (0.5 − 0.15)/(1 + √(G + ε)).
func (g *gains) intensity() float64 {
	const least, most = 0.15, 0.5
	return least + (most-least)/(1+math.Sqrt(g.g+tiny))
}

// bestNext draws the island: any with fewer than three visits, and then the one with the largest
//
//	reward/weight + 1.41·√(ln(T)/visits)
//
// with T the children begun. The first child is the first island's.
type bestNext struct{ *adaptive }

var _ bandit.Policy = bestNext{}

// Probs fills p.
func (b bestNext) Probs(p []float64, r bandit.Round) {
	const leastVisits = 3
	few, top, value := 0, 0, math.Inf(-1)
	for i, l := range b.islands {
		if l.visits < leastVisits {
			p[i], few = 1, few+1
			continue
		}
		if u := l.reward/l.weight + 1.41*math.Sqrt(math.Log(float64(max(r.T, 1)))/float64(l.visits)); u > value {
			top, value = i, u
		}
	}
	switch {
	case r.T == 0:
		clear(p)
		p[0] = 1
	case few == 0:
		p[top] = 1
	default:
		for i := range p {
			p[i] /= float64(few)
		}
	}
}

// Update does nothing: the islands know what they gained.
func (bestNext) Update(bandit.Pull, float64) {}

// String names the policy.
func (bestNext) String() string { return "BestNext()" }
