package sim

import (
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// A formula is a [Family] by a formula: a child's score follows from its number and the best score so far. A child
// knows of all that were made before it, also of its own generation, so N children at once are as good as N in turn.
type formula struct {
	Name  string  // differs from those of other families, as arms' random numbers depend on it
	Start float64 // the best score before the first child
	// New returns the formula of one arm. r is the arm's own stream of random numbers, for what the arm is and for
	// what its children score. The formula takes a child's number, from 1, and the best score so far. Scores above 1
	// count as 1, and a score that is not above the best changes nothing.
	New func(r *rand.Rand) func(child int, best float64) float64
}

var _ Family = (*formula)(nil)

// Arm implements [Family].
func (f *formula) Arm(a Address) []float64 {
	next := f.New(stream.New(a.Seed, "family/"+f.Name, uint64(a.Index)))
	scores := make([]float64, a.Rounds+1)
	scores[0] = f.Start
	child, best := 0, f.Start
	for round := 1; round <= a.Rounds; round++ {
		for range max(a.N, 1) {
			child++
			best = max(best, min(next(child, best), 1))
		}
		scores[round] = best
	}
	return scores
}

// String returns the name.
func (f *formula) String() string { return f.Name }
