package race

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Search is a simulated search under way. One goroutine owns it.
type Search interface {
	// Step makes a generation of n children of one parent. It returns how many of them are better than the best
	// score before. It panics if n < 1.
	Step(n int) (better int)
	// Best returns the best score so far.
	Best() float64
	// Child makes one child of the parent of now. Take takes it in and returns its score, −Inf if it has none. One
	// that is better than the best of then is the next parent. Others can be made and taken in between, as in a
	// search that goes on while its children are being written.
	Child() Child
	Take(Child) (score float64)
}

// A Drifter is a Stepper whose searches can let a child that is as good as its parent replace it.
type Drifter interface {
	Stepper
	// Drifting returns the family that does. Its searches make the same children as long as they have the same
	// parents.
	Drifting() Stepper
}

// A Child is made by a [Search] and has not been taken in.
type Child struct {
	score float64
	state []float64 // what may be the next parent; nil for a child without a score
}

// failed is a child without a score.
var failed = Child{score: math.Inf(-1)}

// A Stepper is a Family whose searches can be advanced by any number of children at a time, so that it can be
// played with an evolve.Breadth.
type Stepper interface {
	sim.Family
	// Search returns the arm before its first step. a.N and a.Rounds do not matter.
	Search(a sim.Address) Search
}

// trajectory returns the best score of a search after 0, 1, ..., a.Rounds generations of a.N children.
func trajectory(s Search, a sim.Address) []float64 {
	scores := make([]float64, a.Rounds+1)
	scores[0] = s.Best()
	for round := 1; round <= a.Rounds; round++ {
		s.Step(max(a.N, 1))
		scores[round] = s.Best()
	}
	return scores
}

func mustStep(n int) {
	if n < 1 {
		panic(fmt.Sprintf("race: a step of %d children: need at least 1", n))
	}
}

// random returns the own stream of random numbers of an arm of a family.
func random(a sim.Address, family string) *rand.Rand {
	return stream.New(a.Seed, "family/"+family, uint64(a.Index))
}

// scale returns a number in [lo, hi) whose logarithm is drawn uniformly.
func scale(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }
