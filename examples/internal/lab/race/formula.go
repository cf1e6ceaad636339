package race

import "github.com/evoalloc/evoalloc/bandit/sim"

// A formula is a [sim.Formula] that can be stepped. It tells how arms compare, and nothing of what breadth costs, as
// each child knows of all before it; a [HillClimb] and a [Landscape] do.
type formula struct{ *sim.Formula }

var _ Stepper = formula{}

// Search implements [Stepper].
func (f formula) Search(a sim.Address) Search { return &scores{best: f.Start, next: f.Children(a)} }

// scores is a search of a formula under way.
type scores struct {
	best float64
	next func() float64 // returns the score of the next child
}

// Step implements [Search].
func (s *scores) Step(n int) (better int) {
	mustStep(n)
	before := s.best
	for range n {
		if s.Take(s.Child()) > before {
			better++
		}
	}
	return better
}

// Best implements [Search].
func (s *scores) Best() float64 { return s.best }

// Child implements [Search]. The child has its score when it is taken in.
func (s *scores) Child() Child { return Child{} }

// Take implements [Search].
func (s *scores) Take(Child) float64 {
	score := s.next()
	s.best = max(s.best, score)
	return score
}
