package sim

import (
	"fmt"
	"math"
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
// played with an evolve.Breadth. All families of this package but banks are.
type Stepper interface {
	Family
	// Search returns the arm before its first step. a.N and a.Rounds do not matter.
	Search(a Address) Search
}

// trajectory returns the best score of a search after 0, 1, ..., a.Rounds generations of a.N children.
func trajectory(s Search, a Address) []float64 {
	scores := make([]float64, a.Rounds+1)
	scores[0] = s.Best()
	for round := 1; round <= a.Rounds; round++ {
		s.Step(max(a.N, 1))
		scores[round] = s.Best()
	}
	return scores
}

// A formula is a search whose children's scores follow from their number and the best score so far. A child
// knows of all that were taken in before it, also of its own generation: N children at once are as good as N in turn.
// So a formula tells how arms compare, and nothing of what breadth costs; a [HillClimb] and a [Landscape] do.
type formula struct {
	best float64
	made int
	next func(child int, best float64) float64
}

// newFormula returns a search that starts from a score. next returns the score of a child, given its number from
// 1 and the best score so far. The score counts if it is better. Scores beyond 1 are 1.
func newFormula(start float64, next func(child int, best float64) float64) *formula {
	return &formula{best: start, next: next}
}

// Step implements [Search].
func (f *formula) Step(n int) (better int) {
	mustStep(n)
	before := f.best
	for range n {
		if f.Take(f.Child()) > before {
			better++
		}
	}
	return better
}

// Best implements [Search].
func (f *formula) Best() float64 { return f.best }

// Child implements [Search]. The child has its score when it is taken in.
func (f *formula) Child() Child { return Child{} }

// Take implements [Search].
func (f *formula) Take(Child) float64 {
	f.made++
	score := min(f.next(f.made, f.best), 1)
	f.best = max(f.best, score)
	return score
}

func mustStep(n int) {
	if n < 1 {
		panic(fmt.Sprintf("sim: a step of %d children: need at least 1", n))
	}
}
